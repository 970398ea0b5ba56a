"""Languages: the words of a fixed length that may be released."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from veil.core import checks
from veil.core.brief import brief_repr
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import Domain
from veil.words.numerics.graph import WordGraph, edges_after, graph_of
from veil.words.word_batch import Codes, Labels, WordBatch, coded, not_feasible

_LONGEST = 10_000_000


@dataclass(frozen=True)
class Language(Domain):
    """A set of words of `length` symbols. The graph is public, a word of it is not."""

    length: int
    name: ClassVar[str] = ""
    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        length = checks.integer("length", self.length, least=1)
        if length > _LONGEST:
            raise InvalidArgument("length", expected=f"at most {_LONGEST:,}", found=f"{length:,}")
        object.__setattr__(self, "length", length)

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """The alphabet, in the order of the codes."""

    @property
    @abstractmethod
    def graph(self) -> WordGraph:
        """The language as the paths of a graph."""

    def of_length(self, length: int) -> Self:
        """The same language with words of another length."""
        return replace(self, length=length)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def validate(self, value: Any, *, shorter: bool = False) -> WordBatch:
        """One word or a batch as codes. A word outside the language is an error that names the position.

        shorter: words of fewer symbols than `length` are welcome, each taken as one of its own length.
        """
        batch = coded(value, self.labels, self._places)
        wrong = batch.lengths > self.length if shorter else batch.lengths != self.length
        if wrong.any():
            which = int(np.flatnonzero(wrong)[0])
            field = "word" if len(batch) == 1 else f"word {which + 1}"
            most = "at most " if shorter else ""
            found = f"{int(batch.lengths[which])}"
            raise InvalidData(field, expected=f"{most}{self.length} symbols", found=found)
        for length, (numbers, rows) in batch.by_length.items():
            self._check(numbers, rows, len(batch) == 1, length)
        return batch

    def _check(self, which: Any, rows: Codes, is_single: bool, length: int) -> None:
        """Whether there is a path for each word; all of them take one step at a time."""
        graph = self.graph
        at = np.full(len(rows), graph.size, dtype=np.int32)
        for t in range(length):
            at = graph.step[at, rows[:, t]]
            stuck = np.flatnonzero(at < 0)
            if len(stuck):
                number = None if is_single else int(which[stuck[0]]) + 1
                expected = "a first symbol" if t == 0 else "a symbol that may follow the one before it"
                raise not_feasible(number, t + 1, expected, "one that is not allowed there")
        unended = np.flatnonzero(~graph.last[at])
        if len(unended):
            number = None if is_single else int(which[unended[0]]) + 1
            raise not_feasible(number, length, "a symbol on which a word may end", "another")

    @cached_property
    def number_of_words(self) -> int:
        """How many words the language has; a whole number of any size."""
        graph = self.graph
        counts = [int(end) for end in graph.last]
        starts, targets = graph.starts.tolist(), graph.targets.tolist()
        for _ in range(self.length - 1):
            counts = [
                sum(counts[target] for target in targets[starts[v] : starts[v + 1]])
                for v in range(graph.size)
            ]
        return sum(count for count, first in zip(counts, graph.first.tolist(), strict=True) if first)

    def walks(self, count: int, *, rng: Any = 0) -> WordBatch:
        """Made-up words: random walks that choose evenly among the symbols that may come next."""
        count = checks.integer("count", count, least=1)
        random = np.random.default_rng(rng)
        graph = self.graph
        rows = np.empty((count, self.length), dtype=np.int32)
        at = np.full(count, graph.size, dtype=np.int64)
        for t in range(self.length):
            going = graph.completable(self.length - 1 - t)
            stays = going[graph.targets]
            number = np.bincount(graph.sources[stays], minlength=graph.size)
            begin = np.concatenate([[0], np.cumsum(number)])
            firsts = np.flatnonzero(graph.first & going)
            targets = np.concatenate([graph.targets[stays], firsts])
            options = np.append(number, len(firsts))[at]
            at = targets[begin[at] + (random.random(count) * options).astype(np.int64)].astype(np.int64)
            rows[:, t] = graph.symbol[at]
        return WordBatch.of_rows(self.labels, rows)

    def enumerate(self) -> WordBatch:
        """Every word, for languages of at most 100,000 words."""
        if self.number_of_words > 100_000:
            raise InvalidArgument(
                "language", expected="at most 100,000 words", found=f"{self.number_of_words:.3g}"
            )
        graph = self.graph
        paths = np.flatnonzero(graph.first)[:, None]
        for _ in range(self.length - 1):
            counts, edges = edges_after(graph.starts, paths[:, -1])
            paths = np.column_stack((np.repeat(paths, counts, axis=0), graph.targets[edges]))
        return WordBatch.of_rows(self.labels, graph.symbol[paths[graph.last[paths[:, -1]]]])


# Each symbol is an object, and a row and a column of tables.
_MOST_SYMBOLS = 10_000_000


def labels_from(field: str, symbols: Any) -> Labels:
    """An alphabet: a number of symbols 0, 1, ..., or their list."""
    if isinstance(symbols, str):
        symbols = list(symbols)
    if hasattr(symbols, "__iter__"):
        given = tuple(symbols) if isinstance(symbols, dict) else symbols
        listed = checks.items(field, given, expected="labels, or their number")
        labels = tuple(item.item() if isinstance(item, np.generic) else item for item in listed)
        try:
            different = len(set(labels))
        except TypeError:
            raise InvalidArgument(field, expected="labels that can be compared", found="others") from None
        if any(isinstance(label, bool) for label in labels):
            raise InvalidArgument(field, expected="labels other than True and False", found="those")
        # A file holds labels that are neither whole numbers nor text by their text.
        different = min(different, len(set(written(labels))))
        if len(labels) < 2 or different != len(labels):
            found = f"{len(labels)}, {different} of them different"
            raise InvalidArgument(field, expected="two different labels or more", found=found)
        return labels
    return tuple(range(checks.integer(field, symbols, least=2, most=_MOST_SYMBOLS)))


def written(labels: Labels) -> list[Any]:
    """Labels as a file holds them: whole numbers and text; others by their text."""
    return [label if type(label) in (int, str) else str(label) for label in labels]


@dataclass(frozen=True, init=False)
class FreeWords(Language):
    """All words of `length` symbols. symbols: their number, or a list of labels."""

    symbols: Labels
    name: ClassVar[str] = "FreeWords"

    __repr__ = brief_repr

    def __init__(self, symbols: Any, length: int) -> None:
        object.__setattr__(self, "symbols", labels_from("symbols", symbols))
        object.__setattr__(self, "length", length)
        super().__post_init__()

    @property
    def labels(self) -> Labels:
        return self.symbols

    @cached_property
    def graph(self) -> WordGraph:
        size = len(self.labels)
        return graph_of([list(range(size))] * size, self.length)

    def of_length(self, length: int) -> Self:
        return type(self)(self.symbols, length)

    def _check(self, which: Any, rows: Codes, is_single: bool, length: int) -> None:
        """Every word is one of the language."""

    @cached_property
    def number_of_words(self) -> int:
        return int(len(self.labels) ** self.length)

    def walks(self, count: int, *, rng: Any = 0) -> WordBatch:
        count = checks.integer("count", count, least=1)
        rows = np.random.default_rng(rng).integers(len(self.labels), size=(count, self.length))
        return WordBatch.of_rows(self.labels, rows.astype(np.int32))

    @property
    def words(self) -> str:
        return f"all words of {self.length} symbols over {len(self.labels)}"

    def describe(self) -> dict[str, Any]:
        numbered = self.symbols == tuple(range(len(self.symbols)))
        symbols = len(self.symbols) if numbered else written(self.symbols)
        return {"name": self.name, "symbols": symbols, "length": self.length}
