"""What a sampler does with every word: randomness that is written down beforehand."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.random.exact_tables import Law

Words = NDArray[np.uint64]
ONES = 2**64 - 1


class Script:
    """Stands in for a generator: whole arrays of words first, then single words, then `after` for ever."""

    def __init__(self, *arrays: Any, more: list[int] | None = None, after: int = 0) -> None:
        self._arrays = [np.asarray(words, dtype=np.uint64) for words in arrays]
        self._more, self._after = list(more or []), after
        self.asked = 0

    def integers(self, low: int, high: int, *, size: int, dtype: Any) -> Words:
        assert (low, high, dtype) == (0, 2**64, np.uint64)
        if self._arrays and self._arrays[0].size == size:
            return self._arrays.pop(0)
        assert size == 1
        self.asked += 1
        return np.array([self._more.pop(0) if self._more else self._after], dtype=np.uint64)


def mutated(module: types.ModuleType, old: str, new: str) -> Any:
    """A copy of a module with a fault planted in its source."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1, old
    copy = types.ModuleType(module.__name__)
    exec(compile(source.replace(old, new), str(module.__file__), "exec"), copy.__dict__)
    return copy


def least_words(holds: Callable[[Words], NDArray[np.bool_]], rows: int) -> list[int]:
    """For each row the least word for which a condition holds; it must hold from there on."""
    low, high = [0] * rows, [2**64] * rows
    for _ in range(64):
        middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
        held = holds(np.array(middle, dtype=np.uint64))
        low = [a if good else m + 1 for a, m, good in zip(low, middle, held, strict=True)]
        high = [m if good else b for b, m, good in zip(high, middle, held, strict=True)]
    return [min(b, ONES) for b in high]


def whole_law(blocks: Any, law: Law, most: int) -> list[Fraction]:
    """The probability, up to a factor, that the code gives to each magnitude of the first `most` blocks.

    All 2^64 first words are accounted for: the words at which the outcome changes are found by bisection of
    what the code does, not of its tables. Words that leave a comparison open are followed by zeros.
    """
    length = 2**law.block_bits
    wanted = np.arange(1, most + 1)
    rows = len(wanted)
    zeros, ones = np.zeros(rows, dtype=np.uint64), np.full(rows, ONES, dtype=np.uint64)

    def reached(words: Words) -> NDArray[np.bool_]:
        drawn = blocks._accepted(Script(words, zeros, ones), law, rows)
        return np.asarray(drawn >> law.block_bits >= wanted)

    starts = [0, *least_words(reached, rows)]
    pairs = [(block, offset) for block in range(most) for offset in range(length)]
    firsts = np.array([(starts[block] + starts[block + 1]) // 2 for block, _ in pairs], dtype=np.uint64)
    offsets = np.array([offset for _, offset in pairs], dtype=np.uint64)
    magnitudes = np.arange(len(pairs))

    def accepted(words: Words) -> NDArray[np.bool_]:
        drawn = blocks._accepted(Script(firsts, offsets, words), law, len(pairs))
        return np.isin(magnitudes, drawn)

    rejected = least_words(accepted, len(pairs)) if law.block_bits else [0] * len(pairs)
    return [
        Fraction((starts[block + 1] - starts[block]) * (2**64 - bound), 2**128)
        for (block, _), bound in zip(pairs, rejected, strict=True)
    ]


class _TooUnlikely(Exception):
    pass


class Choices:
    """Stands in for `_Bits`: takes the choices of a path, then 0, and remembers what there was to choose."""

    def __init__(self, path: tuple[int, ...], least: Fraction) -> None:
        self._path, self._least = path, least
        self.bounds: list[int] = []
        self.probability = Fraction(1)

    def below(self, bound: int) -> int:
        self.probability /= bound
        if self.probability < self._least:
            raise _TooUnlikely
        self.bounds.append(bound)
        return self._path[len(self.bounds) - 1] if len(self.bounds) <= len(self._path) else 0


def enumerated(draw: Callable[[Any], Any], least: Fraction) -> dict[Any, Fraction]:
    """The probability of each outcome over all paths that are at least this likely."""
    found: dict[Any, Fraction] = {}
    for outcome, probability in _paths(draw, least):
        found[outcome] = found.get(outcome, Fraction(0)) + probability
    return found


def _paths(draw: Callable[[Any], Any], least: Fraction) -> Iterator[tuple[Any, Fraction]]:
    path: tuple[int, ...] | None = ()
    while path is not None:
        choices = Choices(path, least)
        with suppress(_TooUnlikely):
            yield draw(choices), choices.probability
        # The next path in order: the last choice that can be raised, is; everything after it starts at 0.
        taken = [*path, *[0] * len(choices.bounds)][: len(choices.bounds)]
        while taken and taken[-1] + 1 == choices.bounds[len(taken) - 1]:
            taken.pop()
        path = (*taken[:-1], taken[-1] + 1) if taken else None
