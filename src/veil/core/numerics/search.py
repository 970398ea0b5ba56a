"""Searching for the edge of the safe side of a monotone condition."""

from __future__ import annotations

import math
from collections.abc import Callable

Margin = Callable[[float], float]

_RELATIVE = 1e-13


def safe_edge(margin: Margin, *, safe: float, unsafe: float, relative: float = _RELATIVE) -> float:
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
            guess = _interpolate(a, b, at_a, at_b, half_width)
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
