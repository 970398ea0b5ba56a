"""What a release would cost and say, without making it: from the request, or for the holder of the data."""

from __future__ import annotations

from typing import Any

from veil.cli.output import print_json
from veil.core.errors import BudgetExceeded
from veil.core.job import Job
from veil.core.numerics.rounding import rounded_up
from veil.ledger.dataset import Dataset
from veil.report.terminal import say


def print_dry_run(
    job: Job[Any], account: Dataset | None, *, findings: tuple[str, ...] | None, as_json: bool
) -> int:
    """The charge, whether there is room for it, what is assumed, and what to know before it.

    findings: what follows from the data itself, for its holder; None where that was not asked for.
    Returns the exit code.
    """
    room = None if account is None else account.has_room(job.charge())
    if as_json:
        print_json(_content(job) | _known(fits_the_budget=room, data=findings))
    else:
        _say(job)
        if account is not None:
            fits = "It fits the budget of" if room else "It does NOT fit the budget of"
            say(f"{fits} {account.name}. Remaining before it: {account.remaining}.")
        if findings is not None:
            say("Of the data itself, for its holder alone (it is sensitive, and nothing protects it):")
            for text in findings or ("it can be released as it is, and there is nothing to warn of",):
                say(f"  {text}.")
    # As the release itself would end: a script need not read the words.
    return BudgetExceeded.exit_code if room is False else 0


def _content(job: Job[Any]) -> dict[str, Any]:
    return {
        "dry_run": True,
        "charge": {"epsilon": job.epsilon, "delta": job.delta},
        "mechanism": job.mechanism.describe(),
        "adjacency": job.adjacency.words,
        "assumptions": list(job.assumptions),
        "warnings": list(job.warnings),
        "notes": list(job.notes),
        "knowing_nothing": [line.to_dict() for line in job.kind.known_before(job)],
    }


def _known(**parts: Any) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}


def _say(job: Job[Any]) -> None:
    cost = f"epsilon = {rounded_up(job.epsilon, 6)}, delta = {rounded_up(job.delta, 6)}"
    say(f"Would be charged: {cost}. Nothing was drawn or written.")
    say(f"Mechanism: {job.chosen or job.mechanism.name}. Neighbours: {job.adjacency.words}.")
    for text in job.assumptions:
        say(f"This would hold only if {text}.")
    for text in job.notes:
        say(text.rstrip(".") + ".")
    for text in job.warnings:
        say(f"WARNING: {text}{'' if text.endswith(('.', '?')) else '.'}")
    for line in job.kind.known_before(job):
        say(f"{'WARNING: ' if line.useless else ''}{line.words}")
