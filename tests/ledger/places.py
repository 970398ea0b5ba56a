"""Ledgers to test: a new file or a new schema each time, and a way to reach in past Veil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, NullPool, create_engine, text

import veil
from tests.tables.servers import Server

# Go to a machine that has seen no ledger yet.
Elsewhere = Callable[[], None]

# A release of 0.1, of which ten fit into a budget of 1.
NOISE = veil.vectors.GeometricCounts(10.0, 3)
COUNTS = [5, 2, 9]
NEAR = veil.vectors.Records()

ON_POSTGRES = pytest.param("postgresql", marks=pytest.mark.xdist_group("postgres"))
# Of what is worked out here and only kept there, a server has nothing to add: there it is a slow test.
MOSTLY_IN_A_FILE = pytest.mark.parametrize(
    "new_place",
    ["sqlite", pytest.param("postgresql", marks=[pytest.mark.xdist_group("postgres"), pytest.mark.slow])],
    indirect=True,
)


@dataclass(frozen=True)
class Place:
    """Where a ledger lives. kind: "sqlite" or "postgresql"."""

    url: str
    kind: str

    def ledger(self) -> veil.Ledger:
        return veil.Ledger(self.url)

    def sql(self, statement: str, rows: list[dict[str, Any]] | None = None, **values: Any) -> list[Any]:
        """Run a statement behind Veil's back, once or for many rows of values; what it returns."""
        with _engine(self.url).begin() as connection:
            found = connection.execute(text(statement), rows if rows is not None else values)
            return [tuple(row) for row in found] if found.returns_rows else []

    def drop_watches(self) -> None:
        """Take away what makes the database itself refuse changes."""
        if self.kind == "sqlite":
            for (name,) in self.sql("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
                self.sql(f"DROP TRIGGER {name}")
        else:
            self.sql("DROP FUNCTION veil_ledger_keep() CASCADE")


@lru_cache(maxsize=8)
def _engine(url: str) -> Engine:
    """It asks the server who it is when it first connects; no connection is kept."""
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)


def new_file(folder: Path) -> Place:
    return Place(f"sqlite:///{folder / f'{uuid4().hex}.db'}", "sqlite")


def new_schema(server: Server) -> Place:
    """As good as a database of its own, and made faster: a user whose tables are in a schema of its name."""
    import psycopg

    name = f"ledger_{uuid4().hex}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{server.password}'".encode())
        connection.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}".encode())
    return Place(server.address(user=name), "postgresql")


def new_database(server: Server) -> Place:
    import psycopg

    name = f"ledger_{uuid4().hex}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    return Place(server.address(database=name), "postgresql")


def release(account: Any, **more: Any) -> veil.Release[Any]:
    """A release of 0.1 that is charged to the account."""
    return veil.release(NOISE, COUNTS, adjacency=NEAR, ledger=account, **more)


def kinds(dataset: veil.ledger.dataset.Dataset) -> list[str]:
    """What happened, oldest first."""
    return [entry.kind for entry in dataset.entries()]
