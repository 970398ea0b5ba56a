"""Charges a second: a file and a PostgreSQL server, one process and 64, with everything on the disk."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import veil
from tests.ledger.places import new_database
from tests.tables.servers import postgres_server

PROCESSES = 64
CHARGES = 3_200
GOALS = {"SQLite": 200, "PostgreSQL": 500}
_MECHANISM = veil.vectors.GeometricCounts(10.0, 3)


def _charge(url: str, times: int, confirm: bool, ready: Any) -> None:
    from veil.core.account import Charge

    dataset = veil.Ledger(url).dataset("trips")
    near = veil.vectors.Records()
    charge = Charge(0.1, 0.0, _MECHANISM.describe(), near, (_MECHANISM.profile(near),))
    # The first one connects and prepares the statements.
    dataset.confirm(dataset.reserve_charge(charge))
    ready.wait(timeout=120)
    for _ in range(times):
        entry = dataset.reserve_charge(charge)
        if confirm:
            dataset.confirm(entry)
    ready.wait(timeout=120)


def rate(url: str, processes: int, *, confirm: bool) -> float:
    """Charges a second that so many processes make together on one dataset."""
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(processes + 1)
    arguments = (url, CHARGES // processes, confirm, ready)
    workers = [context.Process(target=_charge, args=arguments) for _ in range(processes)]
    for worker in workers:
        worker.start()
    ready.wait(timeout=120)
    start = time.perf_counter()
    ready.wait(timeout=120)
    took = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return CHARGES / took


def syncs(folder: str) -> float:
    """How often a second this disk takes 4 kB for good: what bounds a single process on a file."""
    handle = os.open(Path(folder) / "probe", os.O_CREAT | os.O_WRONLY)
    start = time.perf_counter()
    for _ in range(200):
        os.write(handle, bytes(4096))
        os.fdatasync(handle)
    took = time.perf_counter() - start
    os.close(handle)
    return 200 / took


def _report(name: str, url: str) -> None:
    veil.Ledger(url).open("trips", epsilon=1_000_000)
    for processes in (1, PROCESSES):
        alone = rate(url, processes, confirm=False)
        both = rate(url, processes, confirm=True)
        who = "one process" if processes == 1 else f"{processes} processes"
        goal = GOALS[name]
        print(
            f"{name}, {who}: {alone:.0f} charges a second; with their confirmation {both:.0f} (goal: {goal})",
            flush=True,
        )


def run() -> None:
    """Print charges a second, and how busy the machine was."""
    with suppress(OSError):
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        print(f"the disk takes {syncs(folder):.0f} writes a second")
        _report("SQLite", f"sqlite:///{folder}/budget.db")
    with postgres_server(max_connections=PROCESSES + 20, fsync=True) as server:
        _report("PostgreSQL", new_database(server).url)
