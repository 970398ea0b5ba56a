"""Rounding to a chosen side, and searching for the edge of the safe side of a monotone condition."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

SMALLEST_POSITIVE = math.ulp(0.0)
# A rounded sum, product or quotient is off by at most half of it.
ULP = 2.0**-52
# Of exp, expm1, log, log1p, sin and sinh, in `math` and in NumPy, it is assumed that they are off by at most
# four units in the last place (vectors/mechanisms/dirichlet.md, section 4). Twice that is allowed for.
FUNCTION_ERROR = 8.0 * ULP
_LOG_SMALLEST = math.log(SMALLEST_POSITIVE)
# The exponential of a Decimal is correctly rounded; the next number above it is surely not below it.
_DIGITS = Context(prec=60)
Margin = Callable[[float], float]


def probability_above(log_probability: float) -> float:
    """The least convenient float: not below exp(log_probability), not above 1, never 0."""
    if log_probability >= 0.0:
        return 1.0
    if log_probability <= _LOG_SMALLEST:
        return SMALLEST_POSITIVE
    # What exp may be off, and its argument's own rounding, which scales with its size.
    slack = FUNCTION_ERROR + ULP * abs(log_probability)
    return min(1.0, math.nextafter(math.exp(log_probability) * (1.0 + slack), math.inf))


def float_below(exact: Fraction) -> float:
    """The largest float that is not above the rational."""
    nearest = _nearest(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def float_above(exact: Fraction) -> float:
    """The smallest float that is not below the rational; infinite beyond all floats."""
    nearest = _nearest(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return sys.float_info.max if exact > 0 else -sys.float_info.max


def stated(number: float) -> Fraction:
    """What a float was written as, or the float itself where that is less.

    0.1 is a float a little above a tenth. Who asks for an epsilon of 0.1 is charged a tenth, so what is built
    for it must not reveal more than a tenth.
    """
    return min(Fraction(number), Fraction(repr(float(number))))


def charged_below(epsilon: float) -> float:
    """The largest float that is not above what is charged for a stated epsilon."""
    return float_below(stated(epsilon))


def charge_above(loss: Fraction) -> float:
    """The least float that may be charged for a loss.

    Neither it nor the decimal that it is written as, which is what is charged, is below the loss. What was
    built for a stated 0.1 loses at most a tenth, and is charged 0.1. What loses the float 0.1, a little above
    a tenth, is charged the next float.

    >>> charge_above(Fraction(1, 10)), charge_above(Fraction(0.1)), charge_above(Fraction(3, 2))
    (0.1, 0.10000000000000002, 1.5)
    """
    charge = float_above(loss)
    while math.isfinite(charge) and stated(charge) < loss:
        charge = math.nextafter(charge, math.inf)
    return charge


def charged_times(loss: float, times: int) -> float:
    """The least float that may be charged for so many losses, each of at most this float."""
    return charge_above(Fraction(loss) * times)


def charged_together(charges: Iterable[tuple[float, int]]) -> float:
    """The least float that may be charged for several charges, each with its number.

    It is below neither the sum of the floats nor, as the decimal that it is written as, that of the decimals.
    """
    each = list(charges)
    exact = sum((times * Fraction(charge) for charge, times in each), Fraction())
    written = sum((times * stated(charge) for charge, times in each), Fraction())
    return max(float_above(exact), charge_above(written))


def decay_above(rate: float) -> float:
    """The least float that is surely not below exp(-rate); it stands for exactly that number."""
    if rate >= -_LOG_SMALLEST:
        return SMALLEST_POSITIVE
    above = _DIGITS.next_plus(_DIGITS.exp(_DIGITS.minus(Decimal(rate))))
    return min(1.0, float_above(Fraction(above)))


def rate_above(decay: float) -> float:
    """The least float that is surely not below -log(decay)."""
    if decay == 1.0:
        return 0.0
    return float_above(Fraction(_DIGITS.next_plus(_DIGITS.minus(_DIGITS.ln(Decimal(decay))))))


def times_above(loss: float, times: int) -> float:
    """The product, not rounded down."""
    return float_above(Fraction(loss) * times)


def safe_edge(margin: Margin, *, safe: float, unsafe: float, relative: float = 1e-13) -> float:
    """The point nearest to `unsafe` that was seen to be safe (margin >= 0).

    Both ends are positive or zero. The search runs on a logarithmic scale, and `relative` is the width
    of the bracket that is left. Steps are those of the ITP method (Oliveira and Takahashi 2020):
    interpolation where the margin is smooth, never more steps than bisection where it is not. What is
    returned has been evaluated and found safe: no interpolation ever decides.
    """
    while safe == 0.0 or unsafe == 0.0:
        # Halve until neither end is zero: a tolerance relative to the answer needs its magnitude.
        middle = 0.5 * (safe + unsafe)
        if middle == 0.0:
            return safe
        if margin(middle) >= 0.0:
            safe = middle
        else:
            unsafe = middle
    a, b, half_width = math.log(safe), math.log(unsafe), 0.5 * relative
    best, at_a, at_b = safe, margin(safe), margin(unsafe)
    steps = max(1, math.ceil(math.log2(max(abs(b - a) / (2.0 * half_width), 1.0)))) + 1
    for step in range(steps):
        width = abs(b - a)
        if width <= 2.0 * half_width:
            break
        middle = 0.5 * (a + b)
        guess = middle
        if math.isfinite(at_a) and math.isfinite(at_b):
            # The root of the secant, moved towards the middle by enough to cross it: both ends close in.
            root = a + at_a / (at_a - at_b) * (b - a)
            moved = max(0.2 * (b - a) ** 2 / max(abs(a), abs(b), abs(b - a)), half_width)
            if moved < abs(middle - root):
                guess = root + math.copysign(moved, middle - root)
            radius = half_width * 2.0 ** (steps - step) - 0.5 * width
            guess = middle + math.copysign(min(abs(guess - middle), max(radius, 0.0)), guess - middle)
        point = math.exp(guess)
        value = margin(point)
        if value >= 0.0:
            a, at_a, best = guess, value, point
        else:
            b, at_b = guess, value
    return best


def least_safe(margin: Margin, *, smallest: float, largest: float, relative: float) -> float | None:
    """The least point that is safe, where all points above it are safe too; below `smallest` none is tried.

    The search starts at 1 and goes by factors of four. None where no point up to `largest` is safe.
    """
    safe = 1.0
    while margin(safe) < 0.0:
        safe *= 4.0
        if safe > largest:
            return None
    unsafe = safe
    while margin(unsafe) >= 0.0:
        unsafe /= 4.0
        if unsafe < smallest:
            return 4.0 * unsafe
    return safe_edge(margin, safe=min(safe, 4.0 * unsafe), unsafe=unsafe, relative=relative)


def log_margin(limit: float, reached: float) -> float:
    """log(limit / reached), whose sign is that of an exact comparison: never 0 where reached > limit."""
    if reached <= 0.0:
        return math.inf
    margin = math.log(limit) - math.log(reached)
    return max(margin, 0.0) if reached <= limit else min(margin, -math.ulp(1.0))


def least_point(
    cost: Callable[[float], float], low: float, high: float, *, steps: int
) -> tuple[float, float]:
    """Where a cost that falls and then rises is least, and what it is there: golden sections."""
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = cost(right)
    return min((at_left, left), (at_right, right))[::-1]


def rounded_up(value: float, digits: int = 4) -> str:
    """A number that is a bound, in so many digits, never less than it is but for 1e-13 of it.

    >>> rounded_up(26.895), rounded_up(99.9999), rounded_up(1.0), rounded_up(0.0)
    ('26.9', '100', '1', '0')
    """
    return _in_digits(value, digits, ROUND_CEILING)


def rounded_down(value: float, digits: int = 6) -> str:
    """What is covered, in so many digits, never more than it is but for 1e-13 of it.

    >>> rounded_down(2 / 3), rounded_down(0.3), rounded_down(1.0)
    ('0.666666', '0.3', '1')
    """
    return _in_digits(value, digits, ROUND_FLOOR)


def _in_digits(value: float, digits: int, rounding: str) -> str:
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    # A float that was meant to be a short decimal is that decimal, not the one next to it.
    near = float(f"{value:.{digits}g}")
    if abs(near - value) <= 1e-13 * abs(value):
        return f"{near:.{digits}g}"
    exact = Decimal(value)
    short = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), rounding=rounding)
    return f"{float(short):.{digits}g}"
