"""What other processes do with a ledger in the tests."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, release
from veil.errors import BudgetExceeded
from veil.core.account import EntryId


def charge_many(url: str, name: str, times: int, out: Any, begin: Any) -> None:
    """Release so often, and tell how often it succeeded and was refused."""
    dataset = veil.Ledger(url).dataset(name)
    begin.wait()
    made = refused = 0
    for _ in range(times):
        try:
            release(dataset)
            made += 1
        except BudgetExceeded:
            refused += 1
    out.put((made, refused))


def at_once(
    processes: int, work: Callable[..., None], arguments: Sequence[Any], *, patience: float = 240.0
) -> tuple[list[Any], float]:
    """What each of several processes says, and how long they took together, once all were ready."""
    context = multiprocessing.get_context("fork")
    out, begin = context.Queue(), context.Barrier(processes + 1)
    workers = [context.Process(target=work, args=(*arguments, out, begin)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    begin.wait(timeout=patience)
    start = time.perf_counter()
    found = [out.get(timeout=patience) for _ in workers]
    took = time.perf_counter() - start
    for worker in workers:
        worker.join(timeout=patience)
    return found, took


def release_for_ever(url: str, name: str, folder: str) -> None:
    """Release and save, release and save, until killed or refused."""
    dataset = veil.Ledger(url).dataset(name)
    with suppress(BudgetExceeded):
        while True:
            out = release(dataset)
            out.save(Path(folder) / f"{name} {out.entry.number}.json")


def pay_later(url: str, name: str, folder: str) -> None:
    """A planted fault: the value is written before it is paid for."""
    dataset = veil.Ledger(url).dataset(name)
    while True:
        out = veil.release(NOISE, COUNTS, adjacency=NEAR)
        number = dataset.entries()[-1].number + 1
        owed = EntryId("", name, number, "")
        replace(out, entry=owed).save(Path(folder) / f"{name} {number}.json")
        time.sleep(0.02)
        dataset.reserve(epsilon=0.1, description=NOISE.describe())


def killed(work: Callable[..., None], arguments: Sequence[Any], after: float) -> None:
    """Run the work in a process, and kill it after so many seconds."""
    worker = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    worker.start()
    time.sleep(after)
    worker.kill()
    worker.join()
