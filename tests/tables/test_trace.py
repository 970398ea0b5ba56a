"""What is asked of a source is told to who listens: every statement, and nothing that comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from veil import bits, chains, vectors
from veil.tables.trace import asked, tracing


def _asked(work: Any) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    with tracing(lambda source, question: told.append((source, question))):
        work()
    return told


def test_statements_of_counting_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({"a": ["canary", "y"], "b": ["y", "canary"]}), path)
    told = _asked(lambda: chains.read(path, origin="a", destination="b", states=["canary", "y"]))
    statements = " ".join(question for _, question in told)
    assert {source for source, _ in told} == {"trips.parquet"}
    # The schema, and the query that counts, which runs in a thread of its own.
    assert "DESCRIBE" in statements
    assert "GROUP BY" in statements.upper()
    # Also where the connection is the caller's own.
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE trips AS SELECT 'x' AS a, 'y' AS b")
        told = _asked(
            lambda: chains.read(connection, table="trips", origin="a", destination="b", states=["x", "y"])
        )
    assert any("GROUP BY" in question.upper() for _, question in told)


def test_files_that_are_read_are_told(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("grade,students\nA,31\nB,28\n")
    assert ("grades.csv", "the whole file is read") in _asked(lambda: vectors.read(path))
    votes = tmp_path / "votes.parquet"
    pq.write_table(pa.table({"a": [1, 0], "b": [0, 1]}), votes)
    told = _asked(lambda: bits.read(votes))
    assert ("votes.parquet", "the columns a, b are read") in told
    assert not [question for _, question in told if "31" in question]


def test_nobody_listens_by_default(tmp_path: Path) -> None:
    """Outside the `with` nothing is told; inside another one only the inner one is."""
    outer: list[tuple[str, str]] = []
    with tracing(lambda *question: outer.append(question)):
        inner = _asked(lambda: asked("a", "b"))
        asked("c", "d")
    asked("e", "f")
    assert inner == [("a", "b")]
    assert outer == [("c", "d")]
