"""Algorithm 2 of the data-driven chains paper at a given budget, and how strong its privacy can be at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.chains.adjacency import Transitions
from veil.core.checks import within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.privacy.calibrate import calibrate
from veil.matrices.mechanisms.bordered_rows import BorderedRows, inside
from veil.vectors.adjacency import Records, Transfer
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.simplex import Simplex

# Assumption 4 of the paper: k_i >= 3 / (2 eta_i).
_LEAST = 1.5
_REPLACE = Records("replace")


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper's form takes as public: the floor of each row's frequencies, and the rows' sizes."""

    floor: tuple[float, ...]
    records: tuple[int, ...]

    @classmethod
    def of(cls, floor: Any, records: Sequence[int], size: int) -> Published:
        """One floor for all rows, or one a row."""
        expected = f"a number above 0 and at most 1/{size}, or one a row"
        if floor is None:
            raise InvalidArgument(
                "floor",
                expected=expected,
                found="None",
                hint="The published form holds only where no frequency is below a public floor.",
            )
        try:
            floors = np.broadcast_to(np.asarray(floor, dtype=np.float64), (len(records),)).tolist()
        except (TypeError, ValueError):
            raise InvalidArgument("floor", expected=expected, found=type(floor).__name__) from None
        checked = (within("floor", one, 1e-30, 1.0 / size, expected=expected) for one in floors)
        return cls(tuple(checked), tuple(int(n) for n in records))


def published_rows(
    public: Published | None, adjacency: Transitions, *, size: int, epsilon: float, delta: float
) -> BorderedRows:
    """Every row at its largest safe k, which must not be below the paper's least."""
    if adjacency.unit != "event" or adjacency.change != "replace":
        raise InvalidArgument(
            "change", expected="replace, and the unit event, for the published form", found=adjacency.change
        )
    if public is None or min(public.records, default=0) < 1:
        raise InvalidArgument("records", expected="a row with data for each state", found="one without")
    if delta == 0.0:
        raise CannotCalibrate("delta: the published form needs a delta above 0, found 0.")
    known: dict[tuple[float, int], float] = {}
    for floor, records in zip(public.floor, public.records, strict=True):
        if (floor, records) not in known:
            known[floor, records] = _largest_k(size, floor, records, epsilon, delta)
    ks = [known[row] for row in zip(public.floor, public.records, strict=True)]
    if any(k * floor < _LEAST for k, floor in zip(ks, public.floor, strict=True)):
        raise CannotCalibrate(
            f"epsilon: the published form needs k >= 3/(2 floor) in every row, and so an epsilon of at least "
            f"{strongest_epsilon(public, size=size, delta=delta):.4g} at delta={delta:g} here; found "
            f"{epsilon:g}. Merge small states, or use another mechanism."
        )
    return BorderedRows(ks, public.floor, public.records, size=size)


def _largest_k(size: int, floor: float, records: int, epsilon: float, delta: float) -> float:
    domain, moved = Simplex(size, floor=inside(floor)), Transfer.from_records(records)
    try:
        return calibrate(lambda k: Dirichlet(k, domain), moved, epsilon=epsilon, delta=delta, relative=1e-9).k
    except CannotCalibrate:
        return 0.0


def strongest_epsilon(public: Published, *, size: int, delta: float) -> float:
    """The least epsilon that the published form reaches: every k at the paper's least, the exact profile."""
    return (
        BorderedRows([_LEAST / floor for floor in public.floor], public.floor, public.records, size=size)
        .profile(_REPLACE)
        .epsilon(delta)
    )
