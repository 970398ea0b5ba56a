"""Plans, comparisons and jobs: from public numbers alone, honest about what is best."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import veil
from veil.errors import CannotCalibrate, InvalidArgument, InvalidData
from veil.vectors.expected_errors import error_quantile, expected_errors
from veil.vectors.job import Secret, vector_job
from veil.vectors.planning import epsilons_around, error_curve
from veil.vectors.typical import typical_values

REPLACE, ADD = veil.vectors.Records("replace"), veil.vectors.Records("add-remove")
GRADES = np.array([31.0, 28.0, 21.0, 10.0, 8.0])


@pytest.mark.parametrize(
    ("name", "adjacency"),
    [
        ("dirichlet", REPLACE),
        ("geometric", REPLACE),
        ("discrete-gaussian", ADD),
        ("dirichlet", veil.vectors.Transfer(0.01)),
        ("laplace", veil.vectors.Transfer(0.01)),
        ("gaussian", veil.vectors.Transfer(0.01)),
    ],
)
def test_calibrated_mechanisms_keep_the_budget(name: str, adjacency: Any) -> None:
    mechanism = veil.vectors.calibrated(name, adjacency, size=5, epsilon=1.0, delta=1e-5, records=98)
    profile = mechanism.profile(adjacency)
    assert profile.delta(1.0) <= 1e-5
    assert profile.epsilon(1e-5) > 0.999


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.255, 3.7])
def test_what_was_calibrated_to_a_decimal_is_charged_no_more(epsilon: float) -> None:
    floored = veil.vectors.Simplex(5, floor=0.073)
    adjacency = veil.vectors.Transfer.from_records(980)
    mechanism = veil.calibrate(lambda k: veil.vectors.Dirichlet(k, floored), adjacency, epsilon=epsilon, delta=0.0026)
    out = veil.release(mechanism, [0.2] * 5, adjacency=adjacency, delta=0.0026)
    assert out.epsilon <= epsilon


def test_the_prior_is_near_the_best_for_the_typical_vector() -> None:
    typical = np.array([40, 30, 20, 6, 2])
    chosen = veil.vectors.calibrated(
        "dirichlet", REPLACE, size=5, epsilon=2.0, delta=1e-4, typical=typical, records=98
    )
    assert isinstance(chosen, veil.vectors.DirichletCounts)
    best = chosen.errors(typical).l1
    for prior in (chosen.prior / 3, chosen.prior * 3):
        other = veil.calibrate(
            partial(veil.vectors.DirichletCounts, prior=prior, size=5), REPLACE, epsilon=2.0, delta=1e-4
        )
        assert other.errors(typical).l1 > best * 0.999


def test_the_floor_is_near_the_best_for_the_typical_vector() -> None:
    typical = [0.5, 0.3, 0.15, 0.05]
    adjacency = veil.vectors.Transfer(0.01)
    chosen = veil.vectors.calibrated("dirichlet", adjacency, size=4, epsilon=3.0, delta=1e-3, typical=typical)
    assert isinstance(chosen, veil.vectors.Dirichlet)
    assert chosen.smooth
    best = chosen.errors(typical).l1
    for floor in (chosen.domain.floor / 1.2, min(chosen.domain.floor * 1.5, 0.249)):
        other = veil.vectors.calibrated(
            "dirichlet", adjacency, size=4, epsilon=3.0, delta=1e-3, typical=typical, floor=floor
        )
        assert expected_errors(other, [np.array(typical)]).l1 > best * 0.999


def test_typical_values_are_spread_and_repeat() -> None:
    vectors = typical_values(veil.vectors.Transfer(0.1), 4)
    assert len(vectors) == 16
    assert np.ptp(np.array(vectors), axis=0).min() > 0.3
    counts = typical_values(REPLACE, 4, None, 37)
    assert {int(row.sum()) for row in counts} == {37}
    assert np.array_equal(typical_values(REPLACE, 4, [0.5, 0.25, 0.25, 0.0], 8)[0], [4, 2, 2, 0])
    assert np.array_equal(typical_values(REPLACE, 3, [5, 6, 7])[0], [5, 6, 7])


def test_comparison_is_ordered_and_says_what_cannot_be_had() -> None:
    table = veil.compare(None, REPLACE, epsilon=1.0, delta=1e-6, size=5, records=98)
    errors = [row.errors.tv for row in table.rows if row.errors]
    assert errors == sorted(errors)
    assert table.best.name == "geometric"
    pure = veil.compare(None, REPLACE, epsilon=1.0, size=5, records=98)
    assert pure.best.name == "geometric"
    assert "delta above 0" in pure["dirichlet"].why
    assert pure.to_dict()["mechanisms"][-1]["possible"] is False


def test_comparison_of_factories() -> None:
    factories = {
        "coarse": lambda rate: veil.vectors.Laplace(1.0 / rate, veil.vectors.Simplex(3), onto="normalisation"),
        "fine": lambda rate: veil.vectors.Laplace(1.0 / rate, veil.vectors.Simplex(3)),
    }
    table = veil.compare(factories, veil.vectors.Transfer(0.05), epsilon=1.0, typical=[0.5, 0.3, 0.2])
    assert {row.name for row in table.rows} == {"coarse", "fine"}
    listed = veil.compare([factories["fine"]], veil.vectors.Transfer(0.05), epsilon=1.0, typical=[0.5, 0.3, 0.2])
    assert listed.best.name == "Laplace"
    for wrong in ([3], [], ["unknown"]):
        with pytest.raises(InvalidArgument):
            veil.compare(wrong, veil.vectors.Transfer(0.05), epsilon=1.0, typical=[0.5, 0.3, 0.2])
    with pytest.raises(InvalidArgument, match="size="):
        veil.compare(None, REPLACE, epsilon=1.0)


def test_simulated_errors_match_closed_form() -> None:
    mechanism = veil.vectors.Dirichlet(30.0, veil.vectors.Simplex(4, floor=0.05))
    values = [np.array([0.4, 0.3, 0.2, 0.1])]

    class NoClosedForm:
        domain = mechanism.domain
        validate = staticmethod(mechanism.validate)
        sample = staticmethod(mechanism.sample)

    exact, simulated = expected_errors(mechanism, values), expected_errors(NoClosedForm(), values)
    assert simulated.l1 == pytest.approx(exact.l1, rel=0.03)
    assert simulated.kl == pytest.approx(exact.kl, rel=0.05)
    assert error_quantile(mechanism, values, metric="tv", confidence=0.95) > exact.tv


def test_least_epsilon_reaches_the_accuracy_and_not_much_more() -> None:
    for metric, error in (("tv", 0.02), ("sup", 0.02), ("l1", 0.05)):
        epsilon = veil.vectors.least_epsilon("geometric", REPLACE, size=5, records=500, error=error, metric=metric)
        values = typical_values(REPLACE, 5, None, 500)
        at = veil.vectors.calibrated("geometric", REPLACE, size=5, epsilon=epsilon, records=500)
        below = veil.vectors.calibrated("geometric", REPLACE, size=5, epsilon=0.9 * epsilon, records=500)
        assert error_quantile(at, values, metric=metric, confidence=0.95) <= error
        assert error_quantile(below, values, metric=metric, confidence=0.95) > error
    kl = veil.vectors.least_epsilon("dirichlet", REPLACE, size=3, records=5000, error=0.01, metric="kl", delta=1e-5)
    assert 0.0 < kl < 100.0
    with pytest.raises(CannotCalibrate, match="no epsilon up to"):
        veil.vectors.least_epsilon("laplace", veil.vectors.Transfer(0.5), size=5, error=1e-9)


def test_error_curve_falls_with_epsilon() -> None:
    curve = error_curve(REPLACE, size=3, epsilons=epsilons_around(1.0)[::3], delta=1e-6, records=200)
    tv = [table["geometric"].errors for table in curve]
    assert all(e is not None for e in tv)
    assert tv[0].tv > tv[1].tv > tv[2].tv  # type: ignore[union-attr]


def test_jobs_take_counts_and_frequencies_alike() -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    counts = vector_job(GRADES, None, Secret(records=98), **settings)
    shares = vector_job(GRADES / 98, None, Secret(records=98), **settings)
    assert np.array_equal(counts.value, shares.value)
    assert counts.mechanism == shares.mechanism
    assert counts.epsilon <= 1.0
    assert 0.0 < counts.kept < 1.0
    assert counts.run(rng=1).records == 98


def test_jobs_choose_the_best() -> None:
    job = vector_job(GRADES, None, Secret(records=98), epsilon=1.0, delta=1e-6, mechanism="auto")
    assert job.mechanism.name == "GeometricCounts"
    assert job.kept == 1.0


def test_secrets() -> None:
    assert Secret(counts=True).adjacency == ADD
    assert Secret(records=5).adjacency == REPLACE
    assert Secret(records=5, change="add-remove").adjacency == ADD
    assert Secret(l1=0.2).adjacency == veil.vectors.Transfer(0.1)
    for wrong in (
        Secret(),
        Secret(records=5, l1=0.1),
        Secret(counts=True, change="replace"),
        Secret(l1=0.1, change="replace"),
        Secret(records=0),
        Secret(transfer=2.0),
    ):
        with pytest.raises(InvalidArgument):
            _ = wrong.adjacency


def test_jobs_refuse_what_does_not_fit() -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3}
    with pytest.raises(InvalidData, match="another sum"):
        vector_job(GRADES, None, Secret(records=100), **settings)
    with pytest.raises(InvalidData, match="whole numbers of 98"):
        vector_job(np.array([0.333, 0.333, 0.334]), None, Secret(records=98), **settings)
    with pytest.raises(InvalidArgument, match="floor"):
        vector_job(GRADES, None, Secret(records=98), floor=0.1, **settings)
    with pytest.raises(InvalidArgument, match="floor"):
        vector_job(GRADES / 98, None, Secret(l1=0.01), smooth=False, **settings)
    with pytest.raises(InvalidData, match="sum to 1"):
        vector_job(GRADES, None, Secret(l1=0.01), **settings)
    with pytest.raises(InvalidArgument, match="mechanism"):
        vector_job(GRADES, None, Secret(records=98), mechanism="laplace", **settings)
    job = vector_job(GRADES, None, Secret(l1=0.01), normalise=True, **settings)
    assert job.value.sum() == pytest.approx(1.0)
    published = vector_job(GRADES / 98, None, Secret(l1=0.01), smooth=False, floor=0.05, **settings)
    assert published.mechanism.assumptions(published.adjacency)
