"""veil studio serve, user, new-key and log, as they are typed in."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.studio.team.conftest import Site
from tests.studio.team.people import Person
from veil.cli.app import main

# They share one server.
pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.slow]
_WORDS = "seven plain words of hers"


def _veil(site: Site, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "VEIL_STUDIO_DATABASE": site.url}
    order = [sys.executable, "-m", "veil", "studio", *words]
    return subprocess.run(order, input=given, capture_output=True, text=True, env=environment, check=False)


def test_from_the_first_steward_to_the_first_page(site: Site, tmp_path: Path) -> None:
    short = _veil(site, "user", "add", "ida", "--role", "steward", given="short\n")
    assert short.returncode == 2
    assert "at least 12 characters" in short.stderr
    assert "Traceback" not in short.stderr
    added = _veil(site, "user", "add", "ida", "--role", "steward", given=f"{_WORDS}\n")
    assert (added.returncode, added.stderr) == (0, ""), added.stderr
    assert "taken" in _veil(site, "user", "add", "IDA", "--role", "viewer", given=f"{_WORDS}\n").stderr
    linked = _veil(
        site, "user", "add", "jon", "--role", "analyst", "--link", "--address", "https://veil.example"
    )
    assert "https://veil.example/link/" in linked.stdout
    _veil(site, "user", "role", "jon", "viewer")
    _veil(site, "user", "disable", "jon")
    listed = _veil(site, "user", "list").stdout
    assert "ida: steward, signs in by a password" in listed
    assert "jon: viewer, signs in by a link that was not used yet, disabled" in listed
    assert _WORDS not in listed + added.stdout
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    order = [sys.executable, "-m", "veil", "studio", "serve", "--database", site.url, "--port", f"{port}"]
    order += ["--folder", str(tmp_path / "served"), "--data", str(site.data)]
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            told = server.stdout.readline()
            assert "A new key" in told
            assert "Veil Studio for a team" in server.stdout.readline()
            server.stdout.readline()
            ida = Person(f"http://127.0.0.1:{port}")
            while True:
                try:
                    ida.sign_in("ida", _WORDS)
                    break
                except ConnectionError:
                    assert server.poll() is None
            ida.found_project("Grades")
            assert ida.look("/").status == 200
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    assert (tmp_path / "served" / "studio.key").stat().st_mode & 0o077 == 0
    log = _veil(site, "log")
    lines = [json.loads(line) for line in log.stdout.splitlines()]
    assert [line["action"] for line in lines if line["who"] == "ida"] == ["signed in", "project made"]
    assert "each follows from the one before it" in log.stderr
    assert _WORDS not in log.stdout


_WRONG = (
    (("serve", "--database", "budget.db"), "postgresql://"),
    (("serve", "--database", "mysql://a:hunter2@host/db"), "--database"),
    (("serve", "--host", "0.0.0.0"), "--behind-proxy"),
    (("serve", "--port", "99999"), "65535"),
    (("serve", "--behind-proxy", "everywhere"), "--behind-proxy"),
    (("serve", "--behind-proxy", "127.0.0.1"), "--address"),
    (("serve", "--address", "https://veil.example"), "--behind-proxy"),
    (("serve", "--data", "/not/there"), "--data"),
    (("serve", "--ledger", "budget.db"), "--ledger"),
    (("serve", "--key", "hunter2"), "--key"),
    (("serve", "--oidc", "/not/there.toml"), "TOML"),
    (("serve", "--workers", "0"), "workers"),
    (("user", "add", "x y", "--role", "viewer"), "name"),
    (("user", "reset", "nobody"), "name"),
    (("user", "disable", "nobody"), "name"),
    (("user", "add", "k", "--role", "admin"), "role"),
)


def test_what_is_wrong_is_said(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VEIL_STUDIO_DATABASE", site.url)
    for words, told in _WRONG:
        monkeypatch.setattr("sys.stdin", StringIO(f"{_WORDS}\n"))
        more = ("--folder", str(tmp_path / "served")) if words[0] == "serve" else ()
        assert main(["studio", *words, *more]) in (2, 4), words
        said = "".join(capsys.readouterr())
        assert told in said, words
        assert "hunter2" not in said


def test_a_key_that_does_not_open_what_is_there(site: Site, tmp_path: Path) -> None:
    from tests.studio.team.conftest import serving

    with serving(site) as served:
        ada = served.person("ada")
        ada.found_project("Grades")
        ada.grant()
        assert ada.add_source().status == 200
    assert _veil(site, "new-key", str(tmp_path / "other.key")).returncode == 0
    folder = str(tmp_path / "served")
    done = _veil(site, "serve", "--key", f"file:{tmp_path / 'other.key'}", "--folder", folder)
    assert done.returncode == 2
    assert "another key" in done.stderr
