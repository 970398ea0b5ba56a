"""The drill of docs/ledger-server.md: TLS, a dump, a loss, and a restore."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

import veil
from tests.ledger.places import Elsewhere, Place, kinds, new_database, release
from tests.tables.servers import Server, program
from veil.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable
from veil.ledger.address import Address
from veil.ledger.anchors import heads_at

pytestmark = pytest.mark.xdist_group("postgres")


def tool(name: str) -> str:
    found = program(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.slow
def test_dump_loss_and_restore(postgres: Server, folder: Path, elsewhere: Elsewhere) -> None:
    place, anchor = new_database(postgres), folder / "heads.jsonl"
    ledger = veil.Ledger(place.url, anchor=anchor)
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    dump = folder / "books.dump"
    quiet: dict[str, Any] = {"check": True, "capture_output": True, "timeout": 120}
    subprocess.run([tool("pg_dump"), "--format=custom", f"--file={dump}", place.url], **quiet)
    release(dataset)
    target = new_database(postgres)
    subprocess.run([tool("pg_restore"), f"--dbname={target.url}", str(dump)], **quiet)
    # What was charged after the dump is missing: anchors show it everywhere, marks on this machine.
    restored = veil.Ledger(target.url, anchor=anchor)
    with pytest.raises(LedgerCorrupt, match="3 entries, though 4 were exported"):
        restored.verify(heads_at(anchor))
    with pytest.raises(LedgerCorrupt, match="this machine has seen 5"):
        release(restored.dataset("trips"))
    restored.dataset("trips").accept_restore(why="a disk failed", by="board")
    release(restored.dataset("trips"))
    assert kinds(restored.dataset("trips")) == ["open", "reserve", "confirm", "restore", "reserve", "confirm"]
    assert restored.dataset("trips").spent.epsilon == 0.3
    assert restored.verify(heads_at(anchor)).findings == ()
    elsewhere()
    assert Place(target.url, "postgresql").ledger().verify(heads_at(anchor)).datasets == ["trips"]


@pytest.mark.parametrize("host", ["db.example", "10.1.2.3", "[2001:db8::1]"])
def test_servers_elsewhere_are_reached_by_tls_only(host: str) -> None:
    assert Address.of(f"postgresql://u@{host}/books").url.query["sslmode"] == "require"
    strict = Address.of(f"postgresql://u@{host}/books?sslmode=verify-full&sslrootcert=/x.pem")
    assert dict(strict.url.query) == {"sslmode": "verify-full", "sslrootcert": "/x.pem"}
    for weak in ("disable", "allow", "prefer"):
        with pytest.raises(InvalidArgument, match="TLS"):
            Address.of(f"postgresql://u@{host}/books?sslmode={weak}")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "[::1]", "localhost", "LOCALHOST"])
def test_this_machine_is_left_alone(host: str) -> None:
    assert "sslmode" not in Address.of(f"postgresql://u@{host}/books").url.query


def test_a_server_without_tls(postgres: Server) -> None:
    """Where TLS is asked for and not to be had, nothing is sent."""
    address = postgres.address() + "?sslmode=require"
    with pytest.raises(LedgerUnavailable, match="does not offer TLS"):
        veil.Ledger(address).datasets()


@pytest.mark.slow
def test_a_server_with_tls(postgres: Server, folder: Path) -> None:
    """A certificate of its own authority: encrypted, and checked by name where that is asked for."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = folder / "server.key", folder / "server.pem"
    subprocess.run(
        f"openssl req -new -x509 -nodes -subj /CN=localhost -days 2 -addext subjectAltName=DNS:localhost "
        f"-keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
        timeout=120,
    )
    key.chmod(0o600)
    folder.chmod(0o755)
    for path in (key, certificate):
        os.chown(path, postgres.run.get("user", -1), postgres.run.get("group", -1))
    place = new_database(postgres)
    settings = {"ssl_cert_file": str(certificate), "ssl_key_file": str(key), "ssl": "on"}
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        for name, value in settings.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
        connection.execute("SELECT pg_reload_conf()")
    try:
        by_name = place.url.replace("127.0.0.1", "localhost")
        good = f"{by_name}?sslmode=verify-full&sslrootcert={certificate}"
        release(veil.Ledger(good).open("trips", epsilon=1))
        with psycopg.connect(good) as connection:
            row = connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone()
            assert row == (True,)
        # The certificate is not for this name.
        wrong = f"{place.url}?sslmode=verify-full&sslrootcert={certificate}"
        with pytest.raises(LedgerUnavailable, match="certificate"):
            veil.Ledger(wrong).datasets()
    finally:
        with psycopg.connect(postgres.address(), autocommit=True) as connection:
            for name in settings:
                connection.execute(f"ALTER SYSTEM RESET {name}".encode())
            connection.execute("SELECT pg_reload_conf()")
