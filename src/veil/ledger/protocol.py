"""What a release asks of a budget store."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Ledger(Protocol):
    """Anything that can be charged. A reservation is spent at once: privacy is never refunded."""

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        """Charge before the noise is drawn, or raise BudgetExceeded; returns the entry's id."""

    def confirm(self, entry: Any) -> None:
        """Note that the release of this entry was made."""
