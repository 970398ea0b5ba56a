"""The errors about sources and their rows. They say which column and how many labels, never which labels."""

from __future__ import annotations

from typing import Any

from veil.core.errors import InvalidArgument, InvalidData


def refuse_given(expected: str, *, found: str = "one", **fields: Any) -> None:
    """Raise if a field is given that goes with other sources. expected: instead of it."""
    for field, value in fields.items():
        if value is not None:
            raise InvalidArgument(field, expected=expected, found=found)


def empty_table() -> InvalidData:
    return InvalidData("source", expected="a table with rows", found="none")


def empty_cells(column: str) -> InvalidData:
    return InvalidData(column, expected="a value in every row", found="empty cells")


def no_state(column: str) -> InvalidData:
    return InvalidData(
        column,
        expected="a state in every row",
        found="empty cells",
        hint="Give {other} to count them in a state of their own; {drop_unlisted=True} leaves them out.",
        names=("other", "drop_unlisted"),
    )


def unknown_states(column: str, distinct: int, size: int) -> InvalidData:
    return InvalidData(
        column,
        expected=f"one of the {size} states in every row",
        found=_labels(distinct),
        hint="Add to the list, give {other} to count them in a state of their own, or {drop_unlisted=True}.",
        names=("other", "drop_unlisted"),
    )


def unknown_groups(column: str, distinct: int, size: int) -> InvalidData:
    return InvalidData(column, expected=f"one of the {size} groups in every row", found=_labels(distinct))


def too_many(columns: list[str], most: int) -> InvalidData:
    return InvalidData(
        " and ".join(columns),
        expected=f"at most {most:,} different transitions",
        found="more",
        hint="Do these columns hold states?",
    )


def _labels(distinct: int) -> str:
    if distinct == 1:
        return "1 label that is not on the list"
    return f"{distinct} different labels that are not on the list"
