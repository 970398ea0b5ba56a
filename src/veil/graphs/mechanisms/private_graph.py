"""A graph and a few facts about it, asked directly, for one budget (proofs in bits.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.bit_mechanism import LARGEST_EPSILON
from veil.core.adjacency import Adjacency
from veil.core.checks import items, positive, within
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Described, adjacency_of
from veil.core.numerics.rounding import charge_above, float_below, stated
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import OnGraphs, RandomizedResponse
from veil.graphs.numerics.degrees import L1_SENSITIVITY, DegreeProfile
from veil.graphs.numerics.ladder import ladder_rule
from veil.graphs.numerics.local_sensitivity import triangle_sensitivity
from veil.graphs.numerics.pairs import KINDS, MOST_NODES, Kind, PairSpace
from veil.graphs.numerics.triangles import Integers, count_triangles, neighbours
from veil.graphs.samplers.ladder import sample_ladder

STATISTICS = ("degrees", "edges", "triangles")
# The part of epsilon that goes to the statistics, if any are asked for.
SHARE = 0.1
# How that part is divided: a sequence of degrees needs more than a single number.
_WEIGHTS = {"degrees": 4, "edges": 1, "triangles": 2}
# Of what goes to triangles, the part for how far their noise reaches.
_SHARING = Fraction(1, 10)


@dataclass(frozen=True, eq=False, repr=False)
class GraphDraw:
    """A private graph (None if only facts were asked for), and the private facts as whole numbers."""

    graph: Graph | None
    tables: dict[str, Integers]


@dataclass(frozen=True)
class PrivateGraph(OnGraphs, Described):
    """Randomised response of every pair, and beside it facts that were asked directly.

    epsilon: what all of it costs together. statistics: some of "degrees" (which there are, not whose),
    "edges" and "triangles" (their numbers). share: the part of epsilon that goes to them; 1 releases them
    alone.

    On all but small graphs a fact that is asked directly is far more exact than one that is read off a
    released graph. Decoding keeps as many edges as it says, and can be made to agree with the degrees.
    """

    epsilon: float
    _: KW_ONLY
    statistics: Sequence[str] = ()
    share: float | None = None
    name: ClassVar[str] = "PrivateGraph"

    def __post_init__(self) -> None:
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        expected = f"some of {', '.join(STATISTICS)}"
        asked: tuple[Any, ...] = (self.statistics,)
        if not isinstance(self.statistics, str):
            asked = tuple(items("statistics", self.statistics, expected=expected))
        for name in asked:
            if not isinstance(name, str) or name not in STATISTICS:
                found = repr(name)[:40] if isinstance(name, str) else "others"
                near = get_close_matches(name, STATISTICS, 1) if isinstance(name, str) else []
                hint = f"Did you mean {near[0]!r}?" if near else ""
                raise InvalidArgument("statistics", expected=expected, found=found, hint=hint)
        # In an order of their own: the same facts make the same mechanism.
        object.__setattr__(self, "statistics", tuple(name for name in STATISTICS if name in asked))
        share = (SHARE if asked else 0.0) if self.share is None else self.share
        share = within("share", share, 0.0, 1.0, expected="a part of epsilon between 0 and 1")
        if (share > 0.0) != bool(asked):
            raise InvalidArgument(
                "share",
                expected="more than 0 for {statistics}" if asked else "{statistics} with it, to spend it on",
                found=f"{share:g}" if asked else "none",
                names=("statistics",),
            )
        object.__setattr__(self, "share", share)
        if any(cost < 1e-9 for cost in self.costs.values()):
            raise InvalidArgument(
                "share", expected="a part that leaves something for each", found=f"{share:g}"
            )

    @cached_property
    def costs(self) -> dict[str, float]:
        """What each part is given; together not more than epsilon."""
        assert self.share is not None
        total, share = stated(self.epsilon), Fraction(self.share)
        weight = sum(_WEIGHTS[name] for name in self.statistics)
        parts = {name: float_below(total * share * _WEIGHTS[name] / weight) for name in self.statistics}
        if share < 1:
            parts["graph"] = float_below(total - sum(map(Fraction, parts.values()), Fraction(0)))
        return parts

    @property
    def response(self) -> RandomizedResponse | None:
        """What is done to the pairs; None if they are not released."""
        return RandomizedResponse(self.costs["graph"]) if "graph" in self.costs else None

    @property
    def flip_rate(self) -> float:
        """The probability that a pair is wrong in the released graph."""
        response = self.response
        if response is None:
            raise InvalidArgument("share", expected="less than 1 for a released graph", found="1")
        return response.flip_rate

    def certified_epsilon(self, adjacency: Adjacency | None = None) -> float:
        """The loss that is proved: so much for every edge in which neighbours differ."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        each = sum(map(Fraction, self.costs.values()), Fraction(0))
        return charge_above(each * near.count)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Of several edges only that the loss adds up: a count moves by all of them at once, so that its loss
        is not that of as many independent answers, and only one response to all of it bounds it."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        loss = self.epsilon if near.count == 1 else self.certified_epsilon(near)
        return RandomizedResponses(loss, kind="upper bound")

    def validate(self, value: Any) -> Graph:
        graph = super().validate(value)
        if self.response is not None:
            self.response.check_size(graph.space)
        self.check_kind(graph.space.kind)
        return graph

    def check_kind(self, kind: str) -> None:
        """Refuse facts that only undirected graphs have."""
        if kind != "undirected" and set(self.statistics) - {"edges"}:
            raise InvalidArgument("statistics", expected=f"edges alone for a {kind} graph", found="others")

    def draw_graphs(self, rng: Rng, graph: Graph, times: int) -> list[GraphDraw]:
        facts = {name: _FACTS[name](rng, graph, self.costs[name], times) for name in self.statistics}
        tables = [{name: numbers[place] for name, numbers in facts.items()} for place in range(times)]
        if self.response is not None:
            drawn = self.response.draw_graphs(rng, graph, times)
            return [GraphDraw(one, table) for one, table in zip(drawn, tables, strict=True)]
        # Public, and needed to read the facts.
        space = graph.space
        nodes = np.array([space.rows, space.columns, KINDS.index(space.kind), int(space.loops)])
        return [GraphDraw(None, table | {"nodes": nodes.copy()}) for table in tables]


def read_space(numbers: Integers) -> PairSpace:
    """Which pairs there are, as facts alone say it: nodes of both sides, the kind, and whether with loops."""
    rows, columns, kind, loops = (int(number) for number in numbers)
    if not (1 <= rows <= MOST_NODES and 1 <= columns <= MOST_NODES and kind in (0, 1, 2) and loops in (0, 1)):
        raise InvalidArgument("nodes", expected="numbers of nodes, a kind and loops", found="others")
    if KINDS[kind] != "bipartite" and rows != columns:
        raise InvalidArgument("nodes", expected="as many rows as columns", found="others")
    return PairSpace(cast("Kind", KINDS[kind]), rows, columns, bool(loops))


# Facts: a row of numbers for each of so many times.


def _noisy_edges(rng: Rng, graph: Graph, epsilon: float, times: int) -> Integers:
    noise = sample_discrete_laplace(rng, scale=1 / Fraction(epsilon), size=times)
    return len(graph) + noise[:, None]


def _noisy_degrees(rng: Rng, graph: Graph, epsilon: float, times: int) -> Integers:
    """The profile of the degrees, loops aside, with noise on each number: an edge changes it by two."""
    degrees = np.bincount(np.append(*graph.edges(loops=False)), minlength=graph.space.rows)
    profile = DegreeProfile.among(graph.space.rows)
    scale = L1_SENSITIVITY / Fraction(epsilon)
    noise = sample_discrete_laplace(rng, scale=scale, size=times * profile.size)
    return profile.of(degrees) + noise.reshape(times, profile.size)


def _noisy_triangles(rng: Rng, graph: Graph, epsilon: float, times: int) -> Integers:
    """The triangles, and the most neighbours that two nodes share: with it a reader knows how far the noise
    on the triangles reaches."""
    near = neighbours(graph.space.rows, *graph.edges(loops=False))
    sensitivity = triangle_sensitivity(near)
    counting, sharing = triangle_costs(epsilon)
    rule = ladder_rule(graph.space.rows, counting)
    offset = sample_ladder(rng, ladder=rule.ladder(sensitivity), size=times)
    # It changes by one at most: local_sensitivity.py.
    shared = sensitivity.at(np.zeros(1, dtype=np.int64))
    shared = shared + sample_discrete_laplace(rng, scale=1 / Fraction(sharing), size=times)
    return np.column_stack([count_triangles(near) + offset, shared])


def triangle_costs(epsilon: float) -> tuple[float, float]:
    """What of epsilon goes to the count, and to how far its noise reaches."""
    sharing = float_below(Fraction(epsilon) * _SHARING)
    return float_below(Fraction(epsilon) - Fraction(sharing)), sharing


_FACTS = {"degrees": _noisy_degrees, "edges": _noisy_edges, "triangles": _noisy_triangles}
