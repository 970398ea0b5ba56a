"""Loops that Numba compiles when they are first called, so that importing Veil never pays for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Sums may be taken in any order, which lets the compiler use vector instructions. Nothing else that
# "fast" arithmetic means is allowed: infinities and nans stay what they are.
_ARITHMETIC = {"reassoc", "contract", "nsz"}


class Compiled(Generic[Arguments, Result]):
    """A function that is compiled at its first call. Compiled functions may call one another."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        answer: Result = self._machine_code(*arguments, **named)
        return answer

    @functools.cached_property
    def _machine_code(self) -> Any:
        from numba import njit

        options = {"nogil": True, "error_model": "numpy", "fastmath": _ARITHMETIC}
        try:
            return njit(cache=True, **options)(self._function)
        except RuntimeError:
            # No folder for the cache is writable: compile anew in each process.
            return njit(**options)(self._function)

    @property
    def _numba_type_(self) -> Any:
        # What Numba asks of a global name that a function it compiles refers to.
        return self._machine_code._numba_type_


def compiled(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Compile the function when it is first called; keep the machine code between processes if possible."""
    return Compiled(function)
