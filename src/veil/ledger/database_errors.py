"""What may go wrong between us and a database, in our words: the driver's may quote a password."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from veil.core.errors import LedgerCorrupt, LedgerUnavailable, VeilError
from veil.ledger.address import Address
from veil.ledger.engines import PATIENCE
from veil.ledger.schema import DATASETS, ENTRIES

_REASONS = {
    "locked": f"others have held it for more than {PATIENCE:.0f} seconds",
    "lock timeout": f"others have held it for more than {PATIENCE:.0f} seconds",
    "disk is full": "the disk is full",
    "no space left": "the disk is full",
    "readonly": "it cannot be written to",
    "read-only": "it cannot be written to",
    "unable to open": "the file or its folder cannot be written to",
    "disk i/o": "the disk does not take it",
    "password": "the server refuses the user or the password",
    "authentication": "the server refuses the user or the password",
    "permission denied": "this user may not write to it",
    "too many clients": "the server has no connection left",
    "connection slots": "the server has no connection left",
    "connection": "the server does not answer",
}


def translated(error: SQLAlchemyError, address: Address) -> VeilError:
    """An error of the driver as one of ours."""
    cause = str(getattr(error, "orig", error)).lower()
    if "malformed" in cause or "not a database" in cause or "corrupt" in cause or "decode" in cause:
        return LedgerCorrupt(str(address), "a damaged file, or one that is no ledger")
    if "no such table" in cause or "does not exist" in cause:
        # That of what the ledger is comes first: where only another one is missing there was a ledger once.
        if DATASETS.name in cause or ENTRIES.name in cause:
            return LedgerCorrupt(str(address), "no table of entries or of datasets")
        return missing(address, "none there")
    for mark, words in _REASONS.items():
        if mark in cause:
            return unavailable(address, words)
    return unavailable(address, type(getattr(error, "orig", error)).__name__)


def unavailable(address: Address, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(f"ledger: {address} cannot be used: {reason}. Nothing was charged.")


def missing(address: Address, found: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"ledger: expected a ledger at {address}, found {found}. `veil ledger open` makes one."
    )


def gone(address: Address, *, writing: bool) -> LedgerUnavailable:
    """The server went away, perhaps in the middle of a commit."""
    doubt = "If a charge was on its way it may have been made, and then it stands. " if writing else ""
    return LedgerUnavailable(
        f"ledger: {address} cannot be used: the server does not answer. {doubt}Nothing was released."
    )


def is_full(error: DBAPIError) -> bool:
    """Whether the server has no connection to spare just now."""
    cause = str(error.orig).lower()
    return "too many clients" in cause or "connection slots" in cause


_AWAY = (
    "connection refused",
    "server closed",
    "shutting down",
    "starting up",
    "recovery mode",
    "not yet accepting",
    "terminating connection",
)


def is_gone(error: DBAPIError) -> bool:
    """Whether the connection broke, so that asking again may help."""
    cause = str(error.orig).lower()
    return bool(error.connection_invalidated) or any(mark in cause for mark in _AWAY)
