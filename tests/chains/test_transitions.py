"""Counting transitions: all kinds of sources, options that do not go together, and what may be wrong."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables.data import real
from tests.tables.oracle import count_log, count_trips
from tests.tables.servers import Server
from veil.chains import read
from veil.chains.counting import queries
from veil.chains.transition_counts import TransitionCounts
from veil.errors import InvalidArgument, InvalidData, MissingExtra, UnreadableFile, VeilError
from veil.tables.engines.duck import private_connection

TRIPS = {"a": [1, 2, 1, 10], "b": [2, 1, 2, 10]}
ENDS: dict[str, Any] = {"origin": "a", "destination": "b"}
LOG: dict[str, Any] = {"by": "who", "order": "time", "state": "state"}


def check(counts: TransitionCounts) -> None:
    assert counts.states == (1, 2, 10)
    assert counts.matrix.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 1]]


class Ibis:
    """What is asked of an Ibis table, without the library."""

    __module__ = "ibis.expr.types"
    columns = ("a", "b")

    def select(self, *names: str) -> Ibis:
        assert names == ("a", "b")
        return self

    def to_pyarrow(self) -> Any:
        return pa.table(TRIPS)


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        lambda trips: pd.DataFrame(trips).astype("Int64"),
        lambda trips: pd.DataFrame(trips).astype(object),
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
        lambda trips: pa.table(trips).to_batches()[0],
        lambda trips: pa.table(trips).to_reader(),
        lambda trips: ds.dataset(pa.table(trips)),
        lambda trips: Ibis(),
        lambda trips: duckdb.connect().sql(
            "SELECT * FROM (VALUES (1, 2), (2, 1), (1, 2), (10, 10)) AS t(a, b)"
        ),
    ],
)
def test_tables_in_memory(make: Any) -> None:
    check(read(make(TRIPS), **ENDS))


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.json", "t.jsonl", "t.jsonl.gz"]
)
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    frame = pd.DataFrame(TRIPS)
    if ".csv" in name or ".tsv" in name:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    elif ".parquet" in name:
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    check(read(path, **ENDS))
    check(read(str(path), **ENDS))
    (tmp_path / f"more-{name}").write_bytes(path.read_bytes())
    counts = read(str(tmp_path / f"*{name}"), **ENDS, states=[1, 2, 10])
    assert counts.total == 8


@pytest.mark.slow
def test_databases_of_duckdb(tmp_path: Path) -> None:
    for name in ("trips.duckdb", "trips.db"):
        path = tmp_path / name
        with duckdb.connect(str(path)) as connection:
            connection.execute('CREATE SCHEMA "my schema"')
            connection.register("given", pa.table(TRIPS))
            connection.execute('CREATE TABLE "my schema"."my.trips" AS SELECT * FROM given')
            check(read(connection, table='my schema."my.trips"', **ENDS))
            check(read(connection, query="SELECT * FROM given -- all;\n;", **ENDS))
        before = path.read_bytes()
        check(read(path, table='my schema."my.trips"', **ENDS))
        assert path.read_bytes() == before
        assert {one.name for one in tmp_path.iterdir()} <= {"trips.duckdb", "trips.db"}
        with pytest.raises(
            InvalidArgument, match=r"table: expected the name of a table, found none\. .*my\.trips"
        ):
            read(path, **ENDS)
        with pytest.raises(InvalidData, match=r"trips\.d.*: expected a table"):
            read(path, table="nothing", **ENDS)
        with pytest.raises(InvalidArgument, match="either a table or a query"):
            read(path, table="a", query="b", **ENDS)


@pytest.mark.slow
def test_a_connection_stays_as_it_was() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE trips AS SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 1")
        before = connection.sql("SELECT * FROM duckdb_settings()").fetchall()
        views = "SELECT * FROM duckdb_views() WHERE NOT internal"
        read(connection, table="trips", **ENDS)
        read(connection.sql("FROM trips"), **ENDS)
        assert connection.sql("SELECT * FROM duckdb_settings()").fetchall() == before
        assert connection.sql(views).fetchall() == []


def test_what_is_spilled_lies_in_a_folder_of_ours_that_goes_away() -> None:
    connection, close = private_connection()
    settings = dict(connection.sql("SELECT name, value FROM duckdb_settings()").fetchall())
    folder = Path(settings["temp_directory"])
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o077 == 0
    assert settings["memory_limit"] == "1.3 GiB"
    close()
    assert not folder.exists()


def test_a_misspelt_table_is_not_found_among_variables(tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    duckdb.connect(str(path)).close()
    trips = pa.table(TRIPS)
    assert len(trips) == 4
    with pytest.raises(InvalidData, match="trips"):
        read(path, table="trips", **ENDS)


def test_columns_that_differ_in_case_alone() -> None:
    frame = pd.DataFrame({"A": ["x", "y"], "a": ["y", "z"], "B": ["z", "x"]})
    counts = read(frame, origin="A", destination="a")
    assert counts.matrix.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_numbers_written_with_zeros_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n007,08\n08,007\n", encoding="utf-8")
    counts = read(path, **ENDS, states=["007", "08"])
    assert counts.matrix.tolist() == [[0, 1], [1, 0]]


def test_labels_are_text_as_soon_as_one_is(tmp_path: Path) -> None:
    """However late it comes, and whether or not there is a list of states."""
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n" + "1,2\n" * 50_000 + "x,1\n", encoding="utf-8")
    assert read(path, **ENDS).states == ("1", "2", "x")
    path.write_text("a,b\n7,8\n007,8\n8,7\n", encoding="utf-8")
    assert read(path, **ENDS).states == ("007", "7", "8")


def test_users_are_told_apart_by_how_they_are_written(tmp_path: Path) -> None:
    """Taken for one, 7 and 007 would share a cap, and one of them could change the sample of the other."""
    path = tmp_path / "log.csv"
    path.write_text("who,time,state\n7,1,x\n7,2,y\n007,1,y\n007,2,x\n", encoding="utf-8")
    assert read(path, **LOG).matrix.tolist() == [[0, 1], [1, 0]]
    assert read(path, **LOG, cap=1).total == 2


def test_a_file_of_text_alone_has_a_header_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("a,b\nx,y\ny,x\n", encoding="utf-8")
    assert read(path, **ENDS).states == ("x", "y")


def test_marks_in_the_name_of_a_file_are_no_pattern(tmp_path: Path) -> None:
    for name in ("trips [1].csv", "trips 'new'?.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n2,1\n1,2\n10,10\n", encoding="utf-8")
        check(read(tmp_path / name, **ENDS))


def test_quotes_that_begin_late_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("a,b\n" + "x,y\n" * 50_000 + '"x","y, z"\n', encoding="utf-8")
    assert read(path, **ENDS).states == ("x", "y", "y, z")


def test_categories_and_times() -> None:
    frame = pd.DataFrame(
        {
            "who": pd.Categorical(["p", "p", "q"]),
            "time": pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-01"]),
            "state": pd.Categorical(["x", "y", "x"]),
        }
    )
    assert read(frame, **LOG).matrix.tolist() == [[0, 0], [1, 0]]
    assert read(pl.DataFrame(frame), **LOG).matrix.tolist() == [[0, 0], [1, 0]]
    flags = pd.DataFrame({"who": [1, 1], "time": [1.5, 0.5], "state": [True, False]})
    counts = read(flags, **LOG, states=[False, True])
    assert counts.matrix.tolist() == [[0, 1], [0, 0]]


def test_wide_numbers() -> None:
    relation = duckdb.connect().sql("SELECT 1::HUGEINT AS a, 20::DECIMAL(9, 0) AS b UNION ALL SELECT 3, 1")
    counts = read(relation, **ENDS)
    assert counts.states == (1, 3, 20)
    assert read(relation, **ENDS, states=[20, 3, 1]).matrix.tolist()[2] == [1, 0, 0]


@pytest.mark.slow
def test_green_taxis() -> None:
    """The facts that were checked when the file was copied."""
    path = real("nyc_green_trips_2020-03_2020-12.csv.gz")
    ends: dict[str, Any] = {"origin": "PULocationID", "destination": "DOLocationID"}
    found = read(path, **ends)
    assert found.total == 887_649
    matrix = np.asarray(found.matrix)
    assert (matrix.sum(axis=1) > 0).sum() == 259
    assert (matrix.sum(axis=0) > 0).sum() == 260
    listed = read(path, **ends, states=real("taxi_zone_lookup.csv"))
    assert listed.total == 887_649
    few = read(path, **ends, states=range(1, 264), other="elsewhere")
    assert few.states[-1] == "elsewhere"
    assert int(np.asarray(few.matrix)[:-1, :-1].sum()) == 878_870
    with pytest.raises(InvalidData, match=r"PULocationID: .* 2 different labels that are not on the list"):
        read(path, **ends, states=range(1, 264))


@pytest.mark.slow
def test_many_states_give_sparse_counts() -> None:
    size = 5_000
    frame = {"a": np.arange(size), "b": (np.arange(size) * 7 + 1) % size}
    counts = read(frame, **ENDS)
    assert counts.is_sparse
    assert counts.total == size
    assert counts.matrix[3, 22] == 1
    with pytest.raises(InvalidArgument, match="group: expected none above 4096 states"):
        read({**frame, "g": np.ones(size, int)}, **ENDS, group="g", groups=[1])
    with pytest.raises(InvalidArgument, match="memory: expected 1"):
        read(frame, by="a", order="a", state="b", memory=2)


def test_too_many_transitions_to_be_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MOST_GROUPS", 50)
    monkeypatch.setattr("veil.chains.counting.counting.MOST_GROUPS", 50)
    frame = {"a": list(range(100)), "b": list(range(100))}
    for other in (None, "rest"):
        with pytest.raises(
            InvalidData, match=r"a and b: expected at most 50 .* Do these columns hold states\?"
        ):
            read(frame, **ENDS, other=other)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"origin": "a"}, "destination"),
        ({"destination": "b"}, "origin"),
        ({}, "origin"),
        ({"origin": 1, "destination": "b"}, "origin"),
        ({"state": "a", "order": "b"}, "by"),
        ({"state": "a", "by": "b"}, "order"),
        ({**LOG, "origin": "a"}, "origin"),
        ({**ENDS, "cap": 3}, "cap"),
        ({**ENDS, "order": "a"}, "order"),
        ({**ENDS, "by": "a", "tie_break": "a"}, "tie_break"),
        ({**ENDS, "by": "a", "strata": [(2, 3)]}, "strata"),
        ({**ENDS, "memory": 2}, "memory"),
        ({**ENDS, "sequences": True}, "sequences"),
        ({**LOG, "memory": 3}, "memory"),
        ({**LOG, "cap": 0}, "cap"),
        ({**LOG, "cap": 3, "strata": [(2, 3)]}, "strata"),
        ({**LOG, "strata": []}, "strata"),
        ({**LOG, "strata": [(1, 3)]}, "strata"),
        ({**LOG, "strata": [(2, 3), (2, 4)]}, "strata"),
        ({**LOG, "strata": [3]}, "strata"),
        ({**LOG, "strata": [(2, 3)], "group": "g", "groups": ["x"]}, "strata"),
        ({**LOG, "memory": 2, "group": "g", "groups": ["x"]}, "memory"),
        ({**ENDS, "group": "g"}, "groups"),
        ({**ENDS, "groups": ["g"]}, "groups"),
        ({**ENDS, "group": "g", "groups": ["x", "x"]}, "groups"),
        ({**ENDS, "salt": 5}, "salt"),
        ({**ENDS, "states": ["x"]}, "states"),
        ({**ENDS, "states": ["x", "y"], "merge": {"z": "x"}}, "merge"),
        ({**ENDS, "merge": {"z": "x"}}, "merge"),
        ({**ENDS, "table": "t"}, "table"),
    ],
)
def test_arguments_that_do_not_go_together(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read(pa.table(TRIPS), **options)
    assert refused.value.field == field


def test_sources_of_no_known_kind() -> None:
    for source in (7, object(), None):
        with pytest.raises(InvalidArgument, match="source: expected a path"):
            read(source, **ENDS)
    with pytest.raises(InvalidArgument, match="another address"):
        read("s3://bucket/trips.parquet", **ENDS)
    for series in (pd.Series([1]), pl.Series([1])):
        with pytest.raises(InvalidData, match="a single column"):
            read(series, **ENDS)


def test_columns_of_the_wrong_kind() -> None:
    gap = pd.DataFrame({"a": [1, None], "b": [2, 1]})
    with pytest.raises(InvalidData, match=r"a: .* floating-point numbers\. Cast"):
        read(gap, **ENDS)
    with pytest.raises(InvalidData, match="a: expected values of one type, found a mixture") as refused:
        read(pd.DataFrame({"a": ["secret", 1], "b": [2, 1]}, dtype=object), **ENDS)
    assert refused.value.__cause__ is None
    with pytest.raises(InvalidData, match="nested"):
        read({"a": [[1], [2]], "b": [1, 2]}, **ENDS)
    with pytest.raises(InvalidData, match="times"):
        read({"a": pd.to_datetime(["2020-01-01"]), "b": [1]}, **ENDS)
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    with pytest.raises(InvalidData, match="several of that name"):
        read(twice, **ENDS)


@pytest.mark.slow
def test_files_that_cannot_be_counted(tmp_path: Path) -> None:
    def refuse(name: str, content: bytes, words: str, kind: type[VeilError] = UnreadableFile) -> str:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(kind, match=words) as refused:
            read(path, **ENDS)
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        return str(refused.value)

    refuse("t.parquet", b"no parquet", "t.parquet: expected a Parquet file")
    refuse("t.duckdb", b"no database" * 1000, "a DuckDB database")
    refuse("t.csv.gz", b"no gzip", "t.csv.gz")
    refuse("t.xlsx", b"", "known kind")
    refuse("t.csv", b"", "column 'a'", InvalidData)
    refuse("t.csv", b"a,b\n", "rows, found none", InvalidData)
    late = b"a,b,t\n" + b"1,2,3\n" * 50_000 + b"1,2,secret\n"
    log: dict[str, Any] = {"by": "a", "order": "t", "state": "b"}
    (tmp_path / "log.csv").write_bytes(late)
    with pytest.raises(UnreadableFile, match="fit the types of their columns") as shown:
        read(tmp_path / "log.csv", **log)
    assert "secret" not in str(shown.value)
    torn = b"a,b\n" + b"1,2\n" * 50_000 + b"1,2,secret\n"
    assert "secret" not in refuse("t.csv", torn, "t.csv")
    broken = b'{"a": 1, "b": 2}\n' * 10 + b'{"a": "secret", \n'
    assert "secret" not in refuse("t.jsonl", broken, "t.jsonl")
    with pytest.raises(UnreadableFile, match="no such file"):
        read(tmp_path / "none.csv", **ENDS)
    with pytest.raises(UnreadableFile, match="files that match, found none"):
        read(str(tmp_path / "none*.csv"), **ENDS)
    with pytest.raises(UnreadableFile, match=r"a folder\. Use a glob"):
        read(tmp_path, **ENDS)


@pytest.mark.slow
def test_a_database_that_is_locked_or_open(tmp_path: Path) -> None:
    path = tmp_path / "trips.duckdb"
    code = (
        "import duckdb, sys\n"
        f"connection = duckdb.connect({str(path)!r})\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"open"
        with pytest.raises(UnreadableFile, match="another process has locked"):
            read(path, table="trips", **ENDS)
        other.communicate(b"")
    with duckdb.connect(str(path)), pytest.raises(UnreadableFile, match="this process has open"):
        read(path, table="trips", **ENDS)


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_a_server_that_does_not_let_us_in(postgres: Server) -> None:
    for address, words in (
        (postgres.address("wr0ng%20secret"), "a wrong user or password"),
        (postgres.address().replace("/postgres", "/nowhere"), "no such database"),
        (postgres.address("bad%zzescape"), "not well formed"),
        ("postgresql://veil:hush@127.0.0.1:1/x", "none that answers at this address"),
    ):
        with pytest.raises(InvalidData, match=words) as refused:
            read(address, table="trips", **ENDS)
        assert not any(word in str(refused.value) for word in ("wr0ng", "hush", "bad%", postgres.password))
    with pytest.raises(InvalidArgument, match="table"):
        read(postgres.address(), **ENDS)


@pytest.mark.xdist_group("postgres")
def test_queries_and_types_of_postgresql(postgres: Server) -> None:
    import psycopg

    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE numbers")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute(
            "CREATE TABLE Moods (who uuid, seen date, mood mood, code char(3), size numeric(9, 0))"
        )
        connection.execute(
            "INSERT INTO moods SELECT '00000000-0000-0000-0000-000000000001', date '2020-01-01' + i, "
            "(ARRAY['sad', 'glad'])[1 + i % 2]::mood, (ARRAY['x', 'y'])[1 + i % 2], 10 + i % 2 "
            "FROM generate_series(1, 10) AS i"
        )
    log: dict[str, Any] = {"by": "who", "order": "seen"}
    for column, states in (("mood", ("glad", "sad")), ("code", ("x", "y")), ("size", (10, 11))):
        counts = read(postgres.address(), table="Moods", **log, state=column)
        assert counts.states == states
        assert counts.total == 9
        given = read(postgres.address(), table="Moods", **log, state=column, states=states)
        assert (given.states, given.matrix.tolist()) == (counts.states, counts.matrix.tolist())
        assert given.provenance == replace(counts.provenance, states_found=False)
    query = "WITH few AS (SELECT * FROM moods WHERE seen < '2020-01-06') SELECT * FROM few; -- the first"
    few = read(postgres.address(), query=query.replace(";", ""), **log, state="code")
    assert few.total == 3
    with pytest.raises(InvalidArgument, match="query: expected one SELECT statement, found a syntax error"):
        read(postgres.address(), query="SELEKT 1", **log, state="code")
    with pytest.raises(InvalidData, match="22P02") as refused:
        read(postgres.address(), query="SELECT code::int AS a, 1 AS b FROM moods", **ENDS)
    assert "integer" not in str(refused.value)
    # Nothing can be written, not even by the query itself.
    with pytest.raises(InvalidArgument, match="query: expected a SELECT that only reads"):
        read(postgres.address(), query="SELECT nextval('numbers') AS a, 1 AS b", **ENDS)


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="postgres"):
        read("postgresql://somewhere/db", table="t", **ENDS)


@pytest.mark.slow
def test_the_salt_is_secret_unless_given() -> None:
    log = [[i % 7 for i in range(1000)] for _ in range(5)]
    drawn = [read(log, cap=20) for _ in range(3)]
    assert any(counts != drawn[0] for counts in drawn[1:])
    assert {counts.total for counts in drawn} == {100}
    assert read(log, cap=20, salt="a'b") == read(log, cap=20, salt="a'b")


def test_every_transition_is_as_likely_to_be_drawn() -> None:
    """Of 10 transitions 3 are drawn, 4,000 times: a chi-square test that a bias of a tenth would fail."""
    users = [[f"{place:02}" for place in range(11)] for _ in range(4_000)]
    drawn = np.diag(np.asarray(read(users, cap=3, salt="fixed").matrix), 1)
    expected = 4_000 * 3 / 10
    assert drawn.sum() == 12_000
    # The 99.999 % point of chi-square with 9 degrees of freedom is 41; draws without return vary less.
    assert float(((drawn - expected) ** 2 / expected).sum()) < 41.0


def test_progress_is_told() -> None:
    told: list[str] = []
    read(TRIPS, **ENDS, other="rest", progress=told.append)
    assert told == ["looking at the columns", "looking for states", "counting"]


LABELS = st.sampled_from(["a", "B", "é", "", "x y", "10", "9"])
VISITS = st.fixed_dictionaries(
    {
        "who": st.integers(0, 5),
        "time": st.integers(0, 3),
        "tie": st.integers(0, 1),
        "state": LABELS,
        "group": st.sampled_from(["p", "q"]),
    }
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(VISITS, min_size=1, max_size=40), st.data())
def test_logs_agree_with_counting_by_hand(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    cap = data.draw(st.none() | st.integers(1, 4))
    states = data.draw(st.permutations(["a", "B", "é", "", "x y", "10", "9"]))[: data.draw(st.integers(2, 7))]
    frame = {name: [row[name] for row in rows] for name in rows[0]}
    counts = read(
        frame,
        **LOG,
        tie_break="tie",
        states=states,
        other="rest",
        cap=cap,
        salt="s",
        group="group",
        groups=["q", "p"],
    )
    expected = count_log(rows, states=states, other="rest", cap=cap, salt="s")
    labels = (*states, "rest")
    assert counts.states == labels
    assert counts.matrix.tolist() == [[expected.moves[x, y] for y in labels] for x in labels]
    assert counts.groups is not None
    for group, matrix in counts.groups.items():
        moves: Counter[Any] = expected.groups[group]
        assert matrix.tolist() == [[moves[x, y] for y in labels] for x in labels]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({"who": st.sampled_from(["u", "v'"]), "origin": LABELS, "end": LABELS}),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 5),
)
def test_trips_agree_with_counting_by_hand(rows: list[dict[str, Any]], cap: int) -> None:
    frame = {name: [row[name] for row in rows] for name in rows[0]}
    states = ["", "10", "9", "B", "a", "x y", "é"]
    ends: dict[str, Any] = {"by": "who", "origin": "origin", "destination": "end", "states": states}
    moves = count_trips(rows, cap=cap, salt="s")
    counts = read(frame, **ends, cap=cap, salt="s")
    assert counts.matrix.tolist() == [[moves[x, y] for y in states] for x in states]
    plain = Counter((row["origin"], row["end"]) for row in rows)
    counts = read(frame, **ends)
    assert counts.matrix.tolist() == [[plain[x, y] for y in states] for x in states]


def test_ties_between_numbers_in_a_text_file_follow_their_size(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user,time,state\na,1,10\na,1,9\nb,1,10\nb,1,9\n")
    counts = read(str(path), by="user", order="time", state="state")
    assert counts.states == (9, 10)
    assert counts.matrix.tolist() == [[0, 2], [0, 0]]
