"""What a budget buys for a graph, before any data is touched: what is told of edges, what is kept of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from veil.core.baseline import Baseline
from veil.core.checks import within
from veil.core.errors import InvalidArgument
from veil.core.plan import Plan, beside
from veil.core.span import MEANS, SPARED, assumed
from veil.graphs.accuracy import FactError, GraphProfile, fact_errors, made_up
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.numerics.pairs import PairSpace

# Above the rounding of a few floating-point steps.
_ROUNDING = 2.0**-49
# Where nobody says how many edges there are, the errors beside knowing nothing are those of so many a node.
_SUPPOSED_EDGES = 10


@dataclass(frozen=True)
class FactPlan(Plan):
    """What to expect of facts about a graph; `edges` is a public guess of how many there are.

    profiles: public graphs on which the errors of facts are measured.
    """

    printer: ClassVar[str | None] = "veil.graphs.report.console:print_fact_plan"

    space: PairSpace
    epsilon: float
    edges: int | None
    mechanism: PrivateGraph
    profiles: tuple[GraphProfile, ...] = ()

    @cached_property
    def facts(self) -> tuple[FactError, ...]:
        """The mean errors of what is asked directly."""
        return fact_errors(self.mechanism, self.profiles)

    @property
    def assumes(self) -> str:  # type: ignore[override]
        """Of the graph itself errors depend on the number of edges alone, and those of facts on its shape."""
        if not self.profiles:
            return "Assumed: nothing of the graph but its size."
        told = assumed([profile.words for profile in self.profiles], of="graphs")
        return told if len(self.profiles) == 1 else f"{told} {MEANS} {SPARED}"

    @property
    def best(self) -> PrivateGraph:
        return self.mechanism

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.space.kind,
            "nodes": self.space.nodes,
            "pairs": self.space.count,
            "edges": self.edges,
            "epsilon": self.epsilon,
            "costs": self.mechanism.costs,
            "facts": {fact.name: fact.span.to_dict() for fact in self.facts},
            **beside(self),
        }


@dataclass(frozen=True)
class GraphPlan(FactPlan):
    """What to expect of a released graph, and of facts beside it."""

    printer: ClassVar[str | None] = "veil.graphs.report.console:print_graph_plan"

    @property
    def flip_rate(self) -> float:
        return self.mechanism.flip_rate

    @property
    def false_edges(self) -> float:
        """How many pairs that are not joined are to be expected in the release."""
        return self.flip_rate * (self.space.count - (self.edges or 0))

    @property
    def true_edges(self) -> float | None:
        """How many of the true edges are to be expected in the release."""
        return None if self.edges is None else (1.0 - self.flip_rate) * self.edges

    @property
    def released(self) -> float:
        return self.false_edges + (self.true_edges or 0.0)

    @property
    def precision(self) -> float | None:
        """The part of the released edges that are true."""
        return None if self.true_edges is None else self.true_edges / max(self.released, 1e-300)

    @property
    def kept(self) -> float | None:
        """The largest share of true edges in any release of as many edges that looks at each pair alone."""
        if not self.edges:
            return None
        return kept_at_most(self.edges, self.edges, self.space.count, self.mechanism.costs["graph"])

    @property
    def noise(self) -> float:
        """The standard deviation of one pair's unbiased value."""
        q = self.flip_rate
        return math.sqrt(q * (1.0 - q)) / (1.0 - 2.0 * q)

    @property
    def edge_error(self) -> float:
        """The standard deviation of the number of edges as read off the release."""
        return self.noise * math.sqrt(self.space.count)

    @property
    def degree_error(self) -> float:
        """The standard deviation of one node's degree as read off the release."""
        return self.noise * math.sqrt(self.space.most_neighbours)

    @property
    def even(self) -> float | None:
        """The epsilon at which a release has as many false edges as true ones."""
        if not self.edges:
            return None
        return math.log(max((self.space.count - self.edges) / self.edges, 1.0))

    @property
    def wrong_pairs(self) -> float:
        """How many pairs are to be expected wrong in the release, whatever the true graph is."""
        return self.flip_rate * self.space.count

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        if self.edges is None:
            return (supposed_baseline(self.space, self.flip_rate),)
        return (baseline_of(self.edges, self.wrong_pairs),)

    def to_dict(self) -> dict[str, Any]:
        names = "flip_rate wrong_pairs released false_edges true_edges precision kept"
        names += " edge_error degree_error even"
        return super().to_dict() | {name: getattr(self, name) for name in names.split()}


def baseline_of(edges: float, wrong: float, *, where: str = "") -> Baseline:
    """Wrong pairs of a graph as it is released, beside those of a graph without edges: all true edges.

    where: of how many edges, if that is taken for granted.
    """
    return Baseline(f"wrong pairs of the graph as released{where}", "no edges", edges, wrong)


def supposed_edges(space: PairSpace) -> int:
    """How many edges are taken for granted where nobody said."""
    return min(_SUPPOSED_EDGES * space.nodes, space.count // 2)


def profiles_for(space: PairSpace, edges: int | None, statistics: Sequence[str]) -> tuple[GraphProfile, ...]:
    """Public graphs of this size on which facts are measured, where their errors depend on the graph."""
    if not set(statistics) & {"degrees", "triangles"}:
        return ()
    return made_up(space.rows, supposed_edges(space) if edges is None else edges)


def supposed_baseline(space: PairSpace, flip_rate: float) -> Baseline:
    """That of a graph whose number of edges nobody said: a few for every node."""
    edges = supposed_edges(space)
    return baseline_of(edges, flip_rate * space.count, where=f" if there are {edges:,} edges")


def edge_leakage(zeta: float, epsilon: float) -> float:
    """At most how sure an attacker is of a pair who knows all others and the release: Theorem 4 repaired.

    m e^eps / (1 + m e^eps), m = max(zeta, 1/zeta). Proof: for either answer a, Bayes makes the posterior odds
    of a against its opposite the prior odds times Pr(O | a) / Pr(O | not a) <= e^eps. The prior odds are zeta
    or 1 / zeta, at most m; odds and probability grow together. It is attained: randomised response of that
    pair, whose answer is the likelier one. Rounded up.

    >>> round(edge_leakage(0.01, 1.0), 4)
    0.9963
    """
    odds = checked_odds(zeta)
    odds = max(odds, 1.0 / odds)
    # 1 / (1 + e^-eps / m), which does not overflow.
    return min(1.0, (1.0 + _ROUNDING) / (1.0 + math.exp(-checked_epsilon(epsilon)) / odds))


def kept_at_most(released: float, edges: float, pairs: float, epsilon: float) -> float:
    """The largest share of true edges in a release of so many edges, where each bit is of its own pair alone.

    min(1, T / (m + (M - m) e^-eps)) for T released and m true edges among M pairs, in expectation, for any
    mechanism whose released bit depends on its own pair, the same way for all pairs. Proof: let a and b be
    the probabilities that an edge and a pair without one are released as an edge. One bit's privacy asks a <=
    e^eps b, so T = m a + (M - m) b >= a (m + (M - m) e^-eps), and a is the share that is kept. Rounded up.

    >>> round(kept_at_most(1.13e5, 88_234, 8_154_741, 1.0), 3)
    0.037
    """
    if not 0.0 < edges <= pairs or not 0.0 <= released <= pairs:
        raise InvalidArgument(
            "edges", expected="more than 0, at most the pairs there are", found=f"{edges:g}"
        )
    others = (pairs - edges) * math.exp(-checked_epsilon(epsilon))
    return min(1.0, released / (edges + others) * (1.0 + _ROUNDING))


def checked_odds(zeta: float) -> float:
    """Prior odds, positive."""
    return within("zeta", zeta, 1e-300, 1e300, expected="positive prior odds")


def checked_epsilon(epsilon: float) -> float:
    """A privacy loss."""
    return within("epsilon", epsilon, 0.0, 1e300, expected="a number of at least 0")
