"""Spark: a DataFrame, or a table or query of a session."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.complaints import refuse_given
from veil.tables.engines.protocol import KINDS, Column, Kind, selected, table_parts
from veil.tables.sql.row_wise import BaseTable, Name, row_wise
from veil.tables.sql.statement import Statement

# Formats of tables that keep rows as they were put in.
_KEPT = {"parquet", "orc", "delta", "iceberg", "avro", "hive"}


def kind_of(declared: str) -> Kind:
    """The kind of a column from Spark's name of its type."""
    if declared.startswith("decimal("):
        return Kind.WIDE if declared.endswith(",0)") else Kind.FLOAT
    if declared.startswith(("char(", "varchar(")):
        return Kind.WORDS
    return KINDS.get(declared.partition(" ")[0].upper(), Kind.OTHER)


def column_of(name: str, declared: str) -> Column:
    """A column from Spark's name of its type, which names a collation if it is not that of bytes."""
    return Column(name, kind_of(declared), folded=" collate " in declared, declared=declared.upper())


class SparkEngine:
    """A DataFrame under a temporary name in its session, or what a session knows by name."""

    dialect = "spark"
    guesses_layout = False

    def __init__(self, source: Any, *, table: str | None, statement: Statement | None) -> None:
        self._view: str | None = None
        # A DataFrame is a query, of which Spark does not show the text.
        self.row_by_row = False
        # By name: a Column of Spark claims to have every attribute.
        kind = type(source).__name__
        if kind == "DataFrame":
            refuse_given("none for a DataFrame", table=table, query=statement)
            self._session = source.sparkSession
            self._view = f"veil_{uuid4().hex}"
            with _translated():
                source.createTempView(self._view)
            self.relation = f"SELECT * FROM {self._view}"
        elif kind == "SparkSession":
            self._session = source
            with _translated():
                self._open(table, statement)
        else:
            raise InvalidArgument("source", expected="a DataFrame or a SparkSession", found="another object")

    def _open(self, table: str | None, statement: Statement | None) -> None:
        if statement is None:
            self.relation = selected(table, _quoted)
            base = _base_table(self._session, table_parts(str(table)))
            self.row_by_row = base is not None
            return
        found = row_wise(statement)
        base = None if found is None else _base_table(self._session, [part.text for part in found.table])
        checked = None if found is None or base is None else found.text(base, _folded, _quoted)
        # A function of the session may have the name of one of Spark's own.
        own = self._session.sql("SHOW USER FUNCTIONS").collect() if checked is not None else []
        if {str(row[0]).rpartition(".")[2].casefold() for row in own} & statement.called:
            checked = None
        self.relation, self.row_by_row = checked or statement.text, checked is not None

    def columns(self) -> dict[str, Column]:
        with _translated():
            # In brackets: Spark runs what is not a query at once.
            schema = self._session.sql(f"SELECT * FROM (\n{self.relation}\n) AS veil_source").schema
        return {field.name: column_of(field.name, field.dataType.simpleString()) for field in schema}

    def run(self, sql: str) -> Any:
        with _translated():
            frame = self._session.sql(sql)
            if hasattr(frame, "toArrow"):
                return frame.toArrow()
            rows = frame.collect()
        import pyarrow as pa

        return pa.table({name: [row[i] for row in rows] for i, name in enumerate(frame.columns)})

    def close(self) -> None:
        if self._view is not None:
            self._session.catalog.dropTempView(self._view)


def _quoted(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"


def _folded(name: Name) -> str:
    """Spark does not tell upper from lower case in names, quoted or not."""
    return name.text.casefold()


def _base_table(session: Any, parts: list[str]) -> BaseTable | None:
    """The table of this name, if it keeps rows in files of a known format; None for views and all else."""
    name = ".".join(map(_quoted, parts))
    if not session.catalog.tableExists(name):
        return None
    found = session.catalog.getTable(name)
    if found.isTemporary or found.tableType not in ("MANAGED", "EXTERNAL") or not found.namespace:
        return None
    path = ".".join(map(_quoted, (*([found.catalog] if found.catalog else []), *found.namespace, found.name)))
    rows = session.sql(f"DESCRIBE TABLE EXTENDED {path}").collect()
    if {str(row[1]).casefold() for row in rows if row[0] == "Provider"} & _KEPT == set():
        return None
    return BaseTable(path, frozenset(session.table(path).columns))


@contextmanager
def _translated() -> Iterator[None]:
    """Turn Spark's exceptions into ours, without their texts, which may quote cells, nor in its log."""
    log = logging.getLogger("SQLQueryContextLogger")
    silent, log.disabled = log.disabled, True
    try:
        yield
    except Exception as error:
        # Without an import: a client of a remote Spark has no bridge to Java whose errors could be named.
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        condition = _condition(error) or type(error).__name__
        raise InvalidData(
            "source", expected="a table or query that Spark can count", found=f"the error {condition}"
        ) from None
    finally:
        log.disabled = silent


def _condition(error: Any) -> str | None:
    """Spark's name of what went wrong, such as TABLE_OR_VIEW_NOT_FOUND; version 3 calls it differently."""
    ask = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    condition = None if ask is None else ask()
    return None if condition is None else str(condition)
