"""veil release matrix: a private transition matrix or policy."""

from __future__ import annotations

from typing import Annotated

import typer

from veil.cli import charging, options
from veil.cli.keeping import Keeping, chain_page
from veil.cli.matrices import rows_from, support_from
from veil.cli.output import working


def matrix(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="CSV or JSON file, or - for a pipe.")],
    epsilon: options.Epsilon,
    delta: options.Delta = 1e-6,
    output: options.OutputOption = None,
    rows: options.RowsOption = "1",
    transfer: options.TransferInRow = None,
    l1: options.L1InRow = None,
    support: options.SupportOption = None,
    mechanism: Annotated[
        str,
        typer.Option("--mechanism", "-m", help="dirichlet, laplace, gaussian, or auto for the least error."),
    ] = "dirichlet",
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth/--no-smooth",
            help="--no-smooth is the published form, which holds only for matrices that respect --floor.",
        ),
    ] = True,
    floor: Annotated[
        float | None, typer.Option(help="The least entry; chosen for least error if left out.")
    ] = None,
    normalise: Annotated[bool, typer.Option(help="Divide each row by its sum first.")] = False,
    report: options.ReportOption = None,
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private stochastic matrix: transitions, or a policy (states x actions).

    Example: veil release matrix roads.csv --l1 0.02 --rows 1 --support zeros --epsilon 2 -o private.json

    The matrix itself is the secret. Say how much of it may differ between two versions that must look
    alike: --rows (how many rows) and --transfer or --l1 (how much of a row).
    """
    from veil.matrices.job import matrix_job
    from veil.matrices.reading import read_matrix

    keeping = Keeping(output, report, force, as_json)
    tables = [support] if support is not None and support != "zeros" else []
    keeping.check([source, *tables])
    account = charging.account_of(ledger, dataset, part)
    adjacency = rows_from(rows, transfer, l1)
    data = read_matrix(source)
    places = support_from(support, data)
    with working("Calibrating", quiet=as_json):
        job = matrix_job(
            data,
            adjacency,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            floor=floor,
            smooth=smooth,
            normalise=normalise,
            support=places,
        )
    if dry_run:
        charging.say_dry_run(job, account, as_json=as_json)
        return
    with working("Releasing", quiet=as_json):
        out = job.run(ledger=account, rng=seed)
    written = keeping.write(out, lambda: chain_page(out))
    if as_json:
        return
    from veil.report.console import print_matrix_release

    tip = "" if output is not None else "Not saved: add -o FILE.json to keep it.\n"
    if mechanism == "dirichlet":
        tip += "Another mechanism may be more accurate: --mechanism auto takes the best."
    print_matrix_release(out, kept=job.kept, written=written, tip=tip.strip())
    charging.say_charge(account)
