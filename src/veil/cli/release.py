"""veil release KIND: a private version of data, for every kind that there is."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veil.cli.ledger_options import LedgerOptions, print_charge, print_dry_run
from veil.cli.options import command, extra_option, flags_of
from veil.cli.output import AGAIN, print_json, working
from veil.cli.output_files import OutputFiles
from veil.core.errors import with_fields
from veil.core.kind import Kind
from veil.core.request import Option, ReadRequest, ReleaseRequest

_LEDGER = "Charge this ledger: a file such as budget.db, or postgresql://... Also: VEIL_LEDGER."
_BUDGET = "Budget"


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """What the command line adds to every release."""

    output: Path | None = None
    report: Path | None = None
    ledger: str | None = None
    dataset: str | None = None
    part: str | None = None
    seed: int | None = None
    dry_run: bool = False
    force: bool = False
    as_json: bool = False


def release_options(kind: Kind) -> list[inspect.Parameter]:
    """The options of `ReleaseOptions` for a kind."""
    tables = ", ".join(kind.table_endings)
    texts: dict[str, tuple[Any, Any, Option]] = {
        "output": (
            Path | None,
            None,
            Option(
                f"Where to write: .json (the record), or {tables} (the value, with the record beside it).",
                short="-o",
                group="Output",
            ),
        ),
        "report": (Path | None, None, Option("Also write an HTML report here.", group="Output")),
        "ledger": (str | None, None, Option(_LEDGER, group=_BUDGET)),
        "dataset": (
            str | None,
            None,
            Option("With --ledger: the dataset whose budget is charged.", group=_BUDGET),
        ),
        "part": (
            str | None,
            None,
            Option("With --dataset: the part that the input is, of a public partition.", group=_BUDGET),
        ),
        "seed": (
            int | None,
            None,
            Option(
                "Reproducible, for experiments: the release is then NOT private.", least=0, group="Output"
            ),
        ),
        "dry_run": (bool, False, Option("Show the charge; draw and write nothing.", group=_BUDGET)),
        "force": (bool, False, FORCE),
        "as_json": (bool, False, JSON),
    }
    return [extra_option(name, *rest) for name, rest in texts.items()]


FORCE = Option("Overwrite existing files.", short="-f", group="Output")
JSON = Option("Print JSON for machines.", flag="--json", group="Output")


def release_command(kind: Kind) -> Callable[..., int] | None:
    """The command that releases data of a kind; None if the kind has none."""
    reads, releases = kind.reads, kind.releases
    if reads is None or releases is None:
        return None

    def run(read: dict[str, Any], release: dict[str, Any], **given: Any) -> int:
        options = ReleaseOptions(**given)
        return released(kind, reads(**read), releases(**release), options)

    return command(run, (reads, releases), release_options(kind))


def released(kind: Kind, read: ReadRequest, request: ReleaseRequest, options: ReleaseOptions) -> int:
    """Check, read, prepare, charge, draw, write, and report: one way for all kinds. Returns the exit code."""
    quiet = options.as_json
    files = OutputFiles(options.output, options.report, options.force, kind.endings(request))
    files.check([*read.inputs, *request.inputs])
    kind.check_files(request, options.output)
    account = LedgerOptions(options.ledger, options.dataset, options.part).account()
    again = account is None and files.overwrites
    # Before anything is read, which may take long.
    request.check()
    read, notes = request.adapted(read, seed=options.seed)
    read.check()
    with working("Reading", quiet=quiet) as progress:
        data = read.read(progress)
    with working("Calibrating", quiet=quiet) as progress:
        job = request.prepare(data, rng=options.seed, progress=progress)
    flags = flags_of((type(read), type(request)))
    notes = tuple(with_fields(text, flags, flags) for text in (*notes, *job.notes))
    warnings = tuple(with_fields(text, flags, flags) for text in job.warnings)
    job = replace(job, notes=notes, warnings=warnings if options.seed is None else ())
    files.check_job(job)
    if options.dry_run:
        return print_dry_run(job, account, as_json=quiet)
    if quiet:
        for text in (*job.warnings, *((AGAIN,) if again else ())):
            print(f"veil: warning: {text}.", file=sys.stderr)
    with working("Releasing", quiet=quiet):
        out = job.run(ledger=account, rng=options.seed)
    with working("Writing", quiet=quiet):
        written, kept = files.write(out, job)
    with working("Drawing the report", quiet=quiet):
        written += files.write_report(out, job)
    if quiet:
        from veil.core.files import to_json

        print_json(json.loads(to_json(kept)) | {"written": [str(path) for path in written]})
        return 0
    kind.print_release(out, job=job, written=written)
    print_charge(account)
    if again:
        print(f"WARNING: {AGAIN}.")
    return 0
