"""Timing that a noisy machine disturbs little: the least of several runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence


def least_seconds(work: Callable[[], object], *, runs: int = 5) -> float:
    """The shortest of several runs, in seconds of the wall clock."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def least_cpu_seconds(command: Sequence[str], *, runs: int = 5) -> float:
    """The least CPU time (user and system) that a command takes from a cold start."""
    best = float("inf")
    for _ in range(runs):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, used)
    return best
