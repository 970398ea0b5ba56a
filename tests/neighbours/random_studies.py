"""Mechanisms with parameters that nobody chose, each with values and neighbours of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.neighbours.count_studies import dirichlet_study, noisy_study
from tests.neighbours.matrix_studies import matrix_dirichlet_study, one_row
from tests.neighbours.study import Study
from tests.neighbours.vector_studies import vector_study
from veil.matrices import MatrixDirichlet, Rows
from veil.vectors import (
    L1,
    Contributions,
    Dirichlet,
    DirichletCounts,
    DiscreteGaussianCounts,
    Gaussian,
    GeometricCounts,
    Laplace,
    Records,
    Simplex,
    Transfer,
)

ANY: dict[str, Any] = {"reach": 0.0, "why": "only that nothing lies above the claim is asked"}


def random_study(rng: np.random.Generator) -> Study:
    """One of them all."""
    make = (_vector, _vector, _vector, _counts, _counts, _matrix)[int(rng.integers(6))]
    return make(rng)


def _domain(rng: np.random.Generator, *, most: int) -> Simplex:
    size = int(rng.integers(2, most + 1))
    protected, slack = None, None
    if size > 2 and rng.random() < 0.4:
        count = int(rng.integers(2, size))
        protected = sorted(rng.choice(size, count, replace=False).tolist())
        slack = float(rng.choice([0.0, 0.1, 0.3]))
    free = 1.0 - (slack or 0.0)
    floor = float(rng.choice([0.01, 0.1, 0.5, 0.9])) * free / size
    return Simplex(size, floor=floor, protected=protected, slack=slack)


def _change(rng: np.random.Generator, domain: Simplex) -> Transfer | L1:
    """A small part of what can move at all, much of it, or more than that."""
    mass = min(1.0, max(1e-9, domain.room * float(rng.choice([0.01, 0.2, 0.8, 1.0, 1.5]))))
    return Transfer(mass) if rng.random() < 0.5 else L1(2.0 * mass)


def _vector(rng: np.random.Generator) -> Study:
    domain = _domain(rng, most=4)
    adjacency = _change(rng, domain)
    noise = float(10.0 ** rng.uniform(-2.0, 0.5))
    made: tuple[Any, ...] = (
        Dirichlet(float(10.0 ** rng.uniform(-1.0, 2.5)), domain, smooth=bool(rng.random() < 0.5)),
        Laplace(noise, domain),
        Gaussian(noise, domain),
    )
    mechanism = made[int(rng.choice([0, 0, 0, 1, 2]))]
    return vector_study(
        mechanism, adjacency, name=f"{mechanism}, {adjacency}", epsilons=_epsilons(rng), **ANY
    )


def _counts(rng: np.random.Generator) -> Study:
    size, added = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    adjacency: Records | Contributions = Records(str(rng.choice(["add-remove", "replace"])))
    if rng.random() < 0.5:
        adjacency = Contributions(added, int(rng.integers(0, 3)))
    scale = float(10.0 ** rng.uniform(-1.0, 1.0))
    rest: dict[str, Any] = {"epsilons": _epsilons(rng), **ANY}
    kind = int(rng.integers(3))
    if kind == 0:
        mechanism: Any = DirichletCounts(scale, float(10.0 ** rng.uniform(-1.0, 2.0)), min(size, 3))
        small = isinstance(adjacency, Records) or adjacency.total <= 3
        change = adjacency if small else Contributions(2, 1)
        return dirichlet_study(mechanism, change, name=f"{mechanism}, {change}", **rest)
    mechanism = GeometricCounts(scale, size) if kind == 1 else DiscreteGaussianCounts(scale, size)
    return noisy_study(mechanism, adjacency, name=f"{mechanism}, {adjacency}", **rest)


def _matrix(rng: np.random.Generator) -> Study:
    rows = int(rng.integers(2, 4))
    domains = [Simplex(3, floor=float(rng.choice([0.02, 0.1, 0.2]))) for _ in range(rows)]
    ks = [float(10.0 ** rng.uniform(0.0, 2.0)) for _ in range(rows)]
    among: tuple[int | str, ...] = (1, 2, "all")
    changed = among[int(rng.integers(3))]
    adjacency = Rows(changed, Transfer(float(rng.choice([0.01, 0.05, 0.3]))))
    mechanism = MatrixDirichlet(ks, domains)
    study = matrix_dirichlet_study(
        mechanism, adjacency, domains, name=f"{mechanism}, {adjacency}", epsilons=_epsilons(rng), **ANY
    )
    return replace(study, mix=one_row) if changed == "all" else study


def _epsilons(rng: np.random.Generator) -> tuple[float, ...]:
    return (float(rng.choice([0.0, 0.1])), float(10.0 ** rng.uniform(-1.0, 0.7)))
