"""veil release bits: a private version of a table of two values a column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veil.cli import charging, options
from veil.cli.keeping import Keeping
from veil.cli.output import AGAIN, working
from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.bits.reading import BitSource
    from veil.core.record import Release

TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq")

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write: .csv, .csv.gz, .tsv or .parquet (and the record as .json beside it), or .json.",
    ),
]
UnitOption = Annotated[
    str,
    typer.Option("--unit", help="What is hidden: row (all bits of a record together) or bit (each alone)."),
]
FlipsOption = Annotated[
    int | None,
    typer.Option("--flips", min=1, help="Hide only so many bits at once: of a record, or with --unit bit."),
]


def bits(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="CSV, Parquet or JSON lines; two values a column.")
    ],
    epsilon: options.Epsilon,
    unit: UnitOption = "row",
    flips: FlipsOption = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Which columns, in which order: a,b,c. All unless given.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--values", help="What 0 and 1 are called: no,yes - or for one column: vote=nay,aye."),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option("--missing", help="Gaps (empty, ?, NA): no (as 0), yes (as 1) or drop-column."),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; else told."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="What separates the cells of a line; else told.")
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", "-m", help="auto (fewest wrong bits), staircase or response.")
    ] = "auto",
    output: OutputOption = None,
    report: options.ReportOption = None,
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private table of bits: votes, answers, features.

    Example: veil release bits votes.csv --unit row --epsilon 2 -o private.csv

    Gaps must be spoken for: veil release bits house-votes.csv --missing no --epsilon 4 -o private.csv
    """
    from veil.bits.job import bit_job
    from veil.bits.planning import FOR_BITS, UNITS
    from veil.bits.reading import read_bits
    from veil.core.checks import choice, positive

    keeping = Keeping(output, report, force, as_json, TABLES)
    keeping.check([source])
    account = charging.account_of(ledger, dataset, part)
    again = account is None and output is not None and output.exists()
    positive("epsilon", epsilon)
    choice("unit", unit, UNITS)
    choice("mechanism", mechanism, ("auto", *FOR_BITS))
    with working("Reading", quiet=as_json):
        held = read_bits(
            source,
            columns=None if columns is None else [name.strip() for name in columns.split(",")],
            values=_values(values),
            missing=missing,
            header=header,
            delimiter=delimiter,
        )
    if output is not None and keeping.record is not None:
        _check_columns(output, held)
    with working("Calibrating", quiet=as_json):
        job = bit_job(
            held.table,
            epsilon=epsilon,
            unit=unit,
            flips=flips,
            mechanism=mechanism,
            labels=held.columns,
            read=held.assumptions,
        )
    if dry_run:
        charging.say_dry_run(job, account, as_json=as_json)
        return
    with working("Drawing", quiet=as_json):
        out = job.run(ledger=account, rng=seed)

    def table(path: Path) -> None:
        from veil.bits.files import write_bits

        write_bits(path, out.value, held.columns, ones=held.ones, zeros=held.zeros, overwrite=force)

    written = keeping.write(out, lambda: _page(out), table)
    if as_json:
        return
    from veil.bits.report.console import print_bit_release

    print_bit_release(out, plan=job.plan, ones=held.ones, dropped=held.dropped, written=written)
    charging.say_charge(account)
    if again:
        print(f"WARNING: {AGAIN}.")


def _page(release: Release) -> str:
    from veil.bits.report.page import BitReport

    return BitReport.of(release).html()


def _check_columns(output: Path, held: BitSource) -> None:
    """Before the draw: names that the file cannot hold would make it be paid for and lost."""
    from veil.bits.files import check_columns

    try:
        check_columns(output, held.columns, held.ones, held.zeros)
    except InvalidArgument as error:
        parts = {"expected": error.expected, "found": error.found, "hint": error.hint}
        raise InvalidArgument("--output", **parts) from None


def _values(texts: list[str] | None) -> tuple[str, str] | dict[str, tuple[str, str]] | None:
    """One pair for all columns, or pairs for some by name."""
    if not texts:
        return None
    found: dict[str, tuple[str, str]] = {}
    for text in texts:
        name, _, pair = text.rpartition("=")
        parts = [part.strip() for part in pair.split(",")]
        if len(parts) != 2 or not all(parts):
            expected = "two values with a comma: no,yes - or column=no,yes"
            raise InvalidArgument("--values", expected=expected, found=repr(text)[:40])
        if not name:
            if len(texts) > 1:
                expected = "either one pair for all columns, or column=no,yes for each"
                raise InvalidArgument("--values", expected=expected, found="both")
            return parts[0], parts[1]
        found[name] = (parts[0], parts[1])
    return found
