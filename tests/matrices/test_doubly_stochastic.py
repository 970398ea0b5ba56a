"""Doubly stochastic releases: what they claim, what an attack finds, and that they stay in the set."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

import veil
from veil.core.mechanism import REAL_ARITHMETIC
from veil.errors import InvalidArgument, InvalidData
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.mechanisms.doubly_stochastic import Birkhoff, DoublyStochastic

Floats = NDArray[np.float64]
BOTH = pytest.mark.parametrize("noise", ["laplace", "gaussian"])

TRUTH = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
MASS = 0.1


def exchanged(matrix: Floats, mass: float, rows: tuple[int, int], columns: tuple[int, int]) -> Floats:
    """A neighbour: a rectangle's corners moved by the mass."""
    other = matrix.copy()
    other[np.ix_(rows, columns)] += mass * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return other


NEIGHBOUR = exchanged(TRUTH, MASS, (0, 1), (0, 1))


def gaussian_delta(distance: float, epsilon: float) -> float:
    """Balle and Wang (2018), Theorem 8, for noise of standard deviation one."""
    first = norm.cdf(distance / 2.0 - epsilon / distance)
    return float(first - math.exp(epsilon) * norm.cdf(-distance / 2.0 - epsilon / distance))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_gaussian_profile_is_the_closed_form(epsilon: float) -> None:
    profile = DoublyStochastic(0.1, 5, noise="gaussian").profile(Rectangle(0.05))
    assert profile.delta(epsilon) == pytest.approx(gaussian_delta(1.0, epsilon), rel=1e-9)
    assert profile.delta(epsilon) >= gaussian_delta(1.0, epsilon) * (1.0 - 1e-13)
    four = DoublyStochastic(0.1, 5, noise="gaussian").profile(Rows(4, veil.vectors.Transfer(0.05)))
    assert four.delta(epsilon) == pytest.approx(gaussian_delta(math.sqrt(2.0), epsilon), rel=1e-9)


@pytest.mark.parametrize(
    ("scale", "mass"), [(0.04, 0.01), (1e-9, 1.0), (0.3, 1e-3), (1e6, 0.5), (0.25, 0.125)]
)
def test_laplace_profile_is_pure(scale: float, mass: float) -> None:
    mechanism = DoublyStochastic(scale, 4)
    pure = mechanism.profile(Rectangle(mass)).epsilon(0.0)
    drawn = mechanism.scale_in_steps * mechanism.step
    assert scale <= drawn <= scale * (1.0 + 1e-6)
    assert 4.0 * mass / drawn <= pure <= 4.0 * mass / drawn * (1.0 + 1e-6) + 1e-12
    three = mechanism.profile(Rows(3, veil.vectors.Transfer(mass))).epsilon(0.0)
    assert three == pytest.approx(1.5 * pure, rel=1e-12)
    every = mechanism.profile(Rows("all", veil.vectors.Transfer(mass)))
    assert every == mechanism.profile(Rows(9, veil.vectors.Transfer(mass)))


@BOTH
def test_profiles_fall_and_are_never_called_exact(noise: str) -> None:
    profile = DoublyStochastic(0.1, 3, noise=noise).profile(Rectangle(MASS))
    deltas = [profile.delta(epsilon) for epsilon in np.linspace(0.0, 5.0, 20)]
    assert all(later <= earlier for earlier, later in pairwise(deltas))
    assert profile.kind == "upper bound"


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4),
    st.floats(-9.0, 6.0).map(lambda power: 10.0**power),
    st.floats(1e-12, 1.0),
    st.permutations(range(4)),
)
def test_no_rounding_moves_a_row_by_more_than_is_charged(
    row: list[float], scale: float, mass: float, order: list[int]
) -> None:
    mechanism = DoublyStochastic(scale, 4)
    before = np.array(row)
    after = before.copy()
    # In floats an entry may move by a last place more than the mass.
    after[order[0]] += mass
    after[order[1]] -= mass
    moved = np.abs(mechanism.in_steps(before) - mechanism.in_steps(after)).sum()
    one_row = mechanism.profile(Rows(1, veil.vectors.Transfer(mass)))
    assert Fraction(int(moved), mechanism.scale_in_steps) <= Fraction(one_row.pure_epsilon)
    assert (mechanism.in_steps(before) - mechanism.in_steps(after)).sum() == 0
    assert mechanism.scale_in_steps % 2 == 0
    assert mechanism.scale_in_steps * Fraction(mechanism.step) >= Fraction(scale)
    assert mechanism.scale_in_steps >= 2**22


@BOTH
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 0.05, 1.0, 1e6])
@pytest.mark.parametrize("size", [2, 3, 12])
def test_outputs_are_doubly_stochastic(noise: str, scale: float, size: int) -> None:
    mechanism = DoublyStochastic(scale, size, noise=noise)
    for truth in (np.eye(size), np.full((size, size), 1.0 / size)):
        drawn = mechanism.sample(truth, rng=1, size=20)
        assert drawn.shape == (20, size, size)
        assert drawn.min() >= 0.0
        assert np.abs(drawn.sum(axis=-1) - 1.0).max() <= 1e-12
        assert np.abs(drawn.sum(axis=-2) - 1.0).max() <= 1e-12
        assert drawn in mechanism.domain
        if scale <= 1e-3:
            assert np.abs(drawn - truth).max() <= 40.0 * scale + 1e-12


@BOTH
def test_shapes_and_every_position_is_randomised(noise: str) -> None:
    mechanism = DoublyStochastic(0.05, 3, noise=noise)
    batch = np.array([TRUTH, NEIGHBOUR])
    assert mechanism.sample(TRUTH, rng=1).shape == (3, 3)
    assert mechanism.sample(batch, rng=1).shape == (2, 3, 3)
    assert mechanism.sample(batch, rng=1, size=4).shape == (4, 2, 3, 3)
    assert (mechanism.sample(TRUTH, rng=2, size=200).std(axis=0) > 0.01).all()
    first, second = (mechanism.sample(TRUTH, rng=3) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(mechanism.sample(TRUTH), mechanism.sample(TRUTH))
    kept = TRUTH.copy()
    mechanism.sample(TRUTH, rng=4)
    assert np.array_equal(TRUTH, kept)


class Flat:
    """The matrices as vectors, with the statistic that tells neighbours apart best, for the audit."""

    def __init__(self, claimed: DoublyStochastic, *, scale: float | None = None, leak: bool = False) -> None:
        self.claimed, self.leak = claimed, leak
        self.drawn = replace(claimed, scale=scale or claimed.scale)
        self.name, self.domain, self.adjacency = claimed.name, claimed.domain, None

    def validate(self, value: Any) -> Floats:
        return self.claimed.validate(value).ravel()

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Floats:
        drawn: Floats = self.drawn.sample(value, rng=rng, size=size).reshape(size, -1)
        if self.leak:
            drawn[:, 0] = np.asarray(value)[0, 0]
        return drawn

    def log_density(self, outputs: Floats, value: Any) -> Floats:
        return np.asarray(outputs @ np.ravel(value) / MASS)

    def profile(self, adjacency: Any = None) -> veil.PrivacyProfile:
        return self.claimed.profile(adjacency)

    def assumptions(self, adjacency: Any = None) -> tuple[str, ...]:
        return ()

    def describe(self) -> dict[str, Any]:
        return self.claimed.describe()


@pytest.mark.slow
@BOTH
def test_audit_finds_no_violation_but_finds_planted_ones(noise: str) -> None:
    # alpha = 1e-9 for each audit; the seed is fixed.
    scale, delta, less = (0.2, 0.0, 0.55) if noise == "laplace" else (0.2, 0.01, 0.65)
    mechanism = DoublyStochastic(scale, 3, noise=noise)
    arguments: dict[str, Any] = {"samples": 20_000, "delta": delta, "adjacency": Rectangle(MASS), "rng": 7}
    found = veil.audit(Flat(mechanism), TRUTH, NEIGHBOUR, **arguments)
    assert not found.violated, str(found)
    # The attack is not idle: it comes near the claim.
    assert found.lower >= 0.5 * found.claimed
    for faulty in (Flat(mechanism, scale=less * scale), Flat(mechanism, leak=True)):
        found = veil.audit(faulty, TRUTH, NEIGHBOUR, **arguments)
        assert found.violated, str(found)


@BOTH
def test_calibration_is_safe_and_tight(noise: str) -> None:
    for epsilon, delta in ((0.5, 1e-6), (2.0, 1e-3)):
        best = veil.calibrate(
            lambda rate: DoublyStochastic(1.0 / rate, 6, noise=noise),
            Rectangle(0.02),
            epsilon=epsilon,
            delta=delta,
        )
        assert best.profile(Rectangle(0.02)).delta(epsilon) <= delta
        looser = replace(best, scale=best.scale / 1.0001)
        assert looser.profile(Rectangle(0.02)).delta(epsilon) > delta


@BOTH
@pytest.mark.parametrize(("scale", "size"), [(0.02, 3), (0.02, 20), (0.5, 20), (30.0, 4)])
def test_the_error_stays_below_its_bound(noise: str, scale: float, size: int) -> None:
    mechanism = DoublyStochastic(scale, size, noise=noise)
    bound = mechanism.largest_expected_frobenius()
    errors = []
    for truth in (np.eye(size), np.full((size, size), 1.0 / size)):
        off = mechanism.sample(truth, rng=5, size=200) - truth
        errors.append(float(np.linalg.norm(off, axis=(1, 2)).mean()))
        assert np.abs(off).sum(axis=2).mean() <= bound
    assert max(errors) <= bound
    # Small noise around the uniform matrix meets no border, and the bound is nearly attained.
    if scale * size < 0.1:
        assert max(errors) >= 0.85 * bound


def test_few_rows_are_for_laplace_noise_and_many_for_gaussian() -> None:
    def error(noise: str, rows: int) -> float:
        best = veil.calibrate(
            lambda rate: DoublyStochastic(1.0 / rate, 10, noise=noise),
            Rows(rows, veil.vectors.Transfer(0.01)),
            epsilon=1.0,
            delta=1e-6,
        )
        truth = np.full((10, 10), 0.1)
        return float(np.abs(best.sample(truth, rng=6, size=100) - truth).sum(axis=2).mean())

    assert error("laplace", 2) < 0.75 * error("gaussian", 2)
    assert error("gaussian", 10) < 0.95 * error("laplace", 10)


def test_description_rebuilds_the_mechanism() -> None:
    mechanism = DoublyStochastic(0.07, 3, noise="gaussian")
    description = json.loads(json.dumps(mechanism.describe()))
    assert description["name"] == "DoublyStochastic"
    rebuilt = DoublyStochastic.rebuilt(**description["parameters"])
    assert rebuilt == mechanism
    floats = DoublyStochastic(0.07, 3, noise="gaussian", exact=False)
    assert DoublyStochastic.rebuilt(scale=0.07, size=3, noise="gaussian") == floats
    assert floats.assumptions() == (REAL_ARITHMETIC,)
    plain = DoublyStochastic(0.07, 3)
    assert plain.describe()["parameters"] == {"scale": 0.07, "size": 3, "noise": "laplace"}
    assert DoublyStochastic.rebuilt(**plain.describe()["parameters"]) == plain
    with pytest.raises(InvalidArgument, match="form: expected none"):
        DoublyStochastic.rebuilt(**plain.describe()["parameters"], form=DoublyStochastic.form)
    assert np.array_equal(rebuilt.sample(TRUTH, rng=3), mechanism.sample(TRUTH, rng=3))
    assert isinstance(mechanism, veil.Mechanism)
    assert mechanism.domain == Birkhoff(3)
    assert mechanism.adjacency is None
    assert mechanism.assumptions(Rectangle(0.1)) == ()
    assert mechanism.item_axes(TRUTH) == 2


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"scale": 0.0, "size": 3}, "scale"),
        ({"scale": -1.0, "size": 3}, "scale"),
        ({"scale": math.nan, "size": 3}, "scale"),
        ({"scale": 1e-10, "size": 3}, "scale"),
        ({"scale": "1", "size": 3}, "scale"),
        ({"scale": 1.0, "size": 1}, "size"),
        ({"scale": 1.0, "size": 2.5}, "size"),
        ({"scale": 1.0, "size": 3, "noise": "uniform"}, "noise"),
        ({"scale": 1.0, "size": 3, "noise": None}, "noise"),
    ],
)
def test_bad_parameters(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        DoublyStochastic(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize("value", [[0.5, 0.5, 0.0], np.eye(4), 2.0 * np.eye(3), [[0.2, 0.3, 0.5]] * 3, None])
def test_bad_values(value: Any) -> None:
    with pytest.raises(InvalidData, match="value: expected"):
        DoublyStochastic(0.1, 3).sample(value)


def test_bad_adjacencies_and_sizes() -> None:
    mechanism = DoublyStochastic(0.1, 3)
    others: tuple[Any, ...] = (None, veil.vectors.Transfer(0.1), veil.vectors.Records(), "rectangle")
    for wrong in others:
        with pytest.raises(InvalidArgument, match="adjacency: expected Rectangle or Rows"):
            mechanism.profile(wrong)
    with pytest.raises(InvalidArgument, match="size"):
        mechanism.sample(TRUTH, size=0)
