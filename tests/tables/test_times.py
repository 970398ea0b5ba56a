"""Times in columns: how they are written, in which order they are, and their hours, weekdays and months."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import Put
from tests.tables.servers import Server
from veil import chains, words
from veil.errors import InvalidArgument, InvalidData, VeilError

# A Sunday, a Monday and a Saturday.
MOMENTS = [datetime(2026, 11, 15, 8, 10), datetime(2026, 11, 16, 8, 0), datetime(2027, 1, 2, 23, 59)]
ISO = [f"{moment:%Y-%m-%d %H:%M}" for moment in MOMENTS]
TRIPS: dict[str, list[Any]] = {"o": ["a", "a", "b"], "d": ["b", "b", "a"]}
ROLES: dict[str, Any] = {"origin": "o", "destination": "d", "states": ["a", "b"]}
# Where the three trips are, by what is taken from the time.
FOUND = {"hour_of": {"8": 2, "23": 1}, "weekday_of": {"Sunday": 1, "Monday": 1, "Saturday": 1}}
FOUND["month_of"] = {"November": 2, "January": 1}


def named(role: str, column: str) -> dict[str, Any]:
    return {role: column}


def _sums(counts: Any) -> dict[str, int]:
    return {label: int(matrix.sum()) for label, matrix in counts.groups.items() if matrix.sum()}


def _csv(folder: Path, texts: list[str]) -> Path:
    path = folder / "trips.csv"
    rows = zip(texts, TRIPS["o"], TRIPS["d"], strict=True)
    path.write_text("t,o,d\n" + "".join(f"{t},{o},{d}\n" for t, o, d in rows))
    return path


def _jsonl(folder: Path) -> Path:
    path = folder / "trips.jsonl"
    rows = zip(ISO, TRIPS["o"], TRIPS["d"], strict=True)
    path.write_text("".join(json.dumps({"t": t, "o": o, "d": d}) + "\n" for t, o, d in rows))
    return path


def _parquet(folder: Path) -> Path:
    path = folder / "trips.parquet"
    pq.write_table(pa.table({"t": MOMENTS} | TRIPS), path)
    return path


def _database(folder: Path) -> Path:
    path = folder / "trips.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", pa.table({"t": MOMENTS} | TRIPS))
        connection.execute("CREATE TABLE trips AS SELECT * FROM given")
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: _csv(folder, ISO),
    "jsonl": _jsonl,
    "parquet": _parquet,
    "duckdb": _database,
    "pandas": lambda folder: pd.DataFrame({"t": pd.to_datetime(ISO)} | TRIPS),
    "polars": lambda folder: pl.DataFrame({"t": MOMENTS} | TRIPS),
    "text in a frame": lambda folder: {"t": ISO} | TRIPS,
}


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("role", FOUND)
@pytest.mark.parametrize("kind", SOURCES)
def test_parts_of_times_in_every_format(tmp_path: Path, kind: str, role: str) -> None:
    table: dict[str, Any] = {"table": "trips"} if kind == "duckdb" else {}
    counts = chains.read(SOURCES[kind](tmp_path), **table, **ROLES, **named(role, "t"))
    assert len(counts.groups or ()) == {"hour_of": 24, "weekday_of": 7, "month_of": 12}[role]
    assert _sums(counts) == FOUND[role]
    assert not counts.provenance.unchecked


@pytest.mark.parametrize("role", FOUND)
@pytest.mark.xdist_group("postgres")
def test_parts_of_times_in_postgresql(postgres: Server, role: str) -> None:
    import psycopg

    with psycopg.connect(postgres.address()) as connection:
        connection.execute("DROP TABLE IF EXISTS timed")
        connection.execute("CREATE TABLE timed(t timestamp, z timestamptz, w text, o text, d text)")
        for t, o, d in zip(MOMENTS, TRIPS["o"], TRIPS["d"], strict=True):
            row = (t, t.replace(tzinfo=UTC), t.isoformat(), o, d)
            connection.execute("INSERT INTO timed VALUES (%s, %s, %s, %s, %s)", row)
    for column in ("t", "z"):
        counts = chains.read(postgres.address(), table="timed", **ROLES, **named(role, column))
        assert _sums(counts) == FOUND[role]
    with pytest.raises(InvalidData, match="CAST"):
        chains.read(postgres.address(), table="timed", **ROLES, **named(role, "w"))
    query = "SELECT CAST(w AS TIMESTAMP) AS t, o, d FROM timed"
    counts = chains.read(postgres.address(), query=query, **ROLES, **named(role, "t"))
    assert _sums(counts) == FOUND[role]
    assert not counts.provenance.unchecked


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("role", FOUND)
def test_parts_of_times_in_spark(spark: Any, role: str) -> None:
    rows = list(zip(MOMENTS, TRIPS["o"], TRIPS["d"], strict=True))
    frame = spark.createDataFrame(rows, "t timestamp_ntz, o string, d string")
    assert _sums(chains.read(frame, **ROLES, **named(role, "t"))) == FOUND[role]


WRITTEN = {
    "day-first": ["15/11/2026 8:10", "16.11.2026 08:00:00", "02-01-2027 11:59 PM"],
    "month-first": ["11/15/2026 8:10", "11/16/2026 8:00 AM", "1/2/2027 11:59:30 PM"],
    "%d.%m.%y %H:%M": ["15.11.26 08:10", "16.11.26 08:00", "02.01.27 23:59"],
    "%Y%m%d%H%M": ["202611150810", "202611160800", "202701022359"],
    "iso": ["2026-11-15T08:10Z", "2026-11-16 08:00:00+0000", "2027-01-02T23:59:00.5+00:00"],
}


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize("stated", WRITTEN)
def test_stated_formats_in_files_and_frames(tmp_path: Path, stated: str) -> None:
    texts = WRITTEN[stated]
    for source in (_csv(tmp_path, texts), {"t": texts} | TRIPS):
        for role, found in FOUND.items():
            counts = chains.read(source, **ROLES, **named(role, "t"), time_format=stated)
            assert _sums(counts) == found


@pytest.mark.parametrize("stated", WRITTEN)
def test_logs_are_ordered_by_stated_times(tmp_path: Path, stated: str) -> None:
    """The last row of the file is the latest: written so that letters would put it first."""
    texts = WRITTEN[stated]
    path = tmp_path / "log.csv"
    path.write_text("w,t,s\n" + "".join(f"u,{t},{s}\n" for t, s in zip(texts, "abc", strict=True)))
    log: dict[str, Any] = {"by": "w", "order": "t", "state": "s", "time_format": stated}
    counts = chains.read(path, **log, states=list("abc"))
    assert counts.matrix.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    table = words.read(path, **log, symbols=list("abc"))
    assert len(table) == 1


def test_nothing_is_guessed_from_the_data(tmp_path: Path) -> None:
    """13/11/2026 in some row would tell the order of day and month: still it must be stated."""
    path = _csv(tmp_path, ["13/11/2026 8:00", "01/02/2026 8:00", "02/02/2026 8:00"])
    with pytest.raises(InvalidData, match="t") as caught:
        chains.read(path, **ROLES, month_of="t")
    assert "day-first" in str(caught.value)
    assert "13/11" not in str(caught.value)
    counts = chains.read(path, **ROLES, month_of="t", time_format="day-first")
    assert _sums(counts) == {"November": 1, "February": 2}


def test_hours_are_those_that_are_written(tmp_path: Path) -> None:
    texts = ["2026-11-15T08:10+02:00", "2026-11-16T08:00-05:00", "2027-01-02T23:59Z"]
    for source in (_csv(tmp_path, texts), {"t": texts} | TRIPS):
        assert _sums(chains.read(source, **ROLES, hour_of="t")) == FOUND["hour_of"]


def test_moments_with_offsets_are_ordered_as_moments() -> None:
    texts = ["2026-11-15T10:00+02:00", "2026-11-15T09:00Z", "2026-11-15T06:00-05:00"]
    log = {"w": ["u"] * 3, "t": texts, "s": list("abc")}
    counts = chains.read(log, by="w", order="t", state="s", states=list("abc"))
    assert counts.matrix.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    log["t"] = [*texts[:2], "2026-11-15T12:00"]
    with pytest.raises(InvalidData, match="some of each"):
        chains.read(log, by="w", order="t", state="s", states=list("abc"))


@pytest.mark.slow
def test_times_without_what_is_asked_are_refused(tmp_path: Path) -> None:
    for dates in ([f"{moment:%Y-%m-%d}" for moment in MOMENTS], [moment.date() for moment in MOMENTS]):
        with pytest.raises(InvalidData, match="hour"):
            chains.read({"t": dates} | TRIPS, **ROLES, hour_of="t")
        assert _sums(chains.read({"t": dates} | TRIPS, **ROLES, month_of="t")) == FOUND["month_of"]
    with pytest.raises(InvalidData, match="date"):
        chains.read({"t": [moment.time() for moment in MOMENTS]} | TRIPS, **ROLES, weekday_of="t")
    with pytest.raises(InvalidData, match="times"):
        chains.read({"t": [1, 2, 3]} | TRIPS, **ROLES, hour_of="t")
    with pytest.raises(InvalidArgument, match="pattern with an hour"):
        chains.read({"t": ["x"] * 3} | TRIPS, **ROLES, hour_of="t", time_format="%Y-%m-%d")
    with pytest.raises(InvalidData, match="t"):
        chains.read({"t": [date(2026, 1, 1), None, None]} | TRIPS, **ROLES, month_of="t")


@pytest.mark.parametrize("stated", ["dd/mm/yyyy", "%Q", "%H:%M %z", 7, ""])
def test_formats_that_are_none(stated: Any) -> None:
    with pytest.raises(InvalidArgument, match="time_format"):
        chains.read({"t": ISO} | TRIPS, **ROLES, hour_of="t", time_format=stated)


def test_one_group_at_a_time_and_a_list_of_some() -> None:
    source = {"t": ISO, "g": ["x", "x", "y"]} | TRIPS
    with pytest.raises(InvalidArgument, match="hour_of"):
        chains.read(source, **ROLES, group="g", groups=["x", "y"], hour_of="t")
    with pytest.raises(InvalidArgument, match="weekday_of"):
        chains.read(source, **ROLES, month_of="t", weekday_of="t")
    with pytest.raises(InvalidArgument, match="groups"):
        chains.read(source, **ROLES, weekday_of="t", groups=["Sunday", "Funday"])
    counts = chains.read(source, **ROLES, hour_of="t", groups="8..23")
    assert list(counts.groups or ()) == [str(hour) for hour in range(8, 24)]
    with pytest.raises(InvalidData):
        chains.read(source, **ROLES, hour_of="t", groups="0..8")


def test_other_engines_say_how_to_make_times(put: Put) -> None:
    given = put({"t": WRITTEN["day-first"]} | TRIPS)
    if type(given["source"]).__name__ == "DuckDBPyConnection":
        counts = chains.read(**given, **ROLES, hour_of="t", time_format="day-first")
        assert _sums(counts) == FOUND["hour_of"]
        return
    with pytest.raises(VeilError, match="query"):
        chains.read(**given, **ROLES, hour_of="t", time_format="day-first")
