"""Second-order probabilities from noisy counts: between the first order and the truth, and never worse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.chains.sequences import Floats, Integers, geometric_noise, synthetic
from veil.chains.strata import planned_second_cap, second_order
from veil.core.numerics.denoise import Noise


def _loss(counts: Integers, laws: Floats) -> float:
    """Nats a transition."""
    return float(-(counts * np.log(laws)).sum() / counts.sum())


def _laws(counts: Floats | Integers) -> Floats:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


@pytest.fixture(scope="module")
def counts() -> Integers:
    rng = np.random.default_rng(4)
    return synthetic(7, rng.geometric(0.2, 20_000), rng).second()


@pytest.mark.parametrize(("scale", "part"), [(3.0, 1.05), (30.0, 0.7), (300.0, 0.7)])
def test_between_first_order_and_truth(counts: Integers, scale: float, part: float) -> None:
    noise = Noise("geometric", scale)
    noisy = counts + geometric_noise(noise, counts.shape, np.random.default_rng(5))
    joint = counts.sum(axis=0) + 0.5
    first = _loss(counts, np.broadcast_to(_laws(joint), counts.shape))
    best = _loss(counts, _laws(np.asarray(counts + 1e-9, dtype=np.float64)))
    ours = _loss(counts, second_order(noisy, noise, joint))
    clipped = _loss(counts, _laws(np.maximum(noisy, 0) + 0.5))
    assert best < ours < first
    assert ours - best < part * (clipped - best)


def test_nothing_but_noise_gives_the_first_order() -> None:
    rng = np.random.default_rng(6)
    joint = rng.dirichlet(np.ones(36)).reshape(6, 6) * 1e4
    noise = Noise("geometric", 5_000.0)
    answer = second_order(geometric_noise(noise, (7, 6, 6), rng), noise, joint)
    np.testing.assert_allclose(answer.sum(axis=-1), 1.0)
    assert 0.5 * np.abs(answer - _laws(joint)).sum(axis=-1).mean() < 0.15


def test_public_zeros_stay(counts: Integers) -> None:
    support = np.ones((7, 7), dtype=bool)
    support[2, 3] = support[4, 4] = False
    support[5] = False
    true = counts * support
    noise = Noise("gaussian", 4.0)
    noisy = true + np.rint(np.random.default_rng(7).normal(0.0, 4.0, true.shape)).astype(np.int64)
    joint = (true.sum(axis=0) + 0.5) * support
    answer = second_order(noisy, noise, joint, support)
    assert (answer[:, ~support] == 0.0).all()
    assert (answer[:, support] > 0.0).all()
    sums = answer.sum(axis=-1)
    np.testing.assert_allclose(sums[:, support.any(axis=1)], 1.0)
    assert (second_order(noisy, noise, joint) == answer).all()


def test_huge_counts_and_all_zero() -> None:
    noise = Noise("geometric", 2.0)
    joint = np.full((3, 3), 1e15)
    assert np.isfinite(second_order(np.full((4, 3, 3), 10**14), noise, joint)).all()
    answer = second_order(np.zeros((4, 3, 3), dtype=np.int64), noise, np.ones((3, 3)))
    np.testing.assert_allclose(answer.sum(axis=-1), 1.0)
    assert (answer > 0.0).all()


def test_the_cap_keeps_two_thirds() -> None:
    lengths = np.bincount(np.random.default_rng(8).geometric(0.1, 50_000)).astype(np.float64)
    steps = np.maximum(np.arange(len(lengths)) - 1.0, 0.0)
    cap = planned_second_cap(lengths)
    kept = [(np.minimum(steps, most) * lengths).sum() / (steps * lengths).sum() for most in (cap - 1, cap)]
    assert kept[0] < 2.0 / 3.0 <= kept[1]
    assert planned_second_cap(np.zeros(4)) == planned_second_cap(np.zeros(0)) == 1
