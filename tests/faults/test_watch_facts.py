"""The facts of a graph get the noise that their part of epsilon pays for: an edge moves the degrees by two.

Each test accepts the truth with probability 1 - 1e-6, and sees half the scale.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import veil
from tests.core.fit import ALPHA, chi_square, laplace_pmf
from veil.graphs.numerics.degrees import DegreeProfile

EPSILON = 0.7
GRAPH = nx.path_graph(4)


def _edges(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    return drawn - np.int64(GRAPH.number_of_edges())


def _degrees(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    degrees = np.array([degree for _, degree in GRAPH.degree])
    return drawn - DegreeProfile.among(len(GRAPH)).of(degrees)


@pytest.mark.slow
@pytest.mark.parametrize(("fact", "noise", "moved"), [("edges", _edges, 1), ("degrees", _degrees, 2)])
def test_noise_is_as_wide_as_what_an_edge_moves(
    fact: str, noise: Callable[[NDArray[np.int64]], NDArray[np.int64]], moved: int
) -> None:
    mechanism = veil.graphs.PrivateGraph(EPSILON, statistics=[fact], share=1.0)
    drawn = mechanism.sample(GRAPH, rng=4, size=3_000)
    found = np.array([noise(one.tables[fact]) for one in drawn]).ravel()
    scale = moved / EPSILON
    assert chi_square(found, laplace_pmf(scale)) > ALPHA
    assert chi_square(found, laplace_pmf(2.0 * scale)) < ALPHA
    assert chi_square(found, laplace_pmf(0.5 * scale)) < ALPHA
