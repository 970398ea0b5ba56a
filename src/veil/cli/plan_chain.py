"""veil plan chain: what a budget buys for a counted chain, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import check_ending, print_json, refuse_existing, working
from veil.cli.release_chain import Cap, Change, MeanLength, Unit, Users
from veil.core.errors import InvalidArgument


def chain(
    states: Annotated[int, typer.Option("--states", "-s", min=2, help="The number of states.")],
    records: Annotated[
        int,
        typer.Option(
            "--records", "-n", min=1, help="About how many transitions there are, as far as public."
        ),
    ],
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="Privacy loss.")] = None,
    delta: options.Delta = 1e-6,
    unit: Unit = "event",
    change: Change = "add-remove",
    cap: Cap = None,
    users: Users = None,
    mean_length: MeanLength = None,
    error: Annotated[
        float | None,
        typer.Option(
            "--error", help="The other way round: the epsilon for this error of the next step, such as .01."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw error against epsilon: .svg, .png or .pdf.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """What to expect of each mechanism for a chain counted from a table, without any data.

    Example: veil plan chain --states 63 --records 2900000 --epsilon 1 --delta 1e-6

    The other way round, which epsilon for an error of 1 %: veil plan chain --states 63 --records 2900000
    --error 0.01

    Whole users, of whom a plan chooses how much to count: veil plan chain --states 17 --records 4000000
    --unit user --users 1000000 --epsilon 1
    """
    from veil.chains.adjacency import Transitions
    from veil.chains.planning import least_epsilon_for_chain, plan_chain

    check_ending("--plot", plot, (".svg", ".png", ".pdf"))
    refuse_existing({"--plot": plot}, force=force)
    if (epsilon is None) == (error is None):
        raise InvalidArgument("--epsilon", expected="either --epsilon or --error", found="both or neither")
    if unit == "user" and epsilon is not None and (cap is None or users is not None):
        if plot is not None:
            raise InvalidArgument("--plot", expected="none where users are tried out", found=plot.name)
        _users(states, epsilon, delta, change, cap, users, mean_length, as_json=as_json)
        return
    adjacency = Transitions(unit, change, cap)
    if epsilon is None:
        assert error is not None
        with working("Searching", quiet=as_json):
            epsilon = least_epsilon_for_chain(states, records, error=error, delta=delta, adjacency=adjacency)
        if not as_json:
            print(f"For an error of {error:g} of the next step (total variation): epsilon = {epsilon:.3g}.")
    with working("Measuring every mechanism", quiet=as_json):
        plan = plan_chain(states, records, epsilon=epsilon, delta=delta, adjacency=adjacency)
    if plot is not None:
        from veil.matrices.report.chain_figures import plan_figure
        from veil.vectors.planning import epsilons_around

        with working("Drawing", quiet=as_json):
            curve = [
                plan_chain(states, records, epsilon=e, delta=delta, adjacency=adjacency)
                for e in epsilons_around(epsilon)
            ]
            plan_figure(curve, epsilon).savefig(plot, dpi=150)
    if as_json:
        print_json(plan.to_dict())
        return
    from veil.report.console import print_matrix_plan

    print_matrix_plan(plan)
    print(f"Measured on made-up tables of {states} states and {records:,} transitions; no data was read.")
    if plot is not None:
        print(f"Drawn: {plot}")


def _users(
    states: int,
    epsilon: float,
    delta: float,
    change: str,
    cap: int | None,
    users: int | None,
    mean_length: float | None,
    *,
    as_json: bool,
) -> None:
    """How much of each user to count, and what comes of it."""
    from veil.chains.user_plan import ASSUMED_LENGTH, ASSUMED_USERS, plan_users
    from veil.chains.user_trials import try_users

    plan = plan_users(states, epsilon=epsilon, users=users, mean_length=mean_length, cap=cap)
    with working("Trying it on made-up users", quiet=as_json):
        found = try_users(
            states, plan, epsilon=epsilon, delta=delta, users=users, mean_length=mean_length, change=change
        )
    if as_json:
        print_json({"strata": [list(stratum) for stratum in plan.strata], "cap": plan.cap, **found.to_dict()})
        return
    print(
        f"At epsilon = {epsilon:g}, one person added or removed with all their transitions:"
        if change == "add-remove"
        else f"At epsilon = {epsilon:g}, one person replaced by another:"
    )
    print(f"Count {plan.words}.")
    print(f"Expected error of the share of each transition (total variation): {found.joint_tv:.3g}")
    print(f"Expected error of the next step:                                  {found.row_tv:.3g}")
    print(f"Expected error of the lengths:                                    {found.length_tv:.3g}")
    number = ASSUMED_USERS if users is None else users
    length = ASSUMED_LENGTH if mean_length is None else mean_length
    print(f"Tried on {number:,} made-up users with about {length:g} states each; no data was read.")
