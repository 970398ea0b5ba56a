"""PostgreSQL, by psycopg: one read-only transaction, so that all queries see the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from veil.core.errors import InvalidData, MissingExtra
from veil.tables.engines.protocol import KINDS, Column, Kind, quoted, selected, table_parts

# Seconds to wait for a server, unless the address says otherwise.
_PATIENCE = 10
# Rows that are turned into columns at a time.
_BATCH = 100_000


class PostgresEngine:
    """A table or a query of a PostgreSQL database."""

    dialect = "postgres"
    guesses_layout = False

    def __init__(self, address: str, *, table: str | None, query: str | None) -> None:
        self.relation = selected(table, query)
        self._connection = _connect(address)
        if query is None and table is not None:
            try:
                self.relation = f"SELECT * FROM {self._known(table)}"
            except BaseException:
                self.close()
                raise

    def _known(self, table: str) -> str:
        """The table by its exact name, or in small letters, as the server does with unquoted names."""
        parts = table_parts(table)
        for candidate in (parts, [part.lower() for part in parts]):
            name = ".".join(map(quoted, candidate))
            with _translated():
                row = self._connection.execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()
            if row is not None and row[0]:
                return name
        raise InvalidData("table", expected="a table of the database", found="no such table")

    def columns(self) -> dict[str, Column]:
        with _translated(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM (\n{self.relation}\n) AS veil_source LIMIT 0")
            described = cursor.description or []
            return {one.name: Column(one.name, self._kind(one)) for one in described}

    def _kind(self, column: Any) -> Kind:
        known = self._connection.adapters.types.get(column.type_code)
        name = "" if known is None else known.name
        if known is not None and known.array_oid == column.type_code:
            return Kind.OTHER
        if name == "numeric":
            return Kind.WIDE if column.scale == 0 and column.precision else Kind.FLOAT
        # Also types that the database defines itself, such as its enumerations.
        return KINDS.get(name.upper(), Kind.WORDS)

    def run(self, sql: str) -> Any:
        import pyarrow as pa

        with _translated(), self._connection.cursor() as cursor:
            cursor.execute(sql)
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
    return connection


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


@contextmanager
def _translated() -> Iterator[None]:
    """Turn psycopg's exceptions into ours; its texts may quote cells, except those about the query itself."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        # Class 42 is raised while the query is read, before any row.
        known = state.startswith("42") and error.diag.message_primary
        raise InvalidData(
            "source",
            expected="a table or query that PostgreSQL can count",
            found=str(known) if known else f"an error of the server ({state or type(error).__name__})",
        ) from None
