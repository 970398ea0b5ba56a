"""Attacks on the mechanisms for bits and graphs, by oracles that share no code with them.

Laws are enumerated in rationals on small cases.
"""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import veil
import veil.bits.numerics.flip_losses as flip_losses
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.bits.samplers.flips import sample_flips
from veil.core.random.streams import random_words
from veil.graphs.numerics.degrees import DegreeProfile
from veil.graphs.numerics.ladder import ladder_rule
from veil.graphs.numerics.local_sensitivity import triangle_sensitivity
from veil.graphs.numerics.triangles import neighbours

EXACT = Context(prec=80)


def at_most_exp(ratio: Fraction, epsilon: float) -> bool:
    """Whether a rational is at most e^epsilon, to 60 digits."""
    bound = EXACT.exp(Decimal(epsilon))
    return EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)) <= bound * (
        1 + Decimal(10) ** -60
    )


class AllGraphs:
    """All graphs of n nodes as numbers, their triangles, and what one edge changes: by plain loops."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.pairs = list(itertools.combinations(range(nodes), 2))
        place = {pair: i for i, pair in enumerate(self.pairs)}
        corners = [
            sum(1 << place[pair] for pair in itertools.combinations(three, 2))
            for three in itertools.combinations(range(nodes), 3)
        ]
        self.every = range(1 << len(self.pairs))
        self.triangles = [sum(graph & corner == corner for corner in corners) for graph in self.every]

    def beside(self, graph: int) -> list[int]:
        return [graph ^ (1 << i) for i in range(len(self.pairs))]

    def edges(self, graph: int) -> np.ndarray:
        found = [pair for i, pair in enumerate(self.pairs) if graph >> i & 1]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def sensitivities(self, steps: int) -> list[list[int]]:
        """S_0 ... S_steps of every graph, by going from neighbour to neighbour."""
        here = [
            max((abs(self.triangles[g] - self.triangles[h]) for h in self.beside(g)), default=0)
            for g in self.every
        ]
        found = [here]
        for _ in range(steps):
            here = [max([here[g], *(here[h] for h in self.beside(g))]) for g in self.every]
            found.append(here)
        return found


@pytest.mark.slow_for("5")
@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5])
def test_local_sensitivity_at_every_distance_is_that_of_all_graphs_in_reach(nodes: int) -> None:
    graphs = AllGraphs(nodes)
    steps = 2 * nodes + 1
    true = graphs.sensitivities(steps)
    for graph in graphs.every:
        ends = graphs.edges(graph)
        found = triangle_sensitivity(neighbours(nodes, ends[:, 0], ends[:, 1])).at(np.arange(steps + 1))
        assert found.tolist() == [true[t][graph] for t in range(steps + 1)]


@pytest.mark.slow_for("5")
@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_an_edge_changes_the_degree_profile_by_two_whatever_the_cut(nodes: int) -> None:
    graphs = AllGraphs(nodes)
    degrees = [np.bincount(graphs.edges(g).ravel(), minlength=nodes) for g in graphs.every]
    for cut in range(nodes + 1):
        profiles = [DegreeProfile(nodes, cut).of(degree) for degree in degrees]
        changes = {
            int(np.abs(profiles[g] - profiles[h]).sum()) for g in graphs.every for h in graphs.beside(g)
        }
        assert changes == {2}


@pytest.mark.parametrize("nodes", [3, 4])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 40.0])
def test_the_law_of_the_ladder_on_all_small_graphs(nodes: int, epsilon: float) -> None:
    graphs = AllGraphs(nodes)
    true = graphs.sensitivities(2 * nodes + 1)
    outputs = range(-50, 51)
    for floor, share in itertools.product((None, 1, 2), (None, 0.0, 0.25, 1.0)):
        rule = ladder_rule(nodes, epsilon, floor=floor, share=share)
        slack, decay = int(rule.share > 0), rule.decay
        kinds: dict[tuple[int, ...], tuple[list[int], Fraction]] = {}
        laws = []
        for graph in graphs.every:
            widths = [max(rule.floor, row[graph]) for row in true]
            first = math.floor(rule.share * widths[0])
            key = (graphs.triangles[graph], *widths)
            if key not in kinds:
                ends = [first, *itertools.accumulate((w + slack for w in widths), initial=first)][1:]
                last = widths[-1] + slack

                def rung(away: int, ends: list[int] = ends, last: int = last) -> int:
                    inside = next((k for k, end in enumerate(ends) if away <= end), None)
                    return len(ends) - 1 - (ends[-1] - away) // last if inside is None else inside

                rungs = [rung(abs(y - graphs.triangles[graph])) for y in outputs]
                parts = sum((2 * (w + slack) * decay ** (k + 1) for k, w in enumerate(widths)), Fraction(0))
                tail = 2 * last * decay ** (len(widths) + 1) / (1 - decay)
                kinds[key] = rungs, 2 * first + 1 + parts + tail
            laws.append(kinds[key])
        seen = set()
        for graph in graphs.every:
            for other in graphs.beside(graph):
                (rungs, total), (others, whole) = laws[graph], laws[other]
                if (id(rungs), id(others)) in seen:
                    continue
                seen.add((id(rungs), id(others)))
                steps = max(b - a for a, b in zip(rungs, others, strict=True))
                assert steps <= 1
                assert at_most_exp(whole / total / decay**steps, epsilon)


def test_a_flip_of_randomised_response_never_costs_more_than_epsilon() -> None:
    for epsilon in (1e-6, 0.1, 1.0, math.pi, 17.0, 100.0, 499.9):
        q = Fraction(veil.bits.RandomizedResponse(epsilon).flip_rate)
        assert at_most_exp((1 - q) / q, epsilon)


STAIRCASES = [(1, None, None), (3, 2, None), (4, 3, None), (5, 4, None), (2, 3, 2), (2, 4, 2), (2, None, 3)]


@pytest.mark.parametrize(("columns", "flips", "rows"), STAIRCASES)
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_staircase_by_its_whole_law(
    columns: int, flips: int | None, rows: int | None, epsilon: float
) -> None:
    mechanism = veil.bits.StaircaseXor(columns, epsilon, flips=flips, rows=rows)
    size = columns * (rows or 1)
    weights = [mechanism.steps.weights()[b.bit_count()] for b in range(1 << size)]
    law = [weight / sum(weights) for weight in weights]
    for count in range(1, size + 1):
        near = veil.bits.BitFlips(count, where="anywhere" if rows else "row")
        changes = [(1 << j) - 1 for j in range(1, count + 1)]
        worst = max(law[b] / law[b ^ s] for s in changes for b in range(1 << size))
        assert at_most_exp(worst, mechanism.certified_epsilon(near))
        profile = mechanism.profile(near)
        for level in (0.0, epsilon / 3, 0.99 * epsilon, 1.5 * epsilon):
            factor = Fraction(math.exp(level))
            true = max(
                sum(max(Fraction(0), law[b] - factor * law[b ^ s]) for b in range(1 << size)) for s in changes
            )
            claimed = profile.delta(level)
            assert claimed >= float(true) * (1 - 1e-12)
            if profile.kind == "exact":
                assert claimed <= float(true) * (1 + 1e-6) + 1e-15


def _noise(rng: np.random.Generator, rows: int, columns: int, kind: int) -> veil.bits.MatrixBernoulli:
    def symmetric() -> np.ndarray:
        part = np.round(8 * rng.normal(size=(columns, columns))) / 8
        return part + part.T

    theta = symmetric()
    if kind == 0:
        return veil.bits.MatrixBernoulli(theta, None, rows)
    if kind == 1:
        return veil.bits.MatrixBernoulli(theta, symmetric(), rows)
    if kind == 2:
        return veil.bits.MatrixBernoulli(np.diag(np.diag(theta)), np.diag(rng.normal(size=columns)), rows)
    pairs = itertools.combinations(range(rows), 2)
    return veil.bits.MatrixBernoulli(theta, {p: rng.normal(size=(columns, columns)) for p in pairs}, rows)


def _energies(pi: np.ndarray) -> np.ndarray:
    tables = (np.arange(1 << len(pi))[:, None] >> np.arange(len(pi)) & 1).astype(float)
    return np.asarray(np.einsum("ki,ij,kj->k", tables, pi, tables))


def _worst(energies: np.ndarray, rows: int, columns: int, where: str) -> list[float]:
    """The worst loss of at most 1, 2 ... flips."""
    cells = [range(rows * columns)]
    if where == "row":
        cells = [range(r * columns, (r + 1) * columns) for r in range(rows)]
    every, found = np.arange(len(energies)), [0.0]
    for count in range(1, len(cells[0]) + 1):
        changes = [sum(1 << i for i in some) for row in cells for some in itertools.combinations(row, count)]
        here = max(float(np.abs(energies - energies[every ^ change]).max()) for change in changes)
        found.append(max(found[-1], here))
    return found[1:]


@pytest.mark.parametrize("starved", [False, True])
def test_certified_losses_hold_when_enumeration_is_unaffordable_too(
    starved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if starved:
        for name, value in (
            ("_AFFORDABLE", 200),
            ("_MOST_BITS", 2),
            ("_MOST_SORTED", 3),
            ("_MOST_SPREAD", 3),
        ):
            monkeypatch.setattr(flip_losses, name, value)
    rng = np.random.default_rng(7)
    ways = set()
    for trial, (rows, columns) in enumerate([(1, 3), (2, 2), (3, 2), (2, 3), (4, 2)] * 4):
        noise = _noise(rng, rows, columns, trial % 4)
        energies = _energies(noise.pi())
        for where in ("anywhere", "row"):
            for count, worst in enumerate(_worst(energies, rows, columns, where), start=1):
                found = veil.bits.Xor(noise).certificate(veil.bits.BitFlips(count, where=where))
                ways.add(found.how)
                assert found.value >= worst - 1e-9
                if found.exact:
                    assert found.value <= worst + 1e-9
    assert any("upper bound" in how for how in ways) == starved


@pytest.mark.parametrize("nodes", [2, 3])
def test_published_graph_mechanism_by_the_law_of_its_output(nodes: int) -> None:
    rng = np.random.default_rng(3)
    pairs = list(itertools.combinations(range(nodes), 2))
    for noise in (veil.bits.xor_parameters(2.0, 0.7, nodes, nodes, 2), _noise(rng, nodes, nodes, 1)):
        weights = np.exp(_energies(noise.pi()))
        tables = np.arange(len(weights))[:, None] >> np.arange(nodes * nodes) & 1
        laws = []
        for graph in range(1 << len(pairs)):
            matrix = np.zeros((nodes, nodes), dtype=np.int64)
            for i, (a, b) in enumerate(pairs):
                matrix[a, b] = matrix[b, a] = graph >> i & 1
            seen = ((1 - tables) ^ matrix.ravel()).reshape(-1, nodes, nodes)
            codes = sum((seen[:, a, b] & seen[:, b, a]) << i for i, (a, b) in enumerate(pairs))
            laws.append(np.bincount(codes, weights=weights, minlength=1 << len(pairs)))
        for count in range(1, len(pairs) + 1):
            worst = max(
                float(np.abs(np.log(one / other)).max())
                for (g, one), (h, other) in itertools.permutations(enumerate(laws), 2)
                if (g ^ h).bit_count() <= count
            )
            assert veil.graphs.XorGraph(noise).certified_epsilon(veil.bits.BitFlips(count)) >= worst - 1e-9


def test_blocks_cost_what_the_worst_spread_of_flips_costs() -> None:
    rng = np.random.default_rng(11)
    for trial in range(4):
        one, two = (veil.bits.Xor(_noise(rng, 2, width, 1)) for width in (1, 2))
        three, four = (veil.bits.Xor(_noise(rng, 1, width, 0)) for width in (2, 1))
        blocks = veil.bits.XorBlocks([[one, two], [three, four]] if trial % 2 else [[one, one, one]])
        rows, columns = blocks.domain.rows, blocks.domain.columns
        assert rows is not None
        assert columns is not None
        pi, top = np.zeros((rows * columns,) * 2), 0
        for band in blocks.bands:
            left = 0
            for block in band:
                height, width = block.noise.shape
                places = [(top + i) * columns + left + j for i in range(height) for j in range(width)]
                pi[np.ix_(places, places)] = block.noise.pi()
                left += width
            top += height
        for where in ("anywhere", "row"):
            for count, worst in enumerate(_worst(_energies(pi), rows, columns, where)[:5], start=1):
                found = blocks.certified_epsilon(veil.bits.BitFlips(count, where=where))
                assert worst - 1e-9 <= found <= worst + 1e-9


def test_calibration_over_scaled_noise_is_safe() -> None:
    base = veil.bits.xor_parameters(1.0, 0.6, 6, 4, 4)
    for near in (veil.bits.BitFlips(4, where="row"), veil.bits.BitFlips(3)):
        made = veil.calibrate(lambda k: veil.bits.Xor(base.scaled(k)), near, epsilon=1.0)
        assert 0.999 < made.certified_epsilon(near) <= 1.0


def _noisy_count_delta(each: float, shift: int, epsilon: float) -> float:
    """delta between discrete Laplace noises so far apart, by summing it up."""
    decay, away = math.exp(-each), np.arange(-400, 401)
    one, other = (np.exp(-each * np.abs(away - at)) * (1 - decay) / (1 + decay) for at in (0, shift))
    return float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum())


@pytest.mark.parametrize("edges", [1, 2, 3])
def test_profile_of_facts_for_several_edges(edges: int) -> None:
    profile = veil.graphs.PrivateGraph(1.0, statistics=["edges"], share=1.0).profile(
        veil.bits.BitFlips(edges)
    )
    for epsilon in (0.0, 0.5, 1.0, 1.7):
        assert profile.delta(epsilon) >= _noisy_count_delta(1.0, edges, epsilon) - 1e-12


def test_flips_among_more_pairs_than_fit_sixteen_times_into_64_bits() -> None:
    count = 2 * 10**18
    for seed in range(5):
        flips = sample_flips(np.random.default_rng(seed), count=count, chance=1e-25)
        assert len(flips) == 0


def test_ladder_without_rises_is_drawn_in_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    import veil.graphs.samplers.ladder as drawn

    calls: list[int] = []

    def counted(rng: Any, size: int) -> Any:
        calls.append(size)
        return random_words(rng, size)

    monkeypatch.setattr(drawn, "random_words", counted)
    path = neighbours(10, np.arange(9), np.arange(1, 10))
    ladder = ladder_rule(10, 1e-2).ladder(triangle_sensitivity(path))
    drawn.sample_ladder(np.random.default_rng(1), ladder=ladder, size=5)
    assert len(calls) < 1_000


def test_renyi_divergence_of_a_lazy_response_is_not_rounded_down() -> None:
    profile = LazyResponse(1.0, 1e-300)
    order = 702.0
    true = math.log1p(math.exp(order - 1.0 + math.log(1e-300)) - 2e-300) / (order - 1.0)
    assert profile.rdp(order) >= true


def test_profile_for_very_many_bits_is_summed_up_in_reasonable_time() -> None:
    profile = veil.bits.RandomizedResponse(1.0).profile(veil.bits.BitFlips(1_000_000))
    assert getattr(profile, "times", 1) <= 10_000
