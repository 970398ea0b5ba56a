"""Where privacy that was spent is written down: budgets of datasets, in one file or on one server."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection

from veil.core.account import EntryId
from veil.core.adjacency import Adjacency
from veil.core.checks import shown, truth
from veil.core.errors import InvalidArgument, LedgerCorrupt
from veil.ledger.address import Address
from veil.ledger.balance import Balance
from veil.ledger.chain import append, dataset_names, entry_at, entry_with, last_entry
from veil.ledger.dataset import Dataset
from veil.ledger.description import by_whom, one_line
from veil.ledger.entry import Entry
from veil.ledger.store import Store
from veil.ledger.terms import Terms
from veil.ledger.verification import export, verify


class Ledger:
    """The budgets of datasets. "sqlite:///budget.db" is a file, "postgresql://..." a server that many share.

    A dataset is opened with a budget; releases are charged to it before they are drawn. What is written is
    never changed, and bound together by hashes: `verify` shows whether somebody changed it all the same.

    >>> import tempfile
    >>> ledger = Ledger("sqlite:///" + tempfile.mkdtemp() + "/budget.db")
    >>> grades = ledger.open("grades", epsilon=1, delta=1e-6)
    >>> grades.remaining.epsilon, ledger.datasets()
    (Amount('1'), ['grades'])
    """

    def __init__(self, url: Any) -> None:
        self._store = Store(url if isinstance(url, Address) else Address.of(url))

    def __repr__(self) -> str:
        return f"<Ledger {self._store.address}>"

    def __str__(self) -> str:
        return str(self._store.address)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._store.address,)

    def open(
        self,
        name: str,
        *,
        epsilon: Any,
        delta: Any = 0.0,
        adjacency: Adjacency | None = None,
        accounting: str = "basic",
        orders: Sequence[float] | None = None,
        parts: Sequence[str] | None = None,
        moves: bool = False,
        why: str | None = None,
        by: str | None = None,
    ) -> Dataset:
        """Open a dataset with a budget. The ledger is made if there is none yet.

        epsilon, delta: what all releases together may cost; a text such as "0.1" or a decimal is exact.
        adjacency: what every release must hide; None leaves it to each, and the total then holds for those
            who are neighbours under all of them.
        accounting: "basic" adds epsilons and deltas; "zcdp" and "renyi" are filters that allow more releases
            within the same (epsilon, delta), of mechanisms for which such bounds are known.
        parts: the names of a public partition of the data that a neighbour cannot change: releases from
            different parts do not add up. moves: a neighbour may have one record in another part; releases
            from a part then count for two records.
        """
        _check_name(name)
        terms = Terms.of(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            accounting=accounting,
            orders=orders,
            parts=parts,
            moves=moves,
        )
        said = {"by": by_whom(by), "why": None if why is None else one_line("why", why)}
        self._store.create()
        ledger, token = self._store.name, token_hex(16)

        def work(connection: Connection, again: bool) -> None:
            if again and entry_with(connection, name, token) is not None:
                return
            if last_entry(connection, name, lock=True) is not None:
                expected, found = "a name that is not taken", f"{name!r}, which was opened before"
                hint = "It can be used as it is, or be given more (raise); a closed one stays closed."
                raise InvalidArgument("name", expected=expected, found=found, hint=hint)
            content = said | {"agreed": terms.to_dict(), "totals": Balance(moves=moves).to_dict()}
            append(connection, None, ledger=ledger, dataset=name, kind="open", content=content, token=token)

        self._store.write(work)
        return Dataset(self._store, name)

    def dataset(self, name: str) -> Dataset:
        """The budget of a dataset that was opened before."""
        _check_name(name)
        dataset = Dataset(self._store, name)
        _ = dataset.terms
        return dataset

    def datasets(self) -> list[str]:
        """The names of all datasets."""
        _ = self._store.name
        return self._store.read(dataset_names)

    def entry(self, wanted: EntryId) -> Entry:
        """The entry that a release was charged to."""
        if not isinstance(wanted, EntryId):
            raise InvalidArgument("wanted", expected="the entry of a release", found=shown(wanted))
        if wanted.ledger != self._store.name:
            raise LedgerCorrupt(str(wanted), "an entry of another ledger")
        entry = self._store.read(lambda connection: entry_at(connection, wanted.dataset, wanted.number))
        if entry.sha256 != wanted.sha256:
            raise LedgerCorrupt(str(wanted), "another entry than the one that was charged")
        return entry

    def verify(self, against: Any = None) -> list[str]:
        """Check that all entries are consistent; the names of the datasets that were checked.

        against: what `export` gave earlier. Without it, entries cut off at the end do not show. Raises
        LedgerCorrupt at the first thing that is wrong.
        """
        return verify(self._store, against)

    def export(self, *, heads_only: bool = False) -> dict[str, Any]:
        """All entries, or only the newest hash and the number of entries of each dataset.

        Keep it where those who can write to the ledger cannot: with it a later `verify` shows a cut end.
        """
        return export(self._store, heads_only=truth("heads_only", heads_only))


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or len(name) > 200:
        raise InvalidArgument("name", expected="one line of at most 200 characters", found=shown(name))
    # Two names that look alike would be two budgets for the same data.
    if name != unicodedata.normalize("NFC", name.strip()):
        expected = "a name without spaces around it, in composed letters (NFC)"
        raise InvalidArgument("name", expected=expected, found=ascii(name)[:60])


def dataset_of(address: Address, name: str, part: str | None) -> Dataset:
    """A dataset by where it is kept."""
    return Dataset(Store(address), name, part)
