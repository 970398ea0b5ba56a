"""PostgreSQL, by psycopg: one read-only transaction, so that all queries see the same rows.

Nothing can be written: a query is one SELECT (`veil.tables.sql.statement`), the server parses it as a single
statement (the extended protocol takes no more), the transaction is read-only, which cannot be changed inside
it, and functions that the server calls volatile are refused, but for a few that only compute. A role that may
do nothing but SELECT from the table is still the best fence (docs/tables.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData, MissingExtra
from veil.tables.engines import postgres_catalog
from veil.tables.engines.protocol import KINDS, Column, Kind, quoted, selected, table_parts
from veil.tables.sql.statement import Statement
from veil.tables.trace import TracedConnection, asked

# Seconds to wait for a server, unless the address says otherwise.
_PATIENCE = 10
# Rows that are turned into columns at a time.
_BATCH = 100_000


class PostgresEngine:
    """A table or a query of a PostgreSQL database."""

    dialect = "postgres"
    guesses_layout = False

    def __init__(self, address: str, *, table: str | None, statement: Statement | None) -> None:
        self.relation = selected(table) if statement is None else statement.text
        self.row_by_row = False
        self._described: Any = None
        self._connection = _connect(address)
        try:
            with _translated():
                if statement is None:
                    self._open_table(table_parts(str(table)))
                else:
                    self._open_query(statement)
        except BaseException:
            self.close()
            raise

    def _open_table(self, parts: list[str]) -> None:
        """The table by its exact name, or in small letters, as the server does with unquoted names."""
        for candidate in (parts, [part.lower() for part in parts]):
            name = ".".join(map(quoted, candidate))
            row = self._connection.execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()
            if row is not None and row[0]:
                base = postgres_catalog.base_table(self._connection, name)
                self.relation = f"SELECT * FROM {name if base is None else base.path}"
                self.row_by_row = base is not None
                if base is not None:
                    postgres_catalog.use_own_functions(self._connection)
                self._prepare()
                return
        raise InvalidData("table", expected="a table of the database", found="no such table")

    def _open_query(self, statement: Statement) -> None:
        """The query as it is, or with the whole name of its table if it works row by row."""
        import psycopg

        if postgres_catalog.acts(self._connection, statement):
            expected, found = "functions that only compute", "one that the server calls volatile"
            raise InvalidArgument("query", expected=expected, found=found, hint="Nothing was run.")
        checked = postgres_catalog.row_by_row(self._connection, statement)
        if checked is not None:
            try:
                postgres_catalog.use_own_functions(self._connection)
                self.relation, self.row_by_row = checked, True
                self._prepare()
                return
            except psycopg.Error:
                # It calls a function that is not PostgreSQL's own.
                self._connection.rollback()
                self.relation, self.row_by_row = statement.text, False
        self._prepare()

    def _prepare(self) -> None:
        """Have the server parse the query, as a single statement, without running any of it."""
        asked("database", f"PREPARE {self.relation}")
        server = self._connection.pgconn
        prepared = server.prepare(b"veil_source", self.relation.encode(self._connection.info.encoding))
        _check_result(prepared, self._connection)
        self._described = server.describe_prepared(b"veil_source")
        _check_result(self._described, self._connection)

    def columns(self) -> dict[str, Column]:
        found = self._described
        names = [found.fname(i).decode(self._connection.info.encoding) for i in range(found.nfields)]
        types = self._connection.adapters.types
        return {
            name: Column(
                name,
                self._kind(code, found.fmod(i)),
                declared="" if types.get(code) is None else types[code].name.upper(),
            )
            for i, (name, code) in enumerate((name, found.ftype(i)) for i, name in enumerate(names))
        }

    def _kind(self, code: int, modifier: int) -> Kind:
        """What a column holds, by the number of its type and what the type is declared with."""
        known = self._connection.adapters.types.get(code)
        name = "" if known is None else known.name
        if known is not None and known.array_oid == code:
            return Kind.OTHER
        if name == "numeric":
            # In the modifier: 4 + 65,536 times the number of digits + those after the point.
            return Kind.WIDE if modifier >= 4 and (modifier - 4) & 0x7FF == 0 else Kind.FLOAT
        # Also types that the database defines itself, such as its enumerations.
        return KINDS.get(name.upper(), Kind.WORDS)

    def run(self, sql: str) -> Any:
        import pyarrow as pa

        asked("database", sql)
        with _translated(), self._connection.cursor() as cursor:
            # Prepared: the extended protocol takes a single statement.
            cursor.execute(sql, prepare=True)
            names = [one.name for one in cursor.description or []]
            parts: list[list[Any]] = [[] for _ in names]
            while rows := cursor.fetchmany(_BATCH):
                for part, values in zip(parts, zip(*rows, strict=True), strict=True):
                    part.append(pa.array(values))
        return pa.table(
            {name: _joined(arrays) for name, arrays in zip(names, parts, strict=True)}
            if any(parts)
            else {name: pa.array([], pa.int64()) for name in names}
        )

    def close(self) -> None:
        self._connection.close()


def _joined(arrays: list[Any]) -> Any:
    """One column of batches, some of which may be empty cells only and so have no type."""
    import pyarrow as pa

    kind = next((array.type for array in arrays if not pa.types.is_null(array.type)), pa.int64())
    return pa.chunked_array([array.cast(kind) for array in arrays], kind)


def _connect(address: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None

    scheme, _, rest = address.partition("://")
    try:
        options = psycopg.conninfo.conninfo_to_dict(f"{scheme.partition('+')[0]}://{rest}")

        connection = psycopg.connect(**({"connect_timeout": _PATIENCE} | options))
        connection.execute("SET default_transaction_read_only = on")
        connection.commit()
    except psycopg.Error as error:
        # The text of the error may hold the address, and so the password.
        raise InvalidData("source", expected="a PostgreSQL server", found=_trouble(str(error))) from None
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return TracedConnection(connection, "database")


def _trouble(text: str) -> str:
    """What went wrong with a connection, in our words."""
    for sign, words in (
        ("password authentication failed", "a wrong user or password"),
        ("no password supplied", "no password"),
        ("pg_hba.conf", "one that does not let this user in"),
        ("role", "no such user"),
        ("database", "no such database"),
        ("refused", "none that answers at this address"),
        ("timeout", "none that answers in time"),
        ("translate host", "no such host"),
        ("resolve", "no such host"),
        ("invalid", "an address that is not well formed"),
        ("missing", "an address that is not well formed"),
    ):
        if sign in text:
            return words
    return "none that can be reached"


class _AtParsing(Exception):
    """What the server says of a text that it only parsed: it can quote the text, but no row."""


def _check_result(result: Any, connection: Any) -> None:
    from psycopg import pq
    from psycopg.errors import error_from_result

    if result.status == pq.ExecStatus.FATAL_ERROR:
        error = error_from_result(result, connection.info.encoding)
        raise error from _AtParsing()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn psycopg's exceptions into ours; its texts may quote cells, except where a text is only parsed.

    Not even the class of an error says that no row was read: a function may raise any.
    """
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        is_parsing = isinstance(error.__cause__, _AtParsing) and state.startswith("42")
        said = error.diag.message_primary if is_parsing else None
        raise InvalidData(
            "source",
            expected="a table or query that PostgreSQL can count",
            found=str(said) if said else f"an error of the server ({state or type(error).__name__})",
        ) from None
