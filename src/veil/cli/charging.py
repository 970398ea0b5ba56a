"""Which budget a release is charged to: the same for everything that is released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from veil.cli.ledger_places import named_ledger
from veil.cli.output import print_json
from veil.core.errors import BudgetExceeded, InvalidArgument

if TYPE_CHECKING:
    from veil.ledger.dataset import Dataset

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="Charge this ledger: a file such as budget.db, or postgresql://... Also: VEIL_LEDGER.",
    ),
]
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", help="With --ledger: the dataset whose budget is charged.")
]
PartOption = Annotated[
    str | None,
    typer.Option("--part", help="With --dataset: the part that the input is, of a public partition."),
]


def account_of(ledger: str | None, dataset: str | None, part: str | None) -> Dataset | None:
    """The budget to charge; None where none was named. Asked before any work."""
    if ledger is None:
        ledger = named_ledger()
    if dataset is None:
        # Where a ledger is named, if only by the environment, no release goes uncharged.
        if part is not None:
            raise InvalidArgument("--part", expected="--ledger and --dataset with it", found="neither")
        if ledger is not None:
            raise InvalidArgument(
                "--dataset", expected="the dataset to charge, with --ledger or VEIL_LEDGER", found="none"
            )
        return None
    if ledger is None:
        raise InvalidArgument("--ledger", expected="a ledger with --dataset", found="none")
    from veil.ledger.ledger import Ledger

    found = Ledger(ledger).dataset(dataset)
    if found.closed:
        raise InvalidArgument("--dataset", expected="one that is open", found=f"{dataset}, which is closed")
    return found if part is None else found.part(part)


def say_charge(account: Dataset | None) -> None:
    """What is left after a release."""
    if account is not None:
        print(f"Charged to {account.name}. Spent: {account.spent}. Remaining: {account.remaining}.")


def say_dry_run(job: Any, account: Dataset | None, *, as_json: bool) -> None:
    """The charge, and whether there is room for it; nothing else."""
    content = {
        "dry_run": True,
        "charge": {"epsilon": job.epsilon, "delta": job.delta},
        "mechanism": job.mechanism.describe(),
        "adjacency": job.adjacency.words,
        "assumptions": list(getattr(job, "assumptions", job.mechanism.assumptions(job.adjacency))),
    }
    room = None if account is None else _has_room(job, account)
    if as_json:
        print_json(content if room is None else content | {"fits_the_budget": room})
        _leave(room)
        return
    print(
        f"Would be charged: epsilon = {job.epsilon:.6g}, delta = {job.delta:g}. Nothing was drawn or written."
    )
    name = getattr(job, "chosen", None) or job.mechanism.name
    print(f"Mechanism: {name}. Neighbours: {job.adjacency.words}.")
    if account is not None:
        fits = "It fits the budget of" if room else "It does NOT fit the budget of"
        print(f"{fits} {account.name}. Remaining before it: {account.remaining}.")
    _leave(room)


def _leave(room: bool | None) -> None:
    """As the release itself would: a script need not read the words."""
    if room is False:
        raise typer.Exit(BudgetExceeded.exit_code)


def _has_room(job: Any, account: Dataset) -> bool:
    from veil.core.account import Charge

    profile = job.mechanism.profile(job.adjacency)
    charge = Charge(job.epsilon, job.delta, job.mechanism.describe(), job.adjacency, (profile,))
    return account.has_room(charge)
