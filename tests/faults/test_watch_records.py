"""Nothing of the input reaches a reader but through the draw: the same draw gives the same record and charge.

The draw is held fixed, whatever goes in. Then two inputs that differ must leave the same record, the same
file and the same entry in the ledger; and so must two seeds. Whatever differs comes from the input itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

import veil
from veil.core.account import Charge
from veil.core.files import to_json

from ..contracts.cases import CASES


@dataclass(frozen=True)
class Kind:
    """A mechanism with two inputs that have nothing in common but their shape."""

    name: str
    mechanism: Callable[[], Any]
    first: Any
    second: Any
    options: dict[str, Any]


def _counts(table: list[list[int]]) -> veil.chains.TransitionCounts:
    return veil.chains.TransitionCounts(np.array(table), ["x", "y"])


def _chain() -> Any:
    return veil.chains.release(_counts([[5, 6], [7, 8]]), epsilon=1.0, rng=1).mechanism


_PURE = {"adjacency": veil.chains.Transitions()}
KINDS = [
    *(
        Kind(
            case.name,
            partial(getattr, case, "mechanism"),
            case.value,
            case.neighbour,
            {"adjacency": case.adjacency, "delta": 1e-3},
        )
        for case in CASES
    ),
    Kind("a word", lambda: veil.words.SequentialWords(veil.words.FreeWords("abc", 3), 1.0), "abc", "cab", {}),
    Kind(
        "words",
        lambda: veil.words.SequentialWords(veil.words.FreeWords("ab", 2), 1.0),
        ["ab", "ba"],
        ["bb", "ab"],
        {},
    ),
    Kind(
        "bits",
        lambda: veil.bits.RandomizedResponse(1.0),
        np.eye(2, 3, dtype=bool),
        ~np.eye(2, 3, dtype=bool),
        {},
    ),
    Kind("a graph", lambda: veil.graphs.RandomizedResponse(1.0), nx.path_graph(5), nx.cycle_graph(5), {}),
    Kind(
        "facts",
        lambda: veil.graphs.PrivateGraph(1.0, statistics=["edges"]),
        nx.path_graph(5),
        nx.cycle_graph(5),
        {},
    ),
    Kind("a chain", _chain, _counts([[5, 6], [7, 8]]), _counts([[1, 0], [0, 3]]), _PURE),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


class Book:
    """An account that keeps all that it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        raise AssertionError("the whole charge is told")

    def reserve_charge(self, charge: Charge) -> str:
        self.told.append(repr(charge))
        return "entry"

    def confirm(self, entry: str) -> None:
        self.told.append(entry)


def _left(kind: Kind, value: Any, patch: pytest.MonkeyPatch, rng: Any) -> tuple[Any, str, list[str]]:
    """The record, the file and the ledger after a release in which the draw is held fixed."""
    mechanism, book = kind.mechanism(), Book()
    # By either of the ways in which a kind draws.
    ways = [way for way in ("sample", "sample_noisy") if hasattr(mechanism, way)]
    fixed = {way: getattr(mechanism, way)(kind.first, rng=5) for way in ways}
    with patch.context() as held:
        for way in ways:
            held.setattr(type(mechanism), way, lambda *_, way=way, **__: fixed[way])
        out = veil.release(mechanism, value, ledger=book, rng=rng, **kind.options)
    timeless = replace(out, created="")
    return timeless, to_json(timeless), book.told


def _text(record: veil.Release[Any]) -> str:
    """What is shown of a record, but for where in memory it lies."""
    return re.sub("0x[0-9a-f]+", "", repr(record))


@every_kind
def test_inputs_leave_the_same_record(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (_left(kind, value, monkeypatch, None) for value in (kind.first, kind.second))
    assert one == other
    assert {key: table.tolist() for key, table in one[0].tables.items()} == {
        key: table.tolist() for key, table in other[0].tables.items()
    }
    assert _text(one[0]) == _text(other[0])


@every_kind
def test_seeds_leave_the_same_record(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (_left(kind, kind.first, monkeypatch, seed) for seed in (81_321, 92_543))
    assert one == other
    assert "81321" not in json.dumps(one[1:]) + _text(one[0])


def test_another_draw_leaves_another_record(monkeypatch: pytest.MonkeyPatch) -> None:
    # The comparison sees what it should: here the draw itself.
    case = CASES[0]
    outs = [
        replace(veil.release(case.mechanism, case.value, adjacency=case.adjacency, delta=1e-3), created="")
        for _ in range(2)
    ]
    assert outs[0] != outs[1]
