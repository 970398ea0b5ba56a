"""Broken files of every kind: read, or refused with one short line that quotes no cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import strategies as st

from veil.errors import VeilError

from .byte_changes import changed
from .guard import guarded
from .profiles import tries
from .readers import PACKED, PARQUET, READERS, SECRET, TEXTS, Reader, write_and_read


def _takes_time(reader: Reader) -> bool:
    """Whether DuckDB reads it: some milliseconds each."""
    return reader.name in {"trips", "log", "words", "walks"} or (
        reader.ending == ".jsonl" and reader.name != "support"
    )


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_good_files_are_read(reader: Reader, tmp_path: Path) -> None:
    outcome = guarded(lambda: write_and_read(reader, reader.good()[0], tmp_path))
    assert outcome.error is None


def _refused_well(error: VeilError, content: bytes) -> None:
    said = str(error)
    assert said.isprintable()
    assert len(said) < 4000
    # What stands in the first line may be the name of a column, which is public.
    if SECRET.encode() not in content.replace(b"\r", b"\n").lstrip().split(b"\n")[0]:
        assert SECRET not in said


def _attempt(reader: Reader, content: bytes, folder: Path) -> None:
    before = sorted(folder.iterdir())
    outcome = guarded(lambda: write_and_read(reader, content, folder))
    if outcome.error is not None:
        _refused_well(outcome.error, content)
    left = {path.name for path in folder.iterdir()} - {path.name for path in before}
    assert left <= {f"data{reader.ending}"}


@pytest.mark.parametrize("reader", [one for one in TEXTS if not _takes_time(one)], ids=str)
@tries(60, data=st.data())
def test_broken_text(reader: Reader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    _attempt(reader, data.draw(changed(reader.good)), _folder(folder))


@pytest.mark.parametrize("reader", [one for one in TEXTS if _takes_time(one)], ids=str)
@tries(10, data=st.data())
def test_broken_tables(reader: Reader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    _attempt(reader, data.draw(changed(reader.good)), _folder(tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("reader", [*PACKED, *PARQUET], ids=str)
@tries(8, data=st.data())
def test_broken_packed_files(
    reader: Reader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    _attempt(reader, data.draw(changed(reader.good)), _folder(tmp_path_factory.getbasetemp()))


def _folder(base: Path) -> Path:
    made = base / "broken"
    made.mkdir(exist_ok=True)
    return made


@pytest.mark.parametrize("reader", [one for one in PACKED if one.ending.endswith(".gz")], ids=str)
@tries(5, data=st.data())
def test_broken_text_in_whole_packing(
    reader: Reader, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    inside = [gzip.decompress(content) for content in reader.good()]
    packed = gzip.compress(data.draw(changed(lambda: inside)), 1, mtime=0)
    outcome = guarded(lambda: write_and_read(reader, packed, _folder(tmp_path_factory.getbasetemp())))
    if outcome.error is not None:
        assert str(outcome.error).isprintable()
