"""What a budget buys for matrices, before any data is touched; and the mechanisms at that budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.mechanism import Mechanism
from veil.core.privacy.calibrate import calibrate
from veil.core.request import Plan
from veil.matrices.adjacency import Rows
from veil.matrices.calibrated_rows import calibrated_rows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.calibration import FOR_VECTORS, needs_delta
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.simplex import Simplex

Mask = NDArray[np.bool_]

_TYPICAL, _DRAWS, _SEED = 4, 50, 31
_ENTRIES, _SOLVING = 2e6, 2e8
# Where several rows change, each trial composes loss distributions: a thousandth is near enough.
_ROUGH = 1e-3


def calibrated_matrix(
    name: str,
    adjacency: Rows,
    support: Mask,
    *,
    epsilon: float,
    delta: float = 0.0,
    floor: float | None = None,
    smooth: bool = True,
    read_off: bool = False,
) -> Mechanism:
    """The named mechanism for matrices of this support at the largest safe parameter.

    name: "dirichlet", "laplace" or "gaussian". support: [row, column], where entries may be above zero.
    read_off: the support was read off the matrix itself; the mechanism then states so even if it is full.
    """
    choice("mechanism", name, FOR_VECTORS)
    needs_delta(name, "gaussian", delta)
    if name == "dirichlet":
        needs_delta(name, "dirichlet", delta)
        if smooth:
            budget = {"epsilon": epsilon, "delta": delta}
            return calibrated_rows(support, adjacency, floor=floor, read_off=read_off, **budget)[0]
        return _published_form(adjacency, support, epsilon, delta, floor, read_off)
    places = None if support.all() and not read_off else support

    def noisy(rate: float) -> RowByRow:
        domain = Simplex(support.shape[1])
        row = Laplace(1.0 / rate, domain) if name == "laplace" else Gaussian(1.0 / rate, domain)
        return RowByRow(row, rows=None if places is not None else len(support), support=places)

    fine = adjacency.among(len(support)) == 1 or delta == 0.0
    return calibrate(noisy, adjacency, epsilon=epsilon, delta=delta, relative=1e-13 if fine else _ROUGH)


def _published_form(
    adjacency: Rows, support: Mask, epsilon: float, delta: float, floor: float | None, read_off: bool
) -> MatrixDirichlet:
    if floor is None:
        raise InvalidArgument("floor", expected="a floor, without smoothing", found="None")
    places = None if support.all() and not read_off else support
    row = Simplex(support.shape[1], floor=floor) if places is None else Simplex(2, floor=floor)
    domain = (
        StochasticMatrix([row] * len(support)) if places is None else StochasticMatrix(row, support=places)
    )
    return calibrate(
        lambda k: MatrixDirichlet(k, domain), adjacency, epsilon=epsilon, delta=delta, relative=_ROUGH
    )


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One mechanism at the given budget.

    row_tv: the mean total variation of a row; row_tv95: what 95 of 100 rows stay below; stationary_tv: that
    of the stationary distribution, where the matrix is a chain. kl: the divergence of a row, where it is
    known. why: without a mechanism, the reason.
    """

    name: str
    mechanism: Mechanism | None
    row_tv: float = math.inf
    row_tv95: float = math.inf
    stationary_tv: float | None = None
    kl: float | None = None
    why: str = ""


@dataclass(frozen=True)
class MatrixPlan(Plan):
    """The mechanisms from the least to the largest expected error of a row."""

    rows: tuple[MatrixRow, ...]
    adjacency: Adjacency
    epsilon: float
    delta: float

    @property
    def best(self) -> MatrixRow:
        row = self.rows[0]
        if row.mechanism is None:
            raise CannotCalibrate(f"no mechanism reaches epsilon={self.epsilon:g} here: {row.why}")
        return row

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency.describe(),
            "mechanisms": [
                {"name": row.name, "possible": False, "why": row.why}
                if row.mechanism is None
                else {
                    "name": row.name,
                    "possible": True,
                    "row_tv": row.row_tv,
                    "row_tv95": row.row_tv95,
                    "stationary_tv": row.stationary_tv,
                    **({} if row.kl is None else {"kl": row.kl}),
                }
                for row in self.rows
            ],
        }


def plan_matrix(
    adjacency: Rows, support: Mask, *, epsilon: float, delta: float, typical: Floats | None = None
) -> MatrixPlan:
    """Every mechanism at this budget, measured on public typical matrices of this support.

    typical: a public matrix to plan for; None for rows spread over all possibilities.
    """
    epsilon = positive("epsilon", epsilon)
    rng = np.random.default_rng(_SEED)
    matrices = [_typical(rng, support) for _ in range(_TYPICAL)] if typical is None else [typical]
    rows = []
    for name in FOR_VECTORS:
        try:
            mechanism = calibrated_matrix(name, adjacency, support, epsilon=epsilon, delta=delta)
        except CannotCalibrate as error:
            rows.append(MatrixRow(name, None, why=str(error)))
            continue
        rows.append(_measured(name, mechanism, matrices))
    rows.sort(key=lambda row: row.row_tv)
    return MatrixPlan(tuple(rows), adjacency, epsilon, delta)


def _typical(rng: np.random.Generator, support: Mask) -> Floats:
    weights = rng.standard_exponential(support.shape) * support
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _measured(name: str, mechanism: Mechanism, matrices: list[Floats]) -> MatrixRow:
    rng = np.random.default_rng(_SEED)
    gaps, moved = [], []
    for matrix in matrices:
        # Rows of a large matrix are many samples already.
        draws = int(np.clip(_ENTRIES / matrix.size, 2, _DRAWS))
        drawn = mechanism.sample(matrix, rng=rng, size=draws)
        gaps.append(0.5 * np.abs(drawn - matrix).sum(axis=-1).ravel())
        if matrix.shape[0] == matrix.shape[1]:
            few = drawn[: int(np.clip(_SOLVING / len(matrix) ** 3, 2, draws))]
            truth, private = quick_stationary(matrix), quick_stationary(few)
            moved.append(0.5 * np.abs(private - truth).sum(axis=-1))
    every = np.concatenate(gaps)
    stationary = np.concatenate(moved) if moved else np.array([math.nan])
    # A draw that falls apart has no stationary distribution, and its linear system no solution.
    known = stationary[np.isfinite(stationary) & (stationary <= 1.0)]
    return MatrixRow(
        name,
        mechanism,
        row_tv=float(every.mean()),
        row_tv95=float(np.quantile(every, 0.95)),
        stationary_tv=float(known.mean()) if len(known) else None,
    )
