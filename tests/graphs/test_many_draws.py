"""Many private graphs of one: each has noise of its own, and one of them is what a single draw gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from veil.bits import MatrixBernoulli
from veil.bits.mechanisms.xor import Xor
from veil.graphs import Graph, PrivateGraph, RandomizedResponse, XorGraph
from veil.graphs.mechanisms import randomized_response, xor_graph

# Each test below fails for right code with at most this chance; the seeds are fixed.
ALPHA = 1e-6
PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], 4)
FACTS = ("degrees", "edges", "triangles")
MECHANISMS = [
    RandomizedResponse(1.0),
    XorGraph(MatrixBernoulli(0.4 * np.eye(4), 0.05 * np.eye(4), 4)),
    PrivateGraph(1.0, statistics=FACTS, share=0.5),
    PrivateGraph(1.0, statistics=FACTS, share=1.0),
]
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)


def seen(drawn: Any) -> tuple[Any, ...]:
    """All that comes out."""
    graph = getattr(drawn, "graph", drawn)
    tables = {name: table.tolist() for name, table in getattr(drawn, "tables", {}).items()}
    return (None if graph is None else graph.codes.tolist(), tables)


@each
def test_one_of_one_is_a_single_draw(mechanism: Any) -> None:
    for seed in range(5):
        (one,) = mechanism.sample(PATH, rng=seed, size=1)
        assert seen(one) == seen(mechanism.sample(PATH, rng=seed))


@each
def test_tables_are_of_the_same_shape_and_are_not_shared(mechanism: Any) -> None:
    first, second = mechanism.sample(PATH, rng=1, size=2)
    alone = mechanism.sample(PATH, rng=2)
    for name, table in getattr(alone, "tables", {}).items():
        assert first.tables[name].shape == table.shape
        before = second.tables[name].tolist()
        first.tables[name][:] = -99
        assert second.tables[name].tolist() == before


def flips_by_graph(together: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """What is drawn where it is known which pairs are flipped."""
    flipped = [[0, 5], [], [5], [0, 1, 2, 3, 4, 5], [3]]
    left = iter(flipped)

    def given(rng: Any, *, count: int, chance: float) -> Any:
        return np.array([6 * i + pair for i in range(count // 6) for pair in next(left)], dtype=np.int64)

    monkeypatch.setattr(randomized_response, "sample_flips", given)
    monkeypatch.setattr(randomized_response, "_PAIRS_AT_A_TIME", together)
    empty = Graph.from_edges([], 4)
    for drawn, flips in zip(RandomizedResponse(1.0).sample(empty, rng=1, size=5), flipped, strict=True):
        assert drawn.codes.tolist() == flips
        yield flips
    assert next(left, None) is None


@pytest.mark.parametrize("together", [1, 6, 12, 29, 2**22])
def test_every_graph_gets_its_own_flips(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(list(flips_by_graph(together, monkeypatch))) == 5


@pytest.mark.parametrize("together", [1, 40, 2**22])
def test_every_graph_gets_its_own_table(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, noise = 3, np.zeros((5, 3, 3), dtype=np.bool_)
    noise[1, 0, 1] = noise[2] = noise[3, 1:, 1:] = noise[4, 2, 0] = noise[4, 0, 2] = True
    left = iter(noise)
    monkeypatch.setattr(Xor, "draw_noise", lambda *given: np.array([next(left) for _ in range(given[2])]))
    monkeypatch.setattr(xor_graph, "_CELLS_AT_A_TIME", together)
    mechanism = XorGraph(MatrixBernoulli(0.4 * np.eye(nodes), None, nodes))
    full = Graph.from_edges([(0, 1), (0, 2), (1, 2)], nodes)
    # An edge that was there stays where neither of its two bits is flipped.
    ends = [list(zip(*one.edges(), strict=True)) for one in mechanism.sample(full, rng=1, size=5)]
    assert ends == [[(0, 1), (0, 2), (1, 2)], [(0, 2), (1, 2)], [], [(0, 1), (0, 2)], [(0, 1), (1, 2)]]


@each
def test_draws_of_one_call_are_not_tied(mechanism: Any) -> None:
    """Equal in two draws side by side, as often as in two that are far from each other."""
    drawn = [repr(seen(one)) for one in mechanism.sample(PATH, rng=11, size=2_000)]
    chance = float(np.mean([one == other for one, other in zip(drawn[:1_000], drawn[1_000:], strict=True)]))
    beside = sum(one == other for one, other in zip(drawn[0::2], drawn[1::2], strict=True))
    # The share is itself measured on as many pairs: twice its spread is allowed for.
    assert beside <= binom.isf(ALPHA, 1_000, min(1.0, chance + 5.0 * np.sqrt(max(chance, 1e-3) / 1_000)))


def test_the_facts_have_their_noise_in_every_draw() -> None:
    """The variance of the number of edges is that of its noise; a draw without noise would lower it."""
    mechanism = PrivateGraph(1.0, statistics=("edges",), share=1.0)
    numbers = np.array([one.tables["edges"][0] for one in mechanism.sample(PATH, rng=5, size=20_000)])
    decay = np.exp(-mechanism.costs["edges"])
    variance = 2.0 * decay / (1.0 - decay) ** 2
    # The kurtosis of the noise is near 6: five standard errors of a variance.
    assert abs(numbers.var() / variance - 1.0) < 5.0 * np.sqrt(5.0 / 20_000)
    assert abs(numbers.mean() - 3.0) < 5.0 * np.sqrt(variance / 20_000)
