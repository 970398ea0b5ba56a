"""Where privacy that was spent is written down: budgets of datasets, in one file or on one server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any

from veil.core.account import EntryId
from veil.core.adjacency import Adjacency
from veil.core.checks import shown, truth
from veil.core.errors import InvalidArgument, LedgerCorrupt
from veil.core.writing import path_of
from veil.ledger.address import Address
from veil.ledger.anchors import Anchor, anchors_from
from veil.ledger.balance import Balance
from veil.ledger.chain import Last, dataset_names, entry_at, entry_with
from veil.ledger.dataset import Dataset
from veil.ledger.description import by_whom, one_line
from veil.ledger.entry import Entry
from veil.ledger.keys import Key, keys_from
from veil.ledger.names import check_name, check_new_name
from veil.ledger.session import Session
from veil.ledger.store import Store
from veil.ledger.terms import Terms
from veil.ledger.verification import Verification, export, verify
from veil.ledger.writing import Change, add


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

    def __init__(self, url: Any, *, key: Any = None, anchor: Any = None) -> None:
        """key: what entries are authenticated with: "file:PATH", "env:NAME", or an object with `id` and
            `mac`; in a list the first is that of new entries, all are used to verify.
        anchor: where every charge is noted as well: a file that ends in .jsonl, another database, "stdout" or
            "stderr", or a list of such.
        """
        address = url if isinstance(url, Address) else Address.of(url)
        self._store = Store(address, keys_from(key), anchors_from(anchor))

    def __repr__(self) -> str:
        return f"<Ledger {self._store.address}>"

    def __str__(self) -> str:
        return str(self._store.address)

    def __reduce__(self) -> tuple[Any, ...]:
        store = self._store
        return ledger_of, (store.address, store.keys, store.anchors)

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
        check_name(name)
        terms = Terms.of(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            accounting=accounting,
            orders=orders,
            parts=parts,
            moves=moves,
        )
        if self._store.key is not None:
            terms = replace(terms, key=self._store.key.id)
        said = {"by": by_whom(by), "why": None if why is None else one_line("why", why)}
        self._store.create()

        def opened(session: Session, last: Last | None) -> Change:
            taken = dataset_names(session)
            if last is not None or name in taken:
                expected, found = "a name that is not taken", f"{name!r}, which was opened before"
                hint = "It can be used as it is, or be given more (raise); a closed one stays closed."
                raise InvalidArgument("name", expected=expected, found=found, hint=hint)
            check_new_name(name, taken)
            return said | {"agreed": terms.to_dict()}, Balance(moves=moves)

        add(self._store, name, "open", opened, token=token_hex(16))
        return Dataset(self._store, name)

    def dataset(self, name: str) -> Dataset:
        """The budget of a dataset that was opened before."""
        check_name(name)
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

    def result(self, charged: EntryId) -> str | None:
        """The digest of what was released under an entry; None if none was confirmed with it."""
        token = f"confirm {self.entry(charged).number}"
        noted = self._store.read(lambda connection: entry_with(connection, charged.dataset, token))
        return None if noted is None else noted.content.get("result")

    def verify(self, against: Any = None) -> Verification:
        """Replay all entries and check that each is a lawful step; what was checked, and what is odd.

        against: what `export` gave earlier, or heads that an anchor noted. Without it, and without a mark of
        this machine, entries cut off at the end do not show. Raises LedgerCorrupt at the first fault.
        """
        return verify(self._store, against)

    def backup(self, path: Any) -> None:
        """Copy a ledger that is a file to a new file, while it is in use."""
        self._store.backup(path_of(path))

    def grant(self, role: str, purpose: str) -> list[str]:
        """Let a role of the server do what its purpose needs: "auditor", "releaser" or "steward".

        An auditor reads. A releaser can also charge and confirm, by functions that accept nothing beyond the
        budget. A steward can also open, raise, close and key. Returns the statements that were run.
        """
        return self._store.grant(role, purpose)

    def export(self, *, heads_only: bool = False) -> dict[str, Any]:
        """All entries, or only the newest hash and the number of entries of each dataset.

        Keep it where those who can write to the ledger cannot: with it a later `verify` shows a cut end.
        """
        return export(self._store, heads_only=truth("heads_only", heads_only))


def ledger_of(address: Address, keys: Sequence[Key], anchors: Sequence[Anchor]) -> Ledger:
    """A ledger by where it is kept."""
    return Ledger(address, key=keys or None, anchor=anchors or None)


def dataset_of(
    address: Address,
    keys: Sequence[Key],
    anchors: Sequence[Anchor],
    name: str,
    part: str | None,
    by: str | None = None,
    why: str | None = None,
    plan: str | None = None,
) -> Dataset:
    """A dataset by where it is kept, and what is noted of releases from it."""
    return Dataset(Store(address, keys, anchors), name, part, by=by, why=why, plan=plan)
