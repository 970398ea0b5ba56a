"""What is asked of a source of data: every statement and every file that is read, for whoever wants to know.

Readers call `asked`; whoever listens with `tracing` is told. Statements name tables, columns and public
choices such as labels; what comes back from a source is never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

# Called with the name of the source, and what is asked of it.
Listener = Callable[[str, str], None]

_listener: ContextVar[Listener | None] = ContextVar("trace", default=None)


def asked(source: str, question: str) -> None:
    """Say what is about to be asked of a source; quick where nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(source, question)


def bytes_read() -> int:
    """How many bytes this process has read from files so far, its own program's included; 0 if unknown."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return int(lines[0].partition(":")[2]) if lines and lines[0].startswith("rchar") else 0


@contextmanager
def tracing(listener: Listener) -> Iterator[None]:
    """Be told what is asked of sources inside the `with`, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class TracedConnection:
    """A connection to a database whose statements are told to whoever wants to know."""

    def __init__(self, connection: Any, source: str) -> None:
        self._connection = connection
        self._source = source

    def sql(self, text: str) -> Any:
        asked(self._source, text)
        return self._connection.sql(text)

    def execute(self, text: str, *more: Any) -> Any:
        asked(self._source, text)
        return self._connection.execute(text, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
