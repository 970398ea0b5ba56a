"""A clock on which time passes only while somebody sleeps."""

from __future__ import annotations

from collections.abc import Callable


class Clock:
    """Stands for the module `time`. on_pause: called with the number of each pause, the first is 1."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.on_pause: Callable[[int], object] = lambda number: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        self.on_pause(len(self.pauses))
