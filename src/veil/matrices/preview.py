"""What a released matrix might look like, from a made-up one of the same size."""

from __future__ import annotations

from typing import Any

from veil.core.arrays import Floats
from veil.core.job import Job
from veil.core.preview import Preview
from veil.matrices.planning import Mask, MatrixPlan, typical_matrices
from veil.report.views import HeatMap

# Of the typical matrices, which are from very uneven to nearly even, one in between.
_PLACE = 3
# Of larger ones a picture says little, and the work is not done in a moment.
_MOST_CELLS = 250_000


def preview_matrix(plan: MatrixPlan, support: Mask, typical: Floats | None = None) -> Preview | None:
    """The best mechanism of a plan on a typical matrix, or on a public one that was given."""
    best = plan.best
    if best.mechanism is None or support.size > _MOST_CELLS:
        return None
    value = typical_matrices(support)[_PLACE] if typical is None else typical
    rows = tuple(f"state {number}" for number in range(1, len(value) + 1))
    square = value.shape[0] == value.shape[1]
    columns = rows if square else tuple(f"entry {number}" for number in range(1, value.shape[1] + 1))
    job: Job[Any] = Job.prepare(
        best.mechanism,
        value,
        adjacency=plan.adjacency,
        epsilon=plan.epsilon,
        delta=plan.delta or None,
        labels=columns,
        row_labels=rows,
    )
    return Preview(job, HeatMap("Every row", rows, columns, value))
