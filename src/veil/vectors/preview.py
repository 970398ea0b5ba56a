"""What a released vector might look like, from made-up data of the same size."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.job import Job
from veil.core.preview import Preview
from veil.report.views import Bars
from veil.vectors.accuracy import typical_values
from veil.vectors.planning import Comparison

# Of the typical vectors, which are from very uneven to nearly even, one in between.
_PLACE = 0.6


def preview_vector(
    plan: Comparison, adjacency: Adjacency, size: int, records: int | None, typical: Any = None
) -> Preview | None:
    """The best mechanism of a plan on a typical vector, or on a public one that was given."""
    best = plan.best
    if best.mechanism is None:
        return None
    values = typical_values(adjacency, size, typical, records)
    value = np.asarray(values[int(_PLACE * len(values))])
    labels = tuple(f"entry {number}" for number in range(1, size + 1))
    job: Job[Any] = Job.prepare(
        best.mechanism, value, adjacency=adjacency, delta=best.delta or None, labels=labels, records=records
    )
    return Preview(job, Bars("Shares", labels, value / value.sum()))
