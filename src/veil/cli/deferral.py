"""Signals during a release: before the charge they stop it at once, after it the result is kept first."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from types import FrameType
from typing import Any, Self

from veil.cli.signals import stop

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_WAIT = b"veil: it is charged or drawn already: the result is kept first. Ctrl-C gives it up.\n"


class Stopped(KeyboardInterrupt):
    """A signal asked the command to stop. number: which."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)

    @property
    def exit_code(self) -> int:
        """The status that a shell reports for a process that was ended by the signal."""
        return 128 + self.number


class Deferral:
    """While it is entered, a signal raises Stopped; from `begin` on it waits until `end`. Only a
    second signal that is SIGINT does not.

    A signal that is ignored stays ignored. Where another part of the program handles one, its handler runs
    first, unless the signal waits. Outside the main thread, where signals do not arrive, it does nothing.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._holds = False
        # The first signal that was held back.
        self.pending: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before = signal.getsignal(number)
                if before not in (signal.SIG_IGN, None):
                    self._before[number] = before
                    signal.signal(number, self._arrived)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}

    def begin(self) -> None:
        """From here on a signal waits: something is being paid for."""
        self._holds = True

    def end(self) -> None:
        """The result lasts: raises Stopped if a signal has waited."""
        self._holds = False
        if self.pending is not None:
            raise Stopped(self.pending)

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        # Only somebody at the keyboard asks twice on purpose.
        if self._holds and (self.pending is None or number != signal.SIGINT):
            self.pending = self.pending or number
            # Not through Python's stream, in which this may be an interruption.
            with suppress(OSError):
                os.write(2, _WAIT)
            return
        before = self._before.get(number)
        # That of the command line ends the process: here it is left as it was entered, with a message.
        own = (signal.default_int_handler, stop)
        if not self._holds and callable(before) and before not in own:
            before(number, frame)
        raise Stopped(number)
