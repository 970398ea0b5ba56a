"""Estimates of the counts behind noisy tables: better than simple ways, and sound on odd tables."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import veil
from tests.chains.shapes import noisy, table
from veil.chains.estimation import held_out_means, transition_table
from veil.chains.estimation import matched_quantiles as of_quantiles
from veil.chains.estimation.groups import GroupEstimates
from veil.chains.estimation.held_out_means import _dealt, _predictors
from veil.chains.estimation.linear_step import LinearStep, groups_by_share
from veil.chains.estimation.matched_quantiles import LEVELS, matched_quantiles
from veil.chains.estimation.regression import LogLinear, _cells
from veil.chains.estimation.sums import balanced, few_in_small_cells
from veil.chains.estimation.transition_table import TableEstimate, chosen_rank
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.denoise import denoised, independent_means

Floats = NDArray[np.float64]
NOISE = Noise("geometric", 1.0)


def rows(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def errors(truth: Floats, estimate: Floats) -> Floats:
    """Total variation of the stationary distribution, of rows (weighted) and of the joint table."""
    weights = truth.sum(axis=1) / truth.sum()
    gaps = np.abs(LinearStep.stationary(rows(estimate)) - LinearStep.stationary(rows(truth))).sum()
    of_rows = weights @ np.abs(rows(estimate) - rows(truth)).sum(axis=1)
    joint = np.abs(estimate / estimate.sum() - truth / truth.sum()).sum()
    return 0.5 * np.array([gaps, of_rows, joint])


def mean_errors(shape: str, states: int, total: int, releases: int, epsilon: float = 1.0) -> Floats:
    """[way, measure] for the estimate, clipping, and independent means."""
    truth = table(shape, states, total, 3).astype(float)
    rng, noise = np.random.default_rng(4), Noise("geometric", 1.0 / epsilon)
    found = []
    for _ in range(releases):
        values = noisy(truth, epsilon, rng)
        ways = TableEstimate.of(values, noise).counts, np.maximum(values, 1e-9), denoised(values, noise)
        found.append([errors(truth, way) for way in ways])
    return np.asarray(np.mean(found, axis=0))


@pytest.mark.parametrize(("shape", "total", "most"), [("gravity", 12_000, 0.9), ("block", 40_000, 0.95)])
def test_sparse_tables_are_estimated_better_than_by_clipping_or_independence(
    shape: str, total: int, most: float
) -> None:
    """Three releases. Power: independent means alone have a ratio of 1 and would fail."""
    found = mean_errors(shape, 80, total, 3)
    ratios = found[0] / found[1:].min(axis=0)
    assert ratios[0] < most
    assert (ratios[1:] < 0.9).all()


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("shape", ["outer", "gravity", "block", "heavy", "independent"])
def test_no_shape_is_estimated_worse_than_by_a_simple_way(shape: str, epsilon: float) -> None:
    found = mean_errors(shape, 200, 60_000, 40, epsilon)
    assert (found[0] <= 1.05 * found[1:].min(axis=0)).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((2, 2)),
        np.full((3, 3), -7.0),
        np.array([[5e11, -3.0], [2.0, 1.0]]),
        np.diag([9.0, 40.0, 3.0, 0.0]),
        np.arange(400.0).reshape(20, 20) % 7 - 3.0,
    ],
    ids=["nothing", "all negative", "huge", "only a diagonal", "stripes"],
)
def test_odd_tables_give_a_chain(values: Floats, scale: float) -> None:
    found = TableEstimate.of(values, Noise("geometric", scale))
    assert np.isfinite(found.counts).all()
    assert (found.counts > 0.0).all()
    assert (found.variance >= 0.0).all()
    assert LinearStep.stationary(rows(found.counts)).sum() == pytest.approx(1.0)


def test_little_noise_changes_little() -> None:
    truth = table("heavy", 30, 30_000, 5).astype(float)
    found = TableEstimate.of(truth, Noise("geometric", 0.05))
    assert errors(truth, found.counts).max() < 2e-3


def test_hidden_dimensions_are_taken_where_they_are_there() -> None:
    rng, whole = np.random.default_rng(6), None
    ranks = {}
    for shape in ("block", "independent"):
        values = noisy(table(shape, 60, 40_000, 7), 1.0, rng)
        whole = ~np.eye(len(values), dtype=bool)
        ranks[shape] = chosen_rank(values, independent_means(values, whole, NOISE), NOISE)
    assert ranks["independent"] == 0
    assert ranks["block"] >= 2


def test_a_rank_that_is_given_is_taken() -> None:
    values = noisy(table("block", 40, 20_000, 7), 1.0, np.random.default_rng(8))
    chosen = TableEstimate.of(values, NOISE)
    assert np.array_equal(TableEstimate.of(values, NOISE, rank=chosen.rank).counts, chosen.counts)
    assert TableEstimate.of(values, NOISE, rank=4).rank == 4


def test_a_cell_borrows_from_the_one_across_where_both_are_alike() -> None:
    """Streets: only neighbours are joined, in both directions. A table that is mixed up loses that."""
    truth = table("streets", 64, 8_000, 9).astype(float)
    order = np.random.default_rng(10).permutation(len(truth))
    gains = []
    for counts in (truth, truth[:, order]):
        values = noisy(counts, 1.0, np.random.default_rng(11))
        gains.append(errors(counts, TableEstimate.of(values, NOISE).counts)[1])
    assert gains[0] < 0.9 * gains[1]


def test_no_count_is_among_its_own_predictors() -> None:
    """Hidden counts are changed: nothing that is used to guess them may move."""
    values = noisy(table("block", 24, 8_000, 9), 1.0, np.random.default_rng(10))
    number, folds = _dealt(len(values))
    away = ~np.eye(len(values), dtype=bool)
    for fold in range(folds):
        hidden = away & (number == fold)
        other = np.where(hidden, values + 40.0, values)
        before, after = (
            _predictors(one, away & ~hidden, away, NOISE, 2, twice=True) for one in (values, other)
        )
        assert np.array_equal(before[0][hidden], after[0][hidden])
        assert all(
            np.array_equal(one[hidden], two[hidden])
            for some, same in zip(before[1], after[1], strict=True)
            for one, two in zip(some, same, strict=True)
        )


@pytest.mark.parametrize("states", [5, 12, 700])
def test_a_cell_and_the_one_across_are_never_hidden_together(states: int) -> None:
    number, folds = _dealt(states)
    away = ~np.eye(states, dtype=bool)
    assert (number != number.T)[away].all()
    assert set(np.unique(number[away])) == set(range(folds))
    shares = np.bincount(number[away], minlength=folds) / away.sum()
    assert np.abs(shares - 1.0 / folds).max() < 0.2


def test_a_regression_finds_slopes_and_leaves_out_what_tells_nothing() -> None:
    """Poisson counts, wide factors, noise. Slopes within four standard errors (alpha 0.0002)."""
    rng = np.random.default_rng(13)
    known, idle = rng.normal(0.0, 1.0, (2, 40_000))
    offsets = np.full(len(known), np.log(3.0))
    factors = rng.gamma(2.0, 0.5, len(known))
    values = rng.poisson(np.exp(offsets + 0.7 * known) * factors) + rng.normal(0.0, 1.4, len(known))
    fit = LogLinear.fitted(offsets, [known, idle], values, 1.4)
    assert fit.slopes == pytest.approx([0.0, 0.7, 0.0], abs=0.03)
    again = np.exp(offsets + 0.7 * known)
    assert np.abs(fit.means(offsets, [known, idle]) / again - 1.0).max() < 0.2


def test_the_cells_of_a_regression_are_chosen_without_their_counts() -> None:
    rng = np.random.default_rng(14)
    offsets, predictor = rng.normal(0.0, 1.0, (2, 50_000))
    values = rng.poisson(np.exp(offsets)).astype(float)
    some = _cells(offsets)
    other = values.copy()
    other[np.setdiff1d(np.arange(len(values)), some)] += 1_000.0
    one, two = (LogLinear.fitted(offsets, [predictor], each, 1.0).slopes for each in (values, other))
    assert np.array_equal(one, two)
    assert set(np.argsort(-offsets)[:10_000]) <= set(some)


def test_large_tables_are_estimated_without_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of states alone: here 100 are called many. Nearly as good, and in single precision."""
    counts = table("gravity", 100, 30_000, 17).astype(float)
    values = noisy(counts, 1.0, np.random.default_rng(18))
    usual = errors(counts, TableEstimate.of(values, NOISE).counts)
    for module in (held_out_means, transition_table):
        monkeypatch.setattr(module, "MOST_HELD_OUT", 50)
    monkeypatch.setattr(held_out_means, "_dealt", None)
    found = TableEstimate.of(values, NOISE).counts
    assert (errors(counts, found) < 1.1 * usual).all()
    assert (found > 0.0).all()
    # In blocks or at once.
    monkeypatch.setattr(of_quantiles, "_BLOCK", 700)
    np.testing.assert_allclose(TableEstimate.of(values, NOISE).counts, found, rtol=1e-6)


def test_balanced_sums_are_those_of_conditioned_normal_cells() -> None:
    """Against the plain formula: cells given differences of sums, by one covariance matrix of all cells."""
    rng = np.random.default_rng(12)
    truth = table("trips", 12, 4_000, 13).astype(float)
    truth = 0.5 * (truth + truth.T)
    size, values = len(truth), noisy(truth, 1.0, rng)
    means, variances = np.maximum(values, 0.5), rng.uniform(0.5, 2.0, truth.shape)
    found = balanced(means, variances, values, NOISE.deviation)
    away = ~np.eye(size, dtype=bool)
    differences = np.zeros((size, size, size))
    for state in range(size):
        differences[state, state, :] += 1.0
        differences[state, :, state] -= 1.0
    flat, covariance = differences[:, away], np.diag(variances[away])
    # The estimated imbalance is hidden inside: what is left of the differences must fit some of it.
    before, after = (np.abs(flat @ one[away]) for one in (means, found))
    assert after.sum() < before.sum()
    if after.sum() < 0.05 * before.sum():
        sure = (
            means[away]
            - covariance @ flat.T @ np.linalg.pinv(flat @ covariance @ flat.T) @ flat @ means[away]
        )
        np.testing.assert_allclose(found[away], sure, atol=0.3)
    assert (np.diag(found) == np.diag(means)).all()


def test_unequal_departures_and_arrivals_are_left_alone() -> None:
    """States that send out five times what they take in: nothing to balance."""
    rng = np.random.default_rng(14)
    truth = np.outer(np.repeat([500.0, 100.0], 10), np.repeat([1.0, 5.0], 10)) / 20.0
    values = noisy(np.rint(truth), 1.0, rng)
    found = balanced(np.maximum(values, 0.1), np.full(truth.shape, 1.8), values, NOISE.deviation)
    away = ~np.eye(20, dtype=bool)
    assert np.abs(found - np.maximum(values, 0.1))[away].sum() < 0.02 * values[away].sum()


def test_small_cells_hold_together_what_the_noisy_ones_hold() -> None:
    values = noisy(np.zeros((100, 100)), 1.0, np.random.default_rng(15))
    guess, means = np.full(values.shape, 0.3), np.full(values.shape, 0.2)
    found = few_in_small_cells(guess, means, values, NOISE.deviation)
    away = ~np.eye(100, dtype=bool)
    assert found[away].sum() < 0.4 * guess[away].sum()
    assert (found > 0.0).all()
    assert np.array_equal(found[~away], guess[~away])
    large = few_in_small_cells(10.0 * guess, 10.0 * means, values, NOISE.deviation)
    assert np.array_equal(large, 10.0 * guess)


def test_matched_quantiles_have_the_sums_that_are_asked_for() -> None:
    rng = np.random.default_rng(16)
    means = rng.lognormal(0.0, 1.5, (15, 15))
    quantiles = np.quantile(rng.poisson(means, (4_000, 15, 15)), LEVELS, axis=0)
    medians = quantiles[LEVELS.index(0.5)]
    for part in (0.0, 0.5, 1.0):
        found = matched_quantiles(quantiles, means, part)
        for axis in (0, 1):
            wanted = part * means.sum(axis=axis) + (1.0 - part) * medians.sum(axis=axis)
            np.testing.assert_allclose(found.sum(axis=axis), wanted, rtol=0.05, atol=0.5)
    # What is missing goes to the cells where it is likeliest: less error than spread evenly by means.
    drawn = rng.poisson(means, (500, 15, 15))
    scaled = medians * (means.sum() / medians.sum())
    spread = medians + (means.sum() - medians.sum()) * means / means.sum()
    gap = np.abs(drawn - matched_quantiles(quantiles, means, 1.0)).sum(axis=(1, 2)).mean()
    assert gap < np.abs(drawn - means).sum(axis=(1, 2)).mean()
    assert gap < min(np.abs(drawn - one).sum(axis=(1, 2)).mean() for one in (scaled, spread)) * 1.02


def test_groups_of_states_hold_each_once_from_the_busiest_on() -> None:
    shares = np.random.default_rng(11).dirichlet(np.ones(75))
    groups = groups_by_share(shares)
    assert sorted(np.concatenate(groups)) == list(range(75))
    assert [len(group) for group in groups] == [16, 59]
    assert shares[groups[0]].min() >= shares[groups[1]].max()


def group_errors(truth: NDArray[np.int64], seed: int) -> Floats:
    """Weighted row errors of [borrowing, each group's own chain, the common chain]."""
    rng = np.random.default_rng(seed)
    values = np.stack([noisy(group, 1.0, rng) for group in truth])
    found = GroupEstimates.of(values, NOISE)
    sums = np.zeros(3)
    for group, value, counts in zip(truth, values, found.counts, strict=True):
        ways = counts, TableEstimate.of(value, NOISE).counts, found.together.counts
        used = group.sum(axis=1) > 0
        sums += [errors((group + 1e-9)[used], way[used])[1] for way in ways] if used.all() else [0, 0, 0]
    return sums


def test_groups_borrow_from_the_common_chain_and_keep_what_is_their_own() -> None:
    rng = np.random.default_rng(12)
    whole = table("gravity", 30, 60_000, 13)
    alike = np.stack([rng.binomial(whole, part) + np.eye(len(whole), dtype=int) for part in (0.6, 0.2, 0.04)])
    borrowed, own, _ = group_errors(alike, 14)
    assert borrowed < 0.9 * own
    size = min(len(whole), 24)
    other = [table("gravity", 60, 60_000, seed)[:size, :size] + 1 for seed in (15, 16)]
    borrowed, own, common = group_errors(np.stack(other), 17)
    assert borrowed <= 1.15 * own
    assert borrowed < 0.5 * common


def test_intervals_hold_their_estimates() -> None:
    counts = veil.chains.TransitionCounts(table("block", 40, 20_000, 18))
    out = veil.chains.release(counts, epsilon=0.5, rng=19)
    bars = veil.chains.intervals(out)
    for bar, value in ((bars.transitions, out.value.to_numpy()), (bars.stationary, out.value.stationary())):
        assert (bar[..., 0] <= value).all()
        assert (value <= bar[..., 1]).all()
