"""Every mechanism of Veil, with what the contract needs to know of it. A new mechanism adds a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import veil
from veil.vectors.simplex import Simplex


@dataclass(frozen=True)
class Case:
    """One mechanism under one adjacency.

    weaker: the same kind of mechanism with far too little noise, for the audit to find.
    factory: one number to a mechanism, for calibration. outputs: where outputs must lie.
    bad: values that must be refused. delta: where the audit compares.
    """

    name: str
    mechanism: Any
    adjacency: Any
    value: Any
    neighbour: Any
    weaker: Any
    factory: Callable[[float], Any]
    outputs: Any
    bad: tuple[Any, ...]
    delta: float = 0.0
    targets: tuple[float, float] = (0.2, 8.0)
    smallest_delta: float = 1e-12
    exact_loss: float = field(default=0.0)
    examples: int = 150


_SIMPLEX3, _SIMPLEX5 = Simplex(3), Simplex(5)
_BAD_VECTORS: tuple[Any, ...] = (
    [0.2] * 4,
    [0.5, 0.7, -0.2, 0.0, 0.0],
    [0.3] * 5,
    [np.nan, 0.25, 0.25, 0.25, 0.25],
    [np.inf, 0, 0, 0, 0],
    ["a"] * 5,
    "vector",
    None,
    [],
    0.5,
    [[0.2] * 5, [0.2] * 4],
    {"a": 1.0},
    [0.2j] * 5,
)
_BAD_COUNTS: tuple[Any, ...] = (
    [1, 2],
    [1, 2, -3],
    [1.5, 2, 3],
    [np.nan, 1, 1],
    [np.inf, 1, 1],
    [10**400, 1, 1],
    [2**60, 2**60, 1],
    ["1", "2", "3"],
    None,
    [],
    7,
)
_P = np.array([0.13, 0.08, 0.29, 0.3, 0.2])
_Q = np.array([0.08, 0.13, 0.29, 0.3, 0.2])
_TRANSFER = veil.vectors.Transfer(0.05)
_BAD_MATRICES: tuple[Any, ...] = (
    [0.5, 0.3, 0.2],
    np.full((2, 4), 0.25),
    2.0 * np.eye(3)[:2],
    [[0.5, 0.7, -0.2], [0.2, 0.3, 0.5]],
    [[np.nan, 0.5, 0.5], [0.2, 0.3, 0.5]],
    [[0.5, 0.5], [0.2, 0.3, 0.5]],
    None,
    "matrix",
    [],
)
_ROWS = np.array([[0.13, 0.08, 0.79], [0.3, 0.3, 0.4]])
_ROWS_NEXT = np.array([[0.08, 0.13, 0.79], [0.3, 0.3, 0.4]])
_DOUBLY = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
_DOUBLY_NEXT = _DOUBLY + 0.1 * np.array([[1, -1, 0], [-1, 1, 0], [0, 0, 0]])


def _row_by_row(rate: float, *, noise: str) -> veil.matrices.RowByRow:
    return veil.matrices.RowByRow(
        (veil.vectors.Laplace if noise == "laplace" else veil.vectors.Gaussian)(1.0 / rate, _SIMPLEX3), rows=2
    )


def _doubly(rate: float, *, noise: str) -> veil.matrices.DoublyStochastic:
    return veil.matrices.DoublyStochastic(1.0 / rate, 3, noise=noise)


def _matrix_dirichlet(k: float, *, smooth: bool) -> veil.matrices.MatrixDirichlet:
    return veil.matrices.MatrixDirichlet((k, 2.0 * k), [Simplex(3, floor=0.08)] * 2, smooth=smooth)


def _dirichlet(k: float, *, smooth: bool, **options: Any) -> veil.vectors.Dirichlet:
    return veil.vectors.Dirichlet(k, Simplex(5, floor=0.08), smooth=smooth, **options)


CASES: tuple[Case, ...] = (
    Case(
        name="Dirichlet, published form",
        mechanism=_dirichlet(20.0, smooth=False),
        adjacency=_TRANSFER,
        value=_P,
        neighbour=_Q,
        weaker=_dirichlet(2000.0, smooth=False),
        factory=lambda k: _dirichlet(k, smooth=False),
        outputs=_SIMPLEX5,
        bad=(*_BAD_VECTORS, [0.9, 0.025, 0.025, 0.025, 0.025]),
        delta=0.01,
        targets=(6.0, 30.0),
        smallest_delta=1e-3,
    ),
    Case(
        name="Dirichlet, smoothed",
        mechanism=_dirichlet(40.0, smooth=True),
        adjacency=_TRANSFER,
        value=[0.0, 0.05, 0.9, 0.05, 0.0],
        neighbour=[0.05, 0.0, 0.9, 0.05, 0.0],
        weaker=_dirichlet(4000.0, smooth=True),
        factory=lambda k: _dirichlet(k, smooth=True),
        outputs=_SIMPLEX5,
        bad=_BAD_VECTORS,
        delta=0.01,
        targets=(6.0, 30.0),
        smallest_delta=1e-3,
    ),
    Case(
        name="Dirichlet, some entries protected",
        mechanism=veil.vectors.Dirichlet(20.0, Simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1)),
        adjacency=_TRANSFER,
        value=_P,
        neighbour=_Q,
        weaker=veil.vectors.Dirichlet(2000.0, Simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1)),
        factory=lambda k: veil.vectors.Dirichlet(k, Simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1)),
        outputs=_SIMPLEX5,
        bad=(*_BAD_VECTORS, [0.32, 0.32, 0.0, 0.36, 0.0]),
        delta=0.01,
        targets=(6.0, 30.0),
        smallest_delta=1e-3,
    ),
    Case(
        name="Dirichlet, two entries",
        mechanism=veil.vectors.Dirichlet(20.0, Simplex(2, floor=0.1)),
        adjacency=_TRANSFER,
        value=[0.1, 0.9],
        neighbour=[0.15, 0.85],
        weaker=veil.vectors.Dirichlet(4000.0, Simplex(2, floor=0.1)),
        factory=lambda k: veil.vectors.Dirichlet(k, Simplex(2, floor=0.1)),
        outputs=Simplex(2),
        bad=([0.05, 0.95], [0.5], [0.5, 0.6]),
        examples=20,
        delta=0.01,
        targets=(6.0, 30.0),
        smallest_delta=1e-3,
    ),
    Case(
        name="DirichletCounts, replaced",
        mechanism=veil.vectors.DirichletCounts(2.0, 10.0, 3),
        adjacency=veil.vectors.Records("replace"),
        value=[1, 0, 50],
        neighbour=[0, 1, 50],
        weaker=veil.vectors.DirichletCounts(60.0, 10.0, 3),
        factory=lambda scale: veil.vectors.DirichletCounts(scale, 10.0, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
        delta=0.01,
        smallest_delta=1e-9,
    ),
    Case(
        name="DirichletCounts, added or removed",
        mechanism=veil.vectors.DirichletCounts(2.0, 10.0, 3),
        adjacency=veil.vectors.Records("add-remove"),
        value=[0, 30, 5000],
        neighbour=[1, 30, 5000],
        weaker=veil.vectors.DirichletCounts(60.0, 10.0, 3),
        factory=lambda scale: veil.vectors.DirichletCounts(scale, 10.0, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
        delta=0.01,
        smallest_delta=1e-9,
    ),
    Case(
        name="Dirichlet, exact",
        mechanism=_dirichlet(40.0, smooth=True, exact=True, draws=3000),
        adjacency=_TRANSFER,
        value=[0.0, 0.05, 0.9, 0.05, 0.0],
        neighbour=[0.05, 0.0, 0.9, 0.05, 0.0],
        weaker=_dirichlet(4000.0, smooth=True, exact=True, draws=3000),
        factory=lambda k: _dirichlet(k, smooth=True, exact=True, draws=3000),
        outputs=_SIMPLEX5,
        bad=_BAD_VECTORS,
        delta=0.01,
        targets=(6.0, 30.0),
        smallest_delta=1e-3,
    ),
    Case(
        name="DirichletCounts, exact",
        mechanism=veil.vectors.DirichletCounts(2.0, 10.0, 3, exact=True, draws=2000),
        adjacency=veil.vectors.Records("replace"),
        value=[1, 0, 50],
        neighbour=[0, 1, 50],
        weaker=veil.vectors.DirichletCounts(60.0, 10.0, 3, exact=True, draws=2000),
        factory=lambda scale: veil.vectors.DirichletCounts(scale, 10.0, 3, exact=True, draws=2000),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
        delta=0.01,
        smallest_delta=1e-9,
    ),
    Case(
        name="Laplace",
        mechanism=veil.vectors.Laplace(0.1, _SIMPLEX5),
        adjacency=_TRANSFER,
        value=_P,
        neighbour=_Q,
        weaker=veil.vectors.Laplace(0.01, _SIMPLEX5),
        factory=lambda rate: veil.vectors.Laplace(1.0 / rate, _SIMPLEX5),
        outputs=_SIMPLEX5,
        bad=_BAD_VECTORS,
    ),
    Case(
        name="Gaussian",
        mechanism=veil.vectors.Gaussian(0.1, _SIMPLEX5, onto="normalisation"),
        adjacency=_TRANSFER,
        value=_P,
        neighbour=_Q,
        weaker=veil.vectors.Gaussian(0.01, _SIMPLEX5, onto="normalisation"),
        factory=lambda rate: veil.vectors.Gaussian(1.0 / rate, _SIMPLEX5),
        outputs=_SIMPLEX5,
        bad=_BAD_VECTORS,
        delta=0.01,
    ),
    Case(
        name="GeometricCounts, replaced",
        mechanism=veil.vectors.GeometricCounts(1.5, 3),
        adjacency=veil.vectors.Records("replace"),
        value=[6, 5, 9],
        neighbour=[5, 6, 9],
        weaker=veil.vectors.GeometricCounts(0.2, 3),
        factory=lambda rate: veil.vectors.GeometricCounts(1.0 / rate, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
    ),
    Case(
        name="GeometricCounts, added or removed",
        mechanism=veil.vectors.GeometricCounts(1.5, 3, onto="projection"),
        adjacency=veil.vectors.Records("add-remove"),
        value=[6, 5, 9],
        neighbour=[5, 5, 9],
        weaker=veil.vectors.GeometricCounts(0.2, 3, onto="projection"),
        factory=lambda rate: veil.vectors.GeometricCounts(1.0 / rate, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
    ),
    Case(
        name="DiscreteGaussianCounts, replaced",
        mechanism=veil.vectors.DiscreteGaussianCounts(2.0, 3),
        adjacency=veil.vectors.Records("replace"),
        value=[6, 5, 9],
        neighbour=[5, 6, 9],
        weaker=veil.vectors.DiscreteGaussianCounts(0.3, 3),
        factory=lambda rate: veil.vectors.DiscreteGaussianCounts(1.0 / rate, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
        delta=0.01,
    ),
    Case(
        name="DiscreteGaussianCounts, added or removed",
        mechanism=veil.vectors.DiscreteGaussianCounts(2.0, 3),
        adjacency=veil.vectors.Records("add-remove"),
        value=[6, 5, 9],
        neighbour=[5, 5, 9],
        weaker=veil.vectors.DiscreteGaussianCounts(0.3, 3),
        factory=lambda rate: veil.vectors.DiscreteGaussianCounts(1.0 / rate, 3),
        outputs=_SIMPLEX3,
        bad=_BAD_COUNTS,
        delta=0.01,
    ),
)


CASES += (
    *(
        Case(
            name="MatrixDirichlet, smoothed" if smooth else "MatrixDirichlet, published form",
            mechanism=_matrix_dirichlet(20.0, smooth=smooth),
            adjacency=veil.matrices.Rows(1, _TRANSFER),
            value=_ROWS,
            neighbour=_ROWS_NEXT,
            weaker=_matrix_dirichlet(2000.0, smooth=smooth),
            factory=partial(_matrix_dirichlet, smooth=smooth),
            outputs=veil.matrices.StochasticMatrix(_SIMPLEX3),
            bad=_BAD_MATRICES if smooth else (*_BAD_MATRICES, [[0.05, 0.05, 0.9], [0.3, 0.3, 0.4]]),
            delta=0.01,
            targets=(6.0, 30.0),
            smallest_delta=1e-3,
            examples=50,
        )
        for smooth in (False, True)
    ),
    *(
        Case(
            name=f"RowByRow, {noise}",
            mechanism=_row_by_row(10.0, noise=noise),
            adjacency=veil.matrices.Rows(1, _TRANSFER),
            value=_ROWS,
            neighbour=_ROWS_NEXT,
            weaker=_row_by_row(200.0, noise=noise),
            factory=partial(_row_by_row, noise=noise),
            outputs=veil.matrices.StochasticMatrix(_SIMPLEX3),
            bad=_BAD_MATRICES,
            delta=0.0 if noise == "laplace" else 0.01,
        )
        for noise in ("laplace", "gaussian")
    ),
    *(
        Case(
            name=f"DoublyStochastic, {noise}",
            mechanism=veil.matrices.DoublyStochastic(0.2, 3, noise=noise),
            adjacency=veil.matrices.Rectangle(0.1),
            value=_DOUBLY,
            neighbour=_DOUBLY_NEXT,
            weaker=veil.matrices.DoublyStochastic(0.01, 3, noise=noise),
            factory=partial(_doubly, noise=noise),
            outputs=veil.matrices.Birkhoff(3),
            bad=(*_BAD_MATRICES, [[0.2, 0.3, 0.5]] * 3),
            delta=0.0 if noise == "laplace" else 0.01,
        )
        for noise in ("laplace", "gaussian")
    ),
)


class Misreported:
    """A mechanism that claims one thing and does another, and so must be caught."""

    def __init__(self, claimed: Any, sampler: Callable[..., Any]) -> None:
        self.claimed, self._sampler = claimed, sampler
        self.name, self.domain, self.adjacency = claimed.name, claimed.domain, claimed.adjacency
        self.item_axes = claimed.item_axes

    def validate(self, value: Any) -> Any:
        return self.claimed.validate(value)

    def sample(self, value: Any, *, rng: Any = None, size: int | None = None) -> Any:
        return self._sampler(value, rng=rng, size=size)

    def profile(self, adjacency: Any = None) -> veil.PrivacyProfile:
        return self.claimed.profile(adjacency)  # type: ignore[no-any-return]

    def assumptions(self, adjacency: Any = None) -> tuple[str, ...]:
        return ()

    def describe(self) -> dict[str, Any]:
        return self.claimed.describe()  # type: ignore[no-any-return]


def one_entry_not_randomised(mechanism: Any) -> Misreported:
    """The entry that differs between the neighbours comes out as it went in."""

    def sampler(value: Any, *, rng: Any, size: int | None) -> Any:
        draws = np.array(mechanism.sample(value, rng=rng, size=size))
        truth = np.asarray(value, dtype=float)
        rows = len(truth) if truth.ndim == 2 else 1
        first: Any = (..., *(0,) * truth.ndim)
        draws[first] = truth.flat[0] * rows / truth.sum()
        return draws

    return Misreported(mechanism, sampler)


def too_little_noise(case: Case) -> Misreported:
    """The noise of a far weaker mechanism under the claim of this one."""
    return Misreported(case.mechanism, case.weaker.sample)
