"""People are told apart in the same way by every reader: by the text of their id, exactly as it is written.

Some readers of tables take ids such as those below for the same: equal as numbers, or as floats, or but for
case, accents or spaces. They stand behind more rows than DuckDB looks at to guess types. With a cap of 1
every person counts once, so that the sum of all counts is the number of people: where two are taken for one
it is less, and one of them could push out what the other did.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from tests.conftest import put_in_spark
from tests.params import quick_first
from tests.tables.servers import Server
from veil import chains
from veil.errors import InvalidData, UnreadableFile
from veil.tables.engines.protocol import Column, Kind, told_apart
from veil.tables.engines.spark import column_of
from veil.words.reading import read_words

LOG: dict[str, Any] = {"by": "who", "order": "time", "state": "state"}
# Rows of plain numbers before the ids: DuckDB looks at 20,480.
BEFORE = 21_000
IDS = [
    *("7", "007", "07", "+7", "-7", "7.", "7.0", "7.00", "7e0", "0x7", "0", "-0", "00"),
    *("9007199254740992", "9007199254740993", "-9007199254740993", "18446744073709551616"),
    *("18446744073709551617", "1" + 40 * "0", "1" + 39 * "0" + "1"),
    *(" 7", "7 ", "\u00a07", "a", "A", "a ", "stra\u00dfe", "strasse", "STRASSE"),
    *("\u00e9", "e\u0301", "E\u0301", "\u00c9", "\u0131", "i", "I", "\u0130", "\uff17", "\u0667"),
    *("true", "True", "nan", "NaN", "null", "NULL", "None", "inf", "Infinity"),
    *("2026-01-02", "2026-1-2", "2026-01-02 00:00:00", "2026-01-02T00:00:00", "9:00", "09:00"),
    *("123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"),
]
Table = dict[str, list[Any]]
Source = dict[str, Any]


def log_of(ids: Sequence[Any], before: int = 0) -> Table:
    """Two visits of each person; `before`: so many rows of people with plain numbers come first."""
    who = [
        1_000_000 + i // 2 if ids and isinstance(ids[0], int) else str(1_000_000 + i // 2)
        for i in range(before)
    ]
    who += [one for one in ids for _ in range(2)]
    return {"who": who, "time": list(range(len(who))), "state": ["a", "b"] * (len(who) // 2)}


def people(source: Source, **options: Any) -> int:
    """How many people a reader finds: with chains, and again with words."""
    counted = chains.read(**source, **{**LOG, **options}, cap=1).total
    assert read_words(**source, **{**LOG, **options}).number_of_words == counted
    return int(counted)


# Files


def csv_of(table: Table, *, mark: str = ",") -> str:
    rows = zip(*table.values(), strict=True)
    return "".join(f"{mark.join(map(str, row))}\n" for row in [tuple(table), *rows])


def json_of(table: Table) -> str:
    rows = zip(*table.values(), strict=True)
    return "".join(json.dumps(dict(zip(table, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)


def put_csv(folder: Path, table: Table) -> Source:
    (folder / "log.csv").write_text(csv_of(table), encoding="utf-8")
    return {"source": folder / "log.csv"}


def put_tabs(folder: Path, table: Table) -> Source:
    (folder / "log.tsv").write_text(csv_of(table, mark="\t"), encoding="utf-8")
    return {"source": str(folder / "log.tsv")}


def put_packed(folder: Path, table: Table) -> Source:
    (folder / "log.csv.gz").write_bytes(gzip.compress(csv_of(table).encode()))
    return {"source": folder / "log.csv.gz"}


def put_many(folder: Path, table: Table) -> Source:
    for i in range(2):
        half = {name: values[i::2] for name, values in table.items()}
        (folder / f"log{i}.csv").write_text(csv_of(half), encoding="utf-8")
    return {"source": str(folder / "log*.csv")}


def put_lines(folder: Path, table: Table) -> Source:
    (folder / "log.jsonl").write_text(json_of(table), encoding="utf-8")
    return {"source": folder / "log.jsonl"}


def put_packed_lines(folder: Path, table: Table) -> Source:
    (folder / "log.ndjson.gz").write_bytes(gzip.compress(json_of(table).encode()))
    return {"source": folder / "log.ndjson.gz"}


def put_later_text(folder: Path, table: Table) -> Source:
    """Numbers in the rows that DuckDB looks at, text in those after them."""
    typed = [int(one) if i < BEFORE else one for i, one in enumerate(table["who"])]
    return put_lines(folder, {**table, "who": typed})


def put_parquet(folder: Path, table: Table) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table), folder / "log.parquet")
    return {"source": folder / "log.parquet"}


def put_parquets(folder: Path, table: Table) -> Source:
    """Text in two widths, one of them as a dictionary."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, kind in enumerate((pa.large_string(), pa.dictionary(pa.int32(), pa.string()))):
        half = pa.table({name: values[i::2] for name, values in table.items()})
        pq.write_table(half.set_column(0, "who", half["who"].cast(kind)), folder / f"log{i}.parquet")
    return {"source": str(folder / "log*.parquet")}


@pytest.mark.slow_for("put_lines")
@pytest.mark.parametrize(
    "put",
    quick_first(
        [
            *(put_csv, put_lines, put_tabs, put_packed, put_many, put_packed_lines, put_later_text),
            *(put_parquet, put_parquets),
        ],
        quick=2,
    ),
)
def test_files_tell_people_apart(tmp_path: Path, put: Callable[[Path, Table], Source]) -> None:
    source = put(tmp_path, log_of(IDS, BEFORE))
    assert people(source) == BEFORE // 2 + len(IDS)


@pytest.mark.slow_for("put_lines")
@pytest.mark.parametrize("put", [put_csv, put_lines])
def test_several_columns_that_say_who(tmp_path: Path, put: Callable[[Path, Table], Source]) -> None:
    table = log_of(IDS, BEFORE)
    source = put(
        tmp_path, {"who": ["7"] * len(table["who"]), "trip": table["who"], **log_of((), BEFORE), **table}
    )
    found = read_words(**source, by=("trip", "state"), order="time", state="state")
    assert found.number_of_words == BEFORE + 2 * len(IDS)
    assert found.words_per("trip") == 2


def test_spaces_in_csv_are_part_of_an_id(tmp_path: Path) -> None:
    """Quotes are not."""
    path = tmp_path / "log.csv"
    path.write_text('who,time,state\n7,1,a\n 7,2,a\n"7",3,b\n" 7",4,b\n', encoding="utf-8")
    assert people({"source": path}) == 2
    assert read_words(path, **LOG).to_lists() == [["a", "b"], ["a", "b"]]


@pytest.mark.slow
def test_numbers_and_text_in_json(tmp_path: Path) -> None:
    """A whole number is its digits, however large; one with decimals has several texts and is refused."""
    path = tmp_path / "log.jsonl"

    def put(cells: Sequence[str]) -> Source:
        rows = [f'{{"who": {cell}, "time": {i}, "state": "{"ab"[i % 2]}"}}' for i, cell in enumerate(cells)]
        path.write_text("\n".join(rows), encoding="utf-8")
        return {"source": path}

    numbers = ["7", "-7", "9007199254740993", "9007199254740992", "18446744073709551615"]
    numbers += ["18446744073709551616", "18446744073709551617", "-9223372036854775809"]
    assert people(put([one for one in numbers for _ in range(2)])) == len(numbers)
    texts = [f'"{one}"' for one in numbers]
    assert people(put([*numbers, *texts, *numbers, *texts])) == len(numbers)
    many = [str(1_000_000 + i // 2) for i in range(BEFORE)]
    for wrong in ("7.0", "7e0", "[7]", '{"id": 7}'):
        for cells in (["7", "8", wrong, wrong], [*many, wrong, wrong]):
            with pytest.raises((InvalidData, UnreadableFile)) as refused:
                people(put(cells))
            assert "7" not in str(refused.value)


@pytest.mark.slow
def test_states_beyond_the_first_rows_stay_as_they_are_written(tmp_path: Path) -> None:
    """Taken for one, two states would be a wrong chain, though no less private."""
    states = ["7", "007", "7.0", "07", "+7", "-0", "0", "2026-01-02", "2026-1-2"]
    table = log_of([str(i) for i in range(len(states))], BEFORE)
    table["state"] = ["1", "2"] * (BEFORE // 2) + [state for state in states for _ in range(2)]
    for put in (put_csv, put_many, put_lines):
        folder = tmp_path / put.__name__
        folder.mkdir()
        source = put(folder, table)
        counts = chains.read(**source, **LOG)
        assert set(counts.states) == {"1", "2", *states}
        assert {state: int(counts.matrix[i, i]) for i, state in enumerate(counts.states)} == {
            "1": 0,
            "2": 0,
            **dict.fromkeys(states, 1),
        }
        assert set(read_words(**source, **LOG).states) == {"1", "2", *states}


@pytest.mark.parametrize(("first", "other"), [([7, 8], ["007", "8"]), ([7, 8], [7.4, 8.6]), ([True], [1])])
def test_parquet_files_of_several_types_are_refused(
    tmp_path: Path, first: list[Any], other: list[Any]
) -> None:
    """DuckDB makes the type of the first file of the others: 007 and 7.4 would be 7."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, ids in enumerate((first, other)):
        pq.write_table(pa.table(log_of(ids)), tmp_path / f"log{i}.parquet")
    with pytest.raises(InvalidData, match="who: expected the same type in all files"):
        people({"source": str(tmp_path / "*.parquet")})
    pq.write_table(pa.table({**log_of([7]), "who": pa.array([7, 7], pa.int32())}), tmp_path / "log0.parquet")
    pq.write_table(pa.table(log_of([8, 2**60])), tmp_path / "log1.parquet")
    with pytest.raises(UnreadableFile, match="fit the types"):
        people({"source": str(tmp_path / "*.parquet")})


# Tables in memory


def frames_of(table: Table) -> dict[str, Any]:
    import pandas
    import polars
    import pyarrow as pa

    frame, polar = pandas.DataFrame(table), polars.DataFrame(table)
    return {
        "columns": table,
        "pandas": frame,
        "pandas objects": frame.astype({"who": "object"}),
        "pandas categories": frame.astype({"who": "category"}),
        "polars": polar,
        "polars lazy": polar.lazy(),
        "polars categories": polar.with_columns(polars.col("who").cast(polars.Categorical)),
        "arrow": pa.table(table),
        "arrow views": pa.table({**table, "who": pa.array(table["who"], pa.string_view())}),
        "arrow dictionary": pa.table({**table, "who": pa.array(table["who"]).dictionary_encode()}),
    }


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", list(frames_of(log_of(["a"]))))
def test_frames_tell_people_apart(name: str) -> None:
    assert people({"source": frames_of(log_of(IDS))[name]}) == len(IDS)


@pytest.mark.slow
def test_frames_of_numbers() -> None:
    """Whole numbers of any type are exact; what Arrow would have to make the same is refused."""
    import pandas
    import pyarrow as pa

    large = [2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 7, -7]
    frame = pandas.DataFrame(log_of(large))
    for source in (log_of(large), frame, frame.astype({"who": "Int64"})):
        assert people({"source": source}) == len(large)
    unsigned = log_of([2**63 + 1, 2**63])
    assert people({"source": {**unsigned, "who": pa.array(unsigned["who"], pa.uint64())}}) == 2
    assert people({"source": log_of([Decimal(10**30), Decimal(10**30 + 1)])}) == 2
    refused: dict[str, list[Any]] = {
        "7 and '7'": [7, "7"],
        "7 and 7.0": [7, 7.0],
        "floats": [7.0, 8.0],
        "a gap": [7, float("nan")],
        "beyond 2**53": [2**53 + 1, 0.5],
        "1 and True": [1, True],
        "1.0 and 1.00": [Decimal("1.0"), Decimal("1.00")],
        "bytes": ["a", b"a"],
    }
    for ids in refused.values():
        table = log_of(ids)
        for frame in (table, pandas.DataFrame({**table, "who": pandas.Series(table["who"], dtype="object")})):
            with pytest.raises(InvalidData, match="who: expected"):
                people({"source": frame})
    with pytest.raises(InvalidData, match="who: expected whole numbers or text"):
        people({"source": {**log_of([7, 8]), "who": np.array([7.0, 7.0, 8.0, 8.0])}})


# Databases


def duckdb_with(declared: str, *, session: str = "") -> Any:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("given", pa.table(log_of(IDS)))
    connection.execute(f"CREATE TABLE log (who {declared}, time BIGINT, state VARCHAR)")
    connection.execute("INSERT INTO log SELECT * FROM given")
    if session:
        connection.execute(session)
    return connection


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize("declared", ["VARCHAR", "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOCASE.NOACCENT"])
@pytest.mark.parametrize("session", ["", "SET default_collation = 'nocase'"])
def test_duckdb_tells_people_apart(declared: str, session: str) -> None:
    connection = duckdb_with(declared, session=session)
    assert people({"source": connection, "table": "log"}) == len(IDS)
    assert people({"source": connection, "query": "SELECT who, time, state FROM log"}) == len(IDS)
    assert people({"source": connection.table("log")}) == len(IDS)


def test_duckdb_enumerations_and_files(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "log.duckdb"
    listed = ", ".join("'" + one.replace("'", "''") + "'" for one in IDS)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TYPE ids AS ENUM ({listed})")
        connection.register("given", frames_of(log_of(IDS))["arrow"])
        connection.execute("CREATE TABLE log (who ids, time BIGINT, state VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO log SELECT * FROM given")
        connection.unregister("given")
    assert people({"source": path, "table": "log"}) == len(IDS)


def put_in_postgres(server: Server, declared: str, *before: str) -> Source:
    import psycopg

    name = f"log_{uuid4().hex}"
    with psycopg.connect(server.address()) as connection, connection.cursor() as cursor:
        for statement in before:
            cursor.execute(statement.encode())
        cursor.execute(f'CREATE TABLE {name} (who {declared}, "time" bigint, state text)'.encode())
        with cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for row in zip(*log_of(IDS).values(), strict=True):
                copy.write_row(row)
    return {"source": server.address(), "table": name}


BLIND = (
    "CREATE COLLATION IF NOT EXISTS blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("declared", ["text", "varchar(60)", "text COLLATE blind", "varchar COLLATE blind"])
def test_postgres_tells_people_apart(postgres: Server, declared: str) -> None:
    assert people(put_in_postgres(postgres, declared, BLIND)) == len(IDS)


@pytest.mark.xdist_group("postgres")
def test_postgres_types_that_are_blind_to_case(postgres: Server) -> None:
    import psycopg

    drop = "DROP DOMAIN IF EXISTS blind_text CASCADE"
    domain = "CREATE DOMAIN blind_text AS text COLLATE blind"
    assert people(put_in_postgres(postgres, "blind_text", BLIND, drop, domain)) == len(IDS)
    try:
        source = put_in_postgres(postgres, "citext", "CREATE EXTENSION IF NOT EXISTS citext")
    except psycopg.errors.FeatureNotSupported:
        return
    assert people(source) == len(IDS)


@pytest.mark.xdist_group("postgres")
def test_char_of_postgres_has_no_spaces_at_its_end(postgres: Server) -> None:
    """The server itself keeps no difference between a and a followed by spaces in such a column."""
    same = {one.rstrip(" ") for one in IDS}
    assert people(put_in_postgres(postgres, "char(60)")) == len(same) < len(IDS)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("collation", ["", "UTF8_LCASE", "UNICODE_CI_AI"])
def test_spark_tells_people_apart(spark: Any, collation: str) -> None:
    frame = put_in_spark(spark, log_of(IDS))["source"]
    if collation:
        if int(spark.version.split(".")[0]) < 4:
            pytest.skip("this version has no collations")
        frame = frame.selectExpr(f"collate(who, '{collation}') AS who", "time", "state")
    assert people({"source": frame}) == len(IDS)


def test_collations_of_spark_are_seen() -> None:
    """Without a session: what Spark 4 calls its types, and the query that compares them byte by byte."""
    plain, folded = column_of("who", "string"), column_of("who", "string collate UTF8_LCASE")
    assert plain == Column("who", Kind.TEXT)
    assert folded == Column("who", Kind.TEXT, folded=True)
    assert column_of("who", "varchar(9) collate UNICODE_CI") == Column("who", Kind.WORDS, folded=True)
    assert told_apart(plain, "spark") == 'veil_source."who"'
    assert told_apart(folded, "spark") == 'CAST(CAST(veil_source."who" AS BLOB) AS TEXT)'
