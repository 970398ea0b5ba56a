"""DuckDB: files, frames, and databases of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile, VeilError
from veil.tables.engines.protocol import KINDS, Column, Kind, quoted, selected
from veil.tables.files import checked_cells

# Beyond it DuckDB spills to disk: a log of 100 million rows with a cap took 9 GB without, at 0.7 of the time.
_MEMORY = "1500MB"
# Seconds between two looks at how far a query is.
_EVERY = 0.2
Result = TypeVar("Result")


@dataclass
class DuckEngine:
    """A relation in DuckDB.

    ask: runs a query and gives back DuckDB's result. names: what users call the columns, where that
    is not what DuckDB calls them. watches: the connection, where it may be asked how far a query is.
    tell: is told then how far it is.
    """

    name: str
    ask: Callable[[str], Any]
    relation: str
    names: dict[str, str] | None = None
    close: Callable[[], None] = lambda: None
    watches: Any = None
    guesses_layout: bool = False
    tell: Callable[[str], None] | None = None
    dialect: str = "duckdb"

    def columns(self) -> dict[str, Column]:
        with translated(self.name):
            rows = self.ask(f"DESCRIBE {self.relation}").fetchall()
        columns = {}
        for identifier, declared, *_ in rows:
            kind = KINDS.get(declared, Kind.OTHER)
            if declared.endswith("]"):
                kind = Kind.OTHER
            elif declared.startswith("DECIMAL("):
                kind = Kind.WIDE if declared.endswith(",0)") else Kind.FLOAT
            elif declared.startswith("ENUM("):
                kind = Kind.WORDS
            elif declared.startswith(("DATE", "TIME")):
                kind = Kind.TIME
            columns[identifier] = Column(identifier, kind)
        if self.names is None:
            return columns
        return {name: columns[identifier] for name, identifier in self.names.items()}

    def run(self, sql: str) -> Any:
        with translated(self.name, reads_rows=True):
            if self.tell is None or self.watches is None:
                answer = self.ask(sql).to_arrow_table()
            else:
                answer = watched(lambda: self.ask(sql).to_arrow_table(), self.watches, self.tell)
        # DuckDB hands on what stands in a Parquet file, text or not.
        return checked_cells(answer, self.name)


@contextmanager
def translated(name: str, *, reads_rows: bool = False) -> Iterator[None]:
    """Turn DuckDB's exceptions into ours. Its texts may quote cells, so only those about names are kept."""
    import duckdb

    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
        # These are raised before a row is read.
        raise InvalidData(
            name, expected="a table or query that DuckDB can read", found=_first_line(error)
        ) from None
    except RuntimeError as error:
        # DuckDB's word for Ctrl-C.
        if "interrupted" in str(error).casefold():
            raise KeyboardInterrupt from None
        raise
    except duckdb.OutOfMemoryException:
        raise InvalidData(
            name, expected="data that DuckDB can count in its memory", found="more than it has"
        ) from None
    except duckdb.Error as error:
        if isinstance(error, duckdb.IOException) or not reads_rows:
            raise UnreadableFile(name, expected="data that DuckDB can read", found="something else") from None
        expected, found = (
            "rows that fit the types of their columns",
            f"some that do not ({type(error).__name__})",
        )
        hint = "The cell is not shown: it may be sensitive."
        raise UnreadableFile(name, expected=expected, found=found, hint=hint) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") or type(error).__name__


def watched(work: Callable[[], Result], connection: Any, tell: Callable[[str], None]) -> Result:
    """Do the work on the connection in a thread of its own, and tell now and then how much is done.

    Whoever interrupts the waiting interrupts the query.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(work)
        try:
            while True:
                try:
                    return running.result(timeout=_EVERY)
                except TimeoutError:
                    done = connection.query_progress()
                    if done > 0.0:
                        tell(f"counting, {done:.0f} %")
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def private_connection(path: str | None = None) -> tuple[Any, Callable[[], None]]:
    """A connection of our own, in memory or to a file that is only read, and what closes it."""
    import duckdb

    with ExitStack() as stack:
        # By default DuckDB spills into the working folder or beside the database; this folder is ours alone.
        spill = tempfile.mkdtemp(prefix="veil-")
        stack.callback(shutil.rmtree, spill, ignore_errors=True)
        connection = duckdb.connect(
            path or ":memory:",
            read_only=path is not None,
            config={
                "temp_directory": spill,
                "memory_limit": _MEMORY,
                "autoinstall_known_extensions": False,
            },
        )
        stack.callback(connection.close)
        # Followed by us, and never printed.
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET preserve_insertion_order = false")
        # A misspelt table must not be found among the variables of the caller.
        connection.execute("SET python_enable_replacements = false")
        return connection, stack.pop_all().close


def frame_engine(columns: Mapping[str, Any]) -> DuckEngine:
    """Arrow columns in memory."""
    import pyarrow as pa

    connection, close = private_connection()
    # Plain names inside: DuckDB would not tell a column A from a column a.
    names = {name: f"c{i}" for i, name in enumerate(columns)}
    connection.register("veil_frame", pa.table({names[name]: array for name, array in columns.items()}))
    return DuckEngine(
        "source", connection.sql, "SELECT * FROM veil_frame", names=names, close=close, watches=connection
    )


def database_engine(path: str, table: str | None, query: str | None) -> DuckEngine:
    """A DuckDB file, opened for reading only."""
    import duckdb

    name, expected, found, hint = Path(path).name, "a DuckDB database", "something else", ""
    try:
        connection, close = private_connection(path)
        try:
            relation = relation_of(connection, table, query)
        except VeilError:
            close()
            raise
        return DuckEngine(name, connection.sql, relation, close=close, watches=connection)
    except duckdb.ConnectionException:
        expected, found = "a database that is not open", "one that this process has open in another way"
        hint = "Hand in that connection instead of the path."
    except duckdb.IOException as error:
        expected = "a DuckDB database that may be read"
        if "lock" in str(error).casefold():
            found, hint = "one that another process has locked", "Close it there, or count a copy of it."
    except duckdb.Error:
        pass
    raise UnreadableFile(name, expected=expected, found=found, hint=hint)


def connection_engine(connection: Any, table: str | None, query: str | None) -> DuckEngine:
    """A connection that the user has open."""
    return DuckEngine("source", connection.sql, relation_of(connection, table, query))


def relation_engine(relation: Any) -> DuckEngine:
    """A relation of the user's connection; it is asked through itself."""
    alias = "veil_relation"
    return DuckEngine("source", lambda sql: relation.query(alias, sql), f"SELECT * FROM {quoted(alias)}")


def relation_of(connection: Any, table: str | None, query: str | None) -> str:
    """The query behind table= or query=."""
    if table is not None or query is not None:
        return selected(table, query)
    with translated("source"):
        rows = connection.sql("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    listed = ", ".join(str(row[0]) for row in rows[:20])
    hint = f"The database has: {listed}." if rows else ""
    raise InvalidArgument("table", expected="the name of a table", found="none", hint=hint)
