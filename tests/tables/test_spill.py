"""What DuckDB spills goes with the process, however it ends, or with the next one; and nothing else goes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from veil.tables.engines import spill
from veil.tables.engines.duck import private_connection
from veil.tables.engines.spill import SpillFolder, remove_all, sweep

HELD = """
import sys
from veil.tables.engines.spill import SpillFolder
folder = SpillFolder()
(folder.path / "duckdb_temp_0").write_text("alice")
print(folder.path, flush=True)
sys.stdin.read()
"""
# The command as it runs, stopped where the rows would be counted.
COMMAND = """
import sys
import veil.chains.reading as reading
from veil.cli.app import run
from veil.tables.engines import spill

def count(*given):
    (folder,) = spill._live
    (folder.path / "duckdb_temp_0").write_text("alice")
    print(folder.path, flush=True)
    sys.stdin.read()

reading.count = count
run(["release", "chain", sys.argv[1], "--from", "o", "--to", "d", "--epsilon", "1"])
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of other processes are not the business of these tests."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(spill, "_swept", True)


@contextmanager
def running(code: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that holds a folder, and the folder."""
    call = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            folder = Path(process.stdout.readline().strip())
            assert (folder / "duckdb_temp_0").read_text() == "alice"
            yield process, folder
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end(number: signal.Signals, tmp_path: Path) -> None:
    table = tmp_path / "trips.csv"
    table.write_text("o,d\na,b\nb,a\n")
    with running(COMMAND, str(table)) as (process, folder):
        process.send_signal(number)
        # As a shell reports a process that was ended by the signal.
        assert process.wait(60) == 128 + number
        assert list(tmp_path.iterdir()) == [table]
        assert not folder.exists()


def test_what_a_killed_process_leaves_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    with running(HELD) as (killed, left), running(HELD) as (_, held):
        assert str(killed.pid) in left.name
        assert sweep() == 0
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
        assert (left / "duckdb_temp_0").exists()
        assert sweep() == 1
        assert not left.exists()
        assert (held / "duckdb_temp_0").exists()


def test_a_new_process_looks_by_itself(tmp_path: Path) -> None:
    with running(HELD) as (killed, left):
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
    with running(HELD) as (_, held):
        assert not left.exists()
        assert held.exists()


def test_only_abandoned_folders_of_this_user_are_removed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o700)
    (precious / "in-use").touch()
    (precious / "letters").write_text("keep")

    def left(name: str, *, mode: int = 0o700, lock: bool = True) -> Path:
        folder = tmp_path / f"veil-spill-{name}"
        folder.mkdir()
        folder.chmod(mode)
        if lock:
            (folder / "in-use").touch()
        return folder

    (tmp_path / "veil-spill-1-link").symlink_to(precious)
    kept = [left("1-open", mode=0o755), left("1-unlocked", lock=False)]
    linked = left("1-linked", lock=False)
    (linked / "in-use").symlink_to(precious / "in-use")
    piped = left("1-pipe", lock=False)
    os.mkfifo(piped / "in-use")
    if os.getuid() == 0:
        foreign = left("1-foreign")
        os.chown(foreign, 65534, -1)
        kept.append(foreign)
    (tmp_path / "veil-spill-2-file").touch()
    # The number of a process says nothing: this one is of another that had the same.
    reused = left(f"{os.getpid()}-again")
    (reused / "inside").symlink_to(precious)
    sweep()
    assert not reused.exists()
    assert all(one.is_dir() for one in (*kept, linked))
    assert (precious / "letters").read_text() == "keep"
    assert (tmp_path / "veil-spill-1-link").is_symlink()
    assert (tmp_path / "veil-spill-2-file").is_file()


def test_a_folder_is_for_its_owner_alone_and_goes_with_the_connection(tmp_path: Path) -> None:
    connection, close = private_connection()
    (folder,) = (one for one in tmp_path.iterdir() if one.name.startswith("veil-spill-"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert connection.sql("SELECT current_setting('temp_directory')").fetchall() == [(str(folder),)]
    close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_in_use_is_removed_as_well(tmp_path: Path) -> None:
    first, second = SpillFolder(), SpillFolder()
    with (first.path / "duckdb_temp_0").open("w") as file:
        file.write("alice")
        remove_all()
    assert list(tmp_path.iterdir()) == []
    for folder in (first, second):
        folder.remove()


def test_a_child_leaves_the_folder_to_its_parent() -> None:
    folder = SpillFolder()
    child = os.fork()
    if child == 0:
        remove_all()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()
    folder.remove()
    assert not folder.path.exists()
