"""Spark: a DataFrame, or a table or query of a session."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.complaints import refuse_given
from veil.tables.engines.protocol import KINDS, Column, Kind, selected


def kind_of(declared: str) -> Kind:
    """The kind of a column from Spark's name of its type."""
    if declared.startswith("decimal("):
        return Kind.WIDE if declared.endswith(",0)") else Kind.FLOAT
    if declared.startswith(("char(", "varchar(")):
        return Kind.WORDS
    return KINDS.get(declared.partition(" ")[0].upper(), Kind.OTHER)


def column_of(name: str, declared: str) -> Column:
    """A column from Spark's name of its type, which names a collation if it is not that of bytes."""
    return Column(name, kind_of(declared), folded=" collate " in declared)


class SparkEngine:
    """A DataFrame under a temporary name in its session, or what a session knows by name."""

    dialect = "spark"
    guesses_layout = False

    def __init__(self, source: Any, *, table: str | None, query: str | None) -> None:
        self._view: str | None = None
        # By name: a Column of Spark claims to have every attribute.
        kind = type(source).__name__
        if kind == "DataFrame":
            refuse_given("none for a DataFrame", table=table, query=query)
            self._session = source.sparkSession
            self._view = f"veil_{uuid4().hex}"
            with _translated():
                source.createTempView(self._view)
            self.relation = f"SELECT * FROM {self._view}"
        elif kind == "SparkSession":
            self._session = source
            self.relation = selected(table, query, lambda part: "`" + part.replace("`", "``") + "`")
        else:
            raise InvalidArgument("source", expected="a DataFrame or a SparkSession", found="another object")

    def columns(self) -> dict[str, Column]:
        with _translated():
            schema = self._session.sql(self.relation).schema
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
