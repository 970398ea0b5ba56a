"""Whether what a batch cost covers what was released from it.

A batch is charged for mechanisms that it names by their hashes. Whoever may add entries could declare one
that costs nothing and use it: the releases would be charged, each by an entry that says as much as its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from veil.core.errors import VeilError
from veil.core.privacy.losses import Composed
from veil.ledger.amounts import Amount
from veil.ledger.description import canonical, hash_of
from veil.ledger.named import UNREADABLE, adjacency_named, mechanism_named

# Compositions are computed on grids that depend on what is composed.
_SLACK = Amount("1.01")


@dataclass
class Uses:
    """The releases of one batch. epsilon, delta: what it was charged. unnamed: those not named in full."""

    epsilon: Amount
    delta: Amount
    unnamed: int = 0
    _made: dict[int, tuple[str, str]] = field(default_factory=dict)

    def add(self, content: Mapping[str, Any]) -> None:
        """One more release, by the content of its entry."""
        named = canonical({name: value for name, value in content["mechanism"].items() if name != "sha256"})
        if hash_of(named) != content["mechanism"]["sha256"]:
            self.unnamed += 1
            return
        self._made[content["slot"]] = (named, canonical(content["adjacency"]))

    def are_covered(self) -> bool:
        """Whether the batch cost at least what its releases reveal together."""
        # In the order in which they were declared: the same composition as then, if all of them were made.
        made = tuple(self._made[slot] for slot in sorted(self._made))
        if not made:
            return True
        least = _least_epsilon(made, float(self.delta))
        if least is None:
            self.unnamed += len(made)
            return True
        return least <= float(self.epsilon * _SLACK)


@lru_cache(maxsize=256)
def _least_epsilon(made: tuple[tuple[str, str], ...], delta: float) -> float | None:
    """What the releases cost together at delta; None if that cannot be computed from here."""
    with suppress(VeilError, *UNREADABLE):
        profiles = [mechanism_named(text).profile(adjacency_named(near)) for text, near in made]
        return Composed.of(*((profile, 1) for profile in profiles), adaptive=True).epsilon(delta)
    return None
