"""One call under guard: what it may do is return, or raise a VeilError; soon, and in little memory."""

from __future__ import annotations

import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from veil.errors import PrivacyWarning, VeilError

# Seconds and bytes beyond what the process has already: far above what a small call needs.
SECONDS = 20.0
ROOM = 3 * 2**30


class Overdue(BaseException):
    """A call that does not end. No library code catches it."""


class Misbehaved(AssertionError):
    """A call did something else than return or raise a VeilError."""


@dataclass
class Outcome:
    """What came of a call: a result, or the error that refused it."""

    result: Any = None
    error: VeilError | None = None


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise Overdue(f"not done after {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _in_use() -> int:
    with open("/proc/self/statm", encoding="ascii") as numbers:  # noqa: PTH123 - a file of the system
        return int(numbers.read().split()[0]) * resource.getpagesize()


@contextmanager
def _in_room(room: int) -> Iterator[None]:
    """An address space that ends soon: what would be allocated by mistake is refused by the system."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_in_use() + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def guarded(call: Callable[[], Any], *, seconds: float = SECONDS, room: int = ROOM) -> Outcome:
    """The outcome of a call. Anything but a result or a VeilError is reported with its traceback."""
    try:
        with warnings.catch_warnings(), _in_time(seconds), _in_room(room):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", PrivacyWarning)
            return Outcome(result=call())
    except VeilError as error:
        return Outcome(error=error)
    except (Exception, Overdue) as error:
        place = "".join(traceback.format_tb(error.__traceback__, -4))
        raise Misbehaved(f"{type(error).__name__}: {str(error)[:300]}\n{place}") from None


class CountingLedger:
    """A ledger that takes every charge and counts."""

    def __init__(self) -> None:
        self.reserved: list[tuple[float, float]] = []
        self.confirmed: list[Any] = []

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> int:
        """Note a charge."""
        self.reserved.append((epsilon, delta))
        return len(self.reserved)

    def confirm(self, entry: Any) -> None:
        """Note that it was used."""
        self.confirmed.append(entry)
