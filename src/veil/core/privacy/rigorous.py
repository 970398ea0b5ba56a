"""Certified enclosures of delta, by ball arithmetic (python-flint; the extra "rigorous").

An enclosure is a pair of floats with the true delta between them. The parameters of a pair are taken as the
exact numbers that the floats are. Integrals are those of vectors/mechanisms/dirichlet.md, section 4, computed
by Arb with proved remainders (Petras' algorithm); what lies beyond the ends is bounded by concavity. Of the
quick code only the places where panels begin are used, which cannot make an enclosure wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from veil.core.errors import MissingExtra
from veil.core.numerics.rounding import SMALLEST_POSITIVE, float_above, float_below
from veil.core.numerics.tilted import HalfLine

# Of a number of Arb; its stubs are not always there.
Number = Any

_BITS = 128


@dataclass(frozen=True)
class Enclosure:
    """low <= delta <= high; both are floats, rounded outwards."""

    low: float
    high: float

    @property
    def is_narrow(self) -> bool:
        """Whether it says more than a few digits."""
        return self.high <= self.low * (1.0 + 1e-9) or self.high <= 1e-300

    @classmethod
    def largest(cls, several: Sequence[Enclosure]) -> Enclosure:
        """Of the largest of several numbers."""
        return cls(max(one.low for one in several), max(one.high for one in several))


@cache
def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise MissingExtra("python-flint", "rigorous") from None
    return flint


@dataclass(frozen=True)
class Tilt:
    """One direction of a pair of tilted densities, for Arb.

    log_density: at a real u. slope: its derivative. bend: its second derivative, of complex u; not finite
    where it is not analytic. start, side: where losses exceed epsilon, and on which side. size: of the
    largest numbers that were added, for the precision.
    """

    log_density: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    bend: Callable[[Number], Number]
    tilt: float
    start: Number
    side: int
    size: float


def of_tilts(tilts: Callable[[Any], Sequence[Tilt]], half_lines: Sequence[HalfLine]) -> Enclosure:
    """The larger of the directions for which there is a half line.

    tilts: makes them of Arb's type of numbers, at the precision of the moment.
    """
    flint = _flint()
    panels = [line.breaks() for line in half_lines]
    with flint.ctx.workprec(_BITS):
        found = zip(tilts(flint.arb), half_lines, panels, strict=False)
        bits = max(_bits(tilt, line, breaks) for tilt, line, breaks in found)
    with flint.ctx.workprec(_BITS + bits):
        directions = zip(tilts(flint.arb), panels, strict=False)
        return Enclosure.largest([_integral(tilt, breaks) for tilt, breaks in directions])


def _bits(of: Tilt, line: HalfLine, breaks: list[float]) -> int:
    """So many more bits than those of the result: what is added, and how steep the density is where it is."""
    ends = (0.0, breaks[-1]) if breaks else (0.0,)
    steepest = max(abs(line.density.slope(line.side * (line.start + v))) for v in ends)
    far = of.size / of.tilt + ends[-1]
    return max(0, *(math.frexp(min(size, 1e300))[1] for size in (of.size, far * min(steepest, 1e100))))


def beta(arb: Any, low: float, rest: float, tilt: float, epsilon: float) -> list[Tilt]:
    """Beta(low + tilt, rest) against Beta(low, rest + tilt), both directions."""
    a, b, s, e = arb(low), arb(rest), arb(tilt), arb(epsilon)
    offset = ((a + s).lgamma() - a.lgamma()) - ((b + s).lgamma() - b.lgamma())

    def one(first: Number, second: Number, start: Number, side: int) -> Tilt:
        total = first + second
        constant = first.lgamma() + second.lgamma() - total.lgamma()

        def log_density(u: Number) -> Number:
            main = -second * u if u > 0 else first * u
            return main - total * (-abs(u)).exp().log1p() - constant

        def slope(u: Number) -> Number:
            return first - total / (1 + (-u).exp())

        def bend(u: Number) -> Number:
            decay = (-u if u.real > 0 else u).exp()
            return -total * decay / (1 + decay) ** 2

        size = total * (1 + total.log().abs_upper()) + abs(first.lgamma()) + abs(second.lgamma()) + e
        return Tilt(log_density, slope, bend, tilt, start, side, float(size.upper()))

    return [one(a + s, b, (e + offset) / s, +1), one(a, b + s, (offset - e) / s, -1)]


def gamma(arb: Any, shape: float, tilt: float, epsilon: float) -> list[Tilt]:
    """Gamma(shape + tilt) against Gamma(shape), both directions."""
    a, s, e = arb(shape), arb(tilt), arb(epsilon)
    offset = (a + s).lgamma() - a.lgamma()

    def one(own: Number, start: Number, side: int) -> Tilt:
        constant = own.lgamma()

        def log_density(u: Number) -> Number:
            return own * u - u.exp() - constant

        def slope(u: Number) -> Number:
            return own - u.exp()

        def bend(u: Number) -> Number:
            return -u.exp()

        size = (a + s) * (1 + (a + s).log().abs_upper()) + abs(a.lgamma()) + abs((a + s).lgamma()) + e
        return Tilt(log_density, slope, bend, tilt, start, side, float(size.upper()))

    return [one(a + s, (e + offset) / s, +1), one(a, (offset - e) / s, -1)]


def normal(arb: Any, shift: float, epsilon: float) -> list[Tilt]:
    """N(shift, 1) against N(0, 1)."""
    s, e = arb(shift), arb(epsilon)
    constant = (2 * arb.pi()).log() / 2

    def log_density(u: Number) -> Number:
        return -((u - s) ** 2) / 2 - constant

    def slope(u: Number) -> Number:
        return s - u

    def bend(_: Number) -> Number:
        return arb(-1)

    return [Tilt(log_density, slope, bend, shift, e / s + s / 2, +1, float((s * s + e + 1).upper()))]


def responses(each: float, times: int, epsilon: float) -> Enclosure:
    """The sum over the answers whose loss is above epsilon."""
    flint = _flint()
    with flint.ctx.workprec(_BITS + 2 * times.bit_length()):
        parameter, total = flint.arb(each), flint.arb(0)
        for j in range(times + 1):
            gap = (2 * j - times) * Fraction(each) - Fraction(epsilon)
            if gap > 0:
                exact = flint.arb(flint.fmpq(gap.numerator, gap.denominator))
                total += flint.fmpz(math.comb(times, j)) * (j * parameter).exp() * -(-exact).expm1()
        return _enclosed(total / (1 + parameter.exp()) ** times)


def discrete_gaussian(sigma: float, cells: int, epsilon: float) -> Enclosure:
    """The sum over the noise of one cell, or of two whose difference decides, as it is defined."""
    flint = _flint()
    variance = Fraction(sigma) ** 2
    with flint.ctx.workprec(_BITS):
        spread = flint.arb(flint.fmpq(variance.numerator, variance.denominator))

        def weight(number: Number, rate: Fraction) -> Number:
            square = rate * number * number
            return (-flint.arb(flint.fmpq(square.numerator, square.denominator)) / spread).exp()

        def theta(shift: Fraction, rate: Fraction) -> Number:
            far = math.ceil(math.sqrt(float(variance / rate) * 120.0)) + 3
            inner = sum((weight(j - shift, rate) for j in range(-far, far + 1)), flint.arb(0))
            return inner + _beyond(weight(far + 1 - shift, rate), 2 * (far - shift) * rate / variance, 2)

        total = theta(Fraction(0), Fraction(1, 2)) ** cells
        middle, rate = Fraction(cells, 2), Fraction(1, 2 * cells)
        parity = [flint.arb(1)] * 2
        if cells == 2:
            parity = [theta(Fraction(0), Fraction(1)), theta(Fraction(1, 2), Fraction(1))]
        first = math.floor(variance * Fraction(epsilon) + middle) + 1
        last = first + math.ceil(14.0 * sigma * cells) + 3
        found = flint.arb(0)
        for z in range(first, last):
            gap = (z - middle) / variance - Fraction(epsilon)
            exact = flint.arb(flint.fmpq(gap.numerator, gap.denominator))
            found += weight(z - cells, rate) * parity[z % 2] * -(-exact).expm1()
        falls = (2 * (last - cells) + 1) * rate / variance
        found += _beyond(weight(last - cells, rate), falls, 1) * (parity[0] + parity[1])
        return _enclosed(found / total)


def _beyond(first: Number, falls: Fraction, sides: int) -> Number:
    """Between nothing and a geometric series that begins with `first` and falls by e^-falls a step."""
    flint = _flint()
    ratio = (-flint.arb(flint.fmpq(falls.numerator, falls.denominator))).exp()
    return flint.arb(0).union((sides * first / (1 - ratio)).upper())


def _integral(of: Tilt, breaks: list[float]) -> Enclosure:
    flint = _flint()
    arb, acb = flint.arb, flint.acb
    if not breaks:
        # Beyond its mode a log-concave density holds at most f / |slope|.
        slope = -of.side * of.slope(of.start)
        bound = of.log_density(of.start).exp() / slope if slope > 0 else arb(1)
        return _enclosed(arb(0).union(bound.upper()))
    tilt, places = arb(of.tilt), [arb(place) for place in breaks]
    # Relative to the largest value at the ends of panels, an exact number.
    reference = max(of.log_density(of.start + of.side * place).mid() for place in places)

    def value(v: Number, analytic: bool) -> Number:
        # By Taylor's formula around the middle, which is real: with large shapes nothing else is tight.
        centre = v.real.mid()
        if analytic and v.imag.mid() != 0:
            return acb(arb.nan())
        off, u = v - centre, of.start + of.side * centre
        log = of.log_density(u) - reference + of.slope(u) * of.side * off
        log += of.bend(of.start + of.side * v) * off * off / 2
        return log.exp() * -(-tilt * v).expm1()

    scale = ((places[-1] - places[0]) * -(-tilt * places[-1]).expm1()).mid()
    total = arb(0)
    for left, right in pairwise(places):
        most = _most(of, left, right, reference)
        found = arb.nan()
        if most > scale * arb(2) ** -160:
            found = acb.integral(
                value, left, right, rel_tol=arb(2) ** -64, abs_tol=scale * arb(2) ** -100, eval_limit=10_000
            ).real
        total += found if found.is_finite() and found.rad() < most else arb(0).union(most)
    total += _tail(of, places[-1], reference, sign=+1)
    if breaks[0] > 0.0:
        total += _tail(of, places[0], reference, sign=-1)
    return _enclosed(total * reference.exp())


def _most(of: Tilt, left: Number, right: Number, reference: Number) -> Number:
    """What the panel holds at most: its length times the density at the end that is nearer to the mode."""
    ends = [of.start + of.side * place for place in (left, right)]
    slopes = [of.side * of.slope(end) for end in ends]
    if not (slopes[1] > 0 or slopes[0] < 0):
        return (right - left).upper()
    nearer = ends[1] if slopes[1] > 0 else ends[0]
    return ((of.log_density(nearer) - reference).exp() * (right - left)).upper()


def _tail(of: Tilt, v: Number, reference: Number, *, sign: int) -> Number:
    """Beyond v, or before it: between nothing and the value there over the slope of its logarithm."""
    arb = _flint().arb
    tilt, u = arb(of.tilt), of.start + of.side * v
    slope = -sign * (tilt / (tilt * v).expm1() + of.side * of.slope(u))
    if not slope > 0:
        return arb.nan()
    value = (of.log_density(u) - reference).exp() * -(-tilt * v).expm1()
    return arb(0).union((value / slope).upper())


def _enclosed(number: Number) -> Enclosure:
    """The floats around a ball that holds a probability."""
    if not number.is_finite():
        return Enclosure(0.0, 1.0)
    low, high = (_fraction(end) for end in (number.lower(), number.upper()))
    low_float = 0.0 if low is None or low <= 0 else float_below(min(low, Fraction(1)))
    high_float = SMALLEST_POSITIVE if high is None else float_above(max(min(high, Fraction(1)), Fraction(0)))
    return Enclosure(low_float, max(high_float, low_float))


def _fraction(exact: Number) -> Fraction | None:
    """The rational that an exact number of Arb is; None where it is far below all floats, 2 from there on."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if mantissa.bit_length() + exponent > 2:
        return Fraction(2 if mantissa > 0 else -2)
    if mantissa and mantissa.bit_length() + exponent < -1100:
        return None
    return Fraction(mantissa) * Fraction(2) ** exponent
