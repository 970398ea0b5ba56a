"""DuckDB: files, frames, and databases of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, TypeVar

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile, VeilError
from veil.core.objects import twice
from veil.tables.engines import duck_catalog
from veil.tables.engines.protocol import KINDS, Column, Kind, quoted, selected, table_parts, text_literal
from veil.tables.engines.spill import SpillFolder
from veil.tables.files import checked_cells
from veil.tables.sql.statement import Statement, one_select
from veil.tables.trace import TracedConnection

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
    tell: is told then how far it is. advice: what errors about cells hint at. The other fields are those of
    every engine.
    """

    name: str
    ask: Callable[[str], Any]
    relation: str
    names: dict[str, str] | None = None
    close: Callable[[], None] = lambda: None
    watches: Any = None
    guesses_layout: bool = False
    tell: Callable[[str], None] | None = None
    row_by_row: bool = True
    advice: str = ""
    dialect: str = "duckdb"

    def columns(self) -> dict[str, Column]:
        with translated(self.name, quotes=not self.guesses_layout):
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
            columns[identifier] = Column(identifier, kind, declared=declared)
        if self.names is None:
            return columns
        return {name: columns[identifier] for name, identifier in self.names.items()}

    def run(self, sql: str) -> Any:
        with translated(self.name, reads_rows=True, advice=self.advice):
            if self.tell is None or self.watches is None:
                answer = self.ask(sql).to_arrow_table()
            else:
                answer = watched(lambda: self.ask(sql).to_arrow_table(), self.watches, self.tell)
        # DuckDB hands on what stands in a Parquet file, text or not.
        return checked_cells(answer, self.name)


@contextmanager
def translated(
    name: str, *, reads_rows: bool = False, quotes: bool = False, advice: str = ""
) -> Iterator[None]:
    """Turn DuckDB's exceptions into ours. Its texts may quote cells.

    quotes: what it says about names is kept, since none of them is a cell and no row is read. advice: for
    cells that do not fit the types that are asked of them.
    """
    import duckdb

    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
        expected, found = "a table or query that DuckDB can read", type(error).__name__
        raise InvalidData(name, expected=expected, found=_first_line(error) if quotes else found) from None
    except duckdb.PermissionException:
        raise InvalidData(
            name,
            expected="a table or query that reads this source alone",
            found="one that reads other files",
            hint="Hand in a connection of your own to read several.",
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
        if "duplicate key" in str(error).casefold():
            raise InvalidData.at(name, twice(name)) from None
        expected, found = (
            "rows that fit the types of their columns",
            f"some that do not ({type(error).__name__})",
        )
        hint = f"The cell is not shown: it may be sensitive. {advice}".strip()
        raise UnreadableFile(name, expected=expected, found=found, hint=hint) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") or type(error).__name__


def watched(work: Callable[[], Result], connection: Any, tell: Callable[[str], None]) -> Result:
    """Do the work on the connection in a thread of its own, and tell now and then how much is done.

    Whoever interrupts the waiting interrupts the query.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        # In the same context: what is asked is told to who listens here.
        running = pool.submit(copy_context().run, work)
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


def private_connection(
    path: str | None = None, *, files: Sequence[str] = (), ordered: bool = False
) -> tuple[Any, Callable[[], None]]:
    """A connection of our own, and what closes it: in memory, or to a database that is only read.

    It can read that database, or these files, and nothing else; and no query can change that. ordered: rows
    of a file come in their order.
    """
    import duckdb

    with ExitStack() as stack:
        source = Path(path or (files[0] if files else "table")).name
        # By default DuckDB spills into the working folder or beside the database; this folder is ours alone.
        spill = SpillFolder()
        stack.callback(spill.remove)
        connection = duckdb.connect(
            path or ":memory:",
            read_only=path is not None,
            config={
                "temp_directory": str(spill.path),
                "memory_limit": _MEMORY,
                "autoinstall_known_extensions": False,
            },
        )
        stack.callback(connection.close)
        # A file may also be asked for by a pattern that matches it alone.
        listed = ", ".join(text_literal(one) for file in files for one in dict.fromkeys((file, escape(file))))
        for setting, value in {
            # Followed by us, and never printed.
            "enable_progress_bar": "true",
            "enable_progress_bar_print": "false",
            "preserve_insertion_order": str(ordered).lower(),
            # A misspelt table must not be found among the variables of the caller.
            "python_enable_replacements": "false",
            "allowed_paths": f"[{listed}]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }.items():
            connection.execute(f"SET {setting} = {value}")
        return TracedConnection(connection, source), stack.pop_all().close


def frame_engine(columns: Mapping[str, Any], *, row_by_row: bool = True) -> DuckEngine:
    """Arrow columns in memory. row_by_row: they are data, rather than what a query makes of data."""
    import pyarrow as pa

    connection, close = private_connection()
    # Plain names inside: DuckDB would not tell a column A from a column a.
    names = {name: f"c{i}" for i, name in enumerate(columns)}
    connection.register("veil_frame", pa.table({names[name]: array for name, array in columns.items()}))
    return DuckEngine(
        "source",
        connection.sql,
        "SELECT * FROM veil_frame",
        names=names,
        close=close,
        watches=connection,
        row_by_row=row_by_row,
    )


def database_engine(path: str, table: str | None, statement: Statement | None) -> DuckEngine:
    """A DuckDB file, opened for reading only."""
    import duckdb

    name, expected, found, hint = Path(path).name, "a DuckDB database", "something else", ""
    try:
        connection, close = private_connection(path)
        try:
            relation, is_row_by_row = relation_of(connection, table, statement, name)
        except VeilError:
            close()
            raise
        return DuckEngine(
            name, connection.sql, relation, close=close, watches=connection, row_by_row=is_row_by_row
        )
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


def connection_engine(connection: Any, table: str | None, statement: Statement | None) -> DuckEngine:
    """A connection that the user has open."""
    connection = TracedConnection(connection, "source")
    relation, is_row_by_row = relation_of(connection, table, statement, "source")
    return DuckEngine("source", connection.sql, relation, row_by_row=is_row_by_row)


def relation_engine(relation: Any) -> DuckEngine:
    """A relation of the user's connection; it is asked through itself."""
    alias = "veil_relation"

    def ask(sql: str) -> Any:
        return relation.query(alias, sql)

    return DuckEngine(
        "source", ask, f"SELECT * FROM {quoted(alias)}", row_by_row=_is_row_by_row(relation, ask)
    )


def _is_row_by_row(relation: Any, ask: Callable[[str], Any]) -> bool:
    """Whether a relation is a table, or a query of one that works row by row, as far as its text shows."""
    try:
        with translated("source"):
            return duck_catalog.row_by_row(ask, one_select(relation.sql_query(), "duckdb")) is not None
    except VeilError:
        return False


def relation_of(
    connection: Any, table: str | None, statement: Statement | None, name: str
) -> tuple[str, bool]:
    """The query behind table= or query=, and whether it works row by row."""
    with translated(name, quotes=True):
        if statement is not None:
            duck_catalog.check_one_select(connection, statement)
            checked = duck_catalog.row_by_row(connection.sql, statement)
            return checked or statement.text, checked is not None
        if table is not None:
            base = duck_catalog.base_table(connection.sql, table_parts(table))
            return (selected(table), False) if base is None else (f"SELECT * FROM {base.path}", True)
        rows = connection.sql("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    listed = ", ".join(str(row[0]) for row in rows[:20])
    hint = f"The database has: {listed}." if rows else ""
    raise InvalidArgument("table", expected="the name of a table", found="none", hint=hint)
