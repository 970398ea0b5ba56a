"""What can be asked of stochastic matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import integer, shown, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Labels, NamedMatrix, array_of
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.mechanism import STATES_ARE_PUBLIC, Mechanism
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReadRequest, ReleaseRequest, Request, mechanism_option, option
from veil.matrices.adjacency import Rows
from veil.matrices.chain_intake import in_order
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.planning import Mask, MatrixPlan, calibrated_matrix, plan_matrix
from veil.matrices.reading import read_matrix
from veil.matrices.stochastic import StochasticMatrix
from veil.tables.given import files_among
from veil.vectors.calibration import FOR_VECTORS, PURE, unused_delta
from veil.vectors.l1 import L1
from veil.vectors.simplex import Simplex, Transfer

_LITTLE_KEPT = (
    "At this budget only {:.2g} % of the weight is on the data, the rest on a public constant (all entries "
    "equal). Take a larger epsilon, or the mechanism auto"
)


@dataclass(frozen=True, kw_only=True)
class MatrixRead(ReadRequest):
    """Read a matrix of transitions or a policy."""

    source: Any = option(help="CSV or JSON file, or - for a pipe.", secret=True)

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.source)

    def read(self, progress: Progress | None = None) -> NamedMatrix:
        self.check()
        return read_matrix(self.source)


@dataclass(frozen=True, kw_only=True)
class _Neighbours(Request):
    """How much of the matrix may differ between two versions that must look alike."""

    rows: str | int = option(
        1, help="How many rows of the matrix may change at once: a number, or all.", group="Privacy"
    )
    transfer: float | None = option(
        None, help="In a changed row, two entries exchange at most M.", group="Privacy"
    )
    l1: float | None = option(
        None, help="A changed row moves by an L1 distance of at most B, in any entries.", group="Privacy"
    )

    def check(self) -> None:
        super().check()
        _ = self.adjacency

    @property
    def adjacency(self) -> Rows:
        """Between which inputs the difference is hidden."""
        if (self.transfer is None) == (self.l1 is None):
            expected = "either it or {l1}: how much a row may change"
            found = "neither of them" if self.transfer is None else "both of them"
            hint = "A transfer of 0.01: two entries of a row exchange at most 0.01."
            raise InvalidArgument("transfer", expected=expected, found=found, hint=hint, names=("l1",))
        if self.l1 is not None:
            words = "an L1 distance above 0 and at most 2"
            each: Transfer | L1 = L1(within("l1", self.l1, 1e-30, 2.0, expected=words))
        else:
            words = "a mass above 0 and at most 1"
            each = Transfer(within("transfer", self.transfer, 1e-30, 1.0, expected=words))
        rows = self.rows.strip().casefold() if isinstance(self.rows, str) else self.rows
        if isinstance(rows, str) and rows != "all" and not (rows.isdecimal() and int(rows)):
            expected = 'a whole number of at least 1, or "all"'
            raise InvalidArgument("rows", expected=expected, found=shown(self.rows))
        number = int(rows) if isinstance(rows, str) and rows != "all" else rows
        return Rows("all" if rows == "all" else integer("rows", number, least=1), each)


@dataclass(frozen=True, kw_only=True)
class MatrixRelease(_Neighbours, ReleaseRequest):
    """Release a private stochastic matrix: transitions, or a policy (states x actions).

    The matrix itself is the secret. State how much of it may differ between two versions that must look
    alike: how many rows, and how much of a row.
    """

    examples = (("", {"source": "roads.csv", "l1": 0.02, "rows": 1, "support": "zeros", "epsilon": 2.0}),)

    mechanism: str = mechanism_option(
        FOR_VECTORS,
        help="auto (least expected total variation of a row over typical matrices; never looks at the data), "
        "dirichlet, laplace or gaussian.",
    )
    support: Any = option(
        None,
        help="Public places of entries above zero: a table (0 is never), or the word zeros: the input's own "
        "zeros are public.",
        group="Privacy",
    )
    smooth: bool = option(
        True,
        help="Without smoothing, dirichlet has its published form, which holds only for matrices that "
        "respect {floor}.",
        negative="--no-smooth",
        group="Mechanism",
    )
    floor: float | None = option(
        None, help="Of dirichlet: the least entry; chosen for least error unless given.", group="Mechanism"
    )
    normalise: bool = option(False, help="Divide each row by its sum first.", group="Input")

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.support)

    @property
    def _floored(self) -> bool:
        return self.floor is not None or not self.smooth

    def check(self) -> None:
        super().check()
        if self._floored and self.mechanism not in ("auto", "dirichlet"):
            field = "smooth" if self.floor is None else "floor"
            raise InvalidArgument(field, expected="the mechanism dirichlet with it", found=self.mechanism)
        if not self.smooth and self.floor is None:
            raise InvalidArgument("floor", expected="a floor, without smoothing", found="None")

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Floats]:
        self.check()
        held = read_matrix(data)
        matrix, adjacency = self._valid(held), self.adjacency
        mask = mask_of(self.support, held)
        name, mechanism, plan = self._chosen(
            adjacency, _possible(self.support, matrix) if mask is None else mask
        )
        kept = share_kept(mechanism)
        little = () if kept >= 0.5 else (_LITTLE_KEPT.format(100 * kept),)
        return Job.prepare(
            mechanism,
            matrix,
            adjacency=adjacency,
            delta=None if plan is not None and name in PURE else self.delta or None,
            assumptions=(STATES_ARE_PUBLIC,) if held.names_found else (),
            labels=_text(held.columns),
            row_labels=_text(held.rows),
            chosen=name,
            why="" if plan is None else plan.reason,
            notes=(*little, *(() if plan is None else unused_delta(name, self.delta))),
            plan=plan,
            kept=kept,
            request=self,
            source=held,
        )

    def _valid(self, held: NamedMatrix) -> Floats:
        matrix = held.dense()
        if matrix.ndim != 2 or min(matrix.shape) < 1 or matrix.shape[1] < 2:
            raise InvalidData("matrix", expected="rows of two or more numbers", found=f"shape {matrix.shape}")
        totals = matrix.sum(axis=1, keepdims=True)
        if self.normalise and np.isfinite(matrix).all() and (matrix >= 0.0).all() and (totals > 0.0).all():
            matrix = matrix / totals
        valid = StochasticMatrix(Simplex(matrix.shape[1])).validate(matrix)
        _same_states(held, valid)
        return valid

    def _chosen(self, adjacency: Rows, mask: Mask) -> tuple[str, Mechanism, MatrixPlan | None]:
        """The mechanism, from public numbers alone, and the plan by which it was chosen."""
        budget: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        name, plan, read_off = self.mechanism, None, is_zeros(self.support)
        if name == "auto" and self._floored:
            # No other mechanism has a floor.
            name = "dirichlet"
        elif name == "auto":
            plan = plan_matrix(adjacency, mask, **budget, ranges=False)
            name, mechanism = plan.best.name, plan.best.mechanism
            budget["delta"] = 0.0 if name in PURE else self.delta
            if not read_off and mechanism is not None:
                return name, mechanism, plan
        form: dict[str, Any] = {"floor": self.floor, "smooth": self.smooth, "read_off": read_off}
        return name, calibrated_matrix(name, adjacency, mask, **budget, **form), plan


@dataclass(frozen=True, kw_only=True)
class _Planned(PlanRequest):
    """What is asked first: at which budget, how large a matrix."""

    epsilon: float = option(help="Privacy loss; smaller is more private.", short="-e")
    delta: float = option(0.0, help="Failure probability; far below 1/people.", short="-d")
    states: int | None = option(None, help="The number of states: rows of the matrix.", short="-s", least=1)
    columns: int | None = option(
        None, help="Columns, if not as many: actions of a policy.", short="-c", least=2
    )


@dataclass(frozen=True, kw_only=True)
class MatrixPlanning(_Neighbours, _Planned):
    """What to expect of each mechanism for a matrix."""

    examples = (("", {"states": 12, "rows": 1, "l1": 0.02, "epsilon": 2.0}),)

    support: Any = option(
        None,
        help="A public table of possible entries, instead of {states}; or zeros: those of {typical}.",
    )
    typical: Any = option(
        None, help="A public matrix to plan for (CSV or JSON); rows of all kinds unless given."
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.support, self.typical)

    def check(self) -> None:
        super().check()
        if self.states is None and self.support is None and self.typical is None:
            expected, names = "it, {support} or {typical}", ("support", "typical")
            raise InvalidArgument("states", expected=expected, found="none", names=names)
        if is_zeros(self.support) and self.typical is None:
            expected = "a table, or {typical} with zeros"
            raise InvalidArgument("support", expected=expected, found="zeros", names=("typical",))

    def plan(self, progress: Progress | None = None) -> MatrixPlan:
        return self._planned(ranges=True)

    def quick_plan(self) -> MatrixPlan:
        return self._planned(ranges=False)

    def _planned(self, *, ranges: bool) -> MatrixPlan:
        self.check()
        typical, mask = self._public()
        budget = {"epsilon": self.epsilon, "delta": self.delta}
        return plan_matrix(self.adjacency, mask, **budget, typical=typical, ranges=ranges)

    def preview(self, plan: Any) -> Preview | None:
        from veil.matrices.preview import preview_matrix

        typical, mask = self._public()
        return preview_matrix(plan, mask, typical)

    def _public(self) -> tuple[Floats | None, Mask]:
        """The public matrix, if one is given, and which entries are possible."""
        typical, mask = None, mask_of(self.support)
        if self.typical is not None:
            public = np.atleast_1d(read_matrix(self.typical, "typical").dense())
            typical = StochasticMatrix(Simplex(max(2, public.shape[-1]))).validate(public)
            mask = _possible(self.support, typical) if mask is None else mask
        if mask is None:
            rows = integer("states", self.states, least=1)
            columns = max(2, rows) if self.columns is None else integer("columns", self.columns, least=2)
            mask = np.ones((rows, columns), dtype=bool)
        return typical, mask


def is_zeros(support: Any) -> bool:
    """Whether the zeros of the matrix itself are its support."""
    return isinstance(support, str) and support == "zeros"


def _possible(support: Any, matrix: Floats) -> Mask:
    """Where entries may be above zero, if no table says so: where the matrix has some, or everywhere."""
    return matrix > 0.0 if is_zeros(support) else np.ones(matrix.shape, dtype=bool)


def mask_of(support: Any, like: NamedMatrix | None = None) -> Mask | None:
    """Where entries may be above zero, in the order of the matrix; None where that is for the matrix to say.

    support: None, "zeros", a path, or a table in memory: of True and False, or of numbers (0 is never).
    """
    if support is None or is_zeros(support):
        return None
    if isinstance(support, str) and support == "zero":
        raise InvalidArgument("support", expected='"zeros", or a file', found="zero")
    if type(support).__name__ == "DataFrame":
        support = support.astype(float)
    elif isinstance(support, (list, tuple, np.ndarray)):
        try:
            support = array_of("support", support).astype(float)
        except ValueError:
            expected = "rows of equal length, of True and False or of numbers"
            raise InvalidData("support", expected=expected, found="something else") from None
    given = read_matrix(support, "support")
    table = given.dense()
    if like is not None and table.ndim == 2:
        expected = "the labels of the matrix"
        for axis, names, wanted in ((0, given.rows, like.rows), (1, given.columns, like.columns)):
            table = in_order("support", table, axis, _text(names), _text(wanted), expected)
    if table.ndim != 2 or (like is not None and table.shape != like.entries.shape):
        shape = "" if like is None else f" of shape {like.entries.shape}, like the matrix"
        raise InvalidData("support", expected=f"a table{shape}", found=f"shape {table.shape}")
    if (table.sum(axis=1) <= 0.0).any():
        raise InvalidData("support", expected="a possible entry in every row", found="a row without one")
    return np.asarray(table != 0.0)


def share_kept(mechanism: Mechanism) -> float:
    """How much of the data survives the smoothing, in the row that keeps least: 1 is all of it."""
    if not isinstance(mechanism, MatrixDirichlet) or not mechanism.smooth:
        return 1.0
    return min(1.0 - row.size * row.floor for row in mechanism.domain.simplices if row is not None)


def _same_states(held: NamedMatrix, matrix: Floats) -> None:
    """A square matrix nearly all of whose rows and columns have the same names has a misspelt one."""
    if held.rows is None or held.columns is None or matrix.shape[0] != matrix.shape[1]:
        return
    rows, columns = set(map(str, held.rows)), set(map(str, held.columns))
    alone = sorted(rows - columns), sorted(columns - rows)
    if alone[0] and 2 * len(rows & columns) >= len(rows):
        expected, hint = "the same states as rows and as columns", "Is one of them misspelt?"
        found = f"a row {alone[0][0]!r} without such a column, and a column {alone[1][0]!r} without a row"
        raise InvalidData("labels", expected=expected, found=found, hint=hint)


def _text(names: Any) -> Labels | None:
    return None if names is None else tuple(map(str, names))
