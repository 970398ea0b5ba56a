"""The noisy counts of a release, beside the shares that they make up."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.record import Tables, checked_release
from veil.vectors.counts import Integers
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

# The name of the table in records.
NOISY = "noisy_counts"
# The mechanisms that draw them.
NOISY_COUNTS = (GeometricCounts, DiscreteGaussianCounts)


def noisy_counts(release: Any) -> Integers:
    """The noisy counts behind released shares: each is the true count plus noise whose law is public.

    They may be negative, and are unbiased: a sum of some is off by the noise of these alone, which shares are
    not. The guarantee of the release is theirs, so they cost nothing. Releases by geometric or discrete
    Gaussian noise hold them, unless Veil 0.1 wrote the file.

    >>> from veil import vectors
    >>> out = vectors.release({"A": 31, "B": 28, "C": 21}, epsilon=1.0, rng=1)
    >>> vectors.noisy_counts(out).shape
    (3,)
    """
    known = checked_release(release).tables
    if NOISY not in known:
        raise InvalidArgument(
            "release",
            expected="one that holds noisy counts: of counts, by geometric or discrete Gaussian noise",
            found=f"one of {release.mechanism.name} without",
        )
    return np.asarray(known[NOISY])


def noisy_totals(release: Any) -> Integers | None:
    """The sum of the noisy counts of each vector, where there are any: how many records it has, about."""
    counts = release.tables.get(NOISY)
    return None if counts is None else np.asarray(counts).reshape(-1, counts.shape[-1]).sum(axis=-1)


def checked_tables(tables: Any, mechanism: Any, value: Floats) -> Tables:
    """The tables of a file, which may be the noisy counts of a mechanism that draws them."""
    expected = "noisy counts, as many as shares"
    if not isinstance(tables, dict) or set(tables) != {NOISY} or not isinstance(mechanism, NOISY_COUNTS):
        raise InvalidArgument(
            "tables", expected=f"{expected}, of a mechanism that draws them", found="others"
        )
    counts = np.array(tables[NOISY])
    if counts.shape != value.shape or counts.dtype != np.int64:
        raise InvalidArgument("tables", expected=expected, found="something else")
    return {NOISY: counts}
