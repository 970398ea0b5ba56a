"""Matrix-valued Bernoulli bits against the enumeration of all tables, by every sampler."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from veil_papers.exact_hmc import sample_as_printed

from tests.bits.numerics.brute import brute_law, random_quadratic, random_symmetric, tables
from tests.core.scripted import ONES, Script
from tests.params import quick_first
from veil.bits.numerics.fields import Pulls, pull, pull_bounds
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers import bernoulli_coupling
from veil.bits.samplers.bernoulli_coupling import (
    below_logistic,
    coalesces_fast,
    coalesces_in_trial,
    logit,
    sample_by_coupling,
)
from veil.bits.samplers.bernoulli_hmc import sample_by_hmc
from veil.bits.samplers.matrix_bernoulli import (
    EnclosedChoice,
    Method,
    column_weights,
    expected_ones,
    exponential,
    method_for,
    ones_of_column,
    sample_by_columns,
    sample_by_table,
    sample_matrix_bernoulli,
    table_weights,
)
from veil.errors import InvalidArgument

# Every test accepts the truth with probability 1 - 1e-5.
ALPHA = 1e-5
SIZE = 200_000
Bits = NDArray[np.bool_]


def p_value(law: NDArray[np.float64], sample: Bits) -> float:
    """Chi-square over all tables; those that expect fewer than 5 are joined."""
    cells = sample.shape[1] * sample.shape[2]
    numbers = sample.reshape(len(sample), cells) @ (1 << np.arange(cells)[::-1])
    observed = np.bincount(numbers, minlength=len(law)).astype(float)
    expected = law * len(sample)
    rare = expected < 5.0
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] == 0.0:
        observed, expected = observed[:-1], expected[:-1]
    return float(stats.chisquare(observed, expected).pvalue)


def scaled(q: Quadratic, factor: float) -> Quadratic:
    pairs = q.pairs
    if pairs is not None:
        blocks = {pair: factor * block for pair, block in pairs.items()}
        return Quadratic(factor * q.theta, blocks, rows=q.rows)
    return Quadratic(factor * q.theta, None if q.common is None else factor * q.common, rows=q.rows)


def complemented(q: Quadratic, flipped: Bits) -> Quadratic:
    """Parameters whose bits, some complemented, have the law of q: the signs of their couplings change.

    The diagonal is no longer the same in all rows, so one row holds the whole table.
    """
    pi, sign = q.pi(), np.where(flipped, -1.0, 1.0)
    turned = pi * np.outer(sign, sign)
    beside = pi - np.diag(pi.diagonal())
    np.fill_diagonal(turned, sign * (pi.diagonal() + 2.0 * beside @ flipped))
    return Quadratic(turned, rows=1)


def cases() -> dict[str, tuple[Quadratic, Method]]:
    rng = np.random.default_rng(20)
    positive = Quadratic([[-0.9, 0.5], [0.5, -1.1]], np.abs(random_symmetric(rng, 2, 0.4)), rows=3)
    negative = Quadratic([[0.9, -0.5], [-0.5, 0.8]], -np.abs(random_symmetric(rng, 2, 0.9)), rows=3)
    balanced = complemented(positive, np.array([True, False, False, True, False, True]))
    mixed = random_quadratic(rng, 3, 2, "pairs", 0.5)
    return {
        "columns": (random_quadratic(rng, 3, 2, "diagonal", 0.8), "columns"),
        "multiples": (Quadratic.exchangeable(1.6, -1.0, rows=3, columns=2), "columns"),
        "rows": (random_quadratic(rng, 2, 3, "independent", 0.9), "table"),
        "table": (random_quadratic(rng, 3, 2, "pairs", 0.6), "table"),
        "positive": (positive, "coupling"),
        "negative": (negative, "coupling"),
        "balanced": (balanced, "coupling"),
        "mixed": (mixed, "coupling"),
        "independent": (random_quadratic(rng, 2, 3, "independent", 1.5), "coupling"),
        "common": (random_quadratic(rng, 2, 3, "common", 0.6), "coupling"),
        "walls": (random_quadratic(rng, 3, 2, "pairs", 0.6), "hmc"),
        "common walls": (random_quadratic(rng, 2, 3, "common", 0.6), "hmc"),
    }


def power(law: NDArray[np.float64], wrong: NDArray[np.float64], size: int) -> float:
    """The probability with which so many draws of one law are seen not to be of the other."""
    shift = size * float(((law - wrong) ** 2 / wrong).sum())
    return float(stats.ncx2.sf(stats.chi2.isf(ALPHA, len(law) - 1), len(law) - 1, shift))


@pytest.mark.slow_for("walls-10000-0.3")
@pytest.mark.parametrize(("size", "change"), quick_first([(SIZE // 20, 0.3), (SIZE, 0.05)]))
@pytest.mark.parametrize("name", cases())
def test_sampler_has_the_law_and_the_test_sees_another(name: str, size: int, change: float) -> None:
    """Parameters that are a little larger or smaller are seen: five percent with all of the draws."""
    q, method = cases()[name]
    rng = np.random.default_rng(21)
    if method == "hmc":
        sample = sample_by_hmc(rng, quadratic=q, size=size, burn_in=12)
    else:
        sample = sample_matrix_bernoulli(rng, quadratic=q, size=size, method=method)
    assert sample.shape == (size, *q.shape)
    assert sample.dtype == np.bool_
    assert p_value(brute_law(q), sample) > ALPHA
    for factor in (1.0 - change, 1.0 + change):
        wrong = brute_law(scaled(q, factor))
        assert power(brute_law(q), wrong, size) > 0.999
        assert p_value(wrong, sample) < ALPHA


def test_complements_only_turn_signs() -> None:
    q, _ = cases()["positive"]
    flipped = np.array([True, False, False, True, False, True])
    turned = complemented(q, flipped)
    b = tables(6).astype(bool)
    places = (b ^ flipped) @ (1 << np.arange(6)[::-1])
    assert brute_law(turned)[places] == pytest.approx(brute_law(q))
    assert (turned.pi() - np.diag(turned.pi().diagonal())).min() < 0.0


@pytest.mark.parametrize("size", quick_first([SIZE // 20, SIZE]))
def test_printed_algorithm_2_is_uniform_whatever_the_parameters(size: int) -> None:
    rng = np.random.default_rng(22)
    q = random_quadratic(rng, 3, 2, "pairs", 0.6)
    for travel in (0.5, math.pi / 2, 7.0):
        sample = sample_as_printed(rng, quadratic=q, size=size, travel=travel)
        assert p_value(np.full(64, 1 / 64), sample) > ALPHA
        assert p_value(brute_law(q), sample) < ALPHA


def test_a_run_that_is_cut_short_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: take the lower bounds after two sweeps, whether they agree with the upper or not."""
    q, _ = cases()["positive"]
    monkeypatch.setattr(bernoulli_coupling, "_FIRST_SWEEPS", 2)

    def cut_short(self: Any, drawn: Bits) -> None:
        self._reach_back()
        low = np.zeros((len(self._runs), *self._shape), dtype=np.uint8)
        self._advance(0, low, np.ones_like(low))
        drawn[:] = low.astype(bool)

    monkeypatch.setattr(bernoulli_coupling._Runs, "finish", cut_short)
    sample = sample_by_coupling(np.random.default_rng(23), quadratic=q, size=SIZE // 10)
    assert p_value(brute_law(q), sample) < ALPHA


@pytest.mark.parametrize("name", ["positive", "mixed", "common"])
def test_settling_does_not_change_the_outcome(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a slack of 1 a good part of all comparisons is settled exactly: the tables are the same."""
    q, _ = cases()[name]
    plain = sample_by_coupling(np.random.default_rng(24), quadratic=q, size=100)
    monkeypatch.setattr(bernoulli_coupling, "_LOGIT_SLACK", 1.0)
    assert np.array_equal(plain, sample_by_coupling(np.random.default_rng(24), quadratic=q, size=100))


@pytest.mark.parametrize("size", quick_first([SIZE // 20, SIZE]))
def test_exchangeable_columns_agree_with_the_table_of_a_column(size: int) -> None:
    weights = np.array([float(math.comb(5, m)) * math.exp(0.3 * m - 0.2 * m * m) for m in range(6)])
    q = Quadratic.exchangeable(0.1, -0.2, rows=5, columns=3)
    sample = sample_by_columns(np.random.default_rng(25), quadratic=q, size=size)
    for column in range(3):
        observed = np.bincount(sample[:, :, column].sum(axis=1), minlength=6)
        assert stats.chisquare(observed, weights / weights.sum() * size).pvalue > ALPHA
    # Every cell, the last one too, is one as often as the others.
    rates = sample.mean(axis=0)
    mean = weights @ np.arange(6) / weights.sum() / 5
    assert np.abs(rates - mean).max() < 5.0 * math.sqrt(mean * (1 - mean) / size)


def test_large_tables() -> None:
    q = Quadratic.exchangeable(-0.5, 1e-6, rows=4039, columns=500)
    sample = sample_matrix_bernoulli(np.random.default_rng(26), quadratic=q, size=1)
    assert sample.shape == (1, 4039, 500)
    value, error = expected_ones(q)
    assert error == 0.0
    assert abs(sample.sum() - value) < 6.0 * math.sqrt(value)
    # Two modes, far apart, and weights beyond the floats: both are found.
    twice = ones_of_column(3000, -3.0, 3.0 / 2999)
    drawn = twice.draw(np.random.default_rng(27), 4000)
    assert abs(np.count_nonzero(drawn > 1500) - 2000) < 5.0 * math.sqrt(1000)


def test_weights_are_enclosed() -> None:
    matrix = random_symmetric(np.random.default_rng(28), 4, 3.0)
    with mpmath.workprec(400):
        for x, (low, high, shift) in zip(tables(4)[:, ::-1], table_weights(matrix, 192), strict=True):
            entries = [(i, j) for i in range(4) for j in range(4) if x[i] and x[j]]
            true = mpmath.exp(mpmath.fsum(mpmath.mpf(float(matrix[i, j])) for i, j in entries))
            assert mpmath.ldexp(low, shift) <= true <= mpmath.ldexp(high, shift)
            assert high - low <= high >> 180
        c, between = Fraction(-0.7), Fraction(0.3)
        for m, (low, high, shift) in enumerate(column_weights(20, c, between, 192)):
            energy = (c - between) * m + between * m * m
            true = math.comb(20, m) * mpmath.exp(mpmath.mpf(energy.numerator) / energy.denominator)
            assert mpmath.ldexp(low, shift) <= true <= mpmath.ldexp(high, shift)
            assert high - low <= high >> 180
        for x_exact in (Fraction(0), Fraction(700, 3), Fraction(-700, 3), Fraction(1, 10**9)):
            low, high, shift = exponential(x_exact, 192)
            true = mpmath.exp(mpmath.mpf(x_exact.numerator) / x_exact.denominator)
            assert mpmath.ldexp(low, shift) <= true <= mpmath.ldexp(high, shift)
            assert high - low <= max(high >> 180, 0)


def test_open_words_are_settled_with_more_bits_of_the_same_number() -> None:
    # Weights 1, e, 1: the thresholds are irrational, and the first word that leaves one open is known.
    choice = EnclosedChoice(lambda bits: [(1, 1, 0), exponential(Fraction(1), bits), (1, 1, 0)])
    with mpmath.workprec(300):
        threshold = 1 / (2 + mpmath.e)
        word = int(mpmath.floor(mpmath.ldexp(threshold, 64)))
        rest = int(mpmath.floor(mpmath.ldexp(threshold, 128))) - (word << 64)
    assert choice.settled(word, lambda: rest - 1) == 0
    assert choice.settled(word, lambda: rest + 1) == 1
    script = Script([word, word - 1, word + 1, ONES, 0], more=[rest - 1])
    assert choice.draw(cast("Any", script), 5).tolist() == [0, 0, 1, 2, 0]
    assert script.asked == 1


def as_word(number: int) -> Any:
    return np.uint64(number)


def test_logits_and_their_slack() -> None:
    rng = np.random.default_rng(29)
    words = [
        *rng.integers(0, 2**64, size=200, dtype=np.uint64).tolist(),
        1,
        2,
        3,
        ONES - 1,
        2**63,
        2**40,
        2**53,
    ]
    with mpmath.workprec(200):
        for word in words:
            found, room = logit(as_word(word))
            for end in (word, word + 1):
                true = mpmath.log(mpmath.mpf(end) / (2**64 - end)) if end < 2**64 else mpmath.inf
                if 0 < end < ONES:
                    assert abs(true - found) <= room + 2.0**-44
    assert logit(as_word(0))[1] == math.inf
    assert logit(as_word(ONES))[1] == math.inf


def test_comparison_with_the_logistic_function_is_exact() -> None:
    with mpmath.workprec(400):
        for x in (Fraction(0), Fraction(1, 3), Fraction(-1, 3), Fraction(20), Fraction(-20), Fraction(-60)):
            bound = 1 / (1 + mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))
            word = min(int(mpmath.floor(mpmath.ldexp(bound, 64))), ONES)
            rest = int(mpmath.floor(mpmath.ldexp(bound, 128))) - (word << 64)
            if x:
                assert below_logistic(x, (word, 64), lambda: rest - 1)[0]  # noqa: B023
                assert not below_logistic(x, (word, 64), lambda: rest + 1)[0]  # noqa: B023
            if word:
                assert below_logistic(x, (word - 1, 64), lambda: ONES)[0]
            assert not below_logistic(x, (word + 1, 64), lambda: 0)[0]
    assert not below_logistic(Fraction(0), (2**63, 64), lambda: 0)[0]


@pytest.mark.parametrize("kind", ["independent", "common", "pairs"])
def test_pulls_and_their_bounds(kind: str) -> None:
    rng = np.random.default_rng(30)
    q = random_quadratic(rng, 3, 2, kind)
    pulls, pi = Pulls.of(q), q.pi()
    rounding = pulls.rounding()
    low = rng.integers(0, 2, size=(3, 2), dtype=np.uint8)
    high = np.maximum(low, rng.integers(0, 2, size=(3, 2), dtype=np.uint8))
    sums = [side.sum(axis=0, dtype=np.int64) for side in (low, high)]
    between = [b for b in tables(6).reshape(-1, 3, 2) if (low <= b).all() and (b <= high).all()]
    for row in range(3):
        for column in range(2):
            cell = 2 * row + column
            beside = np.delete(pi[cell], cell)
            each = [pi[cell, cell] + 2.0 * beside @ np.delete(b.ravel(), cell) for b in between]
            least, most = pull_bounds(pulls, low, high, sums[0], sums[1], row, column)
            assert (least, most) == pytest.approx((min(each), max(each)), abs=1e-12)
            exact = pulls.exact(low, high, row, column), pulls.exact(high, low, row, column)
            assert abs(exact[0] - Fraction(least)) <= rounding[row, column]
            assert abs(exact[1] - Fraction(most)) <= rounding[row, column]
            assert pull(pulls, low, sums[0], row, column) == pytest.approx(
                float(pulls.exact(low, low, row, column)), abs=1e-12
            )


@pytest.mark.slow
def test_method_depends_on_the_parameters_alone() -> None:
    rng = np.random.default_rng(31)
    assert method_for(Quadratic.exchangeable(0.1, 0.2, rows=4039, columns=4039)) == "columns"
    assert method_for(random_quadratic(rng, 2, 3, "diagonal")) == "columns"
    assert method_for(random_quadratic(rng, 500, 5, "independent")) == "table"
    assert method_for(random_quadratic(rng, 3, 5, "pairs")) == "table"
    weak = Quadratic(random_symmetric(rng, 16, 0.05), random_symmetric(rng, 16, 1e-4), rows=240)
    assert method_for(weak) == "coupling"
    assert coalesces_fast(weak)
    strong = Quadratic(random_symmetric(rng, 16), random_symmetric(rng, 16), rows=240)
    assert method_for(strong) == "hmc"
    with pytest.raises(InvalidArgument, match="method"):
        sample_matrix_bernoulli(rng, quadratic=weak, size=1, method=cast("Method", "gibbs"))
    with pytest.raises(InvalidArgument, match="quadratic"):
        sample_by_columns(rng, quadratic=weak, size=1)
    with pytest.raises(InvalidArgument, match="quadratic"):
        sample_by_table(rng, quadratic=weak, size=1)
    with pytest.raises(InvalidArgument, match="travel"):
        sample_by_hmc(rng, quadratic=weak, size=1, travel=0.0)
    with pytest.raises(InvalidArgument, match="burn_in"):
        sample_by_hmc(rng, quadratic=weak, size=1, burn_in=0)


def test_expected_ones_by_monte_carlo() -> None:
    """Where the sum over all tables is too long; near independent cells, whose mean is known."""
    theta = np.diag(np.full(5, -1.0))
    theta[0, 1] = theta[1, 0] = 1e-9
    q = Quadratic(theta, random_symmetric(np.random.default_rng(32), 5, 1e-9), rows=10)
    assert method_for(q) == "coupling"
    with pytest.raises(InvalidArgument, match="rng"):
        expected_ones(q)
    with pytest.raises(InvalidArgument, match="samples"):
        expected_ones(q, rng=np.random.default_rng(33), samples=1)
    value, error = expected_ones(q, rng=np.random.default_rng(33), samples=2000)
    assert error == pytest.approx(math.sqrt(50 * 0.1966 / 2000), rel=0.1)
    assert abs(value - 50 / (1 + math.e)) < 5.0 * error


def test_trial_runs_find_couplings_that_agree_soon_without_a_proof() -> None:
    strong = Quadratic(0.5 * np.ones((6, 6)), 0.3 * np.ones((6, 6)), rows=5)
    assert not coalesces_fast(strong)
    assert coalesces_in_trial(strong)
    assert method_for(strong) == "coupling"
    # Groups of bits that all want to be alike take too long.
    theta = 0.4 * np.ones((40, 40))
    np.fill_diagonal(theta, -0.4 * 39)
    stuck = Quadratic(theta, rows=1)
    assert not coalesces_in_trial(stuck)
    assert method_for(stuck) == "hmc"
