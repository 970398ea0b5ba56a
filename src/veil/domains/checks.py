"""Checks of plain numbers, with errors that name the field."""

from __future__ import annotations

import math
import numbers
from typing import Any

from veil.errors import InvalidArgument


def _describe(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{type(value).__name__}"


def real(field: str, value: Any, *, expected: str = "a finite number") -> float:
    """The value as a finite float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidArgument(field, expected=expected, found=_describe(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidArgument(field, expected=expected, found=_describe(value))
    return number


def positive(field: str, value: Any, *, least: float = 1e-30, most: float = 1e30) -> float:
    """The value as a float above zero, of a size with which one can compute."""
    number = real(field, value, expected="a positive number")
    if not least <= number <= most:
        expected = (
            f"a positive number between {least:g} and {most:g}" if number > 0.0 else "a positive number"
        )
        raise InvalidArgument(field, expected=expected, found=_describe(value))
    return number


def within(field: str, value: Any, low: float, high: float, *, expected: str) -> float:
    """The value as a float between low and high, both included."""
    number = real(field, value, expected=expected)
    if not low <= number <= high:
        raise InvalidArgument(field, expected=expected, found=_describe(value))
    return number


def integer(field: str, value: Any, *, least: int) -> int:
    """The value as a whole number of at least `least`."""
    expected = f"a whole number of at least {least}"
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
    else:
        real_value = real(field, value, expected=expected)
        number = int(real_value)
        if number != real_value:
            raise InvalidArgument(field, expected=expected, found=_describe(value))
    if number < least:
        raise InvalidArgument(field, expected=expected, found=_describe(value))
    return number


def choice(field: str, value: Any, options: tuple[str, ...]) -> str:
    """The value, one of a few words."""
    if value not in options:
        raise InvalidArgument(field, expected=" or ".join(map(repr, options)), found=_describe(value))
    return str(value)


def epsilon_of(value: Any) -> float:
    """A privacy loss: finite or infinite, not negative."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and value == math.inf:
        return math.inf
    return within("epsilon", value, 0.0, math.inf, expected="a number of at least 0")


def delta_of(value: Any) -> float:
    """A privacy failure probability."""
    return within("delta", value, 0.0, 1.0, expected="a number between 0 and 1")
