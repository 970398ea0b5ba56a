"""From tables to words and back: every engine against plain Python, and nothing sensitive in messages."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Put
from veil.errors import InvalidArgument, InvalidData, OutputExists, UnreadableFile
from veil.tables.sequences import SequenceFile
from veil.words.codec import write_words
from veil.words.reading import read_words
from veil.words.table import WordTable

# In the order of code points; a dictionary would put b and Zürich elsewhere.
LABELS = ["A'quote", "Zürich", "a\\b", "b", "select", "${x}", "été", "東京"]
LOG: dict[str, Any] = {"by": "who", "order": "time", "state": "state"}
SMALL: dict[str, list[Any]] = {
    "who": ["b", "a", "b", "c"],
    "time": [2, 1, 1, 5],
    "state": ["Ash", "Ash", "Birch", "Cedar"],
}


def rows_of_log(*, number: int = 500, words: bool = True, numbered: bool = False) -> list[dict[str, Any]]:
    """A log with few times, so that most rows are tied; users and trips are text or numbers."""
    rng = random.Random(11)
    labels: Sequence[Any] = LABELS if words else [3, 20, 100, -7]
    return [
        {
            "who": rng.randrange(30) * 7 if numbered else f"{rng.choice('éXyzÄ')}{rng.randrange(9)}",
            "trip": rng.randrange(3),
            "time": rng.randrange(5),
            "tie": rng.randrange(3),
            "state": rng.choice(labels),
        }
        for _ in range(number)
    ]


def by_hand(
    rows: Sequence[dict[str, Any]], by: Sequence[str], sort: Callable[[dict[str, Any]], Any]
) -> tuple[list[tuple[Any, ...]], list[list[Any]]]:
    """The keys in their order, and the words."""
    words: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        words[tuple(row[name] for name in by)].append(row)
    keys = sorted(words)
    return keys, [[row["state"] for row in sorted(words[key], key=sort)] for key in keys]


def columns_of(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def keys_of(words: WordTable) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in words.keys.columns), strict=True))


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("numbered", [True, False])
def test_every_engine_reads_the_same_words(put: Put, words: bool, numbered: bool) -> None:
    rows = rows_of_log(words=words, numbered=numbered)
    found = read_words(**put(columns_of(rows)), **LOG)
    keys, expected = by_hand(rows, ["who"], lambda row: (row["time"], row["state"]))
    assert keys_of(found) == keys
    assert found.to_lists() == expected
    assert found.states == tuple(sorted({row["state"] for row in rows}))
    assert found.codes.dtype == np.int32
    assert found.number_of_words == len(found) == len(keys)
    assert (found.by, found.order, found.state) == (("who",), "time", "state")


def test_ties_are_broken_by_a_column_and_then_in_the_order_of_the_list(put: Put) -> None:
    rows = rows_of_log()
    source = put(columns_of(rows))
    _, expected = by_hand(rows, ["who"], lambda row: (row["time"], row["tie"], row["state"]))
    assert read_words(**source, **LOG, tie_break="tie").to_lists() == expected
    listed = ["not there", *reversed(LABELS)]
    _, expected = by_hand(rows, ["who"], lambda row: (row["time"], row["tie"], listed.index(row["state"])))
    found = read_words(**source, **LOG, tie_break="tie", states=listed)
    assert found.to_lists() == expected
    assert found.states == tuple(listed)


@pytest.mark.parametrize("by", [("who", "trip"), ["trip", "who"]])
@pytest.mark.parametrize("numbered", [True, False])
def test_several_columns_tell_words_apart(put: Put, by: Sequence[str], numbered: bool) -> None:
    rows = rows_of_log(numbered=numbered)
    found = read_words(**put(columns_of(rows)), by=by, order="time", state="state")
    keys, expected = by_hand(rows, by, lambda row: (row["time"], row["state"]))
    assert keys_of(found) == keys
    assert found.by == tuple(by)
    assert found.to_lists() == expected
    for place, name in enumerate(by):
        most = max(sum(key[place] == value for key in keys) for value in {key[place] for key in keys})
        assert found.words_per(name) == most
    assert found.words_per() == found.words_per(by[0])
    with pytest.raises(InvalidData, match=r"'whom'.*Did you mean 'who'"):
        found.words_per("whom")


def test_words_of_one_column_are_one_per_person(put: Put) -> None:
    assert read_words(**put(SMALL), **LOG).words_per() == 1


@pytest.mark.slow_for("duckdb")
def test_gaps_are_counted_and_not_shown(put: Put) -> None:
    for column, gaps in (("who", 1), ("time", 2), ("state", 3)):
        held = [None] * gaps + SMALL[column][gaps:]
        with pytest.raises(InvalidData) as refused:
            read_words(**put({**SMALL, column: held}), **LOG)
        rows = "1 row" if gaps == 1 else f"{gaps} rows"
        assert str(refused.value) == f"{column}: expected a value in every row, found {rows} without one."
    with pytest.raises(InvalidData, match="trip: expected a value in every row, found 1 row"):
        read_words(**put({**SMALL, "trip": [1, None, 2, 3]}), by=["who", "trip"], order="time", state="state")
    with pytest.raises(InvalidData, match="time: expected a value in every row, found 1 row"):
        read_words(**put({**SMALL, "time": [1.5, float("nan"), 2.0, 1.0]}), **LOG)


def test_states_that_are_not_on_the_list_are_not_shown(put: Put) -> None:
    source = put(SMALL)
    with pytest.raises(InvalidData, match="2 words have others, the first word 2 at position 1") as refused:
        read_words(**source, **LOG, states=["Ash"])
    assert "Birch" not in str(refused.value)
    with pytest.raises(InvalidData, match="1 word has another, the first word 3 at position 1") as again:
        read_words(**source, **LOG).recoded(["Ash", "Birch"])
    assert "Cedar" not in str(again.value)


def test_tables_without_rows_and_with_one(put: Put) -> None:
    with pytest.raises(InvalidData, match=r"a table with rows, found none|whole numbers or text"):
        read_words(**put({name: values[:0] for name, values in SMALL.items()}), **LOG)
    found = read_words(**put({name: values[:1] for name, values in SMALL.items()}), **LOG)
    assert (found.to_lists(), found.states, keys_of(found)) == ([["Ash"]], ("Ash",), [("b",)])
    lone = {"who": [3, 1, 2], "time": [1, 1, 1], "state": [5, 6, 5]}
    assert read_words(**put(lone), **LOG).to_lists() == [[6], [5], [5]]


def test_missing_columns_and_columns_of_other_kinds(put: Put) -> None:
    source = put({**SMALL, "speed": [1.5, 2.5, 3.5, 4.5]})
    with pytest.raises(InvalidData, match=r"by: .*'whom'.*Did you mean 'who'"):
        read_words(**source, by="whom", order="time", state="state")
    with pytest.raises(InvalidData, match=r"by\[1\]: .*'tim'.*Did you mean 'time'"):
        read_words(**source, by=("who", "tim"), order="time", state="state")
    for by, state in (("speed", "state"), ("who", "speed")):
        with pytest.raises(InvalidData, match=r"speed: .*whole numbers or text.*Cast"):
            read_words(**source, by=by, order="time", state=state)
    # Times may be fractions.
    assert read_words(**source, by="who", order="speed", state="state").to_lists() == [
        ["Ash"],
        ["Ash", "Birch"],
        ["Cedar"],
    ]


def test_times_that_are_text_must_sort_as_text(put: Put) -> None:
    with pytest.raises(InvalidData, match=r"time: .*found other text"):
        read_words(**put({**SMALL, "time": ["9:00", "10:00", "8:00", "7:00"]}), **LOG)
    dated = {**SMALL, "time": ["2026-11-15", "2026-11-15", "2025-01-01", "2026-01-01"]}
    assert read_words(**put(dated), **LOG).to_lists() == [["Ash"], ["Birch", "Ash"], ["Cedar"]]


@pytest.mark.parametrize("name", ['a "quoted" name', "Größe", "a.b"])
def test_columns_may_have_any_name(put: Put, name: str) -> None:
    table: dict[str, list[Any]] = {name: ["x", "x"], "o'ther": [2, 1], "s": ["b", "a"]}
    found = read_words(**put(table), by=name, order="o'ther", state="s")
    assert found.to_lists() == [["a", "b"]]
    assert found.by == (name,)


# Sources in memory and files


@pytest.mark.slow
def test_frames_and_sequences(tmp_path: Path) -> None:
    import pandas
    import polars
    import pyarrow as pa

    expected = [["Ash"], ["Birch", "Ash"], ["Cedar"]]
    for frame in (SMALL, pandas.DataFrame(SMALL), polars.DataFrame(SMALL), pa.table(SMALL)):
        assert read_words(frame, **LOG).to_lists() == expected
    lists = [["b", "a", "a"], ["a"], ("a", "b")]
    assert read_words(lists).to_lists() == list(map(list, lists))
    path = tmp_path / "lines.txt"
    path.write_text("10 2 2\n3\n", encoding="utf-8")
    found = read_words(SequenceFile(path))
    assert found.to_lists() == [[10, 2, 2], [3]]
    assert (found.states, found.by, keys_of(found)) == ((2, 3, 10), ("sequence",), [(0,), (1,)])
    with pytest.raises(InvalidArgument, match="by: expected none"):
        read_words(lists, by="who")
    with pytest.raises(InvalidData, match="found 1 row without one"):
        read_words([["a", None]])
    with pytest.raises(InvalidData, match="a table with rows"):
        read_words([[], []])


@pytest.mark.slow
def test_files(tmp_path: Path) -> None:
    text = "who,time,state\nb,2,007\na,1,007\nb,1,x\n"
    plain, packed, lines = tmp_path / "log.csv", tmp_path / "log.csv.gz", tmp_path / "log.jsonl"
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode()))
    head, *body = text.split()
    rows: list[dict[str, Any]] = [dict(zip(head.split(","), line.split(","), strict=True)) for line in body]
    for row in rows:
        row["time"] = int(row["time"])
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for path in (plain, packed, lines):
        assert read_words(path, **LOG).to_lists() == [["007"], ["x", "007"]]
    (tmp_path / "log2.csv").write_text("who,time,state\nb,3,y\n", encoding="utf-8")
    assert read_words(str(tmp_path / "*.csv"), **LOG).to_lists() == [["007"], ["x", "007", "y"]]
    said: list[str] = []
    read_words(plain, **LOG, progress=said.append)
    assert said[0] == "looking at the columns"
    assert "sorting" in said


def test_a_list_of_texts_keeps_numbers_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("who,time,state\n1,1,7\n1,2,08\n", encoding="utf-8")
    found = read_words(path, **LOG, states=["08", "x", "7"])
    assert (found.states, found.codes.tolist()) == (("08", "x", "7"), [2, 0])
    with pytest.raises(InvalidData, match="1 word has another, the first word 1 at position 2"):
        read_words(path, **LOG, states=["8", "x", "7"])


def test_files_that_hold_no_words(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    for text, match in (
        ("", r"none of that name|empty|something else"),
        ("who,time,state\n", "a table with rows"),
        ("secret,5,x\nsecret,6,y\n", "none of that name"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidData, match=match) as refused:
            read_words(path, **LOG)
        assert "secret" not in str(refused.value)
    with pytest.raises(UnreadableFile, match="no such file"):
        read_words(tmp_path / "none.csv", **LOG)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": None}, "by: expected the name of a column, or several, found none"),
        ({"by": ()}, "by: .* found none"),
        ({"by": ("who", 3)}, "by: "),
        ({"by": ("who", "who")}, "by: expected different columns"),
        ({"order": None}, "order: expected the name of a column, found none"),
        ({"state": None}, "state: expected the name of a column, found none"),
        ({"tie_break": 3}, "tie_break"),
        ({"states": []}, "states: expected one state or more"),
        ({"states": ["a", "a"]}, "states: expected labels that all differ"),
        ({"table": "t"}, "table"),
    ],
)
def test_wrong_calls(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        read_words(SMALL, **(LOG | options))


def test_a_categorical_column_is_ordered_by_its_text() -> None:
    import pandas

    frame = pandas.DataFrame({"who": [1, 1], "time": [1, 1], "state": ["b", "a"]})
    frame["state"] = pandas.Categorical(frame["state"], categories=["c", "b", "a"], ordered=True)
    assert read_words(frame, **LOG).to_lists() == [["a", "b"]]


def test_keys_of_every_kind() -> None:
    import datetime

    import pyarrow as pa

    days = [datetime.date(2026, 1, day) for day in (2, 1, 2)]
    table = pa.table({"who": days, "time": [2, 1, 1], "state": ["x", "y", "z"]})
    assert keys_of(read_words(table, **LOG)) == [(days[1],), (days[0],)]
    wide = pa.array([2**64 - 1, 5, 2**64 - 1], pa.uint64())
    found = read_words(table.set_column(0, "who", wide), **LOG)
    assert sorted(zip(keys_of(found), found.to_lists(), strict=True)) == [
        ((str(2**64 - 1),), ["z", "x"]),
        (("5",), ["y"]),
    ]
    assert keys_of(read_words(table.set_column(0, "who", pa.array([True, False, True])), **LOG)) == [
        ("false",),
        ("true",),
    ]


# The table of words


def test_words_by_length() -> None:
    found = read_words([["a"], ["b", "a"], ["c"], ["a", "b"]])
    parts = found.by_length()
    assert {n: (rows.tolist(), codes.tolist()) for n, (rows, codes) in parts.items()} == {
        1: ([0, 2], [[0], [2]]),
        2: ([1, 3], [[1, 0], [0, 1]]),
    }
    assert found.replaced(parts).codes.tolist() == found.codes.tolist()
    even = read_words([["a", "b"], ["b", "b"]]).by_length()
    assert [(n, codes.tolist()) for n, (_, codes) in even.items()] == [(2, [[0, 1], [1, 1]])]


def test_words_in_the_order_of_a_public_list() -> None:
    found = read_words([[41, 7], [7, 7]]).recoded(["41", "not there", 7])
    assert found.states == ("41", "not there", 7)
    assert found.codes.tolist() == [0, 2, 2, 2]
    assert read_words([[41, 7]]).recoded({"7": "park", "41": "zoo"}).to_lists() == [["zoo", "park"]]
    with pytest.raises(InvalidArgument, match="labels that all differ"):
        found.recoded(["41", 41, 7])


def test_nothing_is_shown_by_accident_nor_written_over() -> None:
    found = read_words([["secret", "x"]])
    assert repr(found) == "<WordTable of 1 words, sensitive>"
    with pytest.raises(ValueError, match="read-only"):
        found.codes[0] = 1


@pytest.mark.parametrize(
    "words",
    [
        [0, 1],
        [0, 1, 5],
        [0, 1, -1],
        [0.0, 1.0, 1.0],
        {2: ([0], [[0, 1]])},
        {2: ([0], [[0]]), 1: ([1], [[0]])},
        {1: ([0], [[0]])},
        {2: 5},
    ],
)
def test_other_words_must_fit(words: Any) -> None:
    with pytest.raises(InvalidArgument, match="words"):
        read_words([["a", "b"], ["a"]]).replaced(words)


# Writing


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("words", [True, False])
def test_words_are_written_and_read_back(tmp_path: Path, ending: str, words: bool) -> None:
    rows = rows_of_log(words=words)
    found = read_words(columns_of(rows), by=("who", "trip"), order="time", state="state")
    path = tmp_path / f"words{ending}"
    write_words(path, words=found.codes, table=found, keep_keys=True)
    back = read_words(path, by=("who", "trip"), order="time", state="state")
    # Who somebody is, and which trip, stays as it is written in text: 7 and 007 are two.
    kept: Callable[[int], Any] = int if ending == ".parquet" else str
    assert keys_of(back) == [(who, kept(trip)) for who, trip in keys_of(found)]
    assert back.to_lists() == found.to_lists()
    permutation = np.random.default_rng(5).permutation(len(found))
    private = found.replaced((found.codes + 1) % len(found.states))
    shuffled = private.reordered(permutation)
    write_words(path, words=shuffled.by_length(), table=found.reordered(permutation), overwrite=True)
    back = read_words(path, by="trip", order="time", state="state")
    assert keys_of(back) == [(kept(number + 1),) for number in range(len(found))]
    assert back.to_lists() == [private.to_lists()[place] for place in permutation]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_what_stands_in_the_file(tmp_path: Path) -> None:
    found = read_words([["b", "a"], ["b"]])
    path = tmp_path / "words.csv"
    log = {"car": [7, 7, 8], "step": [1, 2, 1], "road, way": ["b", "a", "b"]}
    drives = read_words(log, by="car", order="step", state="road, way").reordered([1, 0])
    write_words(path, words=[0, 1, 0], table=drives)
    assert path.read_text(encoding="utf-8") == 'car,step,"road, way"\n1,1,a\n2,1,b\n2,2,a\n'
    assert path.stat().st_mode & 0o777 == 0o644
    marked = read_words([['say "x", y', "line\nbreak", " "]])
    write_words(path, words=marked.codes, table=marked, keep_keys=True, overwrite=True)
    back = read_words(path, by="sequence", order="place", state="state")
    assert back.to_lists() == marked.to_lists()
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_words(tmp_path / "words.parquet", words=found.codes, table=found, keep_keys=True)
    assert pq.read_table(tmp_path / "words.parquet").schema.field("state").type == pa.string()
    # With the keys it says whose words they are.
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_rows_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.words.codec._BATCH", 4)
    lists = [["a"] * n + ["b"] for n in (1, 9, 0, 2, 3, 5)]
    found = read_words(lists)
    for ending in (".csv", ".parquet"):
        path = tmp_path / f"words{ending}"
        write_words(path, words=found.codes, table=found, keep_keys=True)
        assert read_words(path, by="sequence", order="place", state="state").to_lists() == lists


def test_what_may_not_be_written(tmp_path: Path) -> None:
    found = read_words([["a", "b"], ["a"]])
    path = tmp_path / "words.csv"
    options: dict[str, Any] = {"words": found.codes, "table": found, "keep_keys": True}
    write_words(path, **options)
    before = path.read_bytes()
    with pytest.raises(OutputExists, match="a new file"):
        write_words(path, **options)
    assert path.read_bytes() == before
    for wrong, match in (
        ({"table": replace(found, order="state")}, "columns: expected names that all differ"),
        ({"table": None}, "table"),
        ({"words": [0, 1]}, "words"),
    ):
        with pytest.raises(InvalidArgument, match=match):
            write_words(tmp_path / "new.csv", **(options | wrong))
    for target, match in (
        (tmp_path / "words.xlsx", "an ending of"),
        (tmp_path / "none" / "words.csv", "a folder to write to"),
    ):
        with pytest.raises(InvalidArgument, match=match):
            write_words(target, **options)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidArgument, match="found a folder"):
        write_words(tmp_path / "folder.csv", **options, overwrite=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder.csv", "words.csv"]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_words([["a", "b"]])
    path = tmp_path / "words.csv"
    path.write_text("old", encoding="utf-8")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("veil.words.codec.write_text", full)
    with pytest.raises(InvalidArgument, match="No space left"):
        write_words(path, words=found.codes, table=found, keep_keys=True, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["words.csv"]
    assert path.read_text(encoding="utf-8") == "old"
