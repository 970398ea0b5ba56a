"""Integrals of log-concave functions over a half line, in arbitrary precision."""

from collections.abc import Callable, Iterable
from itertools import pairwise

from mpmath import mp, mpf

Curve = Callable[[mpf], mpf]

WORKING_DIGITS = 50
QUAD_DIGITS = 18
DROP = 60  # the integrand is cut where it has fallen by e^-60 from its peak


def half_line_integral(
    log_density: Curve, slope: Curve, threshold: mpf, rate: mpf, sign: int, landmarks: Iterable[mpf]
) -> mpf:
    """Integral over v > 0 of exp(log_density(threshold + sign v)) (1 - e^{-rate v}), log-concave integrand.

    ``slope`` is the derivative of ``log_density``; ``landmarks`` are further places (in u) to cut panels.
    """

    def height(v: mpf) -> mpf:
        return log_density(threshold + sign * v) + mp.log(-mp.expm1(-rate * v))

    def rising(v: mpf) -> bool:
        return bool(sign * slope(threshold + sign * v) + rate / mp.expm1(rate * v) > 0)

    low = high = 1 / rate
    while not rising(low):
        low /= 8
    while rising(high):
        high *= 8
    while high - low > mpf(10) ** -14 * high:
        middle = mp.sqrt(low * high)
        low, high = (middle, high) if rising(middle) else (low, middle)
    mode = (low + high) / 2
    peak = height(mode)

    cuts = {mode}
    for direction in (1, -1):
        step = mode / 2
        while height(mode + direction * step) < peak - 1:
            step /= 2
        while True:
            place = mode + direction * step
            if place <= 0:
                cuts.add(mpf(0))
                break
            cuts.add(place)
            if height(place) < peak - DROP:
                break
            step *= 2
    first, last = min(cuts), max(cuts)
    cuts.update(v for v in (sign * (u - threshold) for u in landmarks) if first < v < last)

    def scaled(v: mpf) -> mpf:
        with mp.workdps(WORKING_DIGITS):
            return mp.exp(height(v) - peak) if v > 0 else mpf(0)

    total = mpf(0)
    ordered = sorted(cuts)
    for left, right in pairwise(ordered):
        width = right - left  # each panel is mapped to [0, 1], so that the rule's nodes lose no digits

        def panel(z: mpf, left: mpf = left, width: mpf = width) -> mpf:
            with mp.workdps(WORKING_DIGITS):
                return scaled(left + width * z)

        with mp.workdps(QUAD_DIGITS):
            value = mp.quad(panel, [0, 1], method="gauss-legendre")
        total += width * value
    return mp.exp(peak) * total
