"""Whether a ledger is consistent, what to keep elsewhere so that a cut end shows, and what was charged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from veil.core.account import EntryId
from veil.core.digest import result_digest
from veil.core.errors import LedgerCorrupt
from veil.core.record import Release
from veil.ledger import schema
from veil.ledger.chain import dataset_names, last_entry
from veil.ledger.description import shortened
from veil.ledger.head import Head
from veil.ledger.replay import Replay
from veil.ledger.slices import Slices
from veil.ledger.store import Store
from veil.ledger.witnesses import FORMAT, SCHEMA, Witnesses, heads_in
from veil.ledger.writing import set_back

if TYPE_CHECKING:
    from veil.ledger.ledger import Ledger


@dataclass(frozen=True)
class Verification:
    """What was verified: every entry is a lawful step.

    entries: how many each dataset has. keyed: from which entry on those of a dataset are authenticated with a
    key; None where they are not. authentic: whether the keys were at hand. findings: what is odd, but no
    fault.
    """

    entries: Mapping[str, int]
    keyed: Mapping[str, int | None]
    authentic: bool
    findings: tuple[str, ...]

    @property
    def datasets(self) -> list[str]:
        return list(self.entries)


def export(store: Store, *, heads_only: bool) -> dict[str, Any]:
    """The ledger as data."""
    name = store.name
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "ledger": name,
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "datasets": {
            dataset: _exported(store, dataset, heads_only=heads_only) for dataset in store.read(dataset_names)
        },
    }


def _exported(store: Store, dataset: str, *, heads_only: bool) -> dict[str, Any]:
    chain: list[str] = []
    if not heads_only:
        slices = Slices(store, dataset)
        chain, last = [row.entry.body for row in slices], slices.last
    else:
        last = store.read(lambda connection: last_entry(connection, dataset))
    if last is None:
        raise LedgerCorrupt(dataset, "entries of a dataset that is not listed")
    head = {"entries": last.entry.number, "head": last.entry.sha256}
    if heads_only:
        # With it a later restore can be held to what had been spent.
        head["totals"] = last.entry.content.get("totals")
    return head if heads_only else head | {"chain": chain}


def verify(store: Store, against: Any) -> Verification:
    """Replay every entry, and compare with what was exported, anchored and seen before."""
    store.check_file()
    known = {} if against is None else heads_in(against, store.name)
    facts, names, watches = store.read(_surroundings)
    gone = sorted(set(known) - set(names))
    if gone:
        raise LedgerCorrupt(gone[0], "nothing, though it was exported")
    earlier = _earlier(facts, names)
    replays = [_replayed(store, one, earlier.get(one, 0), known.get(one, [])) for one in names]
    return Verification(
        {replay.dataset: 0 if replay.last is None else replay.last.number for replay in replays},
        {replay.dataset: replay.keyed_from for replay in replays},
        bool(store.keys),
        tuple(watches + [text for replay in replays for text in replay.findings]),
    )


def _surroundings(connection: Connection) -> tuple[dict[str, str], list[str], list[str]]:
    """What the ledger says of itself, its datasets, and what is wrong with its triggers."""
    facts = schema.facts(connection)
    watches = schema.faults_of_watches(connection) if facts["schema"] != "1" else []
    return facts, dataset_names(connection), watches


def _earlier(facts: Mapping[str, str], names: Sequence[str]) -> dict[str, int]:
    """How many entries of each dataset were written before their meaning was checked."""
    if "earlier" not in facts:
        # Tables of an older Veil, which has written all there is.
        return dict.fromkeys(names, 2**31)
    try:
        known = json.loads(facts["earlier"])
        return {str(name): int(number) for name, number in known.items()}
    except (ValueError, TypeError, AttributeError):
        raise LedgerCorrupt("the whole", "facts that cannot be read") from None


def _replayed(store: Store, dataset: str, earlier: int, known: Sequence[Head]) -> Replay:
    """The history of one dataset, held to what others know of it."""
    keys = {key.id: key for key in store.keys}
    seen = store.marks.seen(store.name, dataset)
    replay = Replay(store.name, dataset, earlier=earlier, keys=keys)
    slices, unseen, witnesses = Slices(store, dataset), seen is not None, Witnesses(dataset, known)
    for row in slices:
        replay.step(row)
        witnesses.see(row.entry)
        number, sha256 = row.entry.number, row.entry.sha256
        unseen = unseen and (seen is None or (number, sha256) != (seen.number, seen.sha256))
    replay.end()
    held, last = slices.last, replay.last
    if held is None or last is None or held.entry.body != last.body:
        raise LedgerCorrupt(dataset, "a last entry that is not the newest")
    if held.parts != replay.balance.beside:
        raise LedgerCorrupt(dataset, "other totals of its parts than the sum of the charges")
    replay.findings += witnesses.check(last, replay.balance, replay.restored)
    if seen is not None and unseen:
        raise set_back(seen, last.number)
    if keys and replay.keyed_from is None:
        raise LedgerCorrupt(dataset, "no keyed entries, though a key was given")
    if replay.keyed_from is not None and not keys:
        replay.findings.append(f"{dataset}: its entries are keyed, but no key was given to authenticate them")
    return replay


def check_charged(release: Release[Any], ledger: Ledger, where: str) -> None:
    """Compare the record with the entry that it names: the mechanism, epsilon, delta, and the result."""
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
    result = ledger.result(release.entry)
    if result is not None and result != result_digest(release):
        raise LedgerCorrupt(where, f"another result than was released as {release.entry}")
    if said["reproducible"] != release.reproducible:
        raise LedgerCorrupt(where, f"another mark of being reproducible than {release.entry} has")
