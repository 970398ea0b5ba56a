"""Which ledger and which dataset a command means, and what a release would cost it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.ledger.dataset import Dataset
    from veil.ledger.ledger import Ledger

_LEDGER = "A file such as budget.db, or postgresql://user@host/db; may be left out where VEIL_LEDGER is set."


LedgerOnly = Annotated[str, Parameter(name="[LEDGER]", help=_LEDGER)]
LedgerAndDataset = Annotated[
    str, Parameter(name="[LEDGER] DATASET", help=f"{_LEDGER} The name of the dataset.")
]
LedgerAndPerhapsDataset = Annotated[
    str,
    Parameter(
        name="[LEDGER] [DATASET]", help=f"{_LEDGER} One of its datasets, to be shown with its entries."
    ),
]
LedgerAndReleases = Annotated[
    str,
    Parameter(
        name="[LEDGER] [RELEASE]...",
        help=f"{_LEDGER} Release files: was each charged here, and as much as it says?",
    ),
]


def named_ledger() -> str | None:
    """The ledger of VEIL_LEDGER; None where it is not set."""
    return _named("VEIL_LEDGER")


def ledger_at(url: str) -> Ledger:
    """The ledger there, with the key and the anchors that the environment names."""
    from veil.ledger.ledger import Ledger

    return Ledger(url, key=_named("VEIL_LEDGER_KEY"), anchor=_named("VEIL_LEDGER_ANCHOR"))


def _named(variable: str) -> str | None:
    """What a variable says; set to nothing it is a mistake, not a choice."""
    named = os.environ.get(variable)
    if named is not None and not named.strip():
        expected = "a value, or that it is not set at all"
        raise InvalidArgument(variable, expected=expected, found="an empty text")
    return named


def ledger_first(places: Sequence[str] | None) -> tuple[str, list[str]]:
    """The ledger, and what stands after it."""
    from veil.ledger.address import looks_like_address

    given, known = list(places or ()), named_ledger()
    if given and (known is None or looks_like_address(given[0])):
        return given[0], given[1:]
    if known is None:
        raise InvalidArgument("LEDGER", expected="a file such as budget.db, or VEIL_LEDGER", found="none")
    return known, given


def ledger_and_dataset(places: Sequence[str] | None) -> tuple[str, str]:
    """Both."""
    url, name = ledger_and_perhaps_dataset(places)
    if name is None:
        raise InvalidArgument("DATASET", expected="the name of a dataset", found="none")
    return url, name


def ledger_and_perhaps_dataset(places: Sequence[str] | None) -> tuple[str, str | None]:
    """The ledger, and a dataset if one was named."""
    url, rest = ledger_first(places)
    if len(rest) > 1:
        raise InvalidArgument("DATASET", expected="one dataset", found=f"{len(rest)} after the ledger")
    return url, rest[0] if rest else None


def charged_account(
    ledger: str | None,
    dataset: str | None,
    part: str | None,
    *,
    by: str | None = None,
    why: str | None = None,
    plan: str | None = None,
) -> Dataset | None:
    """The budget that a release is charged to; None where none was named. Asked before any work.

    by, why: who releases and for what, which the ledger records; plan: the hash of what was approved.
    """
    from veil.ledger.description import is_hash, one_line

    said = {"--released-by": by, "--reason": why}
    for flag, text in said.items():
        if text is not None:
            one_line(flag, text)
    said["--approved-plan"] = plan
    if plan is not None and not is_hash(plan):
        raise InvalidArgument("--approved-plan", expected="a SHA-256 in hexadecimal digits", found=plan[:80])
    ledger = named_ledger() if ledger is None else ledger
    if dataset is None:
        # Where a ledger is named, if only by the environment, no release goes uncharged.
        for flag, text in {"--part": part, **said}.items():
            if text is not None:
                raise InvalidArgument(flag, expected="--ledger and --dataset with it", found="neither")
        if ledger is not None:
            raise InvalidArgument(
                "--dataset", expected="the dataset to charge, with --ledger or VEIL_LEDGER", found="none"
            )
        return None
    if ledger is None:
        raise InvalidArgument("--ledger", expected="a ledger with --dataset", found="none")
    account = ledger_at(ledger).dataset(dataset)
    if account.closed:
        raise InvalidArgument("--dataset", expected="one that is open", found=f"{dataset}, which is closed")
    account = account.noting(by=by, why=why, plan=plan)
    charged = None if plan is None else account.charged_plan(plan)
    if charged is not None:
        found = f"one that was charged as {charged.dataset}/{charged.number}"
        raise InvalidArgument("--approved-plan", expected="a plan that was not charged yet", found=found)
    return account if part is None else account.part(part)


def ledger_files(ledger: str | None) -> list[Path]:
    """The files of a ledger, its keys and anchors, which no output may take the place of."""
    from veil.ledger.address import Address

    named = named_ledger() if ledger is None else ledger
    file = None if named is None else Address.of(named).file
    # SQLite keeps further files beside it while it works.
    beside = [] if file is None else [Path(f"{file}{ending}") for ending in ("", "-journal", "-wal", "-shm")]
    keys = [key.removeprefix("file:") for key in (_named("VEIL_LEDGER_KEY") or "").split(",")]
    anchors = (_named("VEIL_LEDGER_ANCHOR") or "").split(",")
    return beside + [Path(place.strip()) for place in (*keys, *anchors) if place.strip() and ":" not in place]
