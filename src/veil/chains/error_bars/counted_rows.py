"""What the tables of a released chain say of its rows, for error bars (counted_chain_intervals.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from veil.chains.error_bars.noise_reach import sum_reach
from veil.chains.mechanisms.chain_estimate import noise_of
from veil.chains.mechanisms.chain_parts import Part
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Noise
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts

Tables = Mapping[str, NDArray[Any]]
# Beyond this, Dirichlet noise is below what a double can show.
_MOST = 1e15
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class NoisyRows:
    """Noisy counts [from, to], each with a sum of `times` noises."""

    counts: Floats
    noise: Noise
    times: int

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a count."""
        return self.noise.deviation * float(np.sqrt(self.times))


@dataclass(frozen=True, slots=True)
class SmoothedRows:
    """Rows of Dirichlet(k_i m_i), m_i = (scale c_i + prior) / k_i, and bounds for the unknown k_i.

    sizes_known: the bounds come from a noisy number of records, in their middle; else from the rows alone.
    """

    rows: Floats
    least: Floats
    most: Floats
    prior: float
    sizes_known: bool

    def stretch(self, k: Floats) -> Floats:
        """By how much an unsmoothed row is farther from the uniform one than its smoothed version."""
        return np.asarray(k / (k - self.rows.shape[1] * self.prior), dtype=np.float64)


def transitions_part(mechanism: PrivateChain) -> Part:
    """The part that counts transitions, if there is only one."""
    if mechanism.strata:
        raise InvalidArgument(
            "release",
            expected="a chain of one table of transitions",
            found="one of several strata of users",
            hint="What their chain estimates depends on the lengths too; there are no error bars for it yet.",
        )
    return mechanism.part("transitions")


def noisy_rows(mechanism: PrivateChain, tables: Tables) -> NoisyRows:
    """The noisy counts of all groups together."""
    part = transitions_part(mechanism)
    counts = np.asarray(tables[part.key], dtype=np.float64)
    times = 1
    if counts.ndim == 3:
        times, counts = len(counts), counts.sum(axis=0)
    return NoisyRows(counts, noise_of(part), times)


def smoothed_rows(
    mechanism: PrivateChain, tables: Tables, failure: float, records: int | None = None
) -> SmoothedRows:
    """Dirichlet rows and bounds of their k; each row's fail with probability at most `failure`."""
    part = transitions_part(mechanism)
    hides = part.mechanism
    assert isinstance(hides, DirichletCounts)
    rows = np.asarray(tables[part.key], dtype=np.float64)
    if rows.ndim == 3:
        raise InvalidArgument("release", expected="a chain of one table", found="Dirichlet rows of groups")
    fixed = hides.prior * hides.size
    # A frequency needs a record.
    fewest = fixed + hides.scale
    most = _MOST if records is None else hides.scale * records + fixed
    least, highest = _least_k(hides, rows, 0.5 * failure), np.full(len(rows), _MOST)
    if mechanism.has("sizes"):
        sizes = mechanism.part("sizes")
        noisy = hides.scale * np.asarray(tables[sizes.key], dtype=np.float64) + fixed
        reach = hides.scale * sum_reach(noise_of(sizes), 1, 0.5 * failure)
        least, highest = np.maximum(least, noisy - reach), noisy + reach
    least = np.clip(least, fewest, max(fewest, most))
    highest = np.clip(highest, least, max(fewest, most))
    return SmoothedRows(rows, least, highest, hides.prior, mechanism.has("sizes"))


def _least_k(hides: DirichletCounts, rows: Floats, failure: float) -> Floats:
    """No entry has a shape below the prior, so that the smallest one cannot be small unless k is large."""
    smallest = np.nextafter(rows.min(axis=1), 1.0)
    low = np.full(len(rows), np.log(hides.prior * hides.size))
    high = np.full(len(rows), np.log(_MOST))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        chance = hides.size * betainc(hides.prior, np.exp(middle) - hides.prior, smallest)
        low, high = np.where(chance <= failure, middle, low), np.where(chance <= failure, high, middle)
    return np.asarray(np.exp(low), dtype=np.float64)
