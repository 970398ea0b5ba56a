"""Released bits and graphs: the record, the charge, files that are read back, files that lie."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import veil
from tests.cli.conftest import Run, folder, no_pictures, run, some_pictures  # noqa: F401
from veil.errors import BudgetExceeded, InvalidArgument, UnreadableFile

CLUB = nx.karate_club_graph()
TABLE = np.random.default_rng(2).random((40, 3)) < 0.4
WIDE = veil.graphs.Graph.of(sp.csr_array(np.eye(4, 6)), bipartite=True)
NAMED = veil.graphs.Graph.from_edges([("Ann Lee", "b,c"), ("b,c", "é")], ["Ann Lee", "b,c", "é", "alone"])
MAKERS: dict[str, Callable[[], veil.Release[Any]]] = {
    "table": lambda: veil.bits.release(TABLE, epsilon=2.0, rng=1),
    "frame": lambda: veil.bits.release(pd.DataFrame(TABLE, columns=list("abc")), epsilon=2.0, rng=1),
    "single bits": lambda: veil.bits.release(TABLE, epsilon=2.0, unit="bit", rng=1),
    "some bits": lambda: veil.bits.release(TABLE, epsilon=2.0, flips=2, rng=1),
    "networkx": lambda: veil.graphs.release(CLUB, epsilon=2.0, rng=1),
    "directed": lambda: veil.graphs.release(CLUB.to_directed(), epsilon=2.0, rng=1),
    "sparse": lambda: veil.graphs.release(nx.to_scipy_sparse_array(CLUB, weight=None), epsilon=2.0, rng=1),
    "bipartite": lambda: veil.graphs.release(WIDE, epsilon=2.0, rng=1),
    "labels": lambda: veil.graphs.release(NAMED, epsilon=2.0, rng=1),
    "large": lambda: veil.graphs.release(veil.graphs.Graph.from_edges([(0, 1)], 200), epsilon=0.5, rng=1),
    "facts besides": lambda: veil.graphs.release(
        CLUB, epsilon=2.0, statistics=["degrees", "edges", "triangles"], rng=1
    ),
    "facts": lambda: veil.graphs.release(CLUB, epsilon=2.0, statistics=["edges"], share=1, rng=1),
}
EACH = pytest.mark.parametrize("name", list(MAKERS))
GRAPHS = ["networkx", "directed", "sparse", "bipartite", "labels", "facts besides"]


class Book:
    """A ledger that writes down what is asked of it."""

    def __init__(self, *, limit: float = 1e9) -> None:
        self.log: list[Any] = []
        self.limit = limit

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        self.log.append(("reserve", epsilon, delta))
        # A ledger keeps it: it must be plain, and never hold an edge.
        assert "SECRET" not in json.dumps(description)
        if epsilon > self.limit:
            raise BudgetExceeded(spent="0", asked=f"{epsilon:g}", remaining=f"{self.limit:g}")
        return "entry-1"

    def confirm(self, entry: str) -> None:
        self.log.append(("confirm", entry))


# Charged


@pytest.mark.parametrize("statistics", [(), ("degrees", "edges", "triangles")])
def test_graphs_are_charged_once(statistics: tuple[str, ...]) -> None:
    book = Book()
    graph = nx.Graph([("SECRET", "b"), ("b", "c")])
    out = veil.graphs.release(graph, epsilon=2.0, statistics=statistics, ledger=book, rng=1)
    assert book.log == [("reserve", 2.0, 0.0), ("confirm", "entry-1")]
    assert out.entry == "entry-1"


def test_tables_are_charged_once() -> None:
    book = Book()
    veil.bits.release(TABLE, epsilon=0.3, ledger=book, rng=1)
    assert book.log == [("reserve", 0.3, 0.0), ("confirm", "entry-1")]


def test_nothing_is_drawn_over_budget() -> None:
    with pytest.raises(BudgetExceeded):
        veil.bits.release(TABLE, epsilon=2.0, ledger=Book(limit=1.0))


def test_what_is_wrong_costs_nothing() -> None:
    book = Book()
    with pytest.raises(veil.errors.VeilError):
        veil.graphs.release(nx.Graph([(1, 1)]), epsilon=2.0, ledger=book)
    with pytest.raises(veil.errors.VeilError):
        veil.graphs.release(CLUB.to_directed(), epsilon=2.0, statistics=["triangles"], ledger=book)
    with pytest.raises(veil.errors.VeilError):
        veil.bits.release([[1, 2]], epsilon=2.0, ledger=book)
    assert book.log == []


# Read back


@EACH
def test_files_are_read_back(name: str, tmp_path: Path) -> None:
    out = MAKERS[name]()
    out.save(tmp_path / "out.json")
    back = veil.load(tmp_path / "out.json")
    assert (back.epsilon, back.assumptions, back.mechanism) == (out.epsilon, out.assumptions, out.mechanism)
    assert back.adjacency == out.adjacency
    assert set(back.tables) == set(out.tables)
    assert all(np.array_equal(back.tables[key], out.tables[key]) for key in out.tables)
    assert type(back.value) is type(out.value)
    if isinstance(out.value, np.ndarray):
        assert np.array_equal(back.value, out.value)
        assert back.labels == out.labels
    elif isinstance(out.value, veil.graphs.Graph):
        assert back.value == out.value
    else:
        assert isinstance(out.value, Mapping)
        assert out.value == out.tables
    with pytest.raises(InvalidArgument, match="exists"):
        out.save(tmp_path / "out.json")


@pytest.mark.slow
@pytest.mark.usefixtures("some_pictures")
@EACH
def test_inspect_says_that_it_holds(name: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    out = MAKERS[name]()
    out.save(tmp_path / "out.json")
    done = run("inspect", "out.json", "--json")
    assert done.code == 0, done.err
    assert done.json["verified"] is True
    assert done.json["computed_epsilon"] == out.epsilon
    assert run("inspect", "out.json", "--report", "out.html").code == 0
    assert (tmp_path / "out.html").exists()


@EACH
def test_csv_and_pandas_agree(name: str, tmp_path: Path) -> None:
    out = MAKERS[name]()
    out.save(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    frame = out.to_pandas()
    assert len(rows) == len(frame)
    if isinstance(out.value, veil.graphs.Graph):
        assert header == ["origin", "destination"]
        assert [tuple(map(str, pair)) for pair in out.value.labelled_edges()] == [tuple(row) for row in rows]


def test_graphs_become_networkx() -> None:
    for name in GRAPHS:
        graph = MAKERS[name]().value
        assert isinstance(graph, veil.graphs.Graph)
        if name == "bipartite":
            continue  # its two sides share labels
        assert set(map(frozenset, graph.to_networkx().edges)) == set(map(frozenset, graph.labelled_edges()))


@EACH
def test_neither_is_a_chain(name: str) -> None:
    with pytest.raises(InvalidArgument, match="square matrix"):
        veil.matrices.to_chain(MAKERS[name]())


@EACH
def test_releases_compare_and_hash(name: str) -> None:
    out = MAKERS[name]()
    assert out == out
    assert isinstance(hash(out), int)
    assert "epsilon" in repr(out)


def test_tables_have_a_card_in_notebooks() -> None:
    assert "&epsilon; = 2" in MAKERS["frame"]()._repr_html_()


@pytest.mark.parametrize("name", [*GRAPHS, "facts"])
def test_graphs_have_a_card_in_notebooks(name: str) -> None:
    """The first thing that a newcomer sees: the last line of a cell is the release."""
    assert "&epsilon; = 2" in MAKERS[name]()._repr_html_()


def test_nothing_of_the_input_is_kept(tmp_path: Path) -> None:
    """The nodes are public, their attributes are not, and neither are the edges' ones."""
    graph = nx.path_graph(5)
    graph.nodes[0]["disease"] = "SECRET"
    graph.edges[0, 1]["since"] = "SECRET"
    graph.graph["title"] = "SECRET"
    out = veil.graphs.release(graph, epsilon=1.0, rng=1)
    out.save(tmp_path / "out.json")
    found = out.value.to_networkx()
    assert "SECRET" not in (tmp_path / "out.json").read_text() + repr(out) + str(found.graph)
    assert not any(data for _, data in found.nodes(data=True))
    assert not any(data for _, _, data in found.edges(data=True))


# Forgeries


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to

    return change


FORGED: dict[str, tuple[str, Callable[[Any], None]]] = {
    "epsilon lowered": ("table", _set("privacy", "epsilon", to=0.5)),
    "epsilon of a graph lowered": ("networkx", _set("privacy", "epsilon", to=0.5)),
    "epsilon of the mechanism raised": ("networkx", _set("mechanism", "parameters", "epsilon", to=9.0)),
    "more bits hidden": ("single bits", _set("adjacency", "count", to=3)),
    "whole rows hidden": ("some bits", _set("adjacency", "count", to=3)),
    "more edges hidden": ("networkx", _set("adjacency", "count", to=2)),
    "no assumptions": ("networkx", _set("assumptions", to=[])),
    "another row": ("table", _set("value", "data", 0, to="01")),
    "no bits": ("table", _set("value", "data", 0, to="0x1")),
    "no rows": ("table", _set("value", "data", to=[])),
    "an unknown node": ("networkx", _set("value", "data", 0, to=[0, 99])),
    "a loop": ("networkx", _set("value", "data", 0, to=[0, 0])),
    "an edge twice": ("networkx", _set("value", "data", 1, to=[0, 1])),
    "fewer edges": ("networkx", _set("value", "edges", to=3)),
    "fewer nodes": ("networkx", _set("value", "nodes", to=3)),
    "labels twice": ("labels", _set("value", "nodes", 0, to="é")),
    "loud labels": ("labels", _set("value", "nodes", 0, to="a\x1b[2K")),
    "another kind": ("networkx", _set("value", "kind", to="tree")),
    "broken gaps": ("large", _set("value", "gaps", "data", to="AAAA")),
    "a share of more": ("facts besides", _set("mechanism", "parameters", "share", to=2.0)),
    "an unknown fact": ("facts besides", _set("mechanism", "parameters", "statistics", to=["names"])),
}


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("what", list(FORGED))
def test_forged_files_are_refused_or_flagged(what: str, tmp_path: Path, run: Run) -> None:  # noqa: F811
    name, change = FORGED[what]
    MAKERS[name]().save(tmp_path / "good.json")
    assert run("inspect", "good.json").code == 0
    content = json.loads((tmp_path / "good.json").read_text())
    change(content)
    (tmp_path / "forged.json").write_text(json.dumps(content))
    done = run("inspect", "forged.json")
    assert done.code in (2, 4), (what, done)
    assert "Traceback" not in done.err
    assert "\x1b" not in done.out + done.err


def test_a_swollen_file_is_refused(tmp_path: Path) -> None:
    MAKERS["large"]().save(tmp_path / "good.json")
    content = json.loads((tmp_path / "good.json").read_text())
    content["value"]["edges"] = 2**40
    (tmp_path / "forged.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path / "forged.json")
