"""A released chain in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.planning import ChainPlan
from veil.chains.released import model
from veil.chains.report.accuracy import Accuracy
from veil.chains.report.sections import also_holds
from veil.chains.user_trials import UserForecast
from veil.core.job import Job
from veil.core.record import Release
from veil.matrices.report.console import print_matrix_plan
from veil.report.console import bar, new_console, print_guarantee, print_written
from veil.report.figures import short, shorts

_MOST_STATES, _MOST_ROUTES = 12, 8


def print_chain_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """Where the chain spends its time, its most frequent transitions, and what is guaranteed."""
    console = new_console()
    chain = release.value
    names = list(map(str, chain.states))
    if chain.is_irreducible:
        shares = chain.stationary()
        order = np.argsort(-shares, kind="stable")[:_MOST_STATES]
        table = Table(box=None, pad_edge=False)
        table.add_column("state")
        table.add_column("long-run share", justify="right")
        table.add_column("")
        top = shorts([names[i] for i in order], 38)
        for i, name in zip(order, top, strict=True):
            table.add_row(name, f"{shares[i]:.4f}", bar(float(shares[i] / shares[order[0]])))
        console.print(table)
        if len(names) > len(order):
            console.print(f"and {len(names) - len(order):,} more")
        console.print()
    console.print("Most frequent transitions:")
    held = model(release)
    joint = held.joint() if chain.is_irreducible or held.sizes is not None else chain.to_numpy()
    for place in np.argsort(-joint, axis=None, kind="stable")[:_MOST_ROUTES]:
        i, j = divmod(int(place), len(names))
        console.print(f"  {100 * joint[i, j]:6.3f} %  {short(names[i], 48)} -> {short(names[j], 48)}")
    console.print()
    accuracy = Accuracy.of(release)
    if accuracy is not None:
        console.print(accuracy.words)
        if accuracy.warning is not None:
            console.print(f"WARNING: {accuracy.warning}.")
        console.print()
    more = also_holds(release)
    if more is not None:
        console.print(more)
    print_guarantee(console, release)
    why = f"{job.chosen}: {job.why}"
    console.print(f"Mechanism: {why}{_by_table(release, accuracy, why)}.")
    for text in job.notes:
        console.print(f"{text}.")
    for text in job.warnings:
        console.print(f"WARNING: {text}.")
    print_written(console, written)


def _by_table(release: Release[Any], accuracy: Accuracy | None, why: str) -> str:
    """The noise of all strata: why a mechanism was chosen speaks of the first alone."""
    mechanism = release.mechanism
    if not isinstance(mechanism, PrivateChain) or not mechanism.strata:
        return ""
    if accuracy is None or accuracy.moved is None:
        return ""
    low, high = accuracy.moved
    first = "for the shortest sequences; " if "moves a count" in why else ""
    tables = f"over all {len(mechanism.strata)} tables, by length,"
    return f" ({first}{tables} it moves a count by {low:.3g} to {high:.3g})"


def print_chain_plan(plan: ChainPlan | UserForecast, *, error: float | None) -> None:
    """The expected errors of each mechanism, or of the way in which users are counted."""
    console = new_console()
    if isinstance(plan, UserForecast):
        _print_forecast(console, plan)
        return
    if error is not None:
        console.print(
            f"For an error of {error:g} of the next step (total variation): epsilon = {plan.epsilon:.3g}."
        )
    print_matrix_plan(plan)
    console.print(
        f"Measured on made-up tables of {plan.states} states and {plan.records:,} transitions; "
        "no data was read."
    )


def _print_forecast(console: Console, plan: UserForecast) -> None:
    who = (
        "one person added or removed with all their transitions"
        if plan.change == "add-remove"
        else "one person replaced by another"
    )
    console.print(f"At epsilon = {plan.epsilon:g}, {who}:")
    console.print(f"Count {plan.best.words}.")
    for text, number in (
        ("the share of each transition (total variation)", plan.trial.joint_tv),
        ("the next step", plan.trial.row_tv),
        ("the lengths", plan.trial.length_tv),
    ):
        console.print(f"Expected error of {text + ':':48} {number:.3g}")
    users, length = plan.assumed
    console.print(f"Tried on {users:,} made-up users with about {length:g} states each; no data was read.")
