"""The graphs of the XOR paper, reproduced: its printed digits, and checks by other ways."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from veil_papers.reproduction import xor_graphs
from veil_papers.reproduction.data import Data
from veil_papers.reproduction.drawing import picture
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Finding, Line
from veil_papers.reproduction.xor import PAPER
from veil_papers.reproduction.xor_networks import (
    asked_edges,
    decoded,
    dense_paths,
    kept,
    letters,
    network,
    released,
)
from veil_papers.xor_figures import EDGES, table_2_edges
from veil_papers.xor_mechanism import NODES, TABLE_2

import veil
from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.agreement import degree_divergence
from veil.graphs.numerics.structure import path_lengths
from veil.graphs.numerics.triangles import neighbours

from .conftest import Findings

# Each exhibit is run, which takes a while.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]

DATA = Path(__file__).parents[4] / "shared" / "data"
RUN = Run(quick=True)
NAMES = ("Theorem 4", "Table 2", "Figure 3", "Figure 4", "Figure 5")


@pytest.fixture(scope="module")
def findings(findings_of: Findings) -> dict[str, Finding]:
    return findings_of(replace(PAPER, exhibits=xor_graphs.EXHIBITS))


def line(finding: Finding, start: str) -> Line:
    found = [one for one in finding.lines if one.what.startswith(start)]
    assert len(found) == 1, start
    return found[0]


@pytest.mark.parametrize("name", NAMES)
def test_differences_are_explained_and_kept(findings: dict[str, Finding], name: str) -> None:
    finding = findings[name]
    assert all(one.why for one in finding.lines if one.met is False)
    assert Finding.from_dict(finding.to_dict()).to_dict() == finding.to_dict()
    assert bool(finding.stand_in) == (name != "Theorem 4")
    for panel in finding.panels:
        for curve in panel.curves:
            assert 0 < len(curve.x) == len(curve.y) <= 200
            assert np.isfinite(curve.y).all()
            if panel.log_y:
                assert min(curve.y) > 0.0
    assert picture(finding).startswith("<svg")


def test_made_again_it_is_the_same(findings: dict[str, Finding]) -> None:
    for exhibit in xor_graphs.EXHIBITS[:4]:
        assert exhibit.run(RUN).to_dict() == findings[exhibit.name].to_dict()


def test_there_is_no_headline_without_the_network(findings: dict[str, Finding]) -> None:
    assert not any(one.headline for finding in findings.values() for one in finding.lines)


# Table 2


def test_the_letters_of_table_2() -> None:
    text = (DATA.parent / "papers" / "xor.txt").read_text() if (DATA.parent / "papers").is_dir() else ""
    assert letters("Facebook", "XOR", TABLE_2["Facebook"]["XOR"][1.0]) == ("1.13", "5", "0.014", "2.70")
    assert letters("Email", "PBCN", TABLE_2["Email"]["PBCN"][0.2]) == ("1.693", "N/A", "0.0347", "N/A")
    if not text:
        return
    rows = [[cell.strip() for cell in row.split("|")[2:-1]] for row in text.splitlines() if row[:2] == "| "]
    for name, start in (("Facebook", "0.88"), ("Email", "1.606")):
        first = next(k for k, row in enumerate(rows) if row and row[0] == start)
        columns = [
            letters(name, mechanism, column)
            for mechanism, of in TABLE_2[name].items()
            for column in of.values()
        ]
        assert [list(row) for row in zip(*columns, strict=True)] == rows[first : first + 4]


def test_printed_numbers_that_follow_from_nodes_and_edges(findings: dict[str, Finding]) -> None:
    table = findings["Table 2"]
    assert line(table, "Facebook, not private: density").met
    assert line(table, "Email, not private: density").met
    # Without the network nothing is said of it.
    assert line(table, "Facebook, not private: diameter").found is None
    found = line(table, "share of the true edges that 113,000")
    assert found.found == pytest.approx(0.037, abs=5e-4)
    assert line(table, "Facebook, XOR at ε = 1: edges").found == pytest.approx(20.54, abs=0.01)
    assert line(table, "Facebook, XOR at ε = 1: loss").found == pytest.approx(5.27, abs=0.005)
    differ = [one.what for one in table.lines if one.met is False and "XOR" not in one.what]
    assert len(differ) == 5
    assert sum("least mean path length" in what for what in differ) == 2


@pytest.mark.parametrize("epsilon", [1.0, 0.2])
def test_algorithm_3_is_as_dense_as_said(findings: dict[str, Finding], epsilon: float) -> None:
    """The formulas against one draw, of a graph with as many nodes and edges as the Email network."""
    nodes, edges = NODES["Email"], EDGES["Email"]
    graph = Graph(Graph.from_edges([], nodes).space, np.arange(edges))
    noise = xor_parameters(epsilon, 1.0, nodes, nodes, 2)
    drawn = XorGraph(noise, complement=False).sample(graph, rng=3)
    paths = path_lengths(neighbours(nodes, *drawn.edges()))
    head = f"Email, XOR at ε = {epsilon:g}: "
    table = findings["Table 2"]
    # Six standard errors of a count of independent pairs, at most 1/4 likely.
    spread = 6.0 * math.sqrt(graph.space.count * 3.0 / 16.0)
    said = line(table, head + "edges").found
    assert isinstance(said, float)
    assert len(drawn) == pytest.approx(said * 1e4, abs=spread)
    assert paths.diameter == line(table, head + "diameter").found == 2
    mean = line(table, head + "mean path length").found
    assert paths.mean * (nodes - 1) / nodes == pytest.approx(mean, abs=spread / graph.space.count)


def test_small_dense_graphs_are_refused() -> None:
    with pytest.raises(ArithmeticError):
        dense_paths(50, 0.25, 0.25)


def test_edges_asked_directly_are_near_whichever_they_are() -> None:
    rng = np.random.default_rng(5)
    drawn = np.array([asked_edges(100, 400, 0.5, rng) for _ in range(2_000)]) - 400.0
    decay = math.exp(-0.5)
    assert float(drawn.var()) == pytest.approx(2.0 * decay / (1.0 - decay) ** 2, rel=0.25)
    assert abs(float(drawn.mean())) < 6.0 * math.sqrt(8.0 / 2_000)


def test_pair_by_pair_no_more_edges_are_kept() -> None:
    """The bound by enumeration: every pair of rates that are private at epsilon, on a small graph."""
    row = table_2_edges("Facebook")[0]
    edges, pairs = EDGES["Facebook"], math.comb(NODES["Facebook"], 2)
    most = 0.0
    for shown, false in itertools.product(np.geomspace(1e-3, 1.0, 400), repeat=2):
        released_edges = edges * shown + (pairs - edges) * false
        private = shown <= math.e * false and 1.0 - false <= math.e * (1.0 - shown)
        if private and released_edges <= row.printed:
            most = max(most, float(shown))
    assert 0.95 * row.kept_at_most < most <= row.kept_at_most


def test_decoding_is_that_of_veil_and_beats_the_bound(findings: dict[str, Finding]) -> None:
    known = network(RUN)
    out = veil.release(RandomizedResponse(3.0), known.graph, rng=RUN.rng("XO release 3"))
    assert decoded(RUN, known, 3.0).graph == veil.graphs.decode(out)
    assert out.value == released(RUN, known, 3.0)
    first = findings["Table 2"].lines[0]
    assert first.veil == kept(decoded(RUN, known, 1.0).larger, known.graph)
    assert isinstance(first.veil, float)
    assert isinstance(first.found, float)
    assert first.veil > first.found


# Figures 3 to 5


def test_divergence_from_random_graphs_by_hand() -> None:
    rng = np.random.default_rng(7)
    nodes = 400
    shares = np.bincount(rng.binomial(nodes - 1, 0.1, nodes), minlength=nodes) / nodes
    found, spread = xor_graphs.from_random(shares, rng)
    # A random graph is one of its own kind: what is left is chance, about a cell in 2 n for each of two.
    assert 0.0 < found < 0.2
    assert 0.0 < spread < 0.1
    even = np.zeros(nodes)
    even[[20, 60]] = 0.5
    drawn = rng.binomial(nodes - 1, 40.0 / (nodes - 1), 400_000)
    expected = sum(
        share * math.log(share / 0.5) for share in (float((drawn == degree).mean()) for degree in (20, 60))
    )
    mean, error = xor_graphs.from_random(even, rng)
    assert mean == pytest.approx(expected, abs=max(5.0 * error / math.sqrt(40), 0.02))


def test_ways_to_release_degrees(findings: dict[str, Finding]) -> None:
    figure = findings["Figure 4"]
    for one in figure.lines[:-1]:
        assert isinstance(one.found, float)
        assert isinstance(one.veil, float)
        assert one.veil < 0.1 * one.found
    assert figure.lines[-1].found == "none up to 1"
    ours = figure.panels[0].curves[-1]
    assert ours.role == "veil"
    assert list(ours.y) == sorted(ours.y, reverse=True)


def test_nobody_finds_communities_at_epsilon_1(findings: dict[str, Finding]) -> None:
    figure = findings["Figure 5"]
    true, nothing, small = figure.lines[:3]
    assert isinstance(true.found, float)
    assert isinstance(nothing.found, float)
    assert isinstance(small.found, float)
    assert isinstance(small.veil, float)
    assert max(small.found, small.veil) <= nothing.found < true.found
    # One community of all: F1 with a club of s among n is 2 s / (s + n).
    known = network(RUN)
    scores = [2 * len(group) / (len(group) + known.graph.space.nodes) for group in known.groups]
    assert nothing.found == pytest.approx(0.5 * max(scores) + 0.5 * float(np.mean(scores)))


# Theorem 4


def test_theorem_4(findings: dict[str, Finding]) -> None:
    first, second, even, own = findings["Theorem 4"].lines
    assert first.found == pytest.approx(0.974, abs=5e-4)
    prior = 1.0 / 1.01
    assert isinstance(first.found, float)
    assert isinstance(own.veil, float)
    assert first.found < prior < own.veil
    assert second.found == pytest.approx(0.5, abs=0.01)
    assert even.found == pytest.approx(even.veil)
    # An attack on randomised response, by simulation: the posterior of "no edge" after a released 0.
    rng = np.random.default_rng(11)
    edge = rng.random(2_000_000) < 0.01 / 1.01
    shown = edge ^ (rng.random(len(edge)) < 1.0 / (1.0 + math.e))
    posterior = float((~edge[~shown]).mean())
    assert posterior == pytest.approx(first.veil, abs=6.0 * math.sqrt(0.0037 / 1_400_000))


# The real network


@pytest.mark.skipif(
    not (DATA / "facebook_combined.txt").is_file(), reason="the Facebook network is not at hand"
)
def test_figures_3_and_4_on_facebook() -> None:
    run = Run(quick=True, data=Data.of(DATA))
    figure = xor_graphs.figure_3(run)
    assert not figure.stand_in
    assert [one.printed for one in figure.lines] == ["1.74", "1.44", "1.12", "0.02"]
    assert [one.met for one in figure.lines] == [True, False, False, True]
    for one in figure.lines[1:]:
        assert isinstance(one.veil, float)
        # Degrees asked directly show what the network has.
        assert one.veil == pytest.approx(1.73, abs=0.3)
    known = network(run)
    true = xor_graphs.degrees_of(known.graph)
    assert degree_divergence(true, true, absent="smooth", nodes=NODES["Facebook"]) < 1e-3
    far = xor_graphs.degree_distances(known, 1.0, np.random.default_rng(2), 3)
    assert far["Veil, degrees asked directly"] < 0.15 < far["isotonic regression"]
    assert far["Algorithm 3"] > 10.0
