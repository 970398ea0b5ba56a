"""What the holder of counts should know of them before a release, from the counts themselves: sensitive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veil.core.job import Job
from veil.vectors.released_counts import NOISY_COUNTS


def count_findings(job: Job[Any]) -> tuple[str, ...]:
    """Vectors without records, and counts that the noise hides."""
    counts = np.atleast_2d(job.value)
    empty = int((counts.sum(axis=-1) == 0).sum())
    found = [f"{empty:,} of {len(counts):,} vectors have no records: their release is noise alone"]
    found = found if empty else []
    if isinstance(job.mechanism, NOISY_COUNTS):
        law = job.mechanism.law
        spread = law.scale * (math.sqrt(2.0) if law.kind == "laplace" else 1.0)
        small = int((counts < spread).sum())
        if small:
            found.append(
                f"{small:,} of {counts.size:,} counts are below {spread:.3g}, the standard deviation of the "
                "noise"
            )
    return tuple(found)
