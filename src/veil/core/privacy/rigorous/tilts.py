"""Hockey-stick divergences of tilted pairs, by ball arithmetic.

The parameters of a pair are taken as the exact numbers that the floats are. The integrals are those of
vectors/mechanisms/dirichlet.md, section 4, computed by Arb with proved remainders (Petras' algorithm); what
lies beyond the ends is bounded by concavity. Of the quick code only the places where panels begin are used,
which cannot make an enclosure wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from veil.core.numerics.tilted import HalfLine
from veil.core.privacy.rigorous.enclosure import Enclosure, Number, flint, from_nothing_to

_BITS = 128
# What is tried in turn until the enclosure is narrow: bits beside those that are surely needed, and how often
# a panel may be evaluated.
_EFFORTS = ((0, 10_000), (192, 20_000), (768, 40_000))
_FARTHEST = 1e300
# Of a distance: panels of floats around a corner are not narrower.
_UNRESOLVED = 2.0**-40
# Below it nothing is looked at more closely: a power of two far below all floats.
_NEGLIGIBLE = -1200


@dataclass(frozen=True)
class Tilt:
    """One direction of a pair of tilted densities, for Arb.

    log_density: at a real u. slope: its derivative. bend: its second derivative, of complex u; not finite
    where it is not analytic. mode, corners: where the density is largest, and where it turns on a scale of
    one. start, side: where losses exceed epsilon, and on which side. size: of the largest numbers that were
    added, for the precision.
    """

    log_density: Callable[[Number], Number]
    slope: Callable[[Number], Number]
    bend: Callable[[Number], Number]
    mode: Number
    corners: Sequence[Number]
    tilt: float
    start: Number
    side: int
    size: float

    def beyond_start(self) -> Number:
        """Not below what the density holds beyond the start: f / |slope|, as it is log-concave; or 1."""
        slope = -self.side * self.slope(self.start)
        return self.log_density(self.start).exp() / slope if slope > 0 else flint().arb(1)


def of_tilts(tilts: Callable[[Any], Sequence[Tilt]], half_lines: Sequence[HalfLine]) -> Enclosure:
    """The larger of the directions for which there is a half line.

    tilts: makes them of Arb's type of numbers, at the precision of the moment.
    """
    library = flint()
    with library.ctx.workprec(_BITS):
        sizes = [_bits_of(tilt.size) + _bits_of(1.0 / tilt.tilt) for tilt in tilts(library.arb)]
    with library.ctx.workprec(_BITS + max(sizes)):
        # Where the integral truly begins, which floats may not say.
        lines = [_moved(line, tilt) for line, tilt in zip(half_lines, tilts(library.arb), strict=False)]
        panels = [line.breaks() for line in lines]
        found = zip(tilts(library.arb), lines, panels, strict=False)
        bits = max(_bits(tilt, line, breaks) for tilt, line, breaks in found)
    enclosure = Enclosure(0.0, 1.0)
    for more, evaluations in _EFFORTS if any(panels) else _EFFORTS[:1]:
        with library.ctx.workprec(_BITS + bits + more):
            directions = zip(tilts(library.arb), panels, strict=False)
            several = [_integral(tilt, breaks, evaluations) for tilt, breaks in directions]
        enclosure = Enclosure.largest(several)
        if enclosure.is_narrow:
            break
    return enclosure


def _moved(line: HalfLine, of: Tilt) -> HalfLine:
    start = of.side * (of.start - of.mode)
    return replace(line, start=float(start.mid())) if abs(start) < _FARTHEST else line


def _bits(of: Tilt, line: HalfLine, breaks: list[float]) -> int:
    """So many more bits than those of the result: what is added, and how steep the density is where it is."""
    ends = (0.0, breaks[-1]) if breaks else (0.0,)
    steepest = max(abs(line.density.slope(line.side * (line.start + v))) for v in ends)
    far = of.size / of.tilt + ends[-1]
    return max(_bits_of(of.size), _bits_of(far * min(steepest, 1e100)))


def _bits_of(size: float) -> int:
    return max(0, math.frexp(min(size, 1e300))[1])


def beta(arb: Any, low: float, rest: float, tilt: float, epsilon: float) -> list[Tilt]:
    """Beta(low + tilt, rest) against Beta(low, rest + tilt), both directions."""
    a, b, s, e = arb(low), arb(rest), arb(tilt), arb(epsilon)
    offset = ((a + s).lgamma() - a.lgamma()) - ((b + s).lgamma() - b.lgamma())

    def one(first: Number, second: Number, start: Number, side: int) -> Tilt:
        total = first + second
        constant = first.lgamma() + second.lgamma() - total.lgamma()

        def log_density(u: Number) -> Number:
            # Both are the same function; of a ball around 0, too.
            if u > 0:
                return -second * u - total * (-u).exp().log1p() - constant
            return first * u - total * u.exp().log1p() - constant

        def slope(u: Number) -> Number:
            return first - total / (1 + (-u).exp())

        def bend(u: Number) -> Number:
            decay = (-u if u.real > 0 else u).exp()
            return -total * decay / (1 + decay) ** 2

        size = total * (1 + total.log().abs_upper()) + abs(first.lgamma()) + abs(second.lgamma()) + e
        mode, corners = (first / second).log(), (-second.max(1).log(), first.max(1).log())
        return Tilt(log_density, slope, bend, mode, corners, tilt, start, side, float(size.upper()))

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
        return Tilt(log_density, slope, bend, own.log(), (arb(0),), tilt, start, side, float(size.upper()))

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

    size = float((s * s + e + 1).upper())
    return [Tilt(log_density, slope, bend, s, (), shift, e / s + s / 2, +1, size)]


def _integral(of: Tilt, breaks: list[float], evaluations: int) -> Enclosure:
    arb, acb = flint().arb, flint().acb
    bound = of.beyond_start()
    if not breaks or bound < arb(2) ** _NEGLIGIBLE:
        return Enclosure.around(from_nothing_to(bound))
    tilt, places = arb(of.tilt), _places(of, breaks)
    # Relative to the largest value at the ends of panels, an exact number.
    reference = max(of.log_density(of.start + of.side * place).mid() for place in places)

    def value(v: Number, analytic: bool) -> Number:
        if v.imag == 0 and v.real.rel_accuracy_bits() > _BITS:
            # A node: nearly a point.
            log = of.log_density(of.start + of.side * v.real) - reference
            return acb(log.exp() * -(-tilt * v.real).expm1())
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
                value,
                left,
                right,
                rel_tol=arb(2) ** -64,
                abs_tol=scale * arb(2) ** -100,
                eval_limit=evaluations,
            ).real
        total += found if found.is_finite() and found.rad() < most else from_nothing_to(most)
    total += _tail(of, places[-1], reference, sign=+1)
    if breaks[0] > 0.0:
        total += _tail(of, places[0], reference, sign=-1)
    return Enclosure.around(total * reference.exp())


def _places(of: Tilt, breaks: list[float]) -> list[Number]:
    """The ends of panels, and more of them around a corner so far out that floats do not resolve it."""
    arb = flint().arb
    places = [arb(place) for place in breaks]
    first, last = places[0], places[-1]
    for corner in of.corners:
        at, away = (of.side * (corner - of.start)).mid(), arb(1.5)
        while away < at * _UNRESOLVED:
            places += [place.mid() for place in (at - away, at + away) if first < place.mid() < last]
            away = 3 * away
    return sorted(places)


def _most(of: Tilt, left: Number, right: Number, reference: Number) -> Number:
    """What the panel holds at most: its length times the density where it is nearest to the mode."""
    ends = [of.start + of.side * place for place in (left, right)]
    slopes = [of.side * of.slope(end) for end in ends]
    nearer = ends[1] if slopes[1] > 0 else ends[0] if slopes[0] < 0 else of.mode
    return ((of.log_density(nearer) - reference).exp() * (right - left)).upper()


def _tail(of: Tilt, v: Number, reference: Number, *, sign: int) -> Number:
    """Beyond v, or before it: between nothing and the value there over the slope of its logarithm."""
    arb = flint().arb
    tilt, u = arb(of.tilt), of.start + of.side * v
    slope = -sign * (tilt / (tilt * v).expm1() + of.side * of.slope(u))
    if not slope > 0:
        return arb.nan()
    value = (of.log_density(u) - reference).exp() * -(-tilt * v).expm1()
    return from_nothing_to(value / slope)
