"""Mechanisms for vectors and counts, calibrated to a budget and tuned on public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, delta_of, integer, truth, within
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.mechanism import Mechanism
from veil.core.numerics.rounding import least_point
from veil.core.privacy.profile import calibrate
from veil.vectors.accuracy import Typical, expected_absolute_deviation, typical_values
from veil.vectors.change import VectorChange
from veil.vectors.counts import Contributions, Counts, Records
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.projection import ONTO
from veil.vectors.simplex import Simplex

FOR_VECTORS = ("dirichlet", "laplace", "gaussian")
FOR_COUNTS = ("dirichlet", "geometric", "discrete-gaussian")
# Those that have a finite epsilon at delta = 0.
PURE = ("laplace", "geometric")
# Those that have no form in floats.
ALWAYS_EXACT = ("geometric", "discrete-gaussian")
_ADDITIVE: dict[str, Callable[..., Mechanism]] = {
    "laplace": Laplace,
    "gaussian": Gaussian,
    "geometric": GeometricCounts,
    "discrete-gaussian": DiscreteGaussianCounts,
}
# How near to the edge mechanisms are calibrated that are only compared with one another.
_ROUGH = 1e-3
# Numbers drawn to choose the way back from noisy numbers. The usual one is seldom far from the best, whatever
# the data is; so another one must be better than it by more than chance.
_TRIALS, _TRIAL_SEED, _USUAL, _MARGIN = 16_000, 2_031, "shrinkage", 0.98


def names_for(adjacency: Adjacency) -> tuple[str, ...]:
    """The mechanisms that cover this adjacency."""
    if not isinstance(adjacency, (Records, Contributions, VectorChange)):
        expected = "vectors.Records, vectors.Contributions, vectors.Transfer or vectors.L1"
        raise InvalidArgument("adjacency", expected=expected, found=type(adjacency).__name__)
    return FOR_VECTORS if isinstance(adjacency, VectorChange) else FOR_COUNTS


def calibrated(
    name: str,
    adjacency: Adjacency,
    *,
    size: int,
    epsilon: float,
    delta: float = 0.0,
    typical: Any = None,
    records: int | None = None,
    floor: float | None = None,
    smooth: bool = True,
    exact: bool = True,
    draws: int | None = None,
) -> Mechanism:
    """The named mechanism at the largest safe parameter, everything else chosen for least error.

    name: "dirichlet", "laplace", "gaussian" for vectors under `Transfer` or `L1`; "dirichlet", "geometric",
        "discrete-gaussian" for counts under `Records`.
    typical: a public vector (or counts) for which the error is made small; if None, a fixed spread of
        vectors over the whole simplex.
    records: the public (or guessed) number of records behind counts.
    floor, smooth: for "dirichlet" on vectors; the floor is chosen for least error if None.
    The way back from noisy numbers to a vector is chosen for least error as well.
    exact: with False, "dirichlet", "laplace" and "gaussian" draw floats, and assume real arithmetic.
    draws: how often "dirichlet" draws from an urn; if None, it draws the rounded vector instead.

    >>> from veil import vectors
    >>> replaced = vectors.Records("replace")
    >>> mechanism = vectors.calibrated(
    ...     "dirichlet", replaced, size=5, epsilon=1.0, delta=1e-6, records=98)
    >>> mechanism.profile(replaced).delta(1.0) <= 1e-6
    True
    """
    size = integer("size", size, least=2)
    epsilon = within("epsilon", epsilon, 0.0, 1e5, expected="a number between 0 and 100000")
    smooth = truth("smooth", smooth)
    choice("mechanism", name, names_for(adjacency))
    check_exact(name, exact, draws)
    if delta_of(delta) == 0.0 and name not in PURE:
        raise needs_delta(name)
    fit = partial(calibrate, adjacency=adjacency, epsilon=epsilon, delta=delta)
    of_vectors = isinstance(adjacency, VectorChange)
    public = typical_values(adjacency, size, typical, records)
    if name != "dirichlet":
        if not of_vectors:
            return with_best_way_back(fit(lambda rate: _ADDITIVE[name](1.0 / rate, size)), public)
        noisy = fit(lambda rate: _ADDITIVE[name](1.0 / rate, Simplex(size), exact=exact))
        return with_best_way_back(noisy, public)
    if of_vectors:
        if floor is None and not smooth:
            raise InvalidArgument("floor", expected="a floor, without smoothing", found="None")
        if floor is None:
            low, high = 1e-6 / size, (1.0 - 1e-6) / size
            floor = _best(_Form(size, smooth), adjacency, epsilon, delta, _Values(public), low, high)
        domain = Simplex(size, floor=floor)
        return fit(partial(Dirichlet, domain=domain, smooth=smooth, exact=exact, draws=draws))
    prior = _best(_Form(size), adjacency, epsilon, delta, _Values(public), 1e-3, 1e7)
    # A prior of a few digits reads better and is as good.
    counts: DirichletCounts = fit(partial(DirichletCounts, prior=float(f"{prior:.3g}"), size=size))
    # The profile is the same.
    return replace(counts, exact=exact, draws=draws)


def with_best_way_back(mechanism: Any, typical: Typical) -> Mechanism:
    """The mechanism with the way from its noisy numbers to a vector (`onto`) that has the least error here.

    The mean total variation over the typical values, by simulation with the same noise for all.
    """
    made: Mechanism = replace(mechanism, onto=best_way_back(mean_way_back_errors(mechanism, typical)))
    return made


def best_way_back(errors: dict[str, float]) -> str:
    """The way of least error; shrinkage, unless another is better by two hundredths."""
    best = min(errors, key=errors.__getitem__)
    return best if errors[best] < _MARGIN * errors[_USUAL] else _USUAL


def mean_way_back_errors(mechanism: Any, typical: Typical) -> dict[str, float]:
    """The mean total variation of each way back over the typical values, the same for the same question."""
    rng = np.random.default_rng(_TRIAL_SEED)
    draws = int(np.clip(_TRIALS // (len(typical) * typical[0].size), 2, 500))
    errors = dict.fromkeys(ONTO, 0.0)
    ways = {onto: replace(mechanism, onto=onto) for onto in ONTO}
    for value in typical:
        noisy = mechanism.simulate_noisy(value, rng=rng, size=draws)
        truth = np.asarray(mechanism.validate(value), dtype=np.float64)
        truth = truth / truth.sum()
        for onto, way in ways.items():
            gaps = np.abs(way.to_vector(noisy) - truth).sum(axis=-1)
            errors[onto] += 0.5 * float(gaps.mean()) / len(typical)
    return errors


def check_exact(name: str, exact: bool, draws: int | None) -> None:
    """Refuse float draws, or draws from an urn, of a mechanism that has none."""
    if not truth("exact", exact) and name in ALWAYS_EXACT:
        expected = "dirichlet, laplace or gaussian with False"
        raise InvalidArgument("exact", expected=expected, found=f"{name}, which is always exact")
    if draws is not None and not (exact and name == "dirichlet"):
        raise InvalidArgument("draws", expected="an exact dirichlet with it", found="another")


def unused_delta(name: str, delta: float) -> tuple[str, ...]:
    """What to say where `auto` takes a mechanism that has no use for the delta that was allowed."""
    if name not in PURE or delta == 0.0:
        return ()
    return (f"{name} has pure privacy: the delta of {delta:g} is not used and not charged",)


def needs_delta(name: str) -> CannotCalibrate:
    """The error for delta = 0 of a mechanism that has no finite epsilon there."""
    return CannotCalibrate(f"delta: {name} needs a delta above 0, found 0.")


@dataclass(frozen=True)
class _Form:
    """The Dirichlet mechanism with a floor (smooth: vectors), or a prior (None: counts), left to choose."""

    size: int
    smooth: bool | None = None

    def __call__(self, at: float) -> Callable[[float], Mechanism]:
        if self.smooth is None:
            return partial(DirichletCounts, prior=at, size=self.size)
        return partial(Dirichlet, domain=Simplex(self.size, floor=at), smooth=self.smooth)


@dataclass(frozen=True)
class _Values:
    """Typical values that are equal where all their numbers are."""

    values: Typical = field(compare=False)
    content: tuple[bytes, ...] = field(init=False)

    def __post_init__(self) -> None:
        content = tuple(np.asarray(value, dtype=np.float64).tobytes() for value in self.values)
        object.__setattr__(self, "content", content)


# Planned, chosen, compared in a report: the same question comes several times, and takes half a second.
@lru_cache(maxsize=128)
def _best(
    form: _Form,
    adjacency: Adjacency,
    epsilon: float,
    delta: float,
    typical: _Values,
    low: float,
    high: float,
) -> float:
    """The floor or prior of least error, searched on a logarithmic scale.

    form: for each, what makes the mechanism of the number that is calibrated.
    """
    fit = partial(calibrate, adjacency=adjacency, epsilon=epsilon, delta=delta)

    def cost(log_x: float) -> float:
        """The expected L1 error; infinite where the budget cannot be met."""
        try:
            mechanism: Any = fit(form(math.exp(log_x)), relative=_ROUGH)
        except CannotCalibrate:
            return math.inf
        errors = []
        for value in typical.values:
            valid = mechanism.validate(value)
            shapes, true = mechanism.float_shapes(valid), valid
            if isinstance(mechanism, DirichletCounts):
                true = Counts(valid.size).shares(valid)
            errors.append(expected_absolute_deviation(shapes, float(shapes.sum()) - shapes, true).sum())
        return float(np.mean(errors))

    # Near the upper end (the floor's ceiling, 1/size) a factor of four would step over the best.
    near = [math.log(low + share * (high - low)) for share in (0.4, 0.55, 0.7, 0.8, 0.9, 0.96)]
    grid = sorted({*np.linspace(math.log(low), math.log(high), 11), *near})
    costs = [cost(x) for x in grid]
    best = min(range(len(grid)), key=costs.__getitem__)
    if costs[best] == math.inf:
        raise CannotCalibrate(
            "no setting of the Dirichlet mechanism gives this epsilon and delta here. Ask for a larger "
            "epsilon or delta, or let less change between neighbours."
        )
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined, its_cost = least_point(cost, left, right, steps=8)
    return math.exp(refined if its_cost <= costs[best] else grid[best])
