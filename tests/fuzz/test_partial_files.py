"""Whatever fails while a file is written: no half file, no temporary one, and what was there is untouched."""

from __future__ import annotations

import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.bits.files import write_bits
from veil.core.writing import write_text
from veil.errors import OutputExists, VeilError
from veil.graphs.files import write_graph
from veil.graphs.graph import Graph
from veil.graphs.numerics.pairs import PairSpace
from veil.tables.engines.duck import private_connection
from veil.words.codec import attached, write_words

from .commands import command
from .entry import good_release

Write = Callable[[Path, bool], Any]
# Many rows, so that every format needs several writes.
_ROWS = 8_000


def _bits(path: Path, overwrite: bool) -> None:
    table = np.random.default_rng(1).random((_ROWS, 4)) < 0.5
    names = ["a", "b", "c", "d"]
    write_bits(path, table, names, ones=["y"] * 4, zeros=["n"] * 4, overwrite=overwrite)


def _edges(path: Path, overwrite: bool) -> None:
    space = PairSpace.among(2000)
    codes = np.unique(np.random.default_rng(1).integers(0, space.count, _ROWS))
    write_graph(path, Graph(space, codes), overwrite=overwrite)


def _word_table() -> Any:
    log = {
        "who": np.arange(_ROWS) // 4,
        "when": np.arange(_ROWS) % 4,
        "where": np.array(["a", "b"])[np.arange(_ROWS) % 2],
    }
    return veil.words.read(
        {key: list(column) for key, column in log.items()}, by="who", order="when", state="where"
    )


def _words(path: Path, overwrite: bool, *, keep_keys: bool = False) -> None:
    table = _word_table()
    write_words(path, words=table.codes, table=table, keep_keys=keep_keys, overwrite=overwrite)


def _save(path: Path, overwrite: bool) -> None:
    good_release("chain").save(path, overwrite=overwrite)


def _record(path: Path, overwrite: bool) -> None:
    # Any file will do as the table that is named.
    attached(good_release("words"), Path(__file__)).save(path, overwrite=overwrite)


def _text(path: Path, overwrite: bool) -> None:
    write_text(path, "much\n" * _ROWS, overwrite=overwrite)


WRITERS: dict[str, tuple[str, Write]] = {
    "a record": ("out.json", _save),
    "a value": ("out.csv", _save),
    "a record beside a table": ("out.json", _record),
    "a report": ("out.html", _text),
    "bits as CSV": ("out.csv", _bits),
    "bits packed": ("out.csv.gz", _bits),
    "bits as Parquet": ("out.parquet", _bits),
    "edges as text": ("out.txt", _edges),
    "edges as Parquet": ("out.parquet", _edges),
    "words as CSV": ("out.csv", _words),
    "words packed": ("out.csv.gz", _words),
    "words as Parquet": ("out.parquet", _words),
}
every_writer = pytest.mark.parametrize(("name", "write"), WRITERS.values(), ids=WRITERS)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A system that lets no file grow beyond a size: every write after it fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.mostly_slow(quick=9)
@every_writer
@pytest.mark.parametrize("size", [0, 100, 4096])
@pytest.mark.parametrize("there", [False, True], ids=["new", "overwriting"])
def test_a_write_that_fails_half_way(name: str, write: Write, size: int, there: bool, tmp_path: Path) -> None:
    target = tmp_path / name
    if there:
        target.write_bytes(b"precious")
    before = _names(tmp_path)
    with files_of_at_most(size):
        try:
            write(target, there)
        except VeilError:
            failed = True
        else:
            failed = False
    if not failed:
        # Small enough for the limit.
        assert 0 < target.stat().st_size <= size
        return
    assert _names(tmp_path) == before
    assert not there or target.read_bytes() == b"precious"


@pytest.mark.mostly_slow(quick=9)
@every_writer
@pytest.mark.parametrize("step", ["replace", "chmod", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_last_step_that_fails(
    name: str, write: Write, step: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / name
    target.write_bytes(b"precious")

    def fails(*arguments: Any, **options: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fails)
        with pytest.raises(VeilError):
            write(target, True)
    assert _names(tmp_path) == [name]
    assert target.read_bytes() == b"precious"


@every_writer
def test_stopped_by_the_user(
    name: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / name, False)
    assert _names(tmp_path) == []


@every_writer
def test_what_is_there_is_overwritten_only_if_told(name: str, write: Write, tmp_path: Path) -> None:
    target = tmp_path / name
    target.write_bytes(b"precious")
    with pytest.raises(OutputExists):
        write(target, False)
    assert target.read_bytes() == b"precious"
    write(target, True)
    assert target.read_bytes() != b"precious"
    assert _names(tmp_path) == [name]


@pytest.mark.mostly_slow(quick=3)
@every_writer
@pytest.mark.parametrize("overwrite", [False, True])
def test_places_that_are_no_files(name: str, write: Write, overwrite: bool, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / f"pipe-{name}")
    (tmp_path / f"nowhere-{name}").symlink_to(tmp_path / "no" / "such")
    before = _names(tmp_path)
    missing = tmp_path / "no folder" / name
    for target in (tmp_path / name, tmp_path / f"pipe-{name}", tmp_path / f"nowhere-{name}"):
        with pytest.raises(VeilError):
            write(target, overwrite)
    assert _names(tmp_path) == before
    with pytest.raises(VeilError):
        write(missing, overwrite)
    assert not missing.parent.exists()
    assert stat.S_ISFIFO((tmp_path / f"pipe-{name}").stat().st_mode)


@every_writer
def test_a_link_stays_a_link(name: str, write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / name).write_bytes(b"old")
    (tmp_path / name).symlink_to(folder / name)
    write(tmp_path / name, True)
    assert (tmp_path / name).is_symlink()
    assert (folder / name).read_bytes() != b"old"
    assert _names(folder) == [name]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
@every_writer
def test_a_folder_that_is_only_read(name: str, write: Write, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(VeilError):
            write(tmp_path / name, False)
    finally:
        tmp_path.chmod(0o700)
    assert _names(tmp_path) == []


@every_writer
def test_released_files_are_for_everybody(name: str, write: Write, tmp_path: Path) -> None:
    write(tmp_path / name, False)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o644


def test_only_the_owner_sees_a_file_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    chmod = os.chmod

    def look(path: Any, mode: int) -> None:
        modes.append(stat.S_IMODE(Path(path).stat().st_mode))
        chmod(path, mode)

    monkeypatch.setattr(os, "chmod", look)
    _bits(tmp_path / "out.csv", False)
    assert modes == [0o600]


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_whose_words_they_are_is_for_the_owner(name: str, tmp_path: Path) -> None:
    _words(tmp_path / name, False, keep_keys=True)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_what_spills_while_counting_is_for_the_owner_and_goes() -> None:
    connection, close = private_connection()
    folder = Path(connection.execute("SELECT current_setting('temp_directory')").fetchone()[0])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    close()
    assert not folder.exists()


@pytest.mark.parametrize("name", ["made.csv", "made.txt", "made.parquet"])
def test_synthetic_sequences_too(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good_release("chain").save(tmp_path / "private.json")
    asked = ("synth", "private.json", "-n", "3000", "--length", "20", "--seed", "1", "-o", name)
    with files_of_at_most(4096):
        done = command(tmp_path, *asked)
    assert done.code == 2
    assert done.made == set()
    assert command(tmp_path, *asked).made == {name}
    assert command(tmp_path, *asked).code == 2
    assert command(tmp_path, *asked, "--force").code == 0


def test_a_release_that_cannot_be_kept_names_the_reason(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,5\nb,3\nc,2\n")
    with files_of_at_most(100):
        done = command(tmp_path, "release", "vector", "data.csv", "-e", "1", "-o", "out.json")
    assert done.code == 2
    assert done.made == set()
    # Before anything was drawn.
    assert done.err.startswith("veil: --output: expected a folder with room for")
