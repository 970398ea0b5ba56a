"""Every graph of up to five nodes and each of its neighbours: no loss is above the claim.

The facts and the scales of their noise are those that Veil's own code hands to its samplers; the laws of the
samplers are written down here. What is released in parts is drawn independently, so that the largest losses
of the parts add up to that of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from flint import arb

from tests.review.divergences import ball
from tests.review.small_graphs import Rungs, SmallGraphs, rungs_of
from tests.review.tails import precision
from tests.review.tally import Tally
from veil.bits import BitFlips
from veil.core.random.streams import generator
from veil.graphs import PrivateGraph, RandomizedResponse
from veil.graphs.mechanisms import private_graph, randomized_response
from veil.graphs.mechanisms.private_graph import triangle_costs
from veil.graphs.numerics.degrees import DegreeProfile
from veil.graphs.numerics.ladder import ladder_rule

STUDY = "all small graphs"
BITS = 256
EPSILONS = (0.05, 0.7, 2.0, 9.0)
STATISTICS = (("edges",), ("degrees",), ("triangles",), ("degrees", "edges", "triangles"))
KINDS = {
    "three nodes": [SmallGraphs(2), SmallGraphs(3), SmallGraphs(2, "directed"), SmallGraphs(2, loops=True)],
    "four nodes": [SmallGraphs(4), SmallGraphs(3, "directed"), SmallGraphs(2, "bipartite", columns=3)],
    "five nodes": [SmallGraphs(5), SmallGraphs(3, "directed", loops=True), SmallGraphs(4, "directed")],
}
# How many losses there are: of randomised response, and with facts.
ALL = {"three nodes": (252, 606), "four nodes": (15_744, 12_096), "five nodes": (588_800, 142_080)}
sizes = pytest.mark.parametrize(
    "size",
    [
        "three nodes",
        pytest.param("four nodes", marks=pytest.mark.slow),
        pytest.param("five nodes", marks=pytest.mark.evidence),
    ],
)


def log_ball(number: Fraction) -> arb:
    with precision(BITS):
        return ball(number).log()


@lru_cache(maxsize=4096)
def flip_odds(flip_rate: float) -> Fraction:
    """How much likelier a pair is right than wrong."""
    return (1 - Fraction(flip_rate)) / Fraction(flip_rate)


def compare(tally: Tally, loss: arb, claim: float, what: object) -> float:
    """One loss; returns the part of the claim that it reaches."""
    assert bool(loss > arb(claim)) or bool(loss <= arb(claim)), "the ball must tell"
    tally.add(f"{what}: {loss}, claimed {claim!r}", is_above=bool(loss > arb(claim)))
    return float(loss) / claim


@sizes
def test_randomized_response_of_all_graphs(size: str) -> None:
    """Every output of every two graphs that differ in up to three pairs."""
    tally, largest = Tally(f"{STUDY}, randomised response"), 0.0
    for graphs in KINDS[size]:
        outputs = np.arange(len(graphs))
        wrong = np.bitwise_count(outputs).astype(np.int64)
        most = 3 if len(graphs) <= 1024 else 1
        for epsilon in EPSILONS:
            mechanism = RandomizedResponse(epsilon)
            with precision(BITS):
                one = log_ball(flip_odds(mechanism.flip_rate))
                losses = [count * one for count in range(most + 1)]
            claims = [mechanism.profile(BitFlips(n)).pure_epsilon for n in range(1, most + 1)]
            for change, count in graphs.changes(most):
                # Of all graphs at once: an output is wrong in so many pairs for one, and for its neighbour.
                reached = np.zeros(len(graphs), dtype=np.int64)
                for graph in range(len(graphs)):
                    here, there = wrong[outputs ^ graph], wrong[outputs ^ graph ^ change]
                    reached[graph] = np.abs(here - there).max()
                for graph in np.flatnonzero(outputs < outputs ^ change).tolist():
                    what = f"{graphs}, {graph} and {graph ^ change} at {epsilon}"
                    loss = losses[int(reached[graph])]
                    largest = max(largest, compare(tally, loss, claims[count - 1], what))
    tally.close(ALL[size][0])
    assert largest > 1 - 1e-12


@dataclass
class Recorded:
    """What Veil's code asked its samplers for: scales of discrete Laplace noise, and ladders."""

    scales: list[Fraction] = field(default_factory=list)
    ladders: list[Any] = field(default_factory=list)

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        def laplace(rng: Any, *, scale: Fraction, size: int) -> Any:
            self.scales.append(Fraction(scale))
            return np.zeros(size, dtype=np.int64)

        def ladder(rng: Any, *, ladder: Any, size: int) -> Any:
            self.ladders.append(ladder)
            return np.zeros(size, dtype=np.int64)

        patch.setattr(private_graph, "sample_discrete_laplace", laplace)
        patch.setattr(private_graph, "sample_ladder", ladder)


@dataclass(frozen=True)
class Facts:
    """The numbers that get noise, by their names: each as a tuple with the scale of its noise."""

    laplace: dict[str, tuple[tuple[int, ...], Fraction]]
    triangles: int = 0
    rungs: Rungs | None = None

    def loss(self, other: Facts) -> arb:
        """The largest loss of all facts together: |z| / scale moves by all of a shift, for far outputs."""
        total = Fraction(0)
        for name, (here, scale) in self.laplace.items():
            there, same = other.laplace[name]
            assert same == scale
            total += sum(abs(a - b) for a, b in zip(here, there, strict=True)) / scale
        with precision(BITS):
            found = ball(total)
            if self.rungs is not None and other.rungs is not None:
                found += _rung_loss(self.rungs, other.rungs, other.triangles - self.triangles)
            return found


@lru_cache(maxsize=100_000)
def _rung_loss(here: Rungs, there: Rungs, moved: int) -> arb:
    return log_ball(here.loss_factor(there, moved))


def facts_of(graphs: SmallGraphs, graph: int, mechanism: PrivateGraph, patch: pytest.MonkeyPatch) -> Facts:
    """What the mechanism itself hides of a graph; by hand it must be the same."""
    recorded = Recorded()
    recorded.patch(patch)
    tables = mechanism.draw_graph(generator(1), graphs.of(graph)).tables
    asked = [(name, tuple(tables[name].tolist())) for name in mechanism.statistics]
    scales, costs, laplace = iter(recorded.scales), mechanism.costs, {}
    triangles, rungs = 0, None
    for name, numbers in asked:
        scale = next(scales)
        if name == "edges":
            assert numbers == (graph.bit_count(),)
            assert scale == 1 / Fraction(costs[name])
        elif name == "degrees":
            assert list(numbers) == graphs.degree_profile(graph, DegreeProfile.among(graphs.nodes).cut)
        else:
            triangles, shared = numbers
            numbers = (shared,)
            assert triangles == graphs.triangles(graph)
            assert shared == graphs.sensitivities[0, graph]
            rule = ladder_rule(graphs.nodes, triangle_costs(costs[name])[0])
            rungs = rungs_of(graphs.sensitivities[:, graph], rule.floor, rule.share, rule.decay)
            check_ladder(recorded.ladders[0], rungs)
        laplace[name] = numbers, scale
    return Facts(laplace, triangles, rungs)


def check_ladder(ladder: Any, rungs: Rungs) -> None:
    """That the ladder that is drawn from is that of the definition."""
    widths = ladder.widths.tolist()
    widths += [widths[-1]] * (len(rungs.widths) - len(widths))
    assert (ladder.first, tuple(widths), ladder.decay) == (rungs.first, rungs.widths, rungs.decay)


@pytest.mark.slow
@sizes
def test_a_graph_with_facts_of_all_graphs(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tally, largest = Tally(f"{STUDY}, with facts"), 0.0
    for graphs in KINDS[size]:
        for number, statistics in enumerate(STATISTICS):
            if graphs.kind != "undirected" and statistics != ("edges",):
                continue
            for epsilon, share in [(EPSILONS[number], None), (1.0, 1.0), (3.0, 0.375)]:
                mechanism = PrivateGraph(epsilon, statistics=statistics, share=share)
                claims = [mechanism.profile(BitFlips(count)).pure_epsilon for count in (1, 2)]
                facts = [facts_of(graphs, graph, mechanism, monkeypatch) for graph in range(len(graphs))]
                response = mechanism.response
                pairs = arb(0) if response is None else log_ball(flip_odds(response.flip_rate))
                for one, other, count in graphs.neighbours(2 if len(graphs) <= 64 else 1):
                    with precision(BITS):
                        loss = count * pairs + facts[one].loss(facts[other])
                    what = f"{graphs}, {one} and {other}, {mechanism}"
                    largest = max(largest, compare(tally, loss, claims[count - 1], what))
    tally.close(ALL[size][1])
    assert largest > 1 - 1e-9


def test_what_is_drawn_is_the_graph_with_the_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set of flips, of every graph of three nodes: the pairs are numbered one to one."""
    mechanism = RandomizedResponse(1.0)
    for graphs in (
        SmallGraphs(3),
        SmallGraphs(2, "directed", loops=True),
        SmallGraphs(1, "bipartite", columns=2),
    ):
        for graph in range(len(graphs)):
            found = set()
            for flips in range(len(graphs)):
                codes = np.array([k for k in range(len(graphs.pairs)) if flips >> k & 1], dtype=np.int64)
                monkeypatch.setattr(randomized_response, "sample_flips", lambda *_, codes=codes, **__: codes)
                found.add(graphs.number(mechanism.draw_graph(generator(1), graphs.of(graph))))
            assert found == set(range(len(graphs)))


@pytest.mark.parametrize("statistics", STATISTICS)
def test_a_claim_that_is_a_thousandth_less_is_seen(
    statistics: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, mechanism = SmallGraphs(4), PrivateGraph(1.0, statistics=statistics, share=1.0)
    facts = [facts_of(graphs, graph, mechanism, monkeypatch) for graph in range(len(graphs))]
    claim, tally = mechanism.profile().pure_epsilon, Tally(STUDY)
    for one, other, _ in graphs.neighbours(1):
        compare(tally, facts[one].loss(facts[other]), 0.999 * claim, "lowered")
    assert tally.above
