"""veil release: private versions of data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from veil.cli import (
    charging,
    options,
    release_bits,
    release_chain,
    release_graph,
    release_matrix,
    release_words,
)
from veil.cli.keeping import Keeping
from veil.cli.output import working

if TYPE_CHECKING:
    from veil.core.record import Release

app = typer.Typer(help="Release a private version of data.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Release a private version of data."""


@app.command("vector")
def vector(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="CSV or JSON file, or - for a pipe.")],
    epsilon: options.Epsilon,
    delta: options.Delta = 1e-6,
    output: options.OutputOption = None,
    records: options.RecordsOption = None,
    counts: options.CountsOption = False,
    transfer: options.TransferOption = None,
    l1: options.L1Option = None,
    change: options.ChangeOption = None,
    mechanism: options.MechanismOption = "dirichlet",
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth/--no-smooth",
            help="With --transfer or --l1: --no-smooth is the published form, which holds only for vectors "
            "that respect --floor.",
        ),
    ] = True,
    floor: Annotated[
        float | None, typer.Option(help="The least entry; chosen for least error if left out.")
    ] = None,
    normalise: Annotated[bool, typer.Option(help="Divide the input by its sum first.")] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Draw in whole numbers (dirichlet: by an urn), so that nothing is left to rounding.",
        ),
    ] = False,
    draws: Annotated[
        int | None, typer.Option(help="With --exact and dirichlet: how often the urn is drawn from.")
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The CSV column of the labels.")] = None,
    value_column: Annotated[str | None, typer.Option(help="The CSV column of the numbers.")] = None,
    report: options.ReportOption = None,
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private probability vector.

    Example: veil release vector grades.csv --records 98 --epsilon 1 --delta 1e-6 -o private.json

    Say what is secret: --records N (counts or frequencies of N people's records, N public), --counts
    (counts, their number not public), --transfer M or --l1 B (the vector itself).
    """
    import numpy as np

    from veil.vectors.job import Secret, vector_job
    from veil.vectors.reading import read_vector

    keeping = Keeping(output, report, force, as_json)
    keeping.check([source])
    account = charging.account_of(ledger, dataset, part)
    secret = Secret(records=records, counts=counts, transfer=transfer, l1=l1, change=change)
    _ = secret.adjacency  # wrong options are reported before the data is read
    data = read_vector(source, label_column=label_column, value_column=value_column)
    with working("Calibrating", quiet=as_json):
        job = vector_job(
            np.array(data.values),
            data.labels,
            secret,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            floor=floor,
            smooth=smooth,
            normalise=normalise,
            exact=exact,
            draws=draws,
        )
    if dry_run:
        charging.say_dry_run(job, account, as_json=as_json)
        return
    out = job.run(ledger=account, rng=seed)
    written = keeping.write(out, lambda: _page(out))
    if as_json:
        return
    from veil.report.console import print_release

    tip = ""
    if mechanism == "dirichlet":
        tip = "Another mechanism may be more accurate: --mechanism auto takes the best."
    if output is None:
        tip = "Not saved: add -o FILE.json to keep it.\n" + tip
    print_release(out, kept=job.kept, written=written, tip=tip)
    charging.say_charge(account)


app.command("matrix")(release_matrix.matrix)
app.command("chain")(release_chain.chain)
app.command("words")(release_words.release_words)
app.command("bits")(release_bits.bits)
app.command("graph")(release_graph.graph)


def _page(release: Release) -> str:
    from veil.vectors.report.page import VectorReport

    return VectorReport.of(release).html()
