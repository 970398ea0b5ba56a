"""The columns of a table that a question needs."""

from __future__ import annotations

from collections.abc import Mapping

from veil.core.errors import InvalidData
from veil.tables.engines.protocol import Column, Engine, Kind, find_column


def needed_columns(engine: Engine, roles: Mapping[str, str]) -> dict[str, Column]:
    """The columns that are needed, by role, after a look at what they hold."""
    present = engine.columns()
    if engine.guesses_layout and not set(present) & set(roles.values()):
        # Then the first line may hold cells, which are not to be shown.
        role, name = next(iter(roles.items()))
        raise InvalidData(role, expected=f"a column {name!r}", found="none of those asked for in the file")
    columns = {role: find_column(present, name, role) for role, name in roles.items()}
    for role, column in columns.items():
        name = roles[role]
        if column.kind is Kind.OTHER:
            raise InvalidData(name, expected="a column of single values", found=column.kind.value)
        if role in {"order", "tie_break"}:
            continue
        if column.kind is Kind.FLOAT:
            raise InvalidData(
                name,
                expected="whole numbers or text",
                found=column.kind.value,
                hint="Cast it to whole numbers or text; in pandas a gap turns whole numbers into such.",
            )
        if column.kind is Kind.TIME and not role.startswith("by"):
            raise InvalidData(
                name, expected="whole numbers or text", found=column.kind.value, hint="Cast it to text."
            )
    return columns
