"""All entries of a dataset, read a slice at a time, so that nobody waits long for a reader.

A file cannot be written to while it is read. Entries never change, so what is read in slices is the same as
what is read at once; only the newest may be newer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from sqlalchemy import Connection

from veil.ledger.chain import Last, Row, last_entry, rows_after
from veil.ledger.store import Store

# Entries of one slice: read in less than a tenth of a second.
_SLICE = 2_000


class Slices:
    """The entries of a dataset, oldest first. last: its own row as it was read with the newest of them."""

    def __init__(self, store: Store, dataset: str) -> None:
        self._store, self._dataset = store, dataset
        self.last: Last | None = None

    def __iter__(self) -> Iterator[Row]:
        # Whatever is there: no entry of Veil has a number below 1.
        number, more = -math.inf, True
        while more:
            rows, self.last = self._store.read(partial(self._slice, after=number))
            yield from rows
            more = len(rows) == _SLICE
            number = rows[-1].entry.number if rows else number

    def _slice(self, connection: Connection, after: float) -> tuple[list[Row], Last | None]:
        return rows_after(connection, self._dataset, after, _SLICE), last_entry(connection, self._dataset)
