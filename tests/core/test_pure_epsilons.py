"""No epsilon that is charged at delta = 0 is below the exact loss of what is drawn, to the last digit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import veil
from tests.contracts.cases import CASES
from tests.core.exact_losses import Loss, charge, exact_loss
from veil.bits.adjacency import BitFlips
from veil.core.audit.suite import audit_examples
from veil.core.job import cost
from veil.core.numerics.rounding import charge_above, charged_times, charged_together, float_above, stated
from veil.words import Hamming

ROADS = {"a": ["b", "c"], "b": ["a", "c", "d"], "c": ["c", "a"], "d": ["b"]}
CHAIN, FREE = veil.words.ChainWords(ROADS, 3), veil.words.FreeWords("abc", 6)
SIMPLEX, TRANSFER = veil.vectors.Simplex(3), veil.vectors.Transfer(0.05)


def assert_charged(mechanism: Any, adjacency: Any) -> None:
    loss, claim = exact_loss(mechanism, adjacency), charge(mechanism, adjacency)
    assert loss.is_at_most(claim), f"{mechanism!r} under {adjacency!r} is charged {float(claim)!r}"
    # As a release is charged.
    assert loss.is_at_most(stated(cost(mechanism.profile(adjacency), None)[0]))


def epsilons(seed: int, many: int) -> Iterator[float]:
    """Decimals that people write, their neighbours among the floats, and floats of all digits."""
    random = Random(seed)
    for decimal in (0.1, 0.2, 0.3, 0.7, 1.0, 1.1, 2.255, 1e-6, 7.612, 31.414019235130866, 82.37502284867104):
        yield from (decimal, math.nextafter(decimal, math.inf))
    for _ in range(many):
        yield round(random.uniform(0.1, 10.0), random.randint(1, 6))
        yield random.uniform(0.01, 1.0) * 2.0 ** random.randint(-10, 8)


def test_a_number_charged_is_the_least_that_is_not_below() -> None:
    random = Random(1)
    for _ in range(1_500):
        top, exponent = random.getrandbits(random.choice((1, 20, 53, 200))) + 1, random.randint(-1200, 200)
        loss = Fraction(random.choice((top, Fraction(str(random.random()))))) * Fraction(2) ** exponent
        times = random.choice((1, 1, 2, 3, 10, 5_000))
        charged = charge_above(loss)
        assert stated(charged) >= loss
        assert stated(charged_together([(charged, times)])) >= times * loss
        assert charged <= math.nextafter(math.nextafter(float_above(loss), math.inf), math.inf)


def test_what_is_written_in_full_is_charged_as_it_is() -> None:
    for epsilon in epsilons(2, 500):
        assert charge_above(stated(epsilon)) == epsilon
    assert charge_above(Fraction(3, 2)) == 1.5
    assert charged_times(0.25, 3) == 0.75
    assert charge_above(Fraction(0.1)) == math.nextafter(0.1, 1.0)
    assert charge_above(Fraction(0)) == 0.0


@pytest.mark.parametrize(
    ("mechanism", "adjacency"),
    [*audit_examples(), *((case.mechanism, case.adjacency) for case in CASES)],
    ids=lambda part: getattr(part, "name", type(part).__name__),
)
def test_every_mechanism_that_there_is(mechanism: Any, adjacency: Any) -> None:
    """One without a line in exact_losses.py fails here, if its epsilon at delta = 0 is finite."""
    adjacency = mechanism.adjacency if adjacency is None else adjacency
    if math.isfinite(mechanism.profile(adjacency).pure_epsilon):
        assert_charged(mechanism, adjacency)


def test_a_float_a_little_above_a_tenth_is_not_charged_a_tenth() -> None:
    for complement in (True, False):
        mechanism = veil.bits.Xor(veil.bits.MatrixBernoulli([[0.1]], None, 1), complement=complement)
        assert Fraction(0.1) > Fraction(1, 10)
        assert charge(mechanism, BitFlips(1)) >= Fraction(0.1)
        assert mechanism.certified_epsilon(BitFlips(1)) == math.nextafter(0.1, 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.7, 1.1, 2.255, 3.3])
def test_what_was_built_for_a_decimal_is_charged_that_decimal(epsilon: float) -> None:
    bits, words, graphs = veil.bits, veil.words, veil.graphs
    made: list[Any] = [
        bits.RandomizedResponse(epsilon),
        bits.StaircaseXor(6, epsilon),
        bits.StaircaseXor(3, epsilon, flips=2, rows=4),
        graphs.RandomizedResponse(epsilon),
        graphs.PrivateGraph(epsilon, statistics=("degrees", "edges", "triangles")),
        words.ExponentialWords(CHAIN, epsilon),
        words.ExponentialWords(CHAIN, epsilon, radius=2, calibration="generic"),
        words.ExponentialWords(FREE, epsilon, radius=3),
        words.BalancedWords(CHAIN, epsilon),
        words.SequentialWords(CHAIN, epsilon, radius=3),
        words.PermuteAndFlip(CHAIN, epsilon),
        words.StaircaseWords(FREE, epsilon, radius=2),
    ]
    for mechanism in made:
        assert mechanism.profile(None).pure_epsilon == epsilon
        assert_charged(mechanism, mechanism.adjacency)
    twice = bits.RandomizedResponse(epsilon).profile(BitFlips(2))
    assert twice.pure_epsilon <= math.nextafter(2.0 * epsilon, math.inf)


@pytest.mark.slow
def test_responses_and_staircases() -> None:
    for epsilon in epsilons(3, 6):
        for count in (1, 2, 3, 4, 8):
            assert_charged(veil.bits.RandomizedResponse(epsilon), BitFlips(count))
            assert_charged(veil.bits.StaircaseXor(8, epsilon, flips=2), BitFlips(count, where="row"))
            assert_charged(veil.bits.StaircaseXor(8, epsilon), BitFlips(count))
            assert_charged(veil.bits.StaircaseXor(3, epsilon, flips=3, rows=3), BitFlips(count))
    # So many that they are one answer.
    assert_charged(veil.bits.RandomizedResponse(31.414019235130866), BitFlips(6_000))


def test_graphs_and_their_facts() -> None:
    for epsilon in epsilons(4, 8):
        # Below this the share of a fact is too small to be spent.
        epsilon = max(epsilon, 0.01)
        for count in (1, 2, 3, 4):
            assert_charged(
                veil.graphs.PrivateGraph(epsilon, statistics=("edges", "triangles")), BitFlips(count)
            )
            assert_charged(
                veil.graphs.PrivateGraph(epsilon, statistics=("degrees",), share=1.0), BitFlips(count)
            )


@pytest.mark.slow
def test_words_at_any_distance_and_several_to_a_person() -> None:
    for epsilon in epsilons(5, 3):
        for radius, near, each in ((1, 1, 2), (1, 2, 3), (2, 1, 2), (2, 2, 3), (3, 1, 1), (3, 5, 2)):
            hamming = Hamming(near, words_each=each)
            assert_charged(veil.words.ExponentialWords(FREE, epsilon, radius=radius), hamming)
            assert_charged(veil.words.SequentialWords(FREE, epsilon, radius=radius), hamming)
            assert_charged(veil.words.PermuteAndFlip(FREE, epsilon, radius=radius), hamming)
            assert_charged(veil.words.StaircaseWords(FREE, epsilon, radius=radius), hamming)
            inner = veil.words.SequentialWords(CHAIN, epsilon, radius=radius)
            assert_charged(veil.words.EachWord(inner, words_each=each), hamming)


@pytest.mark.slow_for("BalancedWords")
@pytest.mark.parametrize("make", [veil.words.ExponentialWords, veil.words.BalancedWords])
def test_certified_words(make: Any) -> None:
    for epsilon in (0.1, 0.7, 2.255, 5.0):
        for near in (1, 2):
            assert_charged(make(CHAIN, epsilon), Hamming(near, words_each=near))


def test_a_decay_that_was_read_back_is_charged_for_what_it_loses() -> None:
    """It may lose more than the decimal 7.612 and not more than the float, which is a little larger."""
    epsilon = 7.612
    decay = veil.words.ExponentialWords(FREE, epsilon).decay
    while Loss(logs=((1, 1 / Fraction(decay)),)).is_at_most(stated(epsilon)):
        decay = math.nextafter(decay, 0.0)
    read = veil.words.ExponentialWords(FREE, epsilon, drawn_with=decay)
    assert exact_loss(read, Hamming(1)).is_at_most(Fraction(epsilon))
    assert_charged(read, Hamming(1))
    assert read.profile(None).pure_epsilon == math.nextafter(epsilon, math.inf)
    with pytest.raises(veil.errors.NoGuarantee):
        veil.words.ExponentialWords(FREE, epsilon, drawn_with=decay * (1.0 - 1e-14)).profile(None)


@pytest.mark.slow
def test_counts_vectors_and_matrices() -> None:
    vectors, matrices = veil.vectors, veil.matrices
    for epsilon in epsilons(6, 40):
        scale = min(1.0 / epsilon, 1e5)
        counts, laplace = vectors.GeometricCounts(scale, 3), vectors.Laplace(scale, SIMPLEX)
        for change in (
            vectors.Records("add-remove"),
            vectors.Records("replace"),
            vectors.Contributions(2, 3),
        ):
            assert_charged(counts, change)
        assert_charged(laplace, TRANSFER)
        assert_charged(laplace, vectors.L1(0.1))
        for rows in (1, 2, 3, 5):
            assert_charged(matrices.RowByRow(laplace, rows=5), matrices.Rows(rows, TRANSFER))
            assert_charged(matrices.DoublyStochastic(scale, 5), matrices.Rows(rows, vectors.Transfer(0.1)))
        assert_charged(matrices.DoublyStochastic(scale, 3), matrices.Rectangle(0.1))
