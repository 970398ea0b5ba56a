"""Expected errors of any mechanism on public stand-ins for the data: closed form, or simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, integer
from veil.core.intake import as_floats
from veil.vectors.accuracy import Errors, mean_errors
from veil.vectors.adjacency import Contributions, Records
from veil.vectors.counts import LARGEST_COUNT, Counts, Integers
from veil.vectors.simplex import Simplex

Typical = Sequence[Floats | Integers]

METRICS = ("tv", "l1", "sup", "kl")
# Numbers drawn in one simulation, over all entries and typical values.
_BUDGET = 1_600_000
_SIMULATION_SEED = 20_110
# Where the number of records is neither public nor guessed by the user, plans and priors assume this.
_ASSUMED_RECORDS_PER_CATEGORY = 100
# One vector would not do: a uniform one makes every shrinkage towards uniform look perfect.
_SPREAD = 16
_SPREAD_SEED = 7
_MOST_ENTRIES = 10_000_000


def typical_values(
    adjacency: Adjacency, size: int, typical: Any = None, records: int | None = None
) -> Typical:
    """The given vector or counts; else vectors spread evenly over the simplex, the same every time.

    Where records are counted the vectors become counts of `records` records.
    """
    vectors: Sequence[Floats]
    counted = isinstance(adjacency, (Records, Contributions))
    size = integer("size", size, least=2, most=_MOST_ENTRIES)
    if typical is None:
        vectors = list(np.random.default_rng(_SPREAD_SEED).dirichlet(np.ones(size), size=_SPREAD))
    else:
        given = as_floats("typical", typical)
        if counted and not abs(given.sum() - 1.0) < 1e-6:
            return [Counts(size).validate(given)]
        vectors = [Simplex(size).validate(given)]
    if not counted:
        return vectors
    assumed = assumed_records(adjacency, size, records)
    total = assumed or integer("records", records, least=1, most=LARGEST_COUNT)
    return [_apportion(vector, total) for vector in vectors]


def assumed_records(adjacency: Adjacency, size: int, records: int | None) -> int | None:
    """How many records a plan assumes, where nobody said; None where it need not."""
    unknown = isinstance(adjacency, (Records, Contributions)) and records is None
    return size * _ASSUMED_RECORDS_PER_CATEGORY if unknown else None


def _apportion(shares: Floats, total: int) -> Integers:
    """Whole numbers that sum to the total, as near to the shares as can be (largest remainders)."""
    exact = shares * total
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]] += 1
    return counts


def expected_errors(mechanism: Any, typical: Typical) -> Errors:
    """The mean errors of a release, averaged over the typical values."""
    if hasattr(mechanism, "errors"):
        return mean_errors([mechanism.errors(value) for value in typical])
    return mean_errors([_simulated_errors(truth, draws) for truth, draws in _simulations(mechanism, typical)])


def error_quantile(mechanism: Any, typical: Typical, *, metric: str, confidence: float) -> float:
    """An error that is not exceeded with the given confidence, by simulation.

    The order statistic is taken three standard errors further out, so that the figure errs on the
    cautious side in all but about one of 700 cases.
    """
    choice("metric", metric, METRICS)
    pairs = _simulations(mechanism, typical)
    errors = np.sort(np.concatenate([_metric(metric, truth, draws) for truth, draws in pairs]))
    rank = confidence * errors.size + 3.0 * math.sqrt(errors.size * confidence * (1.0 - confidence))
    return float(errors[min(errors.size - 1, math.ceil(rank))])


def _simulations(mechanism: Any, typical: Typical) -> list[tuple[Floats, Floats]]:
    """For each typical value what a release estimates, and draws; the same ones for the same question."""
    rng = np.random.default_rng(_SIMULATION_SEED)
    draw = getattr(mechanism, "simulate", mechanism.sample)
    samples = max(64, min(8_000, _BUDGET // (len(typical) * typical[0].size)))
    simulations = []
    for value in typical:
        truth = np.asarray(mechanism.validate(value), dtype=np.float64)
        if isinstance(mechanism.domain, Counts):
            truth = mechanism.domain.shares(truth)
        simulations.append((truth, np.asarray(draw(value, rng=rng, size=samples))))
    return simulations


def _simulated_errors(truth: Floats, draws: Floats) -> Errors:
    gaps = np.abs(draws - truth)
    kl = float(_metric("kl", truth, draws).mean())
    return Errors.of(gaps.mean(axis=0), rmse=math.sqrt(float((gaps**2).mean())), kl=kl)


def _metric(metric: str, truth: Floats, draws: Floats) -> Floats:
    gaps = np.abs(draws - truth)
    if metric == "sup":
        return np.asarray(gaps.max(axis=-1))
    if metric == "kl":
        present = truth > 0.0
        with np.errstate(divide="ignore"):
            logs = np.log(truth[present]) - np.log(draws[:, present])
        return np.asarray((truth[present] * logs).sum(axis=-1))
    total = np.asarray(gaps.sum(axis=-1))
    return total if metric == "l1" else 0.5 * total
