"""Anchors: every charge is noted outside the ledger, before anything is drawn."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import (
    MOSTLY_IN_A_FILE,
    NEAR,
    NOISE,
    Elsewhere,
    Place,
    kinds,
    new_file,
    new_schema,
    release,
)
from tests.ledger.points import watching
from veil.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, PrivacyWarning, UnreadableFile
from veil.ledger.anchors import FileAnchor, anchor_from, heads_at


def numbers(place: Any) -> list[tuple[str, int]]:
    return [(head.dataset, head.number) for head in heads_at(place)]


def filled(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    dataset.raise_budget(epsilon=2, why="approved")
    release(dataset.batch([NOISE], adjacency=NEAR))
    dataset.close(why="over")


@MOSTLY_IN_A_FILE
def test_every_charge_and_change_is_noted(place: Place, folder: Path) -> None:
    """Confirmations are not: that one is lost costs nothing."""
    file = folder / "heads.jsonl"
    ledger = veil.Ledger(place.url, anchor=file)
    filled(ledger)
    expected = [entry.number for entry in ledger.dataset("trips").entries() if entry.kind != "confirm"]
    assert numbers(file) == [("trips", number) for number in expected]
    assert ledger.verify(heads_at(file)).datasets == ["trips"]
    assert file.stat().st_mode & 0o777 == 0o600
    # Hashes, totals, no more: nothing that is not in an export of heads but what was spent.
    assert set(json.loads(file.read_text().splitlines()[1])) == {
        "dataset",
        "ledger",
        "number",
        "sha256",
        "totals",
    }


def test_a_cut_end_shows(folder: Path, elsewhere: Elsewhere) -> None:
    place, file = new_file(folder), folder / "heads.jsonl"
    ledger = veil.Ledger(place.url, anchor=file)
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    ledger.backup(folder / "old.db")
    release(dataset)
    path = place.url.removeprefix("sqlite:///")
    shutil.copyfile(folder / "old.db", path)
    elsewhere()
    assert place.ledger().verify().datasets == ["trips"]
    with pytest.raises(LedgerCorrupt, match="3 entries, though 4 were exported"):
        place.ledger().verify(heads_at(file))
    # And still when others were added in the place of those.
    release(place.ledger().dataset("trips"))
    with pytest.raises(LedgerCorrupt, match="trips/4"):
        place.ledger().verify(heads_at(file))


def test_lines_are_on_the_disk_before_their_release_is_confirmed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, seen = folder / "heads.jsonl", list[str]()
    dataset = veil.Ledger(new_file(folder).url, anchor=file).open("trips", epsilon=1)
    plain = FileAnchor.settle

    def settled(anchor: FileAnchor) -> None:
        plain(anchor)
        seen.append("settled")

    monkeypatch.setattr(FileAnchor, "settle", settled)
    with watching(lambda point, _: seen.append(point)):
        release(dataset)
    assert seen.index("draw: made") < seen.index("settled") < seen.index("confirm: commit")
    # The line itself is there before anything is drawn.
    assert numbers(file)[-1] == ("trips", 2)


def test_a_disk_that_fails_is_said_before_the_confirmation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "heads.jsonl"
    dataset = veil.Ledger(new_file(folder).url, anchor=file).open("trips", epsilon=1)
    synced: list[int] = []

    def fails(number: int) -> None:
        synced.append(number)
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("veil.ledger.anchors.os.fsync", fails)
        entry = dataset.reserve(epsilon=0.1, description={"name": "one"})
        # A charge waits for the ledger's own write to the disk alone; the line is in the file all the same.
        assert not synced
        assert numbers(file)[-1] == ("trips", 2)
        with pytest.warns(PrivacyWarning, match="not anchored: .*Input/output error"):
            dataset.confirm(entry)
        # What is not settled is tried again, and a change that is no release is settled at once.
        with pytest.warns(PrivacyWarning, match="not anchored"):
            dataset.raise_budget(epsilon=2, why="approved")
    release(dataset)
    assert [number for _, number in numbers(file)] == [1, 2, 4, 5]


def test_a_second_database(folder: Path) -> None:
    place, other = new_file(folder), f"sqlite:///{folder}/anchors.db"
    ledger = veil.Ledger(place.url, anchor=other)
    filled(ledger)
    assert numbers(other) == [("trips", number) for number in (1, 2, 4, 5, 7, 9)]
    assert ledger.verify(heads_at(other)).datasets == ["trips"]


@pytest.mark.xdist_group("postgres")
def test_a_server_as_anchor(folder: Path, postgres: Any) -> None:
    other = new_schema(postgres)
    ledger = veil.Ledger(new_file(folder).url, anchor=other.url)
    filled(ledger)
    assert ledger.verify(heads_at(other.url)).datasets == ["trips"]


def test_a_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = veil.Ledger(new_file(folder).url, anchor="stderr")
    release(ledger.open("trips", epsilon=1))
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2]
    with pytest.raises(InvalidArgument, match="a file or a database"):
        heads_at("stderr")


def test_several_at_once(folder: Path) -> None:
    files = [folder / "one.jsonl", folder / "two.jsonl"]
    ledger = veil.Ledger(new_file(folder).url, anchor=files)
    filled(ledger)
    assert numbers(files[0]) == numbers(files[1]) != []


def test_nothing_is_charged_where_it_cannot_be_noted(folder: Path) -> None:
    place = new_file(folder)
    dataset = place.ledger().open("trips", epsilon=1)
    for anchor in (folder / "none" / "heads.jsonl", f"sqlite:///{folder}/none/anchors.db"):
        with pytest.raises(LedgerUnavailable, match="anchor"):
            release(veil.Ledger(place.url, anchor=anchor).dataset("trips"))
    assert kinds(dataset) == ["open"]


def test_an_anchor_that_fails_after_the_charge_does_not_lose_the_release(folder: Path) -> None:
    class Failing(FileAnchor):
        def note(self, head: Any) -> None:
            raise LedgerUnavailable("anchor: the disk is full.")

    place = new_file(folder)
    place.ledger().open("trips", epsilon=1)
    with pytest.warns(PrivacyWarning, match="trips/2 is in the ledger but not anchored"):
        out = release(veil.Ledger(place.url, anchor=Failing(folder / "x.jsonl")).dataset("trips"))
    assert str(out.entry) == "trips/2"


def test_a_line_that_was_cut_off_is_passed_over(folder: Path) -> None:
    place, file = new_file(folder), folder / "heads.jsonl"
    filled(veil.Ledger(place.url, anchor=file))
    whole = file.read_text()
    file.write_text(whole + whole[:40])
    assert len(heads_at(file)) == 6
    for odd in ("{}", "no head", '{"dataset": "trips", "dataset": "trips"}'):
        file.write_text(f"{whole}{odd}\n")
        with pytest.raises(UnreadableFile, match="line 7"):
            heads_at(file)


@pytest.mark.parametrize("length", [1, 40, -2, -1])
def test_what_follows_a_line_that_was_cut_off_is_kept(folder: Path, length: int) -> None:
    """The machine lost power in the midst of a line, and went on: later heads stand in lines of their own."""
    place, file = new_file(folder), folder / "heads.jsonl"
    ledger = veil.Ledger(place.url, anchor=file)
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0] + lines[1][:length])
    release(veil.Ledger(place.url, anchor=file).dataset("trips"))
    release(veil.Ledger(place.url, anchor=file).dataset("trips"))
    whole = [("trips", 2)] if length == -1 else []
    assert numbers(file) == [("trips", 1), *whole, ("trips", 4), ("trips", 6)]
    assert ledger.verify(heads_at(file)).datasets == ["trips"]


def test_a_name_twice_in_what_others_know(folder: Path) -> None:
    """Of two values of one name readers would take one or the other."""
    place, file = new_file(folder), folder / "heads.jsonl"
    filled(veil.Ledger(place.url, anchor=file))
    line = file.read_text().splitlines()[-1]
    file.write_text(line.replace('"number":', '"number":1,"number":', 1) + "\n")
    with pytest.raises(UnreadableFile, match="line 1"):
        heads_at(file)


def test_what_is_no_anchor(folder: Path) -> None:
    odd: list[Any] = [5, "heads.json", "", object(), "stdin", b"x"]
    for given in odd:
        with pytest.raises(InvalidArgument, match="anchor"):
            anchor_from(given)
    file, other = folder / "heads.jsonl", new_file(folder).ledger()
    filled(veil.Ledger(new_file(folder).url, anchor=file))
    other.open("trips", epsilon=1)
    with pytest.raises(LedgerCorrupt, match="another ledger than the anchored one"):
        other.verify(heads_at(file))
