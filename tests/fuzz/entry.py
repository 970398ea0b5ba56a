"""What an entry point is to the fuzzer, and good values to call it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import veil

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A public name, how it is called, and good arguments, made anew for every call.

    more: optional arguments that may be tried as well, without a good value.
    heavy: arguments of which a large number, within what is allowed, is honest work for minutes.
    """

    name: str
    call: Callable[..., Any]
    good: Callable[[], Arguments]
    more: tuple[str, ...] = ()
    heavy: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


ROWS = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]
COUNTS = [[5, 3, 2], [10, 60, 30], [1, 1, 2]]
STATES = ["a", "b", "c"]
BITS = [[True, False, True], [False, False, True], [True, True, True], [False, True, False]]
PAIRS = [(0, 1), (1, 2), (2, 3)]


def frame() -> Any:
    """A log of three people."""
    import pandas as pd

    return pd.DataFrame(
        {
            "who": [1, 1, 1, 2, 2, 3],
            "when": [1, 2, 3, 1, 2, 1],
            "where": ["a", "b", "a", "b", "b", "a"],
            "next": ["b", "a", "b", "b", "a", "a"],
        }
    )


def language() -> Any:
    """All words of three symbols over two."""
    return veil.words.FreeWords(["a", "b"], 3)


def simplex() -> Any:
    """Vectors of three entries, none of them small."""
    return veil.vectors.Simplex(3, floor=0.1)


def chain_counts() -> Any:
    """Counts between three states."""
    return veil.chains.TransitionCounts(COUNTS, STATES)


def graph() -> Any:
    """Five nodes, three edges."""
    return veil.graphs.Graph.from_edges(PAIRS, 5)


def process() -> Any:
    """Two states, two actions."""
    transitions = [[[0.5, 0.5], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]]
    return veil.matrices.DecisionProcess(transitions, [[1.0, 0.0], [0.0, 1.0]], 0.9)


def noise() -> Any:
    """Noise for two rows of two bits."""
    return veil.bits.MatrixBernoulli([[0.1, 0.0], [0.0, 0.1]], [[0.0, 0.1], [0.1, 0.0]], 2)


@cache
def good_release(kind: str) -> Any:
    """A release of each kind, made once."""
    if kind == "vector":
        mechanism = veil.vectors.DirichletCounts(2.2, 100, 3)
        return veil.release(mechanism, [40, 35, 25], adjacency=veil.vectors.Records(), delta=1e-6, rng=1)
    if kind == "counts":
        return veil.vectors.release([40, 35, 25], epsilon=1.0, rng=1)
    if kind == "chain":
        return veil.chains.release(chain_counts(), epsilon=1.0, delta=1e-6, rng=1)
    if kind == "bits":
        return veil.bits.release(BITS, epsilon=3.0, rng=1)
    if kind == "graph":
        return veil.graphs.release(graph(), epsilon=2.0, statistics=("edges",), rng=1)
    if kind == "facts":
        return veil.release(
            veil.graphs.PrivateGraph(2.0, statistics=("edges", "triangles"), share=1.0), graph(), rng=1
        )
    if kind == "word":
        return veil.release(veil.words.ExponentialWords(language(), 1.0), ["a", "b", "a"], rng=1)
    if kind == "words":
        words = [["a", "b", "a"], ["b", "b", "b"]]
        return veil.words.release(words, language=language(), epsilon=2.0, mechanism="exponential", rng=1)
    rows = veil.matrices.MatrixDirichlet(50.0, [simplex()] * 3)
    near = veil.matrices.Rows(1, veil.vectors.Transfer(0.05))
    return veil.release(rows, ROWS, adjacency=near, delta=1e-6, rng=1)


def mechanism() -> Any:
    """One that hides counts."""
    return veil.vectors.DirichletCounts(2.2, 100, 3)
