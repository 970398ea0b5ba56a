"""A transaction of the ledger, straight through the driver: every charge runs in one.

What SQLAlchemy does around a statement takes longer than most statements here. Connections still come from
its pool, and errors have its classes, by which the store tells what to do about them.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

Values = Mapping[str, Any]


class Session:
    """One transaction; or, on a server, single statements that are committed as they are run.

    driver: the connection of sqlite3 or psycopg.
    """

    def __init__(self, driver: Any, dialect: Any, *, at_once: bool = False) -> None:
        """at_once: every statement is a transaction of its own."""
        self.driver, self.dialect, self.at_once = driver, dialect, at_once
        self.errors = _Errors(self)
        self.on_server = dialect.name == "postgresql"
        self.is_gone = False
        # A commit was begun: if it fails, it may have been made all the same.
        self.is_committing = False

    def begin(self) -> None:
        with self.errors:
            if not self.on_server:
                self.driver.execute("BEGIN IMMEDIATE")
            elif self.at_once:
                # psycopg itself begins a transaction otherwise, with the first statement.
                self.driver.autocommit = True

    def rows(self, statement: str, values: Values) -> list[Any]:
        """What a query returns; columns have their names."""
        with self.errors:
            cursor = self._cursor(statement, values)
            row = _row_of(tuple(column[0] for column in cursor.description))
            return [row(*found) for found in cursor.fetchall()]

    def run(self, statement: str, values: Values) -> None:
        """A statement whose answer does not matter."""
        with self.errors:
            self._cursor(statement, values)

    def _cursor(self, statement: str, values: Values) -> Any:
        return self.driver.execute(for_servers(statement) if self.on_server else statement, values)

    def commit(self) -> None:
        """All of it is on the disk when it returns."""
        with self.errors:
            self.driver.commit()

    def end(self) -> None:
        """As the pool expects it."""
        if self.at_once and not self.is_gone:
            with self.errors:
                self.driver.autocommit = False


class CommitFailed(Exception):
    """A commit to a file that failed: whether it was made has to be looked up. error: of the driver."""

    def __init__(self, error: DBAPIError) -> None:
        super().__init__()
        self.error = error


class _Errors:
    """Errors of the driver, in the classes of SQLAlchemy."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        session, dialect = self._session, self._session.dialect
        if error is None or not isinstance(error, dialect.loaded_dbapi.Error):
            return
        session.is_gone = session.is_gone or bool(dialect.is_disconnect(error, session.driver, None))
        raise _translated(error, dialect, is_gone=session.is_gone) from error


@contextmanager
def session_of(engine: Engine, *, at_once: bool = False) -> Iterator[Session]:
    """Committed at the end, or nothing of it."""
    dialect = engine.dialect
    try:
        pooled = engine.raw_connection()
    except dialect.loaded_dbapi.Error as error:
        raise _translated(error, dialect, is_gone=False) from error
    session = Session(pooled.dbapi_connection, dialect, at_once=at_once and dialect.name == "postgresql")
    try:
        session.begin()
        yield session
        if not session.at_once:
            session.is_committing = True
            session.commit()
    except Exception as error:
        if session.is_committing and not session.on_server and isinstance(error, DBAPIError):
            pooled.invalidate(error)
            raise CommitFailed(error) from error
        if session.is_gone:
            pooled.invalidate(error)
        raise
    except BaseException:
        # In the middle of whatever it was.
        pooled.invalidate()
        raise
    finally:
        with suppress(DBAPIError):
            session.end()
        # Whatever was not committed is rolled back.
        pooled.close()


def rows_of(connection: Connection | Session, statement: str, values: Values) -> list[Any]:
    """What a query returns, in a session or in any other transaction."""
    if isinstance(connection, Session):
        return connection.rows(statement, values)
    on_server = connection.dialect.name == "postgresql"
    found = connection.exec_driver_sql(for_servers(statement) if on_server else statement, dict(values))
    return list(found.all())


@lru_cache(maxsize=64)
def for_servers(statement: str) -> str:
    """The same statement as PostgreSQL's driver takes it."""
    return re.sub(r":(\w+)", r"%(\1)s", statement)


@lru_cache(maxsize=64)
def _row_of(names: tuple[str, ...]) -> Any:
    return namedtuple("Row", names)


def _translated(error: BaseException, dialect: Any, *, is_gone: bool) -> Exception:
    made: Any = DBAPIError.instance(
        None,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_gone,
        dialect=dialect,
    )
    return cast("Exception", made)
