"""Every point that a release passes on its way into the ledger and into a file, by name and in order.

They are seen from outside: by the statements that reach the database, by commits, by draws and by what
becomes of the file. So a test can let a process die or a connection break at each of them, and nowhere else.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.default import DefaultDialect

import veil
from veil.core.mechanism import Described
from veil.ledger.session import Session
from veil.ledger.store import Store
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

# What is called with every point as it is reached; the connection of the driver, where there is one.
Reach = Callable[[str, Any], None]

# What a statement does, by what is written in it; the first that fits.
_STATEMENTS = {
    "BEGIN IMMEDIATE": "begun",
    "UNION SELECT dataset": "names read",
    "veil_ledger_lock": "locked",
    "veil_ledger_add": "written",
    "INSERT INTO veil_ledger_entries": "entry written",
    "INSERT INTO veil_ledger_datasets": "row written",
    "UPDATE veil_ledger_datasets": "row written",
    "SELECT veil_ledger_datasets.last, ": "locked",
    "SELECT number FROM veil_ledger_entries": "token looked for",
    "SELECT * FROM veil_ledger_entries": "entry read",
}
# Whether there are tables: asked of the database's own, as its driver likes.
_ABOUT_TABLES = ("table_info", "pg_catalog")
# What draws. Noisy counts have a method of their own.
DRAWS: list[tuple[type[Any], str]] = [
    (Described, "sample"),
    (GeometricCounts, "sample_noisy"),
    (DiscreteGaussianCounts, "sample_noisy"),
]
# Whose calls the statements belong to.
_CALLS: list[tuple[type[Any], str, str]] = [
    (Store, "create", "make"),
    (veil.Ledger, "open", "open"),
    (veil.ledger.dataset.Dataset, "reserve_charge", "reserve"),
    (veil.ledger.dataset.Dataset, "use", "use"),
    (veil.ledger.dataset.Dataset, "confirm", "confirm"),
    (veil.ledger.dataset.Dataset, "raise_budget", "raise"),
    (veil.ledger.dataset.Dataset, "close", "close"),
]

# Of a release that is saved, by a process that has made none before: all of them, and no others.
POINTS = {
    "sqlite": [
        "reserve: asked",
        "reserve: begun",
        "reserve: locked",
        "reserve: entry written",
        "reserve: row written",
        "reserve: commit",
        "reserve: committed",
        "draw: asked",
        "draw: made",
        "confirm: asked",
        "confirm: begun",
        "confirm: locked",
        "confirm: token looked for",
        "confirm: entry read",
        "confirm: entry written",
        "confirm: row written",
        "confirm: commit",
        "confirm: committed",
        "file: begun",
        "file: written",
        "file: in place",
    ],
    "postgresql": [
        "reserve: asked",
        "reserve: locked",
        "reserve: written",
        "reserve: commit",
        "reserve: committed",
        "draw: asked",
        "draw: made",
        "confirm: asked",
        "confirm: locked",
        "confirm: token looked for",
        "confirm: entry read",
        "confirm: written",
        "confirm: commit",
        "confirm: committed",
        "file: begun",
        "file: written",
        "file: in place",
    ],
}
# In the ledger of a server, once a process has found that nobody else writes: a statement each.
AT_ONCE = [
    "reserve: asked",
    "reserve: sent",
    "reserve: committed",
    "draw: asked",
    "draw: made",
    "confirm: asked",
    "confirm: sent",
    "confirm: committed",
]


@contextmanager
def watching(reach: Reach) -> Iterator[None]:
    """Call `reach` at every point of all writes, draws and files of this process."""
    with pytest.MonkeyPatch.context() as patch:
        watch = _Watch(reach)
        for kind, method, name in _CALLS:
            patch.setattr(kind, method, watch.within(name, getattr(kind, method)))
        for drawn, method in DRAWS:
            patch.setattr(drawn, method, watch.around("draw: asked", getattr(drawn, method), "draw: made"))
        patch.setattr(tempfile, "mkstemp", watch.around(None, tempfile.mkstemp, "file: begun"))
        patch.setattr(os, "replace", watch.around("file: written", os.replace, "file: in place"))
        patch.setattr(Session, "begin", watch.session_begun(Session.begin))
        patch.setattr(Session, "_cursor", watch.session_executed(Session._cursor))
        patch.setattr(Session, "commit", watch.session_committed(Session.commit))
        patch.setattr(DefaultDialect, "do_commit", watch.committed(DefaultDialect.do_commit))
        event.listen(Engine, "after_cursor_execute", watch.executed)
        event.listen(Engine, "commit", watch.commit)
        try:
            yield
        finally:
            event.remove(Engine, "after_cursor_execute", watch.executed)
            event.remove(Engine, "commit", watch.commit)


class _Watch:
    """What is going on in the one thread that is watched."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._calls: list[str] = []
        self._committing: Any = None
        self._busy = False

    def _at(self, point: str, driver: Any = None) -> None:
        # What is done at a point passes no points of its own.
        if not self._busy:
            self._busy = True
            try:
                self._reach(point, driver)
            finally:
                self._busy = False

    def within(self, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            self._calls.append(name)
            try:
                self._at(f"{name}: asked")
                return plain(*args, **more)
            finally:
                self._calls.pop()

        return call

    def around(self, before: str | None, plain: Callable[..., Any], after: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            if before is not None:
                self._at(before)
            out = plain(*args, **more)
            self._at(after)
            return out

        return call

    # Changes of what is no entry: tables and rights

    def executed(
        self, connection: Connection, _cursor: Any, statement: str, _values: Any, _context: Any, _many: bool
    ) -> None:
        if self._writes(connection) and not any(mark in statement for mark in _ABOUT_TABLES):
            self._step(_named(statement), connection.connection.driver_connection)

    def commit(self, connection: Connection) -> None:
        if self._writes(connection):
            self._committing = connection.connection.driver_connection
            self._step("commit", self._committing)

    def committed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> None:
            plain(*args)
            driver, self._committing = self._committing, None
            if driver is not None:
                self._step("committed", driver)

        return call

    def _writes(self, connection: Connection) -> bool:
        reads = connection.get_execution_options().get("veil_reads")
        return bool(self._calls) and not self._busy and not reads

    # Entries: what is raised at a point is as if the driver had raised it

    def session_begun(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(session: Session, **more: Any) -> None:
            plain(session, **more)
            if not session.on_server:
                with session.errors:
                    self._step("begun", session.driver)

        return call

    def session_executed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(session: Session, statement: str, values: Any) -> Any:
            # Of single statements only what adds an entry is a transaction; the others read.
            adds = session.at_once and "veil_ledger_add" in statement
            if adds:
                self._step("sent", session.driver)
            out = plain(session, statement, values)
            self._step("committed" if adds else _named(statement), session.driver)
            return out

        return call

    def session_committed(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(session: Session) -> None:
            with session.errors:
                self._step("commit", session.driver)
            plain(session)
            with session.errors:
                self._step("committed", session.driver)

        return call

    def _step(self, step: str, driver: Any) -> None:
        if self._calls:
            self._at(f"{self._calls[-1]}: {step}", driver)


def _named(statement: str) -> str:
    marks = (name for mark, name in _STATEMENTS.items() if mark in statement)
    return next(marks, " ".join(statement.split()[:3]))
