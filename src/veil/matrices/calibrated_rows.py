"""The matrix Dirichlet mechanism, calibrated to a budget and tuned on public numbers alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.privacy.calibrate import calibrate
from veil.matrices.adjacency import Rows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.adjacency import Transfer
from veil.vectors.calibration import calibrated
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.simplex import Simplex

# Where several rows change, each trial composes loss distributions: k is found to a thousandth.
_ROUGH = 1e-3


@dataclass(frozen=True, slots=True)
class RowKind:
    """Rows with equally many possible entries: how many there are, and how they are released."""

    entries: int
    rows: int
    k: float
    floor: float


def calibrated_rows(
    support: NDArray[np.bool_],
    adjacency: Rows,
    *,
    epsilon: float,
    delta: float,
    floor: float | None = None,
    read_off: bool = False,
) -> tuple[MatrixDirichlet, tuple[RowKind, ...]]:
    """The smoothed mechanism at the budget, with a floor and a k for each number of possible entries.

    support: [..., row, column], where entries may be above zero; public.
    floor: the same for all rows; None for that of least expected error.
    read_off: the support was read off the matrix itself; the mechanism then says so even if it is full.

    Where one row changes, every row is at the budget by itself. Where more do, rows are tuned for a
    change that is the root of their number larger (or, with a floor of the caller's, have one k), and
    one common factor on all k then meets the budget of the whole, checked like every calibration. The
    tuning moves the error, never the privacy.
    """
    table = support.reshape(-1, support.shape[-1])
    widths = table.sum(axis=1)
    counts = Counter(int(width) for width in widths if width > 1)
    if not counts or widths.min() < 1:
        raise InvalidArgument(
            "support", expected="a column for every row, and two for some", found="fewer in some row"
        )
    if floor is not None:
        largest = max(counts)
        words = f"a number above 0 and below 1/{largest}"
        floor = within("floor", floor, 1e-30, (1.0 - 1e-9) / largest, expected=words)
    changed = min(adjacency.among(len(table)), counts.total())
    places = None if table.all() and not read_off else table

    def tuned(mass: float, epsilon: float, delta: float) -> dict[int, Dirichlet]:
        each = Transfer(min(1.0, mass))
        return {width: _row(each, width, epsilon, delta, floor) for width in sorted(counts)}

    def at(factor: float, tuning: dict[int, Dirichlet]) -> MatrixDirichlet:
        domains = [tuning[width].domain if width > 1 else None for width in map(int, widths)]
        ks = [factor * tuning[width].k if width > 1 else 1.0 for width in map(int, widths)]
        matrices = StochasticMatrix(domains, support=places)
        return MatrixDirichlet(ks[0] if len(set(ks)) == 1 else ks, matrices, smooth=True)

    def composed(tuning: dict[int, Dirichlet]) -> MatrixDirichlet:
        return calibrate(
            lambda factor: at(factor, tuning), adjacency, epsilon=epsilon, delta=delta, relative=_ROUGH
        )

    mass = adjacency.each.mass
    if changed == 1:
        mechanism = at(1.0, tuned(mass, epsilon, delta))
    elif floor is not None:
        try:
            # Only where the search starts: loss distributions far from the budget are slow to make.
            k = min(row.k for row in tuned(mass * math.sqrt(changed), epsilon, delta).values())
        except CannotCalibrate:
            k = 1.0
        domains = {width: Simplex(width, floor=floor) for width in counts}
        mechanism = composed({width: Dirichlet(k, domain, smooth=True) for width, domain in domains.items()})
    else:
        try:
            mechanism = composed(tuned(mass * math.sqrt(changed), epsilon, delta))
        except CannotCalibrate:
            # Rows that each keep to a share of the budget always meet it together.
            mechanism = composed(tuned(mass, epsilon / changed, delta / changed))
    return mechanism, _kinds(mechanism, widths, counts)


def _row(each: Transfer, width: int, epsilon: float, delta: float, floor: float | None) -> Dirichlet:
    found = calibrated("dirichlet", each, size=width, epsilon=epsilon, delta=delta, floor=floor)
    assert isinstance(found, Dirichlet)
    return found


def _kinds(mechanism: MatrixDirichlet, widths: NDArray[np.intp], counts: Counter[int]) -> tuple[RowKind, ...]:
    """From the fewest entries to the most."""
    found = []
    for width in sorted(counts):
        first = int(np.flatnonzero(widths == width)[0])
        k = mechanism.k[first] if isinstance(mechanism.k, tuple) else mechanism.k
        domain = mechanism.domain.domains[first]
        assert isinstance(domain, Simplex)
        found.append(RowKind(width, counts[width], float(k), domain.floor))
    return tuple(found)
