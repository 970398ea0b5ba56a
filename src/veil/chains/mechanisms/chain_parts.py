"""The tables that a chain's data is counted into, each hidden by a mechanism of its own."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.lengths import LengthBins
from veil.chains.transition_counts import TransitionCounts
from veil.core.checks import choice, integer, items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.vectors.adjacency import Contributions, Records
from veil.vectors.counts import Integers
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

CountMechanism = GeometricCounts | DiscreteGaussianCounts | DirichletCounts | BorderedRows
OF_TRANSITIONS = ("transitions", "second", "sizes")
OF_SEQUENCES = ("starts", "ends", "lengths")


@dataclass(frozen=True)
class Part:
    """One table of counts: what it counts, its shape, and the mechanism that hides it.

    of: "transitions" [from, to] (with groups [group, from, to]), "second" [before, from, to], "sizes"
        (how many leave each state), "starts", "ends" (by state), "lengths" (by bin).
    least: counts only the users whose sequences have at least so many states, and fewer than the next
        part of the same kind; 0 for everybody.
    cap: the most transitions of one user in it, where that differs from the adjacency's.
    bins: of "lengths", the least length of each bin.
    """

    of: str
    mechanism: CountMechanism
    shape: tuple[int, ...]
    least: int = 0
    cap: int | None = None
    bins: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        choice("of", self.of, OF_TRANSITIONS + OF_SEQUENCES)
        object.__setattr__(
            self,
            "shape",
            tuple(integer("shape", side, least=1) for side in items("shape", self.shape, expected="a list")),
        )
        if not self.shape or not isinstance(self.mechanism, CountMechanism):
            raise InvalidArgument("parts", expected="a shape and a mechanism of counts", found="others")
        size = prod(self.shape) if self.is_noisy_counts else self.shape[-1]
        if self.mechanism.size != size:
            raise InvalidArgument("mechanism", expected=f"{size} counts", found=str(self.mechanism.size))
        object.__setattr__(self, "least", integer("least", self.least, least=0))
        if self.cap is not None:
            object.__setattr__(self, "cap", integer("cap", self.cap, least=1))
        if (self.bins is not None) != (self.of == "lengths"):
            raise InvalidArgument("bins", expected="the bins of lengths, and of nothing else", found="others")
        if self.bins is not None:
            object.__setattr__(self, "bins", LengthBins(tuple(self.bins)).least)
            if len(self.bins) != self.shape[0]:
                raise InvalidArgument("bins", expected=f"{self.shape[0]} bins", found=str(len(self.bins)))

    @property
    def key(self) -> str:
        """Its name among the parts of a release."""
        return self.of if self.least == 0 else f"{self.of}, {self.least} states or more"

    @property
    def is_noisy_counts(self) -> bool:
        """Whether what is released is counts with noise, rather than probabilities."""
        return isinstance(self.mechanism, (GeometricCounts, DiscreteGaussianCounts))

    def contributions(self, adjacency: Transitions) -> Contributions:
        """By how much neighbours differ in this table."""
        if self.of in OF_SEQUENCES:
            return adjacency.on_sequences
        if self.of == "second":
            return adjacency.on_triples(self.cap)
        return adjacency.on_transitions(self.cap)

    def profile(self, adjacency: Transitions) -> PrivacyProfile:
        """What this table alone reveals."""
        if self.of in OF_SEQUENCES or self.of == "second":
            return self.mechanism.profile(self.contributions(adjacency))
        if adjacency.unit == "event" and adjacency.change == "replace":
            # The origin stays, so one row changes and its size does not.
            if self.of == "sizes":
                return NothingRevealed()
            return self.mechanism.profile(Records("replace"))
        if isinstance(self.mechanism, BorderedRows) and adjacency.unit == "event":
            return self.mechanism.profile(Records(adjacency.change))
        return self.mechanism.profile(self.contributions(adjacency))

    def counted(self, counts: TransitionCounts) -> Integers:
        """The table that it hides."""
        found = self._found(counts)
        if found is None:
            raise InvalidData(
                "counts", expected=f"a table of {self.of}", found="none", hint="Count again and ask for it."
            )
        if found.shape != self.shape:
            raise InvalidData(
                "counts", expected=f"a table of {self.of} of shape {self.shape}", found=f"{found.shape}"
            )
        return found

    def check(self, counts: TransitionCounts) -> None:
        """That the counts hold its table, and that its mechanism takes it."""
        table = self.counted(counts)
        if not self.is_noisy_counts:
            self.mechanism.validate(table)

    def _found(self, counts: TransitionCounts) -> Integers | None:
        if self.least > 0:
            return next((part.matrix for part in counts.strata if part.least == self.least), None)
        if self.of == "second":
            return counts.second
        if self.of in OF_SEQUENCES:
            return None if counts.sequences is None else getattr(counts.sequences, self.of)
        if len(self.shape) == 3:
            return None if counts.groups is None else np.stack(list(counts.groups.values()))
        if self.of == "sizes":
            return np.asarray(counts.matrix.sum(axis=1), dtype=np.int64)
        matrix = counts.matrix
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    def draw(self, rng: Rng, counts: Integers) -> NDArray[Any]:
        """The private version of the table: noisy counts, or rows of probabilities."""
        if isinstance(self.mechanism, (DirichletCounts, BorderedRows)):
            rows: NDArray[Any] = self.mechanism.sample(counts, rng=rng)
            return rows
        return counts + self.mechanism.noise(rng, self.shape)

    def describe(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "of": self.of,
            "mechanism": self.mechanism.describe(),
            "shape": list(self.shape),
        }
        if self.least:
            content["least"] = self.least
        if self.cap is not None:
            content["cap"] = self.cap
        if self.bins is not None:
            content["bins"] = list(self.bins)
        return content
