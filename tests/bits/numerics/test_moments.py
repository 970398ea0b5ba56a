"""Signals of exchangeable noise and unbiased estimates, against enumeration and simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from tests.params import quick_first
from veil.bits.numerics.moments import (
    BitSignals,
    column_sums,
    entries,
    krawtchouk,
    pair_tables,
    signal,
    staircase_law,
)
from veil.core.random.exact_choice import sample_free_by_distance
from veil.errors import InvalidArgument

# Probability that a right implementation fails a statistical test.
ALPHA = 1e-6
Bits = NDArray[np.bool_]


def independent_law(columns: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(columns, w) * rate**w * (1 - rate) ** (columns - w) for w in range(columns + 1)]


def noises(law: list[Fraction]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every noise vector with its probability."""
    columns, total = len(law) - 1, sum(law, Fraction(0))
    for bits in product((0, 1), repeat=columns):
        weight = sum(bits)
        yield bits, law[weight] / math.comb(columns, weight) / total


def released(rng: np.random.Generator, table: Bits, law: list[Fraction]) -> Bits:
    return sample_free_by_distance(rng, words=table.astype(np.int32), alphabet=2, law=law).astype(bool)


LAWS = {
    "staircase": staircase_law(4, 1.3),
    "two flips": staircase_law(4, 0.8, flips=2),
    "independent": independent_law(4, Fraction(1, 5)),
    "odd": [Fraction(w) for w in (5, 1, 7, 2, 3)],
}


@pytest.mark.parametrize("name", LAWS)
def test_signals_are_the_means_of_products_of_signs(name: str) -> None:
    law = LAWS[name]
    for order in range(5):
        for chosen in combinations(range(4), order):
            mean = sum((p * (-1) ** sum(bits[i] for i in chosen) for bits, p in noises(law)), Fraction(0))
            assert signal(law, order) == mean


def test_signals_of_the_specification() -> None:
    signals = BitSignals.staircase(16, 1.0)
    assert float(signals.pair) == pytest.approx(0.00665, abs=5e-6)
    assert float(signals.single) ** 2 == pytest.approx(0.00996, abs=5e-6)
    assert signals.flip_rate == pytest.approx(0.4501, abs=5e-5)
    assert BitSignals.staircase(30, 1.0).flip_rate == pytest.approx(0.4639, abs=5e-5)
    direct = signal(staircase_law(16, 1.0), 2)
    law = staircase_law(16, 1.0)
    squares = sum((p * ((16 - 2 * w) ** 2 - 16) for w, p in enumerate(law)), Fraction(0))
    assert direct == squares / (16 * 15 * sum(law, Fraction(0)))


def test_independent_signals_are_powers() -> None:
    rate = Fraction(3, 10)
    signals = BitSignals.independent(5, rate)
    law = independent_law(5, rate)
    assert signals == BitSignals.of_law(law)
    assert signal(law, 3) == signals.single**3


def test_krawtchouk_polynomials_are_orthogonal() -> None:
    for i, j in product(range(7), repeat=2):
        total = sum(
            math.comb(6, w) * a * b
            for w, (a, b) in enumerate(zip(krawtchouk(6, i), krawtchouk(6, j), strict=True))
        )
        assert total == (2**6 * math.comb(6, i) if i == j else 0)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("record", [(0, 0, 1, 1), (1, 0, 0, 1), (0, 0, 0, 0), (1, 1, 1, 0)])
def test_estimates_of_one_record_are_unbiased_with_the_variance_stated(
    name: str, record: tuple[int, ...]
) -> None:
    law, truth = LAWS[name], np.array(record)
    signals = BitSignals.of_law(law)
    chances = np.array([float(p) for _, p in noises(law)])
    tables = [(truth ^ np.array(bits))[None] for bits, _ in noises(law)]

    sums = [column_sums(table, signals) for table in tables]
    values = np.array([found.value for found in sums])
    np.testing.assert_allclose(chances @ values, truth, atol=1e-9)
    np.testing.assert_allclose(chances @ values**2 - (chances @ values) ** 2, sums[0].variance, rtol=1e-9)
    each = np.array([entries(table, signals).value[0] for table in tables])
    np.testing.assert_allclose(chances @ each, truth, atol=1e-9)

    pairs = [pair_tables(table, signals) for table in tables]
    values = np.array([found.value for found in pairs])
    mean = np.einsum("k,kpab->pab", chances, values)
    for place, (i, j) in enumerate(combinations(range(4), 2)):
        wanted = np.zeros((2, 2))
        wanted[truth[i], truth[j]] = 1.0
        np.testing.assert_allclose(mean[place], wanted, atol=1e-8)
    # The variance stated for a cell lies in the range of the four true sign pairs, and so does the true one.
    stated = np.array([found.variance for found in pairs])
    spread = np.einsum("k,kpab->pab", chances, values**2) - mean**2
    assert (spread >= stated.min() * (1 - 1e-9)).all()
    assert (spread <= stated.max() * (1 + 1e-9)).all()
    cells = {(int(a), int(c)) for a in truth for c in truth}
    if cells == {(0, 0), (0, 1), (1, 0), (1, 1)}:
        np.testing.assert_allclose([spread.min(), spread.max()], [stated.min(), stated.max()], rtol=1e-9)


def test_the_estimated_variance_of_pairs_is_unbiased_before_it_is_brought_into_range() -> None:
    # 4,000 records: the estimate stays within the range, which cuts nothing.
    law = independent_law(2, Fraction(1, 10))
    signals = BitSignals.of_law(law)
    rng = np.random.default_rng(5)
    table = rng.random((4000, 2)) < 0.4
    draws = [pair_tables(released(rng, table, law), signals) for _ in range(300)]
    values = np.array([found.value[0] for found in draws])
    stated = np.mean([found.variance[0] for found in draws], axis=0)
    ratio = values.var(axis=0, ddof=1) / stated
    # A variance of 300 draws has a relative error of sqrt(2/300) = 0.082: five of them.
    assert (np.abs(ratio - 1.0) < 0.41).all()


def test_margins_of_pairs_are_column_sums() -> None:
    rng = np.random.default_rng(2)
    signals = BitSignals.staircase(6, 2.0)
    table = rng.random((70, 6)) < 0.3
    sums, pairs = column_sums(table, signals), pair_tables(table, signals, [(4, 1), (0, 5)])
    np.testing.assert_allclose(pairs.value[:, 1].sum(axis=1), sums.value[[4, 0]])
    np.testing.assert_allclose(pairs.value[:, :, 1].sum(axis=1), sums.value[[1, 5]])
    np.testing.assert_allclose(pairs.value.sum(axis=(1, 2)), 70.0)


def coverage(signals: BitSignals, law: list[Fraction], *, trials: int, seed: int) -> dict[str, int]:
    """How often intervals at 95 % for the third column and for a cell of the pair (1, 3) cover the truth."""
    rng = np.random.default_rng(seed)
    table = rng.random((400, signals.columns)) < np.linspace(0.1, 0.8, signals.columns)
    # Two columns that nearly always differ: much rests on the signal of the pair.
    table[:, 3] = table[:, 1] ^ (rng.random(400) < 0.95)
    ones, cell = int(table[:, 2].sum()), int((table[:, 1] & ~table[:, 3]).sum())
    covered = dict.fromkeys(("normal sum", "proved sum", "normal cell", "proved cell"), 0)
    for _ in range(trials):
        seen = released(rng, table, law)
        sums, pairs = column_sums(seen, signals), pair_tables(seen, signals, [(1, 3)])
        for kind in ("normal", "proved"):
            low, high = getattr(sums, kind)(confidence=0.95)
            covered[f"{kind} sum"] += bool(low[2] <= ones <= high[2])
            low, high = getattr(pairs, kind)(confidence=0.95)
            covered[f"{kind} cell"] += bool(low[0, 1, 0] <= cell <= high[0, 1, 0])
    return covered


@pytest.mark.slow
@pytest.mark.parametrize("trials", quick_first([500, 1500]))
@pytest.mark.parametrize("name", ["staircase", "independent"])
def test_intervals_cover(name: str, trials: int) -> None:
    law = staircase_law(6, 3.0) if name == "staircase" else independent_law(6, Fraction(1, 4))
    found = coverage(BitSignals.of_law(law), law, trials=trials, seed=11)
    for kind in ("normal sum", "normal cell"):
        assert binomtest(found[kind], trials, 0.95).pvalue > ALPHA, found
    for kind in ("proved sum", "proved cell"):
        assert binomtest(found[kind], trials, 0.95, alternative="less").pvalue > ALPHA, found


@pytest.mark.slow
def test_the_coverage_test_sees_the_wrong_pair_signal() -> None:
    # The square of the single signal, right for independent flips, is wrong for the staircase.
    law = staircase_law(6, 3.0)
    right = BitSignals.of_law(law)
    wrong = BitSignals(6, right.single, right.single**2)
    found = coverage(wrong, law, trials=500, seed=11)
    assert binomtest(found["normal cell"], 500, 0.95).pvalue < ALPHA


def test_intervals_together_are_wider() -> None:
    found = column_sums(np.zeros((30, 4), dtype=bool), BitSignals.staircase(4, 5.0))
    alone, together = found.proved(), found.proved(together=True)
    assert (together[1] >= alone[1]).all()
    assert found.proved(confidence=0.5)[1][0] < alone[1][0]


def test_nothing_is_left_of_pairs_under_the_nearer_half() -> None:
    signals = BitSignals.staircase(17, 0.5)
    assert signals.pair == 0 < signals.single
    assert BitSignals.staircase(16, 0.5).pair > 0
    with pytest.raises(InvalidArgument, match="kappa_2 = 0"):
        pair_tables(np.zeros((3, 17), dtype=bool), signals)


def test_refusals() -> None:
    signals = BitSignals.staircase(3, 1.0)
    for table in (np.zeros((2, 2)), np.zeros(3), np.full((2, 3), 2)):
        with pytest.raises(InvalidArgument, match="released"):
            column_sums(table, signals)
    with pytest.raises(InvalidArgument, match="pairs"):
        pair_tables(np.zeros((2, 3), dtype=bool), signals, [(1, 1)])
    with pytest.raises(InvalidArgument, match="confidence"):
        column_sums(np.zeros((2, 3), dtype=bool), signals).normal(confidence=1.0)
