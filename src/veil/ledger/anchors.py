"""Places outside a ledger where its newest entries are noted, so that a ledger that was set back shows.

Every charge, and every change of a budget, is noted before anything is drawn: in a file that is only ever
appended to, in a table of another database, or on standard output for a system that collects logs.
"""

from __future__ import annotations

import json
import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from sqlalchemy import Column, Connection, Engine, Integer, MetaData, String, Table, Text, insert, select
from sqlalchemy.exc import SQLAlchemyError

from veil.core.errors import InvalidArgument, LedgerUnavailable, UnreadableFile
from veil.ledger.address import Address
from veil.ledger.connections import engine_for
from veil.ledger.head import Head

_EXPECTED = "a file that ends in .jsonl, postgresql://..., sqlite:///..., stdout or stderr"
_STREAMS = ("stdout", "stderr")
# Of the line of a head.
_BEGINNING = '{"dataset":'


@runtime_checkable
class Anchor(Protocol):
    """Where heads are noted. Any object with these two methods will do.

    One that may still lose what it noted has a third, `settle`, which makes it last: it is called before a
    release is confirmed, and after every other change.
    """

    def check(self) -> None:
        """Before a charge: raise LedgerUnavailable if nothing could be noted."""

    def note(self, head: Head) -> None:
        """Note a head; raise LedgerUnavailable if that fails."""


class _Handle:
    """A file that is only appended to, and closed once nobody uses it any more."""

    def __init__(self, file: Path) -> None:
        self.number = os.open(
            file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600
        )
        status = os.fstat(self.number)
        self._status = (status.st_dev, status.st_ino)
        if not _ends_with_a_line(file):
            # What follows a line that was cut off is not to be lost with it.
            os.write(self.number, b"\n")

    def is_at(self, file: Path) -> bool:
        """Whether the file has this name still: it may have been moved, as logs are."""
        try:
            status = file.stat()
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == self._status

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self.number)


def _ends_with_a_line(file: Path) -> bool:
    """Whether nothing was cut off, as far as the file may be read."""
    try:
        with file.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"
    except OSError:  # also where it is empty
        return True


def _is_cut_off(line: str) -> bool:
    """Whether a line is the beginning of one that a crash, or a full disk, did not let be finished."""
    if not line.startswith(_BEGINNING):
        return _BEGINNING.startswith(line.rstrip("\n"))
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


class FileAnchor:
    """One line of JSON for each head, appended at once, and on the disk before its release is confirmed.

    So a charge waits for one write to a disk, not for two; a power cut before the confirmation may lose the
    newest lines.
    """

    def __init__(self, file: Path) -> None:
        self.file = file.absolute()
        self._held: _Handle | None = None

    def __repr__(self) -> str:
        return f"<FileAnchor {self.file}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file,)

    def _opened(self) -> _Handle:
        """The file, which stays open for as long as it has this name."""
        try:
            held = self._held
            if held is None or not held.is_at(self.file):
                self._held = held = _Handle(self.file)
            return held
        except OSError as error:
            raise _unavailable(str(self.file), error.strerror or "none") from None

    def check(self) -> None:
        self._opened()

    def note(self, head: Head) -> None:
        # As it was checked before the charge.
        handle = self._held or self._opened()
        try:
            line = head.line.encode()
            if os.write(handle.number, line) != len(line):
                self._held = None
                raise _unavailable(str(self.file), "no room")
        except OSError as error:
            raise _unavailable(str(self.file), error.strerror or "none") from None

    def settle(self) -> None:
        """Bring to the disk what was noted, by whatever process; raise LedgerUnavailable if that fails."""
        try:
            # The file that was written to, which may have been moved since.
            os.fsync((self._held or self._opened()).number)
        except OSError as error:
            raise _unavailable(str(self.file), error.strerror or "none") from None

    def heads(self) -> Iterator[Head]:
        """All that was noted, oldest first. A line that a crash cut off is passed over."""
        try:
            with self.file.open(encoding="utf-8") as stream:
                for number, line in enumerate(stream, 1):
                    head = Head.parse(line)
                    if head is None and line.endswith("\n") and not _is_cut_off(line):
                        found = f"something else in line {number}"
                        raise UnreadableFile(str(self.file), expected="heads of a ledger", found=found)
                    if head is not None:
                        yield head
        except (OSError, UnicodeDecodeError):
            raise UnreadableFile(str(self.file), expected="heads of a ledger", found="no such text") from None


class StreamAnchor:
    """Standard output or standard error, for a system that collects what a service prints."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<StreamAnchor {self.name}>"

    def check(self) -> None:
        stream = getattr(sys, self.name)
        if stream is None or stream.closed:
            raise _unavailable(self.name, "it is closed")

    def note(self, head: Head) -> None:
        try:
            stream = getattr(sys, self.name)
            stream.write(head.line)
            stream.flush()
        except (OSError, ValueError, AttributeError):
            raise _unavailable(self.name, "it is closed") from None


_HEADS = Table(
    "veil_ledger_anchors",
    MetaData(),
    Column("ledger", String(80), primary_key=True),
    Column("dataset", String(200), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("sha256", String(64), primary_key=True),
    Column("line", Text, nullable=False),
)


class DatabaseAnchor:
    """A table of another database. Its role needs no more than INSERT on the table."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._engines: dict[int, Engine] = {}
        # Who forgets an anchor need not close it.
        weakref.finalize(self, _let_go, self._engines)

    def __repr__(self) -> str:
        return f"<DatabaseAnchor {self.address}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.address,)

    def _engine(self) -> Engine:
        if os.getpid() not in self._engines:
            file = self.address.file
            if file is not None:
                with suppress(FileExistsError):
                    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._engines[os.getpid()] = engine_for(self.address)
        return self._engines[os.getpid()]

    def _run(self, work: Any) -> Any:
        try:
            with self._engine().begin() as connection:
                return work(connection)
        except (SQLAlchemyError, OSError):
            raise _unavailable(str(self.address), "the database does not take it") from None

    def check(self) -> None:
        def work(connection: Connection) -> None:
            _HEADS.create(connection, checkfirst=True)

        self._run(work)

    def note(self, head: Head) -> None:
        named = {name: getattr(head, name) for name in ("ledger", "dataset", "number", "sha256")}
        self._run(lambda connection: connection.execute(insert(_HEADS), named | {"line": head.line}))

    def heads(self) -> Iterator[Head]:
        """All that was noted."""
        query = select(_HEADS.c.line).order_by(_HEADS.c.ledger, _HEADS.c.dataset, _HEADS.c.number)
        for line in self._run(lambda connection: connection.execute(query).scalars().all()):
            head = Head.parse(line)
            if head is None:
                raise UnreadableFile(str(self.address), expected="heads of a ledger", found="something else")
            yield head


def _let_go(engines: dict[int, Engine]) -> None:
    """Close the connections that this process opened: connections do not survive a fork."""
    engine = engines.pop(os.getpid(), None)
    if engine is not None:
        engine.dispose()


def heads_at(place: Any) -> list[Head]:
    """All that an anchor has noted: a file or a database."""
    anchor = anchor_from(place)
    if isinstance(anchor, FileAnchor | DatabaseAnchor):
        return list(anchor.heads())
    raise InvalidArgument("anchor", expected="a file or a database", found="a stream")


def anchors_from(given: Any) -> tuple[Anchor, ...]:
    """One anchor or several; in a text they are separated by commas."""
    if given is None:
        return ()
    if isinstance(given, str):
        return tuple(anchor_from(one.strip()) for one in given.split(","))
    return tuple(map(anchor_from, given)) if isinstance(given, Sequence) else (anchor_from(given),)


def anchor_from(given: Any) -> Anchor:
    """The anchor that is meant: a file, a database, a stream, or an object that is one."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith(".jsonl")):
        return FileAnchor(Path(given))
    if isinstance(given, str):
        if given in _STREAMS:
            return StreamAnchor(given)
        if "://" in given:
            return DatabaseAnchor(Address.of(given))
        raise InvalidArgument("anchor", expected=_EXPECTED, found=repr(given)[:60])
    if isinstance(given, Anchor):
        return given
    raise InvalidArgument("anchor", expected=_EXPECTED, found=type(given).__name__)


def _unavailable(where: str, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(f"anchor: {where} cannot be written to: {reason}.")
