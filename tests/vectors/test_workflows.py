"""Plans, comparisons and jobs: from public numbers alone, honest about what is best."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import veil
from veil.core.plan import epsilons_around
from veil.errors import CannotCalibrate, InvalidArgument, InvalidData
from veil.vectors.accuracy import error_quantile, expected_errors, typical_values
from veil.vectors.planning import Comparison
from veil.vectors.requests import VectorPlanning, VectorRelease

REPLACE, ADD = veil.vectors.Records("replace"), veil.vectors.Records("add-remove")
GRADES = np.array([31.0, 28.0, 21.0, 10.0, 8.0])


@pytest.mark.slow_for("dirichlet-adjacency3")
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
    mechanism = veil.calibrate(
        lambda k: veil.vectors.Dirichlet(k, floored), adjacency, epsilon=epsilon, delta=0.0026
    )
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


@pytest.mark.slow
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


def test_the_same_question_is_calibrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {"size": 3, "epsilon": 1.5, "delta": 1e-6, "records": 77}
    first = veil.vectors.calibrated("dirichlet", veil.vectors.Records(), **asked)
    searched = "veil.vectors.calibration.least_point"
    monkeypatch.setattr(searched, lambda *_, **__: pytest.fail("searched again"))
    assert veil.vectors.calibrated("dirichlet", veil.vectors.Records(), **asked) == first
    with pytest.raises(pytest.fail.Exception):
        veil.vectors.calibrated("dirichlet", veil.vectors.Records(), **asked | {"records": 78})


def test_typical_values_are_spread_and_repeat() -> None:
    vectors = typical_values(veil.vectors.Transfer(0.1), 4)
    assert len(vectors) == 18
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
        "coarse": lambda rate: veil.vectors.Laplace(
            1.0 / rate, veil.vectors.Simplex(3), onto="normalisation"
        ),
        "fine": lambda rate: veil.vectors.Laplace(1.0 / rate, veil.vectors.Simplex(3)),
    }
    table = veil.compare(factories, veil.vectors.Transfer(0.05), epsilon=1.0, typical=[0.5, 0.3, 0.2])
    assert {row.name for row in table.rows} == {"coarse", "fine"}
    listed = veil.compare(
        [factories["fine"]], veil.vectors.Transfer(0.05), epsilon=1.0, typical=[0.5, 0.3, 0.2]
    )
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


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "error"), [("tv", 0.02), ("sup", 0.02), ("l1", 0.05)])
def test_least_epsilon_reaches_the_accuracy_and_not_much_more(metric: str, error: float) -> None:
    shape: dict[str, Any] = {"size": 5, "records": 500}
    epsilon = veil.vectors.least_epsilon("geometric", REPLACE, error=error, metric=metric, **shape)
    values = typical_values(REPLACE, 5, None, 500)
    at = veil.vectors.calibrated("geometric", REPLACE, epsilon=epsilon, **shape)
    below = veil.vectors.calibrated("geometric", REPLACE, epsilon=0.9 * epsilon, **shape)
    assert error_quantile(at, values, metric=metric, confidence=0.95) <= error
    assert error_quantile(below, values, metric=metric, confidence=0.95) > error


@pytest.mark.slow
def test_least_epsilon_in_divergence() -> None:
    shape: dict[str, Any] = {"size": 3, "records": 5000, "delta": 1e-5}
    kl = veil.vectors.least_epsilon("dirichlet", REPLACE, error=0.01, metric="kl", **shape)
    assert 0.0 < kl < 100.0


@pytest.mark.slow
def test_an_error_that_no_epsilon_reaches() -> None:
    with pytest.raises(CannotCalibrate, match="no epsilon up to"):
        veil.vectors.least_epsilon("laplace", veil.vectors.Transfer(0.5), size=2, error=1e-9)


@pytest.mark.slow
def test_planned_errors_fall_with_epsilon() -> None:
    """As the curve of `veil plan vector --plot` is made."""
    asked = VectorPlanning(size=3, records=200, epsilon=1.0)
    plans = [asked.at(epsilon).plan() for epsilon in epsilons_around(1.0)[::3]]
    errors = [plan["geometric"].errors for plan in plans if isinstance(plan, Comparison)]
    tv = [found.tv for found in errors if found is not None]
    assert len(tv) == len(plans) == 3
    assert tv[0] > tv[1] > tv[2]


@pytest.mark.slow
def test_jobs_take_counts_and_frequencies_alike() -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "dirichlet"}
    counts = VectorRelease(records=98, **settings).prepare(GRADES)
    shares = VectorRelease(records=98, **settings).prepare(GRADES / 98)
    assert np.array_equal(counts.value, shares.value)
    assert counts.mechanism == shares.mechanism
    assert counts.epsilon <= 1.0
    assert 0.0 < counts.kept < 1.0
    assert counts.run(rng=1).records == 98


def test_jobs_choose_the_best() -> None:
    job = VectorRelease(records=98, epsilon=1.0, delta=1e-6, mechanism="auto").prepare(GRADES)
    assert job.mechanism.name == "GeometricCounts"
    assert job.kept == 1.0


@pytest.mark.parametrize(
    ("fields", "adjacency"),
    [
        ({}, ADD),
        ({"change": "add-remove"}, ADD),
        ({"records": 5}, REPLACE),
        ({"records": 5, "change": "add-remove"}, ADD),
        ({"l1": 0.2}, veil.vectors.L1(0.2)),
        ({"transfer": 0.2}, veil.vectors.Transfer(0.2)),
    ],
)
def test_what_is_secret(fields: dict[str, Any], adjacency: Any) -> None:
    for request in (VectorRelease(epsilon=1.0, **fields), VectorPlanning(size=3, epsilon=1.0, **fields)):
        request.check()
        assert request.adjacency == adjacency


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"records": 5, "l1": 0.1}, "records"),
        ({"transfer": 0.1, "l1": 0.1}, "transfer"),
        ({"change": "replace"}, "records"),
        ({"l1": 0.1, "change": "replace"}, "change"),
        ({"change": "swap", "records": 5}, "change"),
        ({"records": 0}, "records"),
        ({"transfer": 2.0}, "transfer"),
        ({"l1": 0.0}, "l1"),
    ],
)
def test_what_cannot_be_secret(fields: dict[str, Any], wrong: str) -> None:
    for request in (VectorRelease(epsilon=1.0, **fields), VectorPlanning(size=3, epsilon=1.0, **fields)):
        with pytest.raises(InvalidArgument) as caught:
            request.check()
        assert caught.value.field == wrong


@pytest.mark.slow
def test_jobs_refuse_what_does_not_fit() -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-3, "mechanism": "dirichlet"}
    with pytest.raises(InvalidData, match="another sum"):
        VectorRelease(records=100, **settings).prepare(GRADES)
    with pytest.raises(InvalidData, match="whole numbers of 98"):
        VectorRelease(records=98, **settings).prepare(np.array([0.333, 0.333, 0.334]))
    with pytest.raises(InvalidArgument, match="floor"):
        VectorRelease(records=98, floor=0.1, **settings).prepare(GRADES)
    with pytest.raises(InvalidArgument, match="floor"):
        VectorRelease(l1=0.01, smooth=False, **settings).prepare(GRADES / 98)
    with pytest.raises(InvalidData, match="sum to 1"):
        VectorRelease(l1=0.01, **settings).prepare(GRADES)
    with pytest.raises(InvalidArgument, match="mechanism"):
        VectorRelease(records=98, **settings | {"mechanism": "laplace"}).prepare(GRADES)
    job = VectorRelease(l1=0.01, normalise=True, **settings).prepare(GRADES)
    assert job.value.sum() == pytest.approx(1.0)
    published = VectorRelease(l1=0.01, smooth=False, floor=0.05, **settings).prepare(GRADES / 98)
    assert published.mechanism.assumptions(published.adjacency)
