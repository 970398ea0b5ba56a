"""Released words as they are written to files: in the record, or in a table beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.attachment import Attachment
from veil.core.errors import InvalidArgument, UnreadableFile
from veil.core.record import Release, checked_release
from veil.words.files import column_names
from veil.words.language import Language, written
from veil.words.reading import read_words
from veil.words.word_batch import WordBatch

# The attachment of a record whose words are in a table.
TABLE = "words"


@dataclass(frozen=True, slots=True)
class AttachedWords:
    """Words that are in a table beside the record. lengths: how many words there are of each length."""

    words: int
    lengths: dict[int, int]

    @classmethod
    def of(cls, words: WordBatch) -> AttachedWords:
        """What a record says of words that it does not hold."""
        lengths, counts = np.unique(words.lengths, return_counts=True)
        return cls(len(words), dict(zip(lengths.tolist(), counts.tolist(), strict=True)))

    def __len__(self) -> int:
        return self.words

    def to_json(self) -> dict[str, Any]:
        lengths = {str(length): count for length, count in self.lengths.items()}
        return {"type": "words", "words": self.words, "lengths": lengths}

    @classmethod
    def from_json(cls, content: Any, *, longest: int, shorter: bool) -> AttachedWords:
        """What a record says of its words, checked to be of lengths that the mechanism covers.

        longest: the symbols of a word. shorter: the mechanism covers words of fewer symbols as well.
        """
        try:
            lengths = {int(length): int(count) for length, count in content["lengths"].items()}
            found = cls(int(content["words"]), lengths)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidArgument(
                "value", expected="words, or their lengths", found="something else"
            ) from None
        counted = min(lengths, default=0) > 0 and min(lengths.values()) > 0
        if not counted or sum(lengths.values()) != found.words:
            raise InvalidArgument("value", expected="lengths of words that add up", found="something else")
        if max(lengths) > longest or (not shorter and set(lengths) != {longest}):
            expected = f"words of {'at most ' if shorter else ''}{longest} symbols"
            raise InvalidArgument("value", expected=expected, found="others")
        return found


def batch(release: Release[Any]) -> WordBatch:
    """The released words as codes, whether one was released or many."""
    language = checked_release(release).domain
    if not isinstance(language, Language):
        raise InvalidArgument("release", expected="words", found=language.words)
    if isinstance(release.value, AttachedWords):
        found = f"a record of words in {release.attachments[TABLE].file}"
        raise InvalidArgument("release", expected="words in the record", found=found)
    return release.derived("batch", lambda: language.validate(release.value, shorter=True))


def attached(release: Release[Any], table: Path) -> Release[AttachedWords]:
    """The record of words that were written to a table, which it names instead of holding them."""
    return replace(release, value=AttachedWords.of(batch(release)), attachments={TABLE: Attachment.of(table)})


def words_beside(release: Release[AttachedWords], record: Path | None) -> WordBatch:
    """The words of the table beside a record, which must be the one that was written."""
    table = release.attachments[TABLE]
    if record is None or not table.is_beside(record):
        raise UnreadableFile(
            table.file, expected="the table that was written beside the record", found="none"
        )
    language = release.domain
    assert isinstance(language, Language)
    path = record.parent / table.file
    *keys, order, state = column_names(path)
    return read_words(str(path), by=keys, order=order, state=state, states=list(language.labels)).batch


def words_to_json(words: WordBatch) -> dict[str, Any]:
    """One word as a list of symbols, several as a list of such lists."""
    names = written(words.labels)
    ends = np.cumsum(words.lengths).tolist()
    symbols = [names[code] for code in words.codes.tolist()]
    listed = [symbols[end - length : end] for end, length in zip(ends, words.lengths.tolist(), strict=True)]
    return {"type": "word", "data": listed[0]} if words.is_single else {"type": "words", "data": listed}


def words_from_json(content: Any, language: Language, *, is_table: bool) -> Any:
    """The words of a file as a release holds them, each checked to be one of the language.

    is_table: they may be of several lengths, up to that of the language.
    """
    form, data = content.get("type"), content.get("data")
    if form not in ("word", "words") or not isinstance(data, list) or not data:
        raise InvalidArgument("value", expected="a word or words", found="something else")
    words = language.validate([data] if form == "word" else data, shorter=is_table)
    words = WordBatch(words.labels, words.codes, words.lengths, form == "word")
    return words if is_table else words.as_labels()


def words_to_rows(words: WordBatch) -> list[list[Any]]:
    """A row for each symbol: the number of the word, the position in it, the symbol."""
    names = written(words.labels)
    numbers = np.repeat(np.arange(1, len(words) + 1), words.lengths)
    begins = np.cumsum(words.lengths) - words.lengths
    positions = np.arange(len(words.codes)) - np.repeat(begins, words.lengths) + 1
    symbols = (names[code] for code in words.codes.tolist())
    return [list(row) for row in zip(numbers.tolist(), positions.tolist(), symbols, strict=True)]
