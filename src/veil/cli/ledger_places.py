"""Which ledger, and which dataset of it: as arguments, or the ledger by VEIL_LEDGER."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from veil.core.errors import InvalidArgument

_LEDGER = "A file such as budget.db, or postgresql://user@host/db; may be left out where VEIL_LEDGER is set."


def _places(names: str, help: str = "") -> Parameter:  # noqa: A002
    return Parameter(name=names, help=f"{_LEDGER} {help}".rstrip())


LedgerOnly = Annotated[str, _places("[LEDGER]")]
LedgerAndDataset = Annotated[str, _places("[LEDGER] DATASET", "The name of the dataset.")]
LedgerAndPerhapsDataset = Annotated[
    str, _places("[LEDGER] [DATASET]", "One of its datasets, to be shown with its entries.")
]
LedgerAndReleases = Annotated[
    str, _places("[LEDGER] [RELEASE]...", "Release files: was each charged here, and as much as it says?")
]


def named_ledger() -> str | None:
    """The ledger of VEIL_LEDGER; None where it is not set. Set to nothing it is a mistake, not a choice."""
    found = os.environ.get("VEIL_LEDGER")
    if found is not None and not found.strip():
        raise InvalidArgument(
            "VEIL_LEDGER", expected="a ledger, or that it is not set at all", found="an empty text"
        )
    return found


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
