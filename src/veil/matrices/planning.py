"""What a budget buys for matrices, before any data is touched; and the mechanisms at that budget."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.checks import choice, delta_of, positive, within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.mechanism import Mechanism
from veil.core.privacy.profile import calibrate
from veil.core.progress import tell
from veil.core.span import SPARED, Span
from veil.matrices.adjacency import Rows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.accuracy import EXTREME, PROFILES, RANGE, SHAPES, assumption, by_profile, typical_values
from veil.vectors.calibration import (
    FOR_VECTORS,
    PURE,
    best_way_back,
    calibrated,
    mean_way_back_errors,
    needs_delta,
)
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.projection import ONTO
from veil.vectors.ranking import TotalVariationPlan
from veil.vectors.simplex import Simplex

Mask = NDArray[np.bool_]

_DRAWS, _SEED = 50, 31
# Of how many row widths, the most frequent ones, the way back from the noise is tried out.
_WIDTHS = 3
_ENTRIES, _SLOW_ENTRIES, _SOLVING = 2e6, 5e4, 2e8
# So that no row of a typical matrix is empty.
_SMALLEST = 1e-100
# Where several rows change, each trial composes loss distributions: a thousandth is near enough.
_ROUGH = 1e-3
# Of extreme matrices: how fast shares fall from one popular entry to the next, and over how many powers of
# ten it varies how rarely states are left.
_POPULAR, _STAYING = 1.5, 2.0
ROW_ERROR = "error of a row (total variation)"


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
    if delta_of(delta) == 0.0 and name not in PURE:
        raise needs_delta(name)
    budget = {"epsilon": epsilon, "delta": delta}
    if name == "dirichlet" and smooth:
        return calibrated_rows(support, adjacency, floor=floor, read_off=read_off, **budget)[0]
    places = None if support.all() and not read_off else support
    rows, columns = support.shape
    published: Any = None
    if name == "dirichlet":
        if floor is None:
            raise InvalidArgument("floor", expected="a floor, without smoothing", found="None")
        floor = _checked_floor(floor, support)
        if places is None:
            published = StochasticMatrix([Simplex(columns, floor=floor)] * rows)
        else:
            published = StochasticMatrix(Simplex(2, floor=floor), support=places)

    def at(parameter: float) -> Mechanism:
        if published is not None:
            return MatrixDirichlet(parameter, published)
        noise = Laplace if name == "laplace" else Gaussian
        row = noise(1.0 / parameter, Simplex(columns))
        return RowByRow(row, rows=None if places is not None else rows, support=places)

    fine = published is None and (adjacency.among(rows) == 1 or delta == 0.0)
    made: Any = calibrate(at, adjacency, relative=1e-13 if fine else _ROUGH, **budget)
    return made if published is not None else _with_best_way_back(made, adjacency, support)


def _with_best_way_back(made: RowByRow, adjacency: Rows, support: Mask) -> RowByRow:
    """The mechanism with the way from noisy rows to vectors of least error, over rows of the usual widths."""
    widths = Counter(int(width) for width in support.reshape(-1, support.shape[-1]).sum(axis=1) if width > 1)
    errors = dict.fromkeys(ONTO, 0.0)
    for width, rows in widths.most_common(_WIDTHS):
        row = replace(made.mechanism, domain=Simplex(width))
        of_width = mean_way_back_errors(row, typical_values(adjacency.each, width))
        errors = {onto: error + rows * of_width[onto] for onto, error in errors.items()}
    return replace(made, mechanism=replace(made.mechanism, onto=best_way_back(errors)))


def _checked_floor(floor: float, support: Mask) -> float:
    largest = int(support.sum(axis=-1).max())
    words = f"a number above 0 and below 1/{largest}"
    return within("floor", floor, 1e-30, (1.0 - 1e-9) / largest, expected=words)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One mechanism at the given budget.

    row_tv: the mean total variation of a row; row_tv95: what 95 of 100 rows stay below; stationary_tv: that
    of the stationary distribution, where the matrix is a chain. kl: the divergence of a row, where it is
    known. why: without a mechanism, the reason. delta: what it is charged, where known. row_span,
    stationary_span: these errors on each profile of typical matrices, where there are several.
    """

    name: str
    mechanism: Mechanism | None
    row_tv: float = math.inf
    row_tv95: float = math.inf
    stationary_tv: float | None = None
    kl: float | None = None
    why: str = ""
    delta: float | None = None
    row_span: Span | None = None
    stationary_span: Span | None = None

    @property
    def ranked_by(self) -> float:
        """The expected total variation of a row."""
        return self.row_tv

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        if self.mechanism is None:
            return {"name": self.name, "possible": False, "why": self.why}
        errors = {name: getattr(self, name) for name in ("row_tv", "row_tv95", "stationary_tv")}
        spans = {"row_tv_range": self.row_span, "stationary_tv_range": self.stationary_span}
        told = {name: span.to_dict() for name, span in spans.items() if span is not None}
        known = {} if self.kl is None else {"kl": self.kl}
        return {"name": self.name, "possible": True} | errors | known | told


@dataclass(frozen=True)
class MatrixPlan(TotalVariationPlan):
    """The mechanisms from the least to the largest expected total variation of a row."""

    measure: ClassVar[str] = "expected total variation of a row"
    printer: ClassVar[str | None] = "veil.matrices.report.console:print_matrix_plan"

    rows: tuple[MatrixRow, ...]


def plan_matrix(
    adjacency: Rows,
    support: Mask,
    *,
    epsilon: float,
    delta: float,
    typical: Floats | None = None,
    ranges: bool = True,
) -> MatrixPlan:
    """Every mechanism at this budget, measured on public typical matrices of this support.

    typical: a public matrix to plan for; None for one matrix of each of the profiles of typical vectors, from
    rows in which a few entries hold nearly everything to rows of entries nearly alike. Mechanisms with pure
    privacy do without the delta. ranges: try further matrices too, for the ends of ranges only.
    """
    epsilon = positive("epsilon", epsilon)
    matrices = typical_matrices(support) if typical is None else [typical]
    extremes = extreme_matrices(support) if typical is None and ranges else {}
    rows = []
    for name in FOR_VECTORS:
        charged = 0.0 if name in PURE else delta
        tell(name)
        try:
            mechanism = calibrated_matrix(name, adjacency, support, epsilon=epsilon, delta=charged)
        except CannotCalibrate as error:
            rows.append(MatrixRow(name, None, why=str(error)))
            continue
        rows.append(replace(measured(name, mechanism, matrices, [*extremes.values()]), delta=charged))
    rows.sort(key=lambda row: row.row_tv)
    over = f"typical matrices, whose rows go {RANGE}" if typical is None else "the typical matrix given"
    assumes = assumption(typical is not None, "matrices with rows", [*extremes][1:])
    assumes += "" if typical is not None else f" {SPARED}"
    beside: dict[str, Any] = {"over": over, "assumes": assumes}
    if rows[0].row_span is not None:
        beside["baselines"] = (baseline_of(matrices, support, rows[0].row_span),)
    return MatrixPlan(tuple(rows), adjacency, epsilon, delta, **beside)


def typical_matrices(support: Mask) -> list[Floats]:
    """A public matrix for each of the profiles of typical vectors, with rows on the support."""
    rng = np.random.default_rng(_SEED)
    return [_on(rng.standard_gamma(shape, support.shape), support) for shape in SHAPES]


def extreme_matrices(support: Mask) -> dict[str, Floats]:
    """Public matrices that are further out than the typical ones, by what they are.

    Their rows are alike in where they lead, or lead back, so that errors of rows add up in the long run.
    """
    rng = np.random.default_rng(_SEED)
    rows, columns = support.shape
    firsts = np.zeros(support.shape)
    firsts[np.arange(rows), support.argmax(axis=1)] = 1.0
    # Shares as those of words in a text, where every row has the same favourites.
    popular = np.arange(1, columns + 1) ** -_POPULAR * rng.standard_gamma(1.0, support.shape)
    made = {EXTREME: firsts, "the same few popular entries in every row": _on(popular, support)}
    if rows == columns:
        some = _on(rng.standard_gamma(SHAPES[2], support.shape), support)
        # Of each state how rarely it is left, from half of the steps on.
        leaving = 0.5 * 10.0 ** -np.linspace(0.0, _STAYING, rows)[rng.permutation(rows), None]
        staying = np.where(support.diagonal()[:, None], np.eye(rows) * (1.0 - leaving) + leaving * some, some)
        made["states that are rarely left, some far more rarely than others"] = staying
    return made


def _on(weights: Floats, support: Mask) -> Floats:
    """Rows of these weights where the support is."""
    kept = np.maximum(weights, _SMALLEST) * support
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def baseline_of(matrices: list[Floats], support: Mask, expected: Span) -> Baseline:
    """An expected error of a row beside that of rows whose possible entries are all equal."""
    equal = support / support.sum(axis=1, keepdims=True)
    each = [float(0.5 * np.abs(matrix - equal).sum(axis=1).mean()) for matrix in matrices]
    nothing = by_profile(each).errors
    words = ["all of them", *(f"rows with {profile}" for profile in PROFILES)][: len(nothing)]
    return Baseline.over(ROW_ERROR, "all possible entries of a row equal", nothing, expected, words)


def measured(
    name: str, mechanism: Mechanism, matrices: list[Floats], extremes: Sequence[Floats] = ()
) -> MatrixRow:
    """The errors of a mechanism on these matrices. extremes: those that only widen the ranges."""
    rng = np.random.default_rng(_SEED)
    gaps, moved = [], []
    is_slow = isinstance(mechanism, RowByRow) and mechanism.mechanism.onto == "shrinkage"
    entries = _SLOW_ENTRIES if is_slow else _ENTRIES
    for matrix in (*matrices, *extremes):
        # A matrix that was given stands alone.
        draws = _draws(matrix, entries) if len(matrices) > 1 else _draws(matrix, entries, len(SHAPES))
        drawn = mechanism.sample(matrix, rng=rng, size=draws)
        gaps.append(0.5 * np.abs(drawn - matrix).sum(axis=-1).ravel())
        if matrix.shape[0] == matrix.shape[1]:
            few = drawn[: int(np.clip(_SOLVING / len(matrix) ** 3, 2, draws))]
            truth, private = quick_stationary(matrix), quick_stationary(few)
            moved.append(0.5 * np.abs(private - truth).sum(axis=-1))
    tried = len(matrices)
    every = np.concatenate(gaps[:tried])
    # A draw that falls apart has no stationary distribution, and its linear system no solution.
    solved = [errors[np.isfinite(errors) & (errors <= 1.0)] for errors in moved]
    known = np.concatenate(solved[:tried]) if moved else np.empty(0)
    means = [float(errors.mean()) for errors in solved[:tried] if len(errors)]
    ends = [float(end) for errors in solved if len(errors) for end in np.quantile(errors, (0.05, 0.95))]
    span = Span((float(known.mean()), *means), tuple(ends)) if means else None
    # Of whole matrices as they are released.
    wholes = [errors.reshape(-1, len(matrices[0])).mean(axis=1) for errors in gaps]
    rows_span = by_profile([float(errors.mean()) for errors in gaps[:tried]], wholes)
    if extremes:
        rows_span, span = rows_span.spared(), None if span is None else span.spared()
    return MatrixRow(
        name,
        mechanism,
        row_tv=float(every.mean()),
        row_tv95=float(np.quantile(every, 0.95)),
        stationary_tv=None if span is None else span.usual,
        row_span=rows_span,
        stationary_span=span,
    )


def _draws(matrix: Floats, entries: float, times: int = 1) -> int:
    """Rows of a large matrix are many samples already."""
    return int(np.clip(entries / matrix.size, 2, times * _DRAWS))


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
        expected = "a column for every row, and two for some"
        raise InvalidArgument("support", expected=expected, found="fewer in some row")
    if floor is not None:
        floor = _checked_floor(floor, table)
    changed = min(adjacency.among(len(table)), counts.total())
    places = None if table.all() and not read_off else table

    def tuned(mass: float, epsilon: float, delta: float) -> dict[int, Any]:
        each = adjacency.each.with_mass(mass)
        budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "floor": floor}
        return {width: calibrated("dirichlet", each, size=width, **budget) for width in sorted(counts)}

    def at(factor: float, tuning: dict[int, Any]) -> MatrixDirichlet:
        domains = [tuning[width].domain if width > 1 else None for width in map(int, widths)]
        ks = [factor * tuning[width].k if width > 1 else 1.0 for width in map(int, widths)]
        matrices = StochasticMatrix(domains, support=places)
        return MatrixDirichlet(ks[0] if len(set(ks)) == 1 else ks, matrices, smooth=True)

    def composed(tuning: dict[int, Any]) -> MatrixDirichlet:
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
    ks, simplices = mechanism.concentrations(len(table)), mechanism.domain.domains
    firsts = {width: int(np.argmax(widths == width)) for width in sorted(counts)}
    kinds = (RowKind(width, counts[width], ks[row], simplices[row].floor) for width, row in firsts.items())
    return mechanism, tuple(kinds)
