"""Laws of privacy losses as masses at the points of a lattice, and their sums: never above the truth.

A pair (P, Q) that is told apart has E_eps = the sum over all outcomes of P (1 - e^(eps - loss))+, which grows
with each loss and with each mass. So masses may be rounded down, losses moved down and outcomes left out:
what remains is a lower bound. For pairs on the line, outcomes within a cell are not told apart (this loses a
little), and the loss of a cell is moved down to the lattice. Of independent pairs the losses add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb, arb_poly

from tests.review.divergences import Number, ball
from tests.review.sums import gaussian_sum
from tests.review.tails import Beta, Gamma, precision

BITS = 192
# Cells of a pair on the line for each unit of the deviation of its loss, and up to how many of these.
_CELLS, _REACH = 12, 14
# Masses that small may be left out, of laws that are not short.
_NOTHING, _SHORT = arb(10) ** -40, 400
# The part of a cell at which its loss usually lies; those that lie lower go one cell down.
_WITHIN = Fraction(7, 16)


@dataclass(frozen=True, eq=False)
class LossLaw:
    """Masses at offset + step k for k = first, first + 1, ...; of one direction of a pair."""

    step: Fraction
    offset: Fraction
    first: int
    masses: Sequence[arb]

    @classmethod
    def of(cls, step: Fraction, offset: Fraction, points: dict[int, arb]) -> LossLaw:
        first, last = min(points), max(points)
        return cls(step, offset, first, [points.get(k, arb(0)) for k in range(first, last + 1)])

    def loss(self, place: int) -> Fraction:
        return self.offset + self.step * (self.first + place)

    def together(self, other: LossLaw) -> LossLaw:
        """The sum of two independent losses on lattices of one step."""
        assert self.step == other.step
        with precision(BITS):
            masses = (arb_poly(list(self.masses)) * arb_poly(list(other.masses))).coeffs()
        both = LossLaw(self.step, self.offset + other.offset, self.first + other.first, masses)
        return both if len(masses) < _SHORT else both._trimmed()

    def _trimmed(self) -> LossLaw:
        """Without the ends that hold next to nothing."""
        kept = [place for place, mass in enumerate(self.masses) if bool(mass > _NOTHING)]
        masses = self.masses[kept[0] : kept[-1] + 1]
        return LossLaw(self.step, self.offset, self.first + kept[0], masses)

    def repeated(self, times: int) -> LossLaw:
        """The sum of so many independent ones."""
        found, square = None, self
        while times:
            if times & 1:
                found = square if found is None else found.together(square)
            times >>= 1
            square = square.together(square) if times else square
        assert found is not None
        return found

    @cached_property
    def _tails(self) -> tuple[list[arb], list[arb]]:
        """P and Q of all points from each one on."""
        above, there = [arb(0)], [arb(0)]
        with precision(BITS):
            shrink = (-ball(self.step)).exp()
            # e^-loss of the points, from the last one down.
            factor = (-ball(self.loss(len(self.masses) - 1))).exp()
            for mass in reversed(self.masses):
                above.append(above[-1] + mass)
                there.append(there[-1] + mass * factor)
                factor = factor / shrink
        return above[::-1], there[::-1]

    def divergence(self, epsilon: Fraction) -> arb:
        """A lower bound of E_epsilon, for any sign of epsilon; exact if no mass was left out."""
        place = math.floor((epsilon - self.offset) / self.step) + 1 - self.first
        place = min(max(place, 0), len(self.masses))
        above, there = self._tails
        with precision(BITS):
            return above[place] - ball(epsilon).exp() * there[place]

    def log_moment(self, order: Fraction) -> arb:
        """log E_Q[(P/Q)^order], a lower bound: order - 1 times the Renyi divergence."""
        with precision(BITS):
            moment, growth = arb(0), ball((order - 1) * self.step).exp()
            factor = ball((order - 1) * self.loss(0)).exp()
            for mass in self.masses:
                moment += mass * factor
                factor *= growth
            return moment.log()


def sum_divergence(law: LossLaw, rest: Callable[[Fraction], arb], epsilon: Fraction) -> arb:
    """E_epsilon of a law and another pair together, which is known by its own E at all epsilons."""
    with precision(BITS):
        found = arb(0)
        for place, mass in enumerate(law.masses):
            if bool(mass > 0):
                found += mass * rest(epsilon - law.loss(place))
        return found


# Discrete pairs: all of the loss


def response_law(each: Number) -> LossLaw:
    """One answer that is right with the odds e^each."""
    with precision(BITS):
        right, wrong = 1 / (1 + (-ball(each)).exp()), 1 / (1 + ball(each).exp())
    return LossLaw(Fraction(each), Fraction(0), -1, [wrong, arb(0), right])


def lazy_law(each: Number, chance: Number) -> LossLaw:
    """A loss of `each` with the chance, of -each with e^-each of it, and else none."""
    with precision(BITS):
        up = ball(chance)
        down = up * (-ball(each)).exp()
    return LossLaw(Fraction(each), Fraction(0), -1, [down, 1 - up - down, up])


def gaussian_law(sigma: Number, cells: int) -> LossLaw:
    """Discrete Gaussian noise on one count that moves by one, or on two that move apart.

    One: at y the loss is (2 y - 1) / 2 variance. Two: with d = y - y' it is (d - 1) / variance, and the mass
    of all such outcomes is a Gaussian sum of half the variance.
    """
    variance = Fraction(sigma) ** 2
    reach = math.isqrt(math.ceil(2 * 130 * cells * variance)) + 3
    points = {}
    with precision(BITS):
        total = gaussian_sum(variance, Fraction(0)) ** cells
        halves = [gaussian_sum(variance / 2, Fraction(parity, 2)) for parity in (0, 1)] if cells == 2 else []
        for y in range(-reach, reach + 1):
            weight = (-(arb(y - cells) ** 2) / (2 * cells * ball(variance))).exp()
            points[y] = weight / total * (halves[y % 2] if cells == 2 else 1)
    return LossLaw.of(1 / variance, -Fraction(cells, 2) / variance, points)


# Pairs on the line, whose loss grows in u


@dataclass(frozen=True, eq=False)
class Line:
    """P and Q of the cells between losses step k and step (k + 1), with an open cell at each end."""

    step: Fraction
    cells: Sequence[tuple[arb, arb]]

    @classmethod
    def of(cls, upper: Beta | Gamma, lower: Beta | Gamma, tilt: Number, step: Fraction, reach: int) -> Line:
        """P and Q are `upper` and `lower`, whose log density ratio is tilt u but for a constant."""
        with precision(BITS):
            constant = upper.log_constant - lower.log_constant
            bounds = [((ball(step * k) + constant) / ball(tilt)).mid() for k in range(-reach, reach + 1)]
            bounds = [u for u in bounds if not isinstance(upper, Gamma) or bool(u.exp() < _far(upper))]
            both = [[law.below(u) for u in bounds] for law in (upper, lower)]
            cells = []
            for at in range(len(bounds) + 1):
                ends = [
                    (one[at] if at < len(bounds) else arb(1), one[at - 1] if at else arb(0)) for one in both
                ]
                p, q = (high - low for high, low in ends)
                # A cell that is not known to many digits is as good as empty.
                if all(bool(one > 0) and one.rel_accuracy_bits() > 40 for one in (p, q)):
                    cells.append((p, q))
        return cls(step, cells)

    def law(self, *, forward: bool) -> LossLaw:
        """The law of the loss of (P, Q), or of (Q, P)."""
        points: dict[int, arb] = {}
        offset = _WITHIN * self.step
        with precision(BITS):
            for p, q in self.cells:
                here, there = (p, q) if forward else (q, p)
                loss = (here / there).log()
                k = math.floor(float(((loss - ball(offset)) / ball(self.step)).mid()))
                if not bool(loss >= ball(offset + self.step * k)):
                    k -= 1
                assert bool(loss >= ball(offset + self.step * k))
                points[k] = points.get(k, arb(0)) + here.lower()
        return LossLaw.of(self.step, offset, points)


def _far(law: Gamma) -> arb:
    """Beyond it next to nothing is left: from 2 a on the density falls at least as fast as e^(-x/2)."""
    return 2 * law.a + 250


def deviation(*shapes: Number) -> float:
    """About the standard deviation of a sum of logarithms of gamma variables of such shapes."""
    return math.sqrt(sum(1.0 / float(shape) + 1.0 / float(shape) ** 2 for shape in shapes))


def beta_line(low: Number, rest: Number, tilt: Number, step: Fraction, reach: int) -> Line:
    """Beta(low + tilt, rest) against Beta(low, rest + tilt)."""
    with precision(BITS):
        a, b, s = (ball(number) for number in (low, rest, tilt))
        upper, lower = Beta(a + s, b), Beta(a, b + s)
    return Line.of(upper, lower, tilt, step, reach)


def gamma_line(shape: Number, tilt: Number, step: Fraction, reach: int) -> Line:
    """Gamma(shape + tilt) against Gamma(shape)."""
    with precision(BITS):
        upper, lower = Gamma(ball(shape) + ball(tilt)), Gamma(ball(shape))
    return Line.of(upper, lower, tilt, step, reach)


def cells_for(spread: float) -> tuple[Fraction, int]:
    """A power of two as the step of a lattice for losses that spread so far, and how many steps."""
    step = Fraction(2) ** math.floor(math.log2(spread / _CELLS))
    return step, math.ceil(_REACH * spread / step)
