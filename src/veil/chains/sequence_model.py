"""What a released chain says of sequences: starts, ends, lengths, steps; and synthetic sequences from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from veil.chains.counting.question import group_text
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts
from veil.core.intake import Labels
from veil.core.kind import Progress
from veil.core.record import Release, checked_release
from veil.core.request import CSV_SAFE, CommandRequest, option
from veil.core.writing import replacing
from veil.matrices.chain import Chain
from veil.matrices.chain_summary import to_chain
from veil.matrices.numerics.paths import Walker
from veil.report.terminal import say

States = NDArray[np.int32]
_MOST_SEQUENCES = 50_000_000
# Of all sequences together: 8 GB.
_MOST_STATES = 2**31
# Without released lengths, a trip: from one state to the next.
DEFAULT_LENGTH = 2
# What of synthetic sequences the terminal shows.
_SEQUENCES_SHOWN, _STATES_SHOWN = 5, 12


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
    their sequences, where they were counted apart.
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

    __repr__ = brief_repr

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
                expected = "a length, since the release has none of its own"
                raise InvalidArgument("length", expected=expected, found="None")
            lengths = self.lengths.draw(rng, count)
        else:
            length = integer("length", length, least=1)
            if count * length > _MOST_STATES:
                expected = f"at most {_MOST_STATES:,} states together"
                raise InvalidArgument("length", expected=expected, found=f"{count:,} x {length:,}")
            lengths = np.full(count, length)
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
        return states, lengths

    def start_law(self) -> Floats:
        """Where sequences start: as released, else as transitions do, else in the long run."""
        if self.starts is not None:
            return self.starts
        return self.chain.stationary() if self.sizes is None else self.sizes / self.sizes.sum()

    def _walkers(self) -> Iterator[Walker]:
        """What sequences follow: of each stratum of lengths, or of all."""
        chains = [chain for _, chain in self.strata] or [self.chain]
        for chain in chains:
            if self.second is None:
                yield Walker.of(chain.matrix)
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


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Sequences that nobody made. states: all of them one after the other, by number; lengths: of each.

    notes: what was not in the release and how it was replaced.
    """

    states: NDArray[np.int32]
    lengths: NDArray[np.int64]
    labels: Labels
    notes: tuple[str, ...] = ()

    __repr__ = brief_repr

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[list[str]]:
        names = np.array(self.labels, dtype=object)
        for end, length in zip(np.cumsum(self.lengths), self.lengths, strict=True):
            yield names[self.states[end - length : end]].tolist()

    def to_arrow(self) -> Any:
        """A table with one row per state: sequence, place, state."""
        import pyarrow as pa

        ends = np.cumsum(self.lengths)
        places = np.arange(len(self.states)) - np.repeat(ends - self.lengths, self.lengths)
        return pa.table(
            {
                "sequence": np.repeat(np.arange(len(self)), self.lengths),
                "place": places,
                "state": pa.DictionaryArray.from_arrays(pa.array(self.states), pa.array(self.labels)),
            }
        )


def synthetic(
    release: Release[Any], count: int, *, length: int | None = None, group: str | None = None, rng: Any = None
) -> Synthetic:
    """So many sequences drawn from a released chain. Free: nothing but the release is used.

    length: the number of states of each; None takes the released lengths, or 2 where there are none.
    group: of a release with groups, the chain to draw from.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> made = chains.synthetic(chains.release(counts, epsilon=1.0, rng=1), 3, length=4, rng=1)
    >>> [len(sequence) for sequence in made]
    [4, 4, 4]
    """
    count = integer("count", count, least=1)
    checked_release(release)
    is_counted = isinstance(release.mechanism, PrivateChain)
    held = model(release) if is_counted else SequenceModel(to_chain(release))
    if group is not None:
        held = replace(
            held, chain=group_chain(release, group), sizes=held.group_sizes[group], second=None, starts=None
        )
    notes = []
    if held.starts is None:
        where = "the stationary distribution" if held.sizes is None else "where transitions start"
        notes.append(f"starts: drawn from {where}; the release has none of its own")
    if length is None and held.lengths is None:
        length = DEFAULT_LENGTH
        notes.append(f"lengths: {length} states each; the release has none of its own")
    try:
        random = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidArgument("rng", expected="None, a seed or a Generator", found=shown(rng)) from None
    states, lengths = held.sequences(count, length=length, rng=random)
    labels = tuple(map(str, held.chain.states))
    return Synthetic(states, lengths, labels, tuple(notes))


@dataclass(frozen=True, kw_only=True)
class MakeSynthetic(CommandRequest):
    """Make synthetic sequences from a released chain. It costs no privacy: only the release is read."""

    examples = (("", {"source": "model.json", "number": 100_000, "output": "trips.csv"}),)

    source: Path = option(help="A released chain (.json).", flag="RELEASE")
    number: int = option(1000, help="How many sequences.", short="-n", least=1)
    length: int | None = option(
        None, help="The number of states of each; unless given the released lengths, or 2.", least=1
    )
    output: Path | None = option(
        None,
        help="Where to write: .csv or .parquet (sequence, place, state), .txt (one sequence per line; tabs "
        "between labels with spaces).",
        short="-o",
        group="Output",
    )
    csv_safe: bool = option(False, help=CSV_SAFE, group="Output")
    group: str | None = option(None, help="Of a release with groups: the chain of this one.")
    seed: int | None = option(None, help="The same sequences again; costs no privacy.", least=0)

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, (".csv", ".parquet", ".txt"))}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> SyntheticFile:
        from veil.core.files import load

        made = synthetic(load(self.source), self.number, length=self.length, group=self.group, rng=self.seed)
        if self.output is not None:
            with replacing(self.output, overwrite=overwrite) as beside:
                _write(made, Path(beside), self.output.suffix.lower(), csv_safe=self.csv_safe)
        return SyntheticFile(made, self.output)


@dataclass(frozen=True, slots=True)
class SyntheticFile:
    """Synthetic sequences, and where they were written."""

    made: Synthetic
    output: Path | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "sequences": len(self.made),
            "states": len(self.made.states),
            "mean_length": float(self.made.lengths.mean()),
            "notes": list(self.made.notes),
            "output": None if self.output is None else str(self.output),
        }

    def show(self) -> None:
        for sequence, _ in zip(self.made, range(_SEQUENCES_SHOWN), strict=False):
            more = " -> ..." if len(sequence) > _STATES_SHOWN else ""
            say(" -> ".join(sequence[:_STATES_SHOWN]) + more)
        say(f"{len(self.made):,} sequences, {self.made.lengths.mean():.3g} states each on average.")
        for note in self.made.notes:
            say(f"{note}.")
        unsaved = "Not saved: add -o FILE.csv to keep them."
        say(unsaved if self.output is None else f"Written: {self.output}")


def _write(made: Synthetic, output: Path, ending: str, *, csv_safe: bool = False) -> None:
    if ending == ".txt":
        # A label with white space in it stays whole: then tabs are between them.
        mark = "\t" if any(len(label.split()) != 1 for label in made.labels) else " "
        with output.open("w", encoding="utf-8") as stream:
            stream.writelines(mark.join(sequence) + "\n" for sequence in made)
    elif ending == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(made.to_arrow(), output)
    else:
        import pyarrow as pa
        import pyarrow.csv as pc

        labels = safe_texts(made.labels) if csv_safe else made.labels
        table = replace(made, labels=tuple(labels)).to_arrow()
        plain = table.set_column(2, "state", table.column("state").cast(pa.string()))
        pc.write_csv(plain, output)
