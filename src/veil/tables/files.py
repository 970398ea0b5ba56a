"""Files as bytes, text and JSON: which ones a path means, unpacked, within the limits, and in UTF-8.

How much a file may make Veil take in is limited alike for every reader, against files made to do harm.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from veil.core.bounded import read_whole
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.objects import unique
from veil.tables.trace import asked

PARQUET, JSON_LINES = (".parquet", ".pq"), (".jsonl", ".ndjson", ".json")
_PACKING = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".zip": "zip"}
# Files that are not text, and what to do with them.
_BINARY = {
    (".xlsx", ".xls", ".ods"): "Save the sheet as CSV.",
    (".tar", ".7z"): "Unpack it first; .gz may stay packed.",
    (".sav", ".dta", ".sas7bdat", ".rds", ".rdata", ".feather"): "Save it as CSV or Parquet.",
    (".npy", ".npz", ".pkl", ".pickle"): "Load it and hand in the array.",
}
_STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_BYTE_ORDERS = (b"\xff\xfe", b"\xfe\xff")
# What Python's reader of archives raises where one is broken.
_NOT_WHOLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError, ValueError)
# What may always be unpacked, and beyond it how many times the packed size: tables shrink to a tenth, a log
# of nothing but the same row to a two-hundredth.
_FREELY, _SWELLS = 2**30, 200
# The same of JSON, which takes several times its size in memory.
_FREELY_JSON, _SWELLS_JSON = 2**28, 50
_AT_A_TIME = 2**24
# Bytes in a cell; of text with separators also bytes in the first line, and cells in it.
LONGEST_CELL, LONGEST_LINE, MOST_COLUMNS = 2**17, 2**26, 2**17


def ending_of(path: str) -> str:
    """How a file ends, in lower case, whether or not it is packed: `.csv` for votes.CSV.gz."""
    bare = path.lower()
    for packed in _PACKING:
        bare = bare.removesuffix(packed)
    return Path(bare).suffix


def name_of(path: str) -> str:
    """What a file is called in messages: by its name alone, since a path may tell whose it is."""
    if path == "-":
        return "standard input"
    return path if path.startswith("/dev/") else Path(path).name


def files_of(source: str | os.PathLike[str]) -> list[str]:
    """The files that a path or a glob means, in the order of their names; "-" is standard input."""
    path = os.fspath(source)
    if path in _STANDARD_INPUT:
        return ["-"]
    if "://" in path:
        raise InvalidArgument("source", expected="a path or a glob", found="an address")
    plain = Path(path)
    if plain.is_dir():
        raise UnreadableFile(
            path or "source", expected="a file", found="a folder", hint="Use a glob such as folder/*.csv."
        )
    # A pipe is what the shell makes of <(command). It can be read once, and nothing is read twice.
    if plain.is_file() or plain.is_fifo():
        return [path]
    if has_magic(path):
        matching = sorted(one for one in glob(path, recursive=True) if Path(one).is_file())
        if not matching:
            raise UnreadableFile(path, expected="files that match", found="none")
        return matching
    if plain.exists():
        raise UnreadableFile(path, expected="a file", found="a device")
    raise UnreadableFile(path, expected="a file", found="no such file", hint=_nearest(plain))


def file_of(source: str | os.PathLike[str]) -> str:
    """The one file that a path means."""
    files = files_of(source)
    if len(files) > 1:
        raise UnreadableFile(os.fspath(source), expected="one file", found=f"{len(files)} that match")
    return files[0]


def _nearest(path: Path) -> str:
    """The file or folder beside which the user may have meant."""
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r}."
    try:
        names = [one.name for one in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, 1, 0.7)
    return f"Did you mean {str(path.parent / near[0])!r}?" if near else ""


def text_bytes(path: str) -> bytes:
    """The text of a file, unpacked, without a byte order mark; it is UTF-8 as far as the start shows."""
    name, ending = name_of(path), ending_of(path)
    for endings, hint in _BINARY.items():
        if ending in endings:
            raise UnreadableFile(
                name, expected="text, Parquet or JSON lines", found=f"a {ending} file", hint=hint
            )
    return _checked_text(_content(path, name), name)


def _checked_text(raw: bytes, name: str) -> bytes:
    """A text without a byte order mark; it is UTF-8 as far as the start shows."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if raw.startswith(_BYTE_ORDERS):
        raise UnreadableFile(name, expected="text in UTF-8", found="UTF-16", hint="Save it as UTF-8.")
    if b"\0" in raw[:65536]:
        raise UnreadableFile(name, expected="text, Parquet or JSON lines", found="another kind of file")
    return raw


def head_bytes(path: str, size: int = 2**20) -> bytes:
    """The first lines of a text, unpacked."""
    import pyarrow as pa

    name = name_of(path)
    asked(name, f"the first {size:,} bytes are read")
    try:
        with pa.input_stream(path, compression=_PACKING.get(Path(path).suffix.lower())) as stream:
            raw: bytes = stream.read(size)
    except (OSError, pa.ArrowException):
        raise UnreadableFile(name, expected="a readable file that is whole", found="another") from None
    if len(raw) < size:
        return _checked_text(raw, name)
    end = max(raw.rfind(b"\n"), raw.rfind(b"\r"))
    if end < 0:
        raise too_large(name, "bytes in the first line", size)
    return _checked_text(raw[:end], name)


def read_text(path: str) -> str:
    """The text of a file, all of it in UTF-8."""
    return decoded(text_bytes(path), name_of(path))


def decoded(raw: bytes, name: str) -> str:
    """The text that bytes are in UTF-8; an error says in which line they are not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found, hint = f"another encoding in line {line}", "Save it as UTF-8."
        raise UnreadableFile(name, expected="text in UTF-8", found=found, hint=hint) from None


def parse_json(raw: bytes, name: str) -> Any:
    """The value in a text. NaN and Infinity, which JSON does not have, become NaN, to be refused later."""
    return _parsed_json(decoded(raw, name), name, "JSON")


def parse_json_lines(raw: bytes, name: str) -> list[Any]:
    """The value in every line that has one."""
    lines = decoded(raw, name).split("\n")
    return [_parsed_json(line, name, "JSON in every line") for line in lines if line.strip()]


def _parsed_json(text: str, name: str, expected: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda word: math.nan, object_pairs_hook=unique)
    except InvalidData as error:
        raise UnreadableFile(name, expected=error.expected, found=error.found) from None
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected=expected, found="something else") from None


def check_packed(path: str) -> None:
    """Raise if a packed file, which DuckDB unpacks by itself, swells or is not whole."""
    packing = _PACKING.get(Path(path).suffix.lower())
    # A byte of gzip holds no more than 1,032: a small file cannot swell beyond what is free.
    free = most_from(0, ending_of(path))
    if packing is not None and (packing != "gzip" or 1_040 * Path(path).stat().st_size > free):
        for _ in _unpacked(path, name_of(path), packing):
            pass


def _content(path: str, name: str) -> bytes:
    asked(name, "the whole file is read")
    if path == "-":
        return read_whole(sys.stdin.buffer, name, look=lambda part: _checked_text(part, name))
    packing = _PACKING.get(Path(path).suffix.lower())
    if packing is not None:
        return b"".join(_unpacked(path, name, packing))
    try:
        with Path(path).open("rb") as stream:
            return read_whole(stream, name, look=lambda part: _checked_text(part, name))
    except OSError as error:
        raise _unreadable(name, error) from None


def _unpacked(path: str, name: str, packing: str) -> Iterator[bytes]:
    """What a packed file holds, part by part, within the limits."""
    import pyarrow as pa

    try:
        size = Path(path).stat().st_size
        if packing == "zip":
            with zipfile.ZipFile(path) as archive, archive.open(_only_file(archive, name)) as stream:
                yield from parts_of(stream, size, name, ending_of(path))
        else:
            with pa.input_stream(path, compression=packing) as stream:
                yield from parts_of(stream, size, name, ending_of(path))
    except UnreadableFile:
        raise
    except (OSError, *_NOT_WHOLE) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> UnreadableFile:
    reason = getattr(error, "strerror", None)
    if reason is not None:
        return UnreadableFile(name, expected="a readable file", found=reason)
    expected = "a packed file that is whole"
    return UnreadableFile(name, expected=expected, found="another", hint="Unpack it first.")


def _only_file(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    # Some systems pack a folder of their own beside the file.
    files = [
        one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        raise UnreadableFile(name, expected="one file in the archive", found=str(len(files)))
    return files[0]


def most_from(packed: int, ending: str = "") -> int:
    """How many bytes a file of this packed size may unpack to. ending: as `ending_of` gives it."""
    if ending in JSON_LINES:
        return max(min(_FREELY, _FREELY_JSON), _SWELLS_JSON * packed)
    return max(_FREELY, _SWELLS * packed)


def swells(name: str, most: int, *, hint: str = "Unpack it first if it is right.") -> UnreadableFile:
    """The error for a file that would fill the memory."""
    expected = f"a packed file that unpacks to at most {most:,} bytes"
    return UnreadableFile(name, expected=expected, found="one that swells", hint=hint)


def parts_of(stream: Any, packed: int, name: str, ending: str = "") -> Iterator[bytes]:
    """What a stream unpacks to, part by part, unless it is far more than a file of this packed size holds."""
    size, most = 0, most_from(packed, ending)
    while part := stream.read(_AT_A_TIME):
        size += len(part)
        if size > most:
            raise swells(name, most)
        yield bytes(part)


def too_large(name: str, what: str, most: int) -> UnreadableFile:
    """The error for text with more in it than any table has."""
    return UnreadableFile(name, expected=f"at most {most:,} {what}", found="more")


def checked_cells(table: Any, name: str, *, is_valid: bool = False) -> Any:
    """The Arrow table, if all text in it is text, as it is known to be if valid, and no cell is too long.

    Broken letters would fail later, wherever they are used.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        table.validate(full=not is_valid)
    except pa.ArrowInvalid:
        raise UnreadableFile(name, expected="text in UTF-8", found="bytes that are none") from None
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            texts = [chunk.dictionary for chunk in column.chunks]
        else:
            texts = [column]
        for some in texts:
            is_text = pa.types.is_string(some.type) or pa.types.is_large_string(some.type)
            if is_text and (pc.max(pc.binary_length(some)).as_py() or 0) > LONGEST_CELL:
                raise too_large(name, "bytes in a cell", LONGEST_CELL)
    return table
