"""Whatever is asked of a ledger, in whatever file: an answer or a VeilError, and the books hold together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.ledger.places import Place
from veil.errors import VeilError
from veil.ledger.entry import digest
from veil.ledger.verification import Verification

from .books import ACTS, NEAR, Books, clear, folder, good_exports, good_file, read_books
from .byte_changes import changed
from .calls import spoiled
from .guard import guarded
from .json_values import changed_records
from .profiles import tries


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with folder() as made:
        yield made / "budget.db"


def _refused_well(error: VeilError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 1000


@pytest.mark.parametrize("act", ACTS)
def test_good_arguments_are_taken(act: str, place: Path) -> None:
    with Books(place) as books:
        entry = ACTS[act](books)
        assert guarded(lambda: entry.call(**entry.good())).error is None


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("act", ACTS)
@tries(30, data=st.data())
def test_what_is_refused_leaves_no_trace(act: str, place: Path, data: st.DataObject) -> None:
    with Books(place) as books:
        entry = ACTS[act](books)
        before = books.state()
        arguments = data.draw(spoiled(entry))
        outcome = guarded(lambda: entry.call(**arguments))
        after = books.state()
        if outcome.error is not None:
            _refused_well(outcome.error)
            assert after == before
        for name, chain in before.items():
            assert after[name][: len(chain)] == chain


@pytest.mark.slow
@tries(60, content=changed(lambda: [good_file()]))
def test_a_file_with_broken_bytes(place: Path, content: bytes) -> None:
    clear(place)
    place.write_bytes(content)
    outcome = guarded(lambda: read_books(str(place)))
    if outcome.error is not None:
        _refused_well(outcome.error)
    else:
        assert isinstance(outcome.result, Verification)


@cache
def _bodies() -> list[Any]:
    with folder() as made, Books(made / "budget.db") as books:
        return [json.loads(body) for chain in books.state().values() for body in chain]


@pytest.mark.slow
@tries(80, text=changed_records(_bodies), column=st.sampled_from(("body", "last", "both")))
def test_a_file_with_changed_entries(place: Path, text: str, column: str) -> None:
    # Past the triggers, as one who has the file can: the newest entry of a dataset, or any.
    with Books(place) as books:
        chain = books.state()["trips"]
        behind = Place(f"sqlite:///{place}", "sqlite")
        behind.drop_watches()
        written = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        if column != "last":
            behind.sql(
                "UPDATE veil_ledger_entries SET body = :body WHERE dataset = 'trips' AND number = 4",
                body=written,
            )
        if column != "body":
            behind.sql("UPDATE veil_ledger_datasets SET last = :body WHERE name = 'trips'", body=written)
        same = (column == "last" or written == chain[3]) and (column == "body" or written == chain[-1])
        assert (guarded(books.ledger.verify).error is None) is same
        for act in (books.ledger.datasets, books.ledger.export):
            guarded(act)
        read = guarded(lambda: books.trips)
        if read.error is not None:
            _refused_well(read.error)
        else:
            guarded(lambda: (read.result.spent, read.result.remaining, read.result.used))
            guarded(read.result.entries)
            guarded(lambda: read.result.reserve(epsilon=0.1, description={"name": "mine"}))
            guarded(lambda: read.result.batch([], adjacency=NEAR))
            guarded(lambda: read.result.close(why="over"))


@pytest.mark.slow
@tries(80, text=changed_records(lambda: [json.loads(content) for content in good_exports()]))
def test_a_changed_export(place: Path, text: str) -> None:
    with Books(place) as books:
        try:
            against = json.loads(text)
        except (ValueError, RecursionError):
            return
        outcome = guarded(lambda: books.ledger.verify(against))
        if outcome.error is not None:
            _refused_well(outcome.error)
            return
        # Only what is true of the books is let pass; None says nothing of them.
        chains = books.state()
        for name, head in (against or {"datasets": {}})["datasets"].items():
            assert digest(chains[name][head["entries"] - 1]) == head["head"]
