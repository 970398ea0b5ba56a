"""The XOR paper's statements on graphs and blocks, checked in numbers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from veil_papers.xor_figures import least_flip_rate
from veil_papers.xor_mechanism import (
    FIGURE_3,
    NODES,
    PLAIN_ACCURACY,
    PLAIN_F1,
    TRAINING_SHAPE,
    algorithm_3,
    block_budgets,
    composed_loss,
    edges_of_plain_release,
    flip_rate_of_error,
    largest_error_rate,
    printed_leakage,
    rates_after_and,
    square_error_rate,
)

from veil.bits.domain import Bits
from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.mechanisms.xor import Xor
from veil.core.numerics.staircase import staircase
from veil.errors import InvalidArgument, InvalidData
from veil.graphs.graph import Graph
from veil.graphs.planning import edge_leakage, kept_at_most

PAIRS = 4039 * 4038 // 2
EDGES = 88_234


def test_definition_2_answers_are_all_tables_of_bits_and_nothing_else() -> None:
    """f(D) is in {0, 1}^{N x P}: P bits of N objects. So is every release, and every table can come out."""
    rows, columns = 2, 2
    domain = Bits(columns, rows=rows)
    tables = [np.array(bits).reshape(rows, columns) for bits in product((0, 1), repeat=rows * columns)]
    for table in tables:
        taken = domain.validate(table)
        assert taken.dtype == np.bool_
        assert (taken == table).all()
    # One entry that is no bit, wherever it stands; one row or column more or less.
    for place in product(range(rows), range(columns)):
        for entry in (2.0, -1.0, 0.5, math.nan, math.inf):
            wrong = tables[6].astype(np.float64)
            wrong[place] = entry
            with pytest.raises(InvalidData):
                domain.validate(wrong)
    for shape in ((rows, columns + 1), (rows, columns - 1), (rows + 1, columns), (rows - 1, columns)):
        with pytest.raises(InvalidData):
            domain.validate(np.ones(shape, dtype=np.bool_))
    rng = np.random.default_rng(1)
    for mechanism in (Xor(xor_parameters(1.0, 0.75, rows, columns, columns)), StaircaseXor(columns, 1.0)):
        drawn = [mechanism.sample(tables[6], rng=rng) for _ in range(600)]
        assert all(table.shape == (rows, columns) and table.dtype == np.bool_ for table in drawn)
        # 16 tables of more than 1 in 50 each: one is missing with a chance below 16 e^-12.
        assert len({table.tobytes() for table in drawn}) == len(tables)


def test_definition_2_a_graph_is_a_query_too() -> None:
    """Section 6: the query of an edge list is its adjacency matrix, symmetric and without a diagonal."""
    rng = np.random.default_rng(2)
    edges = [(0, 1), (1, 3), (2, 3)]
    matrix = np.zeros((4, 4), dtype=np.bool_)
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = True
    graph = Graph.from_edges(edges, 4)
    rows, columns = graph.edges()
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == edges
    assert (Bits(4, rows=4).validate(matrix) == matrix).all()
    # Every answer of Algorithm 3 is one again: a graph with the same nodes.
    for _ in range(50):
        released = algorithm_3(matrix, rng.random((4, 4)) < 0.4)
        assert released.dtype == np.bool_
        assert (released == released.T).all()
        assert not released.diagonal().any()


def test_leakage_bounds_every_mechanism_and_is_attained() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        zeta, epsilon = float(np.exp(rng.normal(0.0, 2.0))), float(rng.uniform(0.0, 4.0))
        bound = edge_leakage(zeta, epsilon)
        assert edge_leakage(1.0 / zeta, epsilon) == pytest.approx(bound)
        prior = zeta / (1.0 + zeta)
        # An answer that is `ratio` times likelier for one value; privacy allows e^-eps ... e^eps.
        for ratio in np.exp(np.linspace(-epsilon, epsilon, 9)):
            posterior = prior * ratio / (prior * ratio + 1.0 - prior)
            assert max(posterior, 1.0 - posterior) <= bound
        worst = math.exp(epsilon if zeta >= 1.0 else -epsilon)
        attained = prior * worst / (prior * worst + 1.0 - prior)
        assert max(attained, 1.0 - attained) == pytest.approx(bound, rel=1e-12)
    assert edge_leakage(1.0, 0.0) == pytest.approx(0.5)
    assert edge_leakage(5.0, 800.0) == 1.0


def test_kept_at_most() -> None:
    assert kept_at_most(PAIRS, EDGES, PAIRS, 1.0) == 1.0
    rng = np.random.default_rng(1)
    for epsilon in (0.3, 1.0, 3.0):
        for b in rng.uniform(0.0, 0.2, 50):
            a = min(math.exp(epsilon) * b, 1.0)
            released = EDGES * a + (PAIRS - EDGES) * b
            assert a <= kept_at_most(released, EDGES, PAIRS, epsilon)
            if a < 1.0:
                assert a == pytest.approx(kept_at_most(released, EDGES, PAIRS, epsilon))
        flip = 1.0 / (1.0 + math.exp(epsilon))
        plain = edges_of_plain_release(EDGES, PAIRS, epsilon)
        assert 1.0 - flip == pytest.approx(kept_at_most(plain, EDGES, PAIRS, epsilon))


def test_algorithm_3() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((6, 6)) < 0.4, 1)
    graph = upper | upper.T
    assert (algorithm_3(graph, np.zeros((6, 6))) == graph).all()
    noise = rng.random((6, 6)) < 0.3
    found = algorithm_3(graph, noise)
    assert (found == found.T).all()
    assert not found.diagonal().any()
    for i, j in product(range(6), repeat=2):
        if i != j:
            assert found[i, j] == ((graph[i, j] ^ noise[i, j]) and (graph[j, i] ^ noise[j, i]))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_rates_of_algorithm_3_by_all_noises_of_a_pair(epsilon: float) -> None:
    flip = 1.0 / (1.0 + math.exp(epsilon / 2.0))
    shown = {0: 0.0, 1: 0.0}
    for edge, left, right in product((0, 1), repeat=3):
        graph = np.array([[0, edge], [edge, 0]])
        chance = math.prod(flip if bit else 1.0 - flip for bit in (left, right))
        shown[edge] += chance * float(algorithm_3(graph, np.array([[1, left], [right, 1]]))[0, 1])
    kept, false = rates_after_and(flip)
    assert (shown[1], shown[0]) == pytest.approx((kept, false))
    assert math.log(kept / false) == pytest.approx(epsilon)
    assert math.log((1.0 - false) / (1.0 - kept)) <= epsilon


def test_blocks_compose_by_bands() -> None:
    budgets = block_budgets(10, 7, 4, 3, 1.0)
    assert budgets.shape == (3, 3)
    assert budgets.sum() == pytest.approx(1.0)
    # The largest band has 4 of 10 rows: the paper spends 0.4, where it says 1.
    assert composed_loss(budgets) == pytest.approx(0.4)
    assert composed_loss(block_budgets(10, 7, 4, 3, 1.0, by="columns")) == pytest.approx(1.0)
    assert composed_loss(budgets, unit="bit") == pytest.approx(4 * 3 / 70)
    square = block_budgets(6, 6, 2, 2, 1.0)
    assert composed_loss(square, unit="edge") == pytest.approx(2 / 9)
    assert composed_loss(block_budgets(6, 6, 6, 6, 1.0), unit="edge") == pytest.approx(1.0)


def test_composition_of_blocks_is_attained_by_randomised_response() -> None:
    # Every block flips its bits on their own, at a rate that makes a change of its columns cost its budget.
    rows, columns, high, wide = 5, 6, 2, 4
    budgets = block_budgets(rows, columns, high, wide, 2.0)
    each = np.empty((rows, columns))
    for i, j in product(range(rows), range(columns)):
        width = min(wide, columns - j // wide * wide)
        each[i, j] = budgets[i // high, j // wide] / width
    # The loss of changing a whole row is the sum of what its bits cost.
    assert composed_loss(budgets) == pytest.approx(each.sum(axis=1).max())
    assert composed_loss(budgets) >= each.sum(axis=1).max()


def test_square_error_rates() -> None:
    rows, columns = TRAINING_SHAPE["Voting"]
    ones = rows * columns // 2
    assert largest_error_rate(rows, columns, ones) == 1.0
    least = staircase(columns, 2, columns, 0.5).expected_error / columns
    assert least == pytest.approx(least_flip_rate(columns, 0.5, unit="row"))
    assert flip_rate_of_error(square_error_rate(least, rows, columns, ones), rows, columns, ones) == least


def test_printed_numbers_are_complete() -> None:
    assert FIGURE_3[math.inf] > FIGURE_3[0.8] > FIGURE_3[0.3] > FIGURE_3[0.01]
    assert PLAIN_F1.keys() == NODES.keys()
    assert PLAIN_ACCURACY.keys() == TRAINING_SHAPE.keys()


def test_refusals() -> None:
    for zeta in (0.0, -1.0, math.inf):
        with pytest.raises(InvalidArgument, match="zeta"):
            edge_leakage(zeta, 1.0)
    with pytest.raises(InvalidArgument, match="epsilon"):
        printed_leakage(1.0, -1.0)
    with pytest.raises(InvalidArgument, match="edges"):
        kept_at_most(1.0, 5.0, 4.0, 1.0)
    with pytest.raises(InvalidArgument, match="square"):
        algorithm_3(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InvalidArgument, match="unit"):
        composed_loss(np.ones((2, 3)), unit="edge")
    with pytest.raises(InvalidArgument, match="block"):
        block_budgets(0, 1, 1, 1, 1.0)
