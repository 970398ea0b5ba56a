"""veil release matrix: a private transition matrix or policy."""

from __future__ import annotations

from typing import Annotated

import typer

from veil.cli import options
from veil.cli.matrices import rows_from, support_from
from veil.cli.output import check_ending, print_json, refuse_existing, working


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
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Reproducible, for experiments: the release is then NOT private."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the charge; draw and write nothing.")
    ] = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private stochastic matrix: transitions, or a policy (states x actions).

    Example: veil release matrix roads.csv --l1 0.02 --rows 1 --support zeros --epsilon 2 -o private.json

    The matrix itself is the secret. Say how much of it may differ between two versions that must look
    alike: --rows (how many rows) and --transfer or --l1 (how much of a row).
    """
    from veil.releases.files import save, write_text
    from veil.sources.matrices import read_matrix
    from veil.workflows.matrices import matrix_job

    check_ending("--output", output, (".json", ".csv"))
    check_ending("--report", report, (".html",))
    record = output.with_suffix(".json") if output is not None and output.suffix.lower() == ".csv" else None
    outputs = {"--output": output, "the record beside --output": record, "--report": report}
    tables = [support] if support is not None and support != "zeros" else []
    refuse_existing(outputs, force=force, inputs=[source, *tables])
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
        from veil.cli.release import say_dry_run

        say_dry_run(job, as_json=as_json)
        return
    with working("Releasing", quiet=as_json):
        out = job.run(rng=seed)
    if output is not None:
        save(out, output, overwrite=force)
        if record is not None:
            save(out, record, overwrite=force)
    if report is not None:
        from veil.report.chain import ChainReport

        with working("Drawing the report", quiet=as_json):
            write_text(report, ChainReport.of_release(out).html(), overwrite=force)
    if as_json:
        import json

        from veil.releases.files import to_json

        print_json(json.loads(to_json(out)))
        return
    from veil.report.console import print_matrix_release

    tip = "" if output is not None else "Not saved: add -o FILE.json to keep it.\n"
    if mechanism == "dirichlet":
        tip += "Another mechanism may be more accurate: --mechanism auto takes the best."
    written = [path for path in (output, record, report) if path is not None]
    print_matrix_release(out, kept=job.kept, written=written, tip=tip.strip())
