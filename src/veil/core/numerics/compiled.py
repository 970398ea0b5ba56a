"""Loops that Numba compiles when they are first called, so that importing Veil never pays for it; threads."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_type_hints

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Sums may be taken in any order, which lets the compiler use vector instructions. Nothing else that
# "fast" arithmetic means is allowed: infinities and nans stay what they are.
_ARITHMETIC = {"reassoc", "contract", "nsz"}


class Compiled(Generic[Arguments, Result]):
    """A function that is compiled at its first call; the machine code is kept between processes if possible.

    Compiled functions may call one another.
    """

    def __init__(self, function: Callable[Arguments, Result], *, strict: bool = False) -> None:
        self._function: Any = function
        self._arithmetic: Any = False if strict else _ARITHMETIC
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return cast("Result", self._machine_code(*arguments, **named))

    @functools.cached_property
    def _machine_code(self) -> Any:
        import numba

        options = {"nogil": True, "error_model": "numpy", "fastmath": self._arithmetic}
        try:
            dispatcher = numba.njit(cache=True, **options)(self._function)
        except RuntimeError:
            # No folder for the cache is writable: compile again in each process.
            return numba.njit(**options)(self._function)
        # What the machine code is made from: Numba, and the files of this function, of those it calls, and
        # of tuples with named fields, which machine code reads by their places.
        used: list[Any] = [self]
        for one in used:
            if isinstance(one, Compiled):
                function = one._function
                names = (*function.__code__.co_names, *function.__annotations__.values())
                inside = [function.__globals__.get(name) for name in names]
            else:
                inside = list(get_type_hints(one).values())
            tuples = [item for item in inside if isinstance(item, type) and hasattr(item, "_fields")]
            called = [item for item in inside if isinstance(item, Compiled)]
            used += [item for item in (*called, *tuples) if item not in used]
        files = sorted({inspect.getfile(getattr(one, "_function", one)) for one in used})
        hashes = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
        cache = dispatcher._cache
        # Numba would look again whether the folder is writable, and fail; `save` finds out and goes on.
        cache._impl.locator.ensure_cache_path = lambda: None
        base, sources = cache._impl.filename_base, " ".join([numba.__version__, *hashes])
        cache._cache_file = _CodeFiles(
            cache._cache_file,
            lambda key: f"{base}.{hashlib.sha256(f'{key!r} {sources}'.encode()).hexdigest()[:32]}.nbc",
        )
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        # What Numba asks of a global name that a function it compiles refers to.
        return self._machine_code._numba_type_


compiled = Compiled


def strictly_compiled(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """The same, with every operation as it is written: for loops whose rounding errors are bounded."""
    return Compiled(function, strict=True)


@dataclass(frozen=True)
class _CodeFiles:
    """Where machine code is kept: each piece under a name that says all it was made from.

    Numba's own index numbers the files of a function. Two processes that compile the function for different
    arguments at the same time can take the same number, and later calls then run the wrong code; a change
    in a called function goes unnoticed. A name computed from the key and the sources rules both out.
    """

    numba: Any
    name: Callable[[object], str]

    def load(self, key: object) -> Any:
        try:
            return self.numba._load_data(self.name(key))
        except OSError:
            return None

    def save(self, key: object, data: Any) -> None:
        # A full disk or a limit on files must not make a call fail: the code is compiled again next time.
        with suppress(OSError):
            self.numba._save_data(self.name(key), data)


def one_thread() -> AbstractContextManager[Any]:
    """Many small products: threads would wait for one another longer than they work.

    On a busy machine that made a decoding of 300 nodes take seven times as long.
    """
    from threadpoolctl import threadpool_limits

    return cast("AbstractContextManager[Any]", threadpool_limits(limits=1, user_api="blas"))
