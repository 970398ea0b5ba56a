"""What a release asks of whatever it is charged to."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from veil.core.adjacency import Adjacency
from veil.core.digest import result_digest
from veil.core.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, PrivacyWarning
from veil.core.privacy.profile import PrivacyProfile
from veil.version import __version__

if TYPE_CHECKING:
    from veil.core.record import Release


@runtime_checkable
class Account(Protocol):
    """Anything that can be charged. A reservation is spent at once: privacy is never refunded."""

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        """Charge before the noise is drawn, or raise BudgetExceeded; returns the entry's id."""

    def confirm(self, entry: Any) -> None:
        """Note that the release of this entry was made."""


@dataclass(frozen=True, slots=True)
class EntryId:
    """Which entry of which ledger a release was charged to. sha256: of that entry."""

    ledger: str
    dataset: str
    number: int
    sha256: str

    def __str__(self) -> str:
        return f"{self.dataset}/{self.number}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Charge:
    """One release as an account sees it: what it costs and what it hides. Nothing of the data.

    profiles: of what is released, all of them together where they were declared together. places: of a batch,
    the hashes of the descriptions of its mechanisms.
    """

    epsilon: float
    delta: float
    description: dict[str, Any]
    adjacency: Adjacency | None = None
    profiles: tuple[PrivacyProfile, ...] = field(default=(), repr=False)
    reproducible: bool = False
    version: str = __version__
    places: tuple[str, ...] = ()


@runtime_checkable
class Bookkeeper(Account, Protocol):
    """An account that looks at more than epsilon and delta."""

    def reserve_charge(self, charge: Charge) -> Any:
        """As `reserve`, for one who wants to know what is hidden, and the whole curve."""


@runtime_checkable
class ResultAccount(Account, Protocol):
    """An account that binds the result to the charge."""

    def confirm_release(self, entry: Any, result: str) -> None:
        """As `confirm`; result: the `result_digest` of the release."""


def check_account(account: Any) -> None:
    """Before any work: something that can be charged, or nothing."""
    if account is None or isinstance(account, Account):
        return
    hint = "Take one of its datasets: ledger.dataset(name)." if hasattr(account, "dataset") else ""
    if isinstance(account, str):
        hint = "Open the ledger first: veil.Ledger(url).dataset(name)."
    raise InvalidArgument(
        "ledger", expected="reserve() and confirm()", found=type(account).__name__, hint=hint
    )


def confirm(account: Account, entry: Any, release: Release[Any] | None = None) -> None:
    """Note that a release was made, and which, if the account wants to know.

    It is paid for: that the note cannot be written does not undo it.
    """
    try:
        if release is not None and isinstance(account, ResultAccount):
            account.confirm_release(entry, result_digest(release))
        else:
            account.confirm(entry)
    except (LedgerUnavailable, LedgerCorrupt) as error:
        warnings.warn(
            f"the release was charged and made, but the ledger could not be told: {error}",
            PrivacyWarning,
            stacklevel=3,
        )


def reserve(account: Account, charge: Charge) -> Any:
    """Charge an account with all that it asks for."""
    if isinstance(account, Bookkeeper):
        return account.reserve_charge(charge)
    return account.reserve(epsilon=charge.epsilon, delta=charge.delta, description=charge.description)
