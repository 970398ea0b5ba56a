"""The database of a team: connections, transactions, and tables that are made or brought up to date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from veil.core.errors import InvalidArgument, MissingExtra, VeilError
from veil.ledger.address import Address
from veil.studio.team.schema import STEPS

# Of the locks that hold for the whole database, besides those of rows.
_MIGRATING, _AUDIT, _ATTEMPTS = 7_318_801, 7_318_802, 7_318_803
_EXPECTED = "postgresql://user@host:port/database"


class DatabaseAway(VeilError):
    """The database of the workbench does not answer."""

    exit_code = 6


class Database:
    """A PostgreSQL database in which everything is kept that all processes of a workbench must agree on."""

    def __init__(self, url: str) -> None:
        try:
            self.address = Address.of(url)
        except InvalidArgument:
            raise InvalidArgument("--database", expected=_EXPECTED, found="something else") from None
        if self.address.file is not None:
            raise InvalidArgument("--database", expected=_EXPECTED, found="a file")
        try:
            import psycopg  # noqa: F401 (only whether it is there)
        except ImportError:
            raise MissingExtra("psycopg", "postgres") from None
        self._engine = create_engine(
            self.address.url,
            isolation_level="READ COMMITTED",
            pool_size=8,
            max_overflow=16,
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={
                "connect_timeout": 10,
                "options": "-c lock_timeout=20s -c statement_timeout=60s -c synchronous_commit=on",
                "application_name": "veil-studio",
            },
        )

    def __str__(self) -> str:
        return str(self.address)

    @contextmanager
    def begin(self) -> Iterator[Rows]:
        """A transaction: all of it is kept, or nothing."""
        try:
            with self._engine.begin() as connection:
                yield Rows(connection)
        except DBAPIError as error:
            # What the driver says may quote values; only its kind is told.
            raise DatabaseAway(
                f"database: {self} did not do what was asked ({type(error.orig).__name__})."
            ) from None
        except SQLAlchemyError as error:
            raise DatabaseAway(f"database: {self} cannot be used ({type(error).__name__}).") from None

    def migrate(self) -> int:
        """Make the tables, or bring them up to date; how many steps were taken. Several may try at once."""
        with self.begin() as rows:
            rows.lock(_MIGRATING)
            rows.run("CREATE TABLE IF NOT EXISTS veil_studio (step integer NOT NULL)")
            found = rows.one("SELECT max(step) AS step FROM veil_studio")
            done = 0 if found is None or found["step"] is None else int(found["step"])
            if done > len(STEPS):
                raise InvalidArgument(
                    "--database", expected="tables of this version of Veil", found="those of a later one"
                )
            for number, statements in enumerate(STEPS[done:], start=done + 1):
                for statement in statements:
                    rows.run(statement)
                rows.run("INSERT INTO veil_studio (step) VALUES (:step)", step=number)
            return len(STEPS) - done

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()


class Rows:
    """What can be asked for in one transaction. Values are always passed beside the statement."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self, statement: str, **values: Any) -> list[Mapping[str, Any]]:
        """Every row that is found."""
        return [dict(row) for row in self._connection.execute(text(statement), values).mappings()]

    def one(self, statement: str, **values: Any) -> Mapping[str, Any] | None:
        """The first row that is found."""
        found = self.all(statement, **values)
        return found[0] if found else None

    def run(self, statement: str, **values: Any) -> int:
        """Do something; how many rows it was done to."""
        return self._connection.execute(text(statement), values).rowcount

    def lock(self, number: int) -> None:
        """Wait until nobody else holds this lock; it is held until the transaction ends."""
        self.run("SELECT pg_advisory_xact_lock(:number)", number=number)

    def lock_audit(self) -> None:
        """One at a time adds to the log."""
        self.lock(_AUDIT)

    def lock_attempts(self, key: str) -> None:
        """One at a time tries to come in with this key."""
        self.run("SELECT pg_advisory_xact_lock(:space, hashtext(:key))", space=_ATTEMPTS, key=key)
