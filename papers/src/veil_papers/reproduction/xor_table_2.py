"""The XOR paper, reproduced: Table 2, what is left of a network after its release."""

from __future__ import annotations

import math

import numpy as np

from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.core.job import release
from veil.core.random.streams import Rng
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.pairs import PairSpace
from veil.graphs.numerics.structure import PathLengths, path_lengths
from veil.graphs.numerics.triangles import count_triangles
from veil.graphs.planning import kept_at_most
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel
from veil_papers.reproduction.xor_networks import (
    STATED,
    Decoded,
    Network,
    decoded,
    kept,
    longer,
    near,
    networks,
    precision,
    stand_in,
)
from veil_papers.xor_figures import EDGES, PrintedRelease, edges_of_algorithm_3, table_2_edges
from veil_papers.xor_mechanism import NODES, TABLE_2, NetworkStatistics, edges_of_plain_release

# As Table 2 counts edges, and with so many digits.
UNIT = {"Facebook": (1e5, "×10⁵", 2), "Email": (1e4, "×10⁴", 3)}
# Rarer than anything that could be seen.
_NEVER = 1e-12


def asked_edges(nodes: int, edges: int, epsilon: float, rng: Rng) -> float:
    """The number of edges asked directly. Its noise does not depend on which they are: any graph will do."""
    graph = Graph(PairSpace.among(nodes), np.arange(edges))
    out = release(PrivateGraph(epsilon, statistics=["edges"], share=1.0), graph, rng=rng)
    return estimates(out).edges.value


def dense_paths(nodes: int, density: float, least: float) -> tuple[float, float]:
    """Diameter and mean path length where pairs are joined independently, each at least so likely.

    Two nodes without an edge and without a common neighbour: so unlikely that there are none, or an error.
    The mean is over all ordered pairs, a node with itself among them, as the paper's code has it.
    """
    none = math.comb(nodes, 2) * (1.0 - least**2) ** (nodes - 2)
    if none > _NEVER:
        raise ArithmeticError("some paths may be longer than 2")
    return 2.0, (2.0 - density) * (nodes - 1) / nodes


def letters(name: str, mechanism: str, column: NetworkStatistics) -> tuple[str, str, str, str]:
    """Edges, diameter, density and path length of a column of Table 2, digit by digit."""
    unit, _, digits = UNIT[name]
    finer = name == "Email" and mechanism in ("non-private", "XOR", "PBCN")
    places = 2 if name == "Facebook" and mechanism != "non-private" else 3
    return (
        f"{column.edges / unit:.{digits}f}",
        "N/A" if column.diameter is None else f"{column.diameter}",
        f"{column.density:.{4 if finer else 3}f}",
        "N/A" if column.path_length is None else f"{column.path_length:.{places}f}",
    )


def table_2(run: Run) -> Finding:
    """Table 2: edges, diameter, density and path length of released networks."""
    rng, lines, panels = run.rng("XO Table 2"), [], []
    both = networks(run)
    asked = {
        (name, epsilon): asked_edges(NODES[name], edges, epsilon, rng)
        for name, edges in EDGES.items()
        for epsilon in STATED
    }
    for known in both:
        # Decoding takes a while.
        shown = STATED if known.real and not run.quick else STATED[:1]
        guesses = {epsilon: decoded(run, known, epsilon) for epsilon in shown}
        paths = {epsilon: path_lengths(near(guess.graph)) for epsilon, guess in guesses.items()}
        lines += _kept_lines(known, guesses)
        lines += _plain_lines(known)
        for row in table_2_edges(known.paper):
            lines += _released_lines(known, row, asked[known.paper, row.epsilon], paths.get(row.epsilon))
        panels += [_edges_panel(known.paper, asked), _kept_panel(known, guesses)]
    lines += [_mended_line(), *_misfit_lines()]
    if both[0].real:
        lines.append(_triangle_line(both[0], rng))
    return Finding(
        lines,
        panels,
        says="Neighbours differ in one edge. By its recipe means: Algorithm 3 with the noise of Algorithm 1 "
        "(α = 1), which says ε and really loses ε/√N. Veil's edges and density are one number asked with all "
        "of ε; its paths and kept edges are those of another release, a graph at the same ε, decoded. "
        "Pygmalion, PBCN and LDPGen are in Section 8.2.",
        stand_in=" ".join(
            stand_in(
                known,
                "kept edges and paths of a decoded graph are those of the "
                f"{known.name.removeprefix('made-up ')}. All other numbers follow from nodes and edges.",
            )
            for known in both
            if not known.real
        ),
    )


def _kept_lines(known: Network, guesses: dict[float, Decoded]) -> list[Line]:
    """What a released graph holds of the true edges."""
    edges, pairs, lines = len(known.graph), known.graph.space.count, []
    for epsilon, guess in guesses.items():
        noise = xor_parameters(epsilon, 1.0, known.nodes, known.nodes, 2)
        flip = XorGraph(noise, complement=False).flip_rate
        shown = edges_of_algorithm_3(edges, pairs, flip)
        lines += [
            Line(f"share of the edges of a released graph that are true, ε = {epsilon:g} ({known.name})", "",
                 edges * (1.0 - flip) ** 2 / shown, precision(guess.larger, known.graph),
                 f"Algorithm 3 releases {shown:,.0f} edges, no more of them true than of any pairs. Veil "
                 "releases each pair on its own too, then decodes: what all pairs say together tells which "
                 f"are likely. Its graph has {len(guess.larger):,} edges here.",
                 headline=known.real and known.paper == "Facebook" and epsilon == 1.0),
            Line(f"share of the true edges in a graph of {len(guess.larger):,} edges, ε = {epsilon:g} "
                 f"({known.name})", "", None, kept(guess.larger, known.graph),
                 "Algorithm 3 does not release so few. No mechanism that draws pair by pair, all pairs "
                 f"alike, keeps more than {kept_at_most(len(guess.larger), edges, pairs, epsilon):.2g} of "
                 f"them: a bound. In a graph of {len(guess.graph):,} edges Veil keeps "
                 f"{kept(guess.graph, known.graph):.0%}."),
        ]  # fmt: skip
    return lines


def _plain_lines(known: Network) -> list[Line]:
    """The networks themselves."""
    name = known.paper
    printed = letters(name, "non-private", TABLE_2[name]["non-private"][math.inf])
    nodes, edges, diameter, mean, apart = NODES[name], None, None, None, 0.0
    if known.real:
        found = path_lengths(near(known.graph))
        edges, diameter, apart = len(known.graph) / UNIT[name][0], found.diameter, found.mean
        mean = apart * (nodes - 1) / nodes
    self_paths = "The paper's code counts every node's path to itself too"
    return [
        Line(f"{name}, not private: edges ({UNIT[name][1]})", printed[0], edges),
        Line(f"{name}, not private: diameter", printed[1], diameter),
        Line(f"{name}, not private: density", printed[2], EDGES[name] / math.comb(nodes, 2)),
        Line(f"{name}, not private: mean path length", printed[3], mean,
             why=f"{self_paths}; without, it is {apart:.3f}." if known.real else f"{self_paths}."),
    ]  # fmt: skip


def _released_lines(known: Network, row: PrintedRelease, asked: float, own: PathLengths | None) -> list[Line]:
    """A column of the paper's own releases. own: the paths of Veil's decoded graph."""
    name = known.paper
    unit, power, _ = UNIT[name]
    nodes = NODES[name]
    pairs = math.comb(nodes, 2)
    flip = XorGraph(xor_parameters(row.epsilon, 1.0, nodes, nodes, 2), complement=False).flip_rate
    density = row.algorithm_3 / pairs
    diameter, mean = dense_paths(nodes, density, min(flip, 1.0 - flip) ** 2)
    column, true = TABLE_2[name]["XOR"][row.epsilon], TABLE_2[name]["non-private"][math.inf]
    printed = letters(name, "XOR", column)
    own = own if known.real else None
    head = f"{name}, XOR at ε = {row.epsilon:g}: "
    apart = "" if own is None else f" Veil: of the decoded graph, in which {own.connected:.0%} of the pairs "
    return [
        Line(head + f"edges ({power})", printed[0], row.algorithm_3 / unit, asked / unit,
             "Algorithm 3 shows a pair if two nearly fair coins agree: a quarter of all pairs. Randomised "
             f"response of every pair would show {row.plain / unit:.1f}. Veil asks for the number itself. At "
             f"most {row.kept_at_most:.2g} of the true edges are among {row.printed:,.0f} released ones, if "
             "pairs are drawn one by one and all alike: a bound."),
        Line(head + "diameter", printed[1], diameter, None if own is None else float(own.diameter),
             "With a quarter of all pairs joined, any two nodes have a neighbour in common."
             + (apart and apart + f"are joined by a path; the network has {true.diameter}.")),
        Line(head + "density", printed[2], density, asked / pairs, "As the edges."),
        Line(head + "mean path length", printed[3], mean, None if own is None else own.mean,
             "1 for the joined pairs, 2 for all others."
             + (apart and f" Veil: of the decoded graph. The network has {true.path_length}.")),
        Line(head + "loss of an edge", f"{row.epsilon:g}", row.epsilon / math.sqrt(nodes), row.epsilon,
             "Algorithm 1's noise spends 1/√N of what it is given. To release as few edges as are printed, "
             f"Algorithm 3 would have to lose {row.implied_loss:.2f}."),
    ]  # fmt: skip


def _mended_line() -> Line:
    """Algorithm 3 where it spends what it says."""
    nodes, edges = NODES["Facebook"], EDGES["Facebook"]
    flip = 1.0 / (1.0 + math.exp(0.5))
    found = edges_of_algorithm_3(edges, math.comb(nodes, 2), flip)
    true = edges * (1.0 - flip) ** 2
    return Line("Facebook, Algorithm 3 mended to lose ε = 1 in full",
                why=f"Not the paper's recipe, but its own budget: it would release {found:,.0f} edges, "
                f"with {(1.0 - flip) ** 2:.0%} of the true ones and {found / true - 1.0:.0f} false ones to "
                "each.")  # fmt: skip


def _misfit_lines() -> list[Line]:
    """Where numbers of one printed column do not fit together."""
    return [
        line
        for name, mechanisms in TABLE_2.items()
        for mechanism in ("Pygmalion", "PBCN", "LDPGen")
        for epsilon, column in mechanisms[mechanism].items()
        for line in _misfits(
            f"{name}, {mechanism} at ε = {epsilon:g}: ", NODES[name], column, letters(name, mechanism, column)
        )
    ]


def _misfits(head: str, nodes: int, column: NetworkStatistics, text: tuple[str, ...]) -> list[Line]:
    """Printed numbers of a column that its own number of edges rules out."""
    density, lines = column.edges / math.comb(nodes, 2), []
    if abs(column.density / density - 1.0) > 0.05:
        why = "The printed density does not fit the printed edges."
        lines.append(Line(head + "density", text[2], density, why=why))
    least = (2.0 - density) * (nodes - 1) / nodes
    if column.path_length is not None and column.path_length < least - 0.001:
        why = "Pairs without an edge are at least 2 apart: the printed mean is too small for the edges."
        lines.append(Line(head + "least mean path length", text[3], least, why=why))
    return lines


def _triangle_line(known: Network, rng: Rng) -> Line:
    out = release(PrivateGraph(1.0, statistics=["triangles"], share=1.0), known.graph, rng=rng)
    asked = estimates(out).triangles
    assert asked is not None
    true = count_triangles(near(known.graph))
    why = f"The network has {true:,}. Asked directly, with all of ε, by the ladder."
    return Line("Facebook, triangles at ε = 1 (not in the table)", "", None, f"{asked.value:,.0f}", why)


def _edges_panel(name: str, asked: dict[tuple[str, float], float]) -> Panel:
    unit, power, _ = UNIT[name]
    grid = np.linspace(0.1, 8.0, 80)
    pairs, edges = math.comb(NODES[name], 2), EDGES[name]
    rows = table_2_edges(name)
    plain = [edges_of_plain_release(edges, pairs, float(epsilon)) / unit for epsilon in grid]
    return Panel(
        f"{name}: released edges",
        "ε for an edge",
        f"edges ({power})",
        [
            Curve("Algorithm 3", STATED, [row.algorithm_3 / unit for row in rows], "paper"),
            Curve("randomised response of every pair", grid.tolist(), plain, "exact", "dashed"),
            Curve("Veil", STATED, [asked[name, epsilon] / unit for epsilon in STATED], "veil", "points"),
            Curve("the network", [0.1, 8.0], [edges / unit] * 2, "truth", "dotted"),
            Curve("printed, XOR", STATED, [row.printed / unit for row in rows], "printed", "points"),
        ],
        log_y=True,
    )


def _kept_panel(known: Network, guesses: dict[float, Decoded]) -> Panel:
    edges, pairs = len(known.graph), known.graph.space.count
    grid = np.linspace(0.1, 8.0, 80).tolist()
    few = [kept_at_most(edges * longer(known.paper, epsilon), edges, pairs, epsilon) for epsilon in STATED]
    every = [kept_at_most(edges, edges, pairs, epsilon) for epsilon in grid]
    ours = [kept(guess.graph, known.graph) for guess in guesses.values()]
    return Panel(f"{known.name}: true edges kept", "ε for an edge", "share of the true edges",
        [
            Curve("at most, in as many edges as printed", STATED, few, "other", "points"),
            Curve("at most, pair by pair, in as many as there are", grid, every, "another", "dashed"),
            Curve("Veil, decoded, in as many as estimated", list(guesses), ours, "veil", "points"),
        ])  # fmt: skip
