"""Exact amounts of privacy: decimals that add up to the last digit.

0.1 + 0.9 is 1, and a thousand charges of 0.1 are 100: no sum is ever rounded. A float stands for the shortest
decimal that is read back as it, which is what its owner wrote.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from veil.core.checks import shown
from veil.core.errors import InvalidArgument

# Wide enough for the sum of any floats; what would be rounded all the same is an error.
_EXACT = Context(prec=2_000, Emin=-10_000, Emax=10_000, traps=[Inexact, InvalidOperation])
# A float of so many digits is somebody's choice. A longer one was computed, and is rounded up.
_PLAIN_DIGITS = 15
_CEILING = Context(prec=20, rounding=ROUND_CEILING)


def decimal_of(value: Any) -> Decimal | None:
    """The decimal that a number or a text stands for; None if it stands for none."""
    try:
        if isinstance(value, Decimal):
            amount = value
        elif isinstance(value, (bool, np.bool_)):
            return None
        elif isinstance(value, str):
            # Not all that Python reads: 1_0 is a slip of the hand.
            amount = Decimal(value.strip().replace("_", "?"))
        elif isinstance(value, numbers.Integral):
            amount = Decimal(int(value))
        elif isinstance(value, numbers.Real) and not isinstance(value, Fraction):
            amount = Decimal(repr(float(value)))
        else:
            return None
    except (InvalidOperation, ValueError, OverflowError):
        return None
    if not amount.is_finite() or abs(amount.adjusted()) > 400 or len(amount.as_tuple().digits) > 400:
        return None
    return amount


def _exactly(operation: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Any, Any], Any]:
    """An operation of `Amount` with any number."""

    def method(self: Amount, other: Any) -> Any:
        known = decimal_of(other)
        return NotImplemented if known is None else Amount(operation(self, known))

    return method


def _compares(holds: Callable[[Any, int], bool]) -> Callable[[Any, Any], Any]:
    """A comparison of `Amount` with any number; with a text there is none."""

    def method(self: Amount, other: Any) -> Any:
        known = None if isinstance(other, str) else decimal_of(other)
        return NotImplemented if known is None else holds(self.compare(known), 0)

    return method


class Amount(Decimal):
    """An exact decimal that works with floats, each of which stands for the decimal it is written as.

    >>> Amount("0.3") == 0.3, Amount("0.1") + 0.2 == Amount("0.3")
    (True, True)
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        known = decimal_of(other)
        return NotImplemented if known is None else Amount(_EXACT.add(self, known))

    __radd__ = __add__

    __sub__: Any = _exactly(_EXACT.subtract)
    __rsub__: Any = _exactly(lambda self, other: _EXACT.subtract(other, self))
    __mul__: Any = _exactly(_EXACT.multiply)
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        known = None if isinstance(other, str) else decimal_of(other)
        return known is not None and self.compare(known) == 0

    # All four: those of Decimal would compare a float by its last bit, and 0.3 is no more than 0.3 here.
    __lt__: Any = _compares(operator.lt)
    __le__: Any = _compares(operator.le)
    __gt__: Any = _compares(operator.gt)
    __ge__: Any = _compares(operator.ge)

    def __hash__(self) -> int:
        # Equal numbers have equal hashes, and 0.3 is equal to its float here.
        near = float(self)
        return hash(near) if decimal_of(near) == Decimal(self) else Decimal.__hash__(self)

    def __str__(self) -> str:
        # 1E+1 is a number that people misread.
        plain = Decimal.__format__(self.normalize(_EXACT), "f") if abs(self.adjusted()) <= 18 else ""
        return plain or Decimal.__str__(self.normalize(_EXACT))

    def __repr__(self) -> str:
        return f"Amount('{self}')"

    def __format__(self, spec: str, /, *others: Any) -> str:
        return str(self) if not spec else Decimal.__format__(self, spec)


ZERO = Amount(0)


def amount_of(field: str, value: Any, *, most: int | None = None) -> Amount:
    """A number or a text as an exact amount of at least 0."""
    amount = decimal_of(value)
    expected = "a decimal number of at least 0, such as 0.5"
    expected = expected if most is None else f"a decimal number between 0 and {most:,}"
    if amount is None or amount < 0 or (most is not None and amount > most):
        raise InvalidArgument(field, expected=expected, found=shown(value))
    return Amount(amount)


def charged(field: str, value: Any, *, most: int | None = None) -> Amount:
    """An amount to be charged: as it was stated, or if it was computed, rounded up."""
    amount = amount_of(field, value, most=most)
    if isinstance(value, (str, Decimal)) or len(amount.normalize(_EXACT).as_tuple().digits) <= _PLAIN_DIGITS:
        return amount
    exact = Decimal(float(value)) if isinstance(value, float) else amount
    return Amount(_CEILING.plus(max(exact, amount)))
