"""Rows of docs/papers.md whose tests see another constant in the statement; tests/faults plants it."""

from __future__ import annotations

import pytest
from veil_papers.numbered import items_in

from tests.faults.mutants import MUTANTS
from tests.faults.of_papers import STATEMENTS
from tests.papers.rows import rows


def test_there_are_enough_of_every_paper() -> None:
    assert len(STATEMENTS) >= 40
    counts = [
        sum(paper == other for other, _ in STATEMENTS.values()) for paper in {row.paper for row in rows()}
    ]
    assert len(counts) == 5
    assert min(counts) >= 4


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_row_names_the_test_that_sees_it(name: str) -> None:
    """`test_mutants.py::test_the_fault_is_caught` runs these tests on the changed statement."""
    paper, item = STATEMENTS[name]
    seen_by = {node.partition("[")[0] for node in MUTANTS[name].caught_by}
    mine = [row for row in rows() if row.paper == paper and items_in(item) <= row.items]
    assert mine, f"no row for {name}"
    named = {f"{path}::{test}" for row in mine for path, test in row.tests}
    assert seen_by & named, f"{name}: no row names one of {sorted(seen_by)}"
