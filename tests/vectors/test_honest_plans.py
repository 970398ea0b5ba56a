"""What a plan of a vector promises is what is then measured, on generated and on real counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import vectors
from veil.vectors.calibration import calibrated

DATA = Path(__file__).parents[3] / "shared" / "data"
_RNG = np.random.default_rng(8)
GENERATED = {
    "heavy tail": np.floor(20_000 / np.arange(1, 41) ** 1.5).astype(int),
    "mostly empty": np.where(np.arange(60) % 12 == 0, 400, 0),
    "even": np.full(30, 150),
    "spread": _RNG.multinomial(5_000, _RNG.dirichlet(np.ones(25))),
}


def _measured(counts: Any, name: str, epsilon: float, delta: float, releases: int) -> float:
    """The mean total variation of releases by a mechanism as a user gets it, which knows no typical value."""
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "mechanism": name}
    mechanism = vectors.release(counts, records=int(counts.sum()), **asked, rng=1).mechanism
    drawn = np.asarray(mechanism.sample(counts, rng=2, size=releases))
    return float(0.5 * np.abs(drawn - counts / counts.sum()).sum(axis=1).mean())


def _check(counts: Any, epsilon: float, *, releases: int) -> None:
    asked: dict[str, Any] = {"size": len(counts), "records": int(counts.sum()), "epsilon": epsilon}
    plan: Any = vectors.plan(**asked, delta=1e-6)
    given: Any = vectors.plan(**asked, delta=1e-6, typical=counts)
    typical = {row.name: row.errors.tv for row in given.rows}
    for row in plan.rows:
        error = _measured(counts, row.name, epsilon, row.delta, releases)
        assert row.span.low <= error <= row.span.high, row.name
        assert error / 1.3 <= typical[row.name] <= 1.3 * error, row.name


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", GENERATED)
def test_plans_hold_on_generated_counts(name: str, epsilon: float) -> None:
    _check(GENERATED[name], epsilon, releases=60)


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", ["zones", "hours", "departments"])
def test_plans_hold_on_real_counts(name: str, epsilon: float) -> None:
    if not DATA.exists():
        pytest.skip("the folder with real data is not there")
    if name == "departments":
        counts = np.bincount(np.loadtxt(DATA / "email-Eu-core-department-labels.txt", dtype=int)[:, 1])
    else:
        trips = pytest.importorskip("pandas").read_parquet(DATA / "green_tripdata_2024-01.parquet")
        zones, hours = trips["PULocationID"], trips["lpep_pickup_datetime"].dt.hour
        counts = np.bincount(zones)[1:] if name == "zones" else np.bincount(hours)
    _check(counts, epsilon, releases=60)


@pytest.mark.slow
def test_the_range_is_printed_written_and_explained() -> None:
    plan: Any = vectors.plan(size=5, records=98, epsilon=1.0)
    best = plan.best
    assert best.span.low < best.errors.tv < best.span.high
    assert best.span.words in str(plan)
    assert plan.to_dict()["mechanisms"][0]["tv_range"] == best.span.to_dict()
    assert "nearly everything in one entry; " in plan.assumes
    assert "Ranges hold nine in ten releases" in str(plan)
    # All records in one entry is the furthest out of what is stated, and in the range too.
    error = _measured(np.array([98, 0, 0, 0, 0]), best.name, 1.0, 0.0, 40)
    assert best.span.low <= error <= best.span.high


def test_a_typical_vector_is_what_is_planned_for_and_nothing_else() -> None:
    counts = np.array([31, 28, 21, 10, 8])
    plan: Any = vectors.plan(size=5, records=98, epsilon=1.0, typical=counts)
    error = _measured(counts, plan.best.name, 1.0, 0.0, 400)
    assert error / 1.3 <= plan.best.errors.tv <= 1.3 * error
    assert "Errors are those on the typical vectors given." in str(plan)


@pytest.mark.slow
def test_a_plan_for_an_error_says_what_it_assumes_and_what_no_data_reaches() -> None:
    plan: Any = vectors.plan(size=4, error=0.1)
    (line,) = plan.baselines
    assert (
        "Assumed: vectors of 400 records, since their number is not given, like one of these" in plan.assumes
    )
    assert line.expected == plan.kept.usual <= 0.1 < line.nothing
    assert plan.kept.words in str(plan)
    assert plan.to_dict()["kept_range"] == plan.kept.to_dict()


def test_the_search_for_an_epsilon_calibrates_as_a_release_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release knows no typical vector."""
    seen: list[dict[str, Any]] = []

    def noted(*given: Any, **named: Any) -> Any:
        seen.append(named)
        return calibrated(*given, **named)

    monkeypatch.setattr("veil.vectors.planning.calibrated", noted)
    replaced = vectors.Records("replace")
    vectors.least_epsilon("geometric", replaced, size=3, error=0.2, typical=[9, 5, 4])
    assert seen
    assert not any("typical" in named for named in seen)
