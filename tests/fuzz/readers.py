"""Every reader of files, with good files of each kind that it takes."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import veil
from veil.core.files import load, to_json
from veil.tables.states import given_states
from veil.words.supports import read_support

from .books import good_exports, good_file, read_books, verify_against
from .entry import good_release

# Stands in cells of the data only: no message may quote it.
SECRET = "Zanzibar"


@dataclass(frozen=True)
class Reader:
    """What reads files with this ending, and good files to begin with."""

    name: str
    ending: str
    read: Callable[[str], Any]
    good: Callable[[], list[bytes]]

    def __str__(self) -> str:
        return f"{self.name} {self.ending}"


RELEASES = ("vector", "chain", "bits", "graph", "facts", "word", "words", "matrix")


@cache
def release_text(name: str) -> str:
    """The record of one of `RECORDS`, made when it is first asked for."""
    return to_json(_MORE[name]() if name in _MORE else good_release(name))


def release_texts() -> list[str]:
    """A record of every kind of release."""
    return [release_text(name) for name in RECORDS]


def _language() -> Any:
    return veil.words.ChainWords({"a": ["a", "b"], "b": ["a"]}, 3)


def _word(mechanism: Any, word: list[Any]) -> Any:
    return veil.release(mechanism, word, rng=1)


def _table(mechanism: Any, **given: Any) -> Any:
    return veil.release(mechanism, [[True, False], [False, True]], rng=1, **given)


def _noise() -> Any:
    return veil.bits.Xor(veil.bits.xor_parameters(1.0, 1.0, 2, 2, 1))


def _vector(mechanism: Any, **given: Any) -> Any:
    return veil.release(mechanism, [0.2, 0.3, 0.5], adjacency=veil.vectors.Transfer(0.1), rng=1, **given)


_SIMPLEX = veil.vectors.Simplex(3)
_MORE: dict[str, Callable[[], Any]] = {
    "sequential words": lambda: _word(veil.words.SequentialWords(_language(), 1.0), ["a", "b", "a"]),
    "balanced words": lambda: _word(veil.words.BalancedWords(_language(), 1.0), ["a", "b", "a"]),
    "permute and flip": lambda: _word(
        veil.words.PermuteAndFlip(
            veil.words.AutomatonWords({(0, "x"): [0, 1], (1, "y"): [1]}, 0, [1], 3), 1.0
        ),
        ["x", "x", "y"],
    ),
    "staircase words": lambda: _word(
        veil.words.StaircaseWords(veil.words.FreeWords(3, 3), 1.0, radius=2), [0, 1, 2]
    ),
    "xor": lambda: _table(_noise(), adjacency=veil.bits.BitFlips(1)),
    "xor blocks": lambda: _table(veil.bits.XorBlocks([[_noise()]]), adjacency=veil.bits.BitFlips(1)),
    "staircase xor": lambda: _table(veil.bits.StaircaseXor(2, 1.0)),
    "laplace": lambda: _vector(veil.vectors.Laplace(0.1, _SIMPLEX)),
    "gaussian": lambda: _vector(veil.vectors.Gaussian(0.1, _SIMPLEX), delta=1e-6),
    "dirichlet": lambda: _vector(
        veil.vectors.Dirichlet(50.0, veil.vectors.Simplex(3, floor=0.1)), delta=1e-6
    ),
    "row by row": lambda: veil.release(
        veil.matrices.RowByRow(veil.vectors.Laplace(0.1, _SIMPLEX), rows=3),
        [[0.2, 0.3, 0.5]] * 3,
        adjacency=veil.matrices.Rows(1, veil.vectors.Transfer(0.05)),
        rng=1,
    ),
    "geometric": lambda: veil.release(
        veil.vectors.GeometricCounts(1.0, 3), [5, 3, 2], adjacency=veil.vectors.Records(), rng=1
    ),
    "sequences": lambda: veil.chains.release(
        _log_counts(), epsilon=2.0, rng=1, parts=("starts", "ends", "lengths")
    ),
}
RECORDS = (*RELEASES, *_MORE)


def _log_counts() -> Any:
    log = {"who": [1, 1, 1, 2, 2, 3], "when": [1, 2, 3, 1, 2, 1], "where": list("abaabb")}
    return veil.chains.read(log, by="who", order="when", state="where", sequences=True, states=["a", "b"])


@cache
def _records() -> list[bytes]:
    return [text.encode() for text in release_texts()]


def _lines(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _parquet(**columns: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def _zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("walks.txt", content)
    return out.getvalue()


_VECTORS = [
    _lines("grade,count", "A,12", f"{SECRET},7", "C,3"),
    _lines("0.5", "0.25", "0.25"),
    _lines("a;b;c", "0,5;0,25;0,25"),
]
_MATRICES = [
    _lines("from,a,b", "a,0.5,0.5", "b,0.25,0.75"),
    _lines("0.5,0.5", "0.25,0.75"),
    _lines("from,to,probability", f"{SECRET},b,1", f"b,{SECRET},0.5", "b,b,0.5"),
]
_TRIPS = [
    _lines("origin,destination", f"{SECRET},b", "b,c", f"c,{SECRET}"),
    _lines("origin;destination", "1;2", "2;1"),
]
_LOG = [
    _lines("who,when,where", f"1,2020-01-01,{SECRET}", "1,2020-01-02,b", "2,2020-01-01,b", "2,2020-01-05,b"),
    _lines("who,when,where", "ann,1,4", "ann,2,5", "bob,1,4"),
]
_WALKS = [_lines(f"a b {SECRET}", "b b", "a"), _lines("1 2 3", "3 2 1")]
_BITS = [
    _lines("budget,roads", "y,n", "n,n", "y,y"),
    _lines("a,b", f"{SECRET},0", "other,1"),
    _lines("0 1", "1 1"),
]
_EDGES = [
    _lines(f"ann {SECRET}", f"{SECRET} cid", "cid ann"),
    _lines("# a graph", "1\t2", "2\t3"),
    _lines("origin,destination,weight", "1,2,0.5", "3,2,0.5"),
]
_STATES = [_lines("zone,name", "1,North", "2,South", f"3,{SECRET}"), _lines("a", "b", "c")]
_SUPPORTS = [_lines("from,to", "a,b", "b,a", "b,b"), _lines("from,a,b", "a,0,1", "b,1,1")]
_JSON_LINES = [_lines('{"origin": "a", "destination": "b"}', f'{{"origin": "b", "destination": "{SECRET}"}}')]
_ENDS: dict[str, Any] = {"origin": ["a", "b", SECRET], "destination": ["b", SECRET, "a"]}


def trips(path: str) -> Any:
    return veil.chains.read(path, origin="origin", destination="destination")


def log(path: str) -> Any:
    return veil.chains.read(path, by="who", order="when", state="where", cap=2)


def words(path: str) -> Any:
    return veil.words.read(path, by="who", order="when", state="where")


def walks(path: str) -> Any:
    return veil.chains.read(path, lines=True)


def _packed(files: list[bytes]) -> list[bytes]:
    return [gzip.compress(content, mtime=0) for content in files]


TEXTS = (
    Reader("vector", ".csv", veil.vectors.read, lambda: _VECTORS),
    Reader("vector", ".json", veil.vectors.read, lambda: [b"[0.5, 0.25, 0.25]", b'{"a": 1, "b": 2, "c": 3}']),
    Reader("matrix", ".csv", veil.matrices.read, lambda: _MATRICES),
    Reader(
        "matrix",
        ".json",
        veil.matrices.read,
        lambda: [b"[[0.5, 0.5], [0.25, 0.75]]", b'{"a": {"a": 0.5, "b": 0.5}, "b": {"a": 1}}'],
    ),
    Reader("trips", ".csv", trips, lambda: _TRIPS),
    Reader("trips", ".jsonl", trips, lambda: _JSON_LINES),
    Reader("log", ".csv", log, lambda: _LOG),
    Reader("words", ".csv", words, lambda: _LOG),
    Reader("walks", ".txt", walks, lambda: _WALKS),
    Reader("bits", ".csv", veil.bits.read, lambda: _BITS),
    Reader("bits", ".jsonl", veil.bits.read, lambda: [_lines('{"a": "y", "b": 0}', '{"a": "n", "b": 1}')]),
    Reader("edges", ".txt", veil.graphs.read, lambda: _EDGES),
    Reader("edges", ".jsonl", veil.graphs.read, lambda: _JSON_LINES),
    Reader("states", ".csv", given_states, lambda: _STATES),
    Reader("support", ".csv", read_support, lambda: _SUPPORTS),
    Reader("support", ".json", read_support, lambda: [b'{"a": ["b"], "b": ["a", "b"]}', *_records()]),
    Reader("support", ".jsonl", read_support, lambda: _JSON_LINES),
    Reader("release", ".json", load, lambda: _records()),
)
PACKED = (
    Reader("trips", ".csv.gz", trips, lambda: _packed(_TRIPS)),
    Reader("words", ".csv.gz", words, lambda: _packed(_LOG)),
    Reader("walks", ".txt.gz", walks, lambda: _packed(_WALKS)),
    Reader("walks", ".zip", walks, lambda: [_zipped(content) for content in _WALKS]),
    Reader("bits", ".csv.gz", veil.bits.read, lambda: _packed(_BITS)),
    Reader("edges", ".txt.gz", veil.graphs.read, lambda: _packed(_EDGES)),
    Reader("support", ".csv.gz", read_support, lambda: _packed(_SUPPORTS)),
)
PARQUET = (
    Reader("trips", ".parquet", trips, lambda: [_parquet(**_ENDS)]),
    Reader(
        "words",
        ".parquet",
        words,
        lambda: [_parquet(who=[1, 1, 2], when=[1, 2, 1], where=["a", SECRET, "b"])],
    ),
    Reader("bits", ".parquet", veil.bits.read, lambda: [_parquet(a=[True, False], b=["y", "n"])]),
    Reader("edges", ".parquet", veil.graphs.read, lambda: [_parquet(**_ENDS)]),
    Reader("support", ".parquet", read_support, lambda: [_parquet(**_ENDS)]),
)
BOOKS = (
    Reader("ledger", ".db", read_books, lambda: [good_file()]),
    Reader("export", ".json", verify_against, good_exports),
)
READERS = TEXTS + PACKED + PARQUET + BOOKS


def record_values() -> list[Any]:
    """The records as JSON values."""
    return [json.loads(text) for text in release_texts()]


def write_and_read(reader: Reader, content: bytes, folder: Path) -> Any:
    """What a reader makes of a file with this content."""
    path = folder / f"data{reader.ending}"
    path.write_bytes(content)
    return reader.read(str(path))
