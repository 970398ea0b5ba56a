"""Charges per second, as a ratio to what the store itself commits in the same run; and how a ledger grows.

The store's own rate is that of bare transactions with the same durability that write such rows to the same
tables, by one process, without any of Veil. Goals: at least half of it, with and without an anchor
and a key; at 100,000 entries a charge takes at most twice as long as in an empty ledger, and the time to
verify grows in proportion.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

import veil
from tests.ledger.places import new_database
from tests.tables.servers import postgres_server
from veil.core.account import Charge
from veil.ledger.keys import SecretKey

PROCESSES = 64
CHARGES = 1_920
ROUNDS, TIMES = 60, 10
ENTRIES = 100_000
_MECHANISM = veil.vectors.GeometricCounts(10.0, 3)
_NEAR = veil.vectors.Records()
_BODY = "x" * 1_000
_COLUMNS = "(dataset, number, sha256, token, body)"
_KEY = SecretKey(bytes(range(32)))


def _charge() -> Charge:
    return Charge(0.1, 0.0, _MECHANISM.describe(), _NEAR, (_MECHANISM.profile(_NEAR),))


def per_second(work: Callable[[], object], times: int) -> float:
    """How often a second."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return times / (time.perf_counter() - start)


def in_turn(own: Callable[[], object], charge: Callable[[], object]) -> tuple[float, float, float]:
    """Commits of the store, charges, and charges per commit: medians over rounds of one after the other.

    A disk and a machine that others use are not equally fast all the time: each round has its own ratio.
    """
    for _ in range(5):  # which connect and prepare
        own()
        charge()
    rounds = [(per_second(own, TIMES), per_second(charge, TIMES)) for _ in range(ROUNDS)]
    commits, charges = (statistics.median(rates) for rates in zip(*rounds, strict=True))
    return commits, charges, statistics.median(charge / own for own, charge in rounds)


@contextmanager
def bare_sqlite(folder: str) -> Iterator[Callable[[], None]]:
    """Transactions of SQLite that write the same rows to the same tables, set up as the ledger's are."""
    file = Path(folder) / f"bare-{token_hex(8)}.db"
    veil.Ledger(file).open("trips", epsilon=1)
    connection, numbers = sqlite3.connect(file, isolation_level=None), count(2)
    connection.execute("PRAGMA journal_mode=PERSIST")
    connection.execute("PRAGMA synchronous=FULL")

    def commit() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("SELECT last FROM veil_ledger_datasets WHERE name = 'trips'").fetchall()
        row = ("trips", next(numbers), token_hex(32), token_hex(16), _BODY)
        connection.execute(f"INSERT INTO veil_ledger_entries {_COLUMNS} VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("UPDATE veil_ledger_datasets SET last = ? WHERE name = 'trips'", (_BODY,))
        connection.execute("COMMIT")

    yield commit
    connection.close()


@contextmanager
def bare_postgres(address: str) -> Iterator[Callable[[], None]]:
    """Transactions of PostgreSQL that write the same rows to the same tables: lock, then add."""
    import psycopg

    veil.Ledger(address).open("trips", epsilon=1)
    numbers = count(2)
    with psycopg.connect(address) as connection:

        def commit() -> None:
            connection.execute("SELECT last FROM veil_ledger_datasets FOR UPDATE").fetchall()
            connection.execute(
                f"WITH added AS (INSERT INTO veil_ledger_entries {_COLUMNS} "
                "VALUES ('trips', %s, %s, %s, %s)) UPDATE veil_ledger_datasets SET last = %s",
                [next(numbers), token_hex(32), token_hex(16), _BODY, _BODY],
            )
            connection.commit()

        yield commit


def _work(url: str, times: int, ready: Any) -> None:
    dataset, charge = veil.Ledger(url).dataset("trips"), _charge()
    dataset.reserve_charge(charge)
    ready.wait(timeout=300)
    for _ in range(times):
        dataset.reserve_charge(charge)
    ready.wait(timeout=300)


def together(url: str, processes: int) -> float:
    """Charges a second that so many processes make together on one dataset."""
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(processes + 1)
    workers = [
        context.Process(target=_work, args=(url, CHARGES // processes, ready)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait(timeout=300)
    start = time.perf_counter()
    ready.wait(timeout=300)
    took = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return CHARGES / took


Bare = Callable[[], AbstractContextManager[Callable[[], None]]]


def _report(name: str, bare: Bare, new: Callable[[], str], folder: str) -> None:
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "with a key": {"key": _KEY},
        "with an anchor": {"anchor": Path(folder) / "heads.jsonl"},
        "with both": {"key": _KEY, "anchor": Path(folder) / "heads.jsonl"},
    }
    for way, given in ways.items():
        dataset, charge = veil.Ledger(new(), **given).open("trips", epsilon=1_000_000), _charge()
        with bare() as own:
            commits, charges, ratio = in_turn(own, partial(dataset.reserve_charge, charge))
        print(
            f"{name}, {way}: {charges:.0f} charges a second; the store commits {commits:.0f}: {ratio:.2f}",
            flush=True,
        )
    released = per_second(lambda: dataset.confirm(dataset.reserve_charge(charge)), 250)
    print(f"{name}, with both and its confirmation: {released:.0f} releases a second", flush=True)
    url = new()
    veil.Ledger(url).open("trips", epsilon=1_000_000)
    print(f"{name}, {PROCESSES} processes: {together(url, PROCESSES):.0f} charges a second", flush=True)


def growth(folder: str) -> None:
    """Charges and verification at 1,000, 10,000 and 100,000 entries of one file."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else folder
    with tempfile.TemporaryDirectory(dir=fast) as quick:
        file, charge = Path(quick) / "grown.db", _charge()
        dataset = veil.Ledger(file).open("trips", epsilon=1_000_000)
        made = 1
        for entries in (1, ENTRIES // 100, ENTRIES // 10, ENTRIES):
            while made < entries:
                dataset.reserve_charge(charge)
                made += 1
            copied = Path(folder) / f"grown-{entries}.db"
            shutil.copyfile(file, copied)
            start = time.perf_counter()
            veil.Ledger(copied).verify()
            verified = time.perf_counter() - start
            # What is charged to the copy is none of the original's.
            os.environ["VEIL_STATE"] = tempfile.mkdtemp(dir=folder)
            on_disk = veil.Ledger(copied).dataset("trips")
            on_disk.reserve_charge(charge)  # which connects
            rate = per_second(partial(on_disk.reserve_charge, charge), 300)
            os.environ["VEIL_STATE"] = folder
            print(
                f"{entries} entries: {1e3 / rate:.2f} ms per charge, verified in {verified:.2f} s", flush=True
            )


def run() -> None:
    """Print the rates, and how busy the machine was."""
    with suppress(OSError):
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VEIL_STATE"] = folder
        counter = iter(range(100))

        _report(
            "SQLite",
            partial(bare_sqlite, folder),
            lambda: f"sqlite:///{folder}/{next(counter)}.db",
            folder,
        )
        with postgres_server(max_connections=PROCESSES + 20, fsync=True) as server:
            _report(
                "PostgreSQL",
                lambda: bare_postgres(new_database(server).url),
                lambda: new_database(server).url,
                folder,
            )
        growth(folder)
