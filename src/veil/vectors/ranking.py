"""Plans that rank mechanisms by total variation, and say why the first of them is taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from veil.core.plan import RankedPlan


@dataclass(frozen=True)
class TotalVariationPlan(RankedPlan):
    """Mechanisms from the least to the largest expected total variation.

    over: what the mean is over, in words, since it depends on the data, which nobody looks at; empty where
        `auto` does not choose by this plan.
    """

    # What `auto` makes small, in words.
    measure: ClassVar[str] = "expected total variation"

    over: str = field(default="", kw_only=True)

    @property
    def reason(self) -> str:
        """Why `auto` takes the first mechanism: the measure, and the figures of all that were compared."""
        (_, least), *others = [(row.name, row.ranked_by) for row in self.rows if row.mechanism is not None]
        impossible = [row.name for row in self.rows if row.mechanism is None]
        text = f"least {self.measure} over {self.over}: {least:.3g}"
        if others:
            text += " against " + ", ".join(f"{error:.3g} of {name}" for name, error in others)
        if impossible:
            text += f"; not possible at this budget: {', '.join(impossible)}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON, with what `auto` takes and why, where it chooses by this plan."""
        content = super().to_dict() | {"measure": self.measure}
        if self.over and self.rows[0].mechanism is not None:
            content |= {"auto": self.rows[0].name, "why": self.reason}
        return content
