"""How far a query is, while it runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_EVERY = 0.2


def watched(work: Callable[[], T], connection: Any, tell: Callable[[str], None]) -> T:
    """Do the work on the connection in a thread of its own, and tell now and then how much is done.

    Whoever interrupts the waiting interrupts the query.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(work)
        try:
            while True:
                try:
                    return running.result(timeout=_EVERY)
                except TimeoutError:
                    done = connection.query_progress()
                    if done > 0.0:
                        tell(f"counting, {done:.0f} %")
        except KeyboardInterrupt:
            connection.interrupt()
            raise
