"""Whether a release was charged to a ledger as its file says."""

from __future__ import annotations

from typing import Any

from veil.core.account import EntryId
from veil.core.errors import LedgerCorrupt
from veil.core.record import Release
from veil.ledger.description import shortened
from veil.ledger.ledger import Ledger


def check_charged(release: Release[Any], ledger: Ledger, where: str) -> None:
    """Compare the record with the entry that it names: the mechanism, epsilon and delta."""
    if not isinstance(release.entry, EntryId):
        raise LedgerCorrupt(where, "a release that was charged to no ledger of Veil")
    entry = ledger.entry(release.entry)
    said = entry.content
    if entry.kind not in ("reserve", "use"):
        raise LedgerCorrupt(where, f"{release.entry}, which is no charge")
    if said["mechanism"]["sha256"] != shortened(dict(release.description))["sha256"]:
        raise LedgerCorrupt(where, f"another mechanism than was charged as {release.entry}")
    if (said["epsilon"], said["delta"]) != (str(release.epsilon), str(release.delta)):
        raise LedgerCorrupt(where, f"another epsilon or delta than was charged as {release.entry}")
    if said["adjacency"] != release.adjacency.describe():
        raise LedgerCorrupt(where, f"other neighbours than were charged as {release.entry}")
    if said["reproducible"] != release.reproducible:
        raise LedgerCorrupt(where, f"another mark of being reproducible than {release.entry} has")
