"""The strongest flows as bands from the left to the right."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from typing import ClassVar

from veil.core.brief import short
from veil.report.views.links import Links
from veil.report.views.view import LARGEST, Look, View, in_numbers, nothing_found, picture, text_at

_WIDE, _LEFT, _RIGHT, _GAP, _COLOURS = 640.0, 180.0, 460.0, 5.0, 7


@dataclass(frozen=True, eq=False)
class Flows(View):
    """Bands between what is left and what is entered. of: what their widths are."""

    title: str
    links: Links
    of: str = "share of all"
    orders: ClassVar[tuple[str, ...]] = (LARGEST,)

    def draw(self, look: Look) -> str:
        found = self.links.strongest(look)
        if not found:
            return nothing_found(look)
        labels = self.links.labels
        sides: tuple[dict[int, float], dict[int, float]] = defaultdict(float), defaultdict(float)
        for first, second, weight in found:
            sides[0][first] += weight
            sides[1][second] += weight
        most = max(map(len, sides))
        high = max(240.0, 17.0 * most)
        total = sum(sides[0].values())
        scale = (high - _GAP * most) / total
        starts, parts = [], []
        for side, x in zip(sides, (_LEFT, _RIGHT), strict=True):
            y, start = 2.0, {}
            for node, weight in sorted(side.items(), key=lambda one: -one[1]):
                start[node] = y
                tall = weight * scale
                parts.append(
                    f'<rect class="stop" x="{x - 4:g}" y="{y:.1f}" width="8" height="{max(tall, 1):.1f}"/>'
                )
                name, at = short(str(labels[node]), 24), y + tall / 2 + 4
                is_left = x == _LEFT
                parts.append(text_at(x + (-10 if is_left else 10), at, name, kind="left" if is_left else ""))
                y += max(tall + _GAP, 13.0)
            starts.append(start)
            high = max(high, y)
        colours = {node: number % _COLOURS for number, node in enumerate(starts[0])}
        bands, middle = [], (_LEFT + _RIGHT) / 2
        for first, second, weight in found:
            tall = weight * scale
            left, right = starts[0][first] + tall / 2, starts[1][second] + tall / 2
            starts[0][first] += tall
            starts[1][second] += tall
            said = escape(f"{labels[first]} to {labels[second]}: {weight:.3g}")
            bands.append(
                f'<path class="band hue{colours[first]}" d="M{_LEFT + 4:g} {left:.1f}C{middle:g} {left:.1f} '
                f'{middle:g} {right:.1f} {_RIGHT - 4:g} {right:.1f}" stroke-width="{max(tall, 0.7):.1f}">'
                f"<title>{said}</title></path>"
            )
        said = f"{self.title}: the {len(found)} strongest"
        lines = [(labels[first], labels[second], f"{weight:.4g}") for first, second, weight in found]
        return (
            picture("flows", _WIDE, high + 4, said, [*bands, *parts])
            + f'<p class="quiet">The {len(found)} strongest; together {total:.3g} of {self.of}.</p>'
            + in_numbers(("from", "to", self.of), lines)
        )
