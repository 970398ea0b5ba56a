"""veil release chain: from a table of trips or a log to a private Markov chain."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from veil.cli import charging, counted, options
from veil.cli.keeping import Keeping, chain_page
from veil.cli.output import AGAIN, working
from veil.core.errors import InvalidArgument

# Where the list of states is not given, plans assume so many.
_USUAL_STATES = 30
_TIES = "Rows of one user with the same time were ordered by their states; a better order: --tie-break COLUMN"

Unit = Annotated[
    str,
    typer.Option(help="What is hidden: event (one transition), row (one row of a log) or user (a person)."),
]
Change = Annotated[str, typer.Option(help="add-remove, or replace (for --unit row also replace-state).")]
Cap = Annotated[
    int | None,
    typer.Option(
        min=1, help="With --unit user: the most transitions counted of one, sampled at random; else planned."
    ),
]
Users = Annotated[
    int | None, typer.Option(min=1, help="With --unit user: about how many users there are; public.")
]
MeanLength = Annotated[
    float | None,
    typer.Option(min=1.0, help="With --unit user: about how many states a sequence has; public."),
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
    drop_unlisted: counted.DropUnlisted = False,
    merge: counted.Merge = None,
    group: counted.Group = None,
    groups: counted.Groups = None,
    unit: Unit = "event",
    change: Change = "add-remove",
    cap: Cap = None,
    users: Users = None,
    mean_length: MeanLength = None,
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
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
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
    from veil.chains.adjacency import Transitions
    from veil.chains.chain_mechanism import FOR_CHAINS
    from veil.chains.job import chain_job
    from veil.core.checks import choice, delta_of, positive

    keeping = Keeping(output, report, force, as_json)
    keeping.check([source, *counted.files_among(source, states, merge)])
    account = charging.account_of(ledger, dataset, part)
    again = account is None and output is not None and output.exists()
    # Before anything is counted, which may take long.
    positive("epsilon", epsilon)
    delta_of(delta)
    choice("mechanism", mechanism, ("auto", *FOR_CHAINS))
    Transitions(unit, change, (cap or 1) if unit == "user" else None)
    if unit != "user" and (users is not None or mean_length is not None):
        raise InvalidArgument("--users", expected="--unit user with --users and --mean-length", found=unit)
    wanted = {"starts": with_starts, "ends": with_ends, "lengths": with_lengths, "sizes": with_sizes}
    parts = [name for name, asked in wanted.items() if asked]
    how, said = _how_much(
        unit=unit,
        is_log=(state is not None or sequence_lines) and group is None,
        states=states,
        epsilon=epsilon,
        cap=cap,
        users=users,
        mean_length=mean_length,
        memory=memory,
        sequences=bool({"starts", "ends", "lengths"} & set(parts)),
    )
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
            drop_unlisted=drop_unlisted,
            group=group,
            # A seed repeats everything, the sample of each user too; and is not private.
            salt=None if seed is None else f"seed {seed}",
            **how,
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
        charging.say_dry_run(job, account, as_json=as_json)
        return
    if state is not None and tie_break is None:
        said = (*said, _TIES)
    warnings = (*job.warnings, *((AGAIN,) if again else ()))
    if as_json and seed is None:
        for text in warnings:
            print(f"veil: warning: {text}.", file=sys.stderr)
    with working("Releasing", quiet=as_json):
        out = job.run(ledger=account, rng=seed)
    written = keeping.write(out, lambda: chain_page(out))
    if as_json:
        return
    from veil.chains.report.console import print_chain_release

    print_chain_release(out, why=f"{job.chosen}: {job.why}", warnings=warnings, written=written, notes=said)
    charging.say_charge(account)


def _how_much(
    *,
    unit: str,
    is_log: bool,
    states: str | None,
    epsilon: float,
    cap: int | None,
    users: int | None,
    mean_length: float | None,
    memory: int,
    sequences: bool,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What is counted of each user: all of it, at most a cap, or by strata that are planned; and why."""
    if unit != "user":
        if cap is not None:
            raise InvalidArgument("--cap", expected="--unit user with it", found=f"--unit {unit}")
        return {"memory": memory, "sequences": sequences}, ()
    if not is_log:
        if cap is None:
            raise InvalidArgument(
                "--cap", expected="a number with --unit user, for trips and for groups", found="none"
            )
        return {"cap": cap, "memory": memory, "sequences": sequences}, ()
    from veil.chains.user_plan import plan_users
    from veil.tables.states import given_states

    number = _USUAL_STATES if states is None else len(given_states(counted.listed(states)))
    plan = plan_users(number, epsilon=epsilon, users=users, mean_length=mean_length, cap=cap, memory=memory)
    guessed = [] if users is not None else ["--users"]
    guessed += [] if mean_length is not None else ["--mean-length"]
    guess = f" (a guess; better with {' and '.join(guessed)})" if guessed else ""
    return plan.options, (f"Counted: {plan.words}{guess}",)
