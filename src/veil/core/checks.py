"""Checks of arguments, with errors that name the field."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sized
from contextlib import suppress
from typing import Any, cast

from veil.core.errors import InvalidArgument, InvalidField
from veil.core.progress import tell
from veil.core.text import fault_in

# More items than any list of options, labels or rows has.
_MOST_ITEMS = 100_000_000


def shown(value: Any) -> str:
    """What was found, for an error: the value itself where it is short, else its type."""
    try:
        text = repr(value)
    except (ValueError, RecursionError, MemoryError):
        # A whole number of thousands of digits, or lists without end.
        text = ""
    return text if 0 < len(text) <= 40 else f"{type(value).__name__}"


def within(
    field: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    expected: str = "a finite number",
    finite: bool = True,
) -> float:
    """The value as a float between low and high, both included."""
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        # A whole number may be too large for a float.
        with suppress(OverflowError):
            number = float(value)
    if not low <= number <= high or (finite and math.isinf(number)):
        raise InvalidArgument(field, expected=expected, found=shown(value))
    return number


def positive(field: str, value: Any, *, least: float = 1e-30, most: float = 1e30) -> float:
    """The value as a float above zero, of a size with which one can compute."""
    number = within(field, value, expected="a positive number")
    if not least <= number <= most:
        expected = (
            f"a positive number between {least:g} and {most:g}" if number > 0.0 else "a positive number"
        )
        raise InvalidArgument(field, expected=expected, found=shown(value))
    return number


def integer(field: str, value: Any, *, least: int, most: int | None = None) -> int:
    """The value as a whole number of at least `least`, and at most `most` if there is such a limit."""
    expected = f"a whole number of at least {least}"
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
    else:
        real_value = within(field, value, expected=expected)
        number = int(real_value)
        if number != real_value:
            raise InvalidArgument(field, expected=expected, found=shown(value))
    if number < least:
        raise InvalidArgument(field, expected=expected, found=shown(value))
    if most is not None and number > most:
        raise InvalidArgument(field, expected=f"a whole number of at most {most:,}", found=shown(value))
    return number


def choice(field: str, value: Any, options: tuple[str, ...]) -> str:
    """The value, one of a few words."""
    if not isinstance(value, str) or value not in options:
        raise InvalidArgument(field, expected=" or ".join(map(repr, options)), found=shown(value))
    return str(value)


def truth(field: str, value: Any) -> bool:
    """The value as True or False; a number is neither."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise InvalidArgument(field, expected="True or False", found=shown(value))
    return bool(value)


def on_progress(field: str, progress: Any) -> Callable[[str], None]:
    """The function to call with what is being done; where none was given, whoever listens is told."""
    if progress is None:
        return tell
    if not callable(progress):
        raise InvalidArgument(field, expected="a function that takes text", found=shown(progress))
    return cast("Callable[[str], None]", progress)


def items(field: str, value: Any, *, expected: str) -> list[Any]:
    """What a list or the like holds; text and mappings are none."""
    other = isinstance(value, (str, bytes, bytearray, memoryview, Mapping)) or hasattr(value, "tocoo")
    if not other and isinstance(value, Iterable):
        try:
            if isinstance(value, Sized) and len(value) > _MOST_ITEMS:
                raise InvalidArgument(field, expected=expected, found="far too many")
            return list(value)
        except (TypeError, OverflowError):
            # An array of no dimension looks like a list, and a range may be longer than can be told.
            pass
    raise InvalidArgument(field, expected=expected, found=shown(value))


def delta_of(value: Any) -> float:
    """A privacy failure probability."""
    return within("delta", value, 0.0, 1.0, expected="a number between 0 and 1")


def plain_texts(field: str, texts: Iterable[str], *, error: type[InvalidField] = InvalidArgument) -> None:
    """Refuse labels that could not be written and read again as they are. They are not quoted."""
    fault = fault_in(texts)
    if fault is not None:
        raise error(field, expected="text without control characters", found=fault)
