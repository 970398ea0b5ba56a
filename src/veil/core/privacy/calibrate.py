"""The largest parameter that is still safe."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from veil.core.checks import delta_of, real, within
from veil.core.errors import CannotCalibrate, InvalidArgument, VeilError
from veil.core.numerics.rounding import float_below, log_margin, probability_above, safe_edge, stated
from veil.core.privacy.profile import PrivacyProfile


class HasProfile(Protocol):
    def profile(self, adjacency: Any = None) -> PrivacyProfile: ...


M = TypeVar("M", bound=HasProfile)

_STEP = 8.0
_SMALLEST, _LARGEST = 1e-18, 1e18


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
    target = float_below(stated(real("epsilon", epsilon)))
    delta = delta_of(delta)
    if delta == 1.0:
        raise InvalidArgument(
            "delta", expected="a number below 1", found="1", hint="At 1 nothing is promised."
        )
    if target < 0.0 or (target == 0.0 and delta == 0.0):
        raise InvalidArgument("epsilon", expected="a positive number", found=f"{target:g}")
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
