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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Server:
    """A throw-away PostgreSQL server on the loopback interface, with one role that has a password."""

    port: int
    password: str

    def address(self, password: str | None = None) -> str:
        return f"postgresql://veil:{password or self.password}@127.0.0.1:{self.port}/postgres"


def _program(name: str) -> str | None:
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
def postgres_server() -> Iterator[Server]:
    initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
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
        options = f"-p {server.port} -h 127.0.0.1 -k {folder} -c fsync=off -c max_connections=20"
        start = [pg_ctl, "-D", str(data), "-l", str(folder / "log"), "-w", "-t", "60", "-o", options, "start"]
        started = subprocess.run(
            start,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            cwd=folder,
            timeout=120,
            **as_user,
        )
        if started.returncode != 0:
            pytest.skip("PostgreSQL does not start here")
        try:
            yield server
        finally:
            stop = [pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop"]
            subprocess.run(stop, capture_output=True, check=False, cwd=folder, timeout=120, **as_user)
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
