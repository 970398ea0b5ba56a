"""What is searched of mechanisms on counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from flint import arb

from tests.neighbours import dirichlets
from tests.neighbours.cells import Cells, both, gaussian_cells, geometric_cells
from tests.neighbours.counts import Counts, counts_of, near_counts, one_record, several_records
from tests.neighbours.discrete import Law, divergences
from tests.neighbours.study import Study
from tests.review.sums import one_cell_divergence, two_cell_divergence
from veil.vectors import Contributions, DirichletCounts, DiscreteGaussianCounts, GeometricCounts, Records

URN = "an urn tells less than the Dirichlet vector that it draws from, whose curve is claimed for it"
GAMMAS = "the claim is that of independent gamma variables, by their Renyi divergences"
RESPONSE = "of several records the claim is one response of the whole loss; in two cells it is less"
RENYI = "of several records the claim is read off Renyi divergences"


def _edit(adjacency: Records | Contributions) -> Any:
    if isinstance(adjacency, Records):
        return lambda rng, counts: one_record(rng, counts, adjacency.change)
    return lambda rng, counts: several_records(rng, counts, adjacency.added, adjacency.removed)


def _study(mechanism: Any, adjacency: Records | Contributions, **rest: Any) -> Study:
    return Study(
        mechanism=mechanism,
        adjacency=adjacency,
        value=partial(counts_of, size=mechanism.size),
        near=near_counts,
        edit=_edit(adjacency),
        **rest,
    )


# Dirichlet


def shapes(mechanism: DirichletCounts, counts: Counts) -> list[Fraction]:
    """scale count + prior, as the class states it."""
    return [Fraction(mechanism.scale) * count + Fraction(mechanism.prior) for count in counts]


def dirichlet_study(mechanism: DirichletCounts, adjacency: Records | Contributions, **rest: Any) -> Study:
    def large(rng: np.random.Generator) -> Counts:
        """Others may be many: then a record that comes is hidden by its own category alone."""
        counts = counts_of(rng, mechanism.size)
        counts[int(rng.integers(mechanism.size))] += int(rng.choice([0, 3, 2000]))
        return counts

    study = _study(
        mechanism,
        adjacency,
        rough=lambda a, b, at: dirichlets.rough(shapes(mechanism, a), shapes(mechanism, b), at),
        truths=lambda a, b, at: dirichlets.divergences(shapes(mechanism, a), shapes(mechanism, b), at),
        **rest,
    )
    return Study(**{**vars(study), "value": large})


@lru_cache(maxsize=4096)
def urn_law(amounts: tuple[Fraction, ...], draws: int) -> Law:
    """Every outcome of an urn: M! / (A)_M times the product of (a_i)_c / c!."""
    rising = [_rising(amount, draws) for amount in amounts]
    ways = _rising(Fraction(1), draws)
    whole = ways[draws] / _rising(sum(amounts, Fraction(0)), draws)[draws]
    law = {}
    for bars in combinations(range(draws + len(amounts) - 1), len(amounts) - 1):
        ends = (-1, *bars, draws + len(amounts) - 1)
        drawn = tuple(right - left - 1 for left, right in pairwise(ends))
        law[drawn] = whole * math.prod(
            (table[count] / ways[count] for table, count in zip(rising, drawn, strict=True)),
            start=Fraction(1),
        )
    return law


def _rising(start: Fraction, most: int) -> list[Fraction]:
    products = [Fraction(1)]
    for step in range(most):
        products.append(products[-1] * (start + step))
    return products


def _urn(mechanism: DirichletCounts, adjacency: Records, **rest: Any) -> Study:
    draws = mechanism.draws or 0

    def laws(first: Counts, second: Counts) -> tuple[Law, Law]:
        one, other = (urn_law(tuple(shapes(mechanism, counts)), draws) for counts in (first, second))
        return one, other

    return _study(
        mechanism,
        adjacency,
        rough=lambda a, b, at: dirichlets.rough(shapes(mechanism, a), shapes(mechanism, b), at),
        truths=lambda a, b, at: divergences(*laws(a, b), at),
        **rest,
    )


# Noise in whole numbers


def moves(first: Counts, second: Counts) -> list[int]:
    return [abs(a - b) for a, b in zip(first, second, strict=True) if a != b]


@lru_cache(maxsize=256)
def _geometric(shift: int, scale: float) -> Cells:
    return geometric_cells(shift, scale)


@lru_cache(maxsize=256)
def _gaussian(shift: int, sigma: float) -> Cells:
    return gaussian_cells(shift, sigma)


def geometric_truths(first: Counts, second: Counts, epsilon: float, *, scale: float) -> list[arb]:
    """Both directions are alike: the noise is symmetric."""
    return both([_geometric(move, scale) for move in moves(first, second)], epsilon)[:1]


def geometric_loss(first: Counts, second: Counts, *, scale: float) -> Fraction:
    """What is seen may lie beyond both in every cell."""
    return sum(moves(first, second)) / Fraction(scale)


def gaussian_truths(first: Counts, second: Counts, epsilon: float, *, sigma: float) -> list[arb]:
    """In closed form where one or two counts move by one; otherwise by every outcome but the far ones.

    Of many cells that move the three that move most are kept: they tell no more than all of them do.
    """
    moved = sorted(moves(first, second), reverse=True)
    if moved == [1]:
        return [one_cell_divergence(sigma, epsilon)]
    if moved == [1, 1]:
        return [two_cell_divergence(sigma, epsilon)]
    return both([_gaussian(move, sigma) for move in moved[:3]], epsilon)[:1]


def noisy_study(mechanism: Any, adjacency: Records | Contributions, **rest: Any) -> Study:
    laws: dict[str, Any]
    if isinstance(mechanism, GeometricCounts):
        laws = {
            "truths": partial(geometric_truths, scale=mechanism.scale),
            "loss": partial(geometric_loss, scale=mechanism.scale),
        }
    else:
        laws = {"truths": partial(gaussian_truths, sigma=mechanism.sigma)}
    return _study(mechanism, adjacency, rough=_largest, **laws, **rest)


def _largest(first: Counts, second: Counts, epsilon: float) -> float:
    """The distance; where it is the same, few cells are told apart better than many."""
    moved: Sequence[int] = moves(first, second)
    return float(sum(moved)) + 1e-3 * math.sqrt(sum(move**2 for move in moved))


ONE_MORE, REPLACED = Records("add-remove"), Records("replace")

COUNTS = (
    dirichlet_study(
        DirichletCounts(2.0, 10.0, 3), ONE_MORE, name="DirichletCounts, one more", epsilons=(0.0, 0.5, 1.5)
    ),
    dirichlet_study(
        DirichletCounts(2.0, 10.0, 3), REPLACED, name="DirichletCounts, replaced", epsilons=(0.0, 0.5, 1.5)
    ),
    dirichlet_study(
        DirichletCounts(0.5, 0.2, 3),
        ONE_MORE,
        name="DirichletCounts of small shapes, one more",
        epsilons=(0.0, 0.5),
    ),
    dirichlet_study(
        DirichletCounts(2.0, 10.0, 3),
        Contributions(2, 1),
        name="DirichletCounts, contributions",
        epsilons=(0.5, 1.5),
        reach=0.05,
        why=GAMMAS,
    ),
    _urn(
        DirichletCounts(2.0, 10.0, 3, draws=30),
        REPLACED,
        name="DirichletCounts by an urn, replaced",
        epsilons=(0.0, 0.3),
        reach=0.2,
        why=URN,
    ),
    noisy_study(GeometricCounts(1.5, 3), ONE_MORE, name="GeometricCounts, one more", epsilons=(0.0, 0.4)),
    noisy_study(
        GeometricCounts(1.5, 3), REPLACED, name="GeometricCounts, replaced", epsilons=(0.0, 0.4, 1.0)
    ),
    noisy_study(
        GeometricCounts(2.0, 4),
        Contributions(2, 2),
        name="GeometricCounts, contributions",
        epsilons=(0.0, 0.5, 1.5),
        reach=0.35,
        why=RESPONSE,
    ),
    noisy_study(
        DiscreteGaussianCounts(2.0, 3),
        ONE_MORE,
        name="DiscreteGaussianCounts, one more",
        epsilons=(0.0, 0.4, 1.0),
    ),
    noisy_study(
        DiscreteGaussianCounts(2.0, 3),
        REPLACED,
        name="DiscreteGaussianCounts, replaced",
        epsilons=(0.0, 0.4, 1.0),
    ),
    noisy_study(
        DiscreteGaussianCounts(2.0, 4),
        Contributions(3, 2),
        name="DiscreteGaussianCounts, contributions",
        epsilons=(0.5, 2.0),
        reach=0.05,
        why=RENYI,
    ),
)
