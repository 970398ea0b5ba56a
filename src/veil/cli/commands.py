"""Commands that every kind of data has: veil release KIND, veil plan KIND, and those of one kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veil.cli.deferral import Deferral
from veil.cli.dry_run import print_dry_run
from veil.cli.ledger_options import charged_account, ledger_files
from veil.cli.options import command, flags_of
from veil.cli.output import print_json, refuse_other_files, working
from veil.cli.output_files import PICTURES, OutputFiles, refuse_existing
from veil.cli.releasing import Releasing
from veil.core.errors import InvalidArgument, VeilError, with_fields
from veil.core.files import to_json
from veil.core.kind import Kind
from veil.core.plan import epsilons_around
from veil.core.record import Release
from veil.core.request import (
    CSV_SAFE,
    CommandRequest,
    PlanRequest,
    ReadRequest,
    ReleaseRequest,
    Request,
    option,
)
from veil.core.writing import replacing
from veil.ledger.dataset import Dataset
from veil.report.terminal import say

# Printed where a release takes the place of another.
AGAIN = "a release is overwritten, but readers may know the old one: without a ledger the costs do not add up"


@dataclass(frozen=True, kw_only=True)
class JsonOptions(Request):
    """What the command line adds to every command."""

    as_json: bool = option(False, help="Print JSON for machines.", flag="--json", group="Output")


@dataclass(frozen=True, kw_only=True)
class FileOptions(JsonOptions):
    """What it adds to commands that write files."""

    force: bool = option(False, help="Overwrite existing files.", short="-f", group="Output")


@dataclass(frozen=True, kw_only=True)
class PlotOptions(Request):
    """What it adds to plans that can be drawn."""

    plot: Path | None = option(
        None, help="Also draw the error against epsilon: .svg, .png or .pdf.", group="Output"
    )


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(Request):
    """What it adds to every release."""

    output: Path | None = option(
        None,
        help="Where to write: .json (the record), or {tables} (the value, with the record beside it).",
        short="-o",
        group="Output",
    )
    report: Path | None = option(None, help="Also write an HTML report here.", group="Output")
    csv_safe: bool = option(False, help=CSV_SAFE, group="Output")
    ledger: str | None = option(
        None,
        help="Charge this ledger: a file such as budget.db, or postgresql://... Also: VEIL_LEDGER.",
        group="Budget",
    )
    dataset: str | None = option(
        None, help="With {ledger}: the dataset whose budget is charged.", group="Budget"
    )
    part: str | None = option(
        None, help="With {dataset}: the part that the input is, of a public partition.", group="Budget"
    )
    released_by: str | None = option(
        None,
        help="With {dataset}: who releases, for the ledger; the user of this machine by default.",
        group="Budget",
    )
    reason: str | None = option(None, help="With {dataset}: why, for the ledger.", group="Budget")
    approved_plan: str | None = option(
        None,
        help="With {dataset}: the SHA-256 of the plan that was approved, for the ledger: it is charged once, "
        "however often it is tried.",
        group="Budget",
    )
    seed: int | None = option(
        None,
        help="Reproducible, for experiments: the release is then NOT private.",
        least=0,
        group="Output",
    )
    no_output: bool = option(
        False,
        help="With {dataset}: charge though neither {output} nor {report} keeps the result.",
        group="Budget",
    )
    dry_run: bool = option(
        False,
        help="Show the charge, the assumptions and every warning that follows from the request; draw and "
        "write nothing.",
        group="Budget",
    )
    check_data: bool = option(
        False,
        help="For the holder of the data: as {dry_run}, and what follows from the data, which is sensitive.",
        group="Budget",
    )

    @property
    def only_looks(self) -> bool:
        """Whether nothing is drawn."""
        return self.dry_run or self.check_data


def released(
    kind: Kind, read: ReadRequest, request: ReleaseRequest, options: ReleaseOptions, how: FileOptions
) -> int:
    """Check, read, prepare, charge, draw, write, and report: one way for all kinds. Returns the exit code."""
    with Deferral() as stops:
        making = Releasing(OutputFiles(None, None, None, how.force), stops, how.as_json)
        return making.guarded(lambda: _released(kind, read, request, options, how, making))


def _released(
    kind: Kind,
    read: ReadRequest,
    request: ReleaseRequest,
    options: ReleaseOptions,
    how: FileOptions,
    making: Releasing,
) -> int:
    quiet = how.as_json
    files = making.files = OutputFiles.checked(
        options.output,
        options.report,
        force=how.force,
        tables=kind.endings(request, options.output),
        inputs=[*read.inputs, *request.inputs],
        ledgers=ledger_files(options.ledger),
        csv_safe=options.csv_safe,
    )
    if not options.only_looks:
        files.check_output_stream()
    account = charged_account(
        options.ledger,
        options.dataset,
        options.part,
        by=options.released_by,
        why=options.reason,
        plan=options.approved_plan,
    )
    making.charge_to(account)
    if account is not None and files.first is None and not (options.only_looks or quiet or options.no_output):
        raise InvalidArgument(
            "--output",
            expected="a file, since the result is charged and only a summary of it would be printed",
            found="none",
            hint="--json prints the whole record; --no-output does without.",
        )
    again = account is None and options.output is not None and options.output.exists()
    # Before anything is read, which may take long.
    options.check()
    request.check()
    read, notes = request.adapted(read, seed=options.seed)
    read.check()
    with working("Reading", quiet=quiet) as progress:
        data = read.read(progress)
    with working("Calibrating", quiet=quiet) as progress:
        job = request.prepare(data, rng=options.seed, progress=progress)
    flags = flags_of((type(read), type(request)))
    notes = tuple(with_fields(text, flags, flags) for text in (*notes, *job.notes))
    weaker = tuple(with_fields(text, flags, flags) for text in job.warnings)
    job = replace(job, notes=notes, warnings=weaker if options.seed is None else ())
    files.check_job(job)
    if options.only_looks:
        told = replace(job, warnings=(*job.warnings, *((AGAIN,) if again else ())))
        findings = None
        if options.check_data:
            findings = tuple(with_fields(text, flags, flags) for text in job.kind.data_findings(job))
        return print_dry_run(told, account, findings=findings, as_json=quiet)
    early = (*job.warnings, *((AGAIN,) if again else ())) if quiet else job.told_first
    for text in early:
        say(f"veil: warning: {text}.", error=True)

    def show(out: Release[Any], kept: Release[Any], written: list[Path]) -> None:
        if quiet:
            beside = [line.to_dict() for line in out.kind.baselines(out)]
            further = {"written": [str(path) for path in written], "knowing_nothing": beside}
            print_json(json.loads(to_json(kept)) | further)
            return
        out.kind.print_release(out, job=job, written=written)

    code = making.run(job, rng=options.seed, show=show)
    if code == 0 and not quiet:
        if account is not None:
            say(f"Charged to {account.name}.{_balance(account)}")
        if again:
            say(f"WARNING: {AGAIN}.")
    return code


def _balance(account: Dataset) -> str:
    """What is spent and left; the release is made and kept, whether or not the ledger still answers."""
    try:
        return f" Spent: {account.spent}. Remaining: {account.remaining}."
    except VeilError:
        return ""


def planned(
    kind: Kind, request: PlanRequest, options: JsonOptions, drawing: PlotOptions | None = None
) -> int:
    """Make the plan, draw it if asked to, and print it. Returns the exit code."""
    plot = None if drawing is None else drawing.plot
    force = isinstance(options, FileOptions) and options.force
    refuse_existing({"--plot": plot}, force=force, inputs=request.inputs, endings={"--plot": PICTURES})
    request.check()
    if plot is not None:
        kind.check_plot(request)
    with working("Measuring every mechanism", quiet=options.as_json) as progress:
        plan = request.plan(progress)
    if plot is not None:
        with working("Drawing", quiet=options.as_json) as progress:
            curve = [request.at(epsilon).plan(progress) for epsilon in epsilons_around(plan.epsilon)]
            figure = kind.plot_plans(curve, plan.epsilon)
            with replacing(plot, overwrite=force) as beside:
                figure.savefig(beside, format=plot.suffix.lower().removeprefix("."), dpi=150)
    if options.as_json:
        print_json(plan.to_dict())
        return 0
    say(*str(plan).splitlines())
    if plot is not None:
        say(f"Drawn: {plot}")
    return 0


def kind_command(request: type[CommandRequest]) -> Callable[..., int]:
    """A command that a kind brings along."""
    return command(_run, (request, FileOptions))


def _run(request: CommandRequest, options: FileOptions) -> int:
    fields = request.options()
    asked = {fields[name][1].flag: output for name, output in request.outputs.items()}
    files = {flag: path for flag, (path, _) in asked.items()}
    endings = {flag: known for flag, (_, known) in asked.items()}
    refuse_existing(files, force=options.force, inputs=request.inputs, endings=endings)
    request.check()
    for record in request.records:
        refuse_other_files(record)
    with working("Working", quiet=options.as_json) as progress:
        result = request.run(overwrite=options.force, progress=progress)
    if options.as_json:
        print_json(result.to_dict())
    else:
        result.show()
    return 0
