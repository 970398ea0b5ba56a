"""A plan is printed from Python as the command line prints it."""

from __future__ import annotations

from typing import Any

import pytest

from veil import bits, chains, graphs, matrices, vectors, words
from veil.core.plan import Plan

PLANS: dict[str, tuple[Any, str]] = {
    "vector": (lambda: vectors.plan(size=5, epsilon=1.0), "Least error: geometric"),
    "matrix": (lambda: matrices.plan(states=3, epsilon=9.0, delta=1e-3, l1=0.1), "epsilon = 9"),
    "chain": (lambda: chains.plan(states=5, records=20_000, epsilon=1.0), "no data was read"),
    "words": (lambda: words.plan(symbols="a,b", length=3, epsilon=2.0), "wrong"),
    "bits": (lambda: bits.plan(columns=5, epsilon=1.0), "staircase"),
    "graph": (lambda: graphs.plan(nodes=1_000, epsilon=2.0), "1,000 nodes"),
}


@pytest.mark.slow_for("matrix")
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_printed(name: str) -> None:
    make, part = PLANS[name]
    text = str(make())
    assert part in text
    assert text == text.rstrip()
    assert "\x1b" not in text


def test_a_plan_without_a_printer_shows_its_fields() -> None:
    class Bare(Plan):
        epsilon = 1.0

        def to_dict(self) -> dict[str, Any]:
            return {}

        def __repr__(self) -> str:
            return "Bare()"

    assert str(Bare()) == "Bare()"
