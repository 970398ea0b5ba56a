"""Files without an end, files that swell as JSON, and objects with a name twice."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.core import bounded
from veil.errors import InvalidData, UnreadableFile, VeilError
from veil.tables.typed_files import file_columns

TRIPS: dict[str, Any] = {"origin": "a", "destination": "b"}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Less than an endless file has, for tests that would otherwise fill a gigabyte."""
    monkeypatch.setattr(bounded, "MOST", 2**20)
    monkeypatch.setattr(bounded, "_AT_A_TIME", 2**16)
    return 2**20


class Endless(io.RawIOBase):
    """A device that never ends, and counts what was taken from it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.taken = content, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "everything was asked for"
        self.taken += size
        return (self.content * (size // len(self.content) + 1))[:size]


def readers() -> list[Any]:
    return [
        veil.vectors.read,
        veil.matrices.read,
        veil.bits.read,
        veil.graphs.read,
        lambda source: veil.chains.read(source, lines=True),
        lambda source: veil.words.read(source, lines=True),
        lambda source: veil.chains.read([["a", "b"]], states=source),
    ]


@pytest.mark.parametrize("reader", readers())
@pytest.mark.parametrize("content", [b"a b\n", b"\0", b"a"])
def test_standard_input_without_an_end(
    reader: Any, content: bytes, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless(content)
    monkeypatch.setattr(sys, "stdin", type("Input", (), {"buffer": endless})())
    with pytest.raises(UnreadableFile):
        reader("-")
    assert endless.taken <= 2 * few


@pytest.mark.parametrize("reader", readers())
def test_devices_are_refused(reader: Any) -> None:
    with pytest.raises(UnreadableFile, match="a device"):
        reader("/dev/zero")


@pytest.mark.slow
def test_records_on_devices_are_refused(tmp_path: Path, few: int) -> None:
    link = tmp_path / "out.json"
    link.symlink_to("/dev/zero")
    for path in ("/dev/zero", link):
        with pytest.raises(UnreadableFile, match="a device"):
            veil.load(path)
    for command in (["inspect"], ["chain"], ["ledger", "verify", "--ledger", "b.db", "--against"]):
        call = [sys.executable, "-m", "veil", *command, "/dev/zero"]
        assert (
            subprocess.run(call, capture_output=True, check=False, cwd=tmp_path, timeout=120).returncode > 1
        )


def test_a_pipe_without_an_end(tmp_path: Path, few: int) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write() -> None:
        try:
            with path.open("wb", buffering=0) as pipe:
                while True:
                    pipe.write(b"a b\n" * 1000)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(UnreadableFile, match=r"at most 1,048,576 bytes from a pipe"):
        veil.graphs.read(path)
    writer.join()


def test_pipes_of_tables_with_types_are_refused_unread(tmp_path: Path) -> None:
    for name in ("rows.jsonl", "rows.parquet"):
        os.mkfifo(tmp_path / name)
        for read in (veil.bits.read, veil.graphs.read, lambda path: veil.chains.read(path, **TRIPS)):
            with pytest.raises(UnreadableFile, match="read only once"):
                read(tmp_path / name)


def test_files_are_read_whole(tmp_path: Path, few: int) -> None:
    path = tmp_path / "edges.txt"
    path.write_bytes(b"a b\n" * (few // 2))
    assert len(veil.graphs.read(path)) == 1


def test_packed_json_has_a_limit_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.tables.files._FREELY_JSON", 2**16)
    for name, text in (("rows.jsonl.gz", b'{"a": "y", "b": "n"}\n'), ("list.json.gz", b"1, ")):
        (tmp_path / name).write_bytes(gzip.compress(text * 2**16))
        for read in (veil.bits.read, veil.vectors.read, lambda path: veil.chains.read(path, **TRIPS)):
            with pytest.raises(UnreadableFile, match="swells"):
                read(tmp_path / name)
    path = tmp_path / "edges.txt.gz"
    path.write_bytes(gzip.compress(b"a b\n" * 2**16))
    assert len(veil.graphs.read(path)) == 1


@pytest.mark.slow
def test_rows_that_lack_most_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    full = json.dumps({f"n{i}": "y" for i in range(40)})
    path.write_text((full + "\n" + '{"n0": "n", "n1": "y"}\n' * 5) * 200)
    assert len(file_columns(str(path), None)) == 40
    monkeypatch.setattr("veil.tables.files._FREELY", 2**10)
    monkeypatch.setattr("veil.tables.files._SWELLS", 2)
    with pytest.raises(UnreadableFile, match="swells"):
        file_columns(str(path), None)
    assert len(file_columns(str(path), ["n0", "n1"])) == 2


def trips(path: Path) -> Any:
    return veil.chains.read(path, **TRIPS)


def log(path: Path) -> Any:
    return veil.words.read(path, by="a", order="b", state="c")


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("v.json", '{"a": 1, "b": 2, "a": 3}', veil.vectors.read),
        ("m.json", '{"a": {"a": 1, "a": 0, "b": 0}, "b": {"a": 0, "b": 1}}', veil.matrices.read),
        (
            "m.json",
            '{"a": {"a": 1, "b": 0}, "b": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}}',
            veil.matrices.read,
        ),
        ("b.jsonl", '{"a": "y", "b": "n", "a": "n"}\n' * 3, veil.bits.read),
        ("g.jsonl", '{"a": "x", "b": "z", "b": "y"}\n' * 3, veil.graphs.read),
        ("t.jsonl", '{"a": "x", "b": "z"}\n{"a": "z", "a": "x", "b": "y"}\n', trips),
        ("w.jsonl", '{"a": "x", "b": 1, "c": "z", "a": "y"}\n' * 3, log),
        ("t.csv", "a,a,b\nx,y,z\nz,y,x\n", trips),
    ],
)
def test_a_name_twice(name: str, text: str, read: Any, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InvalidData, match=r"one of them twice|several of that name"):
        read(path)


def test_a_name_twice_in_what_is_feasible(tmp_path: Path) -> None:
    path = tmp_path / "language.json"
    path.write_text('{"name": "FreeWords", "symbols": ["a", "b"], "symbols": ["a"], "length": 2}')
    with pytest.raises(VeilError, match="twice"):
        veil.words.release([["a", "b"]], language=path, epsilon=1.0)
