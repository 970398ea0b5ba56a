"""The budget of one dataset: what `release` is handed as `ledger=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from veil.core.account import Charge, EntryId
from veil.core.adjacency import Adjacency
from veil.core.checks import shown
from veil.core.errors import BudgetExceeded, InvalidArgument, LedgerCorrupt, VeilError
from veil.ledger.accounting import words_of
from veil.ledger.amounts import ZERO
from veil.ledger.balance import Balance, texts
from veil.ledger.chain import Last, dataset_names, entry_at, entry_with, last_entry
from veil.ledger.description import by_whom, described, is_hash, mapping, one_line
from veil.ledger.entry import Entry, is_place, token_of
from veil.ledger.head import Head
from veil.ledger.session import Session
from veil.ledger.slices import Slices
from veil.ledger.store import Store
from veil.ledger.terms import Budget, Terms
from veil.ledger.witnesses import heads_in, lost_with
from veil.ledger.writing import Change, add, check_key, check_seen

if TYPE_CHECKING:
    from veil.core.mechanism import Mechanism
    from veil.ledger.batch import Batch


class Dataset:
    """The budget of a dataset, or of one part of it. Hand it to `release` as `ledger=`.

    budget, spent and remaining have `epsilon` and `delta`, exact decimals. Every charge is made before the
    noise is drawn and is never given back. All who share the ledger share the budget.

    >>> import tempfile, veil
    >>> ledger = veil.Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> near = veil.vectors.Records()
    >>> trips = ledger.open("trips", epsilon=1, adjacency=near)
    >>> noise = veil.vectors.GeometricCounts(10.0, 3)
    >>> out = veil.release(noise, [5, 2, 9], adjacency=near, ledger=trips)
    >>> trips.spent.epsilon, trips.remaining.epsilon, str(out.entry)
    (Amount('0.1'), Amount('0.9'), 'trips/2')
    """

    def __init__(
        self,
        store: Store,
        name: str,
        part: str | None = None,
        *,
        by: str | None = None,
        why: str | None = None,
        plan: str | None = None,
    ) -> None:
        self._store = store
        self.name = name
        self._part = part
        self._by, self._why, self._plan = by, why, plan
        self._agreed: dict[tuple[int, str], Terms] = {}

    def __repr__(self) -> str:
        part = "" if self._part is None else f", part {self._part!r}"
        return f"<Dataset {self.name!r}{part} of {self._store.address}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from veil.ledger.ledger import dataset_of

        store = self._store
        place = (store.address, store.keys, store.anchors, self.name, self._part)
        return dataset_of, (*place, self._by, self._why, self._plan)

    # What is known of it

    @property
    def terms(self) -> Terms:
        """The budget, who is a neighbour, the rule by which charges add up."""
        return self._look()[0]

    @property
    def adjacency(self) -> Adjacency | None:
        return self.terms.adjacency

    @property
    def hidden(self) -> Adjacency | None:
        """What a release that is charged here must hide: of a part it may be another than of the whole."""
        return self.terms.hidden(self._part)

    @property
    def budget(self) -> Budget:
        return self.terms.budget

    @property
    def spent(self) -> Budget:
        """What is spent: epsilon and delta as simple sums, and `lines` as the rule counts it."""
        terms, balance = self._look()
        totals = balance.totals(self._part)
        return Budget(totals.get("epsilon", ZERO), totals.get("delta", ZERO), terms.rule.along(totals))

    @property
    def remaining(self) -> Budget:
        """What can still be spent. With a filter that is not a matter of epsilon and delta: see `lines`."""
        terms, balance = self._look()
        lines = terms.rule.remaining(balance.totals(self._part))
        return Budget(lines.get("epsilon"), lines.get("delta"), lines)

    @property
    def used(self) -> float:
        """The share of the budget that is gone, between 0 and 1."""
        terms, balance = self._look()
        return terms.rule.used(balance.totals(self._part))[1]

    @property
    def closed(self) -> bool:
        return self.terms.closed

    def entries(self) -> list[Entry]:
        """All that was done to this budget, oldest first."""
        read = [row.entry for row in Slices(self._store, self.name)]
        if not read:
            raise self._unknown()
        return read

    @property
    def parts(self) -> tuple[str, ...]:
        return self.terms.parts

    def part(self, name: str) -> Dataset:
        """The budget of one part of the partition that the dataset was opened with."""
        self.terms.check_part(name)
        return Dataset(self._store, self.name, name, by=self._by, why=self._why, plan=self._plan)

    def noting(self, *, by: str | None = None, why: str | None = None, plan: str | None = None) -> Dataset:
        """The same budget; releases that are charged to it are recorded with who made them, and why.

        by: the user of this machine unless given. why: nothing is recorded unless given. plan: the SHA-256 of
        the plan that was approved for one release, in hexadecimal digits; it is charged once, whoever tries
        again. All stand in the ledger, not in the release.

        >>> import tempfile, veil
        >>> trips = veil.Ledger(tempfile.mkdtemp() + "/budget.db").open("trips", epsilon=1)
        >>> board = trips.noting(by="R. Steward", why="figures for the board")
        >>> out = veil.vectors.release([5, 2, 9], epsilon=0.1, ledger=board)
        >>> entry = trips.entries()[1]
        >>> entry.content["by"], entry.content["why"]
        ('R. Steward', 'figures for the board')
        """
        said = (None if by is None else one_line("by", by), None if why is None else one_line("why", why))
        if plan is not None and not is_hash(plan):
            raise InvalidArgument("plan", expected="a hash in hexadecimal digits", found=shown(plan))
        return Dataset(self._store, self.name, self._part, by=said[0], why=said[1], plan=plan)

    def charged_plan(self, plan: str) -> Entry | None:
        """The entry that charged a plan; None if none did."""
        if not is_hash(plan):
            raise InvalidArgument("plan", expected="a hash in hexadecimal digits", found=shown(plan))
        _ = self._store.name
        return self._store.read(lambda connection: entry_with(connection, self.name, token_of(plan)))

    def _released(self, charge: Charge) -> dict[str, Any]:
        """What an entry says of a release: how it is made, by whom, and why if that was said."""
        why = {} if self._why is None else {"why": self._why}
        return described(charge) | {"by": by_whom(self._by)} | why

    # What changes it

    def reserve(self, *, epsilon: float, delta: float = 0.0, description: Mapping[str, Any]) -> EntryId:
        """Charge epsilon and delta, or raise BudgetExceeded and charge nothing."""
        return self.reserve_charge(Charge(epsilon, delta, mapping(description), self.hidden))

    def reserve_charge(self, charge: Charge) -> EntryId:
        """Charge a release before its noise is drawn, or raise BudgetExceeded and charge nothing."""
        mine = token_hex(8)
        planned = {} if self._plan is None else {"plan": self._plan, "token": mine}

        def charged(session: Session, last: Entry, terms: Terms, balance: Balance) -> Change:
            self._check_open(terms)
            terms.check(charge.adjacency, self._part)
            cost = terms.rule.cost(charge)
            after = balance.after(cost, self._part)
            if not after.fits(terms.rule):
                gone = balance.totals(self._part)
                raise BudgetExceeded(
                    spent=words_of(terms.rule.along(gone)),
                    asked=words_of(terms.rule.along(balance.taken(cost, self._part))),
                    remaining=words_of(terms.rule.remaining(gone)),
                    hint=terms.rule.advice(after.totals(self._part)),
                )
            return self._released(charge) | {"part": self._part, "cost": texts(cost)} | planned, after

        entry = self._add("reserve", charged, token=None if self._plan is None else token_of(self._plan))
        if planned and entry.content.get("token") != mine:
            found = f"one that was charged as {entry.dataset}/{entry.number}"
            raise InvalidArgument("plan", expected="a plan that was not charged yet", found=found)
        return entry.id

    def has_room(self, charge: Charge) -> bool:
        """Whether it would be accepted now. Others may be quicker: only `reserve` decides."""
        terms, balance = self._look()
        terms.check(charge.adjacency, self._part)
        return not terms.closed and balance.after(terms.rule.cost(charge), self._part).fits(terms.rule)

    def use(self, batch: EntryId, slot: int, charge: Charge) -> EntryId | None:
        """Note one release of a batch, which was charged as a whole; None if it was made already."""
        mine = token_hex(8)

        def used(session: Session, last: Entry, terms: Terms, balance: Balance) -> Change:
            self._check_open(terms)
            content = self._released(charge) | {"entry": batch.number, "slot": slot, "token": mine}
            known = entry_at(session, self.name, batch.number)
            if known.id != batch or not is_place(known.content, slot, content["mechanism"]):
                raise InvalidArgument(
                    "ledger", expected="a release that was declared with the batch", found="another"
                )
            return content, balance

        entry = self._add("use", used, token=f"use {batch.number} {slot}")
        return entry.id if entry.content.get("token") == mine else None

    def confirm_release(self, entry: EntryId, result: str) -> None:
        """Note that the release of this entry was made, and which: result is its digest."""
        self.confirm(entry, result=result)

    def confirm(self, entry: EntryId, *, result: str | None = None) -> None:
        """Note that the release of this entry was made. result: its digest, which the note keeps."""
        if not isinstance(entry, EntryId) or (entry.ledger, entry.dataset) != (self._store.name, self.name):
            found = str(entry) if isinstance(entry, EntryId) else shown(entry)
            raise InvalidArgument("entry", expected=f"an entry of {self.name}", found=found)
        if result is not None and not is_hash(result):
            raise InvalidArgument("result", expected="a hash in hexadecimal digits", found=shown(result))

        def noted(session: Session, last: Entry, terms: Terms, balance: Balance) -> Change:
            known = last if last.number == entry.number else entry_at(session, self.name, entry.number)
            if known.kind not in ("reserve", "use") or known.sha256 != entry.sha256:
                raise InvalidArgument("entry", expected="a reservation", found=f"{entry}, which is none")
            return {"entry": entry.number} | ({} if result is None else {"result": result}), balance

        self._add("confirm", noted, token=f"confirm {entry.number}")

    def batch(
        self,
        mechanisms: Sequence[Mechanism],
        *,
        adjacency: Adjacency | None = None,
        delta: float | None = None,
    ) -> Batch:
        """Charge several releases at once, for less than their sum: see `veil.ledger.batch.Batch`."""
        from veil.ledger.batch import Batch

        return Batch.declare(self, mechanisms, adjacency=adjacency, delta=delta)

    def raise_budget(
        self, *, epsilon: Any = None, delta: Any = None, why: str, by: str | None = None
    ) -> None:
        """A larger budget, to this epsilon or delta. Who raised it, and why, is recorded."""
        self._agree("raise", lambda terms: terms.raised(epsilon, delta), why=why, by=by)

    def close(self, *, why: str, by: str | None = None) -> None:
        """No further release. Who closed it, and why, is recorded."""
        self._agree("close", lambda terms: replace(terms, closed=True), why=why, by=by)

    def use_key(self, *, why: str, by: str | None = None) -> None:
        """Key all entries from now on with the key of this ledger, which may replace another one."""
        key = self._store.key
        if key is None:
            raise InvalidArgument("key", expected="a key: Ledger(..., key=...)", found="none")
        name = key.id
        if self.terms.key == name:
            raise InvalidArgument("key", expected="another key than the present one", found=f"the key {name}")
        self._agree("key", lambda terms: replace(terms, key=name), why=why, by=by)

    def accept_restore(self, *, why: str, by: str | None = None, against: Any = None) -> None:
        """Accept that the ledger is older than what this machine has seen, as after a lawful restore.

        against: what others have seen: heads that an anchor noted, or what `export` gave earlier. What had
        been spent in the entries that are lost is charged again, as far as this machine or these know it.
        """
        said = self._said(why=why, by=by)
        seen = self._store.marks.seen(self._store.name, self.name)
        known = [] if against is None else heads_in(against, self._store.name).get(self.name, [])

        def accepted(session: Session, last: Entry, terms: Terms, balance: Balance) -> Change:
            gone = [head for head in known if self._is_gone(session, last, head)]
            if seen is not None and self._missing(session, last):
                # What is noted elsewhere of the same entry says less.
                gone = [*(head for head in gone if head.sha256 != seen.sha256), seen]
            if not gone:
                raise InvalidArgument(
                    "dataset", expected="entries that this machine has seen and that are gone", found="none"
                )
            lost = lost_with(gone, balance)
            newest = max(gone, key=lambda head: head.number)
            number = max(newest.number, last.number)
            about = {"from": last.number, "seen": [number, newest.sha256], "lost": lost.listed()}
            return said | about, balance.joined(lost)

        self._add("restore", accepted, accepting=True)

    @property
    def set_back(self) -> str:
        """What this machine has seen that is no longer there; "" if nothing is missing."""
        _ = self._store.name
        return self._store.read(lambda connection: self._missing(connection, self._last(connection).entry))

    def _is_gone(self, connection: Connection | Session, last: Entry, head: Head) -> bool:
        number = head.number
        return number > last.number or entry_at(connection, self.name, number).sha256 != head.sha256

    def _missing(self, connection: Connection | Session, last: Entry) -> str:
        try:
            check_seen(self._store, connection, self._store.name, self.name, last)
        except LedgerCorrupt as error:
            return error.found
        return ""

    def _said(self, *, why: str, by: str | None) -> dict[str, Any]:
        return {"by": by_whom(by), "why": one_line("why", why)}

    def _agree(self, kind: str, change: Callable[[Terms], Terms], *, why: str, by: str | None) -> None:
        said = self._said(why=why, by=by)

        def agreed(session: Session, last: Entry, terms: Terms, balance: Balance) -> Change:
            self._check_open(terms)
            return said | {"agreed": change(terms).to_dict()}, balance

        self._add(kind, agreed)

    # How it is kept

    def _add(
        self,
        kind: str,
        change: Callable[[Session, Entry, Terms, Balance], Change],
        *,
        token: str | None = None,
        accepting: bool = False,
    ) -> Entry:
        """Add an entry. token: of what is done once, whoever does it; otherwise of this attempt alone."""

        def changed(session: Session, last: Last | None) -> Change:
            if last is None:
                raise self._unknown()
            newest = last.entry
            terms, balance = self._state(session, last)
            if kind != "key":
                check_key(self._store, last, terms)
            content, after = change(session, newest, terms, balance)
            if "agreed" not in content:
                own = "agreed" in newest.content
                under = [newest.number, newest.sha256] if own else newest.content["under"]
                content = {**content, "under": under}
            return content, after

        mark, once = (token_hex(16), False) if token is None else (token, True)
        return add(self._store, self.name, kind, changed, token=mark, once=once, accepting=accepting)

    def _last(self, connection: Connection) -> Last:
        last = last_entry(connection, self.name)
        if last is None:
            raise self._unknown()
        return last

    def _unknown(self) -> VeilError:
        known = self._store.read(dataset_names)
        if self.name in known:
            return LedgerCorrupt(self.name, "entries of a dataset that is not listed")
        names = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        return InvalidArgument(
            "dataset",
            expected=f"one that was opened in {self._store.address}: {names or 'none yet'}",
            found=repr(self.name)[:60],
            hint="`veil ledger open` makes one.",
        )

    def _check_open(self, terms: Terms) -> None:
        if terms.closed:
            raise InvalidArgument(
                "dataset", expected="one that is open", found=f"{self.name}, which is closed"
            )

    def _look(self) -> tuple[Terms, Balance]:
        _ = self._store.name
        return self._store.read(lambda connection: self._state(connection, self._last(connection)))

    def _state(self, connection: Connection | Session, newest: Last) -> tuple[Terms, Balance]:
        """What holds after the newest entry."""
        last = newest.entry
        if (last.ledger, last.dataset) != (self._store.name, self.name):
            raise LedgerCorrupt(self.name, "an entry of another ledger or dataset")
        try:
            if "agreed" in last.content:
                terms = Terms.from_dict(last.content["agreed"])
            else:
                number, sha256 = last.content["under"]
                terms = self._agreed.get((number, sha256)) or self._read_terms(connection, number, sha256)
            if newest.balance is not None:
                return terms, newest.balance
            return terms, Balance.from_dict(last.content["totals"], moves=terms.moves, beside=newest.parts)
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
            raise LedgerCorrupt(f"{self.name}/{last.number}", "an entry without its totals") from None

    def _read_terms(self, connection: Connection | Session, number: int, sha256: str) -> Terms:
        entry = entry_at(connection, self.name, number)
        if entry.sha256 != sha256:
            raise LedgerCorrupt(f"{self.name}/{number}", "other terms than those that were agreed")
        terms = Terms.from_dict(entry.content["agreed"])
        self._agreed[number, sha256] = terms
        return terms
