"""Ways to release a doubly stochastic matrix, at equal privacy, on public typical matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import veil
from veil.errors import CannotCalibrate
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.mechanisms.doubly_stochastic import DoublyStochastic
from veil.matrices.samplers.birkhoff import project_birkhoff
from veil.vectors.projection import project

Floats = NDArray[np.float64]
Sampler = Callable[[Floats, np.random.Generator, int], Floats]

DELTA = 1e-6
SIZES, MASSES, EPSILONS = (3, 10, 30), (0.01, 0.05), (0.5, 1.0, 2.0, 5.0)
DRAWS = {3: 2000, 10: 300, 30: 60}
# The floor of a row-wise Dirichlet release as a part of 1/size; the best one is taken.
FLOORS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95)


def sinkhorn(matrices: Floats, *, rounds: int = 300) -> Floats:
    """Rows and columns divided by their sums in turn: the nearest matrix in relative entropy."""
    scaled = np.maximum(matrices, 1e-30)
    for _ in range(rounds):
        scaled = scaled / scaled.sum(axis=-1, keepdims=True)
        scaled = scaled / scaled.sum(axis=-2, keepdims=True)
    return scaled


def typical(size: int) -> dict[str, Floats]:
    """Public matrices: spread out, nearly one to one, at random, and in two blocks."""
    rng = np.random.default_rng(0)
    permutation = np.eye(size)[rng.permutation(size)]
    half = np.arange(size) < size // 2
    same = (half[:, None] == half[None, :]).astype(np.float64)
    block = 0.9 * same / same.sum(axis=1, keepdims=True) + 0.1 / size
    return {
        "uniform": np.full((size, size), 1.0 / size),
        "near-permutation": 0.9 * permutation + 0.1 / size,
        "gamma": sinkhorn(rng.gamma(0.5, size=(size, size)), rounds=5000),
        "block": block,
    }


def _release(mechanism: DoublyStochastic, truth: Floats, rng: np.random.Generator, draws: int) -> Floats:
    drawn: Floats = mechanism.sample(truth, rng=rng, size=draws)
    return drawn


def _at_rate(size: int, noise: str, rate: float) -> DoublyStochastic:
    return DoublyStochastic(1.0 / rate, size, noise=noise)


def ours(size: int, mass: float, epsilon: float, *, noise: str) -> Sampler:
    """DoublyStochastic at the edge of the budget."""
    factory = partial(_at_rate, size, noise)
    return partial(_release, veil.calibrate(factory, Rectangle(mass), epsilon=epsilon, delta=DELTA))


def every_entry(size: int, mass: float, epsilon: float) -> Sampler:
    """Independent Laplace noise on every entry."""

    def sampler(truth: Floats, rng: np.random.Generator, draws: int) -> Floats:
        return project_birkhoff(truth + rng.laplace(0.0, 4.0 * mass / epsilon, (draws, size, size)))

    return sampler


def _zero_sum(rng: np.random.Generator, scale: float, shape: tuple[int, int, int]) -> Floats:
    """The noise of `sample_zero_sum_rows`, in floats."""
    ones = np.ones(shape[2])
    totals = rng.gamma(2.0 * shape[2] - 1.0, 0.5 * scale, (*shape[:2], 1))
    drawn: Floats = totals * (rng.dirichlet(ones, shape[:2]) - rng.dirichlet(ones, shape[:2]))
    return drawn


def rows_alone(size: int, mass: float, epsilon: float) -> Sampler:
    """The same noise, brought back row by row: stochastic, not doubly."""

    def sampler(truth: Floats, rng: np.random.Generator, draws: int) -> Floats:
        return project(truth + _zero_sum(rng, 4.0 * mass / epsilon, (draws, size, size)))

    return sampler


def columns_too(size: int, mass: float, epsilon: float) -> Sampler:
    """Laplace noise with zero row and column sums, by rejection; hopeless beyond four rows."""

    def sampler(truth: Floats, rng: np.random.Generator, draws: int) -> Floats:
        scale, found = 4.0 * mass / epsilon, np.empty((0, size, size))
        while len(found) < draws:
            rows = _zero_sum(rng, scale, (20 * draws, size - 1, size))
            last = -rows.sum(axis=1, keepdims=True)
            kept = rng.random(20 * draws) < np.exp(-np.abs(last).sum(axis=(1, 2)) / scale)
            found = np.concatenate([found, np.concatenate([rows, last], axis=1)[kept]])
        return project_birkhoff(truth + found[:draws])

    return sampler


class TwoRows:
    """Row-wise Dirichlet releases; two rows of a rectangle change."""

    def __init__(self, size: int, floor: float, k: float) -> None:
        self.rows = veil.vectors.Dirichlet(k, veil.vectors.Simplex(size, floor=floor), smooth=True)

    def profile(self, adjacency: Any = None) -> veil.PrivacyProfile:
        return self.rows.profile(adjacency).repeat(2)


@cache
def dirichlets(size: int, mass: float, epsilon: float) -> tuple[veil.vectors.Dirichlet, ...]:
    """One release for each floor that reaches the budget."""
    found = []
    for part in FLOORS:
        try:
            best = veil.calibrate(
                partial(TwoRows, size, part / size),
                veil.vectors.Transfer(mass),
                epsilon=epsilon,
                delta=DELTA,
                relative=1e-2,
            )
        except CannotCalibrate:
            continue
        found.append(best.rows)
    return tuple(found)


def dirichlet(size: int, mass: float, epsilon: float, *, onto: Callable[[Floats], Floats]) -> Sampler | None:
    """The row-wise Dirichlet release whose floor is best on average over the typical matrices."""

    def sampler(rows: veil.vectors.Dirichlet, truth: Floats, rng: np.random.Generator, draws: int) -> Floats:
        return onto(np.asarray(rows.sample(truth, rng=rng, size=draws)))

    candidates = [partial(sampler, rows) for rows in dirichlets(size, mass, epsilon)]
    if not candidates:
        return None
    return min(candidates, key=lambda one: np.mean([errors(one, t, 40)[0] for t in typical(size).values()]))


def errors(sampler: Sampler, truth: Floats, draws: int) -> tuple[float, float]:
    """The mean total variation error of a row (half its L1 error) and the mean Frobenius error."""
    off = sampler(truth, np.random.default_rng(1), draws) - truth
    frobenius = np.sqrt((off**2).sum(axis=(1, 2))).mean()
    return 0.5 * float(np.abs(off).sum(axis=2).mean()), float(frobenius)


def nothing(size: int, mass: float, epsilon: float) -> Sampler:
    """The uniform matrix, whatever the truth."""
    return lambda truth, rng, draws: np.full((draws, size, size), 1.0 / size)


WAYS: dict[str, Callable[[int, float, float], Sampler | None]] = {
    "Laplace": partial(ours, noise="laplace"),
    "Gaussian": partial(ours, noise="gaussian"),
    "every entry": every_entry,
    "rows alone": rows_alone,
    "columns too": columns_too,
    "Dirichlet": partial(dirichlet, onto=project_birkhoff),
    "Sinkhorn": partial(dirichlet, onto=sinkhorn),
    "nothing": nothing,
}


def _row(size: int, mass: float, epsilon: float) -> dict[str, dict[str, tuple[float, float]]]:
    found = {}
    for name, make in WAYS.items():
        sampler = None if name == "columns too" and size > 3 else make(size, mass, epsilon)
        if sampler is not None:
            found[name] = {key: errors(sampler, truth, DRAWS[size]) for key, truth in typical(size).items()}
    return found


def budgets(*, each: bool) -> None:
    """Every size, mass and epsilon: means over the typical matrices, and each matrix by itself."""
    print("mean TV error of a row (Frobenius error); delta = 1e-6, two rows exchange `mass`")
    print("  n  mass  eps  matrix            " + "".join(f"{name:>16}" for name in WAYS))
    for size in SIZES:
        for mass in MASSES:
            for epsilon in EPSILONS:
                found = _row(size, mass, epsilon)
                for matrix in ("mean", *typical(size)) if each else ("mean",):
                    line = f"{size:3d} {mass:5.2f} {epsilon:4.1f}  {matrix:<18}"
                    for name in WAYS:
                        line += f"{_cell(found.get(name), matrix):>16}"
                    print(line, flush=True)


def _cell(found: dict[str, tuple[float, float]] | None, matrix: str) -> str:
    if found is None:
        return "-"
    tv, frobenius = np.mean(list(found.values()), axis=0) if matrix == "mean" else found[matrix]
    return f"{tv:.4f} ({frobenius:.3f})"


def many_rows() -> None:
    """Laplace against Gaussian noise as more rows change."""
    print("scale of the noise (mean TV error) as more rows change; n = 10, mass 0.01")
    for epsilon in (1.0, 5.0):
        for changed in (2, 3, 5, 7, 10):
            line = f"eps {epsilon:3.1f}  rows {changed:2d}"
            for noise in ("laplace", "gaussian"):
                move = Rows(changed, veil.vectors.Transfer(0.01))
                best = veil.calibrate(partial(_at_rate, 10, noise), move, epsilon=epsilon, delta=DELTA)
                tv = np.mean([errors(partial(_release, best), t, 300)[0] for t in typical(10).values()])
                line += f"   {noise} {best.scale:.4f} ({tv:.4f})"
            print(line)


def run(*, each: bool = False) -> None:
    """Print the tables of decision 10, on request with every typical matrix by itself."""
    many_rows()
    budgets(each=each)
