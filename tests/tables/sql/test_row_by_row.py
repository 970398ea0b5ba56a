"""A release from a query lists what it assumes, in red, unless the query was found to work row by row."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console

import veil
from tests.tables.servers import Server
from veil import bits, chains, graphs, words
from veil.core.mechanism import ALARMING, ROW_BY_ROW
from veil.report.console import print_guarantee

ENDS: dict[str, Any] = {"origin": "o", "destination": "d", "states": ["a", "b"]}
LOG: dict[str, Any] = {"by": "who", "order": "n", "state": "o"}
ROWS = pa.table({"who": [1, 1, 2], "n": [1, 2, 1], "o": ["a", "b", "a"], "d": ["b", "a", "b"]})
# The query that once let one row be guessed 16 times of 16.
MANY = "SELECT o, d FROM trips, range(100000)"


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("given", ROWS)
    connection.execute("CREATE TABLE trips AS SELECT * FROM given")
    connection.execute("CREATE VIEW seen AS SELECT * FROM trips")
    return connection


def assumed(source: Any, **asked: Any) -> tuple[str, ...]:
    return chains.release(chains.read(source, **ENDS, **asked), epsilon=1.0, rng=1).assumptions


@pytest.mark.slow
def test_queries_and_views_of_duckdb(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    path = tmp_path / "trips.duckdb"
    with duckdb.connect(str(path)) as file:
        file.register("given", ROWS)
        file.execute("CREATE TABLE trips AS SELECT * FROM given")
        file.execute("CREATE VIEW seen AS SELECT * FROM trips")
    for source in (connection, path):
        assert assumed(source, table="trips") == ()
        assert assumed(source, query="SELECT o, d FROM trips WHERE n < 3") == ()
        assert assumed(source, table="seen") == (ROW_BY_ROW,)
        for query in (
            MANY,
            "SELECT o, d FROM trips WHERE (SELECT count(*) FROM trips) > 1",
            "SELECT o, d FROM seen",
            "SELECT o, d FROM trips WHERE rowid < 2",
        ):
            assert assumed(source, query=query) == (ROW_BY_ROW,), query


def test_a_cap_does_not_change_it(connection: duckdb.DuckDBPyConnection) -> None:
    for query, expected in (("SELECT * FROM trips", ()), ("SELECT * FROM trips ORDER BY n", (ROW_BY_ROW,))):
        counts = chains.read(connection, query=query, **LOG, states=["a", "b"], cap=1)
        out = chains.release(counts, epsilon=1.0, unit="user", rng=1)
        assert out.assumptions == expected
        table = words.read(connection, query=query, **LOG)
        assert (ROW_BY_ROW in words.release(table, epsilon=1.0, rng=1).assumptions) == bool(expected)
        assert (ROW_BY_ROW in words.release(table.reordered([1, 0]), epsilon=1.0, rng=1).assumptions) == bool(
            expected
        )


@pytest.mark.slow
def test_relations_and_frames(connection: duckdb.DuckDBPyConnection) -> None:
    frame = pl.from_arrow(ROWS)
    assert isinstance(frame, pl.DataFrame)
    for source in (ROWS, ROWS.to_pandas(), frame, ROWS.to_pydict(), connection.table("trips")):
        assert assumed(source) == ()
    assert assumed(connection.sql("SELECT o, d FROM trips WHERE n > 0")) == ()
    computed = (
        *(connection.sql(MANY), connection.view("seen"), connection.table("trips").limit(3)),
        *(connection.table("trips").filter("n > 0").distinct(), frame.lazy()),
    )
    for source in computed:
        assert assumed(source) == (ROW_BY_ROW,)


def test_bits_and_edges_that_a_query_makes(connection: duckdb.DuckDBPyConnection) -> None:
    lazy = pl.LazyFrame({"a": ["x", "y"], "b": ["y", "x"]})
    for source, expected in (
        (lazy, True),
        (lazy.collect(), False),
        (connection.sql("SELECT o, d FROM trips"), True),
    ):
        made = bits.release(bits.read(source), epsilon=1.0, rng=1)
        assert (ROW_BY_ROW in made.assumptions) == expected
        graph = graphs.release(graphs.read(source), epsilon=1.0, rng=1)
        assert (ROW_BY_ROW in graph.assumptions) == expected


@pytest.mark.slow
def test_it_is_shown_in_red(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    assert ROW_BY_ROW in ALARMING
    counts = chains.read(connection, query="SELECT o, d FROM trips LIMIT 2", **ENDS)
    table = words.read(connection, query="SELECT * FROM trips LIMIT 2", **LOG)
    for out in (chains.release(counts, epsilon=1.0, rng=1), words.release(table, epsilon=1.0, rng=1)):
        page = tmp_path / "page.html"
        out.report(page, overwrite=True)
        assert f'<li class="alarm">{ROW_BY_ROW}</li>' in page.read_text()
        assert "color: #b00020" in out._repr_html_()
        printed = io.StringIO()
        console = Console(
            file=printed, force_terminal=True, color_system="standard", width=400, highlight=False
        )
        print_guarantee(console, out)
        assert f"\x1b[1;31mThis holds only if {ROW_BY_ROW}." in printed.getvalue()
        out.save(tmp_path / "out.json", overwrite=True)
        assert veil.load(tmp_path / "out.json").assumptions == out.assumptions
    plain = chains.release(chains.read(connection, table="trips", **ENDS), epsilon=1.0, rng=1)
    plain.report(page, overwrite=True)
    assert 'class="alarm"' not in page.read_text()


@pytest.mark.xdist_group("postgres")
def test_queries_and_views_of_postgresql(postgres: Server) -> None:
    import psycopg

    with psycopg.connect(postgres.address(), autocommit=True) as server:
        server.execute(
            "DROP SCHEMA IF EXISTS by_rows CASCADE; CREATE SCHEMA by_rows; "
            "CREATE TABLE by_rows.trips(o text, d text, n int); "
            "CREATE VIEW by_rows.seen AS TABLE by_rows.trips; "
            "INSERT INTO by_rows.trips VALUES ('a', 'b', 1), ('b', 'a', 2); "
            "CREATE FUNCTION by_rows.year(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'"
        )
        address = f"{postgres.address()}?options=-csearch_path%3Dby_rows"
        assert assumed(address, table="trips") == ()
        assert assumed(address, table="by_rows.trips") == ()
        assert assumed(address, query="SELECT upper(o) AS x, o, d FROM trips WHERE n < 3") == ()
        assert assumed(address, table="seen") == (ROW_BY_ROW,)
        for query in (
            "SELECT o, d FROM trips, generate_series(1, 3)",
            "SELECT o, d FROM seen",
            # A function of the database, which may look at anything.
            "SELECT o, d FROM trips WHERE year(n) > 0",
        ):
            assert assumed(address, query=query) == (ROW_BY_ROW,), query


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_queries_and_views_of_spark(spark: Any) -> None:
    frame = spark.createDataFrame([("a", "b", 1), ("b", "a", 2)], "o string, d string, n int")
    spark.sql("DROP TABLE IF EXISTS by_rows")
    frame.write.format("parquet").saveAsTable("by_rows")
    frame.createOrReplaceTempView("seen_rows")
    try:
        assert assumed(frame) == (ROW_BY_ROW,)
        assert assumed(spark, table="by_rows") == ()
        assert assumed(spark, query="SELECT lower(o) AS o, d FROM by_rows WHERE n < 3") == ()
        assert assumed(spark, table="seen_rows") == (ROW_BY_ROW,)
        for query in ("SELECT o, d FROM seen_rows", "SELECT o, d FROM by_rows, range(3)"):
            assert assumed(spark, query=query) == (ROW_BY_ROW,), query
        for text in ("DROP TABLE by_rows", "SELECT TRANSFORM(o) USING 'cat' AS o FROM by_rows"):
            with pytest.raises(veil.errors.InvalidArgument):
                assumed(spark, query=text)
        spark.udf.register("lower", lambda text: text)
        assert assumed(spark, query="SELECT lower(o) AS o, d FROM by_rows") == (ROW_BY_ROW,)
    finally:
        spark.sql("DROP TEMPORARY FUNCTION IF EXISTS lower")
        spark.sql("DROP TABLE by_rows")
        spark.catalog.dropTempView("seen_rows")
