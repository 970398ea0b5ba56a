"""What a released table of bits might look like, from made-up rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.bits.domain import Table
from veil.bits.planning import BitPlan
from veil.core.job import Job
from veil.core.preview import Preview
from veil.report.views import Bars

_SEED = 22
# Rows where nobody says how many there are, and how many bits are made up at most.
_USUAL_ROWS, _MOST_BITS = 1_000, 2_000_000


def preview_bits(plan: BitPlan, typical: Table | None = None) -> Preview | None:
    """The best mechanism of a plan on rows with any shares of ones, or on a public table."""
    best = plan.best
    if best.mechanism is None:
        return None
    if typical is None:
        rng = np.random.default_rng(_SEED)
        rows = max(1, min(plan.rows or _USUAL_ROWS, _MOST_BITS // plan.columns))
        typical = rng.random((rows, plan.columns)) < rng.random(plan.columns)
    labels = tuple(f"column {number}" for number in range(1, plan.columns + 1))
    job: Job[Any] = Job.prepare(
        best.mechanism, typical, adjacency=plan.adjacency, epsilon=plan.epsilon, labels=labels
    )
    return Preview(job, Bars("Shares of ones", labels, np.asarray(typical).mean(axis=0)))
