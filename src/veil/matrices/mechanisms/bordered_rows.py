"""The published form for counted transitions (data-driven chains paper, Algorithm 2): conditional."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, items, positive, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import Described, Published, adjacency_of
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.row_profiles import worst_of
from veil.vectors.adjacency import Records, Transfer
from veil.vectors.counts import Counts, Integers
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.samplers.dirichlet import sample_dirichlet
from veil.vectors.simplex import Simplex

SIZES_ARE_PUBLIC = "how many transitions leave each state is public"


def inside(floor: float) -> float:
    """A hair below the floor, for the data and for the guarantee: 50 of 1,000 is at a floor of 0.05."""
    return floor * (1.0 - 2.0**-50)


@dataclass(frozen=True, init=False)
class BorderedRows(Described):
    """Release row i of a table of counts as Dirichlet(k_i c_i / N_i): no smoothing, so conditional.

    k: the concentration of each row. floor: eta_i, what no frequency of row i falls below, in the data and in
    its neighbours; public. records: N_i, the public number of records in each row.
    """

    k: tuple[float, ...]
    floor: tuple[float, ...]
    records: tuple[int, ...]
    size: int
    name: ClassVar[str] = "BorderedRows"
    kind: ClassVar[str] = "matrix"

    def __init__(
        self, k: Sequence[float], floor: Sequence[float], records: Sequence[int], *, size: int
    ) -> None:
        object.__setattr__(self, "size", integer("size", size, least=2, most=2**31))
        object.__setattr__(self, "k", tuple(positive("k", number) for number in _each("k", k)))
        ceiling = f"a number above 0 and at most 1/{self.size}"
        floors = (
            within("floor", number, 1e-30, 1.0 / self.size, expected=ceiling)
            for number in _each("floor", floor)
        )
        object.__setattr__(self, "floor", tuple(floors))
        sizes = (integer("records", n, least=1) for n in _each("records", records))
        object.__setattr__(self, "records", tuple(sizes))
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
            raise InvalidData(
                "value", expected=f"{len(self.k)} rows of counts", found=f"shape {counts.shape}"
            )
        if (counts.sum(axis=1) != self.records).any():
            raise InvalidData(
                "value", expected="rows of the stated numbers of records", found="other numbers"
            )
        for row, (count, floor, records) in enumerate(zip(counts, self.floor, self.records, strict=True)):
            if Fraction(int(count.min())) < Fraction(inside(floor)) * records:
                raise InvalidData(
                    "value",
                    expected=f"every frequency of row {row} at or above its floor of {floor:g}",
                    found="one below it",
                    hint="The published form does not hold there. Merge states, lower the floor, or use "
                    "another mechanism: they need no floor.",
                )
        return counts

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        counts = np.asarray(value, dtype=np.float64)
        shapes = counts * (np.array(self.k) / np.array(self.records))[:, None]
        return sample_dirichlet(rng, shapes=shapes, size=size)

    def rows(self) -> tuple[tuple[Dirichlet, Transfer], ...]:
        """Each row as the vector mechanism that it is, and what a replaced record moves there."""
        return tuple(
            (Dirichlet(k, Simplex(self.size, floor=inside(floor))), Transfer.from_records(records))
            for k, floor, records in zip(self.k, self.floor, self.records, strict=True)
        )

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """One record gets another category within its row: the worst row."""
        change: Records = adjacency_of(self, adjacency, Records)
        if change.change != "replace":
            raise InvalidArgument(
                "adjacency",
                expected='Records("replace"): the published form takes the size of every row as public',
                found='Records("add-remove")',
            )
        return worst_of(list(dict.fromkeys(row.profile(moved) for row, moved in self.rows())))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        low, high = min(self.floor), max(self.floor)
        floor = f"{low!r}" if low == high else f"its row's floor, from {low:.3g} to {high:.3g}"
        return (
            f"no frequency of the true rows and of their neighbours is below {floor}",
            SIZES_ARE_PUBLIC,
        )

    def published(self, *, gamma: float) -> Published:
        """Theorem 3 of the paper: the largest epsilon and delta of Theorem 1 over the rows, as printed."""
        found = [row.published(moved, gamma=gamma) for row, moved in self.rows()]
        return Published(
            epsilon=max(row.epsilon for row in found),
            delta=max(row.delta for row in found),
            gamma=gamma,
            theorem="data-driven chains paper, Theorem 3",
            violations=tuple(dict.fromkeys(text for row in found for text in row.violations)),
        )


def _each(field: str, numbers: Any) -> list[Any]:
    return items(field, numbers, expected="a number for each row")
