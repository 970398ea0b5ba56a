"""Searching for the edge of the safe side of a monotone condition."""

from __future__ import annotations

import math
from collections.abc import Callable

Margin = Callable[[float], float]

_RELATIVE = 1e-13


def safe_edge(margin: Margin, *, safe: float, unsafe: float, relative: float = _RELATIVE) -> float:
    """The point nearest to `unsafe` that was seen to be safe (margin >= 0).

    Both ends are positive or zero. Secant steps where the margin is finite and smooth, bisection
    (geometric where the ends differ by orders of magnitude) where it is not. What is returned has
    been evaluated and found safe: no interpolation ever decides.
    """
    margin_safe, margin_unsafe = margin(safe), margin(unsafe)
    stalled = 0
    for _ in range(400):
        if abs(unsafe - safe) <= relative * max(abs(safe), abs(unsafe)):
            break
        middle = _halfway(safe, unsafe)
        guess = middle
        if stalled < 2 and math.isfinite(margin_safe) and math.isfinite(margin_unsafe):
            share = margin_safe / (margin_safe - margin_unsafe)
            guess = safe + share * (unsafe - safe)
            # Step a little past the root on the side that is still far away, so that both ends move.
            nudge = 2.0 * relative * abs(guess) + 1e-3 * abs(unsafe - safe) * min(share, 1.0 - share)
            guess += nudge if stalled == 0 else -nudge
            if not min(safe, unsafe) < guess < max(safe, unsafe):
                guess = middle
        before = abs(unsafe - safe)
        value = margin(guess)
        if value >= 0.0:
            safe, margin_safe = guess, value
        else:
            unsafe, margin_unsafe = guess, value
        stalled = 0 if abs(unsafe - safe) < 0.5 * before else stalled + 1
        if stalled > 2:
            stalled = 0
    return safe


def log_margin(limit: float, reached: float) -> float:
    """log(limit / reached), whose sign is that of an exact comparison: never 0 where reached > limit."""
    if reached <= 0.0:
        return math.inf
    margin = math.log(limit) - math.log(reached)
    return max(margin, 0.0) if reached <= limit else min(margin, -math.ulp(1.0))


def _halfway(first: float, second: float) -> float:
    low, high = min(first, second), max(first, second)
    if low > 0.0 and high > 4.0 * low:
        return math.sqrt(low) * math.sqrt(high)
    return low + 0.5 * (high - low)
