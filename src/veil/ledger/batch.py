"""Releases that are declared together and charged as one (proof: accounting.md).

The mechanisms are fixed before any of them has run, so their privacy losses may be composed exactly; the sum
of their epsilons is nearly always more. What must be fixed is the list of mechanisms with their parameters.
The order in which they run, and which queries of the data they are applied to, may be chosen on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veil.core.account import Charge, EntryId, confirm
from veil.core.adjacency import Adjacency
from veil.core.checks import delta_of, items
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.mechanism import Mechanism
from veil.core.privacy.losses import Composed
from veil.ledger.description import canonical, hash_of, mapping

if TYPE_CHECKING:
    from veil.ledger.dataset import Dataset


@dataclass(frozen=True)
class Batch:
    """Releases that were charged together. Hand it to `release` as `ledger=`, once for each mechanism.

    epsilon, delta: what all of them cost. entry: the charge.

    >>> import tempfile, veil
    >>> grades = veil.Ledger(tempfile.mkdtemp() + "/budget.db").open("grades", epsilon=3, delta=1e-5)
    >>> noise = veil.vectors.GeometricCounts(50.0, 3)
    >>> batch = grades.batch([noise] * 100, adjacency=veil.vectors.Records(), delta=1e-6)
    >>> round(batch.epsilon, 3)  # a hundred releases of 0.02 each
    0.823
    >>> out = veil.release(noise, [5, 2, 9], adjacency=veil.vectors.Records(), ledger=batch)
    >>> batch.left
    99
    """

    dataset: Dataset
    entry: EntryId
    epsilon: float
    delta: float
    adjacency: Adjacency
    _slots: list[str | None]

    @classmethod
    def declare(
        cls,
        dataset: Dataset,
        mechanisms: Sequence[Mechanism],
        *,
        adjacency: Adjacency | None,
        delta: float | None,
    ) -> Batch:
        """Charge the mechanisms together."""
        declared = items("mechanisms", mechanisms, expected="a list of mechanisms")
        if not declared or not all(isinstance(one, Mechanism) for one in declared):
            raise InvalidArgument("mechanisms", expected="a list of mechanisms", found="something else")
        stated = (adjacency, dataset.hidden, declared[0].adjacency)
        near = next((one for one in stated if one is not None), None)
        if near is None:
            raise InvalidArgument("adjacency", expected="what a neighbour is", found="None")
        failing = 0.0 if delta is None else delta_of(delta)
        profiles = tuple(mechanism.profile(near) for mechanism in declared)
        together = Composed.of(*((profile, 1) for profile in profiles), adaptive=True)
        epsilon = together.epsilon(failing)
        if not epsilon < float("inf"):
            raise NoGuarantee(
                f"delta: no finite epsilon holds for the batch at delta={failing:g}. Expected a larger delta."
            )
        slots = [canonical(mechanism.describe()) for mechanism in declared]
        description = {"name": "batch", "releases": [mechanism.name for mechanism in declared], "of": slots}
        places = tuple(map(hash_of, slots))
        entry = dataset.reserve_charge(Charge(epsilon, failing, description, near, profiles, places=places))
        confirm(dataset, entry)
        return cls(dataset, entry, epsilon, failing, near, list(slots))

    @property
    def left(self) -> int:
        """How many of the releases were not made yet, as far as this copy of the batch knows."""
        return sum(slot is not None for slot in self._slots)

    def reserve(self, *, epsilon: float, delta: float, description: Mapping[str, Any]) -> EntryId:
        """The same as `reserve_charge`."""
        return self.reserve_charge(Charge(epsilon, delta, mapping(description), self.adjacency))

    def reserve_charge(self, charge: Charge) -> EntryId:
        """Let one of the declared mechanisms run; it is paid for. Any other is refused."""
        # How far a release reaches does not say who is a neighbour, but what the batch was charged for.
        near, hidden = charge.adjacency, self.adjacency
        if near is None or not hidden.covers(near) or near.reach > hidden.reach:
            found = "nothing said" if near is None else near.words
            raise InvalidArgument("adjacency", expected=self.adjacency.words, found=found)
        wanted = canonical(charge.description)
        for slot, declared in enumerate(self._slots):
            if declared == wanted:
                entry = self.dataset.use(self.entry, slot, charge)
                self._slots[slot] = None
                if entry is not None:
                    return entry
        expected = "one that was declared with the batch and was not released yet"
        raise InvalidArgument("mechanism", expected=expected, found=str(charge.description.get("name"))[:40])

    def confirm(self, entry: EntryId, *, result: str | None = None) -> None:
        """Note that the release was made. result: its digest, which the note keeps."""
        self.dataset.confirm(entry, result=result)

    def confirm_release(self, entry: EntryId, result: str) -> None:
        """Note that the release was made, and which."""
        self.dataset.confirm(entry, result=result)
