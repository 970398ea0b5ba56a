"""How an entry comes into a ledger: after the newest one, in one transaction, and noted outside of it.

The ledger is compared with what this machine has seen of it before anything is added; the entry is keyed
where the dataset is; once it is on the disk it is noted in the marks of this machine and in all anchors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from veil.core.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, PrivacyWarning, VeilError
from veil.ledger.balance import Balance
from veil.ledger.chain import Last, Row, append, entry_at, entry_with, locked_entry, time_after
from veil.ledger.connections import UnsettledCommit, is_refused, settled
from veil.ledger.entry import NOTHING, Entry
from veil.ledger.head import Head
from veil.ledger.keys import Key, is_authentic, message
from veil.ledger.server import RELEASING
from veil.ledger.session import Session
from veil.ledger.store import Store, Written
from veil.ledger.terms import Terms

# The content of a new entry, and the balance after it.
Change = tuple[Mapping[str, Any], Balance]


def add(
    store: Store,
    dataset: str,
    kind: str,
    change: Callable[[Session, Last | None], Change],
    *,
    token: str,
    once: bool = False,
    accepting: bool = False,
) -> Entry:
    """Add an entry and return it, or the one that is there already with this token.

    change: the content, from the newest entry, which is locked; None if there is no such dataset. once: of
    what is done once, whoever does it, the token says what it is. accepting: the ledger may be older than
    what this machine has seen, which is what the entry says.
    """
    ledger = store.name  # before the transaction begins: finding it out needs one of its own
    for anchor in store.anchors:
        anchor.check()
    if kind == "confirm":
        _settle(store, dataset)
    before = store.written.get(dataset)

    def added(session: Session, last: Last | None) -> _Added:
        content, balance = change(session, last)
        newest = None if last is None else last.entry
        entry = Entry(
            ledger=ledger,
            dataset=dataset,
            number=1 if newest is None else newest.number + 1,
            time=time_after(newest),
            kind=kind,
            content={**content, "totals": balance.to_dict()},
            previous=NOTHING if newest is None else newest.sha256,
        )
        row = Row(entry, token, _code(store.key, entry, token))
        beside = balance.beside
        append(session, row, parts=beside)
        is_alone = before is not None and before.last.entry.sha256 == entry.previous
        return _Added(entry, Written(Last(entry, beside, token, row.mac, balance), is_alone), again=False)

    def work(session: Session, again: bool) -> _Added:
        last = locked_entry(session, dataset, None if before is None else before.last)
        if last is not None and (last.entry.ledger, last.entry.dataset) != (ledger, dataset):
            raise LedgerCorrupt(dataset, "an entry of another ledger or dataset")
        if not accepting:
            check_seen(store, session, ledger, dataset, None if last is None else last.entry)
        done = entry_with(session, dataset, token) if again or once else None
        return _Added(done, None, again=again) if done is not None else added(session, last)

    def quick(session: Session) -> _Added | None:
        """Without a look at the newest entry: if it is not the one that this process wrote, the server
        refuses what does not follow it, and all is done as usual."""
        if before is None or not before.is_alone or not _is_newest(store, before.last.entry):
            return None
        try:
            return added(session, before.last)
        except VeilError:
            # It may be different by now.
            return None
        except DBAPIError as error:
            if isinstance(error, IntegrityError) or is_refused(error):
                return None
            raise

    try:
        made = store.write(work, quick=quick if kind in RELEASING and not accepting else None)
    except UnsettledCommit as failure:
        found = _looked_up(store, dataset, token, failure)
        if found is None or kind != "confirm":
            raise settled(failure, found) from None
        # A note that is there needs nothing more: no release hangs on it.
        made = _Added(found, None, again=True)
    _remember(store, dataset, kind, made, accepting=accepting)
    return made.entry


@dataclass(frozen=True, slots=True)
class _Added:
    """written: None if the entry was there already. again: it was found when it was asked for again."""

    entry: Entry
    written: Written | None
    again: bool


def _looked_up(store: Store, dataset: str, token: str, failure: UnsettledCommit) -> Entry | None:
    """The entry whose commit failed, if it is there; the failure itself if the ledger cannot be read."""
    try:
        return store.read(lambda connection: entry_with(connection, dataset, token))
    except VeilError:
        raise failure from None


def _is_newest(store: Store, entry: Entry) -> bool:
    """Whether it is also the newest that this machine has seen."""
    seen = store.marks.seen(entry.ledger, entry.dataset)
    return seen is not None and (seen.number, seen.sha256) == (entry.number, entry.sha256)


def _remember(store: Store, dataset: str, kind: str, made: _Added, *, accepting: bool) -> None:
    """The entry is on the disk: note it outside of the ledger."""
    head = Head.of(made.entry)
    if made.written is not None:
        store.written[dataset] = made.written
        balance = made.written.last.balance
        assert balance is not None
        # Of a long list of parts the entry itself has only the hash.
        store.marks.note(replace(head, totals=balance.listed()) if balance.parts else head, back=accepting)
    # Where only the answer was lost, nobody has noted it yet.
    if kind != "confirm" and (made.written is not None or made.again):
        _note(store, head)
        if kind not in RELEASING:
            _settle(store, dataset)


def _note(store: Store, head: Head) -> None:
    """The entry is there: that an anchor fails now does not undo it."""
    for anchor in store.anchors:
        _anchored(f"{head.dataset}/{head.number}", partial(anchor.note, head))


def _settle(store: Store, dataset: str) -> None:
    """What was noted is to last: before a release is confirmed, and at once for all that is no release."""
    for anchor in store.anchors:
        settle = getattr(anchor, "settle", None)
        if settle is not None:
            _anchored(f"what was done to {dataset}", settle)


def _anchored(what: str, work: Callable[[], None]) -> None:
    try:
        work()
    except LedgerUnavailable as error:
        warnings.warn(f"{what} is in the ledger but not anchored: {error}", PrivacyWarning, stacklevel=4)


def check_seen(
    store: Store, connection: Connection | Session, ledger: str, dataset: str, last: Entry | None
) -> None:
    """Raise LedgerCorrupt if this machine has seen entries that are no longer there."""
    seen = store.marks.seen(ledger, dataset)
    if seen is None or (last is not None and (seen.number, seen.sha256) == (last.number, last.sha256)):
        return
    number = 0 if last is None else last.number
    if seen.number >= number or entry_at(connection, dataset, seen.number).sha256 != seen.sha256:
        raise set_back(seen, number)


def set_back(seen: Head, number: int) -> LedgerCorrupt:
    """The error for a ledger that has so many entries and lacks one that this machine has seen."""
    found = f"another entry {seen.number} than this machine has seen"
    if seen.number > number:
        found = f"{number} entries, though this machine has seen {seen.number}"
    hint = "it was restored from an older copy, or cut. See `veil ledger accept-restore`"
    return LedgerCorrupt(seen.dataset, f"{found}: {hint}")


def check_key(store: Store, newest: Last, terms: Terms) -> None:
    """Raise unless the key of this ledger is that of the dataset, and gave the newest entry its code."""
    key, last = store.key, newest.entry
    if terms.key is None and key is None:
        return
    if key is None:
        raise InvalidArgument(
            "key",
            expected=f"the key {terms.key} that entries of {last.dataset} are authenticated with",
            found="none",
            hint="Ledger(..., key=...) or VEIL_LEDGER_KEY names it.",
        )
    if terms.key is None:
        raise InvalidArgument(
            "key",
            expected=f"none, since {last.dataset} is not keyed",
            found="one",
            hint="`veil ledger key` makes a dataset keyed from now on.",
        )
    if terms.key != key.id:
        raise InvalidArgument("key", expected=f"the key {terms.key}", found=f"the key {key.id}")
    if not is_authentic(key, last, newest.token, newest.mac):
        raise LedgerCorrupt(
            f"{last.dataset}/{last.number}", "a forged entry: its code is not that of the key"
        )


def _code(key: Key | None, entry: Entry, token: str) -> str:
    return "" if key is None else key.mac(message(entry, token))
