"""All mechanisms side by side, at equal privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.checks import delta_of, items, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.intake import as_floats
from veil.core.mechanism import Mechanism
from veil.core.plan import Plan
from veil.core.privacy.calibrate import calibrate
from veil.vectors.accuracy import Errors
from veil.vectors.calibration import calibrated, names_for
from veil.vectors.expected_errors import error_quantile, expected_errors
from veil.vectors.typical import assumed_records, typical_values

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism at the given budget; without a mechanism, `why` says why there is none.

    tv95: the total-variation error that 95 of 100 releases stay below.
    """

    name: str
    mechanism: Mechanism | None
    errors: Errors | None
    tv95: float
    why: str = ""


@dataclass(frozen=True)
class Comparison(Plan):
    """Mechanisms at the same budget, from the smallest expected error to the largest.

    assumed: how many records were assumed, where nobody stated their number and errors depend on it.
    """

    rows: tuple[Row, ...]
    adjacency: Adjacency
    epsilon: float
    delta: float
    assumed: int | None = None

    @property
    def best(self) -> Row:
        """The row of least expected total-variation error."""
        row = self.rows[0]
        if row.mechanism is None:
            raise CannotCalibrate(f"no mechanism reaches epsilon={self.epsilon:g} here: {row.why}")
        return row

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency.describe(),
            "mechanisms": [_row_as_dict(row) for row in self.rows],
        }


def _row_as_dict(row: Row) -> dict[str, Any]:
    if row.mechanism is None or row.errors is None:
        return {"name": row.name, "possible": False, "why": row.why}
    return {
        "name": row.name,
        "possible": True,
        "mechanism": row.mechanism.describe(),
        "expected": {
            "tv": row.errors.tv,
            "l1": row.errors.l1,
            "rmse": row.errors.rmse,
            "kl": row.errors.kl if math.isfinite(row.errors.kl) else None,
        },
        "tv95": row.tv95,
    }


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
    typical: a public vector or counts; None for a spread of vectors over the simplex, whose number of
        entries is then `size`.

    >>> import veil
    >>> from veil import vectors
    >>> replaced = vectors.Records("replace")
    >>> table = veil.compare(None, replaced, epsilon=1.0, delta=1e-6, size=5, records=98)
    >>> table.best.name
    'geometric'
    """
    epsilon, delta = positive("epsilon", epsilon), delta_of(delta)
    names = names_for(adjacency)
    if size is None:
        if typical is None:
            raise InvalidArgument("typical", expected="a typical value, or size=", found="None")
        size = as_floats("typical", typical).size
    values = typical_values(adjacency, size, typical, records)
    rows = []
    for name, make in _named(names if mechanisms is None else mechanisms):
        try:
            mechanism = (
                calibrated(
                    name, adjacency, size=size, epsilon=epsilon, delta=delta, typical=typical, records=records
                )
                if make is None
                else calibrate(make, adjacency, epsilon=epsilon, delta=delta)
            )
        except CannotCalibrate as error:
            rows.append(Row(name, None, None, math.inf, str(error)))
            continue
        tv95 = error_quantile(mechanism, values, metric="tv", confidence=CONFIDENCE)
        rows.append(Row(name, mechanism, expected_errors(mechanism, values), tv95))
    rows.sort(key=lambda row: math.inf if row.errors is None else row.errors.tv)
    assumed = assumed_records(adjacency, size, records)
    # Typical counts have a number of records of their own.
    assumed = assumed if assumed == values[0].sum() else None
    return Comparison(tuple(rows), adjacency, epsilon, delta, assumed)


def _named(
    mechanisms: Iterable[Any] | Mapping[str, Any],
) -> list[tuple[str, Callable[[float], Mechanism] | None]]:
    expected = "names or functions of one number"
    if isinstance(mechanisms, Mapping):
        if not all(isinstance(name, str) and callable(make) for name, make in mechanisms.items()):
            raise InvalidArgument("mechanisms", expected=f"{expected}, by name", found="something else")
        return list(mechanisms.items())
    named: list[tuple[str, Callable[[float], Mechanism] | None]] = []
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
