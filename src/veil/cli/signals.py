"""What a command does when it is told to end: `on_stop` registers it; then the process ends by the signal.

Only the command line listens to signals; a program that uses Veil as a library keeps its own handlers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Sent by `kill`, by a system that shuts down, and by a terminal that is closed.
STOPPING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_actions: list[Callable[[], object]] = []


def on_stop(action: Callable[[], object]) -> Callable[[], None]:
    """Have an action done before the process ends by a signal, the last one first. Returns what undoes it."""
    _actions.append(action)

    def forget() -> None:
        with contextlib.suppress(ValueError):
            _actions.remove(action)

    return forget


@contextmanager
def listening(signals: tuple[int, ...] = STOPPING) -> Iterator[None]:
    """Do what was registered if a signal comes, and restore the former handlers afterwards.

    A signal that is ignored stays so, as under `nohup`, and so does one that somebody else handles.
    """
    former: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        former = {one: signal.getsignal(one) for one in signals}
        former = {one: handler for one, handler in former.items() if handler is signal.SIG_DFL}
    for one in former:
        signal.signal(one, stop)
    try:
        yield
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)


def stop(number: int, frame: FrameType | None) -> None:
    """Do what was registered, and end as if nobody had listened, so that others see which signal it was."""
    # A second signal ends the process at once.
    signal.signal(number, signal.SIG_DFL)
    while _actions:
        # Whatever fails, the next one is done.
        with contextlib.suppress(Exception):
            _actions.pop()()
    os.kill(os.getpid(), number)
