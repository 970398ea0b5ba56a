"""The published form for counted transitions (data-driven chains paper, Algorithm 2): conditional."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, items, positive, truth, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import REAL_ARITHMETIC, ExactOrFloat, Published, adjacency_of
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.row_profiles import worst_of
from veil.vectors.counts import Counts, Integers, Records
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_form import DirichletForm, sample_dirichlet, shares
from veil.vectors.samplers.rounded_dirichlet import sample_rounded_dirichlet
from veil.vectors.simplex import Simplex, Transfer

SIZES_ARE_PUBLIC = "how many transitions leave each state is public"


def inside(floor: float) -> float:
    """A hair below the floor, for the data and for the guarantee: 50 of 1,000 is at a floor of 0.05."""
    return floor * (1.0 - 2.0**-50)


@dataclass(frozen=True)
class BorderedRows(ExactOrFloat):
    """Release row i of a table of counts as Dirichlet(k_i c_i / N_i): no smoothing, so conditional.

    k: the concentration of each row. floor: eta_i, what no frequency of row i falls below, in the data and in
    its neighbours; public. records: N_i, the public number of records in each row. exact: draw rows of
    real numbers, rounded to 28 bits; exact=False draws floats, and the guarantee assumes real arithmetic.
    """

    k: Sequence[float]
    floor: Sequence[float]
    records: Sequence[int]
    _: KW_ONLY
    size: int
    exact: bool = True
    name: ClassVar[str] = "BorderedRows"
    form: ClassVar[str] = DirichletForm.form
    kind: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        size = integer("size", self.size, least=2, most=2**31)
        words = f"a number above 0 and at most 1/{size}"
        for name, checked in (
            ("k", partial(positive, "k")),
            ("floor", partial(within, "floor", low=1e-30, high=1.0 / size, expected=words)),
            ("records", partial(integer, "records", least=1)),
        ):
            numbers = items(name, getattr(self, name), expected="a number for each row")
            object.__setattr__(self, name, tuple(map(checked, numbers)))
        object.__setattr__(self, "size", size)
        truth("exact", self.exact)
        if not len(self.k) == len(self.floor) == len(self.records) > 0:
            raise InvalidArgument("k", expected="as many k as floors and records", found=f"{len(self.k)}")

    @property
    def domain(self) -> Counts:
        return Counts(self.size)

    def item_axes(self, valid: Any) -> int:
        return 2

    def validate(self, value: Any) -> Integers:
        counts = self.domain.validate(value)
        if counts.ndim != 2 or len(counts) != len(self.k):
            expected = f"{len(self.k)} rows of counts"
            raise InvalidData("value", expected=expected, found=f"shape {counts.shape}")
        if (counts.sum(axis=1) != self.records).any():
            expected = "rows of the stated numbers of records"
            raise InvalidData("value", expected=expected, found="other numbers")
        for row, (count, floor, records) in enumerate(zip(counts, self.floor, self.records, strict=True)):
            if Fraction(int(count.min())) < Fraction(inside(floor)) * records:
                expected = f"every frequency of row {row} at or above its floor of {floor:g}"
                hint = "The published form does not hold there. Merge states, lower the floor, or use "
                hint += "another mechanism: they need no floor."
                raise InvalidData("value", expected=expected, found="one below it", hint=hint)
        return counts

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        counts = np.asarray(value, dtype=np.float64)
        shapes = counts * (np.array(self.k) / np.array(self.records))[:, None]
        if not self.exact:
            return sample_dirichlet(rng, shapes=shapes, size=size)

        def exact_shape(row: int, column: int) -> Fraction:
            return Fraction(self.k[row]) * int(value[row, column]) / self.records[row]

        return shares(sample_rounded_dirichlet(rng, shapes=shapes, exact=exact_shape, size=size))

    def rows(self) -> tuple[tuple[Dirichlet, Transfer], ...]:
        """Each row as the vector mechanism that it is, and what a replaced record moves there."""
        return tuple(
            (
                Dirichlet(k, Simplex(self.size, floor=inside(floor)), exact=self.exact),
                Transfer.from_records(records),
            )
            for k, floor, records in zip(self.k, self.floor, self.records, strict=True)
        )

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """One record gets another category within its row: the worst row."""
        change: Records = adjacency_of(self, adjacency, Records)
        if change.change != "replace":
            expected = 'Records("replace"): the published form takes the size of every row as public'
            raise InvalidArgument("adjacency", expected=expected, found='Records("add-remove")')
        return worst_of(list(dict.fromkeys(row.profile(moved) for row, moved in self.rows())))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        low, high = min(self.floor), max(self.floor)
        floor = f"{low!r}" if low == high else f"its row's floor, from {low:.3g} to {high:.3g}"
        kept = f"no frequency of the true rows and of their neighbours is below {floor}"
        return (kept, SIZES_ARE_PUBLIC, *(() if self.exact else (REAL_ARITHMETIC,)))

    def published(self, *, gamma: float) -> Published:
        """Theorem 3 of the paper: the largest epsilon and delta of Theorem 1 over the rows, as printed."""
        rows = [row.published(moved, gamma=gamma) for row, moved in self.rows()]
        return Published(
            epsilon=max(row.epsilon for row in rows),
            delta=max(row.delta for row in rows),
            gamma=gamma,
            theorem="data-driven chains paper, Theorem 3",
            violations=tuple(dict.fromkeys(text for row in rows for text in row.violations)),
        )
