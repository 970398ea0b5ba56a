"""`covers` against the relations themselves, written out on small data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import veil

Pair = tuple[Any, Any]


def _words(near: veil.words.Hamming, tables: Sequence[Any]) -> set[Pair]:
    """Tables of two words of one person."""

    def is_near(one: Any, other: Any) -> bool:
        changed = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(one, other, strict=True)]
        several = sum(count > 0 for count in changed)
        return bool(max(changed) <= near.radius and several <= near.words_each)

    return {(one, other) for one in tables for other in tables if is_near(one, other)}


def _bits(near: veil.bits.BitFlips, tables: Sequence[Any]) -> set[Pair]:
    def is_near(one: Any, other: Any) -> bool:
        flips = [sum(a != b for a, b in zip(*rows, strict=True)) for rows in zip(one, other, strict=True)]
        one_row = near.where == "anywhere" or sum(count > 0 for count in flips) <= 1
        return sum(flips) <= near.count and one_row

    return {(one, other) for one in tables for other in tables if is_near(one, other)}


def _counts(near: Any, tables: Sequence[Any]) -> set[Pair]:
    def is_near(one: Any, other: Any) -> bool:
        more = sum(max(0, b - a) for a, b in zip(one, other, strict=True))
        less = sum(max(0, a - b) for a, b in zip(one, other, strict=True))
        if isinstance(near, veil.vectors.Records):
            return bool(more == less <= 1 if near.change == "replace" else more + less <= 1)
        ways = ((near.added, near.removed), (near.removed, near.added))
        return any(more <= added and less <= removed for added, removed in ways)

    return {(one, other) for one in tables for other in tables if is_near(one, other)}


def _masses(near: Any, vectors: Sequence[Any]) -> set[Pair]:
    """Vectors in tenths."""

    def is_near(one: Any, other: Any) -> bool:
        gone = [a - b for a, b in zip(one, other, strict=True)]
        if isinstance(near, veil.vectors.L1):
            return bool(sum(map(abs, gone)) <= round(10 * near.distance))
        return sum(1 for d in gone if d) <= 2 and max(gone) <= round(10 * near.mass)

    return {(one, other) for one in vectors for other in vectors if is_near(one, other)}


def _rows(near: veil.matrices.Rows, matrices: Sequence[Any]) -> set[Pair]:
    most = near.among(2)

    def is_near(one: Any, other: Any) -> bool:
        changed = [
            max(abs(a - b) for a, b in zip(*rows, strict=True)) for rows in zip(one, other, strict=True)
        ]
        # Rows of two entries: an L1 distance is an exchange of half of it.
        return sum(1 for d in changed if d) <= most and max(changed) <= round(10 * near.each.mass)

    return {(one, other) for one in matrices for other in matrices if is_near(one, other)}


BIT_ROWS = list(itertools.product((0, 1), repeat=2))
TENTHS = [v for v in itertools.product(range(0, 11, 2), repeat=3) if sum(v) == 10]
HALVES = [(a, 10 - a) for a in range(0, 11, 2)]

Relation = tuple[Callable[[Any, Any], set[Pair]], list[Any], list[Any]]
RELATIONS: dict[str, Relation] = {
    "words": (
        _words,
        [veil.words.Hamming(r, words_each=w) for r in (1, 2, 3) for w in (1, 2)],
        list(itertools.product(itertools.product("ab", repeat=3), repeat=2)),
    ),
    "bits": (
        _bits,
        [veil.bits.BitFlips(c, where=w) for c in (1, 2, 3) for w in ("anywhere", "row")],
        list(itertools.product(BIT_ROWS, repeat=3)),
    ),
    "counts": (
        _counts,
        [
            veil.vectors.Records(),
            veil.vectors.Records("replace"),
            *(veil.vectors.Contributions(a, r) for a in (1, 2, 3) for r in (0, 1, 2)),
        ],
        list(itertools.product(range(5), repeat=2)),
    ),
    "vectors": (
        _masses,
        [
            *(veil.vectors.Transfer(m) for m in (0.2, 0.4, 1.0)),
            *(veil.vectors.L1(b) for b in (0.8, 1.2, 2.0)),
        ],
        TENTHS,
    ),
    "matrices": (
        _rows,
        [
            veil.matrices.Rows(c, each)
            for c in (1, 2, "all")
            for each in (veil.vectors.Transfer(0.2), veil.vectors.Transfer(0.6), veil.vectors.L1(0.4))
        ],
        list(itertools.product(HALVES, repeat=2)),
    ),
}
# Truly wider, though `covers` does not say so: it may, but need not.
SILENT = {"bits", "counts", "matrices"}


@pytest.mark.parametrize("name", RELATIONS)
def test_against_all_pairs(name: str) -> None:
    """What it says is covered is a superset; and where it could say so of one kind, it does."""
    neighbours, relations, inputs = RELATIONS[name]
    pairs = {near: neighbours(near, inputs) for near in relations}
    said = 0
    for wide, narrow in itertools.product(relations, repeat=2):
        truly = pairs[narrow] <= pairs[wide]
        assert truly or not wide.covers(narrow), (wide, narrow)
        if name not in SILENT:
            assert wide.covers(narrow) == truly
        said += wide.covers(narrow)
    assert said >= len(relations)


def test_every_relation_covers_itself_and_no_other_kind() -> None:
    kinds: list[Any] = [near for _, relations, _ in RELATIONS.values() for near in relations[:2]]
    kinds += [
        veil.matrices.Rectangle(0.1),
        veil.chains.Transitions("event"),
        veil.chains.Transitions("user", cap=3),
    ]
    for one, other in itertools.product(kinds, repeat=2):
        if one == other:
            assert one.covers(other)
        elif type(one) is not type(other):
            assert not one.covers(other)


def test_transitions() -> None:
    """Whole users are users, however much is counted of each; units and changes are not compared."""
    user = veil.chains.Transitions("user", cap=3)
    assert user.covers(veil.chains.Transitions("user", cap=9))
    assert veil.chains.Transitions("user", cap=9).covers(user)
    for other in (
        veil.chains.Transitions("user", "replace", 3),
        veil.chains.Transitions("event"),
        veil.chains.Transitions("row"),
    ):
        assert not user.covers(other)
        assert not other.covers(user)
    assert not veil.chains.Transitions("row").covers(veil.chains.Transitions("row", "replace-state"))
    assert veil.matrices.Rectangle(0.2).covers(veil.matrices.Rectangle(0.1))
    assert not veil.matrices.Rectangle(0.1).covers(veil.matrices.Rectangle(0.2))
