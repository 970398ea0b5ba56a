"""Counted transitions: taken in whole and checked, or refused in words that tell nothing."""

from __future__ import annotations

import contextlib
import math
import pickle
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import coo_array, csc_matrix, csr_array, random_array

import veil
from veil.chains.transition_counts import MOST_FULL, TransitionCounts, TransitionTable
from veil.core.kind import kind_named
from veil.core.registry import domain_from
from veil.errors import InvalidArgument, InvalidData, InvalidField
from veil.vectors.counts import LARGEST_COUNT

MATRIX = np.array([[8, 2], [1, 4]])


def square(values: st.SearchStrategy[Any], dtype: Any) -> st.SearchStrategy[Any]:
    return st.integers(2, 5).flatmap(lambda size: arrays.arrays(dtype, (size, size), elements=values))


@settings(max_examples=80, deadline=None)
@given(square(st.integers(0, 2**40), np.int64))
def test_whole_numbers_are_kept(matrix: Any) -> None:
    counts = TransitionCounts(matrix)
    assert np.array_equal(np.asarray(counts.matrix), matrix)
    assert counts.total == int(matrix.sum())
    assert counts.states == tuple(range(len(matrix)))
    assert counts == TransitionCounts(coo_array(matrix)) == TransitionCounts(matrix.astype(float).tolist())
    assert hash(counts) == hash(TransitionCounts(matrix))
    assert counts in TransitionTable(len(matrix))
    assert counts not in TransitionTable(len(matrix) + 1)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.complex_numbers(max_magnitude=9.0)
    | st.fractions()
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(anything)
def test_anything_else_is_refused_in_our_words(value: Any) -> None:
    with contextlib.suppress(InvalidField):
        counts = TransitionCounts(value)
        matrix = np.asarray(counts.matrix)
        assert matrix.dtype == np.int64
        assert matrix.shape == (len(counts),) * 2
        assert (matrix >= 0).all()


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    square(
        st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-3, 9).map(float)), np.float64
    )
)
def test_floats_are_whole_or_refused(matrix: Any) -> None:
    good = bool(np.isfinite(matrix).all() and (matrix >= 0).all() and (matrix == np.floor(matrix)).all())
    good = good and sum(map(Fraction, matrix.ravel().tolist())) < LARGEST_COUNT
    try:
        counts = TransitionCounts(matrix)
    except InvalidData:
        assert not good or matrix.sum() >= 0.9 * LARGEST_COUNT
    else:
        assert good
        assert np.array_equal(np.asarray(counts.matrix), matrix)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.one_of(st.integers(), st.text(max_size=2), st.none(), st.floats(), st.booleans()), max_size=4)
)
def test_labels(labels: list[Any]) -> None:
    good = len(labels) == 2 and len({str(label) for label in labels}) == 2
    try:
        counts = TransitionCounts(MATRIX, labels)
    except InvalidArgument:
        assert not good
    else:
        assert good
        assert counts.states == tuple(labels) or any(label != label for label in labels)


@pytest.mark.parametrize("labels", ["ab", ("a", "b"), range(2), iter(["x", "y"]), np.array([4, 5])])
def test_labels_of_many_kinds(labels: Any) -> None:
    assert len(TransitionCounts(MATRIX, labels).states) == 2


@pytest.mark.parametrize("labels", [["a", "a"], ["1", 1], ["a"], [], ["a", "b", "c"]])
def test_bad_labels(labels: Any) -> None:
    with pytest.raises(InvalidArgument, match="states"):
        TransitionCounts(MATRIX, labels)


@pytest.mark.parametrize(
    "matrix",
    [
        None,
        5,
        "counts",
        [],
        [[]],
        [[5]],
        [1, 2, 3],
        [[1, 2, 3], [4, 5, 6]],
        [[1, 2], [3]],
        np.ones((2, 2, 2)),
        np.ones((2, 2), dtype=bool),
        np.ones((2, 2), dtype=complex),
        np.array([["1", "2"], ["3", "4"]]),
        np.array([[1, 2], [3, None]], dtype=object),
        [[10**400, 1], [1, 1]],
        [[2**62, 2**62], [2**62, 2**62]],
        [[LARGEST_COUNT, 0], [0, 0]],
        np.full((2, 2), 2**63, dtype=np.uint64),
        [[math.nan, 1], [1, 1]],
        [[math.inf, 1], [1, 1]],
        [[-1, 1], [1, 1]],
        [[0.5, 1], [1, 1]],
        coo_array(([1.5], ([0], [1])), shape=(2, 2)),
        coo_array(([-1], ([0], [1])), shape=(2, 2)),
        coo_array(([1], ([0], [1])), shape=(2, 3)),
        coo_array(([True], ([0], [1])), shape=(2, 2)),
    ],
)
def test_bad_matrices(matrix: Any) -> None:
    with pytest.raises(InvalidData, match="matrix"):
        TransitionCounts(matrix)


@pytest.mark.parametrize("cap", [0, -1, 1.5, "3", True])
def test_bad_caps(cap: Any) -> None:
    with pytest.raises(InvalidArgument, match="cap"):
        TransitionCounts(MATRIX, cap=cap)


def test_a_cap_means_users() -> None:
    assert TransitionCounts(MATRIX, cap=3).provenance.has_users
    assert not TransitionCounts(MATRIX).provenance.has_users


def test_the_callers_array_stays_theirs() -> None:
    matrix = MATRIX.copy()
    counts = TransitionCounts(matrix)
    matrix[0, 0] = 99
    assert np.asarray(counts.matrix)[0, 0] == 8
    with pytest.raises(ValueError, match="read-only"):
        counts.matrix[0, 0] = 1
    sparse = csr_array(MATRIX)
    counts = TransitionCounts(sparse)
    sparse.data[0] = 99
    assert np.asarray(counts.matrix)[0, 0] == 8


def test_duplicates_of_a_sparse_table_add_up() -> None:
    twice = coo_array(([2, 3, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert np.asarray(TransitionCounts(twice).matrix).tolist() == [[0, 5], [1, 0]]
    assert TransitionCounts(csc_matrix(MATRIX)) == TransitionCounts(MATRIX)
    # A half and a half are one; a number that is not whole in sum is not.
    halves = coo_array(([0.5, 0.5], ([0, 0], [1, 1])), shape=(2, 2))
    assert TransitionCounts(halves).total == 1


@pytest.mark.slow
def test_large_tables_stay_sparse() -> None:
    size = MOST_FULL + 1
    large = random_array((size, size), density=1e-6, rng=np.random.default_rng(1)).astype(np.int64)
    large = coo_array((np.arange(1, 6), (np.arange(5), np.arange(5))), shape=(size, size)) + large
    counts = TransitionCounts(large)
    assert counts.is_sparse
    assert counts.total == 15
    assert counts == TransitionCounts(large)
    assert counts != TransitionCounts(2 * large)
    assert not TransitionCounts(coo_array(([1], ([0], [1])), shape=(MOST_FULL, MOST_FULL))).is_sparse
    empty = TransitionCounts(coo_array((size, size), dtype=np.int64))
    assert empty.total == 0
    assert empty == TransitionCounts(coo_array((size, size), dtype=np.int64))
    with pytest.raises(InvalidData, match="at least one"):
        veil.chains.release(TransitionCounts(np.zeros((2, 2), dtype=int)), epsilon=1.0)


def test_equality() -> None:
    counts = TransitionCounts(MATRIX, ["a", "b"])
    assert counts == TransitionCounts(MATRIX, ["a", "b"])
    assert counts != TransitionCounts(MATRIX, ["b", "a"])
    assert counts != TransitionCounts(MATRIX + 1, ["a", "b"])
    assert counts != TransitionCounts(np.ones((3, 3)))
    assert counts != MATRIX.tolist()


def test_seen_and_said() -> None:
    counts = TransitionCounts(1000 + MATRIX, ["a", "b"])
    assert repr(counts) == "<chains.TransitionCounts of 2 states>"
    assert "10" not in str(counts)
    again = pickle.loads(pickle.dumps(counts))
    assert again == counts
    domain = TransitionTable(2)
    assert domain_from(domain.describe(), kind_named("chain")) == domain
    assert domain.words == "counts of transitions between 2 states"
    for states in (1, 0, 2.5, "2"):
        with pytest.raises(InvalidArgument):
            TransitionTable(cast("int", states))
