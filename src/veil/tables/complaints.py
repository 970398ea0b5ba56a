"""The errors about sources and their rows. They say which column and how many labels, never which labels."""

from __future__ import annotations

from typing import Any

from veil.core.errors import InvalidArgument, InvalidData

# What the user may do about states that are not on the list.
_CHOICES = ("other", "drop_unlisted")


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
    hint = "Give {other} to count them in a state of their own; {drop_unlisted=True} leaves them out."
    return InvalidData(
        column, expected="a state in every row", found="empty cells", hint=hint, names=_CHOICES
    )


def unknown_states(column: str, distinct: int, size: int) -> InvalidData:
    hint = "Add to the list, give {other} to count them in a state of their own, or {drop_unlisted=True}."
    expected = f"one of the {size} states in every row"
    return InvalidData(column, expected=expected, found=_labels(distinct), hint=hint, names=_CHOICES)


def unknown_groups(column: str, distinct: int, size: int) -> InvalidData:
    return InvalidData(column, expected=f"one of the {size} groups in every row", found=_labels(distinct))


def too_many(columns: list[str], most: int) -> InvalidData:
    expected, hint = f"at most {most:,} different transitions", "Do these columns hold states?"
    return InvalidData(" and ".join(columns), expected=expected, found="more", hint=hint)


def _labels(distinct: int) -> str:
    if distinct == 1:
        return "1 label that is not on the list"
    return f"{distinct} different labels that are not on the list"
