"""What a budget buys, and what an accuracy costs: mechanisms side by side, before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.checks import choice, delta_of, items, positive, within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.intake import as_floats
from veil.core.kind import Progress
from veil.core.mechanism import Mechanism
from veil.core.numerics.rounding import least_safe, log_margin
from veil.core.plan import Plan, beside
from veil.core.privacy.profile import calibrate
from veil.core.progress import tell
from veil.core.span import Span
from veil.vectors.accuracy import (
    METRICS,
    Errors,
    assumed_records,
    assumption,
    baseline_of,
    epsilon_assumption,
    error_quantile,
    extreme_value,
    kept_errors,
    measured_errors,
    typical_values,
    typical_words,
)
from veil.vectors.calibration import PURE, calibrated, names_for
from veil.vectors.ranking import TotalVariationPlan

CONFIDENCE = 0.95
_SMALLEST, _LARGEST = 1e-3, 1e3

Factory = Callable[[float], Mechanism]


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism at the given budget; without a mechanism, `why` says why there is none.

    tv95: the total-variation error that 95 of 100 releases stay below. delta: what it is charged: 0 where the
    mechanism has pure privacy. span: the expected total variation on each profile of typical values.
    """

    name: str
    mechanism: Mechanism | None
    errors: Errors | None
    tv95: float
    why: str = ""
    delta: float = 0.0
    span: Span | None = None

    @property
    def ranked_by(self) -> float:
        """The expected total variation."""
        return math.inf if self.errors is None else self.errors.tv

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        if self.mechanism is None or self.errors is None:
            return {"name": self.name, "possible": False, "why": self.why}
        expected: dict[str, Any] = {name: getattr(self.errors, name) for name in ("tv", "l1", "rmse", "kl")}
        if not math.isfinite(self.errors.kl):
            expected["kl"] = None
        described: dict[str, Any] = {"mechanism": self.mechanism.describe(), "delta": self.delta}
        described |= {"expected": expected, "tv95": self.tv95}
        if self.span is not None:
            described["tv_range"] = self.span.to_dict()
        return {"name": self.name, "possible": True, **described}


@dataclass(frozen=True)
class Comparison(TotalVariationPlan):
    """Mechanisms at the same budget, from the smallest expected total variation to the largest.

    assumed: how many records were assumed, where nobody stated their number and errors depend on it.
    """

    printer: ClassVar[str | None] = "veil.vectors.report.console:print_vector_plan"

    rows: tuple[Row, ...]
    assumed: int | None = None

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


def compare(
    mechanisms: Iterable[Any] | Mapping[str, Any] | None,
    adjacency: Adjacency,
    *,
    epsilon: float,
    delta: float = 0.0,
    typical: Any = None,
    size: int | None = None,
    records: int | None = None,
) -> Comparison:
    """Calibrate every mechanism to the same budget and measure its error on public typical values.

    mechanisms: names ("dirichlet", "laplace", ...), factories of one number, or a mapping of names to
        factories; None for all that cover the adjacency.
    typical: a public vector or counts; None for vectors from concentrated to even ones, whose number of
        entries is then `size`.

    Mechanisms with pure privacy do without the delta.

    >>> import veil
    >>> from veil import vectors
    >>> replaced = vectors.Records("replace")
    >>> table = veil.compare(None, replaced, epsilon=1.0, delta=1e-6, size=5, records=98)
    >>> table.best.name
    'geometric'
    """
    budget: dict[str, Any] = {"epsilon": positive("epsilon", epsilon), "delta": delta_of(delta)}
    if mechanisms is None and typical is None and size is not None:
        return _all_compared(adjacency, **budget, size=size, records=records)
    return _compared(mechanisms, adjacency, typical=typical, size=size, records=records, **budget)


@lru_cache(maxsize=64)
def _all_compared(
    adjacency: Adjacency, *, epsilon: float, delta: float, size: int, records: int | None
) -> Comparison:
    """The comparison by which `auto` chooses; the same question is asked for every release of a kind."""
    return _compared(None, adjacency, typical=None, size=size, records=records, epsilon=epsilon, delta=delta)


def _compared(
    mechanisms: Iterable[Any] | Mapping[str, Any] | None,
    adjacency: Adjacency,
    *,
    typical: Any,
    size: int | None,
    records: int | None,
    **budget: Any,
) -> Comparison:
    names = names_for(adjacency)
    if size is None:
        if typical is None:
            raise InvalidArgument("typical", expected="a typical value, or size=", found="None")
        size = as_floats("typical", typical).size
    values = typical_values(adjacency, size, typical, records)
    extremes = () if typical is not None else (extreme_value(adjacency, values[0]),)
    rows = []
    for name, make in _named(names if mechanisms is None else mechanisms):
        tell(name)
        try:
            mechanism = (
                # As a release is, which knows of no typical value.
                calibrated(name, adjacency, size=size, records=records, **affordable(name, **budget))
                if make is None
                else calibrate(make, adjacency, **budget)
            )
        except CannotCalibrate as error:
            rows.append(Row(name, None, None, math.inf, str(error)))
            continue
        errors, tv95, span = measured_errors(mechanism, values, confidence=CONFIDENCE, extremes=extremes)
        charged = budget["delta"] if make is not None else affordable(name, **budget)["delta"]
        rows.append(Row(name, mechanism, errors, tv95, delta=charged, span=span))
    rows.sort(key=lambda row: row.ranked_by)
    assumed = assumed_records(adjacency, size, records)
    # Typical counts have a number of records of their own.
    assumed = assumed if assumed == values[0].sum() else None
    over = typical_words(adjacency, values, typical)
    best = rows[0].span
    told: dict[str, Any] = {"assumes": assumption(typical is not None, "vectors")}
    if best is not None:
        told["baselines"] = (baseline_of(values, best, assumed=assumed),)
    return Comparison(tuple(rows), adjacency, assumed=assumed, over=over, **told, **budget)


def affordable(name: str, *, epsilon: float, delta: float) -> dict[str, Any]:
    """What the named mechanism makes use of: pure privacy needs no delta."""
    return {"epsilon": epsilon, "delta": 0.0 if name in PURE else delta}


def _named(mechanisms: Iterable[Any] | Mapping[str, Any]) -> list[tuple[str, Factory | None]]:
    expected = "names or functions of one number"
    if isinstance(mechanisms, Mapping):
        if not all(isinstance(name, str) and callable(make) for name, make in mechanisms.items()):
            raise InvalidArgument("mechanisms", expected=f"{expected}, by name", found="something else")
        return list(mechanisms.items())
    named: list[tuple[str, Factory | None]] = []
    for item in items("mechanisms", mechanisms, expected=expected):
        if isinstance(item, str):
            named.append((item, None))
        elif callable(item):
            named.append((str(getattr(item(1.0), "name", "a function")), item))
        else:
            raise InvalidArgument("mechanisms", expected=expected, found=type(item).__name__)
    if not named:
        raise InvalidArgument("mechanisms", expected="at least one", found="none")
    return named


@dataclass(frozen=True, slots=True)
class NeededEpsilon:
    """The least epsilon at which one mechanism keeps to an error; None if none does."""

    name: str
    epsilon: float | None


@dataclass(frozen=True)
class EpsilonPlan(Plan):
    """The epsilon that each mechanism needs for an error, the least first.

    error, metric, confidence: what is to be kept to, how it is measured, and how surely. epsilon: the least.
    kept: what releases at it stay below that surely, on all typical values together and on each profile.
    """

    printer: ClassVar[str | None] = "veil.vectors.report.console:print_vector_plan"

    rows: tuple[NeededEpsilon, ...]
    error: float
    metric: str
    confidence: float
    delta: float
    kept: Span | None = None
    baselines: tuple[Baseline, ...] = ()
    assumes: str = ""

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        least = self.best.epsilon
        assert least is not None
        return least

    @property
    def best(self) -> NeededEpsilon:
        if self.rows[0].epsilon is None:
            raise CannotCalibrate(
                f"no mechanism keeps the {self.metric} error below {self.error:g} with an epsilon of at most "
                f"{_LARGEST:g}."
            )
        return self.rows[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "error": self.error,
            "metric": self.metric,
            "confidence": self.confidence,
            "delta": self.delta,
            "epsilon": {row.name: row.epsilon for row in self.rows},
            "kept_range": None if self.kept is None else self.kept.to_dict(),
            **beside(self),
        }


def needed_epsilons(
    adjacency: Adjacency, *, size: int, typical: Any, records: int | None, progress: Progress, **goal: Any
) -> EpsilonPlan:
    """The least epsilon of every mechanism that covers the adjacency.

    goal: the error, metric, confidence and delta, as in `least_epsilon`.
    """
    rows = []
    for name in names_for(adjacency):
        progress(f"Searching the epsilon of {name}")
        try:
            least = least_epsilon(name, adjacency, size=size, typical=typical, records=records, **goal)
        except CannotCalibrate:
            least = None
        rows.append(NeededEpsilon(name, least))
    rows.sort(key=lambda row: math.inf if row.epsilon is None else row.epsilon)
    values = typical_values(adjacency, size, typical, records)
    unknown = assumed_records(adjacency, size, records)
    # Typical counts have a number of records of their own.
    unknown = unknown if unknown == values[0].sum() else None
    told: dict[str, Any] = {"assumes": epsilon_assumption(typical is not None, unknown)}
    name, least = rows[0].name, rows[0].epsilon
    if least is not None:
        budget = affordable(name, epsilon=least, delta=goal["delta"])
        mechanism = calibrated(name, adjacency, size=size, records=records, **budget)
        extremes = () if typical is not None else (extreme_value(adjacency, values[0]),)
        measure: dict[str, Any] = {"metric": goal["metric"]}
        kept = kept_errors(mechanism, values, confidence=goal["confidence"], extremes=extremes, **measure)
        told |= {"kept": kept, "baselines": (baseline_of(values, kept, assumed=unknown, **measure),)}
    return EpsilonPlan(tuple(rows), **goal, **told)


def least_epsilon(
    name: str,
    adjacency: Adjacency,
    *,
    size: int,
    error: float,
    metric: str = "tv",
    confidence: float = 0.95,
    delta: float = 0.0,
    typical: Any = None,
    records: int | None = None,
) -> float:
    """The smallest epsilon at which the named mechanism's error stays below `error` this surely.

    metric: "tv", "l1", "sup" or "kl". Found by simulation on public typical values, to one percent.

    >>> from veil import vectors
    >>> replaced = vectors.Records("replace")
    >>> need = vectors.least_epsilon("geometric", replaced, size=5, records=1000, error=0.01)
    >>> 0.5 < need < 2.0
    True
    """
    choice("mechanism", name, names_for(adjacency))
    choice("metric", metric, METRICS)
    error = positive("error", error)
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1")
    values = typical_values(adjacency, size, typical, records)

    def margin(epsilon: float) -> float:
        try:
            budget = affordable(name, epsilon=epsilon, delta=delta)
            # As a release is, which knows of no typical value.
            mechanism = calibrated(name, adjacency, size=size, records=records, **budget)
        except CannotCalibrate:
            return -math.inf
        reached = error_quantile(mechanism, values, metric=metric, confidence=confidence)
        return log_margin(error, reached)

    least = least_safe(margin, smallest=_SMALLEST, largest=_LARGEST, relative=0.01)
    if least is None:
        raise CannotCalibrate(
            f"{name}: no epsilon up to {_LARGEST:g} keeps the {metric} error below {error:g} "
            f"with confidence {confidence:g}."
        )
    return least
