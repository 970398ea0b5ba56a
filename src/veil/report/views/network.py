"""A drawn network: its strongest links, and the nodes that they join."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import ClassVar

import numpy as np

from veil.core.brief import short
from veil.report.layout import spread
from veil.report.views.links import Links
from veil.report.views.view import LARGEST, Look, View, in_numbers, nothing_found, picture, text_at

_WIDE, _HIGH, _ROOM = 640.0, 480.0, 46.0
_MOST_NAMED = 40
# Links for each thing that is looked at: a network needs more of them than a table has rows.
_TIMES = 3


@dataclass(frozen=True, eq=False)
class Network(View):
    """Nodes and the strongest links between them. named: whether labels are written beside the nodes."""

    title: str
    links: Links
    of: str = "weight"
    named: bool = True
    orders: ClassVar[tuple[str, ...]] = (LARGEST,)

    def draw(self, look: Look) -> str:
        found = self.links.strongest(Look(look.search, look.order, _TIMES * look.most))
        if not found:
            return nothing_found(look)
        labels = self.links.labels
        nodes = sorted({node for first, second, _ in found for node in (first, second)})
        place = {node: number for number, node in enumerate(nodes)}
        pairs = np.array([(place[first], place[second]) for first, second, _ in found])
        at = spread(pairs, len(nodes))
        low, size = at.min(axis=0), np.maximum(np.ptp(at, axis=0), 1e-9)
        points = [_ROOM, 24.0] + (at - low) / size * [_WIDE - 2 * _ROOM, _HIGH - 48.0]
        strongest = max(weight for *_, weight in found)
        parts = []
        for (first, second), (_, _, weight) in zip(pairs, found, strict=True):
            (x, y), (to_x, to_y) = points[first], points[second]
            said = escape(f"{labels[nodes[first]]} – {labels[nodes[second]]}: {weight:.3g}")
            parts.append(
                f'<path class="link" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" '
                f'stroke-width="{0.5 + 5 * weight / strongest:.1f}"><title>{said}</title></path>'
            )
        sums = np.zeros(len(nodes))
        for (first, second), (_, _, weight) in zip(pairs, found, strict=True):
            sums[first] += weight
            sums[second] += weight
        for number, node in enumerate(nodes):
            x, y = points[number]
            mark = " found" if look.search and look.finds(labels[node]) else ""
            radius = 3.0 + 7.0 * math.sqrt(sums[number] / sums.max())
            parts.append(
                f'<circle class="node{mark}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
                f"<title>{escape(str(labels[node]))}</title></circle>"
            )
            if self.named and (len(nodes) <= _MOST_NAMED or mark):
                parts.append(text_at(x, y - radius - 2, short(str(labels[node]), 18), kind="middle"))
        lines = [(labels[first], labels[second], f"{weight:.4g}") for first, second, weight in found]
        said = f"{self.title}: {len(nodes)} nodes, {len(found)} links"
        return (
            picture("network", _WIDE, _HIGH, said, parts)
            + f'<p class="quiet">{len(nodes):,} nodes and the {len(found):,} strongest links of '
            + f"{len(self.links.ends):,}.</p>"
            + in_numbers(("from", "to", self.of), lines)
        )
