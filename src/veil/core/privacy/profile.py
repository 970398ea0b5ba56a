"""The privacy profile: delta as a function of epsilon, what is read off from it, and calibration to it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import delta_of, integer, within
from veil.core.errors import CannotCalibrate, InvalidArgument, NoGuarantee, VeilError
from veil.core.numerics.rounding import (
    charged_below,
    float_above,
    least_point,
    log_margin,
    probability_above,
    safe_edge,
)

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from veil.core.privacy.rigorous import Enclosure

Kind = Literal["exact", "upper bound"]
LogDelta = Callable[[float], float]

_LARGEST_EPSILON = 1e18
# Epsilons at which the lines of a trade-off function are compared.
_GRID = 129
# Of the numbers that a calibration tries.
_STEP, _SMALLEST, _LARGEST = 8.0, 1e-18, 1e18
# The functions of another machine differ in the last digits. What is found for a delta holds a hair below it,
# so that it is found to hold everywhere.
_ELSEWHERE = 1.0 - 2.0**-40
# What somebody may believe before a release.
BEFORE = (0.01, 0.1, 0.5, 0.9)


def order_of(value: float) -> float:
    """The order of a Renyi divergence: a number above 1."""
    order = within("order", value, expected="a number above 1")
    if order <= 1.0:
        raise InvalidArgument("order", expected="a number above 1", found=f"{order:g}")
    return order


class PrivacyProfile(ABC):
    """delta(epsilon) for the worst pair of neighbours, never below the truth.

    kind: "exact" if no smaller curve holds for all neighbours (but for rounding), else "upper bound".
    """

    kind: Kind = "exact"
    pure_epsilon: float = math.inf
    """The epsilon from which on delta is zero; infinite if there is none."""

    @property
    def grid_points(self) -> int:
        """How finely its losses are cut up for a composition; fewer is quicker, looser and as safe."""
        # At 1,000 the epsilon of a composition is within 3e-5 of itself of what 8,000 give.
        return 1_000

    @abstractmethod
    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        """log delta(epsilon) of the worst pair (P, Q) and of (Q, P), not below the truth.

        The pair dominates every pair of neighbours, so the two curves may be composed.
        """

    def delta(self, epsilon: float) -> float:
        """The smallest delta that holds at this epsilon."""
        epsilon = within("epsilon", epsilon, 0.0, expected="a number of at least 0", finite=False)
        if epsilon >= self.pure_epsilon or epsilon == math.inf:
            return 0.0
        return probability_above(self._log_delta(epsilon))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon that holds at this delta; infinite if none does."""
        delta = delta_of(delta)
        if delta == 0.0:
            return self.pure_epsilon
        if delta == 1.0:
            return 0.0
        # The smallest of all floats has none below it but 0.
        delta = delta * _ELSEWHERE or delta
        if self.delta(0.0) <= delta:
            return 0.0
        log_target = math.log(delta)

        def margin(epsilon: float) -> float:
            if epsilon >= self.pure_epsilon:
                return 0.0
            return log_target - self.likely_log_delta(epsilon)

        high = min(1.0, self.pure_epsilon)
        while margin(high) < 0.0:
            high *= 2.0
            if high > _LARGEST_EPSILON:
                return math.inf
        epsilon = safe_edge(margin, safe=high, unsafe=0.0)
        # The search may have used a quicker curve and logs; what is returned is checked as printed.
        step = 1e-13
        while self._as_charged(epsilon) > delta:
            epsilon *= 1.0 + step
            step *= 2.0
        # The search stops a hair on the safe side; where the plain decimal holds too, it is the answer,
        # so that what was calibrated to 2.255 is charged 2.255.
        plain = float(f"{epsilon:.12g}")
        return plain if plain < epsilon and self._as_charged(plain) <= delta else epsilon

    def covers(self, epsilon: float, delta: float) -> bool:
        """Whether the release is known to be (epsilon, delta)-private, also with epsilon as it is written."""
        epsilon = within("epsilon", epsilon, 0.0, expected="a number of at least 0", finite=False)
        return self._as_charged(epsilon) <= delta_of(delta)

    def _as_charged(self, epsilon: float) -> float:
        """delta at what is charged for this epsilon: the decimal that it is written as may be below it."""
        if epsilon >= self.pure_epsilon or epsilon == math.inf:
            return 0.0
        return self.delta(charged_below(epsilon))

    def _log_delta(self, epsilon: float) -> float:
        return max(direction(epsilon) for direction in set(self.log_deltas()))

    def likely_log_delta(self, epsilon: float) -> float:
        """What log delta very probably is: cheap, for searches that check their answer with `delta`."""
        return self._log_delta(epsilon)

    def deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """delta in both directions at many epsilons, not below the truth; one array if they are equal."""
        directions, pure, points = self.log_deltas(), self.pure_epsilon, epsilons.tolist()
        curves = {
            direction: np.array([0.0 if x >= pure else probability_above(direction(x)) for x in points])
            for direction in set(directions)
        }
        return curves[directions[0]], curves[directions[1]]

    def likely_deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """What these very probably are: cheap, for searches only."""
        return self.deltas(epsilons)

    def reach(self, tail: float) -> float:
        """A loss that is exceeded with a probability of about `tail`: how far a grid has to go."""
        return min(self.pure_epsilon, self.epsilon(tail))

    def enclosure(self, epsilon: float) -> Enclosure | None:
        """Certified bounds around the true delta, by ball arithmetic; None where there is no such evaluation.

        Of an upper bound it is the delta of the pair that the proof uses, which is not below that of any
        neighbours. From the largest loss on, which is computed exactly and rounded up, delta is zero.
        Needs the extra "rigorous". Slow: for checks.
        """
        if epsilon < self.pure_epsilon:
            return None
        from veil.core.privacy.rigorous import NOTHING

        return NOTHING

    def rdp(self, order: float) -> float:
        """The Renyi divergence of this order (above 1) of the worst pair, where it is known."""
        raise NoGuarantee(f"no closed form of the Renyi divergence is known here (order {order:g})")

    def zcdp(self) -> float:
        """A rho: the Renyi divergence of every order is at most rho times the order (Bun, Steinke 2016).

        A loss that never exceeds epsilon has rho = epsilon^2 / 2 (their Proposition 1.4).
        """
        if not math.isfinite(self.pure_epsilon):
            raise NoGuarantee("no bound on all Renyi divergences at once (zCDP) is known here")
        return float_above(Fraction(self.pure_epsilon) ** 2 / 2)

    def tradeoff(self, false_positive: float) -> float:
        """The least false-negative rate of any test for the neighbour at this false-positive rate.

        (epsilon, delta) imposes 1 - delta - e^epsilon x and e^-epsilon (1 - delta - x) at false-positive
        rate x. The supremum over all epsilon is the trade-off function of the symmetrised pair; any
        finite search gives a value that is not above it, which is the side that never overstates privacy.
        """
        x = within("false_positive", false_positive, 0.0, 1.0, expected="a rate between 0 and 1")

        def line(epsilon: float) -> float:
            free = 1.0 - self.delta(epsilon)
            return max(free - math.exp(epsilon) * x, math.exp(-epsilon) * (free - x), 0.0)

        top = min(self.epsilon(1e-12), 700.0)
        points = [top * (i / (_GRID - 1)) ** 2 for i in range(_GRID)]
        values = [line(epsilon) for epsilon in points]
        best = max(range(_GRID), key=values.__getitem__)
        low, high = points[max(best - 1, 0)], points[min(best + 1, _GRID - 1)]
        _, refined = least_point(lambda epsilon: -line(epsilon), low, high, steps=40)
        return max(values[best], -refined)

    def pld(self, interval: float | None = None) -> PrivacyLossDistribution:
        """The privacy-loss distribution for Google's dp-accounting, discretised to the safe side."""
        from veil.core.privacy.losses import loss_distribution

        return loss_distribution(self, interval)

    def compose(self, other: PrivacyProfile) -> PrivacyProfile:
        """The profile of this release and the other one together, both fixed beforehand."""
        if not isinstance(other, PrivacyProfile):
            raise InvalidArgument("other", expected="a PrivacyProfile", found=type(other).__name__)
        from veil.core.privacy.losses import Composed

        return Composed.of((self, 1), (other, 1))

    def repeat(self, times: int) -> PrivacyProfile:
        """The profile of the same release made `times` times, fixed beforehand."""
        times = integer("times", times, least=1)
        if times == 1:
            return self
        from veil.core.privacy.losses import Composed

        return Composed.of((self, times))

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind}


class SymmetricProfile(PrivacyProfile):
    """A profile whose worst pair has the same curve in both directions."""

    @abstractmethod
    def _log_delta(self, epsilon: float) -> float:
        """log delta(epsilon), not below the truth."""

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta


class NothingRevealed(SymmetricProfile):
    """Neighbours give the same distribution: delta is zero everywhere."""

    pure_epsilon = 0.0

    def _log_delta(self, epsilon: float) -> float:
        return -math.inf

    def rdp(self, order: float) -> float:
        return 0.0


class HasProfile(Protocol):
    def profile(self, adjacency: Any = None) -> PrivacyProfile: ...


M = TypeVar("M", bound=HasProfile)


def calibrate(
    factory: Callable[[float], M],
    adjacency: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    relative: float = 1e-13,
) -> M:
    """The mechanism that the factory makes of the largest number at which it is (epsilon, delta)-private.

    factory: takes one positive number and returns a mechanism that reveals more as the number grows,
        for instance ``lambda k: veil.vectors.Dirichlet(k, domain)``.
    adjacency: what a neighbour is; None for the mechanism's own.
    relative: how near to the edge to search; a coarse search is as safe, only less accurate.

    The number that is returned has itself been checked to be safe. Where no number is safe, the
    error says so.
    """
    target = charged_below(within("epsilon", epsilon))
    delta = delta_of(delta)
    if delta == 1.0:
        raise InvalidArgument(
            "delta", expected="a number below 1", found="1", hint="At 1 nothing is promised."
        )
    if target < 0.0 or (target == 0.0 and delta == 0.0):
        raise InvalidArgument("epsilon", expected="a positive number", found=f"{target:g}")
    delta = delta * _ELSEWHERE or delta
    relative = within("relative", relative, 1e-16, 1.0, expected="a number between 1e-16 and 1")
    if not callable(factory):
        raise InvalidArgument("factory", expected="a function of one number", found=type(factory).__name__)
    hints: list[str] = []

    def margin(number: float) -> float:
        try:
            mechanism = factory(number)
            if not hasattr(mechanism, "profile"):
                found = type(mechanism).__name__
                raise CannotCalibrate(f"factory: expected a function that makes a mechanism, found {found}.")
            profile = mechanism.profile(adjacency)
        except CannotCalibrate:
            raise
        except VeilError as error:
            hints.append(str(error))
            return -math.inf
        if delta == 0.0:
            return target - profile.epsilon(0.0)
        if target >= profile.pure_epsilon:
            return math.inf
        return log_margin(delta, probability_above(profile.likely_log_delta(target)))

    start = 1.0
    if margin(start) >= 0.0:
        safe, unsafe = start, start * _STEP
        while margin(unsafe) >= 0.0:
            safe, unsafe = unsafe, unsafe * _STEP
            if unsafe > _LARGEST:
                raise CannotCalibrate(
                    f"every parameter up to {_LARGEST:g} is safe at epsilon={target:g}, delta={delta:g}: "
                    "there is no largest one."
                )
    else:
        unsafe, safe = start, start / _STEP
        while margin(safe) < 0.0:
            unsafe, safe = safe, safe / _STEP
            if safe < _SMALLEST:
                why = f" ({hints[-1]})" if hints else ""
                raise CannotCalibrate(
                    f"no parameter, however small, gives epsilon={target:g} at delta={delta:g}{why}. "
                    "Ask for a larger epsilon or delta, or let less change between neighbours; for a "
                    "Dirichlet mechanism raise the floor."
                )
    number, step = safe_edge(margin, safe=safe, unsafe=unsafe, relative=relative), 1e-12
    # The search may have used a likely curve: what is returned is checked against the proved one.
    while True:
        mechanism = factory(number)
        if mechanism.profile(adjacency).delta(target) <= delta:
            return mechanism
        number, step = number * (1.0 - step), min(0.5, 4.0 * step)


def beliefs(epsilon: float) -> list[tuple[float, float]]:
    """A belief before the release, and the largest that it can become.

    By Bayes' rule the odds grow by the ratio of the two probabilities of what is read, at most e^epsilon.

    >>> [(before, round(after, 3)) for before, after in beliefs(1.0)]
    [(0.01, 0.027), (0.1, 0.232), (0.5, 0.731), (0.9, 0.961)]
    """
    factor = math.exp(min(epsilon, 700.0))
    return [(before, before * factor / (1.0 - before + before * factor)) for before in BEFORE]


def best_guess(profile: PrivacyProfile) -> float:
    """The best chance of guessing right between two equally likely neighbours: (1 + delta(0)) / 2."""
    return 0.5 + 0.5 * profile.delta(0.0)
