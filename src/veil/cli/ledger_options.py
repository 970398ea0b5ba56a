"""Which budget a release is charged to: the same options for everything that is released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veil.cli.ledger_places import named_ledger
from veil.cli.output import print_json
from veil.core.errors import BudgetExceeded, InvalidArgument

if TYPE_CHECKING:
    from veil.core.job import Job
    from veil.ledger.dataset import Dataset


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """A ledger, the dataset in it whose budget is charged, and the part of a public partition."""

    ledger: str | None
    dataset: str | None
    part: str | None

    def account(self) -> Dataset | None:
        """The budget to charge; None where none was named. Asked before any work."""
        ledger = named_ledger() if self.ledger is None else self.ledger
        if self.dataset is None:
            # Where a ledger is named, if only by the environment, no release goes uncharged.
            if self.part is not None:
                raise InvalidArgument("--part", expected="--ledger and --dataset with it", found="neither")
            if ledger is not None:
                raise InvalidArgument(
                    "--dataset", expected="the dataset to charge, with --ledger or VEIL_LEDGER", found="none"
                )
            return None
        if ledger is None:
            raise InvalidArgument("--ledger", expected="a ledger with --dataset", found="none")
        from veil.ledger.ledger import Ledger

        found = Ledger(ledger).dataset(self.dataset)
        if found.closed:
            closed = f"{self.dataset}, which is closed"
            raise InvalidArgument("--dataset", expected="one that is open", found=closed)
        return found if self.part is None else found.part(self.part)


def print_charge(account: Dataset | None) -> None:
    """What is left after a release."""
    if account is not None:
        print(f"Charged to {account.name}. Spent: {account.spent}. Remaining: {account.remaining}.")


def print_dry_run(job: Job[Any], account: Dataset | None, *, as_json: bool) -> int:
    """The charge, and whether there is room for it; nothing else. Returns the exit code."""
    room = None if account is None else account.has_room(job.charge())
    if as_json:
        content = {
            "dry_run": True,
            "charge": {"epsilon": job.epsilon, "delta": job.delta},
            "mechanism": job.mechanism.describe(),
            "adjacency": job.adjacency.words,
            "assumptions": list(job.assumptions),
        }
        print_json(content if room is None else content | {"fits_the_budget": room})
    else:
        cost = f"epsilon = {job.epsilon:.6g}, delta = {job.delta:g}"
        print(f"Would be charged: {cost}. Nothing was drawn or written.")
        print(f"Mechanism: {job.chosen or job.mechanism.name}. Neighbours: {job.adjacency.words}.")
        if account is not None:
            fits = "It fits the budget of" if room else "It does NOT fit the budget of"
            print(f"{fits} {account.name}. Remaining before it: {account.remaining}.")
    # As the release itself would end: a script need not read the words.
    return BudgetExceeded.exit_code if room is False else 0
