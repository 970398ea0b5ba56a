"""Synthetic sequences from a released chain, and the command that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.sequence_model import SequenceModel, group_chain
from veil.chains.sequence_model import model as model_of
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument
from veil.core.files import replacing
from veil.core.intake import Labels
from veil.core.kind import Progress
from veil.core.record import Release, checked_release
from veil.core.request import CommandRequest, option
from veil.matrices.released import to_chain

# Without released lengths, a trip: from one state to the next.
DEFAULT_LENGTH = 2
_SHOWN = 5
_MOST_STATES = 12


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Sequences that nobody made. states: all of them one after the other, by number; lengths: of each.

    notes: what was not in the release and how it was replaced.
    """

    states: NDArray[np.int32]
    lengths: NDArray[np.int64]
    labels: Labels
    notes: tuple[str, ...] = ()

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
    model = model_of(release) if is_counted else SequenceModel(to_chain(release))
    if group is not None:
        model = replace(model, chain=group_chain(release, group), sizes=None, second=None)
    notes = []
    if model.starts is None:
        notes.append("starts: drawn from the stationary distribution; the release has none of its own")
    if length is None and model.lengths is None:
        length = DEFAULT_LENGTH
        notes.append(f"lengths: {length} states each; the release has none of its own")
    try:
        random = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidArgument("rng", expected="None, a seed or a Generator", found=shown(rng)) from None
    states, lengths = model.sequences(count, length=length, rng=random)
    labels = tuple(map(str, model.chain.states))
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
    group: str | None = option(None, help="Of a release with groups: the chain of this one.")
    seed: int | None = option(None, help="The same sequences again; costs no privacy.", least=0)

    @property
    def inputs(self) -> tuple[str, ...]:
        return (str(self.source),)

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, (".csv", ".parquet", ".txt"))}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> SyntheticFile:
        from veil.core.files import load

        made = synthetic(load(self.source), self.number, length=self.length, group=self.group, rng=self.seed)
        if self.output is not None:
            with replacing(self.output, overwrite=overwrite) as beside:
                _write(made, Path(beside), self.output.suffix.lower())
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
        for sequence, _ in zip(self.made, range(_SHOWN), strict=False):
            more = " -> ..." if len(sequence) > _MOST_STATES else ""
            print(" -> ".join(sequence[:_MOST_STATES]) + more)
        print(f"{len(self.made):,} sequences, {self.made.lengths.mean():.3g} states each on average.")
        for note in self.made.notes:
            print(f"{note}.")
        unsaved = "Not saved: add -o FILE.csv to keep them."
        print(unsaved if self.output is None else f"Written: {self.output}")


def _write(made: Synthetic, output: Path, ending: str) -> None:
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

        table = made.to_arrow()
        plain = table.set_column(2, "state", table.column("state").cast(pa.string()))
        pc.write_csv(plain, output)
