"""Released words as they stand in files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument
from veil.words.batch import WordBatch
from veil.words.language import Language, written


def words_to_json(batch: WordBatch) -> dict[str, Any]:
    """One word as a list of symbols, several as a list of such."""
    names = written(batch.labels)
    ends = np.cumsum(batch.lengths).tolist()
    symbols = [names[code] for code in batch.codes.tolist()]
    words = [symbols[end - length : end] for end, length in zip(ends, batch.lengths.tolist(), strict=True)]
    if batch.is_single:
        return {"type": "word", "data": words[0]}
    return {"type": "words", "data": words}


def words_from_json(content: Any, language: Language, *, is_table: bool) -> Any:
    """The words of a file as a release holds them, each checked to be one of the language.

    is_table: they are of several lengths, up to that of the language.
    """
    if isinstance(content, dict) and "file" in content:
        return WordsElsewhere.from_json(content)
    kind, data = content.get("type"), content.get("data")
    if kind not in ("word", "words") or not isinstance(data, list) or not data:
        raise InvalidArgument("value", expected="a word or words", found="something else")
    batch = language.validate([data] if kind == "word" else data, shorter=is_table)
    batch = WordBatch(batch.labels, batch.codes, batch.lengths, kind == "word")
    return batch if is_table else batch.as_labels()


def words_to_rows(batch: WordBatch) -> list[list[Any]]:
    """A row a symbol: the number of the word, the position in it, the symbol."""
    names = written(batch.labels)
    numbers = np.repeat(np.arange(1, len(batch) + 1), batch.lengths)
    begins = np.cumsum(batch.lengths) - batch.lengths
    positions = np.arange(len(batch.codes)) - np.repeat(begins, batch.lengths) + 1
    symbols = (names[code] for code in batch.codes.tolist())
    return [list(row) for row in zip(numbers.tolist(), positions.tolist(), symbols, strict=True)]


@dataclass(frozen=True, slots=True)
class WordsElsewhere:
    """Words that stand in a table beside their record. sha256: of that file, so that it can be recognised."""

    file: str
    sha256: str
    words: int
    lengths: dict[int, int]

    @classmethod
    def of(cls, batch: WordBatch, table: Path) -> WordsElsewhere:
        """The words of a batch that were written to a table."""
        lengths, counts = np.unique(batch.lengths, return_counts=True)
        found = dict(zip(lengths.tolist(), counts.tolist(), strict=True))
        return cls(table.name, digest(table), len(batch), found)

    def __len__(self) -> int:
        return self.words

    def to_json(self) -> dict[str, Any]:
        lengths = {str(length): count for length, count in self.lengths.items()}
        return {
            "type": "words",
            "file": self.file,
            "sha256": self.sha256,
            "words": self.words,
            "lengths": lengths,
        }

    @classmethod
    def from_json(cls, content: Any) -> WordsElsewhere:
        try:
            lengths = {int(length): int(count) for length, count in content["lengths"].items()} or {0: 0}
            found = cls(str(content["file"]), str(content["sha256"]), int(content["words"]), lengths)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidArgument(
                "value", expected="a file, its sha256, and lengths", found="something else"
            ) from None
        plain = found.file.isprintable() and Path(found.file).name == found.file
        counted = found.words > 0 and min(lengths) > 0 and min(lengths.values()) > 0
        if not plain or not counted or sum(lengths.values()) != found.words:
            raise InvalidArgument("value", expected="a file and words that add up", found="something else")
        return found

    def check_lengths(self, longest: int, *, shorter: bool) -> None:
        """Whether the mechanism covers words of these lengths."""
        if max(self.lengths, default=0) > longest or (not shorter and set(self.lengths) != {longest}):
            expected = f"words of {'at most ' if shorter else ''}{longest} symbols"
            raise InvalidArgument("value", expected=expected, found="others")

    def is_beside(self, record: Path) -> bool | None:
        """Whether the table beside the record is the one that was written; None if there is none."""
        table = record.parent / self.file
        return digest(table) == self.sha256 if table.is_file() else None


def digest(table: Path) -> str:
    """The SHA-256 of a file."""
    with table.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
