"""Released words as they are written to files: in the record, or in a table beside it (CSV or Parquet)."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.brief import brief_repr
from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.formulas import safe_cell, safe_texts
from veil.core.intake import Names
from veil.core.record import Attachment, Release, checked_release
from veil.core.writing import RELEASED, SENSITIVE, replacing
from veil.tables.states import text_of
from veil.tables.table_writing import write_parquet, write_text
from veil.words.language import Language, written
from veil.words.reading import read_words
from veil.words.table import WordTable
from veil.words.word_batch import WordBatch

# The attachment of a record whose words are in a table.
TABLE = "words"
_TEXT = (".csv", ".csv.gz")
_ENDINGS = (".csv.gz", ".csv", ".parquet", ".pq")
# Rows that are made and written at a time.
_BATCH = 1_000_000
# Marks for which a cell of CSV must be quoted.
_MARKS = '[",\r\n]'


@dataclass(frozen=True, slots=True)
class AttachedWords:
    """Words that are in a table beside the record. lengths: how many words there are of each length."""

    words: int
    lengths: dict[int, int]

    __repr__ = brief_repr

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
            summary = cls(int(content["words"]), lengths)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidArgument(
                "value", expected="words, or their lengths", found="something else"
            ) from None
        counted = min(lengths, default=0) > 0 and min(lengths.values()) > 0
        if not counted or sum(lengths.values()) != summary.words:
            raise InvalidArgument("value", expected="lengths of words that add up", found="something else")
        if max(lengths) > longest or (not shorter and set(lengths) != {longest}):
            expected = f"words of {'at most ' if shorter else ''}{longest} symbols"
            raise InvalidArgument("value", expected=expected, found="others")
        return summary


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
    labels = list(language.labels)
    try:
        return read_words(str(path), by=keys, order=order, state=state, states=labels).batch
    except InvalidData:
        # Written with csv_safe: the same labels, some with an apostrophe.
        safe = [safe_cell(label) for label in labels]
        if safe == labels:
            raise
        read = read_words(str(path), by=keys, order=order, state=state, states=safe).batch
        return replace(read, labels=language.labels)


def words_to_json(words: WordBatch) -> dict[str, Any]:
    """One word as a list of symbols, several as a list of such lists."""
    names = written(words.labels)
    symbols = [names[code] for code in words.codes.tolist()]
    spans = zip(words.starts.tolist(), words.lengths.tolist(), strict=True)
    listed = [symbols[start : start + length] for start, length in spans]
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
    positions = np.arange(len(words.codes)) - words.starts[numbers - 1] + 1
    symbols = (names[code] for code in words.codes.tolist())
    return [list(row) for row in zip(numbers.tolist(), positions.tolist(), symbols, strict=True)]


def write_words(
    path: str | os.PathLike[str],
    *,
    words: Any,
    table: WordTable,
    keep_keys: bool = False,
    overwrite: bool = False,
    csv_safe: bool = False,
) -> None:
    """Write private words as rows: whose word, the position in it from 1 on, the state.

    path: ends in .csv, .csv.gz or .parquet. It is written beside and renamed, so that nobody ever sees half
        a file.
    words: what `WordTable.replaced` takes. table: the words that they were made from, for their keys and
        lengths, which must be public; its own symbols are not written.
    keep_keys: write the keys. Otherwise words are numbered 1, 2, ..., in one column even where they had
        several keys, so that nothing links the words of one person. The table must then be in a random order:
        numbers in the order of the keys would say whose is whose.
    csv_safe: in CSV, an apostrophe in front of text that a spreadsheet would take for a formula.
    """
    ending, names = checked_columns(path, table, keep_keys)
    is_safe = csv_safe and ending in _TEXT
    rows = _RowMaker(
        table.replaced(words), safe_texts(names) if is_safe else names, keep_keys, csv_safe=is_safe
    )
    # Whose words they are is for their owner's eyes, until somebody decides otherwise.
    mode = SENSITIVE if keep_keys else RELEASED
    with replacing(Path(path), overwrite=overwrite, mode=mode) as beside:
        if ending not in _TEXT:
            write_parquet(beside, rows.schema, rows.batches())
            return
        quotes = any(map(_needs_quotes, rows.texts))
        write_text(
            beside,
            rows.schema.names,
            rows.plain_batches(),
            delimiter=",",
            packed=ending == ".csv.gz",
            quotes=quotes,
        )


def checked_columns(path: str | os.PathLike[str], table: WordTable, keep_keys: bool) -> tuple[str, list[str]]:
    """How the path ends, and the names of the columns.

    Also for use before a draw: a table that cannot be written would be paid for all the same.
    """
    if not isinstance(table, WordTable):
        raise InvalidArgument("table", expected="a WordTable", found=type(table).__name__)
    name = Path(path).name.lower()
    ending = next((known for known in _ENDINGS if name.endswith(known)), None)
    if ending is None:
        raise InvalidArgument("path", expected="an ending of .csv, .csv.gz or .parquet", found="another")
    names = [*(table.by if keep_keys else table.by[-1:]), table.order, table.state]
    plain_texts("columns", names)
    if len(set(names)) < len(names):
        raise InvalidArgument("columns", expected="names that all differ", found="one of them twice")
    return ending, names


class _RowMaker:
    """The rows of words, some words at a time, as Arrow tables."""

    def __init__(self, words: WordTable, names: list[str], keep_keys: bool, *, csv_safe: bool) -> None:
        import pyarrow as pa

        self._words, self._labels = words, _labels(words.states)
        self._keys = [pa.array(np.arange(1, len(words) + 1, dtype=np.int64))]
        if keep_keys:
            self._keys = [column.combine_chunks() for column in words.keys.columns]
        if csv_safe:
            self._labels, *self._keys = map(_safe, (self._labels, *self._keys))
        types = [column.type for column in self._keys]
        self.schema = pa.schema(
            list(zip(names, [*types, pa.int32(), pa.dictionary(pa.int32(), self._labels.type)], strict=True))
        )

    @property
    def texts(self) -> list[Any]:
        """The Arrow arrays from which cells are taken, as text, but for numbers."""
        import pyarrow as pa

        arrays = [self._labels, *self._keys]
        return [one.cast(pa.string()) for one in arrays if not pa.types.is_integer(one.type)]

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        words = self._words
        ends = words.starts + words.lengths
        first = 0
        while first < len(words):
            begin = int(words.starts[first])
            # A word longer than a batch is a batch of its own.
            last = max(int(np.searchsorted(ends, begin + _BATCH, side="right")), first + 1)
            end = int(ends[last - 1])
            chosen = np.repeat(np.arange(first, last), words.lengths[first:last])
            positions = np.arange(begin, end) - words.starts[chosen] + 1
            keys = [column.take(pa.array(chosen)) for column in self._keys]
            states = pa.DictionaryArray.from_arrays(pa.array(words.codes[begin:end]), self._labels)
            columns = [*keys, pa.array(positions.astype(np.int32)), states]
            yield pa.Table.from_arrays(columns, schema=self.schema)
            first = last

    def plain_batches(self) -> Iterator[Any]:
        """The same rows with text in the place of dictionaries."""
        import pyarrow as pa

        kinds = [
            field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            for field in self.schema
        ]
        plain = pa.schema(list(zip(self.schema.names, kinds, strict=True)))
        return (batch.cast(plain) for batch in self.batches())


def _needs_quotes(texts: Any) -> bool:
    """Whether a cell needs quotes to be read as it is: it has marks, is empty, or has spaces around it."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, f"{_MARKS}|^$|^\\s|\\s$")).as_py())


def _safe(texts: Any) -> Any:
    """Cells of text that no spreadsheet takes for formulas; others as they are."""
    import pyarrow as pa

    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return texts
    return pa.array(safe_texts(texts.to_pylist()), texts.type)


def _labels(states: Names) -> Any:
    """The labels as Arrow: whole numbers if they all are, else text."""
    import pyarrow as pa

    if all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in states):
        return pa.array([int(str(label)) for label in states], pa.int64())
    return pa.array([text_of(label) for label in states], pa.string())


def column_names(path: Path) -> list[str]:
    """The columns of a table that `write_words` wrote."""
    if path.name.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return list(pq.read_schema(path).names)
    read = gzip.open if path.suffix.lower() == ".gz" else open
    with read(path, "rt", encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))
