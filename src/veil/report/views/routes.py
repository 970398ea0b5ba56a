"""Sequences of states, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import ClassVar

from veil.core.brief import short
from veil.report.views.view import LARGEST, LISTED, Look, View, nothing_found, shown_of

_LONGEST = 30
LONGEST = "longest first"


@dataclass(frozen=True, eq=False)
class Routes(View):
    """Sequences with how often each occurs, in the order in which they were first seen."""

    title: str
    routes: Sequence[tuple[tuple[str, ...], int]]
    orders: ClassVar[tuple[str, ...]] = (LARGEST, LISTED, LONGEST)

    @classmethod
    def counted(cls, title: str, sequences: Iterable[Sequence[object]]) -> Routes:
        """Routes from sequences as they are."""
        found = Counter(tuple(map(str, sequence)) for sequence in sequences)
        return cls(title, tuple(found.items()))

    def draw(self, look: Look) -> str:
        found = [one for one in self.routes if any(map(look.finds, one[0]))]
        if not found:
            return nothing_found(look)
        if self.order(look) == LARGEST:
            found = sorted(found, key=lambda one: -one[1])
        elif self.order(look) == LONGEST:
            found = sorted(found, key=lambda one: -len(one[0]))
        lines = []
        for route, count in found[: look.most]:
            steps = "".join(f"<li>{_step(state, look)}</li>" for state in route[:_LONGEST])
            more = f"<li>and {len(route) - _LONGEST} more</li>" if len(route) > _LONGEST else ""
            lines.append(
                f'<li class="route"><span class="times">{count:,} ×</span>'
                f'<ol class="stations">{steps}{more}</ol></li>'
            )
        told = shown_of(min(look.most, len(found)), len(found), "routes")
        return (
            f'<ol class="routes" tabindex="0" aria-label="{escape(self.title)}">{"".join(lines)}</ol>{told}'
        )


def _step(state: str, look: Look) -> str:
    text = escape(short(state, 24))
    return f"<mark>{text}</mark>" if look.search and look.finds(state) else text
