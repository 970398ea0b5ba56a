"""Released matrices: their labels, their files, and the chains and graphs they become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import veil
from veil.core.files import is_release, to_json
from veil.core.mechanism import ONE_PER_PERSON
from veil.errors import InvalidArgument, InvalidField, UnreadableFile
from veil.matrices import to_chain
from veil.matrices.reading import read_matrix

ROWS = veil.matrices.Rows(1, veil.vectors.Transfer(0.001))
MATRIX = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
STATES = ["a", "b", "ü, <x>"]
FRAME = pd.DataFrame(MATRIX, index=STATES, columns=STATES)
POLICY = pd.DataFrame([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]], index=["s", "t", "u"], columns=["left", "right"])


def noisy(value: Any, size: int = 3, scale: float = 1e-6, **options: Any) -> veil.Release[Any]:
    """Nearly the value itself, so that a test can see where each entry went."""
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(scale, veil.vectors.Simplex(size)), **options)
    return veil.release(mechanism, value, adjacency=ROWS, rng=1)


# Labels


@pytest.mark.parametrize(
    "value",
    [
        FRAME,
        veil.Chain(FRAME),
        veil.Chain(sparse.csr_array(MATRIX), states=STATES),
        veil.Chain(FRAME).to_networkx(),
        {i: {j: float(FRAME.loc[i, j]) for j in STATES} for i in STATES},
    ],
    ids=["frame", "chain", "sparse chain", "graph", "mapping"],
)
def test_values_carry_their_labels(value: Any) -> None:
    out = noisy(value)
    assert out.labels == out.row_labels == tuple(STATES)
    assert out.kind.name == "matrix"
    np.testing.assert_allclose(out.value, MATRIX, atol=1e-4)
    assert list(out.to_pandas().index) == list(out.to_pandas().columns) == STATES
    assert np.array_equal(out.to_pandas().to_numpy(), out.value)
    chain = to_chain(out)
    assert chain.states == tuple(STATES)
    np.testing.assert_allclose(chain.to_numpy(), out.value, rtol=1e-15)
    graph = chain.to_networkx()
    assert set(graph) == set(STATES)
    assert graph["a"]["b"]["weight"] == pytest.approx(0.3, abs=1e-4)
    assert np.allclose(nx.to_numpy_array(graph, nodelist=STATES), out.value)


def test_plain_matrices_have_none() -> None:
    for value in (MATRIX, MATRIX.tolist(), sparse.csr_array(MATRIX)):
        out = noisy(value)
        assert (out.labels, out.row_labels) == (None, None)
        assert to_chain(out).states == (0, 1, 2)
        assert list(out.to_pandas().columns) == [0, 1, 2]
    assert noisy(pd.DataFrame(MATRIX, columns=STATES)).row_labels is None
    assert to_chain(noisy(pd.DataFrame(MATRIX, columns=STATES))).states == tuple(STATES)


def test_turned_columns_stay_with_their_labels() -> None:
    """The columns are in another order than the rows: the chain must not mix them up."""
    turned = FRAME[["b", "ü, <x>", "a"]]
    out = noisy(turned)
    assert out.labels == ("b", "ü, <x>", "a")
    assert out.row_labels == tuple(STATES)
    np.testing.assert_allclose(out.to_pandas().loc[STATES, STATES], MATRIX, atol=1e-4)
    np.testing.assert_allclose(to_chain(out).to_pandas().loc[STATES, STATES], MATRIX, atol=1e-4)
    assert to_chain(out).to_networkx()["a"]["b"]["weight"] == pytest.approx(0.3, abs=1e-4)


def test_a_square_policy_is_no_chain() -> None:
    """Two states, two actions: square, but the columns are not the rows."""
    out = noisy(POLICY.iloc[:2], size=2)
    assert (out.row_labels, out.labels) == (("s", "t"), ("left", "right"))
    with pytest.raises(InvalidField):
        to_chain(out)


def test_policies() -> None:
    out = noisy(POLICY, size=2)
    assert out.kind.name == "matrix"
    assert (out.row_labels, out.labels) == (("s", "t", "u"), ("left", "right"))
    assert out.to_pandas().loc["t", "right"] == pytest.approx(0.9, abs=1e-4)
    with pytest.raises(
        InvalidArgument, match=r"^value: expected a square matrix of transitions, found shape \(3, 2\)"
    ):
        to_chain(out)
    nested = {"s": {"left": 0.5, "right": 0.5}, "t": {"right": 1.0}}
    assert noisy(nested, size=2).labels == ("left", "right")


def test_vectors_are_no_matrices() -> None:
    out = veil.release(
        veil.vectors.Laplace(0.01, veil.vectors.Simplex(3)),
        [0.5, 0.3, 0.2],
        adjacency=veil.vectors.Transfer(0.001),
        rng=1,
    )
    assert out.kind.name == "vector"
    with pytest.raises(InvalidArgument, match="square matrix of transitions"):
        to_chain(out)


def test_doubly_stochastic_matrices_are_chains_too() -> None:
    even = pd.DataFrame(np.full((3, 3), 1 / 3), index=STATES, columns=STATES)
    out = veil.release(
        veil.matrices.DoublyStochastic(0.04, 3), even, adjacency=veil.matrices.Rectangle(0.01), rng=1
    )
    assert out.row_labels == out.labels == tuple(STATES)
    assert out.kind.name == "matrix"
    assert to_chain(out).stationary() == pytest.approx(1 / 3, abs=1e-9)


# Stacks and batches


def test_stacks_of_transitions() -> None:
    stack = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2))
    out = noisy(stack, rows=4)
    assert out.value.shape == (2, 2, 3)
    assert out.assumptions == ()
    np.testing.assert_allclose(out.value, stack, atol=1e-4)
    assert out.to_pandas().shape == (4, 3)
    with pytest.raises(InvalidArgument):
        to_chain(out)
    # Where any number of rows will do, a stack is one item as well.
    assert noisy(stack).assumptions == ()


def test_a_batch_has_one_item_for_each_person() -> None:
    batch = np.random.default_rng(1).dirichlet(np.ones(3), size=(5, 4))
    out = noisy(batch, rows=4)
    assert out.assumptions == (ONE_PER_PERSON,)
    assert "not that somebody has one" in ONE_PER_PERSON
    assert noisy(batch[0], rows=4).assumptions == ()
    dirichlet = veil.matrices.MatrixDirichlet(50.0, [veil.vectors.Simplex(3, floor=0.01)] * 4, smooth=True)
    many = veil.release(dirichlet, batch, adjacency=ROWS, delta=0.1, rng=1)
    assert ONE_PER_PERSON in many.assumptions
    assert many.value.shape == (5, 4, 3)


# Files


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (FRAME, {}),
        (MATRIX, {"rows": 3}),
        (FRAME[["b", "ü, <x>", "a"]], {}),
        (POLICY, {"size": 2}),
        ([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], {"support": [[0, 1], [2]]}),
        (np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2)), {"rows": 4}),
        (np.random.default_rng(1).dirichlet(np.ones(3), size=(5, 4)), {"rows": 4}),
    ],
    ids=["labelled", "plain", "turned", "policy", "support", "stack", "batch"],
)
def test_json_bit_for_bit(value: Any, options: dict[str, Any], tmp_path: Path) -> None:
    out = noisy(value, scale=0.01, **options)
    out.save(tmp_path / "r.json")
    back = veil.load(tmp_path / "r.json")
    assert back.value.tobytes() == out.value.tobytes()
    assert back.value.shape == out.value.shape
    assert to_json(back) == to_json(out)
    assert back == out
    assert (back.labels, back.row_labels) == (out.labels, out.row_labels)
    assert back.mechanism == out.mechanism
    assert back.adjacency == ROWS
    assert back.assumptions == out.assumptions
    assert is_release(tmp_path / "r.json")


def test_the_record_says_what_it_holds() -> None:
    content = json.loads(to_json(noisy(FRAME)))
    assert content["value"]["type"] == "matrix"
    assert content["value"]["row_labels"] == STATES
    assert content["adjacency"]["changed"] == 1
    assert content["adjacency"]["words"] == ROWS.words
    vector = veil.release(
        veil.vectors.Laplace(0.01, veil.vectors.Simplex(3)),
        [0.5, 0.3, 0.2],
        adjacency=veil.vectors.Transfer(0.001),
        rng=1,
    )
    assert json.loads(to_json(vector))["value"]["type"] == "vector"
    assert "row_labels" not in json.loads(to_json(vector))["value"]


@pytest.mark.parametrize(
    "value", [FRAME, POLICY, MATRIX, POLICY.to_numpy()], ids=["chain", "policy", "plain", "3 x 2"]
)
def test_csv_bit_for_bit(value: Any, tmp_path: Path) -> None:
    """What Veil writes, Veil reads: every bit, and the labels."""
    out = noisy(value, size=np.shape(value)[1], scale=0.01)
    out.save(tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_text(encoding="utf-8")
    assert text.startswith("from,")
    back = read_matrix(str(tmp_path / "r.csv"))
    assert isinstance(back.entries, np.ndarray)
    assert back.entries.tobytes() == out.value.tobytes()
    rows, columns = out.value.shape
    assert back.rows == (out.row_labels or tuple(map(str, range(rows))))
    assert back.columns == (out.labels or tuple(map(str, range(columns))))


def test_csv_of_stacks(tmp_path: Path) -> None:
    out = noisy(np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2)), rows=4)
    out.save(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0] == "0,1,2"
    assert [list(map(float, line.split(","))) for line in lines[1:]] == out.value.reshape(4, 3).tolist()


def test_a_release_is_known_by_its_content(tmp_path: Path) -> None:
    """However other programs lay out the same JSON."""
    content = json.loads(to_json(noisy(FRAME)))
    forms = [
        json.dumps(content),
        json.dumps(content, indent=1),
        "\n " + json.dumps(content),
        json.dumps(content, sort_keys=True),
    ]
    for form in forms:
        (tmp_path / "r.json").write_text(form, encoding="utf-8")
        assert veil.load(tmp_path / "r.json").kind.name == "matrix"
        assert is_release(tmp_path / "r.json"), form[:40]
    (tmp_path / "r.json").write_text('{"a": {"a": 1.0}}')
    assert not is_release(tmp_path / "r.json")
    assert not is_release(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("value", "row_labels"), ["a", "b"]),
        (("value", "row_labels"), 3),
        (("value", "row_labels"), "abc"),
        (("value", "labels"), "abc"),
        (("value", "labels"), ["a", "b"]),
        (("value", "data"), [[0.5, 0.3, 0.2]] * 2),
        (("value", "data"), [[0.25] * 4] * 3),
        (("value", "data"), [0.5, 0.3, 0.2]),
        (("value", "data"), [[0.5, 0.3, 0.1]] * 3),
        (("value", "data"), [[0.5, 0.6, -0.1]] * 3),
        (("value", "data"), [[0.5, 0.3, None]] * 3),
        (("adjacency", "changed"), 0),
        (("adjacency", "changed"), "some"),
        (("adjacency", "each"), 0.001),
        (("adjacency", "each"), {"name": "Records"}),
        (("mechanism", "parameters", "mechanism"), None),
        (("mechanism", "parameters", "mechanism", "parameters", "scale"), -1),
        (("mechanism", "parameters", "rows"), "three"),
        (("mechanism", "parameters", "support"), [[0, 0]]),
        (("mechanism", "parameters", "support"), [[0, 1], [1, 2], [0, 2]]),
    ],
)
def test_malformed_files_are_refused(path: tuple[str, ...], value: Any, tmp_path: Path) -> None:
    """Among them values that the mechanism of the record cannot have drawn."""
    content = json.loads(to_json(noisy(MATRIX, rows=3)))
    if path[-1] == "support":
        content["mechanism"]["parameters"]["rows"] = None
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile) as caught:
        veil.load(tmp_path / "bad.json")
    assert "bad.json" in str(caught.value)
    assert caught.value.exit_code == 4
