"""The XOR paper, reproduced: Figures 3 and 4, the degrees of released networks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from veil.core.arrays import Floats
from veil.core.job import release
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics.agreement import degree_divergence
from veil.graphs.numerics.debias import debiased_distribution
from veil.graphs.numerics.degrees import L1_SENSITIVITY, degree_distribution, isotonic_degrees
from veil_papers.compared_mechanisms import (
    degree_counts,
    degrees_by_joint,
    degrees_of,
    ldpgen,
    noisy_joint_degrees,
    pbcn,
)
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel, Role, Style
from veil_papers.reproduction.xor_networks import (
    Network,
    by_algorithm_3,
    network,
    networks,
    of_paper,
    released,
    stand_in,
    stand_ins,
)
from veil_papers.xor_figures import random_graph_divergence
from veil_papers.xor_mechanism import FIGURE_3

# Random graphs that are drawn for one divergence of Figure 3.
_RANDOM = 40
# Ranges of degrees in a picture: of degrees that are spread out, and of those that crowd at their mean.
_COARSE, _FINE = 50, 600


def shares_of(graph: Graph) -> Floats:
    """The share of the nodes of every degree."""
    return degree_distribution(degrees_of(graph), nodes=graph.space.nodes)


def asked_degrees(graph: Graph, epsilon: float, rng: Rng) -> Floats:
    """Veil's degrees: asked directly, with all of epsilon."""
    out = release(PrivateGraph(epsilon, statistics=["degrees"], share=1.0), graph, rng=rng)
    return estimates(out).degree_distribution


# Figure 3


def from_random(shares: Floats, rng: Rng) -> tuple[float, float]:
    """The divergence of a simulated random graph's degrees from these, and how much it varies.

    The mean over some random graphs of the same mean degree. Which way it is taken the paper does not say:
    see random_graph_divergence.
    """
    nodes = len(shares)
    chance = float(shares @ np.arange(nodes)) / (nodes - 1)
    drawn = rng.binomial(nodes - 1, chance, size=(_RANDOM, nodes))
    found = [degree_divergence(degree_distribution(one, nodes=nodes), shares) for one in drawn]
    # The paper's is of a single random graph.
    return float(np.mean(found)), float(np.std(found)) * math.sqrt(1.0 + 1.0 / _RANDOM)


def figure_3(run: Run) -> Finding:
    """Figure 3: degree distributions of releases beside those of random graphs."""
    known, rng = network(run), run.rng("XO Figure 3")
    true = shares_of(known.graph)
    own, spread = from_random(true, rng)
    exact = random_graph_divergence(known.graph)
    lines = [
        Line("KL of a random graph's degrees from the network's own", of_paper(known, "1.74"), own,
             error=spread,
             why=f"The paper has one simulated random graph, this is the mean over {_RANDOM}; with the exact "
             f"law of a random graph's degrees it is {exact:.2f}."),
    ]  # fmt: skip
    panels = [_degree_panel("the network", true, None, None)]
    for epsilon in list(FIGURE_3)[1:]:
        run.tell(f"ε = {epsilon:g}")
        drawn = by_algorithm_3(known, epsilon, rng)
        shown = shares_of(drawn)
        plain = random_graph_divergence(released(run, known, epsilon))
        asked = asked_degrees(known.graph, epsilon, rng)
        found, spread = from_random(shown, rng)
        lines.append(
            Line(f"the same for a release at ε = {epsilon:g}", of_paper(known, f"{FIGURE_3[epsilon]:g}"),
                 found, from_random(asked, rng)[0],
                 "Algorithm 3 releases what is nearly a random graph at each of these ε: by the exact law of "
                 f"such a graph it is {random_graph_divergence(drawn):.3f}, and {plain:.3f} for every pair "
                 "by randomised response. Veil asks for the degrees themselves; without noise it would "
                 f"find what the network has, {own:.2f}.", error=spread)
        )  # fmt: skip
        panels.append(_degree_panel(f"ε = {epsilon:g}", true, shown, asked))
    panels.append(_divergence_panel(run, known, exact))
    return Finding(
        lines,
        panels,
        says="Privacy is for one edge. On the Facebook network, what is printed for 0.8 and 0.3 a release "
        "of the whole graph has at an ε of 4 to 5. As ε shrinks the released graph does turn into a random "
        "one, but it has done so long before ε = 0.8.",
        stand_in=stand_in(known, "none of the printed divergences can be compared."),
    )


def _degree_panel(title: str, true: Floats, shown: Floats | None, asked: Floats | None) -> Panel:
    nodes = len(true)
    base = true if shown is None else shown
    law = binom.pmf(np.arange(nodes), nodes - 1, float(base @ np.arange(nodes)) / (nodes - 1))
    curves = []
    if shown is not None:
        curves.append(Curve("Algorithm 3", *_binned(shown, _FINE), "paper", "points"))
    curves.append(Curve("random graph", *_binned(law, _FINE), "other"))
    if asked is not None:
        curves.append(Curve("Veil, degrees asked directly", *_binned(asked, _COARSE), "veil", "points"))
    # Last, so that it is seen.
    curves.append(Curve("the network", *_binned(true, _COARSE), "truth"))
    return Panel(title, "degree", "share of the nodes", curves, log_x=True, log_y=True)


def _binned(shares: Floats, bins: int) -> tuple[list[float], list[float]]:
    """Mean shares over ranges of degrees, wider for larger ones; those without nodes are left out."""
    nodes = len(shares)
    edges = np.unique(np.geomspace(1.0, nodes, bins).round().astype(np.int64))
    sizes = np.diff(edges)
    mean = np.add.reduceat(shares[1:], edges[:-1] - 1)[: len(sizes)] / sizes
    used = mean * sizes > 0.1 / nodes
    centres = np.sqrt(edges[:-1] * np.maximum(edges[1:] - 1, 1))
    return centres[used].tolist(), mean[used].tolist()


def _divergence_panel(run: Run, known: Network, true: float) -> Panel:
    """Of plain releases at any epsilon."""
    grid = [0.01, 0.3, 0.8, 2.0, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0]
    plain = [random_graph_divergence(released(run, known, epsilon)) for epsilon in grid]
    curves = [
        Curve("randomised response of every pair", grid, plain, "exact"),
        Curve("the network", [0.01, 8.0], [true] * 2, "truth", "dotted"),
    ]
    if known.real:
        points = list(FIGURE_3)[1:]
        curves.append(Curve("printed", points, [FIGURE_3[x] for x in points], "printed", "points"))
    return Panel("divergence of a random graph's degrees", "ε for an edge", "KL", curves)


# Figure 4


def _isotonic(graph: Graph, epsilon: float, rng: Rng) -> Floats:
    """Falling degrees with noise of the same privacy, then isotonic regression (Hay and others, 2009)."""
    nodes = graph.space.nodes
    falling = np.sort(np.bincount(np.concatenate(graph.edges()), minlength=nodes))[::-1]
    noise = sample_discrete_laplace(rng, scale=L1_SENSITIVITY / Fraction(epsilon), size=nodes)
    return degree_distribution(isotonic_degrees(falling.astype(np.int64) + noise), nodes=nodes)


def degree_distances(known: Network, epsilon: float, rng: Rng, many: int) -> dict[str, float]:
    """The divergence from the true degrees of every way to release them: a mean over so many releases.

    Graphs of very many edges are released once: their degrees hardly vary. So are Pygmalion's joint degrees,
    which take a while.
    """
    graph, nodes = known.graph, known.nodes
    true, largest = shares_of(graph), int(degrees_of(graph).max())
    plain = degrees_of(RandomizedResponse(epsilon).sample(graph, rng=rng))
    flip = RandomizedResponse(epsilon).flip_rate
    found = {
        "Algorithm 3": [shares_of(by_algorithm_3(known, epsilon, rng))],
        "every pair by randomised response": [degree_distribution(plain, nodes=nodes)],
        "the same, corrected": [debiased_distribution(plain, possible=nodes - 1, flip=flip)],
        "isotonic regression": [_isotonic(graph, epsilon, rng) for _ in range(many)],
        "noisy counts of the degrees": [degree_counts(graph, epsilon, rng) for _ in range(many)],
        "LDPGen": [shares_of(ldpgen(graph, epsilon, rng)) for _ in range(many)],
        "PBCN, as described": [shares_of(pbcn(graph, epsilon, rng)) for _ in range(many)],
        "Pygmalion's joint degrees": [
            degrees_by_joint(noisy_joint_degrees(graph, epsilon, largest, rng), nodes)
        ],
        "Veil, degrees asked directly": [asked_degrees(graph, epsilon, rng) for _ in range(many)],
    }
    return {
        name: float(np.mean([degree_divergence(one, true, absent="smooth", nodes=nodes) for one in shares]))
        for name, shares in found.items()
    }


_DRAWN: dict[str, tuple[Role, Style]] = {
    "every pair by randomised response": ("exact", "line"),
    "Algorithm 3": ("paper", "points"),
    "the same, corrected": ("exact", "dashed"),
    "isotonic regression": ("other", "line"),
    "noisy counts of the degrees": ("other", "dashed"),
    "LDPGen": ("another", "line"),
    "PBCN, as described": ("another", "dashed"),
    "Pygmalion's joint degrees": ("truth", "dotted"),
    "Veil, degrees asked directly": ("veil", "line"),
}


def figure_4(run: Run) -> Finding:
    """Figure 4: how far released degree distributions are from the true one."""
    rng, both, lines, panels = run.rng("XO Figure 4"), networks(run), [], []
    grid = (0.1, 0.3, 1.0) if run.quick else tuple(round(0.1 * k, 1) for k in range(1, 11))
    for letter, known in zip("ab", both, strict=True):
        rows = {}
        for epsilon in grid:
            run.tell(f"{known.name}, ε = {epsilon:g}")
            rows[epsilon] = degree_distances(known, epsilon, rng, run.many(25, 3))
        lines += _degree_lines(known, rows)
        curves = [
            Curve(name, grid, [row[name] for row in rows.values()], role, style)
            for name, (role, style) in _DRAWN.items()
        ]
        title = f"({letter}) {known.name}: degrees"
        panels.append(Panel(title, "ε for an edge", "KL from the true degrees", curves, log_y=True))
    return Finding(
        lines,
        panels,
        says="The divergence is infinite as soon as a released degree is nobody's. So one more node is "
        "added to the true distribution, spread over all degrees. All ways are drawn at the ε that they "
        "truly cost; how LDPGen, PBCN and Pygmalion are made again, and why ApproxDeg is not, is said in "
        "Section 8.2.",
        stand_in=stand_ins(both, "the shape of the curves can be compared, not their height."),
    )


def _degree_lines(known: Network, rows: dict[float, dict[str, float]]) -> list[Line]:
    head = f"{known.name}: KL of released degrees from the true ones, ε = "
    lines = [
        Line(f"{head}{epsilon:g}", "", rows[epsilon]["Algorithm 3"],
             rows[epsilon]["Veil, degrees asked directly"],
             "Degrees read off a graph of false edges, against degrees asked for with all of ε. Isotonic "
             f"regression, which is older: {rows[epsilon]['isotonic regression']:.2f}; a plain release, "
             f"corrected for its noise: {rows[epsilon]['the same, corrected']:.2f}; LDPGen: "
             f"{rows[epsilon]['LDPGen']:.2f}; PBCN: {rows[epsilon]['PBCN, as described']:.2f}.")
        for epsilon in (0.1, 0.3, 0.6, 1.0)
        if epsilon in rows
    ]  # fmt: skip
    first = [epsilon for epsilon, row in rows.items() if row["Algorithm 3"] <= min(row.values())]
    return [
        *lines,
        Line(f"{known.name}: ε from which on the XOR mechanism has the nearest degrees", "more than 0.3",
             f"{min(first):g}" if first else "none up to 1",
             why="The curves are not printed in numbers. At its own ε the XOR mechanism comes after all "
             "mechanisms that keep the number of edges."),
    ]  # fmt: skip
