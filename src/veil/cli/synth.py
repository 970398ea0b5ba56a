"""veil synth: synthetic sequences from a released chain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veil.cli import options
from veil.cli.output import check_ending, print_json, refuse_existing, working

if TYPE_CHECKING:
    from veil.chains.synthesis import Synthetic

_SHOWN = 5


def synth(
    path: Annotated[Path, typer.Argument(metavar="RELEASE", help="A released chain (.json).")],
    count: Annotated[int, typer.Option("--number", "-n", min=1, help="How many sequences.")] = 1000,
    length: Annotated[
        int | None,
        typer.Option(min=1, help="The number of states of each; else the released lengths, or 2."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: .csv or .parquet (sequence, place, state), .txt (one sequence a line; tabs "
            "between labels with spaces).",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Of a release with groups: the chain of this one.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same sequences again; costs no privacy.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Make synthetic sequences from a released chain. It costs no privacy: only the release is read.

    Example: veil synth model.json -n 100000 -o trips.csv
    """
    from veil.chains.synthesis import synthetic
    from veil.core.files import load

    check_ending("--output", output, (".csv", ".parquet", ".txt"))
    refuse_existing({"--output": output}, force=force, inputs=[str(path)])
    release = load(path)
    with working("Drawing sequences", quiet=as_json):
        made = synthetic(release, count, length=length, group=group, rng=seed)
    if output is not None:
        with working("Writing", quiet=as_json):
            _write(made, output, overwrite=force)
    if as_json:
        print_json(
            {
                "sequences": len(made),
                "states": len(made.states),
                "mean_length": float(made.lengths.mean()),
                "notes": list(made.notes),
                "output": None if output is None else str(output),
            }
        )
        return
    for sequence, _ in zip(made, range(_SHOWN), strict=False):
        text = " -> ".join(sequence[:12]) + (" -> ..." if len(sequence) > 12 else "")
        print(text)
    print(f"{len(made):,} sequences, {made.lengths.mean():.3g} states each on average.")
    for note in made.notes:
        print(f"{note}.")
    print(f"Written: {output}" if output is not None else "Not saved: add -o FILE.csv to keep them.")


def _write(made: Synthetic, output: Path, *, overwrite: bool) -> None:
    from veil.core.writing import replacing

    with replacing(output, overwrite=overwrite) as beside:
        _write_to(made, Path(beside), output.suffix.lower())


def _write_to(made: Synthetic, output: Path, kind: str) -> None:
    if kind == ".txt":
        # A label with white space in it stays whole: then tabs are between them.
        mark = "\t" if any(len(label.split()) != 1 for label in made.labels) else " "
        with output.open("w", encoding="utf-8") as stream:
            stream.writelines(mark.join(sequence) + "\n" for sequence in made)
    elif kind == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(made.to_arrow(), output)
    else:
        import pyarrow as pa
        import pyarrow.csv as pc

        table = made.to_arrow()
        plain = table.set_column(2, "state", table.column("state").cast(pa.string()))
        pc.write_csv(plain, output)
