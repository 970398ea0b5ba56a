"""PPLR: the proved loss, against densities computed directly, and the printed form that has none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest
from veil_papers.private_regression import (
    accuracy,
    calibrated,
    certified_loss,
    noise,
    plain_weights,
    private_weights,
    unit_records,
)

from veil.errors import InvalidArgument

# Probability that a right sampler fails a test of its law.
ALPHA = 1e-6
Floats = NDArray[np.float64]


def log_density(at: Floats, records: Floats, labels: Floats, ridge: float, rate: float) -> float:
    """log of the density of the released weights, up to a constant, as in the module's proof."""
    turned = records * labels[:, None]
    wrong = 1.0 / (1.0 + np.exp(turned @ at))
    rows, dimension = turned.shape
    push = turned.T @ wrong - rows * ridge * at
    curve = (turned * (wrong * (1.0 - wrong))[:, None]).T @ turned + rows * ridge * np.eye(dimension)
    return -rate * float(np.linalg.norm(push)) + float(np.linalg.slogdet(curve)[1])


def largest_loss(rows: int, ridge: float, rate: float, *, dimension: int, trials: int) -> float:
    """The largest log ratio of densities that a random search over data and weights finds."""
    rng = np.random.default_rng([rows, dimension])
    worst = 0.0
    for _ in range(trials):
        records = rng.standard_normal((rows + 1, dimension))
        records /= np.maximum(1.0, np.linalg.norm(records, axis=1))[:, None]
        records[-1] *= rng.choice([0.0, 1.0])
        labels = rng.choice([-1.0, 1.0], rows + 1)
        at = rng.standard_normal(dimension) * rng.choice([0.1, 1.0, 10.0])
        one, other = np.arange(rows), np.append(np.arange(1, rows), rows)
        ratio = log_density(at, records[one], labels[one], ridge, rate)
        ratio -= log_density(at, records[other], labels[other], ridge, rate)
        worst = max(worst, abs(ratio))
    return worst


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.1])
@pytest.mark.parametrize("rows", [1, 5, 240])
def test_calibration_stays_within_epsilon(epsilon: float, ridge: float, rows: int) -> None:
    rate, raised = calibrated(rows, ridge, epsilon)
    assert raised >= ridge
    assert rate > 0.0
    assert certified_loss(rows, raised, rate) <= epsilon
    assert certified_loss(rows, raised, rate) == pytest.approx(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "dimension"), [(1, 1), (3, 2), (6, 4)])
def test_densities_stay_within_the_certified_loss(rows: int, dimension: int) -> None:
    for ridge in (0.01, 0.3):
        rate, raised = calibrated(rows, ridge, 1.0)
        assert largest_loss(rows, raised, rate, dimension=dimension, trials=400) <= 1.0
        assert largest_loss(rows, ridge, 0.5, dimension=dimension, trials=400) <= certified_loss(
            rows, ridge, 0.5
        )


def test_noise_of_epsilon_alone_is_not_enough_at_a_small_ridge() -> None:
    # One record, x = 1 or x = 0, at w = 0: the volume factor alone is 1 + 1 / (4 ridge).
    one, none = np.array([[1.0]]), np.array([[0.0]])
    label, at = np.ones(1), np.zeros(1)
    ratio = log_density(at, one, label, 0.01, 0.5) - log_density(at, none, label, 0.01, 0.5)
    assert ratio == pytest.approx(math.log(26.0) - 0.25)
    assert 1.0 < ratio <= certified_loss(1, 0.01, 0.5)


def test_noise_has_its_length_and_no_direction() -> None:
    rng = np.random.default_rng(7)
    drawn = np.array([noise(rng, 3, 2.0) for _ in range(4000)])
    lengths = np.linalg.norm(drawn, axis=1)
    assert kstest(lengths, "gamma", args=(3, 0.0, 0.5)).pvalue > ALPHA
    assert kstest(lengths, "gamma", args=(3, 0.0, 0.6)).pvalue < ALPHA
    # A coordinate of a uniform direction in space is uniform itself.
    assert kstest(drawn[:, 2] / lengths, "uniform", args=(-1.0, 2.0)).pvalue > ALPHA


def test_the_minimum_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(8)
    bits = rng.random((150, 6)) < 0.5
    labels = np.where(bits[:, 0] ^ (rng.random(150) < 0.2), 1.0, -1.0)
    records = unit_records(bits)
    ours = plain_weights(records, labels, ridge=0.02)
    theirs = linear.LogisticRegression(C=1.0 / (150 * 0.02), fit_intercept=False, tol=1e-10)
    np.testing.assert_allclose(ours, theirs.fit(records, labels).coef_[0], atol=1e-5)
    assert accuracy(ours, records, labels) > 0.75


def test_it_learns_as_epsilon_grows() -> None:
    rng = np.random.default_rng(9)
    bits = rng.random((600, 8)) < 0.5
    labels = np.where(bits[:, 2], 1.0, -1.0)
    records = unit_records(bits)
    np.testing.assert_allclose(np.linalg.norm(records, axis=1), 1.0)
    means = []
    for epsilon in (0.05, 8.0):
        found = [private_weights(records, labels, epsilon, rng, ridge=0.01) for _ in range(30)]
        means.append(np.mean([accuracy(weights, records, labels) for weights in found]))
    assert means[0] < 0.8 < 0.99 < means[1]


def test_refusals() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidArgument, match="records"):
        private_weights(np.ones((3, 2)), np.ones(3), 1.0, rng, ridge=0.1)
    with pytest.raises(InvalidArgument, match="epsilon"):
        calibrated(10, 0.1, 0.0)
