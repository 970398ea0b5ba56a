"""Files made to do harm, and files that are broken: every reader refuses them in the same way.

One suite over all kinds of data. What a kind makes of the cells is tested with that kind.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.fuzz.guard import guarded
from tests.params import quick_first
from veil.errors import InvalidData, UnreadableFile, VeilError
from veil.tables.given import pairs
from veil.tables.states import given_states
from veil.words.supports import read_support

SECRET = "Zanzibar"


@dataclass(frozen=True)
class Reader:
    """What reads files of text with this ending, and a good file, of which `{cell}` is a cell of the data."""

    name: str
    read: Callable[[str], Any]
    good: str
    ending: str = ".csv"

    def __str__(self) -> str:
        return self.name

    def text(self, cell: str = "b") -> str:
        return self.good.format(cell=cell)


def trips(path: str) -> Any:
    return veil.chains.read(path, origin="from", destination="to")


def log(path: str) -> Any:
    return veil.words.read(path, by="who", order="when", state="where")


def walks(path: str) -> Any:
    return veil.chains.read(veil.chains.SequenceFile(path))


def nodes(path: str) -> Any:
    return veil.graphs.read([("a", "c")], nodes=path)


READERS = (
    Reader("vector", veil.vectors.read, "grade,count\na,1\n{cell},2\nc,3\n"),
    Reader("matrix", veil.matrices.read, "from,a,{cell}\na,0.5,0.5\n{cell},0.25,0.75\n"),
    Reader("bits", veil.bits.read, "one,two\ny,{cell}\nn,c\ny,{cell}\n"),
    Reader("edges", veil.graphs.read, "from,to\na,{cell}\n{cell},c\n"),
    Reader("edges between spaces", veil.graphs.read, "a {cell}\n{cell} c\nc d\n", ".txt"),
    Reader("support", read_support, "from,to\na,{cell}\n{cell},a\n"),
    Reader("states", given_states, "zone,name\n1,a\n2,{cell}\n"),
    Reader("nodes", nodes, "node\n{cell}\nc\na\n"),
    Reader("merge", lambda path: pairs("merge", path), "from,to\na,{cell}\nd,c\n"),
    Reader("walks", walks, "a {cell}\n{cell} a\n", ".txt"),
    Reader("trips", trips, "from,to\na,{cell}\n{cell},a\n"),
    Reader("words", log, "who,when,where\n1,1,a\n1,2,{cell}\n2,1,a\n"),
)
# DuckDB reads these where they are, in its own memory, and knows fewer ways of packing.
ENGINES = {"trips", "words"}
WITH_SEPARATORS = [one for one in READERS if one.name not in {"nodes", "walks"}]
every_reader = pytest.mark.parametrize("reader", READERS, ids=str)
most_readers = pytest.mark.parametrize("reader", [one for one in READERS if one.name not in ENGINES], ids=str)


def put(folder: Path, reader: Reader, content: str | bytes, packed: str = "") -> str:
    path = folder / f"data{reader.ending}{packed}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def refusal(reader: Reader, path: str) -> str:
    """What the error says; it quotes no cell and is one line of printable letters."""
    outcome = guarded(lambda: reader.read(path), room=2**30)
    assert isinstance(outcome.error, VeilError), outcome.result
    assert isinstance(outcome.error, InvalidData)
    said = str(outcome.error)
    assert said.isprintable()
    assert len(said) < 4000
    assert SECRET not in said
    return said


def zipped(content: bytes, *names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("data.csv",):
            archive.writestr(name, content)
    return out.getvalue()


def zst(content: bytes) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zst,
    ".zip": zipped,
    ".bz2": bz2.compress,
}
every_packing = pytest.mark.parametrize("packed", PACKERS)


@cache
def swelling(packed: str) -> bytes:
    """Little that unpacks to 16 MB."""
    return PACKERS[packed](b"a b\n" * 2**22)


@pytest.mark.slow_for("words")
@every_reader
def test_good_files_are_read(reader: Reader, tmp_path: Path) -> None:
    """Also with a byte order mark and the line breaks of other systems, and gzipped."""
    text = reader.text()
    for content in (text, "\ufeff" + text, text.replace("\n", "\r\n")):
        reader.read(put(tmp_path, reader, content))
    reader.read(put(tmp_path, reader, gzip.compress(text.encode()), ".gz"))


@most_readers
@every_packing
def test_packed_files_are_read(reader: Reader, packed: str, tmp_path: Path) -> None:
    reader.read(put(tmp_path, reader, PACKERS[packed](reader.text().encode()), packed))


@most_readers
def test_standard_input(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(reader.text().encode())))
    reader.read("-")


@most_readers
@pytest.mark.parametrize("packed", quick_first(PACKERS, quick=3))
def test_files_that_swell_are_refused_before_they_fill_the_memory(
    reader: Reader, packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("veil.tables.files._FREELY", 2**20)
    monkeypatch.setattr("veil.tables.files._AT_A_TIME", 2**16)
    path = put(tmp_path, reader, swelling(packed), packed)
    tracemalloc.start()
    try:
        said = refusal(reader, path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "swells" in said
    assert most < 24 * 2**20


@every_reader
@every_packing
def test_packed_files_that_are_not_whole(reader: Reader, packed: str, tmp_path: Path) -> None:
    if reader.name in ENGINES and packed in {".zip", ".bz2"}:
        pytest.skip("DuckDB does not read these")
    whole = PACKERS[packed]((reader.text(SECRET) * 300).encode())
    refusal(reader, put(tmp_path, reader, b"not packed at all", packed))
    said = refusal(reader, put(tmp_path, reader, whole[: len(whole) - 30], packed))
    assert reader.name in ENGINES or "a packed file that is whole" in said


@most_readers
def test_archives_hold_one_file(reader: Reader, tmp_path: Path) -> None:
    raw = reader.text().encode()
    reader.read(put(tmp_path, reader, zipped(raw, "a.csv", "__MACOSX/a.csv"), ".zip"))
    said = refusal(reader, put(tmp_path, reader, zipped(raw, "a.csv", "b.csv"), ".zip"))
    assert "one file in the archive, found 2" in said


@every_reader
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"a,{SECRET}\nb,\xe9t\xe9\n".encode("latin-1"), "UTF-8"),
        (f"a,{SECRET}\nb,c\n".encode("utf-16"), "UTF-16"),
        (b"PAR1\0\0\0\0 PAR1", "another kind of file"),
    ],
    ids=["latin-1", "utf-16", "binary"],
)
def test_other_encodings(reader: Reader, content: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(reader, put(tmp_path, reader, content))


@every_reader
@pytest.mark.parametrize("content", ["", "\n\n", " \n\t\n", "\ufeff"])
def test_empty_files(reader: Reader, content: str, tmp_path: Path) -> None:
    refusal(reader, put(tmp_path, reader, content))


@pytest.mark.parametrize("reader", WITH_SEPARATORS, ids=str)
@pytest.mark.parametrize("content", [";\n", '""\n', ",,\n,,\n", "\t\t\n"])
def test_files_of_empty_cells(reader: Reader, content: str, tmp_path: Path) -> None:
    refusal(reader, put(tmp_path, reader, content))


@every_reader
def test_files_that_are_not_there(reader: Reader, tmp_path: Path) -> None:
    put(tmp_path, reader, reader.text())
    said = refusal(reader, str(tmp_path / f"dta{reader.ending}"))
    assert "no such file" in said
    assert "Did you mean" in said
    assert "found a folder" in refusal(reader, str(tmp_path))
    assert "There is no folder" in refusal(reader, str(tmp_path / "none" / "data.csv"))
    for name in ("a\0b.csv", "\ud800.csv"):
        assert "no such file" in refusal(reader, str(tmp_path / name))
    refusal(reader, "/dev/zero")


@pytest.mark.parametrize("reader", WITH_SEPARATORS, ids=str)
def test_quotes_that_do_not_end(reader: Reader, tmp_path: Path) -> None:
    """All that follows would be one cell, and the rows in it lost."""
    mark = " " if " " in reader.good else ","
    row = mark.join(["a"] * len(reader.good.split("\n")[0].split(mark)))
    refusal(reader, put(tmp_path, reader, reader.text() + f'"{row}\n' + f"{SECRET}\n" * 9))


@pytest.mark.parametrize("reader", WITH_SEPARATORS, ids=str)
def test_lines_of_another_length_are_named_by_their_place(reader: Reader, tmp_path: Path) -> None:
    mark = " " if " " in reader.good else ","
    said = refusal(reader, put(tmp_path, reader, f"\n{reader.text()}{SECRET}{mark * 9}x{mark}y\n"))
    if reader.name not in ENGINES:
        assert f"data{reader.ending}, line {reader.text().count(chr(10)) + 2}: expected" in said


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("reader", [one for one in WITH_SEPARATORS if one.name not in ENGINES], ids=str)
def test_cells_lines_and_columns_beyond_all_measure(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = " " if " " in reader.good else ","
    assert "bytes in a cell" in refusal(reader, put(tmp_path, reader, reader.text("x" * 140_000)))
    refusal(reader, put(tmp_path, reader, reader.text("x" * 3_000_000)))
    wide = mark.join(["x"] * 140_000) + "\n"
    assert "at most 131,072 columns" in refusal(reader, put(tmp_path, reader, wide * 2))
    monkeypatch.setattr("veil.tables.text_tables.LONGEST_LINE", 2**20)
    assert "bytes in the first line" in refusal(reader, put(tmp_path, reader, "x" * 2**21 + "\n"))


@pytest.mark.slow
def test_a_first_line_longer_than_the_sample(tmp_path: Path) -> None:
    """Wide tables are no attack."""
    names = ",".join(f"question number {i}" for i in range(6_000))
    path = tmp_path / "wide.csv"
    path.write_text(names + "\n" + ",".join("yn" * 3_000) + "\n" + ",".join("ny" * 3_000) + "\n")
    assert veil.bits.read(path).table.shape == (2, 6_000)


TABLES = pytest.mark.parametrize("read", [veil.bits.read, veil.graphs.read, veil.vectors.read, read_support])


@TABLES
def test_parquet_with_text_that_is_none(read: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    good = pa.array(["ab", "cd"])
    broken = pa.Array.from_buffers(pa.string(), 2, [None, good.buffers()[1], pa.py_buffer(b"a\xa7cd")])
    path = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"a": broken, "b": good}), path)
    with pytest.raises(UnreadableFile, match="UTF-8"):
        read(str(path))
    with pytest.raises(UnreadableFile):
        veil.chains.read(str(path), origin="a", destination="b")


# Three rows; a group of rows claims to have 46,006,204,029.
_MANY_ROWS = (
    "UEFSMRUEFSwVLkwVBhUAEgAAFhABAAAAYQEFMGIIAAQAWmFuemliYXIVABUUFRgsFQYVEBUGFQYcNgAoAWIYFQYVBhw2ACgBYhgI"
    "WmFuemliYXIREQAAAAokAgAAAAYBAgMkABUEGTw1ABgGc2NoZW1hFQQAFQwlAhgGb3JpZ2luJQBMHAAAABUMJQIYC2Rlc3RpbmF0"
    "aW9uJQBMHAAAABYGGRwZLCYAHBUMGTUABhAZGAZvcmlnaW4VAhYGFqQBFqoBJlImCBw2ACgBYhgIWmFuemliYXIREQAZLBUEFQAV"
    "AgAVABUQFQIAPBYUGQYZJgAGAAAAJgAcFQwZNQAGEBkYC2Rlc3RpbmF0aW9uFQIWBhakARasASb+ASayARw2ACgBYhgIWmFuemli"
    "YXIREQAZLBUEFQAVAgAVABUQFQIAPBYUGQYZJgAGAAAAFsgCFvrZ9+LWAgAZHBgMQVJST1c6c2NoZW1hGOABLy8vLy82QUFBQUFR"
    "QUFBQUFBQUtBQXdBQmdBRkFBZ0FDZ0FBQUFBQkJBQU1BQUFBQ0FBSUFBQUFCQUFJQUFBQUJBQUFBQUlBQUFCRUFBQUFCQUFBQU5U"
    "Ly8vOEFBQUVGRUFBQUFCd0FBQUFFQUFBQUFBQUFBQXNBQUFCa1pYRDBhVzVoZEdsdmJnREkvLy8vRUFBVUFBZ0FCZ0FIQUF3QUFB"
    "QVFBQkFBQUFBQUFBRUZFQUFBQUJ3QUFBQUVBQUFBQUFBQUFBWUFBQUJ2Y21sbmFXOEFBQVFBQkFBRUFBQUEAGCBwYXJxdWV0LWNw"
    "cC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAABMCAABQQVIx"
)


@TABLES
def test_parquet_that_claims_more_rows_than_the_memory_holds(read: Any, tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    path.write_bytes(base64.b64decode(_MANY_ROWS))
    outcome = guarded(lambda: read(str(path)), room=2**30)
    assert "do not add up" in str(outcome.error)
    outcome = guarded(lambda: veil.chains.read(path, origin="origin", destination="destination"), room=2**30)
    assert "do not add up" in str(outcome.error)


def ends(path: str) -> Any:
    return veil.chains.read(path, origin="a", destination="b")


@pytest.mark.parametrize("read", [veil.bits.read, veil.graphs.read, veil.vectors.read, read_support, ends])
def test_parquet_that_swells(read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "same.parquet"
    pq.write_table(pa.table({"a": ["x"] * 100_000, "b": ["y"] * 100_000}), path)
    assert "swells" not in str(guarded(lambda: read(str(path))).error)
    monkeypatch.setattr("veil.tables.files._FREELY", 2**10)
    assert "swells" in str(guarded(lambda: read(str(path))).error)


@pytest.mark.slow_for(".gz-words", ".zst-words")
@pytest.mark.parametrize("reader", [one for one in READERS if one.name in ENGINES], ids=str)
@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_files_that_swell_are_refused_before_duckdb_reads_them(
    reader: Reader, packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, reader, PACKERS[packed](reader.text().encode() * 2**16), packed)
    assert "swells" not in str(guarded(lambda: reader.read(path)).error)
    monkeypatch.setattr("veil.tables.files._FREELY", 2**10)
    assert "swells" in refusal(reader, path)


JSON_ROWS: dict[str, tuple[Callable[[str], Any], str]] = {
    "bits": (veil.bits.read, '{"one": "y", "two": "n"}\n'),
    "edges": (veil.graphs.read, '{"from": "a", "to": "b"}\n'),
    "vector": (veil.vectors.read, '{"grade": "a", "count": 1}\n'),
    "support": (read_support, '{"from": "a", "to": "b"}\n'),
    "trips": (trips, '{"from": "a", "to": "b"}\n'),
    "words": (log, '{"who": 1, "when": 1, "where": "a"}\n'),
}


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("kind", JSON_ROWS)
@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_json_lines_that_swell(
    kind: str, packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, line = JSON_ROWS[kind]
    path = tmp_path / f"data.jsonl{packed}"
    path.write_bytes(PACKERS[packed](line.encode() * 2**14))
    assert "swells" not in str(guarded(lambda: read(str(path))).error)
    monkeypatch.setattr("veil.tables.files._FREELY", 2**10)
    assert "swells" in str(guarded(lambda: read(str(path))).error)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("read", [trips, veil.graphs.read, veil.bits.read])
def test_cells_beyond_all_measure_in_every_format(read: Any, ending: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    cell, path = SECRET * 20_000, tmp_path / f"data{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"from": ["a", cell], "to": [cell, "a"]}), path)
    elif ending == ".jsonl":
        path.write_text(f'{{"from": "a", "to": "{cell}"}}\n{{"from": "{cell}", "to": "a"}}\n')
    else:
        path.write_text(f"from,to\na,{cell}\n{cell},a\n")
    assert "bytes in a cell" in str(guarded(lambda: read(str(path))).error)
