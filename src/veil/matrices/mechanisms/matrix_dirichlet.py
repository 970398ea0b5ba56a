"""The mechanism of the matrix Dirichlet paper on stochastic matrices (proofs in matrix_dirichlet.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import positive, truth
from veil.core.errors import InvalidArgument
from veil.core.mechanism import (
    REAL_ARITHMETIC,
    UNPROTECTED,
    ExactOrFloat,
    Published,
    adjacency_of,
    batch_shape,
)
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.adjacency import Rows
from veil.matrices.row_profiles import changed_rows
from veil.matrices.stochastic import Alike, StochasticMatrix, described_support, known_entries
from veil.vectors.accuracy import Errors, dirichlet_errors, mean_errors
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_form import (
    DirichletForm,
    log_dirichlet,
    sample_dirichlet,
    shares,
)
from veil.vectors.published_bounds import matrix_bound
from veil.vectors.samplers.rounded_dirichlet import sample_rounded_dirichlet
from veil.vectors.simplex import Simplex


@dataclass(frozen=True)
class MatrixDirichlet(ExactOrFloat):
    """Release a stochastic matrix row by row: row i is drawn from Dirichlet(k_i p_i).

    k: the concentration, one number or one for each row.
    domains: the Simplex of every row, or a sequence with one for each row, or a StochasticMatrix.
        Policies (states x actions) and transitions P(s, a, ·) are stacks of rows like any other.
    support: the public places of entries that may be above zero; the others stay exactly zero.
    smooth: first map each row p to (1 - n floor) p + floor on its support, so that every matrix is
        taken and nothing is assumed of it.
    exact: draw the rows of real numbers, rounded to 28 bits. With exact=False floats are drawn; the guarantee
        then assumes real arithmetic.

    >>> from veil import matrices, vectors
    >>> mechanism = matrices.MatrixDirichlet(200.0, vectors.Simplex(10, floor=0.05))
    >>> one = mechanism.profile(matrices.Rows(1, vectors.Transfer(0.01)))
    >>> five = mechanism.profile(matrices.Rows(5, vectors.Transfer(0.01)))
    >>> round(one.epsilon(1e-6), 3), round(five.epsilon(1e-6), 2)
    (4.61, 10.98)
    """

    k: Any
    domains: Any
    _: KW_ONLY
    support: Any = None
    smooth: bool = False
    exact: bool = True
    name: ClassVar[str] = "MatrixDirichlet"
    form: ClassVar[str] = DirichletForm.form

    def __post_init__(self) -> None:
        if isinstance(self.domains, StochasticMatrix) and self.support is not None:
            raise InvalidArgument("support", expected="None, where domains has one", found="another one")
        if isinstance(self.domains, list):
            object.__setattr__(self, "domains", tuple(self.domains))
        object.__setattr__(self, "smooth", truth("smooth", self.smooth))
        truth("exact", self.exact)
        if not isinstance(self.domains, StochasticMatrix):
            object.__setattr__(self, "support", self._given.support)
        object.__setattr__(self, "k", _concentrations(self.k, self._given.rows))
        for row in self._kinds:
            _ = row.domain

    @cached_property
    def _given(self) -> StochasticMatrix:
        if isinstance(self.domains, StochasticMatrix):
            return self.domains
        return StochasticMatrix(self.domains, support=self.support)

    @cached_property
    def domain(self) -> StochasticMatrix:
        """The matrices it is for. A k for each row fixes the number of rows."""
        if isinstance(self.k, tuple) and isinstance(self._given.domains, Simplex):
            return replace(self._given, domains=(self._given.domains,) * len(self.k))
        return self._given

    @property
    def rows(self) -> int | None:
        """The number of rows; None where any number will do."""
        return self.domain.rows

    def _k_of(self, row: int) -> float:
        k = self.k[row % len(self.k)] if isinstance(self.k, tuple) else self.k
        return float(k)

    @cached_property
    def _kinds(self) -> Counter[Dirichlet]:
        """The mechanism of each kind of row that can change, and how many rows there are of it."""
        return Counter(
            Dirichlet(self._k_of(row), domain, smooth=self.smooth, exact=self.exact)
            for row, domain in enumerate(self.domain.simplices)
            if domain is not None
        )

    @cached_property
    def _accepted(self) -> StochasticMatrix:
        """The matrices that it takes: with smoothing those below the floor as well."""
        if not self.smooth:
            return self.domain

        open_to_all = [domain and replace(domain, floor=0.0) for domain in self.domain.simplices]
        shared = isinstance(self.domain.domains, Simplex)
        return StochasticMatrix(open_to_all[0] if shared else open_to_all, support=self.domain.support)

    def validate(self, value: Any) -> Floats:
        return self._accepted.validate(value)

    def item_axes(self, valid: Floats) -> int:
        return self.domain.axes(valid)

    def _shapes(self, flat: Floats) -> Iterator[tuple[Alike, Floats, Floats]]:
        """For each group of rows: which they are, their values and the shapes they are given."""
        for group in self.domain.alike(flat):
            entries = flat[group.where]
            shapes = Dirichlet(1.0, group.domain, smooth=self.smooth, exact=self.exact).float_shapes(entries)
            k = np.array([self._k_of(row) for row in group.rows])
            yield group, entries, k[:, None] * shapes

    def concentrations(self, rows: int) -> list[float]:
        """The k of each row of a matrix with so many."""
        return [self._k_of(row) for row in range(rows)]

    def widths(self, rows: int) -> list[int]:
        """How many entries each row may have."""
        sizes = self.domain.sizes
        return [sizes[row % len(sizes)] for row in range(rows)]

    def unsmoothed(self, matrix: Floats) -> Floats:
        """What a matrix was before the smoothing, if it was that; entries may come out negative."""
        flat = np.array(matrix, dtype=np.float64).reshape(-1, matrix.shape[-1])
        if self.smooth:
            for group in self.domain.alike(flat):
                floor, size = group.domain.floor, group.domain.size
                flat[group.where] = (flat[group.where] - floor) / (1.0 - size * floor)
        return flat.reshape(matrix.shape)

    def smoothing_moves(self, row: int) -> float:
        """The largest L1 distance by which smoothing moves a row: 2 (n - 1) floor, at a vertex."""
        domain = self.domain.simplices[row % len(self.domain.simplices)]
        return 2.0 * (domain.size - 1) * domain.floor if self.smooth and domain is not None else 0.0

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        flat = value.reshape(-1, value.shape[-1])
        drawn = known_entries(flat, size)
        for group, entries, shapes in self._shapes(flat):
            drawn[:, *group.where] = self._drawn(rng, group, entries, shapes, len(drawn))
        return drawn.reshape(batch_shape(value, size))

    def _drawn(self, rng: Rng, group: Alike, entries: Floats, shapes: Floats, size: int) -> Floats:
        """So many draws of the rows of a group."""
        if not self.exact:
            return sample_dirichlet(rng, shapes=shapes, size=size)

        def exact_shape(row: int, column: int) -> Fraction:
            law = Dirichlet(self._k_of(int(group.rows[row])), group.domain, smooth=self.smooth)
            return law.exact_shape(float(entries[row, column]))

        return shares(sample_rounded_dirichlet(rng, shapes=shapes, exact=exact_shape, size=size))

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What a change of some rows reveals (Theorems 1 to 3 of matrix_dirichlet.md)."""
        neighbours: Rows = adjacency_of(self, adjacency, Rows)
        changed = self._changed(neighbours)
        profiles = [(row.profile(neighbours.each), count) for row, count in self._kinds.items()]
        if self.rows is None:
            profiles = [(profile, changed) for profile, _ in profiles]
        return changed_rows(profiles, changed)

    def _changed(self, neighbours: Rows) -> int:
        if self.rows is not None:
            return neighbours.among(self.rows)
        if isinstance(neighbours.changed, str):
            expected = "a number, since the mechanism takes any number of rows"
            hint = "Give one Simplex for each row, or one k for each row."
            raise InvalidArgument("changed", expected=expected, found=repr(neighbours.changed), hint=hint)
        return neighbours.changed

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        assumed: list[str] = []
        kinds = [row.domain for row in self._kinds]
        each = adjacency.each if isinstance(adjacency, Rows) else None
        needed = frozenset[str]().union(*(row.needed(each) for row in self._kinds))
        if "floor" in needed:
            floors = {domain.floor for domain in kinds}
            least = repr(floors.pop()) if len(floors) == 1 else "the floor of its row"
            some = any(domain.protected is not None for domain in kinds)
            which = "every protected entry" if some else "every entry"
            if self.domain.support is not None or self.domain.reads_support:
                which += " of the support"
            assumed.append(f"{which} of the true matrix and of its neighbours is at least {least}")
        if "slack" in needed:
            assumed.append("in each row the stated mass lies outside the protected entries")
        if any(domain.protected is not None for domain in kinds):
            assumed.append(UNPROTECTED)
        if not self.exact:
            assumed.append(REAL_ARITHMETIC)
        return (*assumed, *self.domain.assumptions)

    def published(
        self, adjacency: Adjacency | None = None, *, gamma: float | None = None, delta: float | None = None
    ) -> Published:
        """Theorem 1 of the paper as printed: the maximum over rows, whatever number of rows may change.

        gamma: where the paper splits the output space; or delta: take the gamma of least epsilon.
        """
        neighbours: Rows = adjacency_of(self, adjacency, Rows)
        bounds = [row.published(neighbours.each, gamma=gamma, delta=delta) for row in self._kinds]
        return matrix_bound(bounds, neighbours.changed)

    def errors(self, value: Any) -> Errors:
        """The expected errors of a row, averaged over rows. They depend on the matrix: for public ones."""
        matrix = self.validate(value)
        flat = matrix.reshape(-1, matrix.shape[-1])
        return mean_errors(
            [
                dirichlet_errors(row_shapes, row)
                for _, entries, shapes in self._shapes(flat)
                for row_shapes, row in zip(shapes, entries, strict=True)
            ]
        )

    def log_density(self, outputs: Floats, value: Any) -> Floats:
        """The log density of each output if this matrix lay behind it."""
        matrix = self.validate(value)
        flat = matrix.reshape(-1, matrix.shape[-1])
        drawn = np.asarray(outputs).reshape(-1, *flat.shape)
        total = np.zeros(len(drawn))
        for group, _, shapes in self._shapes(flat):
            entries = drawn[:, *group.where]
            for row, row_shapes in enumerate(shapes):
                total += log_dirichlet(entries[:, row], row_shapes)
        return total

    def describe(self) -> dict[str, Any]:
        each = isinstance(self.domains, tuple)
        parameters = {
            "k": list(self.k) if isinstance(self.k, tuple) else self.k,
            "domains": (self._given.describe()["domains"] if each else self.domains.describe()),
            "support": described_support(self.support),
            "smooth": self.smooth,
            **({"form": self.form} if self.exact else {}),
        }
        return {"name": self.name, "parameters": parameters}


def _concentrations(k: Any, rows: int | None) -> float | tuple[float, ...]:
    if isinstance(k, np.ndarray):
        k = k.tolist() if k.ndim < 2 else list(k)
    if not isinstance(k, Sequence) or isinstance(k, str):
        return positive("k", k)
    numbers = tuple(positive(f"k[{row}]", number) for row, number in enumerate(k))
    if not numbers or (rows is not None and len(numbers) != rows):
        expected = "one number, or one for each row" + (f" ({rows})" if rows else "")
        raise InvalidArgument("k", expected=expected, found=f"{len(numbers)}")
    return numbers
