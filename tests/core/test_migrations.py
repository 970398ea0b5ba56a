"""Files of older schemas, and the entry of the ledger that a file names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.core.files import brought_up
from veil.errors import UnreadableFile

# A file as schema 1 wrote it.
OLD: dict[str, Any] = {
    "format": "veil-release",
    "schema": 1,
    "veil": "0.1.0",
    "created": "2026-01-02T03:04:05+00:00",
    "mechanism": {"name": "DirichletCounts", "parameters": {"scale": 2.2, "prior": 100.0, "size": 3}},
    "domain": {"name": "Counts", "size": 3, "words": "counts of 3 categories"},
    "adjacency": {"name": "Records", "change": "add-remove", "words": "one record is added or removed"},
    "privacy": {"epsilon": 0.996, "delta": 1e-06, "kind": "exact"},
    "assumptions": [],
    "reproducible": False,
    "entry": None,
    "records": None,
    "value": {"type": "vector", "labels": ["a", "b", "c"], "data": [0.25, 0.25, 0.5]},
}


def _written(tmp_path: Path, content: dict[str, Any]) -> Path:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("entry", [None, 7, "entry-1"])
def test_files_of_schema_1_are_read(tmp_path: Path, entry: Any) -> None:
    out = veil.load(_written(tmp_path, OLD | {"entry": entry}))
    assert (out.entry, out.value.tolist(), out.epsilon) == (entry, [0.25, 0.25, 0.5], 0.996)
    out.save(tmp_path / "new.json")
    new = json.loads((tmp_path / "new.json").read_text())
    assert (new["schema"], new["kind"], new["entry"]) == (
        3,
        "vector",
        None if entry is None else {"id": entry},
    )
    again = veil.load(tmp_path / "new.json")
    assert again.entry == entry


@pytest.mark.parametrize("schema", [0, 4, -1, None, "2", True, 1.0])
def test_other_schemas_are_refused(tmp_path: Path, schema: Any) -> None:
    with pytest.raises(UnreadableFile, match="schema"):
        veil.load(_written(tmp_path, OLD | {"schema": schema}))


@pytest.mark.parametrize(
    "entry",
    [
        5,
        "x",
        [],
        {},
        {"id": []},
        {"id": True},
        {"id": "a\nb"},
        {"ledger": "l", "dataset": "d", "number": "1", "sha256": "s"},
        {"ledger": "l", "dataset": "d\x1b[2J", "number": 1, "sha256": "s"},
        {"ledger": "l", "dataset": "d", "number": 1},
    ],
)
def test_wrong_entries_are_refused(tmp_path: Path, entry: Any) -> None:
    with pytest.raises(UnreadableFile):
        veil.load(_written(tmp_path, OLD | {"schema": 2, "entry": entry}))


def test_steps_leave_the_content_alone_that_they_were_given() -> None:
    content = dict(OLD, entry=3)
    brought_up(content, 2)
    assert content["entry"] == 3


def test_the_entry_of_a_ledger_survives_a_file(tmp_path: Path) -> None:
    budget = veil.Ledger(tmp_path / "budget.db").open("grades", epsilon=1)
    out = veil.release(
        veil.vectors.GeometricCounts(10.0, 3), [1, 2, 3], adjacency=veil.vectors.Records(), ledger=budget
    )
    out.save(tmp_path / "out.json")
    again = veil.load(tmp_path / "out.json")
    assert again.entry == out.entry
    assert str(again.entry) == "grades/2"


def test_ids_of_other_ledgers_are_written_as_text(tmp_path: Path) -> None:
    from fractions import Fraction

    class Purse:
        def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
            return Fraction(1, 3)

        def confirm(self, entry: Any) -> None:
            assert entry == Fraction(1, 3)

    out = veil.release(
        veil.vectors.GeometricCounts(10.0, 3), [1, 2, 3], adjacency=veil.vectors.Records(), ledger=Purse()
    )
    out.save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json").entry == "1/3"


def test_a_confirmation_that_cannot_be_written_does_not_lose_the_release() -> None:
    class Away:
        def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
            return 1

        def confirm(self, entry: Any) -> None:
            raise veil.errors.LedgerUnavailable("away")

    noise = veil.vectors.GeometricCounts(10.0, 3)
    with pytest.warns(veil.errors.PrivacyWarning, match="charged and made"):
        out = veil.release(noise, [1, 2, 3], adjacency=veil.vectors.Records(), ledger=Away())
    assert out.entry == 1


def test_a_whole_ledger_is_not_an_account(tmp_path: Path) -> None:
    ledger: Any = veil.Ledger(tmp_path / "budget.db")
    with pytest.raises(veil.errors.InvalidArgument, match=r"ledger\.dataset\(name\)"):
        veil.release(
            veil.vectors.GeometricCounts(10.0, 3), [1, 2, 3], adjacency=veil.vectors.Records(), ledger=ledger
        )
