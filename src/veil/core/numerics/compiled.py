"""Loops that Numba compiles when they are first called, so that importing Veil never pays for it."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Sums may be taken in any order, which lets the compiler use vector instructions. Nothing else that
# "fast" arithmetic means is allowed: infinities and nans stay what they are.
_ARITHMETIC = {"reassoc", "contract", "nsz"}


class Compiled(Generic[Arguments, Result]):
    """A function that is compiled at its first call. Compiled functions may call one another."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self._function: Any = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        answer: Result = self._machine_code(*arguments, **named)
        return answer

    @functools.cached_property
    def _machine_code(self) -> Any:
        from numba import njit

        options = {"nogil": True, "error_model": "numpy", "fastmath": _ARITHMETIC}
        try:
            dispatcher = njit(cache=True, **options)(self._function)
        except RuntimeError:
            # No folder for the cache is writable: compile again in each process.
            return njit(**options)(self._function)
        dispatcher._cache._cache_file = _CodeFiles(dispatcher._cache, self._sources())
        return dispatcher

    def _sources(self) -> str:
        """What the machine code is made from: Numba, and the files of this function and of what it uses."""
        import numba

        files = sorted({inspect.getfile(function) for function in self._called(set())})
        return " ".join(
            [numba.__version__, *(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files)]
        )

    def _called(self, seen: set[Any]) -> Iterator[Any]:
        if self._function in seen:
            return
        seen.add(self._function)
        yield self._function
        for name in (*self._function.__code__.co_names, *self._function.__annotations__.values()):
            used = self._function.__globals__.get(name)
            if isinstance(used, Compiled):
                yield from used._called(seen)
            elif isinstance(used, type) and hasattr(used, "_fields"):
                yield from _tuples(used, seen)

    @property
    def _numba_type_(self) -> Any:
        # What Numba asks of a global name that a function it compiles refers to.
        return self._machine_code._numba_type_


def _tuples(tuple_class: Any, seen: set[Any]) -> Iterator[Any]:
    """A tuple with named fields, which machine code reads by their places, and those within it."""
    if tuple_class not in seen:
        seen.add(tuple_class)
        yield tuple_class
        for used in get_type_hints(tuple_class).values():
            if isinstance(used, type) and hasattr(used, "_fields"):
                yield from _tuples(used, seen)


class _CodeFiles:
    """Where machine code is kept: each piece under a name that says all it was made from.

    Numba's own index numbers the files of a function. Two processes that compile the function for different
    arguments at the same time can take the same number, and later calls then run the wrong code; a change
    in a called function goes unnoticed. A name computed from the key and the sources rules both out.
    """

    def __init__(self, cache: Any, sources: str) -> None:
        self._numba = cache._cache_file
        self._base = f"{cache._impl.filename_base}.{{}}.nbc"
        self._sources = sources

    def _name(self, key: object) -> str:
        return self._base.format(hashlib.sha256(f"{key!r} {self._sources}".encode()).hexdigest()[:32])

    def load(self, key: object) -> Any:
        try:
            return self._numba._load_data(self._name(key))
        except OSError:
            return None

    def save(self, key: object, data: Any) -> None:
        self._numba._save_data(self._name(key), data)


def compiled(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Compile the function when it is first called; keep the machine code between processes if possible."""
    return Compiled(function)
