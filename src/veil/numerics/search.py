"""Searching for the edge of the safe side of a monotone condition."""

from __future__ import annotations

import math
from collections.abc import Callable

Margin = Callable[[float], float]

_RELATIVE = 1e-13


def safe_edge(margin: Margin, *, safe: float, unsafe: float, relative: float = _RELATIVE) -> float:
    """The point nearest to `unsafe` that was seen to be safe (margin >= 0).

    Both ends are positive or zero; where neither is zero the search runs on a logarithmic scale. Steps
    are those of the ITP method (Oliveira and Takahashi 2020): interpolation where the margin is smooth,
    never more steps than bisection where it is not. What is returned has been evaluated and found
    safe: no interpolation ever decides.
    """
    logarithmic = safe > 0.0 and unsafe > 0.0
    to_x = math.exp if logarithmic else float
    a, b = (math.log(safe), math.log(unsafe)) if logarithmic else (safe, unsafe)
    half_width = 0.5 * relative * (1.0 if logarithmic else max(safe, unsafe))
    best, at_a, at_b = safe, margin(safe), margin(unsafe)
    steps = max(1, math.ceil(math.log2(max(abs(b - a) / (2.0 * half_width), 1.0)))) + 1
    for step in range(steps):
        width = abs(b - a)
        if width <= 2.0 * half_width:
            break
        middle = 0.5 * (a + b)
        guess = middle
        if math.isfinite(at_a) and math.isfinite(at_b):
            guess = _interpolate(a, b, at_a, at_b, half_width)
            radius = half_width * 2.0 ** (steps - step) - 0.5 * width
            guess = middle + math.copysign(min(abs(guess - middle), max(radius, 0.0)), guess - middle)
        point = to_x(guess)
        value = margin(point)
        if value >= 0.0:
            a, at_a, best = guess, value, point
        else:
            b, at_b = guess, value
        # Below ten units in the last place the two ends are the same number for all that matters.
        if abs(b - a) <= 4.0 * math.ulp(max(abs(a), abs(b))):
            break
    return best


def _interpolate(a: float, b: float, at_a: float, at_b: float, least: float) -> float:
    """The root of the secant, moved towards the middle by enough to cross it, so that both ends close in."""
    root, middle = a + at_a / (at_a - at_b) * (b - a), 0.5 * (a + b)
    truncation = max(0.2 * (b - a) ** 2 / max(abs(a), abs(b), abs(b - a)), least)
    if truncation >= abs(middle - root):
        return middle
    return root + math.copysign(truncation, middle - root)


def log_margin(limit: float, reached: float) -> float:
    """log(limit / reached), whose sign is that of an exact comparison: never 0 where reached > limit."""
    if reached <= 0.0:
        return math.inf
    margin = math.log(limit) - math.log(reached)
    return max(margin, 0.0) if reached <= limit else min(margin, -math.ulp(1.0))
