"""Checks of logs: tables of states with times."""

from __future__ import annotations

from veil.tables import complaints
from veil.tables.engines.names import quoted
from veil.tables.engines.protocol import Column, Engine, Kind
from veil.tables.rendering import render


def check_times(engine: Engine, column: Column, name: str) -> None:
    """Raise where times that are text would not sort as times do. name: of their column, for the error.

    Text is sorted character by character. That is the order in time for texts such as 2026-11-15, and for
    texts of one length without separators.
    """
    if column.kind is not Kind.TEXT:
        return
    time = f"veil_source.{quoted(column.identifier)}"
    text = (
        f"SELECT COUNT(CASE WHEN {time} NOT LIKE '____-__-__%' THEN 1 END) AS others, "
        f"MIN(LENGTH({time})) AS shortest, MAX(LENGTH({time})) AS longest, "
        f"COUNT(CASE WHEN {time} LIKE '%/%' OR {time} LIKE '%.%' THEN 1 END) AS marked FROM veil_source"
    )
    whole = f"WITH veil_source AS (\n{engine.relation}\n)\n{render(text, engine.dialect)}"
    found = engine.run(whole).to_pylist()[0]
    if found["others"] and (found["shortest"] != found["longest"] or found["marked"]):
        raise complaints.text_times(name)
