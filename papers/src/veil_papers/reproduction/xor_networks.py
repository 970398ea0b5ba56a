"""The XOR paper, reproduced: the networks that its exhibits share, and Table 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.core.job import release
from veil.core.random.streams import Rng
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.decoding import pair_chances
from veil.graphs.numerics.pairs import PairSpace
from veil.graphs.numerics.structure import PathLengths, path_lengths
from veil.graphs.numerics.triangles import Neighbours, count_triangles, neighbours
from veil.graphs.planning import kept_at_most
from veil.samples.friends import clubs, friends
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel
from veil_papers.xor_figures import EDGES, PrintedRelease, edges_of_algorithm_3, table_2_edges
from veil_papers.xor_mechanism import NODES, TABLE_2, NetworkStatistics, edges_of_plain_release

# As Table 2 counts edges, and with so many digits.
_UNIT = {"Facebook": (1e5, "×10⁵", 2), "Email": (1e4, "×10⁴", 3)}
_STATED = (1.0, 0.6, 0.2)
# Rarer than anything that could be seen.
_NEVER = 1e-12


@dataclass(frozen=True, slots=True)
class Network:
    """A network with its true groups, which may overlap, and how it is called."""

    graph: Graph
    groups: list[list[int]]
    name: str
    real: bool


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded release: with as many edges as are estimated, and with as many as the paper prints."""

    graph: Graph
    larger: Graph


def network(run: Run) -> Network:
    """The Facebook network where it is at hand (without the circles it has no groups); else a made-up one."""
    path = run.data.file("friends")
    return _town() if path is None else _facebook(path, run.data.file("circles"))


@lru_cache(maxsize=2)
def _facebook(path: Path, circles: Path | None) -> Network:
    graph = Graph.from_edges(np.loadtxt(path, dtype=np.int64).tolist(), NODES["Facebook"])
    groups: list[list[int]] = []
    if circles is not None:
        members = np.loadtxt(circles, delimiter=",", dtype=np.int64, skiprows=1)[:, 1:]
        groups = [np.flatnonzero(column).tolist() for column in members.T]
    return Network(graph, groups, "Facebook", real=True)


@lru_cache(maxsize=1)
def _town() -> Network:
    club = clubs()
    people = list(club)
    groups = [[i for i, one in enumerate(people) if club[one] == name] for name in sorted(set(club.values()))]
    place = {person: i for i, person in enumerate(people)}
    graph = Graph.from_edges([(place[a], place[b]) for a, b in friends()], len(people))
    return Network(graph, groups, "made-up town", real=False)


def stand_in(known: Network, what: str) -> str:
    """What replaced the Facebook network, if anything did."""
    if known.real:
        return ""
    return (
        f"The Facebook network is not at hand (--data). A made-up town of {known.graph.space.nodes} people "
        f"in six clubs, with {len(known.graph):,} friendships, takes its place: {what}"
    )


def of_facebook(known: Network, printed: str) -> str:
    """A printed number; with whose it is where another network takes its place."""
    return printed if known.real else f"{printed} (Facebook)"


def near(graph: Graph) -> Neighbours:
    return neighbours(graph.space.rows, *graph.edges())


def released(run: Run, known: Network, epsilon: float) -> Graph:
    """A plain release: every pair by randomised response. The same for all exhibits."""
    drawn: Graph = RandomizedResponse(epsilon).sample(known.graph, rng=run.rng(f"XO release {epsilon:g}"))
    return drawn


def by_algorithm_3(known: Network, epsilon: float, rng: Rng) -> Graph:
    """Algorithm 3 with the parameters of Algorithm 1 at alpha = 1, as printed."""
    nodes = known.graph.space.nodes
    noise = xor_parameters(epsilon, 1.0, nodes, nodes, 2)
    drawn: Graph = XorGraph(noise, complement=False).sample(known.graph, rng=rng)
    return drawn


# Decoding is most of the work, and two exhibits show the same releases.
_DECODED: dict[tuple[int, float], Decoded] = {}


def decoded(run: Run, known: Network, epsilon: float) -> Decoded:
    """The plain release at epsilon, decoded as `veil.graphs.decode` does it."""
    key = (hash(known.graph), epsilon)
    if key not in _DECODED:
        run.tell(f"decoding at ε = {epsilon:g}")
        mechanism = RandomizedResponse(epsilon)
        out = release(mechanism, known.graph, rng=run.rng(f"XO release {epsilon:g}"))
        chances = pair_chances(space=out.value.space, codes=out.value.codes, flip=mechanism.flip_rate)
        likeliest = chances.likeliest(round(estimates(out).edges.value))
        more = chances.likeliest(round(len(known.graph) * _longer(epsilon)))
        _DECODED[key] = Decoded(known.graph.replaced(likeliest), known.graph.replaced(more))
    return _DECODED[key]


def _longer(epsilon: float) -> float:
    """How many times the true edges the paper prints; as many as there are where it prints none."""
    column = TABLE_2["Facebook"]["XOR"].get(epsilon)
    return 1.0 if column is None else column.edges / EDGES["Facebook"]


def kept(graph: Graph, true: Graph) -> float:
    """The share of the true edges that a graph holds."""
    return len(np.intersect1d(graph.codes, true.codes, assume_unique=True)) / len(true)


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
    unit, _, digits = _UNIT[name]
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
    known, rng = network(run), run.rng("XO Table 2")
    shown = _STATED if known.real and not run.quick else _STATED[:1]
    guesses = {epsilon: decoded(run, known, epsilon) for epsilon in shown}
    paths = {epsilon: path_lengths(near(guess.graph)) for epsilon, guess in guesses.items()}
    asked = {
        (name, epsilon): asked_edges(NODES[name], edges, epsilon, rng)
        for name, edges in EDGES.items()
        for epsilon in _STATED
    }
    lines = _kept_lines(known, guesses)
    lines += _plain_lines(known)
    for name in NODES:
        for row in table_2_edges(name):
            lines += _released_lines(name, row, asked[name, row.epsilon], paths if known.real else {})
    lines += [_mended_line(), *_other_lines()]
    if known.real:
        lines.append(_triangle_line(known, rng))
    return Finding(
        lines,
        [_edges_panel(name, asked) for name in NODES] + [_kept_panel(known, guesses)],
        says="Neighbours differ in one edge. By its recipe means: Algorithm 3 with the noise of Algorithm 1 "
        "(α = 1), which says ε and really loses ε/√N. The numbers of edges that are printed would take "
        "a loss of 2 to 6 instead. Veil's edges and density are one number asked with all of ε; its paths "
        "and kept edges are those of another release, a graph at the same ε, decoded. The Email "
        "network is not at hand: all that is said of it follows from its nodes, its edges and ε. Pygmalion, "
        "PBCN and LDPGen are other papers' mechanisms: shown, not reproduced; only their densities follow "
        "from their edges.",
        stand_in=stand_in(
            known,
            "kept edges of a decoded graph are those of the town. All other numbers follow from the "
            "nodes and edges of the two networks, and can be compared.",
        ),
    )


def _kept_lines(known: Network, guesses: dict[float, Decoded]) -> list[Line]:
    """What released edges can hold of the true ones, and what a decoded graph holds."""
    edges, pairs = len(known.graph), known.graph.space.count
    lines = [
        Line(f"share of the true edges in a graph of {len(guess.larger):,} edges, ε = {epsilon:g} "
             f"({known.name})", "", kept_at_most(len(guess.larger), edges, pairs, epsilon),
             kept(guess.larger, known.graph),
             "By its recipe: the most that any release can keep which treats every pair alike and on its "
             "own. Veil releases each pair on its own too, then decodes: what all pairs say together "
             f"tells which are likely. In a graph of {len(guess.graph):,} edges it keeps "
             f"{kept(guess.graph, known.graph):.0%}.", headline=known.real and epsilon == 1.0)
        for epsilon, guess in guesses.items()
    ]  # fmt: skip
    return lines + [
        Line(f"share of the true edges that {row.printed:,.0f} released ones can hold, ε = {row.epsilon:g} "
             f"({name})", "", row.kept_at_most,
             why="At most, pair by pair: the rest of the released edges would be false.")
        for name in NODES
        for row in table_2_edges(name)
        if name != known.name or row.epsilon not in guesses
    ]  # fmt: skip


def _plain_lines(known: Network) -> list[Line]:
    """The networks themselves."""
    facebook = letters("Facebook", "non-private", TABLE_2["Facebook"]["non-private"][math.inf])
    email = letters("Email", "non-private", TABLE_2["Email"]["non-private"][math.inf])
    nodes, edges, diameter, mean = NODES["Facebook"], None, None, None
    if known.real:
        found = path_lengths(near(known.graph))
        edges, diameter, mean = len(known.graph) / 1e5, found.diameter, found.mean * (nodes - 1) / nodes
    return [
        Line("Facebook, not private: edges (×10⁵)", facebook[0], edges),
        Line("Facebook, not private: diameter", facebook[1], diameter),
        Line("Facebook, not private: density", facebook[2], EDGES["Facebook"] / math.comb(nodes, 2)),
        Line("Facebook, not private: mean path length", facebook[3], mean,
             why="The paper's code counts every node's path to itself too; without, it is 3.693."),
        Line("Email, not private: density", email[2], EDGES["Email"] / math.comb(NODES["Email"], 2)),
        Line("Email, not private: edges (×10⁴), diameter, mean path length",
             f"{email[0]}; {email[1]}; {email[3]}", why="The network is not at hand."),
    ]  # fmt: skip


def _released_lines(
    name: str, row: PrintedRelease, asked: float, paths: dict[float, PathLengths]
) -> list[Line]:
    """A column of the paper's own releases."""
    unit, power, _ = _UNIT[name]
    nodes = NODES[name]
    pairs = math.comb(nodes, 2)
    flip = XorGraph(xor_parameters(row.epsilon, 1.0, nodes, nodes, 2), complement=False).flip_rate
    density = row.algorithm_3 / pairs
    diameter, mean = dense_paths(nodes, density, min(flip, 1.0 - flip) ** 2)
    printed = letters(name, "XOR", TABLE_2[name]["XOR"][row.epsilon])
    own = paths.get(row.epsilon) if name == "Facebook" else None
    head = f"{name}, XOR at ε = {row.epsilon:g}: "
    apart = "" if own is None else f" Veil: of the decoded graph, in which {own.connected:.0%} of the pairs "
    return [
        Line(head + f"edges ({power})", printed[0], row.algorithm_3 / unit, asked / unit,
             "Algorithm 3 shows a pair if two nearly fair coins agree: a quarter of all pairs. Randomised "
             f"response of every pair would show {row.plain / unit:.1f}. Veil asks for the number itself."),
        Line(head + "diameter", printed[1], diameter, None if own is None else float(own.diameter),
             "With a quarter of all pairs joined, any two nodes have a neighbour in common."
             + (apart and apart + "are joined by a path; the network has 8.")),
        Line(head + "density", printed[2], density, asked / pairs, "As the edges."),
        Line(head + "mean path length", printed[3], mean, None if own is None else own.mean,
             "1 for the joined pairs, 2 for all others."
             + (apart and " Veil: of the decoded graph. No private answer here is near the true 3.69.")),
        Line(head + "loss of an edge", f"{row.epsilon:g}", row.implied_loss, row.epsilon,
             "By its recipe: what Algorithm 3 loses if it does release as few edges as are printed. With "
             f"Algorithm 1's noise it loses {row.epsilon / math.sqrt(nodes):.4f}."),
    ]  # fmt: skip


def _mended_line() -> Line:
    """Algorithm 3 where it spends what it says."""
    nodes, edges = NODES["Facebook"], EDGES["Facebook"]
    flip = 1.0 / (1.0 + math.exp(0.5))
    found = edges_of_algorithm_3(edges, math.comb(nodes, 2), flip)
    true = edges * (1.0 - flip) ** 2
    return Line("Facebook, Algorithm 3 mended to lose ε = 1 in full: edges (×10⁵)", "", found / 1e5,
                why=f"It keeps {(1.0 - flip) ** 2:.0%} of the true edges, and to each of them "
                f"{found / true - 1.0:.0f} false ones.")  # fmt: skip


def _other_lines() -> list[Line]:
    """Other papers' mechanisms: what is printed, and where it does not fit together."""
    lines, broken = [], []
    for name, mechanisms in TABLE_2.items():
        for mechanism in ("Pygmalion", "PBCN", "LDPGen"):
            for epsilon, column in mechanisms[mechanism].items():
                text = letters(name, mechanism, column)
                density = column.edges / math.comb(NODES[name], 2)
                head = f"{name}, {mechanism} at ε = {epsilon:g}: "
                lines.append(
                    Line(head[:-2], "; ".join(text), f"density {density:.{len(text[2]) - 2}f}",
                         why=f"Edges ({_UNIT[name][1]}); diameter; density; mean path length.")
                )  # fmt: skip
                broken += _misfits(head, NODES[name], column, text)
    return lines + broken


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
    unit, power, _ = _UNIT[name]
    grid = np.linspace(0.1, 8.0, 80)
    pairs, edges = math.comb(NODES[name], 2), EDGES[name]
    rows = table_2_edges(name)
    plain = [edges_of_plain_release(edges, pairs, float(epsilon)) / unit for epsilon in grid]
    return Panel(
        f"{name}: released edges",
        "ε for an edge",
        f"edges ({power})",
        [
            Curve("Algorithm 3", _STATED, [row.algorithm_3 / unit for row in rows], "paper"),
            Curve("randomised response of every pair", grid.tolist(), plain, "exact", "dashed"),
            Curve("Veil", _STATED, [asked[name, epsilon] / unit for epsilon in _STATED], "veil", "points"),
            Curve("the network", [0.1, 8.0], [edges / unit] * 2, "truth", "dotted"),
            Curve("printed, XOR", _STATED, [row.printed / unit for row in rows], "printed", "points"),
        ],
        log_y=True,
    )


def _kept_panel(known: Network, guesses: dict[float, Decoded]) -> Panel:
    edges, pairs = len(known.graph), known.graph.space.count
    grid = np.linspace(0.1, 8.0, 80).tolist()
    few = [kept_at_most(edges * _longer(epsilon), edges, pairs, epsilon) for epsilon in _STATED]
    every = [kept_at_most(edges, edges, pairs, epsilon) for epsilon in grid]
    ours = [kept(guess.graph, known.graph) for guess in guesses.values()]
    return Panel(f"{known.name}: true edges kept", "ε for an edge", "share of the true edges",
        [
            Curve("at most, in as many edges as printed", _STATED, few, "other", "points"),
            Curve("at most, pair by pair, in as many as there are", grid, every, "another", "dashed"),
            Curve("Veil, decoded, in as many as estimated", list(guesses), ours, "veil", "points"),
        ])  # fmt: skip
