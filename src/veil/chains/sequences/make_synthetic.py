"""The command that makes synthetic sequences and writes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veil.chains.sequences.synthetic import Synthetic, synthetic
from veil.core.formulas import safe_texts
from veil.core.kind import Progress
from veil.core.request import CSV_SAFE, CommandRequest, option
from veil.core.writing import replacing
from veil.report.terminal import say

# What of synthetic sequences the terminal shows.
_SEQUENCES_SHOWN, _STATES_SHOWN = 5, 12


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
