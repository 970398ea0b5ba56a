"""Stochastic matrices, policies and stacks: what belongs to a domain, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import veil
from veil.core.kind import kind_named
from veil.core.registry import domain_from
from veil.errors import InvalidArgument, InvalidData
from veil.matrices.stochastic import CHOSEN_FROM_DATA, ZEROS_ARE_PUBLIC, StochasticMatrix
from veil.vectors.simplex import Simplex

PLAIN = StochasticMatrix(Simplex(3))
SUPPORT = ((0, 1), (0, 1, 2), (2,))
MATRIX = [[0.25, 0.75, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]
ON_SUPPORT = StochasticMatrix(Simplex(3), support=SUPPORT)


# What belongs to it


@pytest.mark.parametrize(
    "value",
    [MATRIX, np.array(MATRIX), sparse.csr_array(MATRIX),
     pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc")), veil.Chain(MATRIX),
     veil.Chain(sparse.csr_array(MATRIX)), veil.Chain(MATRIX).to_networkx(),
     {"a": {"a": 0.25, "b": 0.75}, "b": {"a": 0.5, "b": 0.25, "c": 0.25}, "c": {"c": 1.0}}],
    ids=["lists", "array", "sparse", "frame", "chain", "sparse chain", "graph", "mapping"],
)  # fmt: skip
def test_every_form_of_a_matrix(value: Any) -> None:
    for domain in (PLAIN, ON_SUPPORT, StochasticMatrix([Simplex(3)] * 3)):
        found = domain.validate(value)
        assert found.dtype == np.float64
        assert found.tolist() == MATRIX
        assert value in domain


def test_policies_and_stacks() -> None:
    policy = [[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]]
    assert StochasticMatrix(Simplex(2)).validate(policy).shape == (3, 2)
    stack = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 4))
    assert PLAIN.validate(stack).shape == (2, 4, 3)
    assert np.allclose(PLAIN.validate(stack), stack, rtol=1e-15)
    eight = StochasticMatrix([Simplex(3)] * 8)
    assert stack in eight
    assert stack[:, :2] not in eight
    assert np.concatenate([stack, stack]).reshape(2, 8, 3) in eight


def test_axes_of_one_item() -> None:
    """What stands before the axes of an item is a batch: several people's matrices."""
    four = StochasticMatrix([Simplex(3)] * 4)
    assert four.axes(np.zeros((4, 3))) == 2
    assert four.axes(np.zeros((2, 2, 3))) == 3
    assert four.axes(np.zeros((5, 4, 3))) == 2
    assert PLAIN.axes(np.zeros((5, 4, 3))) == 3


def test_rows_and_the_input_are_left_as_they_are() -> None:
    given = np.array([[0.3, 0.7 + 5e-10], [0.5, 0.5]])
    before = given.copy()
    found = StochasticMatrix(Simplex(2)).validate(given)
    assert np.array_equal(found, before)
    found[...] = 0.0
    assert np.array_equal(given, before)


def test_floors_hold_row_by_row() -> None:
    domain = StochasticMatrix([Simplex(2, floor=0.1), Simplex(2, floor=0.3)])
    assert [[0.1, 0.9], [0.3, 0.7]] in domain
    with pytest.raises(
        InvalidData, match=r"^value, row 1: expected protected entries of at least the floor 0\.3"
    ):
        domain.validate([[0.5, 0.5], [0.2, 0.8]])
    with pytest.raises(InvalidData, match=r"^value, row 0: .*0\.1"):
        domain.validate([[0.05, 0.95], [0.5, 0.5]])


# Supports


@pytest.mark.parametrize(
    "support",
    [
        SUPPORT,
        [[1, 0], [2, 0, 1], [2]],
        [np.array([0, 1]), np.array([0, 1, 2]), np.array([2])],
        np.array([[True, True, False], [True, True, True], [False, False, True]]),
        [[True, True, False], [True, True, True], [False, False, True]],
        sparse.csr_array(MATRIX),
    ],
    ids=["tuples", "unsorted", "arrays", "table", "lists of bools", "sparse"],
)
def test_every_form_of_a_support(support: Any) -> None:
    domain = StochasticMatrix(Simplex(3), support=support)
    assert domain.support == SUPPORT
    assert domain == ON_SUPPORT
    assert hash(domain) == hash(ON_SUPPORT)
    assert domain.domains == (Simplex(2), Simplex(3), None)
    assert domain.rows == 3
    assert domain.columns == 3


def test_a_shared_floor_goes_to_every_row_of_the_support() -> None:
    domain = StochasticMatrix(Simplex(3, floor=0.2), support=SUPPORT)
    assert domain.domains == (Simplex(2, floor=0.2), Simplex(3, floor=0.2), None)
    own = StochasticMatrix([Simplex(2, floor=0.1), Simplex(3), None], support=SUPPORT)
    assert own.domains == (Simplex(2, floor=0.1), Simplex(3), None)


def test_entries_off_the_support_are_placed() -> None:
    with pytest.raises(InvalidData) as caught:
        ON_SUPPORT.validate([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    assert (caught.value.field, caught.value.expected) == ("value", "zeros outside the support")
    assert caught.value.found == "1 entry above it, the first at position (2, 1)"


def test_zeros_of_the_matrix_as_its_support() -> None:
    domain = StochasticMatrix([Simplex(2), Simplex(3), None])
    assert domain.reads_support
    assert domain.columns is None
    assert MATRIX in domain
    assert [[0.0, 0.25, 0.75, 0.0], [0.5, 0.25, 0.0, 0.25], [0.0, 0.0, 1.0, 0.0]] in domain
    with pytest.raises(InvalidData, match=r"^value, row 0: expected 2 entries above zero.*, found 3"):
        domain.validate([[0.25, 0.5, 0.25], *MATRIX[1:]])
    assert domain.assumptions == (ZEROS_ARE_PUBLIC,)


def test_groups_of_rows() -> None:
    flat = np.array(MATRIX)
    groups = {group.domain.size: group for group in ON_SUPPORT.alike(flat)}
    assert set(groups) == {2, 3}
    assert groups[2].rows.tolist() == [0]
    assert groups[2].columns.tolist() == [[0, 1]]
    assert groups[3].rows.tolist() == [1]
    twice = ON_SUPPORT.alike(np.concatenate([flat, flat]))
    assert {group.domain.size: group.rows.tolist() for group in twice} == {2: [0, 3], 3: [1, 4]}


# What is assumed, and words


def test_assumptions() -> None:
    assert PLAIN.assumptions == ()
    assert ON_SUPPORT.assumptions == (ZEROS_ARE_PUBLIC,)
    assert StochasticMatrix(Simplex(3), chosen_from_data=True).assumptions == (CHOSEN_FROM_DATA,)


def test_words() -> None:
    assert PLAIN.words == "matrices whose rows are probability vectors with 3 entries"
    assert (
        StochasticMatrix([Simplex(3)] * 2).words
        == "matrices of 2 rows that are probability vectors with 3 entries"
    )
    assert ON_SUPPORT.words == "matrices of 3 rows that are probability vectors of different kinds"


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.data())
def test_a_description_gives_the_domain_back(data: st.DataObject) -> None:
    columns = data.draw(st.integers(2, 5))
    floor = data.draw(st.sampled_from([0.0, 0.01, 0.19]))
    rows = data.draw(
        st.lists(st.sets(st.integers(0, columns - 1), min_size=1), min_size=1, max_size=4).filter(
            lambda rows: any(len(row) > 1 for row in rows)
        )
    )
    chosen = data.draw(st.booleans())
    domains = [
        StochasticMatrix(Simplex(columns, floor=floor), chosen_from_data=chosen),
        StochasticMatrix([Simplex(columns, floor=floor)] * len(rows)),
        StochasticMatrix(Simplex(columns, floor=floor), support=[sorted(row) for row in rows]),
        StochasticMatrix([Simplex(len(row), floor=floor) if len(row) > 1 else None for row in rows]),
    ]
    for domain in domains:
        again = domain_from(json.loads(json.dumps(domain.describe())), kind_named("matrix"))
        assert again == domain
        assert again.words == domain.words


# What does not


@pytest.mark.parametrize(
    ("value", "expected", "found"),
    [
        ([0.5, 0.25, 0.25], "any number of rows of 3 entries", "an array of shape (3,)"),
        ([[0.5, 0.5]], "rows of 3 entries", "an array of shape (1, 2)"),
        ([[0.25] * 4], "rows of 3 entries", "an array of shape (1, 4)"),
        (np.zeros((0, 3)), "any number of rows of 3 entries", "an array of shape (0, 3)"),
        ([[0.5, 0.5, np.nan]], "finite numbers", "1 entry not finite, the first at position (0, 2)"),
        ([[1, 0, 0], [1.5, -0.5, 0]], "no negative entry", "1 entry negative, the first at position (1, 1)"),
        ("text", "an array of numbers", "text"),
    ],
)
def test_what_is_refused(value: Any, expected: str, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        PLAIN.validate(value)
    assert caught.value.field == "value"
    assert expected in caught.value.expected
    assert caught.value.found == found
    assert value not in PLAIN


def test_a_wrong_sum_is_placed_but_not_quoted() -> None:
    with pytest.raises(InvalidData, match="sum to 1") as caught:
        PLAIN.validate([[0.5, 0.25, 0.25], [0.1234567, 0.5, 0.25], [1, 0, 0]])
    assert "0.87" not in str(caught.value)
    assert "row 1" in str(caught.value), "which of the rows?"


def test_numbers_of_rows() -> None:
    two = StochasticMatrix([Simplex(3)] * 2)
    for rows in (1, 3, 5):
        with pytest.raises(
            InvalidData, match=rf"^value: expected 2 rows of 3 entries, found .*\({rows}, 3\)"
        ):
            two.validate(np.full((rows, 3), 1 / 3))


def test_matrices_without_end_are_refused_unread() -> None:
    vast = sparse.csr_array((2**16, 2**16))
    with pytest.raises(InvalidData, match="at most 50,000,000 entries"):
        StochasticMatrix(Simplex(2**16)).validate(vast)


@pytest.mark.parametrize(
    ("domains", "field"),
    [(3, "domains"), ("ab", "domains"), ([], "domains"), ([3], "domains[0]"),
     ([Simplex(2), "x"], "domains[1]"), ([None, None], "domains"), (None, "domains")],
)  # fmt: skip
def test_impossible_domains(domains: Any, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        StochasticMatrix(domains)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "support",
    [[], [[]], [[0, 1], []], [[0, 0]], [[-1, 0]], [[0.5, 1]], [["a", "b"]], 3, "ab", np.eye(2),
     np.eye(2, dtype=int), np.zeros((2, 2), dtype=bool), np.array([True, False]), [[True, False], [True]],
     [[True, False], [0, 1, 2]], nx.DiGraph()],
    ids=lambda support: repr(support)[:24].replace("\n", " "),
)  # fmt: skip
def test_impossible_supports(support: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^support: expected"):
        StochasticMatrix(Simplex(2), support=support)


def test_supports_and_domains_that_do_not_fit() -> None:
    with pytest.raises(InvalidArgument, match=r"^domains: expected a Simplex of the size of its support"):
        StochasticMatrix([Simplex(3), Simplex(3), None], support=SUPPORT)
    with pytest.raises(InvalidArgument, match="domains"):
        StochasticMatrix([Simplex(2), Simplex(3)], support=SUPPORT)
    with pytest.raises(InvalidArgument, match="one Simplex for each row"):
        StochasticMatrix(Simplex(3, protected=(0, 1)), support=SUPPORT)
