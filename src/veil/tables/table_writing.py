"""Arrow tables written batch by batch: text with separators, packed or not, and Parquet."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

# Fast packing: a released graph is mostly noise, of which more work saves little.
_LEVEL = 3


def write_text(
    path: str,
    names: Sequence[str] | None,
    batches: Iterable[Any],
    *,
    delimiter: str,
    packed: bool,
    quotes: bool,
) -> None:
    """Write text with separators. names: the first line, if there is to be one. quotes: around all text."""
    from pyarrow import csv

    options = csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="needed" if quotes else "none"
    )
    with _stream(path, packed) as stream:
        if names is not None:
            stream.write((delimiter.join(cell_of(name, delimiter) for name in names) + "\n").encode())
        for batch in batches:
            csv.write_csv(batch, stream, write_options=options)


@contextmanager
def _stream(path: str, packed: bool) -> Iterator[Any]:
    with ExitStack() as stack:
        stream: Any = stack.enter_context(Path(path).open("wb"))
        if packed:
            # No time in the file: the same table gives the same file.
            stream = stack.enter_context(gzip.GzipFile("", "wb", _LEVEL, fileobj=stream, mtime=0))
        yield stream


def write_parquet(path: str, schema: Any, batches: Iterable[Any]) -> None:
    """Write Parquet without Arrow's own schema: readers then see plain text instead of a dictionary."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, store_schema=False) as writer:
        for batch in batches:
            writer.write_table(batch)


def needs_quotes(text: str, delimiter: str) -> bool:
    """Whether a cell must be quoted to be read as it is."""
    return any(mark in text for mark in (delimiter, '"', "\r", "\n"))


def cell_of(text: str, delimiter: str) -> str:
    """A cell of text with separators, in quotes if it needs them."""
    return '"' + text.replace('"', '""') + '"' if needs_quotes(text, delimiter) else text
