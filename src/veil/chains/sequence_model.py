"""What a released chain says of sequences: starts, ends, lengths, steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from veil.chains.counting.question import group_text
from veil.chains.mechanisms.discovered_chain import DiscoveredChain
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sequences.fitted_sequences import MOST_WEIGHTS, FittedSequences, Targets, fitted_sequences
from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.matrices.chain import Chain
from veil.matrices.numerics.paths import Walker, Walks

States = NDArray[np.int32]
_MOST_SEQUENCES = 50_000_000
# Of all sequences together: 8 GB.
_MOST_STATES = 2**31


@dataclass(frozen=True, eq=False)
class LengthLaw:
    """A distribution of lengths (in states). lengths: increasing; probabilities: theirs."""

    lengths: NDArray[np.int64]
    probabilities: Floats

    __repr__ = brief_repr

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
    lengths: of the number of states. sizes: about how many transitions left each state. groups, group_sizes:
    the chain and the sizes of each group. strata: the least length and the chain of users by the length of
    their sequences, where they were counted apart; strata_sizes: the same as `sizes` of each. doubts: of
    "starts" and "ends", the deviation of their noise as a share.
    """

    chain: Chain
    second: Floats | None = None
    starts: Floats | None = None
    ends: Floats | None = None
    lengths: LengthLaw | None = None
    sizes: Floats | None = None
    groups: Mapping[str, Chain] = field(default_factory=dict)
    group_sizes: Mapping[str, Floats] = field(default_factory=dict)
    strata: tuple[tuple[int, Chain], ...] = ()
    strata_sizes: tuple[Floats, ...] = ()
    doubts: Mapping[str, float] = field(default_factory=dict)

    __repr__ = brief_repr

    def joint(self) -> Floats:
        """The share of each transition [from, to] among all; without sizes, in the long run."""
        sizes = self.chain.stationary() if self.sizes is None else self.sizes / self.sizes.sum()
        return np.asarray(sizes[:, None] * self.chain.to_numpy())

    @cached_property
    def fitted(self) -> FittedSequences | None:
        """Sequences that have the released transitions, starts, ends and lengths together.

        None where it is not known how often each transition is made or how long sequences are, or where there
        are too many states.
        """
        if self.sizes is None or self.lengths is None or self.lengths.lengths[-1] < 2:
            return None
        if len(self.chain) ** 2 > MOST_WEIGHTS:
            return None
        targets = self._targets(self.lengths)
        return None if targets.weights > MOST_WEIGHTS else fitted_sequences(targets)

    def _targets(self, lengths: LengthLaw) -> Targets:
        joint = self.joint()
        layers = [(2, joint)]
        if self.strata_sizes:
            layers = [
                (least, (size / size.sum())[:, None] * chain.to_numpy())
                for (least, chain), size in zip(self.strata, self.strata_sizes, strict=True)
            ]
        # A stratum without lengths has no sequences.
        ends = [*(least for least, _ in layers[1:]), np.inf]
        known = lengths.lengths[lengths.probabilities > 0.0]
        kept = [
            one for one, end in zip(layers, ends, strict=True) if ((known >= one[0]) & (known < end)).any()
        ]
        return Targets(
            tuple(joint for _, joint in kept),
            tuple(least for least, _ in kept),
            joint,
            lengths.lengths,
            lengths.probabilities,
            starts=self.starts,
            ends=self.ends,
            doubts=(self.doubts.get("starts", 0.0), self.doubts.get("ends", 0.0)),
            second=self.second,
        )

    def sequences(
        self, count: int, *, length: int | None = None, rng: np.random.Generator
    ) -> tuple[States, NDArray[np.int64]]:
        """Synthetic sequences: all their states one after the other, and the length of each.

        length: the same for all; None draws them from the released lengths. Where these are known, and how
        often each transition is made, sequences are drawn from `fitted`; else the chain is followed.
        """
        count = integer("count", count, least=1, most=_MOST_SEQUENCES)
        if length is None:
            if self.lengths is None:
                expected = "a length, since the release has none of its own"
                raise InvalidArgument("length", expected=expected, found="None")
            lengths = self.lengths.draw(rng, count)
        else:
            length = integer("length", length, least=1)
            if count * length > _MOST_STATES:
                expected = f"at most {_MOST_STATES:,} states together"
                raise InvalidArgument("length", expected=expected, found=f"{count:,} x {length:,}")
            lengths = np.full(count, length)
        if self.fitted is not None:
            return self.fitted.draw(lengths, rng), lengths
        return self.followed(lengths, rng), lengths

    def followed(self, lengths: NDArray[np.int64], rng: np.random.Generator) -> States:
        """Sequences of these lengths that start as released and follow the chain, all one after the other."""
        count = len(lengths)
        starts = rng.choice(len(self.chain), size=count, p=self.start_law())
        states = np.empty(int(lengths.sum()), dtype=np.int32)
        ends = np.cumsum(lengths)
        # Together those of about the same length: one long sequence must not make all of them long.
        order = np.argsort(lengths, kind="stable")
        size = len(self.chain)
        bounds = [0, *(least for least, _ in self.strata[1:]), np.inf]
        for stratum, walker in enumerate(self._walkers()):
            within = slice(*np.searchsorted(lengths[order], bounds[stratum : stratum + 2]))
            for some in _alike(order[within], lengths):
                longest = int(lengths[some].max())
                began = starts[some] if self.second is None else size * size + starts[some]
                paths = walker.paths(began, longest - 1, rng)
                paths = paths if self.second is None else paths % size
                kept = np.arange(longest) < lengths[some, None]
                places = (ends[some] - lengths[some])[:, None] + np.arange(longest)
                states[places[kept]] = paths[kept]
        return states

    def start_law(self) -> Floats:
        """Where sequences start: as released, else as transitions do, else in the long run."""
        if self.starts is not None:
            return self.starts
        return self.chain.stationary() if self.sizes is None else self.sizes / self.sizes.sum()

    def _walkers(self) -> Iterator[Walks]:
        """What sequences follow: of each stratum of lengths, or of all."""
        chains = [chain for _, chain in self.strata] or [self.chain]
        for chain in chains:
            if self.second is None:
                yield chain.walker
                continue
            from scipy.sparse import coo_array

            # Memory as of everybody, steps as of the stratum. A state of the walk is (before, from), its
            # number before * size + from.
            size = len(self.chain)
            law = self.second * (chain.to_numpy() / np.maximum(self.chain.to_numpy(), 1e-300))
            before, origin, end = np.indices(law.shape).reshape(3, -1)
            rows, columns = before * size + origin, origin * size + end
            yield Walker.of(coo_array((law.ravel(), (rows, columns)), shape=((size + 1) * size,) * 2))


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
    if isinstance(release, Release) and isinstance(release.mechanism, PrivateChain):
        return release.mechanism
    expected = "a chain that was counted from a table"
    raise InvalidArgument("release", expected=expected, found=checked_release(release).mechanism.name)


def model(release: Release[Any]) -> SequenceModel:
    """All that a released chain says of sequences: starts, lengths, the state before the last."""
    if isinstance(checked_release(release).mechanism, (SparseChain, DiscoveredChain)):
        sparse = release.mechanism.on(len(release.value))  # type: ignore[attr-defined]
        made: SequenceModel = release.derived("model", lambda: sparse.model(release.tables, release.value))
        return made
    mechanism = mechanism_of(release)
    states = cast("Chain", release.value).states
    return release.derived("model", lambda: mechanism.model(release.tables, states))


def group_chain(release: Release[Any], group: str | float) -> Chain:
    """The chain of one group, where one was released for each; 8 and "8" are the same."""
    chains = model(release).groups if isinstance(checked_release(release).mechanism, PrivateChain) else {}
    name = group_text(group)
    if name not in chains:
        names = ", ".join(list(chains)[:8]) + (", ..." if len(chains) > 8 else "")
        expected = f"one of {names}" if chains else "none, since the release has no groups"
        raise InvalidArgument("group", expected=expected, found=shown(group))
    return chains[name]
