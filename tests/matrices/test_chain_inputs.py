"""Chains as users hold them: in, out, and what is wrong with those that are refused."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import veil
from tests.alone import imported_alone
from veil.core.intake import named_matrix
from veil.errors import InvalidArgument, InvalidData, InvalidField

MATRIX = np.array([[0.9, 0.1, 0.0], [0.0, 0.25, 0.75], [0.5, 0.0, 0.5]])
STATES = ("a", "b", "c")
NESTED = {"a": {"a": 0.9, "b": 0.1}, "b": {"b": 0.25, "c": 0.75}, "c": {"a": 0.5, "c": 0.5}}
FRAME = pd.DataFrame(MATRIX, index=list(STATES), columns=list(STATES))


def graph(name: str = "weight") -> Any:
    made = nx.DiGraph()
    made.add_nodes_from(STATES)
    made.add_edges_from((i, j, {name: p}) for i, row in NESTED.items() for j, p in row.items())
    return made


# In


@pytest.mark.parametrize(
    "given",
    [MATRIX, MATRIX.tolist(), tuple(map(tuple, MATRIX.tolist())), np.asfortranarray(MATRIX), MATRIX[:, ::1],
     MATRIX.astype(np.longdouble), sparse.csr_array(MATRIX)],
    ids=["array", "lists", "tuples", "Fortran", "view", "longdouble", "sparse"],
)  # fmt: skip
def test_plain_matrices_have_numbered_states(given: Any) -> None:
    chain = veil.Chain(given)
    assert chain.states == (0, 1, 2)
    assert np.array_equal(chain.to_numpy(), MATRIX)
    assert veil.Chain(given, states=STATES).states == STATES
    named: Any = np.array(STATES)
    assert veil.Chain(given, states=named).states == STATES
    assert len(chain) == 3


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_every_sparse_format(layout: str, kind: str) -> None:
    given = getattr(sparse, f"{layout}_{kind}")(MATRIX)
    chain = veil.Chain(given, states=STATES)
    assert chain.is_sparse
    assert np.array_equal(chain.to_numpy(), MATRIX)
    assert chain == veil.Chain(MATRIX, states=STATES)
    assert hash(chain) == hash(veil.Chain(MATRIX, states=STATES))
    np.testing.assert_allclose(chain.stationary(), veil.Chain(MATRIX).stationary(), rtol=1e-14)
    assert chain.entropy_rate() == pytest.approx(veil.Chain(MATRIX).entropy_rate(), rel=1e-14)
    assert "sparse with 6 probabilities" in repr(chain)


def test_sparse_arrays_with_repeated_and_explicit_zero_entries() -> None:
    parts = ([0.4, 0.6, 0.0, 1.0], ([0, 0, 0, 1], [1, 1, 0, 0]))
    chain = veil.Chain(sparse.coo_array(parts, shape=(2, 2)))
    assert chain.to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert chain.to_scipy().nnz == 2
    assert chain.period() == 2


def test_whole_numbers_will_do() -> None:
    for given in (
        [[0, 1], [1, 0]],
        np.array([[0, 1], [1, 0]], dtype=np.int8),
        sparse.csr_array([[0, 1], [1, 0]]),
    ):
        assert veil.Chain(given).period() == 2


def test_frames_bring_their_labels() -> None:
    chain = veil.Chain(FRAME)
    assert chain.states == STATES
    turned = veil.Chain(FRAME[["c", "a", "b"]])
    assert turned == chain
    rows_too = veil.Chain(FRAME.loc[["b", "c", "a"], ["c", "a", "b"]])
    assert rows_too.states == ("b", "c", "a")
    assert rows_too.to_pandas().loc["b", "c"] == 0.75
    only_columns = veil.Chain(pd.DataFrame(MATRIX, columns=list(STATES)))
    assert only_columns == chain
    plain = veil.Chain(pd.DataFrame(MATRIX))
    assert plain.states == (0, 1, 2)


def test_frames_with_numbered_rows_and_turned_columns() -> None:
    """Rows 0, 1, 2 are as much a name as columns 2, 0, 1 are."""
    turned = pd.DataFrame(MATRIX)[[2, 0, 1]]
    found = veil.Chain(turned).to_pandas()
    for i in range(3):
        for j in range(3):
            assert found.loc[i, j] == MATRIX[i, j]


def test_frames_of_nullable_floats() -> None:
    assert np.array_equal(veil.Chain(FRAME.convert_dtypes()).to_numpy(), MATRIX)


@pytest.mark.parametrize("name", ["weight", "probability"])
def test_graphs(name: str) -> None:
    chain = veil.Chain(graph(name))
    assert chain.states == STATES
    assert np.array_equal(chain.to_numpy(), MATRIX)
    assert chain.is_sparse


def test_a_probability_goes_before_a_weight() -> None:
    both = graph("probability")
    nx.set_edge_attributes(both, 7.0, "weight")
    assert np.array_equal(veil.Chain(both).to_numpy(), MATRIX)


def test_nested_mappings() -> None:
    chain = veil.Chain(NESTED)
    assert chain.states == STATES
    assert np.array_equal(chain.to_numpy(), MATRIX)
    # In the order of the rows, also where an end is named before its row.
    assert veil.Chain({"x": {"y": 1.0}, "y": {"x": 1.0}}).to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_chains_of_chains() -> None:
    for given in (veil.Chain(FRAME), veil.Chain(graph())):
        assert veil.Chain(given) == given
        assert veil.Chain(given, states=(1, 2, 3)).states == (1, 2, 3)


@pytest.mark.parametrize("states", [(10, 20, 30), ((0, 0), (0, 1), (1, 1)), ("x", 1, None), (False, True, 2)])
def test_labels_of_any_kind(states: tuple[Any, ...]) -> None:
    chain = veil.Chain(MATRIX, states=states)
    assert chain.states == states
    assert [chain.index(state) for state in states] == [0, 1, 2]
    walked = chain.simulate(50, start=states[1], rng=1).tolist()
    assert walked[0] == states[1]
    assert set(map(repr, walked)) == set(map(repr, states))


def test_rows_are_scaled_to_one() -> None:
    chain = veil.Chain([[0.3, 0.7 + 5e-10], [0.5, 0.5]])
    assert chain.to_numpy().sum(axis=1) == pytest.approx(1.0, abs=1e-15)


# Nobody's array is anybody else's


@pytest.mark.parametrize(
    "make",
    [np.array, sparse.csr_array, sparse.coo_array, lambda m: pd.DataFrame(m),
     lambda m: named_matrix("matrix", sparse.csr_array(m)), lambda m: named_matrix("matrix", m)],
    ids=["array", "csr", "coo", "frame", "taken sparse", "taken"],
)  # fmt: skip
def test_the_callers_matrix_is_left_alone(make: Callable[[Any], Any]) -> None:
    uneven = MATRIX * np.array([[1.0], [1.0 + 4e-10], [1.0]])
    given = make(uneven.copy())
    first = veil.Chain(given)
    second = veil.Chain(given)
    assert first == second
    held = given.entries if hasattr(given, "entries") else given
    now = held.toarray() if hasattr(held, "toarray") else np.asarray(held)
    assert np.array_equal(now, uneven)
    numbers = held.data if hasattr(held, "toarray") else held
    if isinstance(numbers, np.ndarray):
        numbers[...] = 0.0
        assert np.array_equal(first.to_numpy(), second.to_numpy())
        assert first.to_numpy()[1, 2] == 0.75


@pytest.mark.parametrize("given", [MATRIX, sparse.csr_array(MATRIX)], ids=["dense", "sparse"])
def test_results_cannot_be_written_to(given: Any) -> None:
    chain = veil.Chain(given, states=STATES)
    for result in (chain.stationary(), chain.group_inverse()):
        with pytest.raises(ValueError, match="read-only"):
            result[0] = 0.5
    fundamental = chain.fundamental()
    with contextlib.suppress(ValueError):
        fundamental[0, 0] = 7.0
    assert chain.fundamental()[0, 0] != 7.0
    for copy in (chain.to_numpy(), chain.to_scipy().data, chain.hitting_times(), chain.after(1, "a")):
        copy[...] = 0.0
    frame = chain.to_pandas()
    frame.loc["a", "a"] = 0.0
    assert np.array_equal(chain.to_numpy(), MATRIX)


def test_the_matrix_of_a_chain_cannot_be_written_to() -> None:
    chain = veil.Chain(MATRIX)
    assert isinstance(chain.matrix, np.ndarray)
    with pytest.raises(ValueError, match="read-only"):
        chain.matrix[0, 0] = 0.5
    for part in ("data", "indices", "indptr"):
        thin: Any = veil.Chain(sparse.csr_array(MATRIX))
        with contextlib.suppress(ValueError):
            getattr(thin.matrix, part)[...] = 1
        assert np.array_equal(thin.to_numpy(), MATRIX), part


def test_equality_and_pickling() -> None:
    chain = veil.Chain(MATRIX, states=STATES)
    assert chain != veil.Chain(MATRIX)
    assert chain != veil.Chain(MATRIX.T[::-1] * 0 + 1 / 3, states=STATES)
    assert chain != "a chain"
    chain.stationary()
    for given in (chain, veil.Chain(graph())):
        assert pickle.loads(pickle.dumps(given)) == given


# Out


def test_round_trips() -> None:
    for chain in (veil.Chain(MATRIX, states=STATES), veil.Chain(graph())):
        assert veil.Chain(chain.to_pandas()) == chain
        assert veil.Chain(chain.to_networkx()) == chain
        assert veil.Chain(chain.to_scipy(), states=chain.states) == chain
        assert veil.Chain(chain.to_numpy(), states=chain.states) == chain
        assert list(chain.to_pandas().columns) == list(chain.to_pandas().index) == list(STATES)
        edges = {(i, j): p for i, j, p in chain.to_networkx().edges(data="weight")}
        assert edges == {(i, j): p for i, row in NESTED.items() for j, p in row.items()}
        assert np.array_equal(np.asarray(chain), MATRIX)
        assert np.asarray(chain, dtype=np.float32).dtype == np.float32
    numbered = veil.Chain(MATRIX)
    assert veil.Chain(numbered.to_pandas()) == numbered
    assert veil.Chain(numbered.to_networkx()) == numbered


@pytest.mark.slow
def test_quantecon_in_one_line() -> None:
    for chain in (veil.Chain(MATRIX, states=STATES), veil.Chain(graph())):
        other = imported_alone("quantecon").MarkovChain(chain.to_numpy(), list(chain.states))
        np.testing.assert_allclose(other.stationary_distributions[0], chain.stationary(), rtol=1e-13)
        assert other.is_irreducible == chain.is_irreducible
        assert other.period == chain.period()
        assert list(other.state_values) == list(STATES)


# Refused

BAD = np.array([[0.5, 0.5, 0.0], [0.0, 2.0, -1.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array, pd.DataFrame], ids=["dense", "sparse", "frame"])
@pytest.mark.parametrize(
    ("entry", "expected", "found"),
    [(-1.0, "no negative entry", "1 entry negative"), (np.nan, "finite numbers", "1 entry not finite"),
     (np.inf, "finite numbers", "1 entry not finite")],
)  # fmt: skip
def test_bad_entries_are_placed(wrap: Any, entry: float, expected: str, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        veil.Chain(wrap(np.where(BAD == -1.0, entry, BAD)))
    assert (caught.value.field, caught.value.expected) == ("matrix", expected)
    assert caught.value.found == f"{found}, the first at position (1, 2)"


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame([[0.5, 0.5], [0.0, 0.0]], index=["open", "stuck"], columns=["open", "stuck"]),
        sparse.csr_array([[0.5, 0.5], [0.0, 0.0]]),
        nx.DiGraph([("open", "stuck", {"weight": 1.0})]),
        {"open": {"open": 0.5, "stuck": 0.5}, "stuck": {}},
        {"open": {"open": 0.5, "stuck": 0.5}},
    ],
    ids=["frame", "sparse", "graph", "mapping", "mapping without it"],
)
def test_a_state_without_exits_is_named(given: Any) -> None:
    states = None if not sparse.issparse(given) else ["open", "stuck"]
    with pytest.raises(InvalidData, match=r"'stuck'.*no transitions at all"):
        veil.Chain(given, states=states)


def test_sums_are_named_with_their_state() -> None:
    with pytest.raises(InvalidData, match=r"row of state 'b': .*a sum of 0\.9, as in 1 other rows?\."):
        veil.Chain([[0.5, 0.5, 0.0], [0.5, 0.4, 0.0], [0.2, 0.2, 0.2]], states=STATES)
    with pytest.raises(InvalidData, match="Divide each row by its sum"):
        veil.Chain([[3, 4], [1, 1]])
    with pytest.raises(InvalidData, match="row of state '0'") as caught:
        veil.Chain([[0.5, 0.5000005], [0.5, 0.5]])
    assert caught.value.found != "a sum of 1", "expected 1, found 1"


def test_sums_beyond_all_floats() -> None:
    with pytest.raises(InvalidData, match="row of state '1'"):
        veil.Chain([[0.5, 0.5], [1e308, 1e308]])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([[0.5, 0.5]], "(1, 2)"),
        ([0.5, 0.5], "(2,)"),
        ([], "(0,)"),
        (np.zeros((0, 0)), "(0, 0)"),
        (1.0, "()"),
        (np.full((2, 2, 2), 0.5), "(2, 2, 2)"),
        (sparse.csr_array(np.full((2, 3), 1 / 3)), "(2, 3)"),
    ],
)
def test_not_square(given: Any, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        veil.Chain(given)
    assert (caught.value.field, caught.value.expected) == ("matrix", "as many rows as columns")
    assert caught.value.found == f"an array of shape {found}"


@pytest.mark.parametrize(
    "given",
    ["text", [["0.5", "0.5"], ["0.5", "0.5"]], None, [[0.5, 0.5], [1.0]], [[1, None], [0, 1]],
     np.eye(2, dtype=bool), [[True, False], [False, True]], np.eye(2) * 1j,
     sparse.csr_array(np.eye(2, dtype=bool)), {"a": 1.0}, {}, {"a": [1.0]}, {"a": {"a": "1"}}, object(),
     nx.DiGraph(), nx.MultiDiGraph([(0, 0)]), nx.Graph([(0, 1)]),
     nx.DiGraph([(0, 1), (1, 0)]), pd.DataFrame([["x", "y"], ["y", "x"]])],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_what_is_no_matrix(given: Any) -> None:
    with pytest.raises(InvalidData) as caught:
        veil.Chain(given)
    assert caught.value.field == "matrix"
    assert caught.value.expected
    assert caught.value.found


def test_graphs_that_are_no_chains_say_why() -> None:
    with pytest.raises(InvalidData, match=r"a directed graph, found an undirected one.*to_directed"):
        veil.Chain(nx.Graph([(0, 1)]))
    with pytest.raises(InvalidData, match="multigraph"):
        veil.Chain(nx.MultiDiGraph([(0, 1)]))
    with pytest.raises(InvalidData, match="'probability' or 'weight' on every edge"):
        veil.Chain(nx.DiGraph([(0, 1), (1, 0)]))


def test_labels_that_do_not_fit() -> None:
    with pytest.raises(InvalidData, match="the same states as rows and columns"):
        veil.Chain(FRAME.rename(columns={"a": "z"}))
    cases: list[tuple[Any, str]] = [
        (["a", "b"], "2"),
        (["a", "b", "a"], "3, 2 of them different"),
        ([], "0"),
        ("abcd", "4"),
    ]
    for states, found in cases:
        with pytest.raises(InvalidArgument) as caught:
            veil.Chain(MATRIX, states=states)
        assert (caught.value.field, caught.value.expected) == ("states", "3 different labels")
        assert caught.value.found.startswith(found)
    with pytest.raises(InvalidField, match="different labels"):
        veil.Chain(pd.DataFrame(np.eye(2), index=["a", "a"], columns=["a", "a"]))


@pytest.mark.parametrize("states", [3, 0.5, [["a"], ["b"], ["c"]], [{}, {}, {}]], ids=repr)
def test_labels_that_are_none(states: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^states: expected"):
        veil.Chain(MATRIX, states=states)


def test_unknown_states() -> None:
    chain = veil.Chain(MATRIX, states=STATES)
    unknown: list[Any] = ["z", 0, None, ("a",), ["a"], {}]
    for state in unknown:
        with pytest.raises(InvalidArgument, match=r"^state: expected one of a, b, c, found"):
            chain.index(state)
    many = veil.Chain(np.eye(9)[np.roll(np.arange(9), 1)])
    with pytest.raises(InvalidArgument, match=r"one of 0, 1, 2, 3, 4, 5, \.\.\., found 'x'"):
        many.hitting_times("x")
    with pytest.raises(InvalidArgument, match="state"):
        chain.after(2, "z")
    with pytest.raises(InvalidArgument, match="state"):
        chain.simulate(2, start="z")


@pytest.mark.parametrize("name", ["states", "matrix"])
def test_a_chain_cannot_be_changed(name: str) -> None:
    chain = veil.Chain([[0.5, 0.5], [0.25, 0.75]], states=["a", "b"])
    before = getattr(chain, name)
    with pytest.raises(AttributeError, match=f"{name} of a chain cannot be changed"):
        setattr(chain, name, before)
    assert getattr(chain, name) is before
    assert not chain.matrix.flags.writeable
