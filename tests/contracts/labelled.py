"""Releases of every kind with given labels, and an account that counts what it is charged."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import networkx
import numpy as np
import pandas

from veil import bits, chains, graphs, matrices, release, vectors, words
from veil.core.account import EntryId
from veil.core.record import Release

# Ordinary writing in several languages, and text that other formats could take for something else.
LEGITIMATE = (
    "می‌خواهم",  # with a zero-width non-joiner
    "👩‍💻",  # with a zero-width joiner
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "soft\u00adhyphen",
    "\u200fעברית\u200e",
    "\u061cعربى",
    "zero\u200bwidth",
    "a b",
    "a\u00a0b",
    "a\u3000b",
    "=1+1",
    "@x",
    "-5",
    "$x^$",
    "<script>alert(1)</script>",
    "[red]x[/red]",
    "a,b",
    'q"uote',
    "#x",
    "'",
    "\ue000",
    "\u0378",
    "null",
    "007",
)
# Each with what the error calls it.
REFUSED = {
    "tab\there": "a control character",
    "line\nbreak": "a control character",
    "return\r": "a control character",
    "\x1b[31mred": "a control character",
    "nul\x00": "a control character",
    "\x7f": "a control character",
    "c1\x9b31m": "a control character",
    "line\u2028separator": "a control character",
    "\u202eoverride": "a character that turns the direction of text",
    "\u2067isolate": "a character that turns the direction of text",
    "half\ud83d": "half a character",
    "\ufeffmark": "a code that is no character",
    "\uffff": "a code that is no character",
    "\U0010ffff": "a code that is no character",
}


class Counted:
    """An account that remembers how often it was charged and what was confirmed."""

    def __init__(self) -> None:
        self.charges = 0
        self.results: list[str | None] = []

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> EntryId:
        self.charges += 1
        return EntryId("ledger", "می‌خواهم", self.charges, "0" * 64)

    def confirm(self, entry: Any) -> None:
        self.results.append(None)


class Bound(Counted):
    """One that also takes the digest of the result."""

    def confirm_release(self, entry: Any, result: str) -> None:
        self.results.append(result)


Maker = Callable[[Sequence[str], Any], Release[Any]]


def _index(labels: Sequence[str]) -> pandas.Index[Any]:
    """As objects: Arrow, which pandas would hold text in, refuses halves of characters itself."""
    return pandas.Index(list(labels), dtype=object)


def _vector(labels: Sequence[str], account: Any) -> Release[Any]:
    return vectors.release(dict.fromkeys(labels, 5), epsilon=1.0, ledger=account)


def _batch(labels: Sequence[str], account: Any) -> Release[Any]:
    frame = pandas.DataFrame(np.full((len(labels), 3), 4), index=_index(labels), columns=list("abc"))
    noise, near = vectors.GeometricCounts(2.0, 3), vectors.Records()
    return release(noise, frame, adjacency=near, public_row_labels=True, ledger=account)


def _matrix(labels: Sequence[str], account: Any) -> Release[Any]:
    table = pandas.DataFrame(1 / len(labels), index=_index(labels), columns=_index(labels))
    return matrices.release(table, epsilon=1.0, transfer=0.1, ledger=account)


def _chain(labels: Sequence[str], account: Any) -> Release[Any]:
    counts = chains.TransitionCounts(np.full((len(labels),) * 2, 7), list(labels))
    return chains.release(counts, epsilon=1.0, ledger=account)


def _groups(labels: Sequence[str], account: Any) -> Release[Any]:
    trips = {
        "f": ["x", "y"] * len(labels),
        "t": ["y", "y"] * len(labels),
        "g": [label for label in labels for _ in "fy"],
    }
    counts = chains.read(
        trips, origin="f", destination="t", group="g", groups=list(labels), states=["x", "y"]
    )
    return chains.release(counts, epsilon=1.0, ledger=account)


def _words(labels: Sequence[str], account: Any) -> Release[Any]:
    language = words.FreeWords(list(labels), len(labels))
    return words.release([list(labels)], language=language, epsilon=2.0, ledger=account)


def _online(labels: Sequence[str], account: Any) -> Release[Any]:
    language = words.FreeWords(list(labels), len(labels))
    word = words.online(words.SequentialWords(language, 2.0), ledger=account)
    for label in labels:
        word.push(label)
    return word.finish()


def _bits(labels: Sequence[str], account: Any) -> Release[Any]:
    frame = pandas.DataFrame(np.eye(3, len(labels), dtype=bool), columns=_index(labels))
    return bits.release(frame, epsilon=2.0, ledger=account)


def _graph(labels: Sequence[str], account: Any) -> Release[Any]:
    return graphs.release(networkx.path_graph(list(labels)), epsilon=2.0, ledger=account)


MAKERS: dict[str, Maker] = {
    "vector": _vector,
    "batch of vectors": _batch,
    "matrix": _matrix,
    "chain": _chain,
    "chain with groups": _groups,
    "words": _words,
    "word, online": _online,
    "bits": _bits,
    "graph": _graph,
}


def made(name: str, labels: Sequence[str], account: Any = None) -> Release[Any]:
    """A release of this kind with these labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[name](labels, account)
