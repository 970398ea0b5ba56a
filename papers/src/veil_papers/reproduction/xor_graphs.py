"""The XOR paper, reproduced: the graphs of Section 8 (Table 2, Figures 3 to 5) and Theorem 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
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
from veil.graphs.numerics.agreement import average_f1, communities_of, degree_divergence
from veil.graphs.numerics.debias import debiased_distribution
from veil.graphs.numerics.degrees import L1_SENSITIVITY, degree_distribution, isotonic_degrees
from veil.graphs.numerics.structure import Integers, spectral_communities
from veil.graphs.planning import edge_leakage
from veil_papers.reproduction.exhibit import Exhibit, Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel, Role
from veil_papers.reproduction.xor_networks import (
    Network,
    by_algorithm_3,
    decoded,
    near,
    network,
    of_facebook,
    released,
    stand_in,
    table_2,
)
from veil_papers.xor_figures import random_graph_divergence
from veil_papers.xor_mechanism import FIGURE_3, NODES, PLAIN_F1, printed_leakage

# Random graphs that are drawn for one divergence of Figure 3.
_RANDOM = 40
# Ranges of degrees in a picture: of degrees that are spread out, and of those that crowd at their mean.
_COARSE, _FINE = 50, 600
# Eigenvectors that are looked at; ten circles are to be found.
_VECTORS = 16


def degrees_of(graph: Graph) -> Floats:
    """The share of the nodes of every degree."""
    nodes = graph.space.nodes
    return degree_distribution(np.bincount(np.concatenate(graph.edges()), minlength=nodes), nodes=nodes)


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
    true = degrees_of(known.graph)
    own, spread = from_random(true, rng)
    exact = random_graph_divergence(known.graph)
    lines = [
        Line("KL of a random graph's degrees from the network's own", of_facebook(known, "1.74"), own,
             error=spread,
             why=f"The paper has one simulated random graph, this is the mean over {_RANDOM}; with the exact "
             f"law of a random graph's degrees it is {exact:.2f}."),
    ]  # fmt: skip
    panels = [_degree_panel("the network", true, None, None)]
    for epsilon in list(FIGURE_3)[1:]:
        run.tell(f"ε = {epsilon:g}")
        drawn = by_algorithm_3(known, epsilon, rng)
        shown = degrees_of(drawn)
        plain = random_graph_divergence(released(run, known, epsilon))
        asked = asked_degrees(known.graph, epsilon, rng)
        found, spread = from_random(shown, rng)
        lines.append(
            Line(f"the same for a release at ε = {epsilon:g}", of_facebook(known, f"{FIGURE_3[epsilon]:g}"),
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

    Graphs are released once: with 4,039 nodes their degrees hardly vary.
    """
    true, nodes = degrees_of(known.graph), known.graph.space.nodes
    plain = RandomizedResponse(epsilon).sample(known.graph, rng=rng)
    ends = np.bincount(np.concatenate(plain.edges()), minlength=nodes)
    flip = RandomizedResponse(epsilon).flip_rate
    found = {
        "Algorithm 3": [degrees_of(by_algorithm_3(known, epsilon, rng))],
        "every pair by randomised response": [degrees_of(plain)],
        "the same, corrected": [debiased_distribution(ends, possible=nodes - 1, flip=flip)],
        "isotonic regression": [_isotonic(known.graph, epsilon, rng) for _ in range(many)],
        "Veil, degrees asked directly": [asked_degrees(known.graph, epsilon, rng) for _ in range(many)],
    }
    return {
        name: float(np.mean([degree_divergence(one, true, absent="smooth", nodes=nodes) for one in shares]))
        for name, shares in found.items()
    }


def figure_4(run: Run) -> Finding:
    """Figure 4: how far released degree distributions are from the true one."""
    known, rng = network(run), run.rng("XO Figure 4")
    grid = (0.1, 0.3, 0.6, 1.0) if run.quick else tuple(round(0.1 * k, 1) for k in range(1, 11))
    rows = {}
    for epsilon in grid:
        run.tell(f"ε = {epsilon:g}")
        rows[epsilon] = degree_distances(known, epsilon, rng, run.many(25, 5))
    first = [epsilon for epsilon, row in rows.items() if row["Algorithm 3"] <= min(row.values())]
    lines = [
        Line(f"KL of released degrees from the true ones, ε = {epsilon:g}", "", rows[epsilon]["Algorithm 3"],
             rows[epsilon]["Veil, degrees asked directly"],
             "Degrees read off a graph of false edges, against degrees asked for with all of ε. Isotonic "
             f"regression, which is older: {rows[epsilon]['isotonic regression']:.2f}; a plain release, "
             f"corrected for its noise: {rows[epsilon]['the same, corrected']:.2f}.")
        for epsilon in (0.1, 0.3, 0.6, 1.0)
    ]  # fmt: skip
    lines.append(
        Line("ε from which on the XOR mechanism has the nearest degrees", "more than 0.3",
             f"{min(first):g}" if first else "none up to 1",
             why="The curves are not printed in numbers. ApproxDeg, Pygmalion, PBCN and LDPGen are other "
             "papers' mechanisms and not reproduced; we compare with simpler ways.")
    )  # fmt: skip
    roles: dict[str, Role] = dict(zip(rows[1.0], ("paper", "exact", "another", "other", "veil"), strict=True))
    curves = [Curve(name, grid, [row[name] for row in rows.values()], role) for name, role in roles.items()]
    # Two of them are one above the other.
    curves[0], curves[1] = curves[1], replace(curves[0], style="points")
    return Finding(
        lines,
        [Panel(f"{known.name}: degrees", "ε for an edge", "KL from the true degrees", curves, log_y=True)],
        says="The divergence is infinite as soon as a released degree is nobody's. So one more node is "
        "added to the true distribution, spread over all degrees. The Email network is not at hand.",
        stand_in=stand_in(known, "the shape of the curves can be compared, not their height."),
    )


# Figure 5


def figure_5(run: Run) -> Finding:
    """Figure 5: communities found in released graphs, by average F1."""
    known, rng = network(run), run.rng("XO Figure 5")
    if not known.groups:
        known = network(Run(run.quick))

    def score(labels: Integers) -> float:
        return average_f1(communities_of(labels), known.groups)

    def as_it_is(graph: Graph) -> float:
        return score(spectral_communities(near(graph), 0.0, most=_VECTORS))

    true, nothing = as_it_is(known.graph), score(np.zeros(known.graph.space.nodes, dtype=np.int64))
    grid: Sequence[float] = (1.0, 3.0, 6.0) if run.quick else (0.2, 0.6, 1.0, 2.0, 3.0, 4.0, 6.0)
    plain, corrected, guessed = {}, {}, {}
    for epsilon in grid:
        run.tell(f"ε = {epsilon:g}")
        out = release(RandomizedResponse(epsilon), known.graph, rng=run.rng(f"XO release {epsilon:g}"))
        plain[epsilon] = as_it_is(out.value)
        corrected[epsilon] = score(estimates(out).communities())
        # Decoding is most of the work.
        if epsilon < 6.0 or not run.quick:
            guessed[epsilon] = as_it_is(decoded(run, known, epsilon).graph)
    printed = as_it_is(by_algorithm_3(known, 1.0, rng))
    lines = [
        Line("average F1 on the network itself", of_facebook(known, f"{PLAIN_F1['Facebook']:g}"), true,
             why="The paper finds communities by BIGCLAM, another paper's method; here the leading "
             "eigenvectors of the adjacency matrix are grouped, which does somewhat better."),
        Line("average F1 of one community that holds everybody", "", nothing,
             why="It needs no data at all: what is not above it has found nothing."),
        Line("average F1 at ε = 1", "close to 0.53", printed, max(corrected[1.0], guessed[1.0]),
             "By its recipe: Algorithm 3, and the same eigenvectors. At ε = 1 nobody finds the communities, "
             "Veil neither: nothing is above the line before."),
    ]  # fmt: skip
    for epsilon in (x for x in grid if x > 1.0):
        ours = {"corrected for its noise": corrected[epsilon]}
        if epsilon in guessed:
            ours["decoded"] = guessed[epsilon]
        best = max(ours, key=lambda way: ours[way])
        lines.append(
            Line(f"average F1 at ε = {epsilon:g}, every pair by randomised response", "", plain[epsilon],
                 ours[best],
                 f"As it is, and {best}, which is the better of Veil's ways."
                 + (" Here the released graph serves best as it is." if plain[epsilon] > ours[best] else ""))
        )  # fmt: skip
    lines.append(Line("average F1 on the Email network itself", "0.504", why="The network is not at hand."))
    ends = [grid[0], grid[-1]]
    panel = Panel(f"{known.name}: communities", "ε for an edge", "average F1",
        [
            Curve("Algorithm 3 at ε = 1", [1.0], [printed], "paper", "points"),
            Curve("every pair by randomised response", list(plain), list(plain.values()), "exact"),
            Curve("the same, corrected (Veil)", list(corrected), list(corrected.values()), "another"),
            Curve("the same, decoded (Veil)", list(guessed), list(guessed.values()), "veil"),
            Curve("the network itself", ends, [true] * 2, "truth", "dashed"),
            Curve("one community of all", ends, [nothing] * 2, "other", "dotted"),
        ])  # fmt: skip
    return Finding(
        lines,
        [panel],
        says="Privacy is for one edge: at an ε of 3 or more a person with many edges is hardly hidden. The "
        "paper's range ends at ε = 1, where what it shows cannot be had; on the Facebook network communities "
        "come out from about ε = 3 on. The curves of the figure are not printed in numbers.",
        stand_in=stand_in(known, "clubs are looked for instead of circles, and no F1 can be compared."),
    )


# Theorem 4


def theorem_4(run: Run) -> Finding:
    """Theorem 4: how sure an attacker can be of an edge."""
    grid, odds = np.linspace(0.0, 8.0, 81), 0.01
    priors = np.geomspace(1e-4, 1e4, 81)
    own = 1.0 / math.sqrt(NODES["Facebook"])
    return Finding(
        [
            Line("leakage at prior odds ζ = 0.01, ε = 1", "", printed_leakage(odds, 1.0),
                 edge_leakage(odds, 1.0),
                 "The printed formula is max{1/(ζe^ε + 1), ζe^ε/(ζe^ε + 1)}. It is no bound: without the "
                 f"release one is already {1.0 / (1.0 + odds):.3f} sure. The proof takes an inequality for "
                 "an equation, and one ζ for both answers. Veil's bound is proved, and attained by "
                 "randomised response."),
            Line("the same at ε = 4.6, where ζe^ε is about 1", "", printed_leakage(odds, 4.6),
                 edge_leakage(odds, 4.6),
                 "By the formula a release that hides less would leave an attacker with a fair coin."),
            Line("leakage at even odds, ε = 1", "", printed_leakage(1.0, 1.0), edge_leakage(1.0, 1.0),
                 "Where both answers are as likely, the formula is right."),
            Line("leakage of Algorithm 3 on Facebook at a stated ε of 1, ζ = 0.01", "",
                 printed_leakage(odds, 1.0), edge_leakage(odds, own),
                 "All mechanisms of one ε are said to leak the same. It is only a bound: with the "
                 f"noise of Algorithm 1 this one loses {own:.4f}, and hardly adds to the prior."),
        ],
        [
            Panel("an edge that is 1 % likely (ζ = 0.01)", "ε for an edge", "How sure an attacker can be",
                  [
                      Curve("Theorem 4", grid.tolist(), [printed_leakage(odds, float(x)) for x in grid]),
                      Curve("true bound (Veil)", grid.tolist(), [edge_leakage(odds, float(x)) for x in grid],
                            "veil"),
                      Curve("without the release", [0.0, 8.0], [1.0 / (1.0 + odds)] * 2, "truth", "dashed"),
                  ]),
            Panel("ε = 1", "prior odds ζ of an edge", "How sure an attacker can be",
                  [
                      Curve("Theorem 4", priors.tolist(), [printed_leakage(float(x), 1.0) for x in priors]),
                      Curve("true bound (Veil)", priors.tolist(),
                            [edge_leakage(float(x), 1.0) for x in priors], "veil"),
                      Curve("without the release", priors.tolist(),
                            [max(float(x), 1.0) / (1.0 + float(x)) for x in priors], "truth", "dashed"),
                  ], log_x=True),
        ],
        says="The attacker knows all other edges. For edges that are likelier than not the formula is right; "
        "nearly all pairs of a network are the other kind.",
    )  # fmt: skip


EXHIBITS = (
    Exhibit("Theorem 4", "How sure an attacker can be of an edge", theorem_4),
    Exhibit("Table 2", "Statistics of released networks", table_2, ("friends",)),
    Exhibit("Figure 3", "Degrees of released networks against random graphs", figure_3, ("friends",)),
    Exhibit("Figure 4", "Degree distributions against ε", figure_4, ("friends",)),
    Exhibit("Figure 5", "Communities against ε", figure_5, ("friends", "circles")),
)
