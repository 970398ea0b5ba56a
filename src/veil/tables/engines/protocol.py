"""What every engine can do: name its columns and run one query. Nothing else is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from veil.core.errors import InvalidData


class Kind(Enum):
    """What a column holds, as far as counting cares."""

    INTEGER = "whole numbers"
    WIDE = "whole numbers of any size"
    TEXT = "text"
    WORDS = "values that are told apart by their text"
    FLOAT = "floating-point numbers"
    TIME = "times"
    OTHER = "nested or binary values"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the engine knows it: its identifier there, and what it holds."""

    identifier: str
    kind: Kind


class Engine(Protocol):
    """A table in an engine. `relation` is a query, in the engine's dialect, that gives its rows."""

    @property
    def dialect(self) -> str: ...

    @property
    def relation(self) -> str: ...

    @property
    def guesses_layout(self) -> bool:
        """Whether the types of the columns were guessed from the rows."""
        ...

    def columns(self) -> dict[str, Column]:
        """The columns by the names that users know them by."""
        ...

    def run(self, sql: str) -> Any:
        """The result of a query as an Arrow table."""
        ...

    def close(self) -> None:
        """Give back what was opened. What the user handed in stays open."""
        ...


def find_column(columns: dict[str, Column], name: str, role: str) -> Column:
    """The column of this name, or an error that names the nearest."""
    if name in columns:
        return columns[name]
    raise missing_column(list(columns), name, role)


def missing_column(names: list[str], name: str, role: str) -> InvalidData:
    """The error for a column that is not there."""
    from difflib import get_close_matches

    folded = {other.casefold(): other for other in names}
    near = get_close_matches(name.casefold(), list(folded), 1, 0.5)
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return InvalidData(
        role,
        expected=f"a column {name!r}",
        found=f"the columns {listed}" if names else "no columns",
        hint=f"Did you mean {folded[near[0]]!r}?" if near else "",
    )
