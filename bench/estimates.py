"""Estimates behind noisy tables of transitions: errors beside simple ways, and beside who knows the means.

On the real tables at hand and on made-up ones. Ratios are to the better of two ways: clip negative counts at
zero, and independent rows and columns with one law of factors for all cells (version 0.1). Oracles exist for
made-up tables alone: one knows the mean of every cell, one the means but for the margins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import poisson

from tests.chains.real_tables import DATA, REAL
from tests.chains.shapes import Floats, Integers, noisy, table_and_means
from veil.chains.estimation.bilinear_means import bilinear_means
from veil.chains.estimation.linear_step import LinearStep
from veil.chains.estimation.transition_table import TableEstimate
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.denoise import denoised, independent_means

MADE_UP = (
    ("outer", 265, 360_000),
    ("outer", 100, 10_000),
    ("gravity", 200, 60_000),
    ("gravity", 60, 10_000),
    ("block", 200, 60_000),
    ("heavy", 200, 60_000),
    ("heavy", 15, 2_000),
    ("independent", 200, 60_000),
    ("trips", 250, 150_000),
    ("trips", 80, 8_000),
    ("directed", 150, 60_000),
    ("ring", 200, 60_000),
    ("streets", 225, 50_000),
)
EPSILONS, RELEASES = (0.25, 1.0, 4.0), 3
_EMPTY = 0.5


class Measured(NamedTuple):
    """Of one table at one budget. ratios: by way, of [stationary, rows, joint]. errors: two standard ones."""

    table: str
    epsilon: float
    sparse: bool
    ratios: dict[str, Floats]
    errors: Floats


def run() -> None:
    """Print the ratios of every table, and their means over the sparse ones."""
    found = []
    for name, (counts, means) in tables().items():
        for epsilon in EPSILONS:
            found.append(measured(name, counts, means, epsilon))
            print(words(found[-1]), flush=True)
    for most in (0.25, 1.0):
        some = [one for one in found if one.sparse and one.epsilon <= most]
        for way in ("estimate", "knows means", "knows affinities"):
            ratios = [one.ratios[way] for one in some if way in one.ratios]
            if ratios:
                told = " / ".join(f"{ratio:.2f}" for ratio in np.mean(ratios, axis=0))
                print(f"mean over {len(ratios)} sparse tables, epsilon up to {most:g}: {way} {told}")


def tables() -> dict[str, tuple[Integers, Floats | None]]:
    """Counts and, of made-up tables, the mean of each cell."""
    found: dict[str, tuple[Integers, Floats | None]] = {}
    if DATA.is_dir():
        found |= {name: (read(), None) for name, read in REAL.items()}
    for shape, states, total in MADE_UP:
        found[f"made up: {shape}, {states}"] = table_and_means(shape, states, total, 3)
    return found


def measured(
    name: str, counts: Integers, means: Floats | None, epsilon: float, releases: int = RELEASES
) -> Measured:
    """The errors of each way over some releases."""
    rng, noise = np.random.default_rng(4), Noise("geometric", 1.0 / epsilon)
    truth, found = counts.astype(float), dict[str, list[Floats]]()
    for _ in range(releases):
        values = noisy(counts, epsilon, rng)
        tried = {
            "clip": errors(truth, np.maximum(values, 1e-9)),
            "independent": errors(truth, denoised(values, noise)),
            "estimate": errors(truth, TableEstimate.of(values, noise).counts),
        }
        if means is not None:
            tried["knows means"] = oracle_errors(truth, values, means, noise)
            tried["knows affinities"] = oracle_errors(truth, values, refitted(values, means, noise), noise)
        for way, one in tried.items():
            found.setdefault(way, []).append(one)
    mean = {way: np.mean(each, axis=0) for way, each in found.items()}
    simple = np.where(mean["clip"] < mean["independent"], found["clip"], found["independent"])
    best = np.maximum(simple.mean(axis=0), 1e-6)
    paired = np.std(np.array(found["estimate"]) - simple, axis=0, ddof=1) / np.sqrt(releases) / best
    ratios = {way: one / best for way, one in mean.items() if way not in ("clip", "independent")}
    return Measured(name, epsilon, bool((counts == 0).mean() > _EMPTY), ratios, 2.0 * paired)


def errors(truth: Floats, counts: Floats) -> Floats:
    """Total variation of the stationary distribution, of rows (weighted) and of the joint table."""
    true, rows = (one / one.sum(axis=1, keepdims=True) for one in (truth, counts))
    gaps = np.abs(LinearStep.stationary(rows) - LinearStep.stationary(true)).sum()
    of_rows = truth.sum(axis=1) / truth.sum() @ np.abs(rows - true).sum(axis=1)
    joint = np.abs(counts / counts.sum() - truth / truth.sum()).sum()
    return 0.5 * np.array([gaps, of_rows, joint])


def oracle_errors(truth: Floats, values: Floats, means: Floats, noise: Noise) -> Floats:
    """By Bayes with Poisson counts of these means: posterior means for the long run, else medians."""
    mean, median = (np.empty(values.size) for _ in range(2))
    reach = np.ceil(25.0 * noise.scale)
    for some in np.array_split(np.arange(values.size), max(1, values.size // 20_000)):
        value, of = values.ravel()[some, None], means.ravel()[some, None]
        low = np.maximum(0.0, np.floor(value - reach))
        counts = low + np.arange(int((np.maximum(value, 0.0) + reach - low).max()) + 1)
        logs = poisson.logpmf(counts, of) - np.abs(value - counts) / noise.scale
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        mean[some] = (chances * counts).sum(axis=1)
        middle = np.argmax(chances.cumsum(axis=1) >= 0.5, axis=1)
        median[some] = counts[np.arange(len(some)), middle]
    of_mean, of_median = (
        errors(truth, np.maximum(one, 1e-9).reshape(values.shape)) for one in (mean, median + 1e-3 * mean)
    )
    return np.array([of_mean[0], *of_median[1:]])


def refitted(values: Floats, means: Floats, noise: Noise) -> Floats:
    """The means of who knows how much states prefer each other, but not how busy each is."""
    away = ~np.eye(len(values), dtype=bool)
    affinities = np.where(away, means, 0.0)
    for _ in range(60):
        for axis in (0, 1):
            affinities /= np.maximum(affinities.mean(axis=axis, keepdims=True), 1e-300)
    independent = independent_means(values, away, noise)
    fitted = bilinear_means(values, away, np.where(away, independent * affinities, 1e-9), noise.deviation, 0)
    return np.where(away, fitted, means)


def words(one: Measured) -> str:
    told = [f"{way} " + " / ".join(f"{ratio:.2f}" for ratio in found) for way, found in one.ratios.items()]
    spread = " / ".join(f"{error:.2f}" for error in one.errors)
    return f"{one.table}, epsilon {one.epsilon:g}{', sparse' * one.sparse}: {'; '.join(told)} (+- {spread})"
