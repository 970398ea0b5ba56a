"""Folders into which DuckDB spills when memory is short: they hold raw cells, so nothing of them may stay.

A folder is open to its owner alone. It is removed when its connection is closed, when the process ends, or by
`remove_all` when it is told to end. What a killed process leaves behind is removed by the next one that makes
such a folder. A folder is in use for as long as a process holds the lock on the file in it: the system lets
go of the lock when the process ends, however it ends, and tells the same to every container that sees the
folder, unlike numbers of processes. Only folders of the same user, with such a file, are ever touched.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import RLock

try:
    import fcntl
except ImportError:  # Windows has no such locks: there nothing is swept.
    fcntl = None  # type: ignore[assignment]

# A folder gets its name once its lock is held, so that nobody takes a new one for an abandoned one.
_PREFIX, _UNFINISHED, _REMOVED = "veil-spill-", ".veil-new-", ".veil-old-"
_LOCK = "in-use"
_live: set[SpillFolder] = set()
# The same thread may come back in the handler of a signal.
_guard = RLock()
_swept = False


class SpillFolder:
    """A new folder that is ours alone, for as long as this process runs or until it is removed."""

    def __init__(self) -> None:
        _sweep_once()
        self._owner, self._lock = os.getpid(), -1
        self.path = Path(tempfile.mkdtemp(prefix=_UNFINISHED))
        with _guard:
            _live.add(self)
        if fcntl is not None:
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            name = f"{_PREFIX}{self._owner}-{self.path.name.removeprefix(_UNFINISHED)}"
            self.path = self.path.rename(self.path.with_name(name))

    def remove(self) -> None:
        """Remove the folder with all that is in it. A child that was forked leaves it to its parent."""
        with _guard:
            if self not in _live or self._owner != os.getpid():
                return
            _live.discard(self)
        _remove(self.path)
        if self._lock >= 0:
            os.close(self._lock)


def remove_all() -> None:
    """Remove every folder of this process; for when it is told to end."""
    for folder in list(_live):
        with contextlib.suppress(OSError):
            folder.remove()


atexit.register(remove_all)


def _remove(path: Path) -> None:
    """Remove a folder; under another name first, so that nothing is written into it meanwhile."""
    hidden = path.with_name(f"{_REMOVED}{path.name.removeprefix(_PREFIX)}")
    with contextlib.suppress(OSError):
        path.rename(hidden)
        path = hidden
    with contextlib.suppress(OSError):
        for entry in path.iterdir():
            # The lock goes last: without it nobody would take up what is left.
            if entry.name != _LOCK:
                entry.unlink()
    # Does not follow links, nor folders that somebody exchanges for links.
    shutil.rmtree(path, ignore_errors=True)


def _sweep_once() -> None:
    global _swept
    with _guard:
        if _swept:
            return
        _swept = True
    sweep()


def sweep() -> int:
    """Remove the folders that processes of this user left behind. Returns how many."""
    return 0 if fcntl is None else sum(map(_swept_away, _candidates()))


def _candidates() -> Iterator[Path]:
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith((_PREFIX, _REMOVED)):
                yield Path(entry.path)


def _swept_away(path: Path) -> bool:
    """Whether the folder was one of this user, in use by nobody, and is gone now."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        found = os.fstat(folder)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            return False
        lock = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.lstat(path).st_ino != found.st_ino:
                return False
            _remove(path)
        finally:
            os.close(lock)
    except OSError:
        return False
    finally:
        os.close(folder)
    return not path.exists()
