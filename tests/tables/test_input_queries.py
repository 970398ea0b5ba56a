"""Queries over files and frames: row by row where they are accepted so, and of the named source alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from veil import bits, chains, graphs, words
from veil.core.mechanism import ROW_BY_ROW
from veil.errors import InvalidArgument, VeilError

ROWS = [
    {"t": "2026-11-15 08:10", "o": "007", "d": "b", "who": "x"},
    {"t": "2026-11-15 08:50", "o": "007", "d": "b", "who": "y"},
    {"t": "2026-11-16 09:00", "o": "b", "d": "007", "who": "x"},
    {"t": "2026-11-16 23:59", "o": "b", "d": "b", "who": "secret"},
]
NAMES = list(ROWS[0])
QUERY = "SELECT hour(CAST(t AS TIMESTAMP)) AS hour, o, d FROM input WHERE who <> 'secret'"
STATES = ["007", "b"]


def _csv(folder: Path, *, mark: str = ",", rows: list[Any] = ROWS) -> Path:
    path = folder / "trips.csv"
    lines = [mark.join(NAMES), *(mark.join(row[name] for name in NAMES) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _gz(folder: Path) -> Path:
    path = folder / "packed.csv.gz"
    path.write_bytes(gzip.compress(_csv(folder).read_bytes()))
    return path


def _jsonl(folder: Path) -> Path:
    path = folder / "trips.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def _parquet(folder: Path) -> Path:
    path = folder / "trips.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def _glob(folder: Path) -> str:
    for i, row in enumerate(ROWS):
        (folder / f"part{i}").mkdir()
        _csv(folder / f"part{i}", rows=[row]).rename(folder / f"part-{i}.csv")
    return str(folder / "part-*.csv")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": _csv,
    "semicolons": lambda folder: _csv(folder, mark=";"),
    "gz": _gz,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "glob": _glob,
    "pandas": lambda folder: pd.DataFrame(ROWS),
    "polars": lambda folder: pl.DataFrame(ROWS),
    "arrow": lambda folder: pa.Table.from_pylist(ROWS),
    "columns": lambda folder: {name: [row[name] for row in ROWS] for name in NAMES},
}


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_query_over_every_kind_of_source(tmp_path: Path, kind: str) -> None:
    """007 stays 007, the hour is computed, the row that WHERE drops is gone, and nothing is assumed."""
    counts = chains.read(
        SOURCES[kind](tmp_path),
        query=QUERY,
        origin="o",
        destination="d",
        states=STATES,
        group="hour",
        groups="0..23",
    )
    assert counts.matrix.tolist() == [[0, 2], [1, 0]]
    assert counts.groups is not None
    assert counts.groups["8"].tolist() == [[0, 2], [0, 0]]
    assert counts.groups["9"].tolist() == [[0, 0], [1, 0]]
    assert not counts.provenance.unchecked
    assert ROW_BY_ROW not in chains.release(counts, epsilon=1.0, rng=1).assumptions


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o, d FROM input LIMIT 3",
        "SELECT a.o, b.d FROM input a JOIN input b ON a.who = b.who",
        "SELECT o, d FROM input WHERE (SELECT count(*) FROM input) > 1",
        "SELECT DISTINCT o, d FROM input",
        "SELECT o, d FROM input, range(3)",
        "WITH few AS (SELECT * FROM input) SELECT o, d FROM few",
        "SELECT o, CASE WHEN random() < 2 THEN d END AS d FROM input",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas"])
def test_other_queries_carry_the_assumption(tmp_path: Path, kind: str, query: str) -> None:
    counts = chains.read(SOURCES[kind](tmp_path), query=query, origin="o", destination="d", states=STATES)
    assert counts.provenance.unchecked
    assert ROW_BY_ROW in chains.release(counts, epsilon=1.0, rng=1).assumptions


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o, d FROM trips",
        "SELECT o, d FROM 'other.csv'",
        "SELECT o, d FROM read_csv('other.csv')",
        "SELECT o, d FROM read_text('other.csv') AS input",
        "SELECT o, d FROM main.input",
        "SELECT o, d FROM input, duckdb_settings()",
        "SELECT o, content AS d FROM input, read_blob('other.csv')",
        "SELECT o, d FROM input WHERE d IN (SELECT d FROM 'other.csv')",
        "SELECT getenv('HOME') AS o, d FROM input",
        "SELECT current_setting('temp_directory') AS o, d FROM input",
        "SELECT o, d FROM query('SELECT 1')",
        "COPY input TO 'stolen.csv'",
        "SELECT o, d FROM input; SELECT 1",
        "INSTALL httpfs",
        "SELECT o, d FROM glob('*')",
        "SELECT o, d FROM information_schema.tables",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "columns"])
def test_nothing_but_the_named_source_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, query: str
) -> None:
    source = SOURCES[kind](tmp_path)
    (tmp_path / "other.csv").write_text("o,d\n007,b\nb,007\n")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidArgument) as caught:
        chains.read(source, query=query, origin="o", destination="d", states=STATES)
    assert caught.value.field == "query"
    assert sorted(tmp_path.iterdir()) == before


def test_duckdb_itself_reads_nothing_else(tmp_path: Path) -> None:
    """The second fence: a text that came past the parser finds no other file, and no settings to change."""
    from veil.tables.engines import duck

    path, other = _csv(tmp_path), tmp_path / "other.csv"
    other.write_text("o,d\na,b\n")
    connection, close = duck.private_connection(files=[str(path)])
    try:
        for text in (f"SELECT * FROM '{other}'", f"COPY (SELECT 1) TO '{tmp_path}/x.csv'"):
            with pytest.raises(Exception, match=r"Permission|disabled"):
                connection.sql(text).fetchall()
        with pytest.raises(Exception, match="lock"):
            connection.execute("SET enable_external_access = true")
    finally:
        close()
    assert not (tmp_path / "x.csv").exists()


def test_cells_are_quoted_nowhere(tmp_path: Path) -> None:
    """Casts that fail, unknown columns, and names that may be cells of a file without a header."""
    path = _csv(tmp_path)
    bad = tmp_path / "bare.csv"
    bad.write_text("".join(",".join(row.values()) + "\n" for row in ROWS))
    tries = [
        (path, "SELECT CAST(who AS BIGINT) AS o, d FROM input"),
        (path, "SELECT strptime(who, '%Y') AS o, d FROM input"),
        (path, "SELECT who + 1 AS o, d FROM input"),
        (bad, "SELECT o, d FROM input"),
        (bad, "SELECT hour(column0) AS o, d FROM input"),
    ]
    for source, query in tries:
        with pytest.raises(VeilError) as caught:
            chains.read(source, query=query, origin="o", destination="d", states=STATES)
        text = str(caught.value)
        assert "secret" not in text
        assert "007" not in text
        assert "23:59" not in text


def test_text_files_have_cells_of_text(tmp_path: Path) -> None:
    path = _csv(tmp_path)
    query = "SELECT hour(t) AS hour, o, d FROM input"
    with pytest.raises(InvalidArgument, match="hour") as caught:
        chains.read(path, query=query, origin="o", destination="d", group="hour", groups="0..23")
    assert "CAST(t AS TIMESTAMP)" in caught.value.hint


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(VeilError, match="origins"):
        chains.read(
            _parquet(tmp_path), query="SELECT origins AS o, d FROM input", origin="o", destination="d"
        )


@pytest.mark.slow
def test_words_bits_and_graphs_take_queries_too(tmp_path: Path) -> None:
    path = _csv(tmp_path)
    table = words.read(
        path, query="SELECT who AS w, t, d AS s FROM input", by="w", order="t", state="s", symbols=STATES
    )
    assert len(table) == 3
    read = bits.read(path, query="SELECT CASE WHEN o = 'b' THEN 1 ELSE 0 END AS is_b FROM input")
    assert read.table.tolist() == [[0], [0], [1], [1]]
    assert ROW_BY_ROW not in read.assumptions
    few = bits.read(path, query="SELECT CASE WHEN o = 'b' THEN 1 ELSE 0 END AS is_b FROM input LIMIT 3")
    assert ROW_BY_ROW in few.assumptions
    for source in (path, _jsonl(tmp_path), _parquet(tmp_path), pd.DataFrame(ROWS)):
        query = "SELECT o, d FROM input WHERE o <> d"
        edges = graphs.read(source, query=query, kind="directed", nodes=STATES)
        assert len(edges) == 2
        assert ROW_BY_ROW not in edges.assumptions


def test_a_relation_has_no_query(tmp_path: Path) -> None:
    import duckdb

    relation = duckdb.from_arrow(pa.Table.from_pylist(ROWS))
    with pytest.raises(InvalidArgument, match="relation"):
        chains.read(relation, query=QUERY, origin="o", destination="d")
    with pytest.raises(InvalidArgument, match="table"):
        chains.read(_csv(tmp_path), table="input", origin="o", destination="d")
