"""Maps as SVG, drawn from public outlines alone: no tiles, no internet.

Shades go from light to dark blue, flows are orange: both can be told apart by the colour-blind, and in grey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.report.figures import ORANGE, RED
from veil.trips.places.places import Places

# Light to dark.
_SHADES = ("#f5f8fc", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
_WIDE = 640.0
_MOST_FLOWS = 24
# Two shades of the legend for each of so many steps.
_LEGEND = 5
_ROUND = (1, 2, 5)


def place_map(
    places: Places,
    values: Any,
    title: str,
    *,
    unit: str = "trips",
    width: float = _WIDE,
    flows: Sequence[tuple[Floats, Floats, float]] = (),
    most: float | None = None,
    legend: bool = True,
) -> str:
    """Places shaded by a number each; the darker, the more. flows: from a point to a point (metres), and how
    many.

    most: what the darkest shade stands for; the largest number unless given.
    """
    box = places.box
    scale = width / box.width
    height = box.height * scale
    top = max(float(np.max(values)) if most is None else most, 1e-12)
    below = 34.0 if legend else 4.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height + below + 22:.0f}" '
        f'width="{width:.0f}" role="img" aria-label="{escape(title)}" font-family="sans-serif">',
        f'<text x="0" y="14" font-size="13" font-weight="600">{escape(title)}</text>',
        '<g transform="translate(0 22)">',
        f'<rect width="{width:.1f}" height="{height:.1f}" fill="#ffffff" stroke="#999"/>',
    ]
    for place, value in enumerate(values):
        # The root, so that what is between nearly nothing and the most can be told apart.
        shade = _SHADES[min(int(math.sqrt(max(float(value), 0.0) / top) * len(_SHADES)), len(_SHADES) - 1)]
        outline = "".join(
            "M" + " L".join(f"{x * scale:.1f} {height - y * scale:.1f}" for x, y in ring) + "Z"
            for ring in places.rings(place)
        )
        if outline:
            label = escape(f"{places.labels[place]}: {value:,.0f} {unit}")
            parts.append(
                f'<path d="{outline}" fill="{shade}" stroke="#fff" stroke-width="0.6" fill-rule="evenodd">'
                f"<title>{label}</title></path>"
            )
    parts += _arrows(flows, scale, height)
    parts.append("</g>")
    if legend:
        parts.append(_legend(top, unit, width, height + 34.0, scale))
    parts.append("</svg>")
    return "".join(parts)


def _arrows(flows: Sequence[tuple[Floats, Floats, float]], scale: float, height: float) -> list[str]:
    """Curved lines that bend to the right of where they go, so that there and back are two lines."""
    parts, largest = [], max((number for _, _, number in flows), default=1.0)
    for start, end, number in sorted(flows, key=lambda flow: flow[2]):
        (x, y), (u, v) = ((float(p[0]) * scale, height - float(p[1]) * scale) for p in (start, end))
        dx, dy = u - x, v - y
        length = math.hypot(dx, dy)
        thick = 0.8 + 6.0 * number / largest
        if length < 1.0:
            continue
        # Down is positive here: to the right of the way is (-dy, dx).
        cx, cy = 0.5 * (x + u) - 0.22 * dy, 0.5 * (y + v) + 0.22 * dx
        # The head points along the end of the curve.
        tx, ty = u - cx, v - cy
        size = math.hypot(tx, ty)
        tx, ty = tx / size, ty / size
        head = 4.0 + 1.3 * thick
        bx, by = u - tx * head, v - ty * head
        wing = 0.5 * head
        parts.append(
            f'<g opacity="0.85"><path d="M{x:.1f} {y:.1f}Q{cx:.1f} {cy:.1f} {bx:.1f} {by:.1f}" fill="none" '
            f'stroke="{ORANGE}" stroke-width="{thick:.1f}" stroke-linecap="round">'
            f"<title>{number:,.0f} trips</title></path>"
            f'<path d="M{u:.1f} {v:.1f}L{bx - ty * wing:.1f} {by + tx * wing:.1f}L{bx + ty * wing:.1f} '
            f'{by - tx * wing:.1f}Z" fill="{RED}"/></g>'
        )
    return parts


def _legend(top: float, unit: str, width: float, y: float, scale: float) -> str:
    """What the shades stand for, and how long a stated distance is."""
    # Small maps have narrow shades: what they stand for is written between them and the distance.
    parts, step = [], min(22.0, 0.045 * width)
    for place, shade in enumerate(_SHADES):
        parts.append(
            f'<rect x="{place * step:.1f}" y="{y:.0f}" width="{step:.1f}" height="9" fill="{shade}" '
            'stroke="#ccc" stroke-width="0.4"/>'
        )
    for place in (0, 3, 6, len(_SHADES)):
        value = top * (place / len(_SHADES)) ** 2
        parts.append(
            f'<text x="{place * step:.0f}" y="{y + 21:.0f}" font-size="10" '
            f'text-anchor="{"start" if place == 0 else "middle"}">{_short(value)}</text>'
        )
    parts.append(
        f'<text x="{len(_SHADES) * step + 8:.0f}" y="{y + 9:.0f}" font-size="11">{escape(unit)}</text>'
    )
    metres = _round_below(0.25 * width / scale)
    long = metres * scale
    left = width - long - 2.0
    name = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    parts.append(
        f'<path d="M{left:.1f} {y + 2:.1f}v6h{long:.1f}v-6" fill="none" stroke="#333"/>'
        f'<text x="{left + long / 2:.1f}" y="{y + 21:.0f}" font-size="10" text-anchor="middle">{name}</text>'
    )
    return "".join(parts)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"


def _round_below(number: float) -> float:
    """The largest of 1, 2, 5, 10, 20, ... that is not larger."""
    power = 10.0 ** math.floor(math.log10(max(number, 1.0)))
    return max(part * power for part in _ROUND if part * power <= max(number, 1.0))


def block_flows(
    places: Places, flows: Floats, blocks: object, most: int = _MOST_FLOWS
) -> list[tuple[Floats, Floats, float]]:
    """The largest flows between blocks as lines between the middles of what starts and ends there."""
    block = np.asarray(blocks)
    size = int(block.max()) + 1
    key = block[:, None].astype(np.int64) * size + block[None, :]
    table = np.bincount(key.ravel(), flows.ravel(), size * size).reshape(size, size)
    mass = flows.sum(axis=0) + flows.sum(axis=1) + 1e-9
    middle = np.stack(
        [
            np.bincount(block, mass * places.centres[:, axis], size) / np.bincount(block, mass, size)
            for axis in (0, 1)
        ],
        axis=1,
    )
    np.fill_diagonal(table, 0.0)
    order = np.argsort(-table, axis=None, kind="stable")[:most]
    pairs = [divmod(int(cell), size) for cell in order]
    return [(middle[a], middle[b], float(table[a, b])) for a, b in pairs if table[a, b] > 0.0]
