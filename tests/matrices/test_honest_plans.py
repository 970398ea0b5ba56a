"""What a plan of a matrix promises is what is then measured, on generated and on real tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import matrices
from veil.core.arrays import Floats
from veil.matrices.numerics.stationary import quick_stationary

DATA = Path(__file__).parents[3] / "shared" / "data"


def _shares(weights: Any) -> Floats:
    weights = np.asarray(weights, dtype=np.float64)
    totals = weights.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), 1.0 / weights.shape[1])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _gamma(shape: float, size: int) -> Floats:
    return np.asarray(np.random.default_rng(8).standard_gamma(shape, (size, size)) + 1e-12)


def _departments() -> Floats:
    of = np.loadtxt(DATA / "email-Eu-core-department-labels.txt", dtype=int)[:, 1]
    letters = np.loadtxt(DATA / "email-Eu-core.txt", dtype=int)
    counts = np.zeros((of.max() + 1, of.max() + 1))
    np.add.at(counts, (of[letters[:, 0]], of[letters[:, 1]]), 1)
    return _shares(counts)


def _zones() -> Floats:
    """Zones with more than 20 trips from and to them."""
    trips = pytest.importorskip("pandas").read_parquet(DATA / "green_tripdata_2024-01.parquet")
    counts = np.zeros((266, 266))
    np.add.at(counts, (trips["PULocationID"], trips["DOLocationID"]), 1)
    busy = (counts.sum(axis=0) > 20) & (counts.sum(axis=1) > 20)
    return _shares(counts[np.ix_(busy, busy)])


_NEAR = np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
TABLES: dict[str, Callable[[], Floats]] = {
    "gravity": lambda: _shares(np.arange(1, 41) ** -1.2 * _gamma(0.5, 40)),
    "stays": lambda: 0.9 * np.eye(25) + 0.1 * _shares(_gamma(0.2, 25)),
    "blocks": lambda: _shares(np.kron(np.eye(4), np.ones((8, 8))) * _gamma(1.0, 32) + 0.002),
    "neighbours": lambda: _shares(np.where(_NEAR <= 1, 1.0, 1e-3)),
    "small": lambda: np.array([[0.9, 0.08, 0.02], [0.4, 0.5, 0.1], [0.3, 0.3, 0.4]]),
    "departments": _departments,
    "zones": _zones,
}
REAL = ("departments", "zones")


def _measured(mechanism: Any, truth: Floats, releases: int) -> tuple[float, float]:
    """The mean total variation of a row and of the stationary distribution."""
    drawn = mechanism.sample(truth, rng=2, size=releases)
    moved = 0.5 * np.abs(quick_stationary(drawn) - quick_stationary(truth)).sum(axis=-1)
    return float(0.5 * np.abs(drawn - truth).sum(axis=-1).mean()), float(moved.mean())


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", TABLES)
def test_plans_hold(name: str, epsilon: float) -> None:
    if name in REAL and not DATA.exists():
        pytest.skip("the folder with real data is not there")
    truth = TABLES[name]()
    asked: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-6, "transfer": 0.01}
    plan: Any = matrices.plan(states=len(truth), **asked)
    given: Any = matrices.plan(typical=truth, **asked)
    typical = {row.name: row for row in given.rows}
    for row in plan.rows:
        error, moved = _measured(row.mechanism, truth, max(20, min(400, 20_000 // truth.size)))
        assert row.row_span.low <= error <= row.row_span.high, (row.name, error, row.row_span.words)
        assert row.stationary_span.low <= moved <= row.stationary_span.high, (
            row.name,
            moved,
            row.stationary_span.words,
        )
        assert error / 1.3 <= typical[row.name].row_tv <= 1.3 * error, row.name
        assert moved / 1.3 <= typical[row.name].stationary_tv <= 1.3 * moved, row.name


@pytest.mark.slow
def test_the_range_names_what_it_holds() -> None:
    plan: Any = matrices.plan(states=4, transfer=0.02, epsilon=2.0)
    assert "the same few popular entries in every row; states that are rarely left" in plan.assumes
    best = plan.best
    assert best.row_span.low < best.row_tv < best.row_span.high
    # Rare departures from a state make small errors of rows large ones in the long run.
    rare = np.full((4, 4), 0.002) + np.diag([0.992, 0.492, 0.742, 0.942])
    rare[1:, 0] += [0.5, 0.25, 0.05]
    _, moved = _measured(best.mechanism, rare, 40)
    assert best.stationary_span.low <= moved <= best.stationary_span.high
