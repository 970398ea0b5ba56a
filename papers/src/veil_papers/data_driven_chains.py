"""The data-driven chains paper (references.DATA_DRIVEN_CHAINS), Section 3 and Supplement A, D."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, digamma

from veil.core.arrays import Floats
from veil.core.mechanism import Published
from veil.core.random.streams import Rng
from veil.vectors.counts import Counts
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.simplex import Simplex, Transfer


@dataclass(frozen=True, slots=True)
class PrivateCount:
    """What Algorithm 1 puts out: the private frequencies and the paper's (epsilon, delta)."""

    value: Floats
    bound: Published


def algorithm_1(counts: Any, *, gamma: float, floor: float, k: float, rng: Any = None) -> PrivateCount:
    """Algorithm 1 to the letter: count, draw Dirichlet(k C), compute epsilon and delta by (3), (4).

    The guarantee is conditional: it holds between databases whose frequencies all respect the floor,
    and the number of records is public. `veil.vectors.DirichletCounts` needs neither.
    """
    row = Counts(int(np.size(counts))).validate(counts)
    records = int(row.sum())
    mechanism = Dirichlet(k, Simplex(row.size, floor=floor))
    frequencies = row / records
    return PrivateCount(
        value=mechanism.sample(frequencies, rng=rng),
        bound=mechanism.published(Transfer.from_records(records), gamma=gamma),
    )


def delta_by_monte_carlo(
    size: int, *, k: float, floor: float, gamma: float, samples: int, rng: Rng
) -> tuple[float, float]:
    """Supplement A: delta from draws at an extreme point of the domain, and its standard error.

    All extreme points of the bordered simplex are permutations of one, so one is enough. The exact
    value is `Dirichlet.published(...).delta`.
    """
    vertex = np.full(size, floor)
    vertex[-1] = 1.0 - (size - 1) * floor
    outside = (rng.dirichlet(k * vertex, size=samples) < gamma).any(axis=1).mean()
    return float(outside), math.sqrt(float(outside * (1.0 - outside)) / samples)


def smallest_epsilon(size: int, records: int, *, floor: float, gamma: float) -> float:
    """The epsilon* of Section 3.1: the bound (3) at the smallest k that Assumption 4 allows."""
    mechanism = Dirichlet(1.5 / floor, Simplex(size, floor=floor))
    return mechanism.published(Transfer.from_records(records), gamma=gamma).epsilon


def corollary_1(size: int, records: int, k: float) -> float:
    """Corollary 1's bound on the expected KL divergence, as printed.

    True, and attained at (1/N, ..., 1 - (n-1)/N); only its proof has a sign wrong. Where every frequency is
    at least a floor above 1/N the largest value is smaller: `veil.vectors.largest_expected_kl`.
    """

    def zeta(x: float) -> float:
        return math.log((x + 1.0) / records) - float(digamma((x + 1.0) * k / records))

    rest = records - size
    return (size - 1) / records * zeta(0.0) + (rest + 1.0) / records * zeta(rest) + float(digamma(k))


def lemma_7_entry_bound(k: float) -> float:
    """Lemma 7: no entry's expected absolute error exceeds Gamma(k) 2^(1-k) / (Gamma(k/2)^2 k)."""
    return math.exp(-(k - 1.0) * math.log(2.0) - float(betaln(0.5 * k, 0.5 * k))) / k


def lemma_8_entry_bound(size: int, records: int, k: float) -> float:
    """Lemma 8: a lower bound on an entry's expected absolute error, as printed."""
    low, high = 1.0 / records, (size - 1.0) / records
    log_top = k * (1.0 - high) * math.log(low) + k * (1.0 - low) * math.log(high)
    return 2.0 * math.exp(log_top - float(betaln(k * low, k * high))) / k
