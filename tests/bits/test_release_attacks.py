"""Attacks on releases of bits and graphs: forged files, what leaks beside the value, what is charged when."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest

import veil
from veil.core.files import parse_release, to_json
from veil.errors import InvalidArgument, InvalidData, NoGuarantee, ResultLost, UnreadableFile

networkx = pytest.importorskip("networkx")
sparse = pytest.importorskip("scipy.sparse")


class Book:
    """A ledger that only remembers."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> int:
        self.seen.append(f"reserve {epsilon:g}")
        return len(self.seen)

    def confirm(self, entry: Any) -> None:
        self.seen.append("confirm")


# When what is charged


def _strong() -> veil.bits.MatrixBernoulli:
    """Noise for which no exact sampler is known to end."""
    rng = np.random.default_rng(0)
    theta = 6.0 * rng.normal(size=(20, 20))
    return veil.bits.MatrixBernoulli(theta + theta.T, None, 1)


def test_nothing_is_charged_for_what_is_refused() -> None:
    book = Book()
    graph = networkx.path_graph(4)
    near = veil.bits.BitFlips(1)
    refused: list[tuple[Any, Any, dict[str, Any]]] = [
        (veil.bits.StaircaseXor(4, 1.0), networkx.to_scipy_sparse_array(graph), {}),
        (veil.bits.StaircaseXor(4, 1.0), veil.graphs.Graph.of(graph), {}),
        (veil.bits.StaircaseXor(4, 1.0), [[0, 1, 1, 2]], {}),
        (veil.graphs.RandomizedResponse(1.0), graph, {"epsilon": 0.9999999999999999}),
        (veil.graphs.RandomizedResponse(1.0), graph, {"epsilon": float("nan")}),
        (veil.graphs.RandomizedResponse(1.0), graph, {"epsilon": 1.0, "delta": -0.1}),
        (veil.graphs.RandomizedResponse(1.0), networkx.MultiGraph(graph), {}),
        (veil.graphs.RandomizedResponse(1e-3), veil.graphs.Graph.from_edges([], 10**5), {}),
        (veil.graphs.PrivateGraph(1.0, statistics=["degrees"]), networkx.DiGraph(graph), {}),
        (veil.graphs.XorGraph(veil.bits.xor_parameters(1.0, 1.0, 5, 5, 2)), graph, {}),
        (veil.bits.Xor(_strong()), np.zeros((1, 20), dtype=bool), {"adjacency": near}),
        (
            veil.bits.XorBlocks([[veil.bits.Xor(_strong())]]),
            np.zeros((1, 20), dtype=bool),
            {"adjacency": near},
        ),
    ]
    for mechanism, value, more in refused:
        with pytest.raises((InvalidArgument, InvalidData, NoGuarantee)):
            veil.release(mechanism, value, ledger=book, **more)
    assert not book.seen


def test_the_charge_comes_before_the_draw_and_stands_if_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book()
    veil.release(veil.graphs.RandomizedResponse(1.0), networkx.path_graph(4), ledger=book, rng=1)
    assert book.seen == ["reserve 1", "confirm"]

    def failing(*args: Any, **options: Any) -> Any:
        assert book.seen[-1] == "reserve 2"
        raise MemoryError

    monkeypatch.setattr("veil.graphs.mechanisms.randomized_response.sample_flips", failing)
    with pytest.raises(ResultLost, match="MemoryError"):
        veil.release(veil.graphs.RandomizedResponse(2.0), networkx.path_graph(4), ledger=book, rng=1)
    assert book.seen == ["reserve 1", "confirm", "reserve 2"]


def test_noise_by_a_chain_is_taken_by_name_only_and_said() -> None:
    made = veil.bits.Xor(_strong(), accept="unquantified delta")
    out = veil.release(made, np.zeros((1, 20), dtype=bool), adjacency=veil.bits.BitFlips(1), rng=1)
    assert any("Monte Carlo" in text for text in out.assumptions)


# What leaks beside the value


def test_a_sparse_matrix_comes_out_the_same_in_whatever_guise_it_came_in() -> None:
    cells = ([0, 1, 1, 2, 0, 3], [1, 0, 2, 1, 3, 0])
    plain = sparse.coo_array(([1, 1, 1, 1, 0, 0], cells), shape=(4, 4))
    twice = sparse.coo_array(([1] * 5, ([0, 0, 1, 1, 2], [1, 1, 0, 2, 1])), shape=(4, 4))
    guises = [plain, plain.tocsr(), plain.astype(float).tocsc(), plain.astype(bool).tolil(), twice]
    found = [veil.release(veil.graphs.RandomizedResponse(1.0), guise, rng=3).value for guise in guises]
    for one in found:
        assert one == found[0]
        matrix, first = one.matrix(), found[0].matrix()
        assert matrix.dtype == np.bool_
        for part in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(matrix, part), getattr(first, part))


def test_the_order_in_which_nodes_and_edges_were_added_does_not_come_out() -> None:
    edges = [("b", "a"), (3, "b"), (10, 3), (2.5, 10), (("x", 1), 2.5)]
    found = []
    for turn in (edges, edges[::-1], [(b, a) for a, b in edges]):
        graph = networkx.Graph()
        graph.add_edges_from(turn, weight=7)
        out = veil.release(veil.graphs.RandomizedResponse(1.0), graph, rng=5).value.to_networkx()
        found.append((list(out.nodes(data=True)), list(out.edges(data=True))))
    assert found[0] == found[1] == found[2]


def test_neither_texts_nor_errors_of_a_graph_show_edges() -> None:
    graph = veil.graphs.Graph.from_edges([("secret1", "secret2")], ["secret1", "secret2", "other"])
    assert "secret" not in repr(graph) + str(graph)
    with pytest.raises(InvalidData) as caught:
        veil.graphs.Graph.from_edges([("secret1", "stranger")], ["secret1", "other"])
    assert "secret" not in str(caught.value)
    assert "stranger" not in str(caught.value)


class Person:
    """A node without a name."""

    def __str__(self) -> str:
        return "person"


def test_labels_without_an_order_of_their_own_are_refused() -> None:
    people = [Person() for _ in range(4)]
    orders = []
    for edges in ([(0, 1), (2, 3)], [(3, 0), (2, 1)]):
        graph = networkx.Graph([(people[a], people[b]) for a, b in edges])
        try:
            out = veil.release(veil.graphs.RandomizedResponse(20.0), graph, rng=1).value
        except InvalidData:
            return
        orders.append([people.index(person) for person in out.labels])
    assert orders[0] == orders[1]


def test_the_names_and_the_order_of_records_stay_at_home() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]}, index=["ann", "bob", "cy"]).sort_values("a")
    out = veil.release(veil.bits.StaircaseXor(2, 1.0), frame, rng=1)
    assert out.labels == ("a", "b")
    assert out.row_labels is None


# Forged files


def _content() -> dict[str, Any]:
    out = veil.release(veil.graphs.RandomizedResponse(2.0), networkx.path_graph(5), rng=1)
    content: dict[str, Any] = json.loads(to_json(out))
    return content


def _refused(content: dict[str, Any]) -> None:
    with pytest.raises(UnreadableFile):
        parse_release(json.dumps(content), "forged.json")


def _block() -> veil.bits.Xor:
    return veil.bits.Xor(veil.bits.xor_parameters(1.0, 1.0, 4, 3, 3))


FOR_TABLES = [veil.bits.StaircaseXor(3, 1.0), _block(), veil.bits.XorBlocks([[_block()]])]
FOR_GRAPHS = [
    veil.graphs.XorGraph(veil.bits.xor_parameters(1.0, 1.0, 5, 5, 2)),
    veil.graphs.PrivateGraph(1.0),
]


@pytest.mark.parametrize("mechanism", FOR_TABLES, ids=lambda made: made.name)
def test_no_graph_under_a_mechanism_for_tables(mechanism: Any) -> None:
    _refused(_content() | {"mechanism": mechanism.describe()})


@pytest.mark.parametrize("mechanism", FOR_GRAPHS, ids=lambda made: made.name)
def test_no_table_under_a_mechanism_for_graphs(mechanism: Any) -> None:
    table = {"type": "bits", "axes": 2, "data": ["010", "111"], "labels": None}
    _refused(_content() | {"mechanism": mechanism.describe(), "value": table})


def test_no_graph_of_other_nodes_than_the_noise_has() -> None:
    made = veil.graphs.XorGraph(veil.bits.xor_parameters(1.0, 1.0, 50, 50, 2))
    _refused(_content() | {"mechanism": made.describe()})


def _with_value(**changes: Any) -> dict[str, Any]:
    content = _content()
    content["value"] |= changes
    return content


FORGED: dict[str, dict[str, Any]] = {
    "an end outside": {"data": [[0, 5]], "edges": 1},
    "a loop": {"data": [[2, 2]], "edges": 1},
    "an edge twice": {"data": [[0, 1], [1, 0]], "edges": 2},
    "another number": {"data": [[0, 1]], "edges": 2},
    "another kind": {"kind": "weighted"},
    "no nodes": {"nodes": 0},
    "nodes twice": {"nodes": ["a", "b", "c", "d", "a"]},
    "a label of two lines": {"nodes": ["a", "b", "c", "d", "e\nverified"]},
    "a label that turns the text round": {"nodes": ["a", "b", "c", "d", "\u202ee"]},
    "too many digits": {"nodes": 10**40},
}
LENIENT: dict[str, dict[str, Any]] = {
    "ends with decimals": {"data": [[0.9, 1.7]], "edges": 1},
    "ends as text": {"data": [["0", "1"]], "edges": 1},
    "ends without pairs": {"data": [0, 1], "edges": 1},
    "more nodes than there can be": {"nodes": 10**15},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_graphs_are_refused(name: str) -> None:
    _refused(_with_value(**FORGED[name]))


@pytest.mark.parametrize("name", LENIENT)
def test_sloppy_graphs_are_refused(name: str) -> None:
    _refused(_with_value(**LENIENT[name]))


@pytest.mark.parametrize(("told", "held"), [(10, 10**6), (10**6, 10), (10**12, 10)])
def test_gaps_that_are_more_or_fewer_than_told_are_refused(told: int, held: int) -> None:
    data = base64.b64encode(zlib.compress(bytes(held))).decode("ascii")
    content = _with_value(edges=told, nodes=10**4, gaps={"number": "u1", "data": data})
    del content["value"]["data"]
    _refused(content)


@pytest.mark.parametrize("label", ["Tokyo", "山田\u3000太郎", "a\u00a0b"])
def test_what_is_written_can_be_read(label: str) -> None:
    out = veil.release(veil.graphs.RandomizedResponse(5.0), networkx.Graph([(label, "z"), ("z", "y")]), rng=1)
    assert parse_release(to_json(out), "out.json") == out


# Learning


def test_the_coding_of_records_hides_a_whole_record_with_its_label() -> None:
    """All records of 2 columns and a label, their codes as `PrivateBits` makes them, and the exact law."""
    mechanism = veil.bits.StaircaseXor(3, 1.0)
    weights = [mechanism.steps.weights()[b.bit_count()] for b in range(8)]
    records = [(x, y) for x in range(4) for y in range(2)]
    codes = {(x, y): (x ^ (3 * y)) | y << 2 for x, y in records}
    assert len(set(codes.values())) == 8
    worst = max(
        weights[seen ^ codes[one]] / weights[seen ^ codes[other]]
        for one in records
        for other in records
        for seen in range(8)
    )
    assert float(worst) <= np.exp(1.0) * (1 + 1e-15)


def test_cross_validation_charges_the_ledger_that_was_given() -> None:
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    from veil.bits.learn import DebiasedClassifier, PrivateBits

    book = Book()
    bits = np.random.default_rng(0).integers(0, 2, size=(60, 3))
    model = make_pipeline(PrivateBits(2.0, ledger=book), DebiasedClassifier())
    cross_val_score(model, bits, bits[:, 0], cv=3)
    assert book.seen == ["reserve 2", "confirm"] * 3


@pytest.mark.parametrize("labels", [("a\nb", "c"), ("1.5", 1.5), ("x\u202ey", "z")])
def test_labels_that_could_not_be_read_again_are_refused_before_the_charge(labels: Any) -> None:
    with pytest.raises(veil.errors.InvalidData, match="nodes"):
        veil.release(veil.graphs.RandomizedResponse(1.0), veil.graphs.Graph.from_edges([], labels))
