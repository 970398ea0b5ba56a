"""From private words back to a table of rows: CSV or Parquet."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import choice
from veil.core.errors import InvalidArgument
from veil.core.named_matrix import Names
from veil.core.writing import RELEASED, SENSITIVE, replacing
from veil.tables.states import text_of
from veil.words.table import Rows, WordTable

_ENDINGS = (".csv.gz", ".csv", ".parquet", ".pq")
# Rows that are made and written at a time.
_BATCH = 1_000_000
# Marks for which a cell of CSV must be quoted.
_MARKS = '[",\r\n]'


def write_words(
    path: str | os.PathLike[str],
    *,
    words: Any,
    table: WordTable,
    columns: Sequence[str] | None = None,
    keys: str = "number",
    permutation: Any = None,
    overwrite: bool = False,
) -> None:
    """Write private words as rows: whose word, the position in it from 1 on, the state.

    path: ends in .csv, .csv.gz or .parquet. It is written beside and renamed, so that nobody ever sees half
        a file, and is not overwritten unless told.
    words: the private symbols in the order of the table: a row of codes, or what `WordTable.by_length` gives
        with private words in it. table: the words that they were made from, for their keys and lengths,
        which must be public; its own symbols are not written.
    keys: "number" numbers the words 1, 2, ... in the order of the permutation, in one column even where
        words had several keys, so that nothing links the words of one person. "keep" writes the keys.
    permutation: the order in which words are written, as their numbers in the table from 0 on. Numbers in
        the order of the keys would say whose is whose: for "number" it must be given, drawn at random.
    columns: the names of the key column(s), the position and the state; by default those of the table.
    """
    target = Path(path)
    ending = next((known for known in _ENDINGS if target.name.lower().endswith(known)), None)
    if ending is None:
        raise InvalidArgument("path", expected="an ending of .csv, .csv.gz or .parquet", found="another")
    choice("keys", keys, ("number", "keep"))
    if not isinstance(table, WordTable):
        raise InvalidArgument("table", expected="a WordTable", found=type(table).__name__)
    made = table.replaced(words)
    order = _order(permutation, len(table), keys)
    rows = _RowMaker(made, order, _names(columns, table, keys), keys == "keep")
    # Whose words they are is for their owner's eyes, until somebody decides otherwise.
    mode = SENSITIVE if keys == "keep" else RELEASED
    with replacing(target, overwrite=overwrite, mode=mode) as beside:
        if ending in {".csv", ".csv.gz"}:
            _write_csv(beside, rows, packed=ending == ".csv.gz")
        else:
            _write_parquet(beside, rows)


class _RowMaker:
    """The rows of words, some words at a time, as Arrow tables."""

    def __init__(self, words: WordTable, order: Rows, names: list[str], keeps_keys: bool) -> None:
        import pyarrow as pa

        self._words, self._order, self.names = words, order, names
        self._labels = _labels(words.states)
        self._keys = [column.combine_chunks() for column in words.keys.columns] if keeps_keys else None
        types = [pa.int64()] if self._keys is None else [column.type for column in self._keys]
        self.schema = pa.schema(
            list(zip(names, [*types, pa.int32(), pa.dictionary(pa.int32(), self._labels.type)], strict=True))
        )

    @property
    def texts(self) -> list[Any]:
        """The Arrow arrays from which cells are taken, as text, but for numbers."""
        import pyarrow as pa

        arrays = [self._labels, *(self._keys or [])]
        return [one.cast(pa.string()) for one in arrays if not pa.types.is_integer(one.type)]

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        words, lengths = self._words, self._words.lengths[self._order]
        ends = np.cumsum(lengths)
        first = 0
        while first < len(lengths):
            done = ends[first - 1] if first else 0
            # A word longer than a batch is a batch of its own.
            last = max(int(np.searchsorted(ends, done + _BATCH, side="right")), first + 1)
            chosen, part = self._order[first:last], lengths[first:last]
            starts = np.cumsum(part) - part
            position = np.arange(int(part.sum())) - np.repeat(starts, part)
            codes = words.codes[np.repeat(words.starts[chosen], part) + position]
            if self._keys is None:
                keys = [pa.array(np.repeat(np.arange(first + 1, last + 1, dtype=np.int64), part))]
            else:
                repeated = pa.array(np.repeat(chosen, part))
                keys = [column.take(repeated) for column in self._keys]
            states = pa.DictionaryArray.from_arrays(pa.array(codes), self._labels)
            positions = pa.array((position + 1).astype(np.int32))
            yield pa.Table.from_arrays([*keys, positions, states], schema=self.schema)
            first = last


def _write_parquet(path: str, rows: _RowMaker) -> None:
    import pyarrow.parquet as pq

    # Without Arrow's own schema: readers then see plain text instead of a dictionary.
    with pq.ParquetWriter(path, rows.schema, store_schema=False) as writer:
        for batch in rows.batches():
            writer.write_table(batch)


def _write_csv(path: str, rows: _RowMaker, *, packed: bool) -> None:
    import pyarrow as pa
    from pyarrow import csv

    plain = pa.schema(
        [
            (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
            for field in rows.schema
        ]
    )
    style = "needed" if any(map(_needs_quotes, rows.texts)) else "none"
    options = csv.WriteOptions(include_header=False, quoting_style=style)
    with ExitStack() as stack:
        stream: Any = stack.enter_context(Path(path).open("wb"))
        if packed:
            # No time in the file: the same words give the same file.
            stream = stack.enter_context(gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0))
        stream.write((",".join(map(_cell, rows.names)) + "\n").encode())
        writer = stack.enter_context(csv.CSVWriter(stream, plain, write_options=options))
        for batch in rows.batches():
            writer.write_table(batch.cast(plain))


def _cell(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in '",\r\n') else name


def _needs_quotes(texts: Any) -> bool:
    """Whether a cell needs quotes to be read as it is: it has marks, is empty, or has spaces around it."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, f"{_MARKS}|^$|^\\s|\\s$")).as_py())


def _labels(states: Names) -> Any:
    """The labels as Arrow: whole numbers if they all are, else text."""
    import pyarrow as pa

    if all(isinstance(label, (int, np.integer)) and not isinstance(label, bool) for label in states):
        return pa.array([int(str(label)) for label in states], pa.int64())
    return pa.array([text_of(label) for label in states], pa.string())


def _order(permutation: Any, size: int, keys: str) -> Rows:
    if permutation is None:
        if keys == "number":
            raise InvalidArgument(
                "permutation", expected="an order drawn at random, to number words by", found="none"
            )
        return np.arange(size, dtype=np.int64)
    order: NDArray[Any] = np.asarray(permutation)
    if order.dtype.kind not in "iu" or not np.array_equal(np.sort(order, axis=None), np.arange(size)):
        raise InvalidArgument(
            "permutation", expected=f"the numbers 0 to {size - 1}, each once", found="something else"
        )
    return order.astype(np.int64)


def _names(columns: Sequence[str] | None, table: WordTable, keys: str) -> list[str]:
    of_keys = list(table.by) if keys == "keep" else [table.by[-1]]
    names = [*of_keys, table.order, table.state] if columns is None else list(columns)
    if len(names) != len(of_keys) + 2 or not all(isinstance(name, str) and name for name in names):
        raise InvalidArgument("columns", expected=f"{len(of_keys) + 2} names", found=f"{len(names)}")
    if len(set(names)) < len(names):
        raise InvalidArgument("columns", expected="names that all differ", found="one that stands twice")
    return names


def column_names(path: Path) -> list[str]:
    """The columns of a table that `write_words` wrote."""
    if path.name.lower().endswith((".parquet", ".pq")):
        import pyarrow.parquet as pq

        return list(pq.read_schema(path).names)
    read = gzip.open if path.suffix.lower() == ".gz" else open
    with read(path, "rt", encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))
