"""Expected errors of any mechanism on public typical values: closed form, or simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import choice
from veil.core.mechanism import Mechanism
from veil.vectors.accuracy import Errors, mean_errors
from veil.vectors.counts import Counts
from veil.vectors.typical import Typical

METRICS = ("tv", "l1", "sup", "kl")
# Numbers drawn in one simulation, over all entries and typical values.
_BUDGET = 1_600_000
_SEED = 20_110


def truth_of(mechanism: Mechanism, typical: Any) -> Floats:
    """The vector that a release of the typical value estimates."""
    valid = np.asarray(mechanism.validate(typical), dtype=np.float64)
    if isinstance(mechanism.domain, Counts):
        return valid / valid.sum() if valid.sum() > 0 else np.full(valid.shape, 1.0 / valid.size)
    return valid


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
    """The truth and draws for each typical value; the same ones for the same question."""
    rng = np.random.default_rng(_SEED)
    draw = getattr(mechanism, "simulate", mechanism.sample)
    samples = max(64, min(8_000, _BUDGET // (len(typical) * typical[0].size)))
    return [(truth_of(mechanism, value), np.asarray(draw(value, rng=rng, size=samples))) for value in typical]


def _simulated_errors(truth: Floats, draws: Floats) -> Errors:
    gaps = np.abs(draws - truth)
    entries = gaps.mean(axis=0)
    return Errors(
        l1=float(entries.sum()),
        tv=0.5 * float(entries.sum()),
        rmse=math.sqrt(float((gaps**2).mean())),
        kl=float(_metric("kl", truth, draws).mean()),
        entries=tuple(float(entry) for entry in entries),
    )


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
