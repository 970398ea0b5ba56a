"""Imports that must not happen in two processes at once."""

from __future__ import annotations

import fcntl
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any


def imported_alone(name: str) -> Any:
    """Import a library that compiles itself when it is first imported.

    Workers that compile the same functions at the same time write over each other's files, and what is loaded
    from such a file ends the process. So one does it while the others wait.
    """
    with Path(tempfile.gettempdir(), f"veil-tests-import-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return import_module(name)
