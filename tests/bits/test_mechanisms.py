"""Randomised response, the staircase and the noise of the XOR paper on bits, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import networkx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import chisquare

import veil
from tests.oracles import bits as oracle
from tests.params import quick_first
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.bits.planning import plan_bits
from veil.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.graphs.numerics.degrees import DegreeProfile

ALPHA = 1e-4


# Randomised response


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, math.log(3.0), 7.5, 40.0, 499.0])
def test_the_flip_rate_is_the_least_float_that_is_safe(epsilon: float) -> None:
    import mpmath

    with mpmath.workdps(400):
        rate = mpmath.mpf(veil.bits.RandomizedResponse(epsilon).flip_rate)
        exact = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert rate >= exact
        assert rate <= exact * (1 + mpmath.mpf(2) ** -50)
        assert mpmath.log((1 - rate) / rate) <= epsilon


def test_charged_as_stated_and_adds_up() -> None:
    mechanism = veil.bits.RandomizedResponse(0.3)
    out = veil.release(mechanism, [[True, False]])
    assert out.epsilon == 0.3
    assert out.assumptions == ()
    assert mechanism.certified_epsilon(veil.bits.BitFlips(5)) == pytest.approx(1.5)
    assert veil.release(mechanism, [[1, 0]], adjacency=veil.bits.BitFlips(2)).epsilon == 0.6
    with pytest.raises(InvalidArgument, match="adjacency"):
        mechanism.profile(veil.words.Hamming(1))


@pytest.mark.slow
@pytest.mark.parametrize("size", quick_first([4_000, 20_000]))
def test_every_bit_of_a_table_flips_at_the_rate(size: int) -> None:
    table = np.random.default_rng(1).random((7, 5)) < 0.4
    drawn = veil.bits.RandomizedResponse(1.0).sample(table, rng=2, size=size)
    rates = (drawn ^ table).mean(axis=0)
    assert np.abs(rates - veil.bits.RandomizedResponse(1.0).flip_rate).max() < 2.8 / math.sqrt(size)


@pytest.mark.slow_for("directed-800-1.8")
@pytest.mark.parametrize(("size", "more"), quick_first([(800, 1.8), (4_000, 1.3)]))
@pytest.mark.parametrize("kind", ["undirected", "directed", "loops", "bipartite"])
def test_every_pair_of_a_graph_flips_at_the_rate(kind: str, size: int, more: float) -> None:
    from veil.graphs.numerics.pairs import PairSpace

    space = {
        "undirected": PairSpace.among(6),
        "directed": PairSpace.among(5, directed=True),
        "loops": PairSpace.among(5, loops=True),
        "bipartite": PairSpace.between(3, 5),
    }[kind]
    held = np.arange(0, space.count, 3)
    graph = veil.graphs.Graph(space, held)
    drawn = veil.graphs.RandomizedResponse(1.5).sample(graph, rng=3, size=size)
    tally = np.zeros(space.count)
    for one in drawn:
        tally[np.setxor1d(one.codes, held)] += 1
    rate = veil.graphs.RandomizedResponse(1.5).flip_rate
    expected = np.array([size * rate, size * (1 - rate)])
    # Each pair by itself; alpha = 1e-4 / 15 pairs.
    for flips in tally:
        assert chisquare([flips, size - flips], expected).pvalue > ALPHA / 15
    # Power: a pair that is never flipped, and one flipped so much too often, would be seen.
    assert chisquare([0, size], expected).pvalue < 1e-12
    assert chisquare([more * expected[0], size - more * expected[0]], expected).pvalue < 1e-8


def test_graphs_of_all_libraries_come_out_as_graphs() -> None:
    mechanism = veil.graphs.RandomizedResponse(3.0)
    club = networkx.karate_club_graph()
    found = veil.release(mechanism, club).value.to_networkx()
    assert set(found) == set(club)
    assert not any(data for _, data in found.nodes(data=True))
    sparse = networkx.to_scipy_sparse_array(club, weight=None)
    back = veil.release(mechanism, sparse).value.matrix()
    assert (back != back.T).nnz == 0
    assert not back.diagonal().any()
    directed = networkx.gn_graph(12, seed=1)
    assert veil.release(mechanism, directed).value.to_networkx().is_directed()
    with pytest.raises(InvalidData, match="to itself"):
        veil.release(mechanism, networkx.Graph([(0, 0), (0, 1)]))


def test_too_many_false_edges_are_refused_before_the_charge() -> None:
    graph = veil.graphs.Graph.from_edges([(0, 1)], 1_000_000)
    with pytest.raises(InvalidArgument, match="epsilon"):
        veil.release(veil.graphs.RandomizedResponse(1.0), graph)
    out = veil.release(veil.graphs.RandomizedResponse(25.0), graph)
    assert out.value.space == graph.space


# Staircase


def test_flip_rates_of_the_spec() -> None:
    assert veil.bits.StaircaseXor(16, 1.0).flip_rate == pytest.approx(0.4501, abs=5e-5)
    assert veil.bits.StaircaseXor(30, 1.0).flip_rate == pytest.approx(0.4639, abs=5e-5)
    for columns, rate in ((16, 0.4844), (30, 0.4917)):
        plan = {row.name: row.flip_rate for row in plan_bits(columns, 1.0).found}
        assert plan["response"] == pytest.approx(rate, abs=5e-5)


@pytest.mark.parametrize("columns", quick_first([1, 2, 3, 4], quick=3))
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_no_mechanism_errs_less(columns: int, epsilon: float) -> None:
    # All epsilon-private mechanisms on records: a linear programme over P(y | x), no symmetry assumed.
    for flips in range(1, columns + 1):
        best = _least_error(columns, epsilon, flips)
        rate = veil.bits.StaircaseXor(columns, epsilon, flips=flips).flip_rate
        assert columns * rate == pytest.approx(best, rel=1e-6)


def _least_error(columns: int, epsilon: float, flips: int) -> float:
    size = 2**columns
    distance = np.array([[(x ^ y).bit_count() for y in range(size)] for x in range(size)])
    # The variables P(y | x), row by row, and the largest expected error.
    variables = size * size + 1
    rows, limits = [], []
    for x in range(size):
        row = np.zeros(variables)
        row[x * size : (x + 1) * size] = distance[x]
        row[-1] = -1.0
        rows.append(row)
        limits.append(0.0)
        for other in range(size):
            if 0 < distance[x, other] <= flips:
                for y in range(size):
                    row = np.zeros(variables)
                    row[x * size + y], row[other * size + y] = 1.0, -math.exp(epsilon)
                    rows.append(row)
                    limits.append(0.0)
    sums = np.zeros((size, variables))
    for x in range(size):
        sums[x, x * size : (x + 1) * size] = 1.0
    cost = np.zeros(variables)
    cost[-1] = 1.0
    found = linprog(cost, np.array(rows), limits, sums, np.ones(size), method="highs")
    return float(found.fun)


@pytest.mark.parametrize("flips", [1, 2, 3, 4])
def test_the_loss_of_the_staircase_is_that_of_brute_force(flips: int) -> None:
    rows, columns = 2, 4
    mechanism = veil.bits.StaircaseXor(columns, 1.3, flips=flips)
    law = oracle.weight_law(columns, rows, lambda ones: float(mechanism.steps.log_weights[ones]))
    for where, most in (("row", 4), ("anywhere", 3)):
        for count in range(1, most + 1):
            certified = mechanism.certified_epsilon(veil.bits.BitFlips(count, where=where))
            exact = oracle.worst_loss(law, rows, columns, count, where)
            assert certified >= exact - 1e-12
            if where == "row" or count <= rows:
                assert certified == pytest.approx(exact, rel=1e-12)
    assert mechanism.certified_epsilon() <= 1.3


@pytest.mark.parametrize(("columns", "flips"), [(1, 1), (3, 3), (4, 2), (5, 5), (6, 4)])
def test_the_profile_of_the_staircase_is_that_of_brute_force(columns: int, flips: int) -> None:
    mechanism = veil.bits.StaircaseXor(columns, 1.3, flips=flips)
    law = oracle.weight_law(columns, 1, lambda ones: float(mechanism.steps.log_weights[ones]))
    total = math.log(sum(math.exp(log) for log in law.values()))
    for count in range(1, flips + 1):
        profile = mechanism.profile(veil.bits.BitFlips(count, where="row"))
        assert profile.kind == "exact"
        for epsilon in (0.0, 0.4, 1.1, 1.2999):
            worst = 0.0
            for cells in oracle.changes(1, columns, count, "row"):
                apart = 0.0
                for bits, log in law.items():
                    other = tuple(1 - bit if cell in cells else bit for cell, bit in enumerate(bits))
                    apart += max(0.0, math.exp(log - total) - math.exp(epsilon + law[other] - total))
                worst = max(worst, apart)
            assert profile.delta(epsilon) >= worst
            assert profile.delta(epsilon) == pytest.approx(worst, rel=1e-6, abs=1e-9)
    assert mechanism.profile(veil.bits.BitFlips(2)).kind == "upper bound"


def test_the_profile_composes_and_has_moments() -> None:
    profile = veil.bits.StaircaseXor(16, 1.0).profile()
    assert isinstance(profile, LazyResponse)
    twice = profile.repeat(2)
    assert twice.delta(2.0) <= 1e-9
    assert twice.delta(0.5) >= profile.delta(0.5)
    assert twice.delta(0.5) < veil.bits.RandomizedResponse(1.0).profile().repeat(2).delta(0.5)
    # The moments of the three outcomes, by hand.
    for order in (1.5, 2.0, 8.0):
        chance, each = profile.chance, 1.0
        outcomes = [(chance, each), (chance * math.exp(-each), -each)]
        rest = 1.0 - sum(mass for mass, _ in outcomes)
        moment = rest + sum(mass * math.exp((order - 1.0) * loss) for mass, loss in outcomes)
        assert profile.rdp(order) == pytest.approx(math.log(moment) / (order - 1.0), rel=1e-9)
        assert profile.rdp(order) <= veil.bits.RandomizedResponse(1.0).profile().rdp(order)


@pytest.mark.slow
@pytest.mark.parametrize("size", quick_first([2_000, 20_000]))
def test_the_staircase_over_a_whole_table(size: int) -> None:
    mechanism = veil.bits.StaircaseXor(2, 1.0, flips=2, rows=3)
    assert mechanism.adjacency == veil.bits.BitFlips(2)
    law = oracle.weight_law(6, 1, lambda ones: float(mechanism.steps.log_weights[ones]))
    for count in (1, 2, 3, 4):
        exact = oracle.worst_loss(law, 3, 2, count, "anywhere")
        assert mechanism.certified_epsilon(veil.bits.BitFlips(count)) == pytest.approx(exact, rel=1e-12)
    drawn = mechanism.sample(np.zeros((3, 2), dtype=bool), rng=1, size=size)
    assert np.abs(drawn.mean(axis=0) - mechanism.flip_rate).max() < 2.8 / math.sqrt(size)


@pytest.mark.parametrize("columns", [1, 3, 16, 30])
def test_every_column_flips_at_its_rate_the_last_one_too(columns: int) -> None:
    mechanism = veil.bits.StaircaseXor(columns, 1.0)
    rows = 60_000
    flips = mechanism.sample(np.zeros((rows, columns), dtype=bool), rng=4).sum(axis=0)
    rate = mechanism.flip_rate
    for many in flips:
        expected = [rows * rate, rows * (1 - rate)]
        assert chisquare([many, rows - many], expected).pvalue > ALPHA / 30
        # Power: 5 % more or fewer flips would be rejected.
        assert chisquare([many, rows - many], [0.95 * expected[0], rows - 0.95 * expected[0]]).pvalue < 1e-6


def test_the_staircase_is_drawn_from_its_law() -> None:
    mechanism = veil.bits.StaircaseXor(5, 1.2, flips=2)
    law = oracle.weight_law(5, 1, lambda ones: float(mechanism.steps.log_weights[ones]))
    logs = np.array(list(law.values()))
    chances = np.exp(logs) / np.exp(logs).sum()
    drawn = mechanism.sample(np.zeros((200_000, 5), dtype=bool), rng=5)
    places = drawn @ (1 << np.arange(5)[::-1])
    observed = np.bincount(places, minlength=32)
    assert chisquare(observed, 200_000 * chances).pvalue > ALPHA
    wrong = veil.bits.StaircaseXor(5, 1.2 * 1.05, flips=2)
    logs = np.array([float(wrong.steps.log_weights[sum(bits)]) for bits in law])
    assert chisquare(observed, 200_000 * np.exp(logs) / np.exp(logs).sum()).pvalue < 1e-6


def test_bad_staircases_and_tables() -> None:
    for arguments in ({"columns": 0}, {"flips": 5}, {"flips": 0}, {"rows": 0}, {"epsilon": 0.0}):
        with pytest.raises(InvalidArgument):
            veil.bits.StaircaseXor(**({"columns": 4, "epsilon": 1.0} | arguments))
    with pytest.raises(InvalidArgument, match="RandomizedResponse"):
        veil.bits.StaircaseXor(6_000, 1.0)
    mechanism = veil.bits.StaircaseXor(3, 1.0)
    for table in (
        [[1, 0]],
        [[1, 0, 2]],
        [["a", "b", "c"]],
        [[1, 0, math.nan]],
        [],
        1,
        [[[1, 0, 1]]],
        [[1, 0, 1], [1]],
    ):
        with pytest.raises(InvalidData):
            mechanism.sample(table)
    assert mechanism.sample([1, 0, 1]).shape == (3,)
    with pytest.raises(InvalidData, match=r"a graph\. veil\.graphs\.release takes graphs"):
        mechanism.sample(veil.graphs.Graph.from_edges([], 3))


# The XOR paper


def test_the_counterexample() -> None:
    mechanism = veil.bits.Xor(veil.bits.MatrixBernoulli([0.5], [0.5], 2))
    stated = mechanism.published(veil.bits.BitFlips(1))
    assert stated.epsilon == pytest.approx(1.0)
    assert stated.theorem == "XOR paper, Theorem 1"
    assert "false" in stated.violations[0]
    assert mechanism.certified_epsilon(veil.bits.BitFlips(1)) == pytest.approx(1.5)
    law = oracle.quadratic_law([[0.5]], [[0.5]], 2)
    assert oracle.worst_loss(law, 2, 1, 1, "anywhere") == pytest.approx(1.5)


@pytest.mark.slow
@pytest.mark.parametrize("many", quick_first([12, 60]))
def test_certified_is_brute_force_for_single_flips_and_never_below(many: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(many):
        rows, columns = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        theta, coupling = (_symmetric(rng, columns) for _ in range(2))
        mechanism = veil.bits.Xor(veil.bits.MatrixBernoulli(theta, coupling, rows))
        law = oracle.quadratic_law(theta, coupling if rows > 1 else 0.0 * coupling, rows)
        exact = oracle.worst_loss(law, rows, columns, 1, "anywhere")
        assert mechanism.certified_epsilon(veil.bits.BitFlips(1)) == pytest.approx(
            exact, rel=1e-12, abs=1e-12
        )
        for where, count in (("row", columns), ("row", 2), ("anywhere", 2)):
            certified = mechanism.certified_epsilon(veil.bits.BitFlips(count, where=where))
            assert certified >= oracle.worst_loss(law, rows, columns, count, where) - 1e-12


def _symmetric(rng: Any, size: int) -> Any:
    matrix = rng.normal(size=(size, size))
    return matrix + matrix.T


@pytest.mark.parametrize(("rows", "columns"), [(240, 16), (426, 30)])
@pytest.mark.parametrize("alpha", [1.0, 0.75])
def test_parameters_of_algorithm_1(rows: int, columns: int, alpha: float) -> None:
    noise = veil.bits.xor_parameters(1.0, alpha, rows, columns, columns)
    mechanism, near = veil.bits.Xor(noise), veil.bits.BitFlips(columns, where="row")
    assert mechanism.published(near).epsilon == pytest.approx(1.0)
    # With alpha = 1 exactly 1 / sqrt(P); couplings take from it.
    assert mechanism.certified_epsilon(near) <= 1.0 / math.sqrt(columns) * (1 + 1e-12)
    assert mechanism.certified_epsilon(near) >= alpha / math.sqrt(columns) * (1 - 1e-12)
    calibrated = veil.calibrate(lambda number: veil.bits.Xor(noise.scaled(number)), near, epsilon=1.0)
    assert calibrated.certified_epsilon(near) == pytest.approx(1.0, abs=1e-9)
    assert calibrated.certified_epsilon(near) <= 1.0
    # Calibrated it is nearly independent randomised response, and the staircase still has far more signal.
    response = veil.bits.RandomizedResponse(1.0 / columns).flip_rate
    assert calibrated.flip_rate == pytest.approx(response, abs=2e-4)
    gain = (1 - 2 * veil.bits.StaircaseXor(columns, 1.0).flip_rate) / (1 - 2 * calibrated.flip_rate)
    assert gain > 3.0


def test_the_sign_is_repaired_by_the_complement() -> None:
    noise = veil.bits.xor_parameters(1.0, 1.0, 240, 16, 16)
    assert veil.bits.Xor(noise).flip_rate == pytest.approx(0.4961, abs=5e-5)
    assert veil.bits.Xor(noise, complement=False).flip_rate == pytest.approx(1 - 0.4961, abs=5e-5)
    table = np.zeros((240, 16), dtype=bool)
    strong = veil.bits.xor_parameters(400.0, 1.0, 240, 16, 16)
    assert veil.bits.Xor(strong).sample(table, rng=1).mean() < 0.01
    assert veil.bits.Xor(strong, complement=False).sample(table, rng=1).mean() > 0.99


@pytest.mark.parametrize("size", quick_first([400, 4_000]))
def test_square_error_rate_is_the_share_of_flips(size: int) -> None:
    table = np.random.default_rng(1).random((20, 4)) < 0.3
    noise = veil.bits.MatrixBernoulli(0.4 * np.eye(4), 0.02 * np.eye(4), 20)
    for complement in (True, False):
        mechanism = veil.bits.Xor(noise, complement=complement)
        rate, error = mechanism.square_error_rate(int(table.sum()))
        assert error == 0.0
        drawn = mechanism.sample(table, rng=2, size=size)
        wrong = (drawn ^ table).sum(axis=(1, 2)) / table.sum()
        assert abs(wrong.mean() - rate) < 4.5 * wrong.std() / math.sqrt(size)
    # XOR paper, Remark 2: half of all bits without any noise parameters.
    nothing = veil.bits.Xor(veil.bits.MatrixBernoulli(np.zeros((4, 4)), None, 20))
    assert nothing.square_error_rate(int(table.sum()))[0] == pytest.approx(40 / table.sum())
    # No closed form: a Monte Carlo mean with its error, which four times as many rows halve relative to it.
    dense = veil.bits.Xor(veil.bits.MatrixBernoulli(0.05 * np.ones((5, 5)), 0.01 * np.ones((5, 5)), 6))
    value, error = dense.square_error_rate(10)
    assert 0.0 < error < 0.1 * value


def test_noise_without_an_exact_sampler_must_be_accepted_by_name() -> None:
    rng = np.random.default_rng(7)
    noise = veil.bits.MatrixBernoulli(3 * _symmetric(rng, 20), 3 * _symmetric(rng, 20), 10)
    assert noise.method == "hmc"
    table, near = np.zeros((10, 20), dtype=bool), veil.bits.BitFlips(1)
    with pytest.raises(NoGuarantee, match="unquantified delta"):
        veil.release(veil.bits.Xor(noise), table, adjacency=near)
    out = veil.release(veil.bits.Xor(noise, accept="unquantified delta"), table, adjacency=near)
    assert "belongs into delta" in out.assumptions[0]
    with pytest.raises(InvalidArgument, match="accept"):
        veil.bits.Xor(noise, accept="yes")


def test_blocks_add_side_by_side_and_not_one_below_the_other() -> None:
    rng = np.random.default_rng(8)
    blocks = [
        [veil.bits.Xor(veil.bits.MatrixBernoulli(_symmetric(rng, 2), None, 1)) for _ in range(2)]
        for _ in range(2)
    ]
    mechanism = veil.bits.XorBlocks(blocks)
    laws = [[oracle.quadratic_law(b.noise.theta, 0 * b.noise.theta, 1) for b in band] for band in blocks]
    law = {
        (*a, *b, *c, *d): laws[0][0][a] + laws[0][1][b] + laws[1][0][c] + laws[1][1][d]
        for a in laws[0][0]
        for b in laws[0][1]
        for c in laws[1][0]
        for d in laws[1][1]
    }
    for where, most in (("row", 4), ("anywhere", 4)):
        for count in range(1, most + 1):
            exact = oracle.worst_loss(law, 2, 4, count, where)
            certified = mechanism.certified_epsilon(veil.bits.BitFlips(count, where=where))
            assert certified == pytest.approx(exact, rel=1e-9)
    wrong: list[Any] = [[], [[]], [[1]], [[blocks[0][0]], blocks[0]]]
    for bands in wrong:
        with pytest.raises(InvalidArgument, match="bands"):
            veil.bits.XorBlocks(bands)


def test_algorithm_3_costs_two_bits_an_edge() -> None:
    noise = veil.bits.xor_parameters(2.0, 0.8, 5, 5, 2)
    mechanism = veil.graphs.XorGraph(noise)
    table = veil.bits.Xor(noise)
    assert mechanism.certified_epsilon() == table.certified_epsilon(veil.bits.BitFlips(2))
    assert mechanism.published().epsilon == pytest.approx(2.0)
    out = veil.release(mechanism, networkx.cycle_graph(5))
    assert set(out.value.to_networkx()) == set(range(5))
    with pytest.raises(InvalidData, match="5 nodes"):
        veil.release(mechanism, networkx.cycle_graph(4))


def test_the_law_of_algorithm_3_is_as_private_as_certified() -> None:
    # Three nodes: the law of the released graph by enumeration of all noise, for all pairs of neighbours.
    noise = veil.bits.MatrixBernoulli(0.7 * np.eye(3), 0.2 * np.eye(3), 3)
    law = oracle.quadratic_law(0.7 * np.eye(3), 0.2 * np.eye(3), 3)
    total = sum(math.exp(log) for log in law.values())
    outputs = {}
    for graph in range(8):
        edges = [pair for i, pair in enumerate(((0, 1), (0, 2), (1, 2))) if graph >> i & 1]
        matrix = np.zeros((3, 3), dtype=bool)
        for i, j in edges:
            matrix[i, j] = matrix[j, i] = True
        found: dict[Any, float] = {}
        for bits, log in law.items():
            drawn = matrix ^ ~np.array(bits, dtype=bool).reshape(3, 3)
            shown = tuple(bool(drawn[i, j] and drawn[j, i]) for i, j in ((0, 1), (0, 2), (1, 2)))
            found[shown] = found.get(shown, 0.0) + math.exp(log) / total
        outputs[graph] = found
    worst = max(
        math.log(outputs[a][shown] / outputs[a ^ (1 << i)][shown])
        for a in outputs
        for i in range(3)
        for shown in outputs[a]
    )
    certified = veil.graphs.XorGraph(noise).certified_epsilon()
    assert worst <= certified
    assert worst > 0.3 * certified


# A graph with facts


def test_the_budget_is_divided_and_adds_up() -> None:
    mechanism = veil.graphs.PrivateGraph(3.0, statistics=["triangles", "degrees", "edges"])
    assert mechanism.statistics == ("degrees", "edges", "triangles")
    costs = {name: Fraction(cost) for name, cost in mechanism.costs.items()}
    assert sum(costs.values()) <= 3
    assert sum(costs.values()) > 3 - Fraction(1, 10**12)
    assert float(costs["graph"]) == pytest.approx(2.7)
    assert mechanism.certified_epsilon() <= 3.0
    assert veil.release(mechanism, networkx.karate_club_graph()).epsilon == 3.0
    for arguments in ({"statistics": ["stars"]}, {"share": 0.5}, {"statistics": ["edges"], "share": 0.0}):
        with pytest.raises(InvalidArgument):
            veil.graphs.PrivateGraph(1.0, **arguments)
    with pytest.raises(InvalidArgument, match="edges alone"):
        veil.release(veil.graphs.PrivateGraph(1.0, statistics=["triangles"]), networkx.gn_graph(5, seed=1))


def test_facts_alone() -> None:
    club = networkx.karate_club_graph()
    mechanism = veil.graphs.PrivateGraph(60.0, statistics=["triangles", "degrees", "edges"], share=1.0)
    out = veil.release(mechanism, club, rng=1)
    assert set(out.value) == {"degrees", "edges", "triangles", "nodes"}
    assert abs(out.value["edges"][0] - 78) <= 2
    assert abs(out.value["triangles"][0] - 45) <= 6
    assert abs(out.value["triangles"][1] - 10) <= 2
    profile = DegreeProfile.among(34)
    true = np.sort([d for _, d in club.degree()])[::-1]
    assert np.abs(out.value["degrees"] - profile.of(true)).max() <= 3


def test_degree_profiles_change_by_two() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        graph = networkx.gnp_random_graph(9, float(rng.random()), seed=int(rng.integers(10**6)))
        i, j = rng.choice(9, 2, replace=False).tolist()
        other = graph.copy()
        other.remove_edge(i, j) if other.has_edge(i, j) else other.add_edge(i, j)
        for cut in (0, 2, 5, 8):
            profile = DegreeProfile(9, cut)
            degrees = [profile.of(np.array([d for _, d in g.degree()])) for g in (graph, other)]
            assert np.abs(degrees[0] - degrees[1]).sum() == 2
