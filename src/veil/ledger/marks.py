"""What this process and this machine have seen of a ledger, so that entries cannot vanish unnoticed.

A mark is the newest entry of a dataset that was ever written or charged from here. It is kept outside the
ledger, in the state folder of the user (see `veil.core.state`), and only ever moves forward. If the ledger
has less than the mark says, it was set back: restored from a backup, copied, or cut.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from veil.core.state import state_folder
from veil.ledger.head import Head

try:
    import fcntl
except ImportError:  # pragma: no cover (not on this system: the newer mark may lose a race)
    fcntl = None  # type: ignore[assignment]

# More than any mark is long.
_LONGEST = 1 << 20
_CLOSED_BY_EXEC = getattr(os, "O_CLOEXEC", 0)


class Marks:
    """The marks of one ledger, by dataset."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Head] = {}
        # What was last found in a file or written there, and the head that it holds.
        self._read: dict[Path, tuple[bytes, Head | None]] = {}

    def seen(self, ledger: str, dataset: str) -> Head | None:
        """The newest entry that was seen; None if none was."""
        mine, kept = self._seen.get((ledger, dataset)), None
        file = _file(ledger, dataset)
        if file is not None:
            with suppress(OSError):
                handle = os.open(file, os.O_RDONLY | _CLOSED_BY_EXEC)
                try:
                    kept = self._parsed(file, os.read(handle, _LONGEST))
                finally:
                    os.close(handle)
        return max((head for head in (mine, kept) if head is not None), key=_number, default=None)

    def note(self, head: Head, *, back: bool = False) -> None:
        """Remember an entry, unless a newer one is known. back: also then, once that was agreed to."""
        key = (head.ledger, head.dataset)
        known = self._seen.get(key)
        if back or known is None or known.number < head.number:
            self._seen[key] = head
        file = _file(*key)
        # A mark that cannot be kept does not stop a release: this process still knows it.
        with suppress(OSError), _locked(file) as handle:
            if handle is None or file is None:
                return
            content = os.read(handle, _LONGEST)
            held = self._parsed(file, content)
            if back or held is None or held.number < head.number:
                line = head.line.encode()
                # The line first: what is left of a longer one is behind its end.
                os.lseek(handle, 0, os.SEEK_SET)
                written = os.write(handle, line)
                if written < len(content):
                    os.ftruncate(handle, written)
                self._read[file] = (line[:written], head)

    def _parsed(self, file: Path, content: bytes) -> Head | None:
        """The head in the first line."""
        known, head = self._read.get(file, (None, None))
        if known != content:
            head = Head.parse(content.decode("utf-8", "replace").partition("\n")[0])
            self._read[file] = (content, head)
        return head


def _number(head: Head) -> int:
    return head.number


def _file(ledger: str, dataset: str) -> Path | None:
    # The place may change while a process lives.
    return _file_in(os.environ.get("VEIL_STATE"), ledger, dataset)


@lru_cache(maxsize=1024)
def _file_in(_stated: str | None, ledger: str, dataset: str) -> Path | None:
    folder = state_folder("ledgers", hashlib.sha256(ledger.encode()).hexdigest()[:32])
    return None if folder is None else folder / hashlib.sha256(dataset.encode()).hexdigest()[:32]


@contextmanager
def _locked(file: Path | None) -> Iterator[int | None]:
    if file is None:
        yield None
        return
    handle = os.open(file, os.O_RDWR | os.O_CREAT | _CLOSED_BY_EXEC, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        # Not only closed: a process that another thread forked meanwhile has the file open as well, and would
        # hold the lock for as long as it lives, also against itself.
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
