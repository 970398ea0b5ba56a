"""Composition of pairs that are easier to tell apart in one direction."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from veil.core.privacy.pairs import GammaPair, NormalPair

Cells = tuple[NDArray[np.float64], NDArray[np.float64]]


def gamma_cells(a: float, s: float, count: int = 900) -> Cells:
    """Gamma(a + s) and Gamma(a), each cut into the same cells of the half line: a coarser experiment."""
    low = math.log(special.gammaincinv(a, 1e-13) + 1e-300)
    high = math.log(special.gammainccinv(a + s, 1e-13))
    edges = np.concatenate([[0.0], np.exp(np.linspace(low, high, count)), [np.inf]])
    # The smaller tail of each cell is differenced, so that no digits cancel in the far cells.
    below = [np.diff(special.gammainc(shape, edges)) for shape in (a + s, a)]
    above = [-np.diff(special.gammaincc(shape, edges)) for shape in (a + s, a)]
    upper = np.append(edges[:-1], 0.0)[: edges.size - 1] > a + s
    more, less = (np.where(upper, far, near) for near, far in zip(below, above, strict=True))
    return more, less


def lower_bound(first: Cells, second: Cells, epsilon: float, forward: bool) -> float:
    """delta of the product of the two coarser experiments in one direction: not above the truth."""
    (p1, q1), (p2, q2) = (cells if forward else cells[::-1] for cells in (first, second))
    return float(np.maximum(np.outer(p1, p2) - math.exp(epsilon) * np.outer(q1, q2), 0.0).sum())


@pytest.mark.parametrize(
    ("first", "second"),
    [((0.5, 1.0), (0.5, 1.0)), ((0.5, 0.3), (8.0, 2.0))],
)
@pytest.mark.slow
def test_against_the_product_of_cells(first: tuple[float, float], second: tuple[float, float]) -> None:
    composed = GammaPair(*first).compose(GammaPair(*second))
    cells = gamma_cells(*first), gamma_cells(*second)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        directions = [lower_bound(*cells, epsilon, forward) for forward in (True, False)]
        found = composed.delta(epsilon)
        assert found >= max(directions)
        assert found <= max(directions) * (1.0 + 5e-3)


def test_the_directions_really_differ() -> None:
    cells = gamma_cells(0.5, 1.0)
    gap = [lower_bound(cells, cells, 1.0, forward) for forward in (True, False)]
    assert max(gap) > 1.1 * min(gap)


@pytest.mark.slow
def test_both_directions_of_the_loss_distribution() -> None:
    pair = GammaPair(1.0, 0.5)
    forward, backward = pair.log_deltas()
    distribution = pair.pld()
    for epsilon in (0.05, 0.4, 1.1):
        found = float(distribution.get_delta_for_epsilon(epsilon))
        worse = math.exp(max(forward(epsilon), backward(epsilon)))
        assert worse * (1.0 - 1e-9) <= found <= worse * 1.01


@pytest.mark.slow
def test_a_skewed_and_a_symmetric_part() -> None:
    # Gamma pairs of huge shape are normal pairs: 2 s / sqrt(a) and the skewness vanish together.
    a = 1e8
    mixed = GammaPair(a, math.sqrt(a)).compose(NormalPair(0.5))
    for epsilon in (0.5, 1.5, 3.0):
        assert mixed.delta(epsilon) == pytest.approx(
            NormalPair(math.hypot(1.0, 0.5)).delta(epsilon), rel=1e-3
        )
