"""Public stand-ins for the data, on which plans and comparisons measure errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.intake import as_floats
from veil.vectors.adjacency import Contributions, Records
from veil.vectors.counts import Counts, Integers
from veil.vectors.simplex import Simplex

Typical = Sequence[Floats | Integers]

# Where the number of records is neither public nor guessed by the user, plans and priors assume this.
ASSUMED_RECORDS_PER_CATEGORY = 100
# One vector would not do: a uniform one makes every shrinkage towards uniform look perfect.
_SPREAD = 16
_SEED = 7
# Whole numbers that floats hold exactly.
_MOST_RECORDS = 2**53
_MOST_ENTRIES = 10_000_000


def typical_values(
    adjacency: Adjacency, size: int, typical: Any = None, records: int | None = None
) -> Typical:
    """The given vector or counts; else vectors spread evenly over the simplex, the same every time.

    Where records are counted the vectors become counts of `records` records.
    """
    vectors: Sequence[Floats]
    size = integer("size", size, least=2, most=_MOST_ENTRIES)
    if typical is None:
        vectors = list(np.random.default_rng(_SEED).dirichlet(np.ones(size), size=_SPREAD))
    else:
        given = as_floats("typical", typical)
        if isinstance(adjacency, (Records, Contributions)) and not abs(given.sum() - 1.0) < 1e-6:
            return [Counts(size).validate(given)]
        vectors = [Simplex(size).validate(given)]
    if not isinstance(adjacency, (Records, Contributions)):
        return vectors
    total = assumed_records(adjacency, size, records)
    if total is None:
        total = integer("records", records, least=1, most=_MOST_RECORDS)
    return [_apportion(vector, total) for vector in vectors]


def assumed_records(adjacency: Adjacency, size: int, records: int | None) -> int | None:
    """How many records a plan assumes, where nobody said; None where it need not."""
    unknown = isinstance(adjacency, (Records, Contributions)) and records is None
    return size * ASSUMED_RECORDS_PER_CATEGORY if unknown else None


def _apportion(shares: Floats, total: int) -> Integers:
    """Whole numbers that sum to the total, as near to the shares as can be (largest remainders)."""
    exact = shares * total
    counts = np.floor(exact).astype(np.int64)
    for index in np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]:
        counts[index] += 1
    return counts
