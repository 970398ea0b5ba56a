"""Any mechanism for vectors on every row of a matrix (proof in row_by_row.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument
from veil.core.mechanism import REAL_ARITHMETIC, Described, adjacency_of, batch_shape
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.adjacency import Rows
from veil.matrices.row_profiles import changed_rows
from veil.matrices.stochastic import StochasticMatrix, described_support, known_entries
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.simplex import Simplex

# Each row has a domain of its own.
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class RowByRow(Described):
    """Release each row of a matrix by the same additive noise, each on its own public support.

    mechanism: a vectors.Laplace or vectors.Gaussian; the size of its domain is that of a full row.
    rows: the number of rows; None for any number.
    support: the public places of entries that may be above zero, as for MatrixDirichlet.

    >>> from veil import matrices, vectors
    >>> mechanism = matrices.RowByRow(vectors.Laplace(0.1, vectors.Simplex(3)))
    >>> round(mechanism.profile(matrices.Rows(2, vectors.Transfer(0.01))).epsilon(0.0), 12)
    0.4
    """

    mechanism: Laplace | Gaussian
    _: KW_ONLY
    rows: int | None = None
    support: Any = None
    name: ClassVar[str] = "RowByRow"

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, (Laplace, Gaussian)):
            expected = "a vectors.Laplace or vectors.Gaussian"
            raise InvalidArgument("mechanism", expected=expected, found=type(self.mechanism).__name__)
        if self.mechanism.domain.floor > 0.0 or self.mechanism.domain.protected is not None:
            expected = "a Simplex without floor, all of it protected"
            raise InvalidArgument("mechanism.domain", expected=expected, found="another")
        if self.rows is not None:
            object.__setattr__(self, "rows", integer("rows", self.rows, least=1, most=_MOST_ROWS))
        object.__setattr__(self, "support", self.domain.support)
        if self.rows is not None and self.support is not None and len(self.support) != self.rows:
            expected = f"{len(self.support)}, as in support"
            raise InvalidArgument("rows", expected=expected, found=f"{self.rows}")

    @cached_property
    def domain(self) -> StochasticMatrix:
        if self.support is None and self.rows is not None:
            return StochasticMatrix([self.mechanism.domain] * self.rows)
        return StochasticMatrix(self.mechanism.domain, support=self.support)

    def validate(self, value: Any) -> Floats:
        return self.domain.validate(value)

    def item_axes(self, valid: Floats) -> int:
        return self.domain.axes(valid)

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        flat = value.reshape(-1, value.shape[-1])
        drawn = known_entries(flat, size)
        for group in self.domain.alike(flat):
            noisy = replace(self.mechanism, domain=Simplex(group.domain.size))
            drawn[:, *group.where] = noisy._draw(rng, flat[group.where], len(drawn))
        return drawn.reshape(batch_shape(value, size))

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What a change of some rows reveals (row_by_row.md)."""
        neighbours: Rows = adjacency_of(self, adjacency, Rows)
        one = self.mechanism.profile(neighbours.each)
        if self.support is not None:
            rows = sum(len(row) > 1 for row in self.support)
        elif self.rows is not None:
            rows = self.rows
        elif isinstance(neighbours.changed, str):
            raise InvalidArgument("rows", expected="the number of rows, since all may change", found="None")
        else:
            rows = neighbours.changed
        return changed_rows([(one, rows)], neighbours.among(rows))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        real = tuple(text for text in self.mechanism.assumptions() if text == REAL_ARITHMETIC)
        return (*real, *self.domain.assumptions)

    def describe(self) -> dict[str, Any]:
        described = super().describe()
        described["parameters"]["support"] = described_support(self.support)
        return described
