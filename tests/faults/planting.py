"""How a fault is planted: a piece of a function's source is replaced, and the function is made anew.

So a mutant is what a slip of the pen would be, not an object that only looks like our code. The function is
put wherever it has been imported to. Where the piece is no longer found, or is found twice, planting fails: a
mutant that no longer applies must not pass for one that was caught. Kernels that are compiled by numba keep
their own copies of what they call; their faults are planted in the Python around them.
"""

from __future__ import annotations
import __future__

import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pytest
import veil_papers

import veil
from veil.core.random.streams import generator

PACKAGES = (veil, veil_papers)
_ROOTS = {package.__name__ for package in PACKAGES}


class Plant(Protocol):
    """Something that can be planted."""

    def plant(self, patch: pytest.MonkeyPatch) -> None: ...


@dataclass(frozen=True)
class Edit:
    """In the function or method `name` of a module or a class, `old` is written as `new`.

    More pairs may follow in `further`. `old` may span lines; it must occur exactly once.
    """

    owner: Any
    name: str
    old: str
    new: str
    further: tuple[tuple[str, str], ...] = ()

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        _put(patch, self.owner, self.name, self.made())

    def made(self) -> Any:
        """The function with its fault, in the surroundings of the true one."""
        function = _function(vars(self.owner)[self.name])
        source = textwrap.dedent(inspect.getsource(function))
        for old, new in ((self.old, self.new), *self.further):
            if source.count(old) != 1 or old == new:
                where = f"{self.owner.__name__}.{self.name}"
                raise LookupError(f"{where} has {source.count(old)} times: {old!r}. Update the fault.")
            source = source.replace(old, new)
        if not isinstance(self.owner, ModuleType):
            # Outside its class, super() does not know where it stands.
            source = source.replace("super()", f"super({self.owner.__name__}, self)")
        # Annotations stay texts, as in all of our files.
        code = compile(source, f"<fault in {self.name}>", "exec", flags=__future__.annotations.compiler_flag)
        found: dict[str, Any] = {}
        exec(code, function.__globals__, found)
        return found[self.name]


@dataclass(frozen=True)
class Swap:
    """A whole function or method is replaced by another, which is handed the true one."""

    owner: Any
    name: str
    maker: Callable[[Any], Any]

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        _put(patch, self.owner, self.name, self.maker(vars(self.owner)[self.name]))


@dataclass(frozen=True)
class Sampler:
    """A mechanism draws by another sampler, which takes it, a value, a generator and a number of draws."""

    owner: Any
    draw: Callable[..., Any]

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        def sample(mechanism: Any, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
            mechanism.validate(value)
            return self.draw(mechanism, np.asarray(value, dtype=np.float64), generator(rng), size)

        patch.setattr(self.owner, "sample", sample)


def _put(patch: pytest.MonkeyPatch, owner: Any, name: str, made: Any) -> None:
    """Put what was made in the place of the true one, wherever that has been imported or listed."""
    original = vars(owner)[name]
    if isinstance(made, cached_property):
        made.__set_name__(owner, name)
    patch.setattr(owner, name, made)
    if not isinstance(owner, ModuleType):
        return
    for module in modules():
        for alias, found in list(vars(module).items()):
            if found is original:
                patch.setattr(module, alias, made)
            elif isinstance(found, dict) and alias != "__builtins__":
                for key in [key for key, listed in found.items() if listed is original]:
                    patch.setitem(found, key, made)


def _function(found: Any) -> Any:
    """The plain function inside a property, a class method, a cache."""
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, (classmethod, staticmethod)):
        found = found.__func__
    return inspect.unwrap(found)


def modules() -> list[ModuleType]:
    """All of our modules. Loaded now, so that none is loaded, and keeps a fault, while one is planted."""
    for name in _names():
        importlib.import_module(name)
    return [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] in _ROOTS]


@cache
def _names() -> tuple[str, ...]:
    found = [pkgutil.walk_packages(one.__path__, f"{one.__name__}.") for one in PACKAGES]
    names = (module.name for one in found for module in one if not module.name.endswith("__main__"))
    # No fault is planted in the workbench, and its server loads a library that is a plugin of pytest as well.
    return tuple(name for name in names if not name.startswith("veil.studio"))


def _forget() -> None:
    """Empty all caches: what was computed with a fault must not outlive it, nor the other way round."""
    for module in modules():
        for found in list(vars(module).values()):
            if hasattr(found, "cache_clear"):
                found.cache_clear()


def plant(patch: pytest.MonkeyPatch, *plants: Plant) -> None:
    """Plant them for good, or until the patch is undone."""
    _forget()
    for one in plants:
        one.plant(patch)


@contextmanager
def planted(*plants: Plant) -> Iterator[None]:
    """Plant them for a while."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch, *plants)
        yield
    _forget()
