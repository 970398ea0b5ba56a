"""Keyed entries: without the key nobody adds an entry that verifies."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.forging import Forgery
from tests.ledger.places import MOSTLY_IN_A_FILE, NEAR, NOISE, Elsewhere, Place, kinds, new_file, release
from tests.ledger.test_forged_histories import lawful_charge
from veil.errors import InvalidArgument, LedgerCorrupt, UnreadableFile
from veil.ledger.keys import SecretKey, key_from, keys_from, new_key

KEY, OTHER = SecretKey(bytes(range(32))), SecretKey(bytes(32))


def keyed(place: Place, key: Any = KEY) -> veil.Ledger:
    return veil.Ledger(place.url, key=key)


def filled(place: Place) -> veil.Ledger:
    ledger = keyed(place)
    dataset = ledger.open("trips", epsilon=1, adjacency=NEAR)
    release(dataset)
    dataset.raise_budget(epsilon=2, why="approved")
    release(dataset.batch([NOISE], adjacency=NEAR))
    return ledger


@MOSTLY_IN_A_FILE
def test_every_entry_is_keyed(place: Place) -> None:
    found = filled(place).verify()
    assert (found.keyed, found.authentic, found.findings) == ({"trips": 1}, True, ())
    # Without the key the history holds together, and that it was not authenticated is said.
    plain = place.ledger().verify()
    assert (plain.keyed, plain.authentic) == ({"trips": 1}, False)
    assert "no key was given" in plain.findings[0]
    codes = [code for (code,) in place.sql("SELECT mac FROM veil_ledger_entries ORDER BY number")]
    assert len(codes) == len(set(codes)) == 8
    assert all(len(code) == 64 for code in codes)


def test_who_has_no_key_adds_nothing(folder: Path) -> None:
    place = new_file(folder)
    filled(place)
    before = place.sql("SELECT count(*) FROM veil_ledger_entries")
    for ledger, found in ((place.ledger(), "found none"), (keyed(place, OTHER), f"the key {OTHER.id}")):
        for attempt in (
            lambda one=ledger: release(one.dataset("trips")),
            lambda one=ledger: one.dataset("trips").raise_budget(epsilon=5, why="more"),
            lambda one=ledger: one.dataset("trips").close(why="over"),
        ):
            with pytest.raises(InvalidArgument, match=found):
                attempt()
    assert place.sql("SELECT count(*) FROM veil_ledger_entries") == before


def test_a_forged_entry_is_refused(folder: Path, elsewhere: Elsewhere) -> None:
    """One that would be lawful in every other respect, without a code and with a wrong one."""
    place = new_file(folder)
    heads = filled(place).export(heads_only=True)
    lawful_charge(Forgery(place))
    elsewhere()
    with pytest.raises(LedgerCorrupt, match="without the code"):
        keyed(place).verify(heads)
    with pytest.raises(LedgerCorrupt, match="forged"):
        release(keyed(place).dataset("trips"))
    place.drop_watches()
    last = "number = (SELECT max(number) FROM veil_ledger_entries)"
    for code in ("0" * 64, "x", place.sql("SELECT mac FROM veil_ledger_entries WHERE number = 2")[0][0]):
        place.sql(f"UPDATE veil_ledger_entries SET mac = :code WHERE {last}", code=code)
        with pytest.raises(LedgerCorrupt, match="forged"):
            keyed(place).verify(heads)
        with pytest.raises(LedgerCorrupt, match="forged"):
            release(keyed(place).dataset("trips"))


def test_every_field_beside_the_body_is_authenticated(folder: Path, elsewhere: Elsewhere) -> None:
    place = new_file(folder)
    filled(place)
    place.drop_watches()
    place.sql("UPDATE veil_ledger_entries SET token = 'another' WHERE number = 2")
    elsewhere()
    with pytest.raises(LedgerCorrupt, match="forged"):
        keyed(place).verify()


def test_a_history_without_keys_in_its_place(folder: Path, elsewhere: Elsewhere) -> None:
    """Whoever replaces the whole ledger has no key: who verifies with one is told."""
    place = new_file(folder)
    release(place.ledger().open("trips", epsilon=1))
    elsewhere()
    with pytest.raises(LedgerCorrupt, match="no keyed entries, though a key was given"):
        keyed(place).verify()
    with pytest.raises(InvalidArgument, match="not keyed"):
        release(keyed(place).dataset("trips"))


@MOSTLY_IN_A_FILE
def test_older_datasets_are_keyed_from_now_on(place: Place) -> None:
    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)
    keyed(place).dataset("trips").use_key(why="keys for all", by="officer")
    release(keyed(place).dataset("trips"))
    assert keyed(place).verify().keyed == {"trips": 4}
    assert kinds(dataset)[3] == "key"
    # Another key takes over; who verifies needs both.
    both = keyed(place, [OTHER, KEY])
    both.dataset("trips").use_key(why="a new year")
    release(keyed(place, OTHER).dataset("trips"))
    assert both.verify().authentic
    for one in (KEY, OTHER):
        with pytest.raises(LedgerCorrupt, match="another key"):
            keyed(place, one).verify()
    with pytest.raises(InvalidArgument, match="another key than the present one"):
        both.dataset("trips").use_key(why="again")
    with pytest.raises(InvalidArgument, match="key"):
        place.ledger().dataset("trips").use_key(why="none")


def test_where_keys_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ledger.key"
    made = new_key(file)
    assert file.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("THE_KEY", file.read_text())
    for given in (f"file:{file}", file, "env:THE_KEY", made):
        assert key_from(given).id == made.id
        assert key_from(given).mac(b"x") == made.mac(b"x")
    assert [key.id for key in keys_from(f"file:{file},env:THE_KEY")] == [made.id] * 2
    secret = file.read_text().strip()
    assert secret not in repr(made)
    with pytest.raises(InvalidArgument, match="a new file"):
        new_key(file)
    file.chmod(0o640)
    with pytest.raises(UnreadableFile, match="chmod 600"):
        key_from(file)
    odd: list[Any] = [5, "x", "file", "vault:none", "env:NOT_THERE", secret, object(), SecretKey]
    for given in odd:
        with pytest.raises(InvalidArgument, match="key") as error:
            key_from(given)
        assert secret not in str(error.value)
    monkeypatch.setenv("THE_KEY", "abc")
    for broken in ("env:THE_KEY", tmp_path / "none"):
        with pytest.raises(UnreadableFile):
            key_from(broken)
    with pytest.raises(InvalidArgument, match="32 bytes"):
        SecretKey(b"short")


def test_a_key_service(folder: Path) -> None:
    """Any object with an id and a mac: the secret need not be in this process."""

    class Service:
        id = "vault/ledger-1"

        def mac(self, message: bytes) -> str:
            return SecretKey(b"in another process".ljust(32)).mac(message)

    place = new_file(folder)
    ledger = keyed(place, Service())
    release(ledger.open("trips", epsilon=1))
    assert ledger.verify().keyed == {"trips": 1}


def test_keys_travel_with_ledgers(folder: Path) -> None:
    ledger = keyed(new_file(folder))
    dataset = ledger.open("trips", epsilon=1)
    release(pickle.loads(pickle.dumps(dataset)))
    assert pickle.loads(pickle.dumps(ledger)).verify().authentic
