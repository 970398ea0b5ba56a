"""Words as codes: what a language takes in, and what a mechanism gives out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.intake import array_of

Codes = NDArray[np.int32]
Labels = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False, repr=False)
class WordBatch(Sequence[tuple[Hashable, ...]]):
    """Words over a list of labels, of one length or of several; a sequence of tuples of labels.

    codes: the places of all symbols in `labels`, word after word. lengths: of each word. is_single: one word
    was meant, not a batch of one.
    """

    labels: Labels
    codes: Codes
    lengths: NDArray[np.int64]
    is_single: bool = False

    @classmethod
    def of_rows(cls, labels: Labels, rows: Codes, *, is_single: bool = False) -> WordBatch:
        """Words of one length, each a row."""
        lengths = np.full(len(rows), rows.shape[1], dtype=np.int64)
        return cls(labels, np.ascontiguousarray(rows, dtype=np.int32).ravel(), lengths, is_single)

    def __repr__(self) -> str:
        # They may be those to be hidden: a repr ends in logs and tracebacks.
        return f"<WordBatch of {len(self)} words over {len(self.labels)} symbols>"

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each word begins among the symbols."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths, dtype=np.int64)

    def _places(self, which: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """The places of the symbols of some words of one length, a row for each word."""
        return self.starts[which, None] + np.arange(length)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        start = int(self.starts[place])
        return tuple(self.labels[code] for code in self.codes[start : start + self.lengths[place]].tolist())

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WordBatch)
            and self.labels == other.labels
            and np.array_equal(self.lengths, other.lengths)
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        return hash((self.labels, self.codes.tobytes(), self.lengths.tobytes()))

    @cached_property
    def by_length(self) -> dict[int, tuple[NDArray[np.int64], Codes]]:
        """For each length that occurs: the numbers of the words, and the words as rows of codes."""
        groups = {}
        for length in np.unique(self.lengths).tolist():
            which = np.flatnonzero(self.lengths == length)
            groups[int(length)] = (which, self.codes[self._places(which, length)])
        return groups

    @property
    def shares(self) -> Floats:
        """How often each label occurs, as a part of all symbols."""
        return np.bincount(self.codes, minlength=len(self.labels)) / max(1, len(self.codes))

    def most_visited(self, count: int) -> list[tuple[Hashable, float]]:
        """The labels that occur most, the most frequent first, with their parts of all symbols."""
        shares = self.shares
        order = np.argsort(-shares, kind="stable")[:count]
        return [(self.labels[i], float(shares[i])) for i in order.tolist()]

    @property
    def rows(self) -> Codes:
        """The words as rows of codes, where all are of one length."""
        return self.codes.reshape(len(self), -1)

    def replaced(self, drawn: dict[int, Codes]) -> WordBatch:
        """The same shape of batch with other words: for each length those that take their places."""
        codes = np.empty_like(self.codes)
        for length, (which, _) in self.by_length.items():
            codes[self._places(which, length)] = drawn[length]
        return WordBatch(self.labels, codes, self.lengths, self.is_single)

    def as_labels(self) -> Any:
        """One word as a tuple of labels, words of one length as an array of them, others as they are."""
        if self.is_single:
            return self[0]
        if len(set(self.lengths.tolist())) > 1:
            return self
        return label_array(self.labels)[self.rows]


def label_array(labels: Labels) -> NDArray[Any]:
    """The labels as an array, of whole numbers where all are such."""
    if all(type(label) is int for label in labels):
        return np.array(labels, dtype=np.int64)
    # Text as references: an array of fixed width would hold a million words in a gigabyte.
    held = np.empty(len(labels), dtype=object)
    held[:] = labels
    return held


# Of one batch.
_MOST_ITEMS = 1_000_000_000


def coded(value: Any, labels: Labels, places: dict[Hashable, int]) -> WordBatch:
    """One word, or a sequence of words, as codes; an error that names the position of an unknown symbol."""
    if isinstance(value, WordBatch):
        return _recoded(value, labels, places)
    if isinstance(value, np.ndarray) and value.ndim in (1, 2) and value.size:
        array_of("word", value)
        rows = _coded_array(value, labels, places).reshape(-1, value.shape[-1])
        return WordBatch.of_rows(labels, rows, is_single=value.ndim == 1)
    if type(value).__name__ == "DataFrame":
        return coded(value.to_numpy(), labels, places)
    if isinstance(value, (bytes, Mapping, Set)):
        raise InvalidData("word", expected="a sequence of symbols", found=type(value).__name__)
    try:
        if isinstance(value, Sized) and len(value) > _MOST_ITEMS:
            raise InvalidData("word", expected="words that fit into memory", found="far too many")
        items = list(value)
    except (TypeError, OverflowError):
        raise InvalidData("word", expected="a sequence of symbols", found=type(value).__name__) from None
    if not items:
        raise InvalidData("word", expected="at least one symbol", found="none")
    if _are_words(items, places):
        words = [_coded_list(list(word), places, i) for i, word in enumerate(items, start=1)]
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        if not lengths.all():
            where = int(np.flatnonzero(lengths == 0)[0]) + 1
            raise InvalidData(f"word {where}", expected="at least one symbol", found="none")
        return WordBatch(labels, np.concatenate(words), lengths)
    return WordBatch.of_rows(labels, _coded_list(items, places, None)[None, :], is_single=True)


def _are_words(items: list[Any], places: dict[Hashable, int]) -> bool:
    """Whether the items are words; text of one character is one too among longer text."""
    if all(isinstance(item, str) for item in items):
        longer = [item for item in items if len(item) != 1]
        return bool(longer) and not any(item in places for item in longer)
    return all(
        isinstance(item, (list, tuple))
        or (isinstance(item, np.ndarray) and item.ndim > 0)
        or (isinstance(item, str) and len(item) != 1)
        for item in items
    ) and all(code_of(item, places) < 0 for item in items)


def code_of(symbol: Any, places: dict[Hashable, int]) -> int:
    """The place of a symbol in the alphabet; -1 if it is none of it."""
    label = symbol.item() if isinstance(symbol, np.generic) else symbol
    try:
        return -1 if isinstance(label, bool) else places.get(label, -1)
    except TypeError:
        return -1


def _recoded(batch: WordBatch, labels: Labels, places: dict[Hashable, int]) -> WordBatch:
    if batch.labels == labels:
        return batch
    new = np.array([places.get(label, -1) for label in batch.labels], dtype=np.int32)
    codes = new[batch.codes]
    if (codes < 0).any():
        raise _unknown(int(np.flatnonzero(codes < 0)[0]), batch.lengths)
    return WordBatch(labels, codes, batch.lengths, batch.is_single)


def _coded_array(value: NDArray[Any], labels: Labels, places: dict[Hashable, int]) -> Codes:
    if value.dtype.kind in "bfc" and not any(isinstance(label, (bool, float)) for label in labels):
        # 1.0 and True would be found in the place of 1.
        raise InvalidData("word", expected="symbols of the alphabet", found=f"an array of {value.dtype}")
    whole = all(type(label) is int and label == i for i, label in enumerate(labels))
    if whole and value.dtype.kind in "iu":
        wrong = (value < 0) | (value >= len(labels))
        codes = np.where(wrong, -1, value).astype(np.int32)
    else:
        try:
            found = (places.get(item, -1) for item in value.ravel().tolist())
            codes = np.fromiter(found, dtype=np.int32, count=value.size).reshape(value.shape)
        except TypeError:
            raise InvalidData("word", expected="symbols of the alphabet", found="nested values") from None
    if (codes < 0).any():
        count = 1 if value.ndim == 1 else len(value)
        raise _unknown(int(np.flatnonzero(codes.ravel() < 0)[0]), np.full(count, value.shape[-1]))
    return codes


def _coded_list(word: list[Any], places: dict[Hashable, int], number: int | None) -> Codes:
    codes = np.array([code_of(symbol, places) for symbol in word], dtype=np.int32)
    if (codes < 0).any():
        raise not_feasible(number, int(np.argmax(codes < 0)) + 1, "a symbol of the alphabet", "another")
    return codes


def _unknown(place: int, lengths: NDArray[Any]) -> InvalidData:
    word, position = word_and_position(place, lengths)
    return not_feasible(word if len(lengths) > 1 else None, position, "a symbol of the alphabet", "another")


def word_and_position(place: int, lengths: NDArray[Any]) -> tuple[int, int]:
    """The word that has a symbol at a place among all symbols, and the position in it; both from 1 on."""
    ends = np.cumsum(lengths)
    word = int(np.searchsorted(ends, place, side="right"))
    return word + 1, place - int(ends[word] - lengths[word]) + 1


def not_feasible(word: int | None, position: int, expected: str, found: str) -> InvalidData:
    """The error for a word that is wrong at a position, both counted from 1. The symbol is not shown."""
    field = f"word, position {position}" if word is None else f"word {word}, position {position}"
    return InvalidData(field, expected=expected, found=found)
