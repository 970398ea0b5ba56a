"""Dirichlet vectors of every shape."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA, mean_fits
from veil.vectors.mechanisms.dirichlet_form import sample_dirichlet

DRAWS = 20_000
# The second and the third use the logarithmic branch, entirely or because of one small entry.
SHAPES = [[0.5, 1.0, 2.5, 6.0], [0.05, 0.1, 0.15, 0.08], [0.01, 3.0, 40.0, 0.5], [300.0, 20.0, 1000.0, 80.0]]


def marginal(column: NDArray[np.float64], shape: float, rest: float) -> float:
    """The p-value of one entry against its beta distribution."""
    return float(stats.kstest(column, stats.beta(shape, rest).cdf).pvalue)


@pytest.mark.parametrize("shapes", SHAPES)
def test_every_entry_has_its_beta_distribution_and_15_percent_off_is_seen(shapes: list[float]) -> None:
    draws = sample_dirichlet(np.random.default_rng(1), shapes=np.array(shapes), size=DRAWS)
    total = sum(shapes)
    for index, shape in enumerate(shapes):
        column = draws[:, index]
        if shape < 0.02:  # many draws underflow to zero; their mean is tested below
            continue
        assert marginal(column, shape, total - shape) > ALPHA
        assert marginal(column, 1.15 * shape, total - shape) < ALPHA


@pytest.mark.parametrize("shapes", [*SHAPES, [1e-3, 2e-3, 5e-4, 1e-3], [1e-9, 3e-9, 1e-9, 2e-9]])
def test_first_and_second_moments(shapes: list[float]) -> None:
    draws = sample_dirichlet(np.random.default_rng(2), shapes=np.array(shapes), size=100_000)
    a, total = np.array(shapes), sum(shapes)
    for i in range(4):
        exact = stats.beta(a[i], total - a[i])
        assert mean_fits(draws[:, i], a[i] / total, exact.var())
        # Power: an entry whose shape is 20 % too large has another mean.
        off = 1.2 * a[i] / (total + 0.2 * a[i])
        assert not mean_fits(draws[:, i], off, exact.var()) or a[i] / total < 1e-3
        j = (i + 1) % 4
        product, square = a[i] * a[j], total * (total + 1.0)
        spread = np.var(draws[:, i] * draws[:, j])
        assert mean_fits(draws[:, i] * draws[:, j], product / square, float(spread) + 1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1e-12, 1e-100, 1e-300])
def test_tiny_shapes_choose_one_entry(scale: float) -> None:
    # As the shapes vanish the vector tends to a unit vector, chosen in proportion to them.
    weights = np.array([1.0, 2.0, 5.0])
    draws = sample_dirichlet(np.random.default_rng(3), shapes=scale * weights, size=DRAWS)
    assert np.isfinite(draws).all()
    assert draws.sum(axis=-1) == pytest.approx(1.0)
    chosen = np.bincount(draws.argmax(axis=-1), minlength=3)
    assert stats.chisquare(chosen, DRAWS * weights / 8.0).pvalue > ALPHA
    assert stats.chisquare(chosen, DRAWS * np.array([1.2, 2.0, 4.8]) / 8.0).pvalue < ALPHA


@pytest.mark.parametrize("shapes", [[0.0, 2.0, 3.0], [0.0, 1e-5, 0.0, 2.0], [0.5, 0.0]])
def test_entries_of_shape_zero_stay_zero(shapes: list[float]) -> None:
    draws = sample_dirichlet(np.random.default_rng(4), shapes=np.array(shapes), size=500)
    assert (draws[:, np.array(shapes) == 0.0] == 0.0).all()
    assert draws.sum(axis=-1) == pytest.approx(1.0)


def test_the_zeros_of_a_batch_stay_where_they_are() -> None:
    shapes = np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 1e-4]])
    draws = sample_dirichlet(np.random.default_rng(5), shapes=shapes, size=50)
    assert ((draws == 0.0)[:, shapes == 0.0]).all()
    assert draws[:, 0, 1:].min() > 0.0


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3)])
@pytest.mark.parametrize("small", [False, True])
def test_batches(shape: tuple[int, ...], small: bool) -> None:
    shapes = np.full(shape, 0.01 if small else 2.0)
    rng = np.random.default_rng(6)
    assert sample_dirichlet(rng, shapes=shapes).shape == shape
    assert sample_dirichlet(rng, shapes=shapes, size=7).shape == (7, *shape)
    assert sample_dirichlet(rng, shapes=shapes, size=0).shape == (0, *shape)


@pytest.mark.parametrize("entries", [2, 3, 8, 33])
@pytest.mark.parametrize("shape", [0.1, 5.0])
def test_every_position_is_randomised(entries: int, shape: float) -> None:
    rng = np.random.default_rng(7)
    draws = sample_dirichlet(rng, shapes=np.full((4, entries), shape), size=200)
    # Every entry of every row varies, by about its own standard deviation.
    deviation = np.sqrt((entries - 1.0) / (entries**2 * (entries * shape + 1.0)))
    assert (draws.std(axis=0) > 0.4 * deviation).all()
    assert (draws.std(axis=0) < 2.5 * deviation).all()
    assert len(np.unique(draws[..., -1])) > 100


@pytest.mark.parametrize("shape", [0.15, 3.0])
def test_rows_and_draws_are_independent(shape: float) -> None:
    draws = sample_dirichlet(np.random.default_rng(8), shapes=np.full((3, 2), shape), size=DRAWS)[..., 0]
    limit = float(stats.norm.isf(ALPHA / 2.0)) / np.sqrt(DRAWS)
    rows = np.asarray(np.corrcoef(draws.T))
    assert np.abs(rows[~np.eye(3, dtype=bool)]).max() < limit
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < limit
    # Power: rows that shared a twentieth of their randomness would show.
    shared = draws[:, 1] + 0.05 * draws[:, 0]
    assert abs(np.corrcoef(draws[:, 0], shared)[0, 1]) > limit


def test_the_shapes_are_not_changed() -> None:
    shapes = np.array([0.01, 2.0, 0.0])
    before = shapes.copy()
    sample_dirichlet(np.random.default_rng(9), shapes=shapes)[:] = 9.0
    sample_dirichlet(np.random.default_rng(9), shapes=shapes, size=3)[:] = 9.0
    assert (shapes == before).all()


@pytest.mark.parametrize("shape", [0.01, 2.0])
def test_the_same_generator_state_gives_the_same_draw(shape: float) -> None:
    shapes = np.full(4, shape)
    first = sample_dirichlet(np.random.default_rng(10), shapes=shapes)
    assert (first == sample_dirichlet(np.random.default_rng(10), shapes=shapes)).all()
    assert (first != sample_dirichlet(np.random.default_rng(11), shapes=shapes)).any()


def test_a_shape_below_the_smallest_normal_number() -> None:
    draws = sample_dirichlet(np.random.default_rng(12), shapes=np.array([1e-310, 1.0, 1.0]), size=20)
    assert (draws[:, 0] == 0.0).all()
    assert draws.sum(axis=-1) == pytest.approx(1.0)
