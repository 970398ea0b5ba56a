"""What is searched of mechanisms on vectors."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from flint import arb
from scipy.special import ndtr

from tests.neighbours import dirichlets
from tests.neighbours.cells import both, laplace_cells
from tests.neighbours.study import Study
from tests.neighbours.vectors import Vector, exchange, move, near_vector, vector_in
from tests.review.divergences import normal_divergence
from veil.vectors import L1, Dirichlet, Gaussian, Laplace, Simplex, Transfer

PROJECTED = "the claim is that of the noisy vector, of which two responses are an upper bound"
SPREAD = "where k floor is below 1, the claim is an upper bound for moves of many entries"
_CELLS = {2: 200, 3: 60, 4: 24}


def shapes(mechanism: Dirichlet, vector: Vector) -> list[Fraction]:
    """The shapes as the class states them: k p, or k ((1 - n floor) p + floor) where it is smoothed."""
    k, floor, size = Fraction(mechanism.k), Fraction(mechanism.domain.floor), len(vector)
    entries = [Fraction(entry) for entry in vector]
    if mechanism.smooth:
        entries = [(1 - size * floor) * entry + floor for entry in entries]
    return [k * entry for entry in entries]


def gaps(first: Any, second: Any) -> list[Fraction]:
    """By how much entries differ, those that do."""
    flat = zip(np.ravel(first).tolist(), np.ravel(second).tolist(), strict=True)
    return [gap for gap in (Fraction(a) - Fraction(b) for a, b in flat) if gap]


def root_below(square: Fraction) -> Fraction:
    """Not above the square root."""
    scaled = square * 4**200
    return Fraction(isqrt(scaled.numerator // scaled.denominator), 2**200)


def normal_truths(first: Any, second: Any, epsilon: float, *, sigma: float) -> list[arb]:
    """Both directions are alike: only the distance matters."""
    square = sum((gap**2 for gap in gaps(first, second)), Fraction(0)) / Fraction(sigma) ** 2
    return [normal_divergence(root_below(square), epsilon)]


def normal_rough(first: Any, second: Any, epsilon: float, *, sigma: float) -> float:
    shift = float(np.linalg.norm(np.subtract(first, second))) / sigma
    if shift == 0.0:
        return 0.0
    return float(ndtr(shift / 2 - epsilon / shift) - np.exp(epsilon) * ndtr(-shift / 2 - epsilon / shift))


def laplace_truths(first: Any, second: Any, epsilon: float, *, scale: float) -> list[arb]:
    """Up to four entries that differ; of more the first four, which is not above the truth."""
    moved = sorted(gaps(first, second), key=abs, reverse=True)[:4]
    cells = [laplace_cells(gap, scale, _CELLS[max(2, len(moved))]) for gap in moved]
    return both(cells, epsilon)[:1]


def laplace_rough(first: Any, second: Any, epsilon: float) -> float:
    """The largest loss; and of two with the same, the one that is spread less."""
    moved = np.abs(np.subtract(first, second))
    return float(moved.sum() + 1e-3 * np.linalg.norm(moved))


def laplace_loss(first: Any, second: Any, *, scale: float) -> Fraction:
    """The noisy vector may lie beyond both in every entry: the losses add up."""
    return sum(map(abs, gaps(first, second)), Fraction(0)) / Fraction(scale)


def vector_study(mechanism: Any, adjacency: Transfer | L1, **rest: Any) -> Study:
    domain: Simplex = mechanism.domain
    accepted = domain
    if getattr(mechanism, "smooth", False):
        accepted = Simplex(domain.size, protected=domain.protected, slack=domain.slack)
    if isinstance(adjacency, Transfer):
        edit: Any = partial(_exchanged, mass=adjacency.mass, domain=accepted)
    else:
        edit = partial(_moved, distance=adjacency.distance, domain=accepted)
    if isinstance(mechanism, Dirichlet):
        laws: dict[str, Any] = {
            "rough": lambda a, b, at: dirichlets.rough(shapes(mechanism, a), shapes(mechanism, b), at),
            "truths": lambda a, b, at: dirichlets.divergences(shapes(mechanism, a), shapes(mechanism, b), at),
        }
    elif isinstance(mechanism, Gaussian):
        laws = {
            "rough": partial(normal_rough, sigma=mechanism.sigma),
            "truths": partial(normal_truths, sigma=mechanism.sigma),
        }
    else:
        laws = {
            "rough": laplace_rough,
            "truths": partial(laplace_truths, scale=mechanism.scale),
            "loss": partial(laplace_loss, scale=mechanism.scale),
        }
    return Study(
        mechanism=mechanism,
        adjacency=adjacency,
        value=partial(vector_in, domain=accepted),
        near=partial(near_vector, domain=accepted),
        edit=edit,
        **laws,
        **rest,
    )


def _exchanged(rng: np.random.Generator, vector: Vector, *, mass: float, domain: Simplex) -> Vector | None:
    return exchange(rng, vector, mass, domain)


def _moved(rng: np.random.Generator, vector: Vector, *, distance: float, domain: Simplex) -> Vector | None:
    return move(rng, vector, distance, domain)


_EXCHANGE = Transfer(0.05)
_SOME = Simplex(5, floor=0.08, protected=(0, 1, 3), slack=0.1)

VECTORS = (
    vector_study(
        Dirichlet(20.0, Simplex(5, floor=0.08)),
        _EXCHANGE,
        name="Dirichlet, Transfer",
        epsilons=(0.0, 0.5, 2.0),
    ),
    vector_study(
        Dirichlet(40.0, Simplex(4, floor=0.08), smooth=True),
        _EXCHANGE,
        name="Dirichlet smoothed, Transfer",
        epsilons=(0.0, 0.5, 2.0),
    ),
    vector_study(
        Dirichlet(20.0, _SOME), _EXCHANGE, name="Dirichlet with a slack, Transfer", epsilons=(0.0, 0.5, 2.0)
    ),
    vector_study(
        Dirichlet(20.0, Simplex(2, floor=0.1)),
        _EXCHANGE,
        name="Dirichlet of two entries, Transfer",
        epsilons=(0.0, 0.5, 1.0),
    ),
    vector_study(
        Gaussian(0.1, Simplex(4), onto="normalisation"),
        _EXCHANGE,
        name="Gaussian, Transfer",
        epsilons=(0.0, 0.3, 1.0),
    ),
    vector_study(
        Laplace(0.1, Simplex(4)),
        _EXCHANGE,
        name="Laplace, Transfer",
        epsilons=(0.0, 0.5),
        reach=0.7,
        why=PROJECTED,
    ),
    vector_study(
        Dirichlet(20.0, Simplex(4, floor=0.08)),
        L1(0.1),
        name="Dirichlet, L1",
        epsilons=(0.0, 0.5),
    ),
    vector_study(
        Dirichlet(2.0, Simplex(4, floor=0.05)),
        L1(0.1),
        name="Dirichlet of small shapes, L1",
        epsilons=(0.0, 0.5),
        reach=0.25,
        why=SPREAD,
    ),
    vector_study(
        Laplace(0.1, Simplex(4)),
        L1(0.1),
        name="Laplace, L1",
        epsilons=(0.0, 0.5),
        reach=0.7,
        why=PROJECTED,
    ),
    vector_study(Gaussian(0.1, Simplex(4)), L1(0.1), name="Gaussian, L1", epsilons=(0.0, 0.3, 1.0)),
)
