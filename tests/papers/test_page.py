"""docs/papers.md: every numbered item has a row, and every place and test that a row names exists."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

import pytest
from veil_papers.numbered import NUMBERED, index
from veil_papers.reproduction.catalogue import PAPERS

from tests.papers.rows import PAGE, ROOT, Row, is_public, rows

STATES = ("as printed", "repaired", "not proved", "not applicable", "as Theorem", "beyond the paper")


@cache
def _named_in(path: str) -> frozenset[str]:
    """What the code of a test file imports or takes from a module."""
    text = (ROOT / path).read_text(encoding="utf-8")
    imported = re.findall(r"^from [\w.]+ import (?:\(([^)]*)\)|(.+))$", text, re.MULTILINE)
    names = [name.split()[0] for several in imported for name in "".join(several).split(",") if name.strip()]
    return frozenset([*names, *re.findall(r"\.(\w+)", text)])


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_item_has_a_row(paper: str) -> None:
    found = {item for row in rows() if row.paper == paper for item in row.items}
    assert index(paper) - found == set()
    # And no row names what the paper does not have.
    assert {item for item in found - index(paper) if item[0] != "Section"} == set()


def test_every_row_has_a_state() -> None:
    assert len(rows()) > 200
    for row in rows():
        assert row.items or row.item == "Published code", row
        assert row.state.startswith(STATES), row


def test_every_row_names_public_functions_first() -> None:
    """Or says why there is none. The names are imported, or taken from their module, by a test of the row."""
    for row in rows():
        assert bool(row.only) != (bool(row.places) and is_public(*row.places[0])), row
        if not row.only:
            named = frozenset().union(*(_named_in(path) for path, _ in row.tests))
            assert set(row.public) & named, f"{row}: no test of the row takes {row.public}"
    assert sum(bool(row.only) for row in rows()) < len(rows()) // 8


def test_a_row_without_a_public_name_is_seen() -> None:
    row = Row(
        "xor", "Theorem 1", "`veil_papers.xor_figures:figure_1`", "`tests/papers/test_page.py`", "as printed"
    )
    assert not row.public
    assert not row.only
    assert not is_public("veil.vectors.simplex", "Transfer")
    assert not is_public("veil.vectors", "corners")
    assert is_public("veil.vectors", "Transfer.from_l1")


def test_named_code_exists() -> None:
    places = [place for row in rows() for place in row.places]
    assert len(places) > 200
    for module, name in places:
        value = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)


def test_named_tests_exist() -> None:
    for row in rows():
        assert row.tests, row
        for path, name in row.tests:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in text, f"{row}: {path}::{name}"


def test_every_exhibit_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for paper in PAPERS:
        for exhibit in paper.exhibits:
            # Our own comparisons are no item of a paper.
            if exhibit.name not in ("MSNBC", "Signal"):
                place = f"{exhibit.run.__module__}:{getattr(exhibit.run, '__name__', '')}"
                assert f"`{place}`" in text, paper.cite(exhibit)
