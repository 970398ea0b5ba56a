"""What a release cost that ended without saying so: from its diary, and where that is not enough the ledger.

The worker writes down that it is about to charge, and then as which entry it was charged. A process that was
killed between the two has left the answer in the ledger alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from veil.cli.charging import CHARGED, CHARGING
from veil.core.account import EntryId, confirm
from veil.core.errors import VeilError
from veil.core.record import Release
from veil.ledger.history import BudgetHistory

FREE = "Nothing was charged."
_UNSURE = "The ledger could not be asked whether it was charged; its page says so for certain."


def charged_as(diary: Iterable[Mapping[str, str]]) -> str:
    """The entry of the ledger that a release was charged as; empty if its diary has none."""
    steps = (line.get("step", "") for line in diary)
    return next((step.removeprefix(CHARGED) for step in steps if step.startswith(CHARGED)), "")


def began_to_charge(diary: Iterable[Mapping[str, str]]) -> bool:
    """Whether it went as far as the ledger."""
    return any(line.get("step") == CHARGING for line in diary)


def cost_of(
    diary: list[dict[str, str]], ledger: str, dataset: str, *, since: str, known: Collection[str]
) -> str:
    """What a release without a result cost, in a sentence.

    ledger: its address. since: when it was asked for. known: what other releases of the workbench were
    charged as.
    """
    entry = charged_as(diary)
    if entry:
        return f"It was charged as {entry}, and there is no result. It is not drawn again."
    if not began_to_charge(diary):
        return FREE
    try:
        found = [name for name in _without_result(ledger, dataset, since) if name not in known]
    except VeilError:
        return _UNSURE
    if not found:
        return FREE
    return (
        f"It was stopped during the charge. The ledger has {', '.join(found)} from that time, charged and "
        "without a result. It is not drawn again."
    )


def _without_result(ledger: str, dataset: str, since: str) -> list[str]:
    """The charges of a dataset that were made since then and have no result."""
    from veil.cli.ledger_options import ledger_at

    moments = BudgetHistory.of(ledger_at(ledger).dataset(dataset)).moments
    return [
        str(moment.entry.id)
        for moment in moments
        if moment.entry.kind == "reserve" and not moment.confirmed and moment.entry.time >= since
    ]


def confirm_found(release: Release[object], ledger: str) -> None:
    """Tell the ledger of a result whose process was killed before it could; twice does no harm."""
    from veil.cli.ledger_options import ledger_at

    if not isinstance(release.entry, EntryId):
        return
    try:
        confirm(ledger_at(ledger).dataset(release.entry.dataset), release.entry, release)
    except VeilError:
        # The result is there, which is what matters; `veil ledger verify` says what is wrong with the ledger.
        return
