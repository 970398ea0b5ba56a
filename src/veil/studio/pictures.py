"""Small pictures as SVG elements without styles of their own: the style sheet colours them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from veil.core.baseline import NO_BETTER

_WIDE, _HIGH = 640.0, 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 18.0, 46.0


def error_curve(points: Sequence[tuple[float, float]], *, measure: str, nothing: float, chosen: float) -> str:
    """The expected error against epsilon, both on logarithmic axes, beside that of an answer without data."""
    if len(points) < 2:
        return ""
    lowest = max(min(error for _, error in points), 1e-12)
    highest = max(*(error for _, error in points), nothing, lowest * 1.5)
    across = [math.log(epsilon) for epsilon, _ in points]
    low, high = math.log(lowest) - 0.15, math.log(highest) + 0.25

    def x(epsilon: float) -> float:
        share = (math.log(epsilon) - across[0]) / (across[-1] - across[0])
        return _LEFT + share * (_WIDE - _LEFT - _RIGHT)

    def y(error: float) -> float:
        share = (math.log(max(error, 1e-12)) - low) / (high - low)
        return _HIGH - _BOTTOM - share * (_HIGH - _TOP - _BOTTOM)

    line = " ".join(f"{x(epsilon):.1f},{y(error):.1f}" for epsilon, error in points)
    at = interpolated(points, chosen)
    said = escape(
        f"Expected {measure} against epsilon: {at:.3g} at {chosen:g}, {nothing:.3g} without any data"
    )
    parts = [
        f'<svg class="curve" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}" role="img" aria-label="{said}">',
        _level("axis", _HIGH - _BOTTOM),
    ]
    for epsilon, _ in points:
        parts.append(
            f'<text class="tick" x="{x(epsilon):.1f}" y="{_HIGH - _BOTTOM + 18}">{epsilon:.2g}</text>'
        )
    for error in _ticks(math.exp(low), math.exp(high)):
        parts.append(f'<text class="tick left" x="{_LEFT - 8}" y="{y(error) + 4:.1f}">{error:g}</text>')
        parts.append(_level("grid", y(error)))
    if nothing > 0.0:
        parts.append(
            _level("nothing", y(nothing))
            + f'<text class="note" x="{_WIDE - _RIGHT}" y="{y(nothing) - 6:.1f}">{NO_BETTER}</text>'
        )
    parts.append(f'<polyline class="line" points="{line}"/>')
    parts += [
        f'<circle class="point" cx="{x(epsilon):.1f}" cy="{y(error):.1f}" r="4" tabindex="0">'
        f"<title>epsilon {epsilon:.3g}: {error:.3g}</title></circle>"
        for epsilon, error in points
    ]
    parts.append(
        f'<line class="chosen" x1="{x(chosen):.1f}" y1="{_TOP}" x2="{x(chosen):.1f}" y2="{_HIGH - _BOTTOM}"/>'
    )
    parts.append(f'<circle class="chosen" cx="{x(chosen):.1f}" cy="{y(at):.1f}" r="6"/>')
    parts.append(
        f'<text class="label" x="{(_LEFT + _WIDE - _RIGHT) / 2:.0f}" y="{_HIGH - 6}">'
        "epsilon: smaller is more private</text></svg>"
    )
    return "".join(parts)


def _level(name: str, y: float) -> str:
    return f'<line class="{name}" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDE - _RIGHT}" y2="{y:.1f}"/>'


def interpolated(points: Sequence[tuple[float, float]], epsilon: float) -> float:
    """The error at an epsilon between two points of the curve; beyond its ends that of the end."""
    if epsilon <= points[0][0]:
        return points[0][1]
    for (left, before), (right, after) in pairwise(points):
        if epsilon <= right:
            share = (math.log(epsilon) - math.log(left)) / (math.log(right) - math.log(left))
            return math.exp(
                (1.0 - share) * math.log(max(before, 1e-300)) + share * math.log(max(after, 1e-300))
            )
    return points[-1][1]


def _ticks(low: float, high: float) -> list[float]:
    """One, two and five times powers of ten between two bounds; at most eight."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    return ticks if len(ticks) <= 8 else [tick for tick in ticks if round(math.log10(tick), 6).is_integer()]


# What one choice of unit covers, as rows and cells of a small table: a person has the rows 1, 2 and 4.
_SHADED = {
    "user": {(row, column) for row in (1, 2, 4) for column in range(3)},
    "row": {(2, column) for column in range(3)},
    "event": {(2, 1), (2, 2)},
    "bit": {(2, 1)},
}


def unit_picture(unit: str) -> str:
    """A small table in which what is hidden is shaded; empty for units without such a picture."""
    shaded = _SHADED.get(unit)
    if shaded is None:
        return ""
    cells = "".join(
        f'<rect class="{"hidden" if (row, column) in shaded else "cell"}" x="{4 + 34 * column}" '
        f'y="{4 + 14 * row}" width="30" height="10" rx="2"/>'
        for row in range(5)
        for column in range(3)
    )
    said = "what is hidden is shaded"
    return f'<svg class="unit" viewBox="0 0 108 78" role="img" aria-label="{said}">{cells}</svg>'
