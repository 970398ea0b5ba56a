"""A query cannot change anything or write a file: texts that tried, on real databases."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.tables.servers import Server
from veil import words
from veil.chains import read
from veil.errors import InvalidArgument, InvalidData, VeilError

ENDS: dict[str, Any] = {"origin": "o", "destination": "d"}
# {out}: a file that must not come into being. {secret}: one that must not be read.
FOR_DUCKDB = (
    "COPY trips TO '{out}'",
    "COPY (SELECT * FROM trips) TO '{out}' (FORMAT csv)",
    "SELECT o, d FROM trips; COPY trips TO '{out}'",
    "SELECT 1) SELECT 1; COPY trips TO '{out}'; --",
    "SELECT o, d FROM trips) AS x; COPY trips TO '{out}'; SELECT * FROM (SELECT 1 AS o",
    "/* SELECT */ COPY trips TO '{out}'",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}' AS other",
    "SET enable_external_access = true",
    "SET lock_configuration = false; SELECT o, d FROM trips",
    "PRAGMA enable_profiling",
    "INSTALL httpfs",
    "LOAD httpfs",
    "DROP TABLE trips",
    "DELETE FROM trips",
    "WITH gone AS (DELETE FROM trips RETURNING *) SELECT o, d FROM gone",
    "INSERT INTO trips SELECT * FROM trips",
    "UPDATE trips SET o = 'x'",
    "CREATE TABLE copy AS SELECT * FROM trips",
    "CREATE OR REPLACE MACRO lower(x) AS 1",
    "EXPLAIN ANALYZE DELETE FROM trips",
    "CALL force_checkpoint()",
    "CHECKPOINT",
    "SELECT nextval('s') AS o, 1 AS d FROM trips",
    "SELECT o, d FROM trips WHERE setseed(0.5) IS NULL",
    "SELECT write_log('x') AS o, d FROM trips",
    "FROM query('SELECT nextval(''s'') AS o, 1 AS d')",
    "SELECT * FROM json_execute_serialized_sql('x')",
    "SELECT * FROM enable_logging()",
    "SELECT o, d FROM postgres_execute('a', 'DROP TABLE x')",
    "PIVOT trips ON o",
    "SELECT $1 AS o, d FROM trips",
)
# Only a connection of Veil's own cannot do these.
READING = (
    "SELECT column0 AS o, column0 AS d FROM read_csv('{secret}', header = false)",
    "SELECT content AS o, content AS d FROM read_text('{secret}')",
    "SELECT column0 AS o, column0 AS d FROM '{secret}'",
    "SELECT file AS o, file AS d FROM glob('{secret}')",
    "SELECT o, d FROM trips, read_blob('{secret}')",
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "trips.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trips AS SELECT 'a' AS o, 'b' AS d UNION ALL SELECT 'b', 'a'")
        connection.execute("CREATE SEQUENCE s")
    (tmp_path / "secret.csv").write_text("hush\nhush\n")
    return path


def filled(text: str, folder: Path) -> str:
    return text.replace("{out}", str(folder / "out")).replace("{secret}", str(folder / "secret.csv"))


@pytest.mark.mostly_slow(quick=4)
@pytest.mark.parametrize("text", [*FOR_DUCKDB, *READING])
def test_files_of_duckdb(database: Path, text: str) -> None:
    before, folder = database.read_bytes(), database.parent
    with pytest.raises(VeilError) as refused:
        read(database, query=filled(text, folder), **ENDS)
    assert "hush" not in str(refused.value)
    assert database.read_bytes() == before
    assert {one.name for one in folder.iterdir()} == {"trips.duckdb", "secret.csv"}


@pytest.mark.mostly_slow(quick=4)
@pytest.mark.parametrize("text", FOR_DUCKDB)
def test_connections_of_users(database: Path, text: str) -> None:
    folder = database.parent
    with duckdb.connect(str(database)) as connection:
        before = connection.sql("SELECT * FROM duckdb_settings()").fetchall()
        with pytest.raises(InvalidArgument, match="query"):
            read(connection, query=filled(text, folder), **ENDS)
        with pytest.raises(InvalidArgument, match="query"):
            words.read(connection, query=filled(text, folder), by="o", order="d", state="d")
        assert connection.sql("SELECT * FROM trips ORDER BY 1").fetchall() == [("a", "b"), ("b", "a")]
        assert connection.sql("SELECT nextval('s')").fetchall() == [(1,)]
        assert connection.sql("SELECT * FROM duckdb_settings()").fetchall() == before
        assert not (folder / "out").exists()
        # What it may read is the user's own choice.
        assert read(connection, query=filled(READING[0], folder), **ENDS, other="x").total == 2


def test_a_view_that_reads_other_files_is_not_followed(database: Path) -> None:
    secret = database.with_name("secret.csv")
    with duckdb.connect(str(database)) as connection:
        rows = f"SELECT column0 AS o, 1 AS d FROM read_csv('{secret}', header = false)"
        connection.execute(f"CREATE VIEW seen AS {rows}")
    with pytest.raises(InvalidData, match="reads other files") as refused:
        read(database, table="seen", **ENDS)
    assert "hush" not in str(refused.value)


def test_refused_before_anything_is_connected() -> None:
    nowhere = "postgresql://veil:hush@127.0.0.1:1/x"
    for text in ("DROP TABLE trips", "SELECT 1; SELECT 2", "", "SELEKT", "SELECT pg_sleep(9) AS o", ";"):
        with pytest.raises(InvalidArgument, match="query") as refused:
            read(nowhere, query=text or " ; ", **ENDS)
        assert "hush" not in str(refused.value)
    for text in ("(" * 20_000, "SELECT " + "1 + " * 50_000 + "1", "SELECT '" + "x" * 200_000, "SELECT \0"):
        with pytest.raises(InvalidArgument, match="query"):
            read(nowhere, query=text, **ENDS)


# {file}: a file of the server that must not come into being.
FOR_POSTGRES = (
    "DROP TABLE plain_trips",
    "SELECT 1 AS o) AS x; COMMIT; DROP TABLE plain_trips; --",
    "SELECT 1 AS o, 2 AS d; DROP TABLE plain_trips",
    "SELECT 1) AS x; SET default_transaction_read_only = off; COMMIT; BEGIN; DROP TABLE plain_trips; --",
    "COMMIT; DROP TABLE plain_trips",
    "ROLLBACK; BEGIN READ WRITE; DELETE FROM plain_trips; COMMIT",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SELECT set_config('default_transaction_read_only', 'off', false) AS o, d FROM plain_trips",
    "SELECT set_config('transaction_read_only', 'off', false) AS o, d FROM plain_trips",
    "WITH gone AS (DELETE FROM plain_trips RETURNING *) SELECT o, d FROM gone",
    "SELECT o, d INTO other_trips FROM plain_trips",
    "SELECT o, d FROM plain_trips FOR UPDATE",
    "COPY plain_trips TO '{file}'",
    "COPY (SELECT * FROM plain_trips) TO PROGRAM 'cat > {file}'",
    "DO $$ BEGIN DELETE FROM plain_trips; END $$",
    "CALL delete_all()",
    "SELECT delete_all() AS o, d FROM plain_trips",
    "SELECT plain_trips.delete_one AS o, d FROM plain_trips",
    "SELECT nextval('plain_numbers') AS o, d FROM plain_trips",
    "SELECT setval('plain_numbers', 99) AS o, d FROM plain_trips",
    "SELECT lo_import('/etc/passwd') AS o, d FROM plain_trips",
    "SELECT lo_export(lo_from_bytea(0, 'x'), '{file}') AS o, d FROM plain_trips",
    "SELECT lo_from_bytea(0, 'x') AS o, d FROM plain_trips",
    "SELECT pg_read_file('/etc/passwd') AS o, d FROM plain_trips",
    "SELECT o, d FROM plain_trips, pg_ls_dir('/') AS x",
    "SELECT \"pg_read_file\"('/etc/passwd') AS o, d FROM plain_trips",
    "SELECT pg_catalog.pg_read_file('/etc/passwd') AS o, d FROM plain_trips",
    "SELECT PG_TERMINATE_BACKEND(pg_backend_pid()) AS o, d FROM plain_trips",
    "SELECT pg_reload_conf() AS o, d FROM plain_trips",
    "SELECT pg_advisory_lock(1) AS o, d FROM plain_trips",
    "SELECT pg_sleep(1000) AS o, d FROM plain_trips",
    "SELECT pg_notify('a', 'b') AS o, d FROM plain_trips",
    "SELECT query_to_xml('DELETE FROM plain_trips', true, true, '') AS o, d FROM plain_trips",
    "SELECT o, d FROM dblink('', 'DELETE FROM plain_trips') AS x(o text, d text)",
    "VACUUM plain_trips",
    "PREPARE x AS SELECT 1",
    "EXPLAIN ANALYZE DELETE FROM plain_trips",
    "LOCK TABLE plain_trips",
    "LISTEN a",
    "TRUNCATE plain_trips",
)
PLAIN = """
DROP TABLE IF EXISTS plain_trips CASCADE; DROP SEQUENCE IF EXISTS plain_numbers;
CREATE TABLE plain_trips(o text, d text); INSERT INTO plain_trips VALUES ('a', 'b'), ('b', 'a');
CREATE SEQUENCE plain_numbers;
CREATE OR REPLACE FUNCTION delete_all() RETURNS int LANGUAGE sql AS 'DELETE FROM plain_trips; SELECT 1';
CREATE OR REPLACE FUNCTION delete_one(plain_trips) RETURNS int LANGUAGE sql AS
    'DELETE FROM plain_trips; SELECT 1';
"""


@pytest.mark.xdist_group("postgres")
def test_servers_of_postgresql(postgres: Server, tmp_path: Path) -> None:
    import psycopg

    # The server runs as another user, who must be able to write here for the test to say something.
    tmp_path.chmod(0o777)
    held = "SELECT o, d FROM plain_trips ORDER BY 1"
    others = "SELECT count(*) FROM pg_class", "SELECT count(*) FROM pg_largeobject_metadata"
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(PLAIN)
        before = [connection.execute(text).fetchall() for text in (held, *others)]
        assert read(postgres.address(), query=held, **ENDS).total == 2
        for text in FOR_POSTGRES:
            with pytest.raises(VeilError) as refused:
                read(postgres.address(), query=text.replace("{file}", str(tmp_path / "out")), **ENDS)
            assert "root:" not in str(refused.value), text
            assert [connection.execute(one).fetchall() for one in (held, *others)] == before, text
            assert list(tmp_path.iterdir()) == [], text
        assert connection.execute("SELECT nextval('plain_numbers')").fetchone() == (1,)


@pytest.mark.xdist_group("postgres")
def test_the_transaction_itself_is_read_only_and_takes_one_statement(postgres: Server) -> None:
    """What the parser would let through is refused by the server."""
    import psycopg

    from veil.tables.engines.postgres import PostgresEngine
    from veil.tables.sql.statement import Statement, one_select

    def run(statement: Statement) -> None:
        with closing(PostgresEngine(postgres.address(), table=None, statement=statement)) as engine:
            engine.run(engine.relation)

    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(PLAIN)
        tree = one_select("SELECT 1 AS o, 2 AS d", "postgres")
        for text in ("DELETE FROM plain_trips RETURNING o, d", "SELECT 1 AS o; DELETE FROM plain_trips"):
            with pytest.raises(InvalidData):
                run(Statement(text, tree.tree, tree.tokens, "postgres"))
            assert connection.execute("SELECT count(*) FROM plain_trips").fetchone() == (2,)


@pytest.mark.xdist_group("postgres")
def test_functions_that_raise_what_a_parser_raises(postgres: Server) -> None:
    """Any function may raise any error, with cells in its text; only what is parsed may be quoted."""
    import psycopg

    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(PLAIN)
        for code in ("42883", "42804", "42703", "42P01", "22023", "P0001"):
            connection.execute(
                "CREATE OR REPLACE FUNCTION tells(x text) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN "
                "RAISE 'it was %', (SELECT 'hush-' || min(o) FROM plain_trips) "
                f"USING ERRCODE = '{code}'; END $$"
            )
            for text in ("SELECT tells(o) AS o, d FROM plain_trips", "SELECT tells('x') AS o, 'b' AS d"):
                with pytest.raises(InvalidData, match=code) as refused:
                    read(postgres.address(), query=text, **ENDS)
                assert "hush" not in str(refused.value)
        # What is wrong with the text itself is said in the server's words.
        for text, words_said in (
            ("SELECT o, d FROM no_such_table", "no_such_table"),
            ("SELECT o, nothing AS d FROM plain_trips", "nothing"),
            ("SELECT o, no_such(d) AS d FROM plain_trips", "no_such"),
        ):
            with pytest.raises(InvalidData, match=words_said):
                read(postgres.address(), query=text, **ENDS)
