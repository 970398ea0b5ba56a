"""A model of sequences: a Markov chain, how sequences start, end and how long they are; from a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.matrices.chain import Chain
from veil.matrices.numerics.paths import Walker

States = NDArray[np.int32]
_MOST_SEQUENCES = 50_000_000
# Of all sequences together: 8 GB.
_MOST_STATES = 2**31


@dataclass(frozen=True, eq=False)
class LengthLaw:
    """A distribution of lengths (in states). lengths: increasing; probabilities: theirs."""

    lengths: NDArray[np.int64]
    probabilities: Floats

    @property
    def mean(self) -> float:
        return float(self.lengths @ self.probabilities)

    def quantile(self, share: float) -> int:
        """The least length that this share of sequences does not exceed."""
        place = int(np.searchsorted(np.cumsum(self.probabilities), share))
        return int(self.lengths[min(place, len(self.lengths) - 1)])

    @classmethod
    def of_users(cls, users: Floats) -> LengthLaw:
        """The law behind estimated users by exact length; the first entry is length 0."""
        lengths = np.flatnonzero(users > 0.0)
        if not len(lengths):
            # Nobody stands out of the noise: the shortest length there is.
            return cls(np.array([1]), np.array([1.0]))
        return cls(lengths.astype(np.int64), users[lengths] / users[lengths].sum())

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """So many lengths."""
        return np.asarray(rng.choice(self.lengths, size=count, p=self.probabilities))


@dataclass(frozen=True, eq=False)
class SequenceModel:
    """Everything that a release says about sequences; None where it does not say it.

    chain: where it goes from a state. second: [before, from, to], the same with the state before known
    (before = len(chain): there was none). starts, ends: distributions of the first and the last state.
    lengths: of the number of states. sizes: about how many transitions left each state. groups: a chain
    for each group.
    """

    chain: Chain
    second: Floats | None = None
    starts: Floats | None = None
    ends: Floats | None = None
    lengths: LengthLaw | None = None
    sizes: Floats | None = None
    groups: Mapping[str, Chain] = field(default_factory=dict)

    def joint(self) -> Floats:
        """The share of each transition [from, to] among all; without sizes, in the long run."""
        sizes = self.chain.stationary() if self.sizes is None else self.sizes / self.sizes.sum()
        return np.asarray(sizes[:, None] * self.chain.to_numpy())

    def sequences(
        self, count: int, *, length: int | None = None, rng: np.random.Generator
    ) -> tuple[States, NDArray[np.int64]]:
        """Synthetic sequences: all their states one after the other, and the length of each.

        length: the same for all; None draws them from the released lengths.
        """
        count = integer("count", count, least=1, most=_MOST_SEQUENCES)
        if length is None:
            if self.lengths is None:
                raise InvalidArgument(
                    "length", expected="a length, since the release has none of its own", found="None"
                )
            lengths = self.lengths.draw(rng, count)
        else:
            length = integer("length", length, least=1)
            if count * length > _MOST_STATES:
                expected = f"at most {_MOST_STATES:,} states together"
                raise InvalidArgument("length", expected=expected, found=f"{count:,} x {length:,}")
            lengths = np.full(count, length)
        start_law = self.chain.stationary() if self.starts is None else self.starts
        starts = rng.choice(len(self.chain), size=count, p=start_law)
        states = np.empty(int(lengths.sum()), dtype=np.int32)
        ends = np.cumsum(lengths)
        # Together those of about the same length: one long sequence must not make all of them long.
        order = np.argsort(lengths, kind="stable")
        walker, size = self._walker(), len(self.chain)
        for first in range(0, count, chunk := max(1, min(count, 200_000))):
            for some in _alike(order[first : first + chunk], lengths):
                longest = int(lengths[some].max())
                began = starts[some] if self.second is None else size * size + starts[some]
                paths = walker.paths(began, longest - 1, rng)
                paths = paths if self.second is None else paths % size
                kept = np.arange(longest) < lengths[some, None]
                places = (ends[some] - lengths[some])[:, None] + np.arange(longest)
                states[places[kept]] = paths[kept]
        return states, lengths

    def _walker(self) -> Walker:
        if self.second is None:
            return Walker.of(self.chain.matrix)
        from scipy.sparse import coo_array

        # A state of the walk is (before, from), its number before * size + from.
        size = len(self.chain)
        before, origin, end = np.indices(self.second.shape).reshape(3, -1)
        rows, columns = before * size + origin, origin * size + end
        shape = ((size + 1) * size,) * 2
        return Walker.of(coo_array((self.second.ravel(), (rows, columns)), shape=shape))


def _alike(sequences: NDArray[np.intp], lengths: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Parts of sequences, sorted by length, in each of which the longest is at most twice the shortest."""
    parts = []
    while len(sequences):
        upto = int(np.searchsorted(lengths[sequences], 2 * lengths[sequences[0]], side="right"))
        # And no part of more than a few million states.
        upto = max(1, min(upto, 4_000_000 // int(2 * lengths[sequences[0]]) + 1))
        parts.append(sequences[:upto])
        sequences = sequences[upto:]
    return parts


def mechanism_of(release: Release[Any]) -> PrivateChain:
    """The mechanism of a release of counted transitions, or an error if it is another release."""
    checked_release(release)
    if not isinstance(release.mechanism, PrivateChain):
        raise InvalidArgument(
            "release", expected="a chain that was counted from a table", found=release.mechanism.name
        )
    return release.mechanism


def model(release: Release[Any]) -> SequenceModel:
    """All that a released chain says of sequences: starts, lengths, the state before the last."""
    mechanism = mechanism_of(release)
    states = cast("Chain", release.value).states
    return release.derived("model", lambda: mechanism.model(release.tables, states))


def group_chain(release: Release[Any], group: str) -> Chain:
    """The chain of one group, where one was released for each."""
    found = model(release).groups if isinstance(checked_release(release).mechanism, PrivateChain) else {}
    if not isinstance(group, str) or group not in found:
        names = ", ".join(list(found)[:8]) + (", ..." if len(found) > 8 else "")
        expected = f"one of {names}" if found else "none, since the release has no groups"
        raise InvalidArgument("group", expected=expected, found=shown(group))
    return found[group]
