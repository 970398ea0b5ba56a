"""Which engine a source lives in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from veil.core.errors import InvalidArgument
from veil.tables.engines.protocol import Engine
from veil.tables.frames import frame_columns, is_frame

_ADDRESSES = ("postgresql://", "postgres://", "postgresql+psycopg://", "postgresql+psycopg2://")


def open_engine(
    source: Any,
    wanted: Mapping[str, str],
    *,
    table: str | None = None,
    query: str | None = None,
) -> Engine:
    """The engine that holds the source. wanted: the columns that will be used, by role."""
    for field, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidArgument(field, expected="text", found=type(value).__name__)
    if table is not None and query is not None:
        raise InvalidArgument("query", expected="either a table or a query", found="both")
    if isinstance(source, str) and source.startswith(_ADDRESSES):
        from veil.tables.engines.postgres import PostgresEngine

        return PostgresEngine(source, table=table, query=query)
    if isinstance(source, (str, os.PathLike)):
        from veil.tables.engines.files import open_files

        return open_files(str(os.fspath(source)), wanted, table=table, query=query)
    if type(source).__name__ == "DuckDBPyConnection":
        from veil.tables.engines.duck import connection_engine

        return connection_engine(source, table, query)
    if type(source).__module__.startswith("pyspark."):
        from veil.tables.engines.spark import SparkEngine

        return SparkEngine(source, table=table, query=query)
    for field, value in (("table", table), ("query", query)):
        if value is not None:
            raise InvalidArgument(field, expected="none for this kind of source", found="one")
    if type(source).__name__ == "DuckDBPyRelation":
        from veil.tables.engines.duck import relation_engine

        return relation_engine(source)
    if is_frame(source):
        from veil.tables.engines.duck import frame_engine

        roles = {name: role for role, name in wanted.items()}
        return frame_engine(frame_columns(source, list(roles), roles=roles, mixed=False) or {})
    raise InvalidArgument(
        "source",
        expected="a path, a table in memory, a DuckDB or Spark table, or a postgresql:// address",
        found=f"an object of type {type(source).__name__}",
    )
