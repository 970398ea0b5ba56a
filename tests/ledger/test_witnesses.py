"""What others know of a ledger, after a restore that gave entries up: what was spent is not forgotten."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.forging import Forgery
from tests.ledger.places import NEAR, Elsewhere, Place, new_file, release
from veil.errors import InvalidArgument, InvalidData, LedgerCorrupt
from veil.ledger.anchors import heads_at
from veil.ledger.head import Head

NOTHING: dict[str, Any] = {"whole": {}, "parts": {}}


def path_of(place: Place) -> Path:
    return Path(place.url.removeprefix("sqlite:///"))


def cut(place: Place, folder: Path, elsewhere: Elsewhere, **more: Any) -> veil.Ledger:
    """A ledger of 7 entries that was set back to 3; the anchor in the folder knows of 6."""
    ledger = veil.Ledger(place.url, anchor=folder / "heads.jsonl")
    dataset = ledger.open("trips", epsilon=1, adjacency=NEAR, **more)
    release(dataset)
    ledger.backup(folder / "old.db")
    release(dataset if not more else dataset.part("north"))
    release(dataset)
    (folder / "export.json").write_text(json.dumps(ledger.export()))
    (folder / "export-heads.json").write_text(json.dumps(ledger.export(heads_only=True)))
    shutil.copyfile(folder / "old.db", path_of(place))
    elsewhere()
    # Another machine, and another process.
    return place.ledger()


def forged_restore(place: Place, lost: dict[str, Any], newest: int = 7) -> None:
    """As somebody would write it who wants the budget back."""
    forgery = Forgery(place)
    totals = forgery.entries()[-1].content["totals"]
    whole = {
        line: str(veil.ledger.amounts.Amount(amount) + lost["whole"].get(line, "0"))
        for line, amount in totals["whole"].items()
    }
    content = {"by": "officer", "why": "a disk", "from": 3, "seen": [newest, "0" * 64], "lost": lost}
    forgery.add("restore", content | {"totals": {**totals, "whole": whole}})


KNOWN: dict[str, Callable[[Path], Any]] = {
    "an anchor": lambda folder: heads_at(folder / "heads.jsonl"),
    "an export": lambda folder: json.loads((folder / "export.json").read_text()),
    "heads": lambda folder: json.loads((folder / "export-heads.json").read_text()),
}


@pytest.mark.parametrize("known", KNOWN)
def test_a_restore_that_gives_the_budget_back(folder: Path, known: str, elsewhere: Elsewhere) -> None:
    """It is a lawful step by itself: only who knows what had been spent can tell."""
    place = new_file(folder)
    cut(place, folder, elsewhere)
    forged_restore(place, NOTHING)
    place.ledger().verify()
    with pytest.raises(LedgerCorrupt, match="less spent in all than by this entry"):
        place.ledger().verify(KNOWN[known](folder))


@pytest.mark.parametrize(("lost", "enough"), [("0.19", False), ("0.2", True), ("0.3", True)])
def test_what_a_restore_must_charge(folder: Path, lost: str, enough: bool, elsewhere: Elsewhere) -> None:
    place = new_file(folder)
    cut(place, folder, elsewhere)
    forged_restore(place, {"whole": {"epsilon": lost, "delta": "0"}, "parts": {}})
    for known in KNOWN.values():
        if enough:
            assert place.ledger().verify(known(folder)).findings == ()
        else:
            with pytest.raises(LedgerCorrupt, match="less spent"):
                place.ledger().verify(known(folder))


def test_what_was_spent_on_a_part(folder: Path, elsewhere: Elsewhere) -> None:
    place = new_file(folder)
    cut(place, folder, elsewhere, parts=["north", "south"])
    forged_restore(place, {"whole": {"epsilon": "0.5", "delta": "0"}, "parts": {}})
    with pytest.raises(LedgerCorrupt, match="less spent"):
        place.ledger().verify(KNOWN["an anchor"](folder))


def test_heads_that_do_not_say_what_was_spent(folder: Path, elsewhere: Elsewhere) -> None:
    """As an older Veil exported them, or damaged ones: that is said."""
    place = new_file(folder)
    cut(place, folder, elsewhere)
    forged_restore(place, NOTHING)
    for totals in ({}, {"whole": "much", "parts": {}}, {"whole": {"epsilon": None}, "parts": {}}):
        heads = [Head(head.ledger, "trips", 7, "0" * 64, totals) for head in heads_at(folder / "heads.jsonl")]
        findings = place.ledger().verify(heads).findings
        assert ["the newest 7; what was spent by then is not known" in text for text in findings] == [True]


def test_of_two_heads_with_one_number_one_is_missing(folder: Path, elsewhere: Elsewhere) -> None:
    """Two ledgers grew from one, as with two primaries of a server: whichever is verified lacks the other."""
    place, other, anchor = new_file(folder), new_file(folder), folder / "heads.jsonl"
    dataset = veil.Ledger(place.url, anchor=anchor).open("trips", epsilon=1)
    place.ledger().backup(path_of(other))
    release(dataset)
    elsewhere()
    release(veil.Ledger(other.url, anchor=anchor).dataset("trips"))
    assert [head.number for head in heads_at(anchor)] == [1, 2, 2]
    for ledger in (place.ledger(), other.ledger()):
        elsewhere()
        for heads in (heads_at(anchor), heads_at(anchor)[::-1]):
            with pytest.raises(LedgerCorrupt, match=r"trips/2: .*another entry than the exported one"):
                ledger.verify(heads)


@pytest.mark.parametrize("known", KNOWN)
def test_what_others_have_seen_is_charged_again(folder: Path, known: str, elsewhere: Elsewhere) -> None:
    """On a machine that has seen nothing of it."""
    place = new_file(folder)
    ledger = cut(place, folder, elsewhere)
    dataset = ledger.dataset("trips")
    with pytest.raises(InvalidArgument, match="seen and that are gone"):
        dataset.accept_restore(why="a disk failed")
    dataset.accept_restore(why="a disk failed", by="officer", against=KNOWN[known](folder))
    assert dataset.spent.epsilon == 0.3
    release(dataset)
    assert dataset.spent.epsilon == 0.4
    elsewhere()
    assert place.ledger().verify(KNOWN[known](folder)).findings == ()
    with pytest.raises(InvalidArgument, match="seen and that are gone"):
        place.ledger().dataset("trips").accept_restore(why="again")


def test_the_machine_and_the_anchor_together(folder: Path, elsewhere: Elsewhere) -> None:
    """Each has seen what the other has not: the larger of both is charged, not the sum."""
    place, anchor = new_file(folder), folder / "heads.jsonl"
    ledger = veil.Ledger(place.url, anchor=anchor)
    ledger.open("trips", epsilon=1, adjacency=NEAR, parts=["north", "south"])
    ledger.backup(folder / "old.db")
    release(place.ledger().dataset("trips").part("south"))
    shutil.copyfile(path_of(place), folder / "seen.db")
    state = veil.core.state.state_place()
    elsewhere()
    shutil.copyfile(folder / "old.db", path_of(place))
    for part in ("north", "north"):
        release(veil.Ledger(place.url, anchor=anchor).dataset("trips").part(part))
    shutil.copyfile(folder / "old.db", path_of(place))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VEIL_STATE", str(state))
        dataset = place.ledger().dataset("trips")
        dataset.accept_restore(why="a disk failed", against=heads_at(anchor))
        assert dataset.part("north").spent.epsilon == 0.2
        assert dataset.part("south").spent.epsilon == 0.1
        assert place.ledger().verify(heads_at(anchor)).findings == ()


def test_an_anchor_with_a_hash_of_the_parts(folder: Path, elsewhere: Elsewhere) -> None:
    """A list that is long stands beside the entry, and in the marks of the machine that charged last."""
    place = new_file(folder)
    ledger = cut(place, folder, elsewhere)
    dataset = ledger.dataset("trips")
    head = heads_at(folder / "heads.jsonl")[-1]
    short = Head(head.ledger, head.dataset, head.number, head.sha256, {**head.totals, "parts": "0" * 64})
    with pytest.raises(InvalidData, match="trips/6 without it"):
        dataset.accept_restore(why="a disk failed", against=[short])
    assert dataset.spent.epsilon == 0.1
