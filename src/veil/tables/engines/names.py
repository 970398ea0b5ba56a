"""Names and texts in SQL: quoted, so that any column or table can be called anything."""

from __future__ import annotations


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text in single quotes, as DuckDB and PostgreSQL read it."""
    return "'" + text.replace("'", "''") + "'"


def table_parts(table: str) -> list[str]:
    """The parts of a table's name: split at dots, except inside double quotes."""
    parts, part, inside = [], "", False
    for mark in table:
        if mark == '"':
            inside = not inside
        if mark == "." and not inside:
            parts.append(part)
            part = ""
        else:
            part += mark
    parts.append(part)
    return [_bare(one) for one in parts]


def _bare(part: str) -> str:
    if len(part) > 1 and part[0] == part[-1] == '"':
        return part[1:-1].replace('""', '"')
    return part


def quoted_table(table: str) -> str:
    """A table's name, perhaps with its schema before a dot, with every part in double quotes."""
    return ".".join(map(quoted, table_parts(table)))
