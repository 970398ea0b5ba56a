"""Whether a ledger is consistent, what to keep elsewhere so that a cut end shows, and what was charged."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from veil.core.account import EntryId
from veil.core.errors import InvalidData, LedgerCorrupt, LedgerUnavailable
from veil.core.record import Release
from veil.ledger.amounts import Amount
from veil.ledger.balance import Balance
from veil.ledger.chain import all_entries, dataset_names, entry_at, last_entry
from veil.ledger.description import shortened
from veil.ledger.entry import NOTHING, Entry, is_place
from veil.ledger.store import Store
from veil.ledger.terms import Terms

if TYPE_CHECKING:
    from veil.ledger.ledger import Ledger

FORMAT, SCHEMA = "veil-ledger", 1


def export(store: Store, *, heads_only: bool) -> dict[str, Any]:
    """The ledger as data."""
    name = store.name

    def work(connection: Connection) -> dict[str, Any]:
        heads = {}
        for dataset in dataset_names(connection):
            last = last_entry(connection, dataset)
            if last is None:
                raise LedgerCorrupt(dataset, "entries of a dataset that is not listed")
            heads[dataset] = {"entries": last.number, "head": last.sha256}
            if not heads_only:
                heads[dataset]["chain"] = [entry.body for entry, _ in all_entries(connection, dataset)]
        return heads

    datasets = store.read(work)
    # What is exported must not be lost in a crash: it would look like a cut end. Who only reads cannot help.
    with suppress(LedgerUnavailable):
        store.settle()
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "ledger": name,
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "datasets": datasets,
    }


def verify(store: Store, against: Any) -> list[str]:
    """Check every entry: hashes, links, totals, limits, and what was exported before."""
    store.check_file()
    name = store.name

    def work(connection: Connection) -> list[str]:
        names = dataset_names(connection)
        for dataset in names:
            _verify_dataset(connection, name, dataset)
        if against is not None:
            _compare(connection, name, against)
        return names

    return store.read(work)


def _verify_dataset(connection: Connection, ledger: str, dataset: str) -> None:
    last: Entry | None = None
    terms: Terms | None = None
    under: list[Any] = []
    balance = Balance()
    charged: dict[int, Mapping[str, Any]] = {}
    tokens: set[str] = set()
    for entry, token in all_entries(connection, dataset):
        where = f"{dataset}/{entry.number}"
        if (entry.ledger, entry.dataset) != (ledger, dataset):
            raise LedgerCorrupt(where, "an entry of another ledger or dataset")
        if entry.number != (1 if last is None else last.number + 1):
            raise LedgerCorrupt(where, "a gap before it")
        if entry.previous != (NOTHING if last is None else last.sha256):
            raise LedgerCorrupt(where, "an entry that does not follow the one before it")
        try:
            if "agreed" in entry.content:
                terms, under = Terms.from_dict(entry.content["agreed"]), [entry.number, entry.sha256]
                balance = Balance(balance.whole, balance.parts, terms.moves)
            elif entry.content["under"] != under:
                raise LedgerCorrupt(where, "other terms than those that were agreed")
            if terms is None:
                raise LedgerCorrupt(where, "an entry before the dataset was opened")
            if entry.kind == "reserve":
                cost = {line: Amount(text) for line, text in entry.content["cost"].items()}
                balance = balance.after(cost, entry.content["part"])
                charged[entry.number] = entry.content
                if min(cost.values()) < 0:
                    raise LedgerCorrupt(where, "a charge below nothing")
                if not balance.fits(terms.rule):
                    raise LedgerCorrupt(where, "a charge beyond the budget")
            elif entry.kind == "use":
                charged[entry.number] = {}
            if terms.closed and entry.kind in ("reserve", "use"):
                raise LedgerCorrupt(where, "a charge after the dataset was closed")
            _check_token(entry, token, charged, where)
            if token in tokens:
                raise LedgerCorrupt(where, "the same thing done twice")
            tokens.add(token)
            if Balance.from_dict(entry.content["totals"], moves=terms.moves) != balance:
                raise LedgerCorrupt(where, "totals that are not the sum of the charges")
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
            raise LedgerCorrupt(where, "an entry that cannot be read") from None
        last = entry
    held = last_entry(connection, dataset)
    if held is None or last is None or held.body != last.body:
        raise LedgerCorrupt(dataset, "a last entry that is not the newest")


def _check_token(entry: Entry, token: str, charged: Mapping[int, Mapping[str, Any]], where: str) -> None:
    """Entries that speak of others say so in their token, of which no two are alike."""
    if entry.kind not in ("confirm", "use"):
        return
    about = entry.content["entry"]
    expected = f"confirm {about}" if entry.kind == "confirm" else f"use {about} {entry.content['slot']}"
    if token != expected or about not in charged:
        raise LedgerCorrupt(where, "an entry about another that is no reservation")
    content = entry.content
    if entry.kind == "use" and not is_place(charged[about], content["slot"], content["mechanism"]):
        raise LedgerCorrupt(where, "a release that was not declared with its batch")


def _compare(connection: Connection, ledger: str, against: Any) -> None:
    """Whether all that was there at an export still is."""
    heads = against.get("datasets") if isinstance(against, dict) else None
    if not isinstance(heads, dict) or against.get("format") != FORMAT:
        raise InvalidData("against", expected="what `veil ledger export` wrote", found="something else")
    if against.get("ledger") != ledger:
        raise LedgerCorrupt("the whole", "another ledger than the exported one")
    for dataset, head in heads.items():
        last = last_entry(connection, dataset)
        known = head if isinstance(head, dict) else {}
        number, sha256 = known.get("entries"), known.get("head")
        if type(number) is not int or not isinstance(sha256, str):
            raise InvalidData("against", expected="entries and a head", found="something else")
        if last is None:
            raise LedgerCorrupt(dataset, "nothing, though it was exported")
        if last.number < number:
            raise LedgerCorrupt(dataset, f"{last.number} entries, though {number} were exported")
        if entry_at(connection, dataset, number).sha256 != sha256:
            raise LedgerCorrupt(f"{dataset}/{number}", "another entry than the exported one")


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
