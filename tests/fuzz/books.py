"""A ledger with something of everything in it, and all that can be asked of it."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import veil
from veil.core.state import state_folder
from veil.ledger.batch import Batch
from veil.ledger.dataset import Dataset

from .entry import Entry

NEAR = veil.vectors.Records()
# A release of 0.1.
NOISE = veil.vectors.GeometricCounts(10.0, 3)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A place for many small ledgers: in memory where there is such a place."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where, prefix="veil-books-") as made:
        yield Path(made)


def fill(path: Path) -> None:
    """A plain dataset with charges, a raise and a batch; one with parts under a filter; a closed one."""
    ledger = veil.Ledger(path)
    trips = ledger.open("trips", epsilon=5, delta=1e-6, adjacency=NEAR, by="officer")
    veil.release(NOISE, [5, 2, 9], adjacency=NEAR, ledger=trips, rng=1)
    trips.raise_budget(epsilon=6, why="approved", by="officer")
    batch = trips.batch([NOISE, NOISE], adjacency=NEAR)
    veil.release(NOISE, [5, 2, 9], adjacency=NEAR, ledger=batch, rng=1)
    zones = ledger.open("zones", epsilon=1, delta=1e-6, accounting="zcdp", parts=["a", "b"], by="officer")
    veil.release(NOISE, [5, 2, 9], adjacency=NEAR, ledger=zones.part("a"), rng=1)
    ledger.open("old", epsilon=1, by="officer").close(why="over", by="officer")
    ledger._store.close()


@cache
def good_file() -> bytes:
    """The ledger as a file."""
    with folder() as made:
        fill(made / "budget.db")
        return (made / "budget.db").read_bytes()


def forget() -> None:
    """What this machine has seen of ledgers: each try is about another one of the same name."""
    seen = state_folder("ledgers")
    for path in [] if seen is None else seen.rglob("*"):
        if path.is_file():
            path.unlink()


@dataclass
class Books:
    """A ledger of its own in a folder, made from the good file."""

    path: Path
    ledger: veil.Ledger = field(init=False)

    def __post_init__(self) -> None:
        clear(self.path)
        forget()
        self.path.write_bytes(good_file())
        self.ledger = veil.Ledger(self.path)

    def __enter__(self) -> Books:
        return self

    def __exit__(self, *error: object) -> None:
        self.ledger._store.close()

    @property
    def trips(self) -> Dataset:
        return self.ledger.dataset("trips")

    def state(self) -> dict[str, Any]:
        """All that is written, and that it holds together."""
        self.ledger.verify()
        return {name: content["chain"] for name, content in self.ledger.export()["datasets"].items()}


def clear(path: Path) -> None:
    """No file, and nothing that SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _asked(result: Dataset) -> Dataset:
    """What one would ask of a dataset next."""
    _ = result.spent, result.remaining, result.used, result.terms, result.entries(), repr(result)
    return result


ACTS: dict[str, Callable[[Books], Entry]] = {
    "open": lambda books: Entry(
        "open",
        lambda **given: _asked(books.ledger.open(**given)),
        lambda: {"name": "new", "epsilon": 1, "delta": 1e-6, "adjacency": NEAR},
        ("accounting", "orders", "parts", "moves", "why", "by"),
    ),
    "open under renyi": lambda books: Entry(
        "open",
        lambda **given: _asked(books.ledger.open(**given)),
        lambda: {"name": "new", "epsilon": 1, "delta": 1e-6, "accounting": "renyi", "orders": [16.0, 64.0]},
        ("adjacency", "parts", "moves"),
    ),
    "dataset": lambda books: Entry(
        "dataset", lambda **given: _asked(books.ledger.dataset(**given)), lambda: {"name": "trips"}
    ),
    "entry": lambda books: Entry(
        "entry", books.ledger.entry, lambda: {"wanted": books.trips.entries()[1].id}
    ),
    "verify": lambda books: Entry("verify", books.ledger.verify, lambda: {"against": books.ledger.export()}),
    "export": lambda books: Entry("export", books.ledger.export, lambda: {"heads_only": True}),
    "part": lambda books: Entry(
        "part", lambda **given: _asked(books.ledger.dataset("zones").part(**given)), lambda: {"name": "a"}
    ),
    "reserve": lambda books: Entry(
        "reserve",
        books.trips.reserve,
        lambda: {"epsilon": 0.1, "delta": 0.0, "description": {"name": "mine"}},
    ),
    "confirm": lambda books: Entry(
        "confirm", books.trips.confirm, lambda: {"entry": books.trips.entries()[1].id}
    ),
    "batch": lambda books: Entry(
        "batch",
        books.trips.batch,
        lambda: {"mechanisms": [NOISE, NOISE], "adjacency": NEAR, "delta": 1e-7},
    ),
    "a release of a batch": lambda books: Entry(
        "reserve",
        _batch(books).reserve,
        lambda: {"epsilon": 0.1, "delta": 0.0, "description": NOISE.describe()},
    ),
    "raise_budget": lambda books: Entry(
        "raise_budget",
        books.trips.raise_budget,
        lambda: {"epsilon": 7, "delta": 1e-5, "why": "approved", "by": "officer"},
    ),
    "close": lambda books: Entry("close", books.trips.close, lambda: {"why": "over"}, ("by",)),
}


def _batch(books: Books) -> Batch:
    return books.trips.batch([NOISE], adjacency=NEAR)


def good_exports() -> list[bytes]:
    """What `veil ledger export` writes of it, whole and heads only."""
    with folder() as made, Books(made / "budget.db") as books:
        whole, heads = books.ledger.export(), books.ledger.export(heads_only=True)
        return [json.dumps(content).encode() for content in (whole, heads)]


def verify_against(path: str) -> object:
    """The good ledger against a file that should be an export of it."""
    from veil.cli.ledger_keeping import known_elsewhere

    against = known_elsewhere(path)
    beside = Path(path).with_name("kept.db")
    with Books(beside) as books:
        try:
            return books.ledger.verify(against)
        finally:
            books.ledger._store.close()
            clear(beside)


def read_books(path: str) -> object:
    """All that one does with a file that should be a ledger, the charge included."""
    for ending in ("-wal", "-shm", "-journal"):
        Path(path + ending).unlink(missing_ok=True)
    forget()
    ledger = veil.Ledger(path)
    try:
        for name in ledger.datasets():
            dataset = _asked(ledger.dataset(name))
            if not dataset.closed:
                veil.release(NOISE, [5, 2, 9], adjacency=NEAR, ledger=dataset, rng=1)
        ledger.export()
        return ledger.verify()
    finally:
        ledger._store.close()
        for ending in ("-wal", "-shm", "-journal"):
            Path(path + ending).unlink(missing_ok=True)
