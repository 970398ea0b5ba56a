"""Made-up neighbours: real neighbours, at the border of the domain, at every end of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import veil
from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.private_chain import Part
from veil.core.audit.auditing import check_neighbours
from veil.core.audit.suite import audit_examples
from veil.errors import InvalidArgument
from veil.graphs.graph import Graph
from veil.words.word_batch import WordBatch


def differ(mechanism: Any, pair: veil.AuditPair) -> bool:
    one, other = mechanism.validate(pair.value), mechanism.validate(pair.neighbour)
    if isinstance(one, (Graph, WordBatch)):
        return bool(one != other)
    if isinstance(mechanism, veil.chains.PrivateChain):
        return any((part.counted(one) != part.counted(other)).any() for part in mechanism.parts)
    return not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("mechanism", "adjacency"), audit_examples(), ids=lambda item: getattr(item, "name", "")
)
def test_every_pair_is_one_of_neighbours(mechanism: Any, adjacency: Any) -> None:
    found = veil.audit_pairs(mechanism, adjacency)
    assert len(found) >= 2
    assert len({pair.name for pair in found}) == len(found)
    for pair in found:
        check_neighbours(mechanism, adjacency or mechanism.adjacency, pair.value, pair.neighbour)
        assert differ(mechanism, pair)
        assert "array" not in repr(pair)


def test_vectors_reach_the_floor_and_a_corner() -> None:
    mechanism = veil.vectors.Dirichlet(20.0, veil.vectors.Simplex(4, floor=0.1))
    found = veil.audit_pairs(mechanism, veil.vectors.Transfer(0.05))
    assert all(min(np.min(pair.value), np.min(pair.neighbour)) == 0.1 for pair in found[:2])
    corner = next(pair for pair in found if "corner" in pair.name)
    assert np.max(corner.value) == pytest.approx(0.7)
    # All of the transfer is used, by the first and by the last entry.
    for pair in found:
        assert np.abs(np.subtract(pair.value, pair.neighbour)).sum() == pytest.approx(0.1)
    moved = {
        place for pair in found for place in np.flatnonzero(np.subtract(pair.value, pair.neighbour)).tolist()
    }
    assert {0, 3} <= moved


@pytest.mark.parametrize("mass", [0.01, 0.5, 1.0])
@pytest.mark.parametrize(
    "domain",
    [
        veil.vectors.Simplex(2),
        veil.vectors.Simplex(2, floor=0.3),
        veil.vectors.Simplex(3, floor=0.3),
        veil.vectors.Simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1),
        veil.vectors.Simplex(40, floor=0.02),
    ],
)
def test_vectors_of_every_domain(domain: veil.vectors.Simplex, mass: float) -> None:
    for smooth in (False, True) if domain.floor else (False,):
        mechanism: Any = veil.vectors.Laplace(0.1, domain)
        if domain.floor:
            mechanism = veil.vectors.Dirichlet(9.0, domain, smooth=smooth)
        assert veil.audit_pairs(mechanism, veil.vectors.Transfer(mass))


@pytest.mark.parametrize("support", [None, [[0, 1], [1, 2], [0, 1, 2]], [[0, 1, 2], [1], [0, 2]]])
@pytest.mark.parametrize("changed", [1, 2, "all"])
def test_matrices_with_and_without_a_support(support: Any, changed: Any) -> None:
    domains = (
        veil.vectors.Simplex(3, floor=0.1)
        if support is not None
        else [veil.vectors.Simplex(3, floor=0.1)] * 3
    )
    for smooth in (False, True):
        mechanism = veil.matrices.MatrixDirichlet(20.0, domains, support=support, smooth=smooth)
        found = veil.audit_pairs(mechanism, veil.matrices.Rows(changed, veil.vectors.Transfer(0.05)))
        rows = {
            int((np.abs(pair.value - pair.neighbour) > 1e-12).any(axis=1).sum())
            for pair in found
            if not pair.beside
        }
        able = 3 if support is None or len(support[1]) > 1 else 2
        assert rows == {min(able, 3 if changed == "all" else changed)}
        # And one where a single row changes, so that the others can be looked at.
        (beside,) = [pair for pair in found if pair.beside]
        assert (np.abs(beside.value - beside.neighbour) > 1e-12).any(axis=1).tolist() == [True, False, False]


def test_doubly_stochastic_matrices() -> None:
    for adjacency in (
        veil.matrices.Rectangle(0.3),
        veil.matrices.Rows("all", veil.vectors.Transfer(0.2)),
        veil.matrices.Rows(3, veil.vectors.Transfer(0.2)),
    ):
        for pair in veil.audit_pairs(veil.matrices.DoublyStochastic(0.2, 5), adjacency):
            assert pair.neighbour in veil.matrices.Birkhoff(5)
    with pytest.raises(InvalidArgument, match="neighbours"):
        veil.audit_pairs(
            veil.matrices.DoublyStochastic(0.2, 3), veil.matrices.Rows(1, veil.vectors.Transfer(0.1))
        )


def test_counts_in_empty_and_large_cells() -> None:
    found = veil.audit_pairs(veil.vectors.GeometricCounts(1.0, 4), veil.vectors.Contributions(3, 2))
    moved = [np.subtract(pair.value, pair.neighbour) for pair in found]
    assert all(change.clip(0).sum() == 3 and -change.clip(max=0).sum() == 2 for change in moved)
    assert {0, 3} <= {int(np.argmax(change)) for change in moved}
    assert any((pair.neighbour == 0).sum() >= 2 for pair in found)
    assert any(np.min(pair.neighbour) > 100 for pair in found)


@pytest.mark.parametrize(
    "language",
    [
        veil.words.FreeWords(2, 1),
        veil.words.FreeWords("abc", 6),
        veil.words.ChainWords({"a": ["b", "c"], "b": ["a"], "c": ["a", "b"]}, 6),
        veil.words.ChainWords({0: [0, 1], 1: [0]}, 5, start=1),
        veil.words.AutomatonWords({(0, "x"): 1, (0, "y"): 0, (1, "x"): 0, (1, "y"): 1}, 0, [0], 5),
    ],
)
@pytest.mark.parametrize("radius", [1, 2, 3])
def test_words_of_every_language(language: Any, radius: int) -> None:
    mechanism = veil.words.ExponentialWords(language, 1.0, radius=radius)
    if isinstance(language, veil.words.AutomatonWords) and radius == 1:
        # An even number of x: no two words differ in one place.
        with pytest.raises(InvalidArgument, match="neighbours"):
            veil.audit_pairs(mechanism)
        return
    found = veil.audit_pairs(mechanism)
    pairs = [list(zip(pair.value, pair.neighbour, strict=True)) for pair in found]
    apart = [[t for t, (a, b) in enumerate(pair) if a != b] for pair in pairs]
    changed = {t for places in apart for t in places}
    if isinstance(language, veil.words.AutomatonWords):
        assert max(map(len, apart)) == 2
        assert 0 in changed
    else:
        assert max(map(len, apart)) == min(radius, language.length)
        assert language.length - 1 in changed
        assert 0 in changed or getattr(language, "start", None) is not None


def test_tables_of_words_hold_shorter_ones() -> None:
    mechanism = veil.words.EachWord(
        veil.words.ExponentialWords(veil.words.FreeWords(3, 4), 1.0), words_each=2
    )
    lengths = {int(pair.value.lengths[0]) for pair in veil.audit_pairs(mechanism)}
    assert lengths == {4, 2, 1}


def test_bits_and_graphs() -> None:
    table = veil.audit_pairs(veil.bits.StaircaseXor(6, 1.0, flips=2, rows=3))
    places = {place for pair in table for place in np.flatnonzero(pair.value ^ pair.neighbour).tolist()}
    assert {0, 17} <= places
    assert {int((pair.value ^ pair.neighbour).sum()) for pair in table} == {1, 2}
    graphs = veil.audit_pairs(veil.graphs.PrivateGraph(1.0, statistics=["triangles"]))
    assert {pair.name for pair in graphs} == {
        "an empty graph",
        "a hub",
        "two nodes that share all others",
        "a complete graph",
    }
    sizes = [len(pair.value) for pair in graphs]
    assert min(sizes) == 0
    assert max(sizes) == 28


ALL_UNITS = [
    Transitions(),
    Transitions("event", "replace"),
    Transitions("row"),
    Transitions("row", "replace"),
    Transitions("row", "replace-state"),
    Transitions("user", "add-remove", 5),
    Transitions("user", "replace", 5),
]


@pytest.mark.parametrize("adjacency", ALL_UNITS, ids=lambda unit: f"{unit.unit} {unit.change}")
def test_counted_transitions(adjacency: Transitions) -> None:
    def noise(cells: int) -> veil.vectors.GeometricCounts:
        return veil.vectors.GeometricCounts(2.0, cells)

    parts = [
        Part("transitions", noise(9), (3, 3)),
        Part("second", noise(36), (4, 3, 3)),
        Part("sizes", noise(3), (3,)),
        Part("starts", noise(3), (3,)),
        Part("ends", noise(3), (3,)),
        Part("lengths", noise(3), (3,), bins=(1, 2, 4)),
    ]
    mechanism = veil.chains.PrivateChain(3, parts)
    found = veil.audit_pairs(mechanism, adjacency)
    alone = [pair for pair in found if "alone" in pair.name]
    assert len(alone) == len(found) // 2
    if adjacency.unit == "user":
        gaps = [part_gap(mechanism.parts[0], pair) for pair in alone]
        # One person's transitions may all fall into one cell.
        assert max(abs(gap).max() for gap in gaps) == 5
    strata = veil.chains.PrivateChain(
        3,
        [
            Part("transitions", noise(9), (3, 3), least=2, cap=2),
            Part("transitions", noise(9), (3, 3), least=5, cap=5),
            parts[-1],
        ],
    )
    if adjacency.unit == "user":
        found = veil.audit_pairs(strata, adjacency)
        touched = {part.least for part in strata.strata for pair in found if part_gap(part, pair).any()}
        assert touched == {2, 5}
    groups = veil.chains.PrivateChain(3, [Part("transitions", noise(18), (2, 3, 3))], groups=["a", "b"])
    assert veil.audit_pairs(groups, adjacency)


def part_gap(part: Part, pair: veil.AuditPair) -> Any:
    return part.counted(pair.value) - part.counted(pair.neighbour)


def test_an_adjacency_is_needed_and_must_fit() -> None:
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.audit_pairs(veil.vectors.GeometricCounts(1.0, 3))
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.audit_pairs(veil.bits.RandomizedResponse(1.0), veil.vectors.Records())
