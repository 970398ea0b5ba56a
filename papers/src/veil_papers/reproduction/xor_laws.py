"""The XOR paper, reproduced: Section 8.4, the power law of degrees, and densification."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom, poisson

from veil.core.arrays import Floats
from veil.graphs.numerics.structure import path_lengths
from veil.graphs.numerics.triangles import shape
from veil_papers.power_law import PowerLaw, power_law, ranges
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel
from veil_papers.reproduction.xor_degrees import shares_of
from veil_papers.reproduction.xor_networks import (
    STATED,
    Network,
    by_algorithm_3,
    near,
    networks,
    of_paper,
    released,
    stand_ins,
)
from veil_papers.xor_figures import EDGES, table_2_edges
from veil_papers.xor_mechanism import NODES, TABLE_2, edges_of_plain_release

# The two regimes of Section 8.4, as printed: exponents below and above the critical degree.
CRITICAL, PRINTED = 15, ("1.0", "3.3")
# Where Facebook's distribution has its kink.
_KINK = 100
# Ranges of degrees that grow by so much are tried as well, to say how far an exponent depends on them.
_FACTORS = (1.25, 1.5, 2.0)
_BUDGETS = (0.2, 0.6, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


def section_8_4(run: Run) -> Finding:
    """Section 8.4: two power laws in the degrees, and graphs that grow denser with less ε."""
    facebook, email = networks(run)
    shares = shares_of(facebook.graph)
    low, high = regimes(shares)
    dense = _densification(run, email)
    return Finding(
        [*_exponent_lines(facebook, shares), _paths_line(), _poisson_line(), *_growth_lines(run, facebook)],
        [_law_panel(facebook, shares, low, high), *dense],
        says="Below a degree of 15 Facebook's distribution is flat: it has no power law there. Above, it "
        "bends near 100, and the printed exponents are near those of its two parts. Algorithm 3 does not "
        "densify: it joins a quarter of all pairs at every ε, and slightly fewer the less ε. Randomised "
        "response does: edges grow and paths shorten as ε falls. What is closed then is no clustering of "
        "the network any more, but that of a random graph as dense.",
        stand_in=stand_ins([facebook, email], "exponents and the curves cannot be compared."),
    )


def regimes(shares: Floats) -> tuple[PowerLaw, PowerLaw]:
    """The power laws below and above the critical degree."""
    most = int(np.flatnonzero(shares)[-1])
    return power_law(shares, 1, CRITICAL - 1), power_law(shares, CRITICAL, most)


def _exponent_lines(known: Network, shares: Floats) -> list[Line]:
    most = int(np.flatnonzero(shares)[-1])
    found = []
    spans = ((1, CRITICAL - 1, f"k < {CRITICAL}"), (CRITICAL, most, f"k ≥ {CRITICAL}"))
    for (first, last, where), printed in zip(spans, PRINTED, strict=True):
        by_factor = [power_law(shares, first, last, factor=factor).exponent for factor in _FACTORS]
        found.append(
            Line(f"exponent γ of p(k) ∝ k^−γ, {where} ({known.name})", of_paper(known, printed),
                 power_law(shares, first, last).exponent,
                 why="Least squares on shares over ranges of degrees that grow by half; the paper does not "
                 f"say how it fits. Ranges that grow by {_FACTORS[0] - 1:.0%} to {_FACTORS[-1] - 1:.0%} give "
                 f"{min(by_factor):.2f} to {max(by_factor):.2f}.")
        )  # fmt: skip
    if known.real:
        middle, tail = power_law(shares, CRITICAL, _KINK), power_law(shares, _KINK + 1, most)
        found.append(
            Line(f"the same for {CRITICAL} ≤ k ≤ {_KINK}, and for k > {_KINK} ({known.name})",
                 "1.0; 3.3", f"{middle.exponent:.2f}; {tail.exponent:.2f}",
                 why=f"A kink near {_KINK} would fit the network, and exponents not far from the printed "
                 f"ones; one near {CRITICAL} does not.")
        )  # fmt: skip
    return found


def _paths_line() -> Line:
    return Line("mean path length of a scale-free graph of N nodes, ln ln N (Facebook)", "2.12",
                math.log(math.log(NODES["Facebook"])),
                why="The XOR mechanism's own graph at ε = 0.2 is printed with 2.12 too.")  # fmt: skip


def far_from_poisson(nodes: int, density: float) -> float:
    """The total variation between the law of a random graph's degrees and Poisson's law of the same mean."""
    counts = np.arange(nodes)
    random = binom.pmf(counts, nodes - 1, density)
    return 0.5 * float(np.abs(random - poisson.pmf(counts, density * (nodes - 1))).sum())


def _poisson_line() -> Line:
    nodes = NODES["Facebook"]
    thin = EDGES["Facebook"] / math.comb(nodes, 2)
    return Line("degrees of random graphs with a quarter of all pairs, total variation from Poisson's law",
                "Poisson", far_from_poisson(nodes, 0.25),
                why="They are binomial, which is near Poisson's law for sparse graphs only: at the network's "
                f"own density {far_from_poisson(nodes, thin):.3f}.")  # fmt: skip


def _growth_lines(run: Run, known: Network) -> list[Line]:
    lines = []
    for name, edges in EDGES.items():
        pairs = math.comb(NODES[name], 2)
        printed = TABLE_2[name]["XOR"][0.2].edges / TABLE_2[name]["XOR"][1.0].edges
        more, fewer = (edges_by_algorithm_3(name, epsilon) for epsilon in (0.2, 1.0))
        plain = edges_of_plain_release(edges, pairs, 0.2) / edges_of_plain_release(edges, pairs, 1.0)
        lines.append(
            Line(f"{name}: edges at ε = 0.2, as a multiple of those at ε = 1", f"{printed:.2f}", more / fewer,
                 why="With the sign of the paper a pair shows more often the larger ε is. By randomised "
                 f"response of every pair it is {plain:.2f}.")
        )  # fmt: skip
    rng = run.rng("XO Section 8.4")
    drawn = shape(near(by_algorithm_3(known, 1.0, rng)))
    lines.append(
        Line(f"{known.name}: share of the paths of two edges that are closed, ε = 1", "", drawn.transitivity,
             why=f"\"The nodes tend to cluster together\" as ε falls. The network itself has "
             f"{shape(near(known.graph)).transitivity:.2f}; a random graph as dense as the release has its "
             f"density, {drawn.edges / math.comb(drawn.nodes, 2):.2f}.")
    )  # fmt: skip
    return lines


def edges_by_algorithm_3(name: str, epsilon: float) -> float:
    """The expected edges of Algorithm 3 on a network of the paper."""
    return next(row.algorithm_3 for row in table_2_edges(name) if row.epsilon == epsilon)


def _law_panel(known: Network, shares: Floats, low: PowerLaw, high: PowerLaw) -> Panel:
    most = int(np.flatnonzero(shares)[-1])
    points = ranges(shares, 1, most, factor=1.15)
    curves = [Curve("the network", points.degrees.tolist(), points.shares.tolist(), "truth", "points")]
    laws = {CRITICAL - 1.0: low, float(most): high}
    height = float(np.interp(CRITICAL, points.degrees, points.shares))
    for (last, law), first, printed in zip(laws.items(), (1.0, float(CRITICAL)), PRINTED, strict=True):
        ends = [first, last]
        curves.append(Curve("fitted", ends, [law.at(degree) for degree in ends], "exact"))
        if known.real:
            # Through the network's own share, where the two regimes meet.
            drawn = PowerLaw(float(printed), height * CRITICAL ** float(printed))
            curves.append(
                Curve("printed exponents", ends, [drawn.at(degree) for degree in ends], "printed", "dashed")
            )
    return Panel(
        f"{known.name}: power law of degrees", "degree", "share of the nodes", curves, log_x=True, log_y=True
    )


def _densification(run: Run, known: Network) -> list[Panel]:
    """Paths and closed triangles of plain releases."""
    paths, closed, dense = [], [], []
    for epsilon in _BUDGETS:
        graph = near(released(run, known, epsilon))
        paths.append(path_lengths(graph).mean)
        closed.append(shape(graph).transitivity)
        dense.append(len(graph.nodes) / known.nodes / (known.nodes - 1))
    own = near(known.graph)
    ends = [_BUDGETS[0], _BUDGETS[-1]]
    curves = [
        Curve("randomised response of every pair", _BUDGETS, paths, "exact"),
        Curve("the network", ends, [path_lengths(own).mean] * 2, "truth", "dashed"),
    ]
    if known.real:
        printed = [TABLE_2[known.paper]["XOR"][epsilon].path_length or 0.0 for epsilon in STATED]
        curves.append(Curve("printed, XOR", STATED, printed, "printed", "points"))
    return [
        Panel(f"{known.name}: densification", "ε for an edge", "mean path length", curves),
        Panel(f"{known.name}: clustering", "ε for an edge", "closed paths of two edges",
              [
                  Curve("randomised response of every pair", _BUDGETS, closed, "exact"),
                  Curve("a random graph as dense", _BUDGETS, dense, "other", "dashed"),
                  Curve("the network", ends, [shape(own).transitivity] * 2, "truth", "dashed"),
              ]),
    ]  # fmt: skip
