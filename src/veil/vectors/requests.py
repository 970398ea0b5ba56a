"""What can be asked of counts and probability vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import choice, integer, on_progress, truth, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Labels
from veil.core.job import ROW_LABELS_ARE_PUBLIC, Job
from veil.core.kind import Progress
from veil.core.mechanism import Mechanism
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReadRequest, ReleaseRequest, option
from veil.tables.given import files_among
from veil.vectors.accuracy import METRICS
from veil.vectors.averages import Averaged
from veil.vectors.calibration import (
    ALWAYS_EXACT,
    FOR_COUNTS,
    FOR_VECTORS,
    PURE,
    calibrated,
    check_exact,
    names_for,
    unused_delta,
)
from veil.vectors.counts import Contributions, Counts, Integers, Records, refuse
from veil.vectors.error_bars import beta_law
from veil.vectors.l1 import L1
from veil.vectors.neighbours import Neighbours
from veil.vectors.planning import Comparison, EpsilonPlan, compare, needed_epsilons
from veil.vectors.reading import LabelledVector, read_vector, read_vectors
from veil.vectors.several import LabelledVectors
from veil.vectors.simplex import Simplex, Transfer

_WHOLE = 1e-6
_TOTALS = {"total", "sum", "all", "overall", "grand total", "totals"}
_LITTLE_KEPT = (
    "At this budget only {:.2g} % of the weight is on the data, the rest on a public constant (all entries "
    "equal). A larger epsilon or more records would keep more"
)
_NAMES_LEFT_OUT = (
    "The names of the rows are left out of the release: they may be names of people. Say that they are "
    "public, such as names of courses, to keep them"
)
# What only vectors have, rather than counts.
_OF_VECTORS: dict[str, Any] = {"expected": "{transfer} or {l1} with it", "names": ("transfer", "l1")}


@dataclass(frozen=True, kw_only=True)
class VectorRead(ReadRequest):
    """Read counts or a probability vector, with labels if they have any."""

    source: Any = option(help="CSV, JSON or Parquet file, or - for a pipe.", secret=True)
    label_column: str | None = option(None, help="The column of the labels.", group="Input", column=True)
    value_column: str | None = option(None, help="The column of the numbers.", group="Input", column=True)
    unnamed: bool = option(
        False, help="Each line is one of several vectors, and no column names them.", group="Input"
    )
    row_column: str | None = option(
        None,
        help="Of a table with one row for each of several vectors, such as courses: the column of their "
        "names (the first, unless given). With {label_column} and {value_column} each line is one number.",
        group="Input",
        column=True,
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.source)

    def read(self, progress: Progress | None = None) -> LabelledVector | LabelledVectors:
        self.check()
        return read_vectors(
            self.source,
            label_column=self.label_column,
            value_column=self.value_column,
            row_column=self.row_column,
            unnamed=self.unnamed,
        )


@dataclass(frozen=True, kw_only=True)
class VectorRelease(Neighbours, ReleaseRequest):
    """Release a private probability vector."""

    examples = (
        (
            "Counts of records whose number is public",
            {"source": "grades.csv", "records": 98, "epsilon": 1.0},
        ),
        ("Counts of records whose number is secret", {"source": "grades.csv", "epsilon": 1.0}),
        ("The vector itself is the secret", {"source": "policy.csv", "transfer": 0.01, "epsilon": 1.0}),
        (
            "The average of the shares of 40 people, of whom each has a row",
            {"source": "shares.csv", "unnamed": True, "average": 40, "epsilon": 1.0},
        ),
        (
            "A row for each course; a student is in at most 6 of them",
            {
                "source": "courses.csv",
                "row_column": "course",
                "public_row_labels": True,
                "cap": 6,
                "epsilon": 1.0,
            },
        ),
    )

    mechanism: str = option(
        "auto",
        help="auto (least expected total variation over typical vectors; never looks at the data); of "
        "counts: dirichlet, geometric, discrete-gaussian; of vectors: dirichlet, laplace, gaussian.",
        short="-m",
        choices=("auto", *dict.fromkeys((*FOR_COUNTS, *FOR_VECTORS))),
        group="Mechanism",
    )
    smooth: bool = option(
        True,
        help="With {transfer} or {l1}. Without smoothing, dirichlet has its published form, which holds only "
        "for vectors that respect {floor}.",
        negative="--no-smooth",
        group="Mechanism",
    )
    floor: float | None = option(
        None,
        help="Of dirichlet with {transfer} or {l1}: the least entry; chosen for least error unless given.",
        group="Mechanism",
    )
    normalise: bool = option(False, help="Divide the input by its sum first.", group="Input")
    exact: bool = option(
        True,
        help="Draw so that nothing is left to the rounding of floats. Without it, dirichlet, laplace and "
        "gaussian draw floats, and the guarantee assumes real arithmetic.",
        negative="--no-exact",
        group="Mechanism",
    )
    draws: int | None = option(
        None, help="Of dirichlet: draw so often from an urn, in whole numbers.", least=1, group="Mechanism"
    )
    public_row_labels: bool = option(
        False,
        help="The names of the rows of a table of several vectors are public, as those of courses are, and "
        "are kept in the release. They are left out otherwise.",
        group="Input",
    )

    def check(self) -> None:
        super().check()
        adjacency = self.adjacency
        choice("mechanism", self.mechanism, ("auto", *names_for(adjacency)))
        floored = "smooth" if self.floor is None else "floor"
        if isinstance(adjacency, (Records, Contributions)):
            if self._floored:
                found = "counts, which need no floor and are always smoothed"
                raise InvalidArgument(floored, found=found, **_OF_VECTORS)
            if self.normalise:
                raise InvalidArgument("normalise", found="counts", **_OF_VECTORS)
        elif isinstance(adjacency, Averaged) and self.public_row_labels:
            expected, found = "several vectors with it", "their average, which has no rows"
            raise InvalidArgument("public_row_labels", expected=expected, found=found)
        if self._floored and self.mechanism not in ("auto", "dirichlet"):
            raise InvalidArgument(floored, expected="the mechanism dirichlet with it", found=self.mechanism)
        if not self.smooth and self.floor is None:
            raise InvalidArgument("floor", expected="a floor, without smoothing", found="None")
        check_exact("dirichlet" if self.mechanism == "auto" else self.mechanism, self.exact, self.draws)

    @property
    def _floored(self) -> bool:
        return self.floor is not None or not self.smooth

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Floats]:
        self.check()
        held = read_vectors(data)
        adjacency, values = self.adjacency, np.array(held.values)
        counted = isinstance(adjacency, (Records, Contributions))
        value = _as_counts(values, self.records) if counted else self._vector(values)
        _no_total(held.labels, values)
        if isinstance(held, LabelledVectors):
            _no_total(held.row_labels, values.T, what="row")
        row_labels = self._public_names(held)
        if isinstance(adjacency, Averaged):
            value, held = self.averaged(value, held)
        name, mechanism, plan = self._chosen(adjacency, values.shape[-1])
        kept = share_kept(mechanism, self.records)
        left_out = isinstance(held, LabelledVectors) and held.row_labels is not None and row_labels is None
        return Job.prepare(
            mechanism,
            value,
            adjacency=adjacency,
            delta=None if plan is not None and name in PURE else self.delta or None,
            labels=held.labels,
            row_labels=row_labels,
            assumptions=() if row_labels is None else (ROW_LABELS_ARE_PUBLIC,),
            records=self.records,
            chosen=name,
            why="" if plan is None else plan.reason,
            notes=(
                *(() if plan is None else unused_delta(name, self.delta)),
                *((_NAMES_LEFT_OUT,) if left_out else ()),
                *(() if kept >= 0.5 else (_LITTLE_KEPT.format(100 * kept),)),
            ),
            plan=plan,
            kept=kept,
            request=self,
            source=held,
        )

    def _public_names(self, held: LabelledVector | LabelledVectors) -> Labels | None:
        """The names of the rows, where they are stated to be public."""
        if not truth("public_row_labels", self.public_row_labels):
            return None
        names = held.row_labels if isinstance(held, LabelledVectors) else None
        if names is None:
            expected, found = "a table of several vectors with names", "one vector, or no names"
            raise InvalidArgument("public_row_labels", expected=expected, found=found)
        return names

    def _vector(self, values: Floats) -> Floats:
        size, sums = values.shape[-1], values.sum(axis=-1, keepdims=True)
        possible = self.normalise and np.isfinite(values).all() and (sums > 0).all() and (values >= 0).all()
        valid = Simplex(size).validate(values / sums if possible else values)
        if self.floor is not None:
            words = f"a number above 0 and below 1/{size}"
            within("floor", self.floor, 1e-30, (1.0 - 1e-9) / size, expected=words)
        return valid

    def _chosen(
        self, adjacency: Records | Contributions | Transfer | L1 | Averaged, size: int
    ) -> tuple[str, Mechanism, Comparison | None]:
        """The mechanism, from public numbers alone, and the comparison by which it was chosen."""
        budget: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "records": self.records}
        name, plan = self.mechanism, None
        if name == "auto":
            # What no other mechanism has leaves no choice.
            name = "dirichlet" if self._floored or self.draws else name
        if name == "auto":
            plan = compare(None, adjacency, size=size, **budget)
            best = plan.best
            if self.exact and best.mechanism is not None:
                return best.name, best.mechanism, plan
            name = best.name
            budget["delta"] = best.delta
            budget["exact"] = self.exact or name in ALWAYS_EXACT
        budget = {"exact": self.exact, "draws": self.draws} | budget
        budget |= {"floor": self.floor, "smooth": self.smooth}
        return name, calibrated(name, adjacency, size=size, **budget), plan


@dataclass(frozen=True, kw_only=True)
class _Planned(PlanRequest):
    """What is asked first: how large a vector, at which budget."""

    size: int = option(help="The number of entries.", short="-s", least=2)
    epsilon: float | None = option(None, help="Privacy loss; smaller is more private.", short="-e")
    delta: float = option(0.0, help="Failure probability; far below 1/people.", short="-d")


@dataclass(frozen=True, kw_only=True)
class VectorPlanning(Neighbours, _Planned):
    """What to expect of each mechanism for a vector, or which epsilon an error takes."""

    examples = (
        ("", {"size": 5, "records": 98, "epsilon": 1.0}),
        ("The other way round", {"size": 5, "records": 98, "error": 0.05}),
    )

    error: float | None = option(None, help="The other way round: the epsilon for this error.")
    metric: str = option("tv", help="The error's measure: tv, l1, sup or kl.", choices=METRICS)
    confidence: float = option(0.95, help="How surely the error must be met.", least=0.5, most=0.9999)
    typical: Any = option(
        None, help="A public vector to plan for (CSV or JSON); vectors of all kinds unless given."
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*super().inputs, *files_among(self.typical))

    def check(self) -> None:
        super().check()
        if (self.epsilon is None) == (self.error is None):
            expected, found = "either it or {error}", "both or neither"
            raise InvalidArgument("epsilon", expected=expected, found=found, names=("error",))
        integer("size", self.size, least=2)
        within("confidence", self.confidence, 0.5, 0.9999, expected="a number between 0.5 and 0.9999")

    def plan(self, progress: Progress | None = None) -> Comparison | EpsilonPlan:
        self.check()
        typical = None if self.typical is None else list(read_vector(self.typical, name="typical").values)
        shape: dict[str, Any] = {"size": self.size, "records": self.records, "typical": typical}
        if self.epsilon is not None:
            return compare(None, self.adjacency, epsilon=self.epsilon, delta=self.delta, **shape)
        return needed_epsilons(
            self.adjacency,
            error=self.error,
            metric=self.metric,
            confidence=self.confidence,
            delta=self.delta,
            progress=on_progress("progress", progress),
            **shape,
        )

    def preview(self, plan: Any) -> Preview | None:
        from veil.vectors.preview import preview_vector

        if not isinstance(plan, Comparison):
            return None
        typical = None if self.typical is None else list(read_vector(self.typical, name="typical").values)
        return preview_vector(plan, self.adjacency, self.size, self.records, typical)


def share_kept(mechanism: Mechanism, records: int | None) -> float:
    """The weight of the data, against the public prior, in the mean of the released vector.

    1 is all of it, 0 is an answer that is always the same.
    """
    law = beta_law(mechanism, records)
    return 1.0 if law is None else law.kept


def _no_total(labels: Labels | None, values: Floats, *, what: str = "entry") -> None:
    """A total among the categories would count every record twice."""
    sums = values.sum(axis=-1)
    for label, column in zip(labels or (), np.atleast_2d(values).T, strict=False):
        if not label.strip():
            raise InvalidData("labels", expected="a label for every entry", found="an empty one")
        if label.strip().casefold() in _TOTALS and (2.0 * column == sums).all():
            raise InvalidData(
                "labels",
                expected="categories only",
                found=f"{'an' if what == 'entry' else 'a'} {what} {label!r} that is the sum of all others",
                hint="Remove it: it would count every record twice.",
            )


def _as_counts(values: Floats, records: int | None) -> Integers:
    """Counts as they are, or frequencies of a known number of records made into counts."""
    counts, total = Counts(values.shape[-1]), values.sum(axis=-1)
    if not np.isfinite(values).all() or (values < 0.0).any():
        return counts.validate(values)
    if records is None:
        refuse(
            values != np.floor(values),
            "not whole",
            expected="counts of records, which are whole numbers",
            hint="Frequencies need {records}, the public number of records behind them. Where the vector "
            "itself is the secret, give {transfer} or {l1}.",
            names=("records", "transfer", "l1"),
        )
    if records is None or (np.abs(total - records) <= _WHOLE * records).all():
        return counts.validate(values)
    if (np.abs(total - 1.0) > _WHOLE).any():
        each = " in every row" if values.ndim > 1 else ""
        expected = f"counts that sum to the {records} records{each}, or frequencies that sum to 1"
        raise InvalidData("value", expected=expected, found="another sum")
    whole = np.rint(values * records)
    if (np.abs(values * records - whole) > _WHOLE * records).any():
        raise InvalidData(
            "value",
            expected=f"frequencies that are whole numbers of {records} records",
            found="some that are not",
            hint="Give the counts themselves.",
        )
    return counts.validate(whole)
