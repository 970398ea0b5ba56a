"""A workbench of a team on a real PostgreSQL database, served on loopback, with people and data in it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="veil[studio] is not installed")
pytest.importorskip("psycopg", reason="veil[postgres] is not installed")

import uvicorn

from tests.ledger.places import new_schema
from tests.studio.team.people import PASSWORDS, Person
from tests.tables.servers import Server
from veil.studio.team.app import create_app
from veil.studio.team.database import Database
from veil.studio.team.sealing import Sealing, new_key
from veil.studio.team.settings import Settings
from veil.studio.team.team import Team


@dataclass(frozen=True)
class Served:
    """A server that runs in this process."""

    team: Team
    address: str

    def person(self, name: str, project: str = "") -> Person:
        """Somebody who is signed in; without a password, which takes long to look at."""
        person = self.stranger()
        person.project = project
        person.cookies["veil_team"] = self.team.sessions.begin(self.team.accounts.get(name), "test")
        return person

    def stranger(self) -> Person:
        """Somebody with a browser."""
        return Person(self.address)


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    """A port of this machine."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        yield listener, f"127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def serving(site: Site, **changed: Any) -> Iterator[Served]:
    """One process of the workbench, as a thread of this one."""
    provider = changed.pop("provider", None)
    with listening() as (listener, host):
        settings = replace(
            Settings(f"http://{host}", site.folder / "work", site.url, data=site.data), **changed
        )
        team = Team.opened(settings, Database(site.url), Sealing.of(f"file:{site.key}"), provider=provider)
        config = uvicorn.Config(
            create_app(team), log_level="error", server_header=False, proxy_headers=False, lifespan="on"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield Served(team, f"http://{host}")
        finally:
            server.should_exit = True
            thread.join()


@dataclass(frozen=True)
class Site:
    """Where a workbench is kept: a database, a folder, a key, and a folder of data."""

    url: str
    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def key(self) -> Path:
        return self.folder / "studio.key"


@pytest.fixture
def site(postgres: Server, tmp_path: Path) -> Site:
    return new_site(postgres, tmp_path)


def new_site(postgres: Server, folder: Path) -> Site:
    """A new one, with accounts and a small table."""
    made = Site(new_schema(postgres).url, folder)
    made.data.mkdir()
    (made.data / "grades.csv").write_text("grade,count\nA,31\nB,28\nC,21\nD,10\nF,8\n")
    new_key(made.key)
    database = Database(made.url)
    database.migrate()
    with database.begin() as rows:
        for name, kept in PASSWORDS.items():
            rows.run(
                "INSERT INTO veil_studio_accounts (id, name, role, password) VALUES (:id, :id, :role, :kept)",
                id=name,
                role=kept.role,
                kept=kept.hashed,
            )
    database.close()
    return made


@pytest.fixture
def serve(site: Site) -> Iterator[Callable[..., Served]]:
    """Serves the site; called again, another process serves the same one."""
    with ExitStack() as stack:
        yield lambda **changed: stack.enter_context(serving(site, **changed))


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()
