"""The account of a release on the command line: it knows whether the charge was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from veil.cli.deferral import Deferral
from veil.core.account import Charge
from veil.core.progress import tell
from veil.ledger.dataset import Dataset

# What listeners are told before and after the charge.
CHARGING, CHARGED = "charging", "charged as "


@dataclass
class Charging:
    """A budget that is charged while signals wait. tried: a charge was begun; entry: it was made."""

    dataset: Dataset
    stops: Deferral
    tried: bool = False
    entry: Any = field(default=None)

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        return self.reserve_charge(Charge(epsilon, delta, description, self.dataset.hidden))

    def reserve_charge(self, charge: Charge) -> Any:
        """Charge; a signal that arrives from here on waits until the result is kept."""
        self.stops.begin()
        self.tried = True
        tell(CHARGING)
        self.entry = self.dataset.reserve_charge(charge)
        tell(f"{CHARGED}{self.entry}")
        return self.entry

    def confirm(self, entry: Any) -> None:
        self.dataset.confirm(entry)

    def confirm_release(self, entry: Any, result: str) -> None:
        self.dataset.confirm_release(entry, result)
