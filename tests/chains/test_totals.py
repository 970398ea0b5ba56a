"""How many transitions were counted: of the noisy counts, never the number of cells."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import veil
from tests.chains.pages import page_text
from veil.chains.report.totals import CountedTotal
from veil.chains.transition_counts import TransitionCounts
from veil.matrices.chain_summary import chain_facts

MATRIX = np.array([[8000, 1500, 500], [1000, 3000, 1000], [400, 600, 5000]])


@cache
def _release(mechanism: str = "geometric", **more: Any) -> veil.Release[Any]:
    counts = TransitionCounts(MATRIX, ("a", "b", "c"), **more)
    return veil.chains.release(counts, epsilon=1.0, delta=1e-6, mechanism=mechanism, rng=3)


def test_the_total_is_that_of_the_noisy_counts() -> None:
    out = _release()
    found = CountedTotal.of(out)
    assert found is not None
    assert found.total == out.tables["transitions"].sum()
    # 9 cells of geometric noise at epsilon 1, a deviation of 1.36 each.
    assert found.give_or_take == pytest.approx(1.96 * 3.0 * 1.3573, rel=1e-3)
    assert abs(found.total - MATRIX.sum()) < 3 * found.give_or_take
    assert (
        f"About {found.total:,.0f} transitions were counted (by the noisy counts, give or take 8)"
        == found.words
    )


def test_digits_that_are_noise_are_not_printed() -> None:
    words = CountedTotal(56_551.0, 735.2, capped=True).words
    assert words == (
        "About 56,550 transitions were counted, of each person at most a fixed number (by the noisy counts, "
        "give or take 740)"
    )
    assert "About 0 transitions" in CountedTotal(0.0, 0.4, capped=False).words


@pytest.mark.slow
def test_a_release_without_noisy_counts_says_nothing_of_a_total() -> None:
    assert CountedTotal.of(_release("dirichlet")) is None
    assert "transitions were counted" not in page_text(_release("dirichlet"))


def test_the_page_calls_cells_pairs_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 0)
    text = page_text(_release())
    assert "3 states; every pair of states (9) is a possible step. About 2" in text
    assert "9 transitions" not in text


def test_chains_say_how_many_pairs_are_possible() -> None:
    some = chain_facts(veil.Chain([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    assert (some.pairs, some.words) == (4, "3 states; 4 of 9 pairs of states are possible steps")
    assert chain_facts(veil.Chain([[1.0]])).words == "1 state; 1 of 1 pairs of states are possible steps"
