"""What other processes do with a ledger in the tests, and how some of them are killed."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, release
from tests.ledger.points import watching
from veil.core.account import EntryId
from veil.errors import BudgetExceeded

# So long may anything take, in seconds: no test depends on it, only one that hangs ends after all.
PATIENCE = 600.0


def charge_many(url: str, name: str, times: int, out: Any, begin: Any) -> None:
    """Release so often, and tell how often it succeeded and was refused."""
    dataset = veil.Ledger(url).dataset(name)
    begin.wait(PATIENCE)
    made = refused = 0
    for _ in range(times):
        try:
            release(dataset)
            made += 1
        except BudgetExceeded:
            refused += 1
    out.put((made, refused))


def at_once(processes: int, work: Callable[..., None], arguments: Sequence[Any]) -> list[Any]:
    """What each of several processes says that begin together, once all are ready."""
    context = multiprocessing.get_context("fork")
    out, begin = context.Queue(), context.Barrier(processes)
    workers = [
        context.Process(target=work, args=(*arguments, out, begin), daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    found = [out.get(timeout=PATIENCE) for _ in workers]
    for worker in workers:
        worker.join(PATIENCE)
        assert worker.exitcode == 0
    return found


def release_and_save(url: str, name: str, folder: Path, times: int = 1) -> None:
    """Release and save, so often or until it is refused."""
    dataset = veil.Ledger(url).dataset(name)
    with suppress(BudgetExceeded):
        for _ in range(times):
            out = release(dataset)
            out.save(folder / f"{name} {out.entry.number}.json")


def pay_later(url: str, name: str, folder: Path) -> None:
    """A planted fault: the value is written before it is paid for."""
    dataset = veil.Ledger(url).dataset(name)
    out = veil.release(NOISE, COUNTS, adjacency=NEAR)
    number = dataset.entries()[-1].number + 1
    owed = EntryId("", name, number, "")
    replace(out, entry=owed).save(folder / f"{name} {number}.json")
    dataset.reserve(epsilon=0.1, description=NOISE.describe())


@dataclass(frozen=True)
class KilledProcess:
    """A process that writes down every point it reaches, and is killed at one of them."""

    process: Any
    trace: Path
    last: int

    @classmethod
    def started(
        cls, work: Callable[..., object], arguments: Sequence[Any], trace: Path, last: int
    ) -> KilledProcess:
        """Begin the work; the process is killed at the point of this number, the first is 0."""

        def run() -> None:
            handle = os.open(trace, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            number = itertools.count()

            def reach(point: str, _: Any) -> None:
                os.write(handle, f"{point}\n".encode())
                if next(number) == last:
                    os.kill(os.getpid(), signal.SIGKILL)

            with watching(reach):
                work(*arguments)

        process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
        process.start()
        return cls(process, trace, last)

    def ended(self) -> list[str]:
        """The points that it reached, once it has ended: killed at the last of them, or its work done."""
        self.process.join(PATIENCE)
        reached = self.trace.read_text(encoding="utf-8").splitlines()
        killed = len(reached) == self.last + 1
        assert self.process.exitcode == (-signal.SIGKILL if killed else 0), reached
        return reached


def killed_at(last: int, work: Callable[..., object], *arguments: Any, trace: Path) -> list[str]:
    """Do the work in a process that is killed at the point of this number; the points that it reached."""
    trace.unlink(missing_ok=True)
    return KilledProcess.started(work, arguments, trace, last).ended()
