"""A PostgreSQL server and a Spark session that live as long as the tests that need them."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Server:
    """A throw-away PostgreSQL server on the loopback interface, with one role that has a password.

    control: the call of pg_ctl up to its verb, and how it is run.
    """

    port: int
    password: str
    control: list[str] = field(default_factory=list, repr=False)
    run: dict[str, Any] = field(default_factory=dict, repr=False)

    def address(self, password: str | None = None, *, database: str = "postgres", user: str = "veil") -> str:
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def answers(self) -> bool:
        """Whether it runs and takes connections."""
        import psycopg

        try:
            psycopg.connect(self.address()).close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self) -> bool:
        """Whether it runs now."""
        return self._told("start")

    def stop(self, mode: str = "immediate") -> bool:
        """As in a crash ("immediate"), or with farewell to every client ("fast")."""
        return self._told("-m", mode, "stop")

    def _told(self, *verb: str) -> bool:
        call = [*self.control, *verb]
        quiet = subprocess.DEVNULL
        done = subprocess.run(call, check=False, timeout=120, stdout=quiet, stderr=quiet, **self.run)
        return done.returncode == 0


def program(name: str) -> str | None:
    """Where a program of PostgreSQL is; None if it is not installed."""
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(newest[0]) if newest else None)


def _unprivileged() -> dict[str, Any]:
    """The server refuses to run as root: then as another user."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("there is no user to run PostgreSQL as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres_server(*, max_connections: int = 20, fsync: bool = False) -> Iterator[Server]:
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL's initdb and pg_ctl are not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    as_user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="veil-postgres-"))
    server = Server(_free_port(), secrets.token_hex(8))
    data, word = folder / "data", folder / "word"
    try:
        word.write_text(server.password, encoding="utf-8")
        for path in (folder, word):
            os.chown(path, as_user.get("user", -1), as_user.get("group", -1))
        common = [initdb, "-D", str(data), "-U", "veil", "-A", "scram-sha-256", "--pwfile", str(word)]
        common += ["-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
        # A language whose order of letters is not that of code points, where the build has it.
        for language in (["--locale-provider=icu", "--icu-locale=en"], []):
            shutil.rmtree(data, ignore_errors=True)
            made = subprocess.run(
                [*common, *language], capture_output=True, check=False, cwd=folder, timeout=120, **as_user
            )
            if made.returncode == 0:
                break
        else:
            pytest.skip("initdb does not work here")
        options = f"-p {server.port} -h 127.0.0.1 -k {folder}"
        options += f" -c fsync={'on' if fsync else 'off'} -c max_connections={max_connections}"
        server.control.extend([pg_ctl, "-D", str(data), "-l", str(folder / "log"), "-w", "-t", "60"])
        server.control.extend(["-o", options])
        server.run.update({"cwd": folder, **as_user})
        if not server.start():
            pytest.skip("PostgreSQL does not start here")
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def spark_session(folder: Path) -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    with warnings.catch_warnings():
        # Spark's own imports and sockets warn about themselves.
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .appName("veil-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder}")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
