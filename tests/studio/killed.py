"""A workbench and a release that are killed at a point on the way, each a process of its own.

`python -m tests.studio.killed FOLDER DRAFT POINT` serves a workspace, presses Release, and is killed there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

# What the server passes, and then what the worker passes, in this order.
BY_THE_SERVER = ("asked for", "begun", "started", "ordered")
BY_THE_WORKER = (
    "running",
    "reading",
    "charging",
    "reserved",
    "charged",
    "drawn",
    "kept",
    "confirmed",
    "reported",
)
# The module of the worker.
WORKER = "tests.studio.killed"
_POINT, _SERVER = "VEIL_TEST_POINT", "VEIL_TEST_SERVER"


def _reach(point: str) -> None:
    """Kill this process, and the server, if this is where it ends: without a chance to tidy up."""
    if os.environ[_POINT] != point:
        return
    server = int(os.environ[_SERVER])
    if server != os.getpid():
        os.kill(server, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def passing(place: Any, name: str, *, before: str = "", after: str = "") -> None:
    """Have a function pass points before and after its work."""
    whole: Callable[..., Any] = getattr(place, name)

    @wraps(whole)
    def passed(*arguments: Any, **more: Any) -> Any:
        _reach(before)
        found = whole(*arguments, **more)
        _reach(after)
        return found

    setattr(place, name, passed)


def worker() -> None:
    """The process that makes the release, with the points on its way."""
    from veil.cli.keeping import Keeper
    from veil.core.job import Job
    from veil.ledger.dataset import Dataset
    from veil.studio.worker import Diary, main

    passing(Diary, "__init__", after="running")
    passing(Diary, "step", after="reading")
    passing(Dataset, "reserve_charge", before="charging", after="reserved")
    passing(Job, "_draw", before="charged", after="drawn")
    passing(Keeper, "__call__", after="kept")
    passing(Job, "run", after="confirmed")
    passing(Keeper, "add_report", after="reported")
    main()


def server(folder: Path, draft: str, point: str) -> None:
    """Serve the workspace, and press Release."""
    from tests.studio.conftest import serving
    from veil.studio import jobs
    from veil.studio.workspace import Workspace

    os.environ |= {_POINT: point, _SERVER: str(os.getpid())}
    passing(jobs.Jobs, "_make", before="asked for")
    passing(subprocess.Popen, "wait", before="ordered")
    passing(subprocess, "Popen", before="begun", after="started")
    jobs.WORKER = WORKER
    with serving(Workspace.opened(folder)) as workbench:
        visitor = workbench.visitor()
        visitor.wait(visitor.release(draft))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
    else:
        worker()
