"""Values by label as bars, with intervals where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.brief import short
from veil.report.views.view import (
    LARGEST,
    LISTED,
    NAMED,
    Look,
    View,
    in_numbers,
    nothing_found,
    picture,
    shown_of,
    text_at,
)

_WIDE, _LEFT, _RIGHT, _STEP = 640.0, 170.0, 70.0, 20.0


@dataclass(frozen=True, eq=False)
class Bars(View):
    """One value for each label. intervals: for each its low and high end; of: what the values are."""

    title: str
    labels: Sequence[str]
    values: Floats
    intervals: Floats | None = None
    of: str = "share"
    orders: ClassVar[tuple[str, ...]] = (LARGEST, LISTED, NAMED)

    def _chosen(self, look: Look) -> list[int]:
        found = [place for place, label in enumerate(self.labels) if look.finds(label)]
        keys = {
            LISTED: lambda place: place,
            NAMED: lambda place: (str(self.labels[place]).casefold(), place),
            LARGEST: lambda place: (-float(self.values[place]), place),
        }
        return sorted(found, key=keys[self.order(look)])

    def draw(self, look: Look) -> str:
        found = self._chosen(look)
        if not found:
            return nothing_found(look)
        kept = found[: look.most]
        ends = self.values if self.intervals is None else np.maximum(self.values, self.intervals[:, 1])
        scale = (_WIDE - _LEFT - _RIGHT) / max(float(np.max(ends[kept])), 1e-300)
        parts, lines = [], []
        for number, place in enumerate(kept):
            value, y = float(self.values[place]), 6.0 + _STEP * number
            label = str(self.labels[place])
            parts.append(text_at(_LEFT - 8, y + 12, short(label, 24), kind="left"))
            parts.append(
                f'<rect class="bar-of" x="{_LEFT}" y="{y:.1f}" width="{max(0.0, value) * scale:.1f}" '
                'height="15"/>'
            )
            right, line = max(0.0, value) * scale, [label, f"{value:.4g}"]
            if self.intervals is not None:
                low, high = (float(end) for end in self.intervals[place])
                first, last = _LEFT + max(0.0, low) * scale, _LEFT + max(0.0, high) * scale
                parts.append(f'<path class="whisker" d="M{first:.1f} {y + 7.5:.1f}H{last:.1f}"/>')
                right, line = max(right, last - _LEFT), [*line, f"{low:.4g} to {high:.4g}"]
            parts.append(text_at(_LEFT + right + 6, y + 12, f"{value:.3g}"))
            lines.append(line)
        header = ["", self.of, *(() if self.intervals is None else ("95 % interval",))]
        drawn = picture("bars", _WIDE, 12.0 + _STEP * len(kept), self.title, parts)
        return drawn + shown_of(len(kept), len(found), "bars") + in_numbers(header, lines)
