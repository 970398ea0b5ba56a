"""Lower bounds of divergences that are certain, for pairs made of independent coordinates.

Each coordinate is cut into cells; which cell an outcome falls into is a function of it, so that the pair of
the laws of the cells is told apart no better than the pair itself. What is lost is of second order in the
width of a cell: only those cells count in which the loss passes epsilon. Probabilities under P are rounded
down and those under Q up, so that what comes out is not above the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy import special

from tests.review.divergences import Number, ball
from tests.review.sums import gaussian_sum
from tests.review.tails import Beta, precision

Floats = NDArray[np.float64]
# More than the roundings of a product of a few numbers, and of a sum of a few million.
_SLACK = 2.0**-44
_BITS = 128
# Beyond, all is one cell.
_TAIL = 1e-7


@dataclass(frozen=True)
class Cells:
    """The probabilities of the cells of one coordinate under P and under Q, each between two floats."""

    p: tuple[Floats, Floats]
    q: tuple[Floats, Floats]

    @property
    def swapped(self) -> Cells:
        """The same cells with the roles of the laws exchanged."""
        return Cells(self.q, self.p)


def bound(coordinates: Sequence[Cells], epsilon: float) -> arb:
    """Not above E_epsilon(P || Q) of all coordinates together."""
    p, q = np.ones(1), np.ones(1)
    for one in coordinates:
        p = np.multiply.outer(p, one.p[0] * (1.0 - _SLACK)).ravel()
        # What is too small for a float must not become nothing.
        q = np.multiply.outer(q, one.q[1] * (1.0 + _SLACK)).ravel() + 1e-300
    top = math.exp(epsilon) * (1.0 + _SLACK)
    gain = np.maximum(p - top * q, 0.0) * (1.0 - _SLACK)
    return arb(float(gain.sum()) * (1.0 - _SLACK))


def both(coordinates: Sequence[Cells], epsilon: float) -> list[arb]:
    """Both directions."""
    return [bound(coordinates, epsilon), bound([one.swapped for one in coordinates], epsilon)]


def _cells(p: Sequence[arb], q: Sequence[arb]) -> Cells:
    return Cells(_enclosed(p), _enclosed(q))


def _enclosed(law: Sequence[arb]) -> tuple[Floats, Floats]:
    low = [max(0.0, math.nextafter(float(one.lower()), -1.0)) for one in law]
    high = [math.nextafter(max(0.0, float(one.upper())), 2.0) for one in law]
    return np.array(low), np.array(high)


def _between(p: Callable[[float], arb], q: Callable[[float], arb], edges: Sequence[float]) -> Cells:
    """The cells between edges, and the two beyond; p and q: the probabilities of being below."""
    with precision(_BITS):
        laws = []
        for below in (p, q):
            steps = [arb(0), *map(below, edges), arb(1)]
            laws.append([right - left for left, right in pairwise(steps)])
        return _cells(laws[0], laws[1])


def beta_cells(first: tuple[Number, Number], second: tuple[Number, Number], number: int) -> Cells:
    """Beta(*first) against Beta(*second), in cells of equal loss if both have the same sum of shapes."""
    laws = [Beta(ball(a), ball(b)) for a, b in (first, second)]
    edges = beta_edges(first, second, number)
    return _between(lambda u: laws[0].below(arb(u)), lambda u: laws[1].below(arb(u)), edges)


def beta_edges(first: tuple[Number, Number], second: tuple[Number, Number], number: int) -> list[float]:
    """Edges on the line of log odds."""
    ends = []
    for a, b in (first, second):
        shapes = float(a), float(b)
        low = special.betaincinv(*shapes, _TAIL)
        high = special.betaincinv(*shapes[::-1], _TAIL)
        # Small shapes reach further than floats do.
        low, high = np.clip([low, high], 1e-300, 1.0 - 2.0**-53)
        ends += [special.logit(low), -special.logit(high)]
    return [float(edge) for edge in np.linspace(min(ends), max(ends), number)]


def normal_cells(shift: Number, number: int) -> Cells:
    """N(shift, 1) against N(0, 1)."""
    reach = 5.5

    def below(u: float, centre: arb) -> arb:
        return (((centre - u) / arb(2).sqrt()).erfc()) / 2

    edges = np.linspace(min(0.0, float(shift)) - reach, max(0.0, float(shift)) + reach, number)
    centre = ball(shift)
    return _between(lambda u: below(u, centre), lambda u: below(u, arb(0)), [float(u) for u in edges])


def laplace_cells(shift: Number, scale: Number, number: int) -> Cells:
    """Laplace noise of this scale around the shift against around 0; the loss is constant beyond both."""
    move = abs(Fraction(shift)) / Fraction(scale)

    def below(u: Fraction, centre: Fraction) -> arb:
        gap = ball(u - centre)
        return gap.exp() / 2 if u <= centre else 1 - (-gap).exp() / 2

    edges = [move * i / number for i in range(number + 1)]
    with precision(_BITS):
        laws = []
        for centre in (move, Fraction(0)):
            steps = [arb(0), *(below(edge, centre) for edge in edges), arb(1)]
            laws.append([right - left for left, right in pairwise(steps)])
        return _cells(laws[0], laws[1])


def geometric_cells(shift: int, scale: Number) -> Cells:
    """P(z) ~ exp(-|z| / scale) around the shift against around 0: all outcomes, those alike together."""
    with precision(_BITS):
        ratio = (-1 / ball(scale)).exp()
        tail, one = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
        far = abs(shift)
        inner = range(1, far)
        p = [tail * ratio**far, *(one * ratio ** (far - y) for y in inner), tail]
        q = [tail, *(one * ratio**y for y in inner), tail * ratio**far]
        return _cells(p, q)


def gaussian_cells(shift: int, sigma: Number) -> Cells:
    """Discrete Gaussian noise around the shift against around 0; far outcomes are left out."""
    variance, reach = Fraction(sigma) ** 2, math.ceil(8.0 * float(sigma)) + 1
    with precision(_BITS):
        total, double = gaussian_sum(variance, Fraction(0)), 2 * ball(variance)
        places = range(-reach, abs(shift) + reach + 1)
        p = [(-(arb(y - abs(shift)) ** 2) / double).exp() / total for y in places]
        q = [(-(arb(y) ** 2) / double).exp() / total for y in places]
        return _cells(p, q)
