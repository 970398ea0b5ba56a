"""Audits that must find a fault of privacy, and nothing in the sound code.

Each attack is a mechanism and two neighbours, chosen so that the fault shows: at the floor, in the last
position, across both rows. All seeds are fixed; a false alarm of one audit has probability 1e-9 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np

import veil
from veil.vectors.simplex import Simplex

SEED = 11
ROADS = {"a": ["b", "c", "d", "e"], "b": ["a"], "c": ["a", "c"], "d": ["a"], "e": ["a"]}


@dataclass(frozen=True)
class Attack:
    """A mechanism, made anew each time so that nothing of the sound one is kept, and two neighbours."""

    mechanism: Callable[[], Any]
    value: Any
    neighbour: Any
    options: dict[str, Any] = field(default_factory=dict)

    def run(self) -> veil.Audit:
        options = {"samples": 20_000, "rng": SEED} | self.options
        return veil.audit(self.mechanism(), self.value, self.neighbour, **options)


_TABLE = np.zeros((2, 2), dtype=bool)
_PATH = nx.path_graph(5)


def _joined(*pairs: tuple[int, int]) -> Any:
    graph = nx.path_graph(5)
    for pair in pairs:
        (graph.remove_edge if graph.has_edge(*pair) else graph.add_edge)(*pair)
    return graph


def _bit(*places: tuple[int, int]) -> Any:
    table = _TABLE.copy()
    for place in places:
        table[place] = True
    return table


def _doubly(turned: float) -> Any:
    table = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    return table + turned * np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]])


_LAST_MOVES = [0.4, 0.2, 0.4], [0.35, 0.2, 0.45]
_AT_THE_FLOOR = [0.13, 0.08, 0.79], [0.08, 0.13, 0.79]
_MASS = veil.vectors.Transfer(0.05001)

_LAPLACE = Attack(
    lambda: veil.vectors.Laplace(0.05, Simplex(3)), *_LAST_MOVES, {"adjacency": _MASS, "samples": 40_000}
)
_GAUSSIAN = Attack(
    lambda: veil.vectors.Gaussian(0.05, Simplex(3)),
    *_LAST_MOVES,
    {"adjacency": _MASS, "delta": 0.01, "samples": 60_000},
)
_GEOMETRIC = Attack(lambda: veil.vectors.GeometricCounts(1.0, 2), [20, 5], [19, 6], {"samples": 40_000})
_DISCRETE = Attack(lambda: veil.vectors.DiscreteGaussianCounts(2.0, 3), [9, 5, 6], [9, 6, 5], {"delta": 0.01})
_BIRKHOFF = Attack(lambda: veil.matrices.DoublyStochastic(0.2, 3), _doubly(0.0), _doubly(0.1))
_VECTOR = Attack(
    lambda: veil.vectors.Dirichlet(20.0, Simplex(3, floor=0.08)),
    *_AT_THE_FLOOR,
    {"adjacency": _MASS, "delta": 0.1, "samples": 40_000},
)
_SMOOTHED = Attack(
    lambda: veil.vectors.Dirichlet(100.0, Simplex(3, floor=0.2), smooth=True),
    [0.1, 0.0, 0.9],
    [0.0, 0.1, 0.9],
    {"adjacency": veil.vectors.Transfer(0.1001), "delta": 0.03, "samples": 40_000},
)
_COUNTS = Attack(
    lambda: veil.vectors.DirichletCounts(8.0, 40.0, 2), [1, 0], [0, 1], {"delta": 0.05, "samples": 40_000}
)
_MATRIX = Attack(
    lambda: veil.matrices.MatrixDirichlet((30.0, 60.0), [Simplex(3, floor=0.08), Simplex(3, floor=0.2)]),
    np.array([_AT_THE_FLOOR[0], [0.4, 0.3, 0.3]]),
    np.array([_AT_THE_FLOOR[1], [0.4, 0.3, 0.3]]),
    {"adjacency": veil.matrices.Rows(1, _MASS), "delta": 0.05},
)
_LAST_ROW = replace(
    _MATRIX,
    value=np.array([_AT_THE_FLOOR[0], [0.4, 0.3, 0.3]]),
    neighbour=np.array([_AT_THE_FLOOR[0], [0.35, 0.35, 0.3]]),
)
_BOTH_ROWS = Attack(
    lambda: veil.matrices.RowByRow(veil.vectors.Laplace(0.1, Simplex(3)), rows=2),
    np.array([_AT_THE_FLOOR[0]] * 2),
    np.array([_AT_THE_FLOOR[1]] * 2),
    {"adjacency": veil.matrices.Rows(2, _MASS), "samples": 60_000},
)
_URN = Attack(
    lambda: veil.vectors.Dirichlet(20.0, Simplex(2, floor=0.2), exact=True, draws=200),
    [0.3, 0.7],
    [0.2, 0.8],
    {"adjacency": veil.vectors.Transfer(0.1001), "delta": 0.05},
)
_SMOOTHED_URN = Attack(
    lambda: veil.vectors.Dirichlet(20.0, Simplex(3, floor=0.2), smooth=True, exact=True, draws=40),
    [0.25, 0.0, 0.75],
    [0.0, 0.25, 0.75],
    {"adjacency": veil.vectors.Transfer(0.2501), "delta": 0.02},
)
_FREE = Attack(lambda: veil.words.ExponentialWords(veil.words.FreeWords("abc", 3), 1.0), "aba", "abb")
_STEPS = Attack(
    lambda: veil.words.StaircaseWords(veil.words.FreeWords("abc", 3), 2.0, radius=2), "aba", "acb"
)
_LANGUAGE = veil.words.ChainWords(ROADS, 4)
_CROOKED = Attack(lambda: veil.words.ExponentialWords(_LANGUAGE, 1.5), "baba", "caba")
_PERMUTED = Attack(lambda: veil.words.PermuteAndFlip(_LANGUAGE, 1.5), "baba", "caba")
_SEQUENTIAL = Attack(
    lambda: veil.words.SequentialWords(veil.words.FreeWords("ab", 3), 1.0, radius=2), "aba", "aab"
)
_FURTHER = Attack(
    lambda: veil.words.SequentialWords(veil.words.FreeWords("ab", 3), 1.0),
    "aba",
    "aab",
    {"adjacency": veil.words.Hamming(2)},
)
_RESPONSE = Attack(lambda: veil.bits.RandomizedResponse(1.0), _TABLE, _bit((1, 1)), {"samples": 3_000})
_RECORD = Attack(lambda: veil.bits.StaircaseXor(3, 3.0), [[False] * 3], [[True] * 3])
_SEVERAL = Attack(
    lambda: veil.bits.StaircaseXor(6, 1.3, flips=1),
    [[False] * 6],
    [[True] * 3 + [False] * 3],
    {"adjacency": veil.bits.BitFlips(3, where="row")},
)
_SEVERAL_AT_DELTA = Attack(
    lambda: veil.bits.StaircaseXor(6, 1.3), [[False] * 6], [[True] * 6], {"delta": 0.02}
)
_BLOCKS = Attack(
    lambda: veil.bits.XorBlocks([[veil.bits.Xor(veil.bits.MatrixBernoulli([0.5], [0.5], 2))] * 2]),
    [[False] * 2] * 2,
    [[True] * 2, [False] * 2],
    {"adjacency": veil.bits.BitFlips(2, where="row")},
)
_LAST_PAIR = Attack(lambda: veil.graphs.RandomizedResponse(1.0), _PATH, _joined((3, 4)), {"samples": 4_000})
_DEGREES = Attack(
    lambda: veil.graphs.PrivateGraph(1.0, statistics=["degrees"], share=1.0),
    _PATH,
    _joined((0, 4)),
    {"samples": 4_000},
)

ATTACKS: dict[str, Attack] = {
    "half-laplace": _LAPLACE,
    "last-entry-without-noise": _LAPLACE,
    "one-entry-moves": _LAPLACE,
    "pure-sum-forgotten": _LAPLACE,
    "one-noise-for-a-batch": _LAPLACE,
    "half-gaussian": _GAUSSIAN,
    "l2-distance-of-one-entry": _GAUSSIAN,
    "half-geometric": _GEOMETRIC,
    "last-count-without-noise": _GEOMETRIC,
    "replaced-moves-one-count": _GEOMETRIC,
    "half-discrete-gaussian": _DISCRETE,
    "half-birkhoff": _BIRKHOFF,
    "rectangle-in-one-row": _BIRKHOFF,
    "double-concentration": _VECTOR,
    "floor-ignored": _VECTOR,
    "smoothed-by-its-own-floor": _SMOOTHED,
    "smoothing-does-not-shrink": _SMOOTHED,
    "double-weight-of-records": _COUNTS,
    "prior-for-empty-cells-only": _COUNTS,
    "replaced-charged-as-added": _COUNTS,
    "largest-k-for-all-rows": _MATRIX,
    "last-row-without-noise": _LAST_ROW,
    "one-changed-row": _BOTH_ROWS,
    "urn-of-twice-the-k": _URN,
    "urn-without-smoothing": _SMOOTHED_URN,
    "last-symbol-kept": _FREE,
    "one-wrong-symbol-never-drawn": _FREE,
    "last-position-off-by-one": _STEPS,
    "normaliser-taken-for-constant": _CROOKED,
    "permute-and-flip-at-twice-the-rate": _PERMUTED,
    "sign-of-the-exponent": _PERMUTED,
    "radius-of-words-ignored": _SEQUENTIAL,
    "radius-of-the-claim-ignored": _FURTHER,
    "last-column-never-flipped": _RESPONSE,
    "one-noise-for-all-rows": _RESPONSE,
    "staircase-without-the-shared-coin": _RECORD,
    "gap-counted-from-the-other-end": _SEVERAL_AT_DELTA,
    "staircase-costs-one-step": _SEVERAL,
    "blocks-side-by-side-do-not-add": _BLOCKS,
    "last-pair-never-flipped": _LAST_PAIR,
    "edges-never-taken-away": _LAST_PAIR,
    "degrees-move-by-one": _DEGREES,
}
