"""Words read from a table: whose they are, how long they are, and their symbols. Sensitive data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.tables.engines.protocol import missing_column
from veil.tables.states import StateList, given_states, text_of
from veil.words.chain_words import ChainWords, Support
from veil.words.language import FreeWords, Language
from veil.words.word_batch import Codes, WordBatch, word_and_position

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class WordTable:
    """Words, one after another. It is sensitive data, not a release.

    keys: an Arrow table with a row for each word: its values in the `by` columns. lengths: of each word, at
    least 1. states: the labels. codes: the symbols of all words one after another, as places among the
    labels. order, state: the names of the columns of positions and of states. layout_guessed: how the file
    is laid out was guessed from its rows. states_found: the labels are those that occurred. unchecked: they
    are from a query or a view of which it is not known that each record gives at most one row and affects no
    other. allowed: which state may follow which, public; None for any. start: the public state before the
    first one.
    """

    keys: Any
    lengths: Rows
    states: Names
    codes: Codes
    order: str = "place"
    state: str = "state"
    layout_guessed: bool = False
    states_found: bool = False
    unchecked: bool = False
    allowed: Support | None = None
    start: Hashable | None = None

    def __post_init__(self) -> None:
        for part in (self.lengths, self.codes):
            part.setflags(write=False)

    def __repr__(self) -> str:
        return f"<WordTable of {len(self)} words, sensitive>"

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def number_of_words(self) -> int:
        return len(self.lengths)

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the columns that tell words apart."""
        return tuple(self.keys.column_names)

    @cached_property
    def batch(self) -> WordBatch:
        """The words as codes."""
        return WordBatch(self.states, self.codes, self.lengths)

    def language(self, longest: int | None = None) -> Language:
        """The feasible words: the paths of the allowed transitions, or all words over the labels.

        longest: the most symbols of a word, public; None for as many as the longest has.
        """
        most = int(self.lengths.max())
        if longest is not None and most > longest:
            raise InvalidData("longest", expected=f"words of at most {longest} symbols", found="a longer one")
        length = most if longest is None else longest
        return language_of(self.allowed, self.states, length, self.start)

    @property
    def starts(self) -> Rows:
        """Where each word begins among the symbols."""
        return self.batch.starts

    def by_length(self) -> dict[int, tuple[Rows, Codes]]:
        """The words of each length: their numbers, and their symbols with one row for each word."""
        return self.batch.by_length

    def to_lists(self) -> list[list[Any]]:
        """Each word as a list of its labels."""
        labels = [self.states[code] for code in self.codes.tolist()]
        ends = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [labels[start : start + length] for start, length in ends]

    def recoded(self, labels: Any) -> WordTable:
        """The same words with the symbols as places in a public list, which must have all that occur.

        labels: a list, {what the data has: label}, or a file. Labels are matched by their text: 41 and "41"
        are the same.
        """
        listed = checked_list(given_states(labels))
        place = {text: i for i, text in enumerate(listed.texts)}
        targets = np.array([place.get(text_of(label), -1) for label in self.states], dtype=np.int32)
        codes = targets[self.codes]
        check_listed(codes, self.lengths, self.state, len(listed.labels))
        return replace(self, states=listed.labels, codes=codes, states_found=False)

    def reordered(self, order: Any) -> WordTable:
        """The same words in another order: the numbers of the words, from 0 on, as they are to come."""
        rows = np.asarray(order, dtype=np.int64)
        if not np.array_equal(np.sort(rows), np.arange(len(self))):
            raise InvalidArgument("order", expected=f"the numbers 0 to {len(self) - 1}", found="others")
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        places = np.arange(len(self.codes)) + np.repeat(self.starts[rows] - (ends - lengths), lengths)
        return replace(self, keys=self.keys.take(rows), lengths=lengths, codes=self.codes[places])

    def words_per(self, column: str | None = None) -> int:
        """The most words that share a value of a key column, the first unless named; sensitive as well.

        Of words by (user, trip) it is the largest number of trips of one user.
        """
        name = self.by[0] if column is None else column
        if name not in self.by:
            raise missing_column(list(self.by), name, "column")
        if len(self.by) == 1:
            return 1
        import pyarrow.compute as pc

        return int(pc.max(pc.value_counts(self.keys.column(name)).field("counts")).as_py())

    def check_people(self, words_each: int) -> None:
        """Raise if somebody has more words than is stated to be public."""
        if len(self.by) == 1 and words_each > 1:
            raise InvalidArgument(
                "words_each",
                expected="two columns {by} with it: who, and which word",
                found=f"{self.by[0]} alone, one word each",
                names=("by",),
            )
        if len(self.by) > 1 and self.words_per() > words_each:
            raise InvalidData(
                "words_each",
                expected=f"at most {words_each} words for each {self.by[0]}",
                found="someone with more",
                hint="Nothing was released. Choose {words_each} from what is public, or leave words out.",
                names=("words_each",),
            )

    def replaced(self, words: Any) -> WordTable:
        """The same keys and lengths with other symbols: an array of codes, or what `by_length` gives."""
        codes = self._flat(words) if isinstance(words, Mapping) else np.asarray(words)
        if codes.shape != self.codes.shape or codes.dtype.kind not in "iu":
            raise InvalidArgument(
                "words",
                expected=f"{len(self.codes)} whole numbers, one for each symbol",
                found=f"an array of shape {codes.shape} and type {codes.dtype}",
            )
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(self.states):
            raise InvalidArgument("words", expected=f"places among {len(self.states)} labels", found="others")
        return replace(self, codes=codes.astype(np.int32))

    def _flat(self, words: Mapping[Any, Any]) -> NDArray[Any]:
        codes = np.full(len(self.codes), -1, dtype=np.int32)
        for length, part in words.items():
            try:
                rows, symbols = np.asarray(part[0], dtype=np.int64), np.asarray(part[1])
                fits = symbols.shape == (len(rows), length) and bool((self.lengths[rows] == length).all())
            except (TypeError, ValueError, IndexError):
                fits = False
            if not fits or symbols.dtype.kind not in "iu":
                raise InvalidArgument(
                    "words", expected="{length: (numbers of words, their symbols)}", found="something else"
                )
            codes[self.starts[rows, None] + np.arange(length)] = symbols
        return codes


def checked_list(listed: StateList) -> StateList:
    """The public list, unless it is empty or has a label twice. One state alone is enough."""
    if not listed.labels:
        raise InvalidArgument("states", expected="one state or more", found="none")
    if len(listed.labels) > 1:
        listed.check()
    return listed


def check_listed(codes: Codes, lengths: Rows, state: str, size: int) -> None:
    """Raise if a symbol is not on the list (a negative code): how many words have one, and where first."""
    outside = codes < 0
    if not outside.any():
        return
    words = len(np.unique(np.repeat(np.arange(len(lengths)), lengths)[outside]))
    word, position = word_and_position(int(np.argmax(outside)), lengths)
    have = "1 word has another" if words == 1 else f"{words} words have others"
    raise InvalidData(
        state,
        expected=f"one of the {size} states in every row",
        found=f"that {have}, the first word {word} at position {position}",
        hint="Words are numbered in the order of their keys.",
    )


def language_of(
    allowed: Support | None, symbols: Any, length: int, start: Hashable | None = None
) -> Language:
    """The paths of allowed transitions, or all words over the symbols. start: a state, or its text."""
    if allowed is None:
        return FreeWords(symbols, length)
    first = None
    if start is not None:
        matches = [label for label in allowed.labels if text_of(label) == text_of(start)]
        if not matches:
            raise InvalidArgument("start", expected="a state of the chain", found=repr(start)[:40])
        first = matches[0]
    try:
        return ChainWords(allowed, length, start=first)
    except InvalidArgument as error:
        if error.field != "support":
            raise
        raise InvalidArgument("chain", expected=error.expected, found=error.found) from None


def free_words(words: Any, longest: int | None) -> tuple[list[list[Any]], Language]:
    """Words in memory, and all words over the symbols that occur in them."""
    listed_words = items("words", words, expected="a sequence of words, or what words.read returned")
    if listed_words and all(isinstance(word, str) and len(word) == 1 for word in listed_words):
        # With a language this would be one word; as words of one symbol each it would be hidden less.
        expected = "a sequence of words, or {language}"
        found = "symbols that could be one word"
        raise InvalidArgument("words", expected=expected, found=found, names=("language",))
    held = [_symbols(word) for word in listed_words]
    if not any(held):
        raise InvalidData("words", expected="at least one symbol", found="none")
    most = max(map(len, held))
    if longest is not None and most > longest:
        raise InvalidData("longest", expected=f"words of at most {longest} symbols", found="a longer one")
    symbols = sorted({symbol for word in held for symbol in word}, key=str)
    return held, FreeWords(symbols, longest or most)


def _symbols(word: Any) -> list[Any]:
    symbols = list(word) if isinstance(word, str) else items("words", word, expected="sequences of symbols")
    if not all(isinstance(symbol, Hashable) for symbol in symbols):
        raise InvalidData("words", expected="symbols such as text or numbers", found="others")
    return symbols
