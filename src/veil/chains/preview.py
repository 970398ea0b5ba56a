"""What a released chain might look like, from a made-up table of as many transitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.chains.planning import ChainPlan, typical_tables
from veil.chains.transition_counts import TransitionCounts
from veil.core.job import Job
from veil.core.preview import Preview
from veil.matrices.chain import Chain
from veil.matrices.report.views import long_run
from veil.report.views import HeatMap

# Of larger chains a picture says little, and the work is not done in a moment.
_MOST_STATES = 500


def preview_chain(plan: ChainPlan, typical: Any = None) -> Preview | None:
    """The best mechanism of a plan on made-up travel between as many places, or on a public table."""
    best = plan.best
    if best.mechanism is None or plan.states > _MOST_STATES:
        return None
    table = typical_tables(plan.states, plan.records)[0] if typical is None else typical
    labels = [f"state {number}" for number in range(1, plan.states + 1)]
    adjacency: Any = plan.adjacency
    counts = TransitionCounts(table, labels, cap=adjacency.cap)
    job: Job[Any] = Job.prepare(
        best.mechanism, counts, adjacency=adjacency, epsilon=plan.epsilon, delta=plan.delta or None
    )
    sizes = table.sum(axis=1, keepdims=True)
    truth = np.where(sizes > 0, table / np.maximum(sizes, 1), 1.0 / plan.states)
    return Preview(job, HeatMap("Next states", labels, labels, truth, long_run(Chain(truth))))
