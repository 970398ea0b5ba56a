"""Pictures of networks: communities, layouts, routes, flows, panels, and clustered heat maps."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.patches import Rectangle

import veil
from veil.chains.report.panels import group_panels, routes_figure
from veil.core.numerics.communities import communities
from veil.graphs.likely_graph import decoding
from veil.graphs.report.network import Network
from veil.matrices.report.clustered import Clusters
from veil.report.figures import axes_of, svg
from veil.report.layout import packed, spread
from veil.report.networks import flow_figure
from veil.report.page import page
from veil.words.report.routes import steps_figure


def _blocks(sizes: tuple[int, ...], across: float = 0.01) -> np.ndarray:
    member = np.repeat(np.arange(len(sizes)), sizes)
    return np.where(member[:, None] == member[None, :], 1.0, across)


def test_communities_are_the_blocks_the_heaviest_first() -> None:
    weights = _blocks((4, 9, 6))
    assert communities(weights).tolist() == [2] * 4 + [0] * 9 + [1] * 6
    # Nodes in another order: the same communities.
    order = np.random.default_rng(3).permutation(19)
    assert communities(weights[np.ix_(order, order)]).tolist() == communities(weights)[order].tolist()
    # What stays at a node joins it to nobody, and nodes without edges stand alone.
    assert communities(np.diag([5.0, 5.0])).tolist() == [0, 1]


def test_a_grid_is_drawn_as_a_grid_and_discs_do_not_overlap() -> None:
    edges = [(4 * r + c, 4 * r + c + 1) for r in range(4) for c in range(3)]
    edges += [(4 * r + c, 4 * r + c + 4) for r in range(3) for c in range(4)]
    at = spread(edges, 16)
    ways = np.abs(np.array([at[b] - at[a] for a, b in edges]))
    assert (ways.min(axis=1) < 0.15 * ways.max(axis=1)).all()
    # A part on its own is set beside the others.
    apart = spread([*edges, (16, 17)], 18)
    assert min(np.hypot(*(apart[i] - apart[j])) for i in range(16) for j in (16, 17)) > 0.5
    radii = np.array([3.0, 2.0, 2.0, 1.0])
    centres = packed(radii.tolist(), np.ones((4, 4)))
    for i in range(4):
        for j in range(i):
            assert np.hypot(*(centres[i] - centres[j])) >= radii[i] + radii[j]


@pytest.mark.slow
def test_many_states_are_ordered_by_cluster_and_named_everywhere() -> None:
    shuffle = np.random.default_rng(1).permutation(80)
    weights = _blocks((50, 30))[np.ix_(shuffle, shuffle)]
    chain = veil.Chain(weights / weights.sum(axis=1, keepdims=True), states=[f"<{i}>" for i in range(80)])
    joint = chain.stationary()[:, None] * chain.to_numpy()
    found = Clusters.of(joint, tuple(map(str, chain.states)))
    assert [len(cluster.states) for cluster in found.found] == [50, 30]
    assert (shuffle[found.order[:50]] < 50).all()
    assert found.flows.sum() == pytest.approx(1.0)
    picture = found.heat_svg(chain.to_numpy(), tuple(map(str, chain.states)))
    first = found.order[0]
    assert f"<title>from &lt;{first}&gt;; likeliest: " in picture
    assert re.search(r"<title>&lt;\d+&gt; → &lt;\d+&gt;: 2 %</title>", picture)
    assert chain.plot().axes[0].get_xlabel() == "to (cluster)"


def test_routes_flows_and_panels_show_what_they_are_given() -> None:
    joint = np.array([[0.1, 0.5, 0.0], [0.3, 0.0, 0.1], [0.0, 0.0, 0.0]])
    texts = [text.get_text() for text in routes_figure(joint, ("a", "b", "c"), 2).axes[0].texts]
    assert texts == ["a", "b"]
    told = " ".join(text.get_text() for text in flow_figure(joint, ("a", "b", "c"), "trips").axes[0].texts)
    assert "60 %" in told
    assert "40 %" in told
    one = veil.Chain([[0.9, 0.1], [0.5, 0.5]], states=["x", "y"])
    other = veil.Chain([[0.5, 0.5], [0.9, 0.1]], states=["x", "y"])
    figure = group_panels(one, {"day": one, "night": other})
    assert figure is not None
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["day", "night"]
    widths = [bar.get_width() for bar in figure.axes[1].patches if isinstance(bar, Rectangle)]
    assert widths == pytest.approx(other.stationary().tolist())
    assert group_panels(one, {"stuck": veil.Chain(np.eye(2), states=["x", "y"])}) is None


@pytest.mark.slow
def test_a_likely_graph_is_drawn_in_its_communities() -> None:
    edges = [(i, j) for i in range(40) for j in range(i + 1, 40) if i // 20 == j // 20]
    out = veil.graphs.release(veil.graphs.read(edges, nodes=40), epsilon=6.0, rng=1)
    network = Network.of(decoding(out))
    assert network is not None
    assert [line.nodes for line in network.lines] == [20, 20]
    assert min(line.inside for line in network.lines) > 150
    assert network.alone == 0


def test_steps_do_not_join_one_word_to_the_next() -> None:
    language = veil.words.ChainWords({"a": ["a", "b"], "b": ["b", "c"], "c": ["c", "a"]}, 3)
    batch = language.validate([("a", "b", "c"), ("b", "b", "c")])
    figure = steps_figure(batch, language)
    assert figure is not None
    arrows = [patch for patch in figure.axes[0].patches if patch.get_zorder() == 2]
    # a to b, b to c, and b to itself; not from the last c to the b that begins the next word.
    assert len(arrows) == 3


def test_pictures_are_spoken_and_pages_can_be_printed() -> None:
    figure, axes = axes_of(2.0, 2.0)
    axes.set_xlabel('a "b" & c')
    assert 'role="img" aria-label="Picture: a &quot;b&quot; &amp; c"' in svg(figure)
    style = page("style.html")
    assert "@media print" in style
    assert ":focus-visible" in style
