"""Entries are only ever added: the database refuses anything else, and what is forced shows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

import veil
from tests.ledger.places import NEAR, NOISE, Elsewhere, Place, new_file, new_schema, release
from tests.tables.servers import Server
from veil.errors import InvalidArgument, InvalidData, LedgerCorrupt, VeilError
from veil.ledger.amounts import Amount
from veil.ledger.entry import NOTHING, Entry, digest

COLUMNS = "(dataset, number, sha256, token, body)"
ALL = "SELECT body FROM veil_ledger_entries WHERE dataset = 'trips' ORDER BY number"


def filled(place: Place) -> veil.Ledger:
    """A ledger with everything in it: charges, a raise, a batch and its uses; 12 entries of "trips"."""
    ledger = place.ledger()
    trips = ledger.open("trips", epsilon=1, by="officer")
    release(trips)
    trips.raise_budget(epsilon=2, why="approved", by="officer")
    batch = trips.batch([NOISE, NOISE], adjacency=NEAR)
    release(batch)
    release(batch)
    release(trips)
    release(ledger.open("grades", epsilon=1))
    assert ledger.verify().datasets == ["grades", "trips"]
    return ledger


REFUSED = {
    "an amount": "UPDATE veil_ledger_entries SET body = replace(body, '0.1', '0.0') WHERE number = 2",
    "a token": "UPDATE veil_ledger_entries SET token = 'x' WHERE number = 2",
    "one entry": "DELETE FROM veil_ledger_entries WHERE number = 12",
    "everything": "DELETE FROM veil_ledger_entries",
    "in its place": f"INSERT OR REPLACE INTO veil_ledger_entries {COLUMNS} SELECT dataset, number, sha256, "
    "token, replace(body, '0.1', '0.0') FROM veil_ledger_entries WHERE number = 2",
    "a second time": f"INSERT INTO veil_ledger_entries {COLUMNS} SELECT dataset, 99, sha256, token, body "
    "FROM veil_ledger_entries WHERE number = 2",
    "at once": "TRUNCATE veil_ledger_entries",
    "at once, all": "TRUNCATE veil_ledger_entries, veil_ledger_datasets CASCADE",
    "on conflict": f"INSERT INTO veil_ledger_entries {COLUMNS} SELECT dataset, number, sha256, token, body "
    "FROM veil_ledger_entries WHERE number = 2 ON CONFLICT (dataset, number) DO UPDATE SET body = 'x'",
}
ONLY_SQLITE, ONLY_POSTGRES = {"in its place"}, {"at once", "at once, all", "on conflict"}


def test_the_database_itself_refuses(place: Place) -> None:
    ledger = filled(place)
    before = place.sql("SELECT * FROM veil_ledger_entries ORDER BY dataset, number")
    for name, statement in REFUSED.items():
        if name in (ONLY_POSTGRES if place.kind == "sqlite" else ONLY_SQLITE):
            continue
        with pytest.raises(DBAPIError):
            place.sql(statement)
        after = place.sql("SELECT * FROM veil_ledger_entries ORDER BY dataset, number")
        assert after == before, name
    assert ledger.verify().datasets == ["grades", "trips"]


@dataclass
class Forger:
    """Somebody with all rights to the database, no knowledge of any secret: there is none."""

    place: Place

    def entries(self) -> list[Entry]:
        return [Entry.parse(body, "test") for (body,) in self.place.sql(ALL)]

    def write(self, entries: list[Entry], *, last: bool = True, tokens: dict[int, str] | None = None) -> None:
        """Put these in the place of all entries of the dataset, as they are."""
        known = dict(self.place.sql("SELECT number, token FROM veil_ledger_entries WHERE dataset = 'trips'"))
        rows = []
        for place, entry in enumerate(entries):
            token = (tokens or {}).get(place, known.get(entry.number, f"forged {place}"))
            rows.append({"number": entry.number, "sha": entry.sha256, "token": token, "body": entry.body})
        self.place.sql("DELETE FROM veil_ledger_entries WHERE dataset = 'trips'")
        values = "VALUES ('trips', :number, :sha, :token, :body)"
        self.place.sql(f"INSERT INTO veil_ledger_entries {COLUMNS} {values}", rows)
        if last:
            self.set_row(entries[-1].body)

    def set_row(self, body: str) -> None:
        self.place.sql("UPDATE veil_ledger_datasets SET last = :body WHERE name = 'trips'", body=body)

    def chained(self, entries: list[Entry]) -> list[Entry]:
        """Numbered and linked anew, with terms and totals that fit: as Veil itself would have done it."""
        made: list[Entry] = []
        under: Any = None
        total = Amount(0)
        for number, entry in enumerate(entries, start=1):
            content = dict(entry.content)
            if entry.kind == "reserve":
                total = total + Amount(content["cost"]["epsilon"])
            if content["totals"]["whole"] or entry.kind == "reserve":
                content["totals"] = {"whole": {"epsilon": str(total), "delta": "0"}, "parts": {}}
            if "under" in content:
                content["under"] = under
            previous = made[-1].sha256 if made else NOTHING
            made.append(replace(entry, number=number, previous=previous, content=content))
            if "agreed" in content:
                under = [number, made[-1].sha256]
        return made


def _costing(entry: Entry, amount: str) -> Entry:
    return replace(entry, content={**entry.content, "cost": {"epsilon": amount, "delta": "0"}})


def _amount(f: Forger) -> None:
    entries = f.entries()
    entries[1] = _costing(entries[1], "0.01")
    f.write(entries)


def _raw_text(f: Forger) -> None:
    f.place.sql("UPDATE veil_ledger_entries SET body = replace(body, 'officer', 'offiser') WHERE number = 1")


def _time_with_its_hash(f: Forger) -> None:
    """Of what is not counted: only the link of the next entry says that it was another."""
    entries = f.entries()
    entries[1] = replace(entries[1], time=entries[0].time)
    f.write(entries)


def _hash_alone(f: Forger) -> None:
    f.place.sql(f"UPDATE veil_ledger_entries SET sha256 = '{'0' * 64}' WHERE number = 2")


def _order(f: Forger) -> None:
    entries = f.entries()
    entries[1], entries[6] = replace(entries[6], number=2), replace(entries[1], number=7)
    f.write(entries)


def _swapped_bodies(f: Forger) -> None:
    entries = f.entries()
    for number, other in ((3, entries[7]), (8, entries[2])):
        f.place.sql(
            "UPDATE veil_ledger_entries SET body = :body, sha256 = :sha "
            "WHERE number = :n AND dataset = 'trips'",
            body=other.body,
            sha=other.sha256,
            n=number,
        )


def _middle(f: Forger) -> None:
    f.place.sql("DELETE FROM veil_ledger_entries WHERE number = 5 AND dataset = 'trips'")


def _middle_renumbered(f: Forger) -> None:
    entries = f.entries()
    del entries[4]
    f.write([replace(entry, number=i) for i, entry in enumerate(entries, start=1)])


def _end_alone(f: Forger) -> None:
    f.place.sql("DELETE FROM veil_ledger_entries WHERE number >= 10 AND dataset = 'trips'")


def _end(f: Forger) -> None:
    f.write(f.entries()[:9])


def _inserted(f: Forger) -> None:
    entries = f.entries()
    entries.insert(6, replace(entries[5], number=7))
    f.write([replace(entry, number=i) for i, entry in enumerate(entries, start=1)])


def _added_beyond(f: Forger) -> None:
    entries = f.entries()
    extra = replace(entries[-1], number=len(entries) + 1, previous=entries[-1].sha256)
    f.write([*entries, extra], last=False)


def _row_text(f: Forger) -> None:
    f.set_row(f.entries()[-1].body.replace("officer", "offiser").replace('"0.4"', '"0.1"'))


def _row_back(f: Forger) -> None:
    f.set_row(f.entries()[1].body)


def _row_of_another(f: Forger) -> None:
    body = f.place.sql("SELECT last FROM veil_ledger_datasets WHERE name = 'grades'")[0][0]
    f.set_row(body)


def _row_gone(f: Forger) -> None:
    f.place.sql("DELETE FROM veil_ledger_datasets WHERE name = 'trips'")


def _entries_gone(f: Forger) -> None:
    f.place.sql("DELETE FROM veil_ledger_entries WHERE dataset = 'trips'")


def _dataset_gone(f: Forger) -> None:
    _row_gone(f)
    _entries_gone(f)


def _dataset_reset(f: Forger) -> None:
    _dataset_gone(f)
    f.place.ledger().open("trips", epsilon=2)


def _renamed(f: Forger) -> None:
    f.place.sql("UPDATE veil_ledger SET value = 'another' WHERE key = 'name'")


def _replaced(f: Forger) -> None:
    f.place.sql("DELETE FROM veil_ledger_entries")
    f.place.sql("DELETE FROM veil_ledger_datasets")
    _renamed(f)
    release(f.place.ledger().open("trips", epsilon=2))


def _refund(f: Forger) -> None:
    """The whole chain written anew around a smaller charge: everything holds together."""
    entries = f.entries()
    entries[1] = _costing(entries[1], "0.01")
    f.write(f.chained(entries))


def _negative(f: Forger) -> None:
    entries = f.entries()
    entries[1] = _costing(entries[1], "-5")
    f.write(f.chained(entries))


def _overspent(f: Forger) -> None:
    entries = f.entries()
    entries[1] = _costing(entries[1], "1.5")
    f.write(f.chained(entries))


def _totals(f: Forger) -> None:
    """A charge that is not added to the totals, with hashes that fit."""
    entries = f.entries()
    made = f.chained(entries)
    forged = replace(made[-1], content={**made[-1].content, "totals": made[0].content["totals"]})
    f.write([*made[:-1], forged])


def _used_twice(f: Forger) -> None:
    """One more use of a place of the batch, with all links right."""
    drop = "DROP INDEX veil_ledger_tokens"
    f.place.sql(drop)
    entries = f.entries()
    uses = [place for place, entry in enumerate(entries) if entry.kind == "use"]
    made = f.chained([*entries, entries[uses[0]]])
    token = f"use {entries[uses[0]].content['entry']} {entries[uses[0]].content['slot']}"
    f.write(made, tokens={len(made) - 1: token})


def _after_closing(f: Forger) -> None:
    entries = f.entries()
    agreed = {**entries[3].content["agreed"], "closed": True}
    entries[3] = replace(entries[3], kind="close", content={**entries[3].content, "agreed": agreed})
    f.write(f.chained(entries))


# What was done, and whether `verify` sees it by itself; the others show only against an export.
def _row_before(f: Forger) -> None:
    """Which no reader of entries from 1 on would see."""
    f.place.sql(
        f"INSERT INTO veil_ledger_entries {COLUMNS} SELECT dataset, 0, sha256, 'confirm 99', body "
        "FROM veil_ledger_entries WHERE dataset = 'trips' AND number = 2"
    )


def _row_moved(f: Forger) -> None:
    f.place.sql("UPDATE veil_ledger_entries SET number = 13 WHERE dataset = 'trips' AND number = 12")


EDITS: dict[str, tuple[Callable[[Forger], None], bool]] = {
    "a changed amount": (_amount, True),
    "a changed name in a text": (_raw_text, True),
    "another time, with its hash": (_time_with_its_hash, True),
    "a changed hash": (_hash_alone, True),
    "a swapped order": (_order, True),
    "swapped texts and hashes": (_swapped_bodies, True),
    "a removed middle": (_middle, True),
    "a removed middle, renumbered": (_middle_renumbered, True),
    "a removed end": (_end_alone, True),
    "a removed end, and the dataset's row set back": (_end, False),
    "an inserted entry": (_inserted, True),
    "an entry beyond the end": (_added_beyond, True),
    "a changed row of the dataset": (_row_text, True),
    "the dataset's row set back": (_row_back, True),
    "the row of another dataset": (_row_of_another, True),
    "the dataset's row removed": (_row_gone, True),
    "all entries removed, the row left": (_entries_gone, True),
    "a dataset removed without trace": (_dataset_gone, False),
    "a dataset removed and opened anew": (_dataset_reset, False),
    "another name of the ledger": (_renamed, True),
    "a ledger replaced by another": (_replaced, False),
    "a smaller charge, all hashes anew": (_refund, True),
    "a charge below nothing, all hashes anew": (_negative, True),
    "a charge beyond the budget, all hashes anew": (_overspent, True),
    "totals without a charge, all hashes anew": (_totals, True),
    "a place of a batch used twice, all hashes anew": (_used_twice, True),
    "charges after closing, all hashes anew": (_after_closing, True),
    "a row before the first": (_row_before, True),
    "the newest at another number": (_row_moved, True),
}


def check(place: Place, ledger: veil.Ledger, name: str, elsewhere: Elsewhere) -> None:
    """Do it to a ledger that is filled, and see whether it shows on a machine that has never seen it."""
    edit, shows = EDITS[name]
    for kept in (ledger.export(), ledger.export(heads_only=True)):
        # What was exported is data that survives a file.
        assert ledger.verify(against=json.loads(json.dumps(kept))).datasets == ["grades", "trips"]
    place.drop_watches()
    elsewhere()
    edit(Forger(place))
    elsewhere()
    fresh = place.ledger()
    if shows:
        with pytest.raises(LedgerCorrupt):
            fresh.verify()
    else:
        fresh.verify()
    with pytest.raises(LedgerCorrupt):
        fresh.verify(against=kept)


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled once, to be copied."""
    place = new_file(tmp_path_factory.mktemp("filled"))
    filled(place)._store.close()
    return Path(place.url.removeprefix("sqlite:///"))


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", EDITS)
def test_every_edit_shows(folder: Path, filled_file: Path, name: str, elsewhere: Elsewhere) -> None:
    place = new_file(folder)
    shutil.copyfile(filled_file, place.url.removeprefix("sqlite:///"))
    check(place, place.ledger(), name, elsewhere)


@pytest.mark.parametrize("name", [name for name, (_, shows) in EDITS.items() if not shows])
def test_what_hashes_do_not_show_this_machine_remembers(folder: Path, filled_file: Path, name: str) -> None:
    """Except another ledger, and a dataset that is gone without a trace, to which nothing is charged."""
    place = new_file(folder)
    shutil.copyfile(filled_file, place.url.removeprefix("sqlite:///"))
    place.drop_watches()
    if name == "a dataset removed and opened anew":
        with pytest.raises(LedgerCorrupt, match="0 entries, though this machine has seen 12"):
            EDITS[name][0](Forger(place))
        return
    EDITS[name][0](Forger(place))
    if name in ("a ledger replaced by another", "a dataset removed without trace"):
        assert place.ledger().datasets() == [["grades"], ["trips"]][name.startswith("a ledger")]
        return
    with pytest.raises(LedgerCorrupt, match="this machine has seen 12"):
        place.ledger().verify()
    with pytest.raises(LedgerCorrupt, match="this machine has seen 12"):
        release(place.ledger().dataset("trips"))


# Rows are rows: of each kind one, on a server. The others are in the slow tests.
ON_A_SERVER = [
    "a changed amount",
    "a removed end, and the dataset's row set back",
    "the dataset's row set back",
]


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("name", ON_A_SERVER)
def test_edits_on_a_server(postgres: Server, name: str, elsewhere: Elsewhere) -> None:
    place = new_schema(postgres)
    check(place, filled(place), name, elsewhere)


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("name", [name for name in EDITS if name not in ON_A_SERVER])
def test_every_other_edit_on_a_server(postgres: Server, name: str, elsewhere: Elsewhere) -> None:
    place = new_schema(postgres)
    check(place, filled(place), name, elsewhere)


@pytest.mark.parametrize("name", ["the dataset's row set back", "the dataset's row removed", "a removed end"])
def test_nothing_is_charged_to_what_does_not_fit(place: Place, name: str) -> None:
    """Where the next entry cannot follow, a clear error; a dataset does not begin anew."""
    ledger = filled(place)
    place.drop_watches()
    EDITS[name][0](Forger(place))
    before = place.sql("SELECT count(*) FROM veil_ledger_entries")
    if name != "a removed end":
        with pytest.raises(VeilError):
            release(place.ledger().dataset("trips"))
        with pytest.raises((LedgerCorrupt, InvalidArgument)):
            place.ledger().open("trips", epsilon=5)
        assert place.sql("SELECT count(*) FROM veil_ledger_entries") == before
    with pytest.raises(LedgerCorrupt):
        ledger.verify()


def test_later_entries_are_fine(place: Place) -> None:
    """An export stays good while the ledger grows, and new datasets come."""
    ledger = filled(place)
    kept = ledger.export()
    release(ledger.dataset("trips"))
    ledger.open("later", epsilon=1)
    assert ledger.verify(against=kept).datasets == ["grades", "later", "trips"]


def test_an_export_says_what_happened(folder: Any) -> None:
    ledger = filled(new_file(folder))
    whole = ledger.export()
    trips = whole["datasets"]["trips"]
    assert trips["entries"] == len(trips["chain"]) == 12
    assert digest(trips["chain"][-1]) == trips["head"]
    # Anybody can follow the links without Veil.
    bodies = [json.loads(body) for body in trips["chain"]]
    for one, other, body in zip(bodies, bodies[1:], trips["chain"], strict=False):
        assert other["previous"] == digest(body)
        assert other["number"] == one["number"] + 1
    assert "chain" not in ledger.export(heads_only=True)["datasets"]["trips"]


def test_what_is_no_export(folder: Any) -> None:
    ledger = filled(new_file(folder))
    odd: list[Any] = [
        {},
        [None],
        "head",
        5,
        {"format": "veil-ledger"},
        {"format": "x", "datasets": {}},
        {**ledger.export(), "datasets": {"trips": {}}},
        {**ledger.export(), "datasets": {"trips": None}},
        {**ledger.export(), "datasets": {"trips": {"entries": "x", "head": "y"}}},
    ]
    for against in odd:
        with pytest.raises(InvalidData, match="against"):
            ledger.verify(against=against)


def test_a_ledger_that_lost_a_table_or_a_dataset_is_damaged_not_absent(folder: Any) -> None:
    place = new_file(folder)
    ledger = filled(place)
    place.drop_watches()
    place.sql("DELETE FROM veil_ledger_datasets WHERE name = 'trips'")
    with pytest.raises(LedgerCorrupt, match="not listed"):
        ledger.dataset("trips")
    place.sql("DROP TABLE veil_ledger_entries")
    with pytest.raises(LedgerCorrupt, match="no table"):
        place.ledger().verify()
