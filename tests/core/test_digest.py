"""The digest of a result: the same after saving and loading, another for another result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import veil
from tests.contracts.labelled import LEGITIMATE, MAKERS, Bound, made
from veil import words
from veil.core.digest import result_digest
from veil.core.files import parse_release, to_json

_SAMPLES = Path(__file__).parent.parent / "data" / "v0_1"
OLD = [path for path in sorted(_SAMPLES.rglob("*.json")) if "veil-release" in path.read_text()]


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_confirmed_is_what_a_file_gives(kind: str, tmp_path: Path) -> None:
    account, path = Bound(), tmp_path / "out.json"
    out = made(kind, LEGITIMATE[:6], account)
    out.save(path)
    assert account.results == [result_digest(out)]
    assert result_digest(veil.load(path)) == result_digest(out)
    # However the file is laid out.
    text = json.dumps(json.loads(path.read_text(encoding="utf-8")), sort_keys=True)
    assert result_digest(parse_release(text, "other")) == result_digest(out)
    others = {result_digest(made(kind, LEGITIMATE[:6])) for _ in range(8)} - {result_digest(out)}
    assert others


def test_it_is_what_the_documentation_says() -> None:
    import hashlib

    out = veil.vectors.release({"a": 5, "b": 3}, epsilon=1.0, rng=1)
    text = json.dumps(
        {
            "attachments": {},
            "kind": "vector",
            "labels": ["a", "b"],
            "row_labels": None,
            "tables": {"noisy_counts": out.tables["noisy_counts"].tolist()},
            "value": {"data": out.value.tolist(), "labels": ["a", "b"], "type": "vector"},
        },
        separators=(",", ":"),
    )
    assert result_digest(out) == hashlib.sha256(text.encode()).hexdigest()


def test_labels_tables_and_attachments_count() -> None:
    out = made("vector", ["a", "b", "c"])
    assert result_digest(replace(out, labels=("a", "b", "d"))) != result_digest(out)
    chain = made("chain", ["a", "b", "c"])
    tables = {key: table + 1 for key, table in chain.tables.items()}
    assert result_digest(replace(chain, tables=tables)) != result_digest(chain)


def test_words_in_a_table_count_by_its_hash(tmp_path: Path) -> None:
    from veil.words.codec import attached, write_words

    log = {"who": ["b", "a", "b"], "time": [2, 1, 1], "street": ["Ash", "Ash", "Birch"]}
    trips = words.read(log, by="who", order="time", state="street")
    out = words.release(trips, epsilon=2.0, longest=2, rng=1)
    table, path = tmp_path / "out.csv", tmp_path / "out.json"
    write_words(table, words=words.batch(out).codes, table=trips, keep_keys=True)
    record = attached(out, table)
    record.save(path)
    assert result_digest(veil.load(path)) == result_digest(record)
    table.write_text(table.read_text() + "1,9,Ash\n")
    assert result_digest(attached(out, table)) != result_digest(record)


@pytest.mark.mostly_slow(quick=26)
@pytest.mark.parametrize("path", OLD, ids=lambda path: path.name)
def test_files_of_old_versions_have_one_that_lasts(path: Path, tmp_path: Path) -> None:
    out = veil.load(path)
    out.save(tmp_path / "again.json")
    assert result_digest(veil.load(tmp_path / "again.json")) == result_digest(out)


def test_packed_graphs_do_not_depend_on_how_they_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    out = made("graph", ["a", "b", "c", "d"])
    before = result_digest(out)
    monkeypatch.setattr("veil.graphs.codec._FEW_EDGES", -1)
    assert result_digest(out) == before
    assert result_digest(parse_release(to_json(out), "packed")) == before
