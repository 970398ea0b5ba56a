"""veil release chain: from a table of trips or a log to a private Markov chain."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from veil.cli import counted, options
from veil.cli.keeping import Keeping, chain_page
from veil.cli.output import working
from veil.errors import InvalidArgument

_AGAIN = "a release is overwritten, but what it told stays told: without a ledger nobody adds up the costs"

Unit = Annotated[
    str,
    typer.Option(help="What is hidden: event (one transition), row (one row of a log) or user (a person)."),
]
Change = Annotated[str, typer.Option(help="add-remove, or replace (for --unit row also replace-state).")]
Cap = Annotated[
    int | None,
    typer.Option(min=1, help="With --unit user: the most transitions counted of one; sampled at random."),
]
Mechanism = Annotated[
    str,
    typer.Option(
        "--mechanism", "-m", help="auto (least noise), geometric, gaussian, dirichlet, or published."
    ),
]


def chain(
    source: counted.Source,
    epsilon: options.Epsilon,
    delta: options.Delta = 1e-6,
    origin: counted.From = None,
    destination: counted.To = None,
    by: counted.By = None,
    order: counted.Order = None,
    state: counted.State = None,
    tie_break: counted.TieBreak = None,
    sequence_lines: counted.SequenceLines = False,
    skip: counted.Skip = 0,
    separator: counted.Separator = None,
    table: counted.TableName = None,
    query: counted.Query = None,
    states: counted.States = None,
    other: counted.Other = None,
    merge: counted.Merge = None,
    group: counted.Group = None,
    groups: counted.Groups = None,
    unit: Unit = "event",
    change: Change = "add-remove",
    cap: Cap = None,
    memory: Annotated[int, typer.Option(min=1, max=2, help="How many past states matter: 1 or 2.")] = 1,
    with_starts: Annotated[
        bool, typer.Option("--with-starts", help="Also release where sequences start.")
    ] = False,
    with_ends: Annotated[bool, typer.Option("--with-ends", help="Also release where they end.")] = False,
    with_lengths: Annotated[
        bool, typer.Option("--with-lengths", help="Also release how long they are.")
    ] = False,
    with_sizes: Annotated[
        bool,
        typer.Option("--with-sizes", help="Also release how many leave each state (noisy counts have it)."),
    ] = False,
    mechanism: Mechanism = "auto",
    floor: Annotated[
        float | None, typer.Option(help="With --mechanism published: what no frequency is below; public.")
    ] = None,
    records: Annotated[
        int | None, typer.Option("--records", "-n", help="The number of transitions, where it is public.")
    ] = None,
    output: options.OutputOption = None,
    report: options.ReportOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private Markov chain, counted from a table of trips or a log of states.

    Example: veil release chain trips.parquet --from pickup --to dropoff --states zones.csv --epsilon 1
    -o model.json --report report.html

    A log instead: --by user --order time --state page. Lines of states: --sequences. The counting runs where
    the data is; only the counts leave it. What is hidden is --unit: one transition, or with --unit user
    --cap 10 a whole person.
    """
    from veil.workflows.fit_chain import chain_job

    keeping = Keeping(output, report, force, as_json)
    again = output is not None and output.exists()
    keeping.check([source])
    if unit == "user" and cap is None:
        raise InvalidArgument(
            "--cap",
            expected="a number with --unit user",
            found="none",
            hint="`veil plan chain` helps to choose.",
        )
    wanted = {"starts": with_starts, "ends": with_ends, "lengths": with_lengths, "sizes": with_sizes}
    parts = [name for name, asked in wanted.items() if asked]
    with working("Counting", quiet=as_json) as tell:
        counts = counted.ask_counts(
            source,
            sequence_lines=sequence_lines,
            skip=skip,
            separator=separator,
            states=states,
            merge=merge,
            groups=groups,
            progress=tell,
            origin=origin,
            destination=destination,
            by=by,
            order=order,
            state=state,
            tie_break=tie_break,
            table=table,
            query=query,
            other=other,
            group=group,
            cap=cap,
            memory=memory,
            sequences=bool({"starts", "ends", "lengths"} & set(parts)),
        )
    with working("Calibrating", quiet=as_json):
        job = chain_job(
            counts,
            epsilon=epsilon,
            delta=delta,
            mechanism=mechanism,
            unit=unit,
            change=change,
            parts=parts,
            records=records,
            floor=floor,
        )
    if dry_run:
        from veil.cli.release import say_dry_run

        say_dry_run(job, as_json=as_json)
        return
    warnings = (*job.warnings, *((_AGAIN,) if again else ()))
    if as_json and seed is None:
        for text in warnings:
            print(f"veil: warning: {text}.", file=sys.stderr)
    with working("Releasing", quiet=as_json):
        out = job.run(rng=seed)
    written = keeping.write(out, lambda: chain_page(out))
    if as_json:
        return
    from veil.report.console_release import print_chain_release

    print_chain_release(out, why=f"{job.chosen}: {job.why}", warnings=warnings, written=written)
