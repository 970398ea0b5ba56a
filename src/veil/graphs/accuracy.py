"""The errors of facts about a graph, on public stand-ins for it: what graphs may be like, or a given one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.random.discrete import sample_discrete_laplace
from veil.core.span import Span
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph, triangle_costs
from veil.graphs.numerics.degrees import L1_SENSITIVITY, DegreeProfile
from veil.graphs.numerics.ladder import ladder_rule
from veil.graphs.numerics.local_sensitivity import TriangleSensitivity, triangle_sensitivity
from veil.graphs.numerics.triangles import Integers, count_triangles, neighbours
from veil.graphs.samplers.ladder import sample_ladder

_SEED = 71
# Of each made-up graph, and of one that was given; and so many times of a single number.
_DRAWS, _DRAWS_GIVEN, _TRIANGLES = 6, 30, 600
# Larger made-up graphs than this take longer than a plan should.
MOST_EDGES, MOST_NODES = 500_000, 100_000
# How fast the shares of edges fall from one node to the next where few have most.
_FALL = 0.8
# The shape of the law of nodes' shares where degrees are of all sizes, which are the hardest to tell.
_UNEVEN = 0.5


@dataclass(frozen=True, eq=False)
class GraphProfile:
    """What of an undirected graph decides about the noise on facts. words: for people."""

    words: str
    degrees: Integers
    triangles: int
    sensitivity: TriangleSensitivity

    @classmethod
    def of(cls, words: str, nodes: int, rows: Integers, columns: Integers) -> GraphProfile:
        """That of a graph with these edges, each once and none a loop."""
        near = neighbours(nodes, rows, columns)
        falling = np.sort(near.degrees)[::-1]
        return cls(words, falling, count_triangles(near), triangle_sensitivity(near))

    @classmethod
    def given(cls, graph: Graph, nodes: int) -> GraphProfile:
        """That of a public graph, with nodes that have no edge up to this number."""
        return cls.of("the typical graph given", nodes, *graph.edges(loops=False))


def made_up(nodes: int, edges: int) -> tuple[GraphProfile, ...]:
    """Public graphs of several kinds with so many edges or so, the usual one first; none of very many."""
    if nodes > MOST_NODES or edges > MOST_EDGES:
        return ()
    rng = np.random.default_rng(_SEED)
    fall = np.arange(1, nodes + 1, dtype=np.float64) ** -_FALL
    anyone, side = np.full(nodes, 1.0), nodes // 2
    circle = max(1, round(edges / nodes))
    places = np.repeat(np.arange(nodes), circle)
    ahead = np.tile(np.arange(1, circle + 1), nodes)
    size = min(nodes, max(2, 1 + round(2 * edges / nodes)))
    drawn = {
        "few nodes with most of the edges": _pairs(rng, nodes, edges, fall),
        "edges between any nodes alike": _pairs(rng, nodes, edges, anyone),
        "degrees of all sizes": _pairs(rng, nodes, edges, rng.standard_gamma(_UNEVEN, nodes)),
        "two sides, and no edge within one": (
            rng.integers(0, side, size=edges),
            rng.integers(side, nodes, size=edges),
        ),
        "groups that are joined throughout": _groups(nodes, size),
        "nodes in a circle, joined to the next ones": (places, (places + ahead) % nodes),
    }
    return tuple(GraphProfile.of(words, nodes, *_once(nodes, *ends)) for words, ends in drawn.items())


def made_up_edges(nodes: int, edges: int) -> tuple[Integers, Integers]:
    """The ends of the edges of a public graph in which few nodes have most of them."""
    fall = np.arange(1, nodes + 1, dtype=np.float64) ** -_FALL
    return _once(nodes, *_pairs(np.random.default_rng(_SEED), nodes, edges, fall))


def _pairs(
    rng: np.random.Generator, nodes: int, edges: int, weights: np.ndarray
) -> tuple[Integers, Integers]:
    shares = weights / weights.sum()
    rows, columns = (rng.choice(nodes, size=edges, p=shares) for _ in range(2))
    return rows, columns


def _groups(nodes: int, size: int) -> tuple[Integers, Integers]:
    first, second = np.triu_indices(size, 1)
    begins = np.arange(0, nodes - size + 1, size)[:, None]
    return (begins + first).ravel(), (begins + second).ravel()


def _once(nodes: int, rows: Integers, columns: Integers) -> tuple[Integers, Integers]:
    """Every pair once, and no loops."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    codes = np.unique((low * nodes + high)[low != high])
    return codes // nodes, codes % nodes


@dataclass(frozen=True)
class FactError:
    """The mean error of a fact that is asked directly, over several graphs."""

    name: str
    span: Span


def fact_errors(mechanism: PrivateGraph, profiles: tuple[GraphProfile, ...]) -> tuple[FactError, ...]:
    """Of every fact that is released besides; of degrees and triangles only where graphs are known."""
    told = []
    for name in mechanism.statistics:
        cost = mechanism.costs[name]
        if name == "edges":
            told.append(FactError("number of edges", Span((laplace_error(cost),))))
        elif profiles:
            measured = _degree_error if name == "degrees" else _triangle_error
            draws = _DRAWS_GIVEN if len(profiles) == 1 else _DRAWS
            span = Span(tuple(measured(profile, cost, draws) for profile in profiles))
            words = "degree, in falling order" if name == "degrees" else "number of triangles"
            told.append(FactError(words, span if len(profiles) == 1 else span.spared(math.inf)))
    return tuple(told)


def laplace_error(rate: float) -> float:
    """The mean of |z| for noise with P(z) proportional to e^(-rate |z|)."""
    return 1.0 / math.sinh(rate) if rate < 700.0 else 0.0


def _degree_error(profile: GraphProfile, cost: float, draws: int) -> float:
    """Of one degree, once the noisy ones are fitted by falling ones."""
    asked = DegreeProfile.among(len(profile.degrees))
    true, scale = asked.of(profile.degrees), L1_SENSITIVITY / Fraction(cost)
    rng, errors = np.random.default_rng(_SEED), []
    for _ in range(draws):
        noisy = true + sample_discrete_laplace(rng, scale=scale, size=asked.size)
        fitted = asked.degrees(noisy, scale=float(scale))
        errors.append(np.abs(fitted - profile.degrees).mean())
    return float(np.mean(errors))


def _triangle_error(profile: GraphProfile, cost: float, draws: int) -> float:
    counting, _ = triangle_costs(cost)
    ladder = ladder_rule(len(profile.degrees), counting).ladder(profile.sensitivity)
    rng = np.random.default_rng(_SEED)
    off = sample_ladder(rng, ladder=ladder, size=_TRIANGLES * draws)
    # No number below 0 is told.
    return float(np.abs(np.maximum(off, -profile.triangles)).mean())
