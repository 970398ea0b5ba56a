"""Extreme parameters, as a crafted file may hold them, take a bounded number of operations."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from veil.core.numerics.balls import Ball
from veil.core.numerics.densities import LogConcaveDensity, LogGamma, LogitBeta, StandardNormal
from veil.core.numerics.tilted import HalfLine
from veil.core.privacy.pairs import NormalPair

_MOST = 20_000
_TINY = (5e-324, 1e-323, 1e-310, 2.3e-308, 1e-300, 1e-100, 1e-30, 1.0, 1e30, 1e300)
_DENSITIES = (StandardNormal(), LogitBeta(2.0, 3.0), LogitBeta(1e-30, 1e-30), LogGamma(1e-3))


class TooMuchWork(BaseException):
    """Not an error that anything would catch."""


@dataclass
class Counted:
    """A density that counts how often its slope is asked for."""

    of: LogConcaveDensity
    asked: int = field(default=0)

    def __getattr__(self, name: str) -> object:
        return getattr(self.of, name)

    def slope(self, w: float) -> float:
        self.asked += 1
        if self.asked > _MOST:
            raise TooMuchWork
        return self.of.slope(w)


@pytest.mark.parametrize("tilt", _TINY)
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-300, 1.0])
@pytest.mark.parametrize(
    "density", [StandardNormal(), LogitBeta(2.0, 3.0), LogitBeta(1e-30, 1e-30), LogGamma(1e-3)]
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_peak_of_an_integral_is_found_or_given_up(
    density: LogConcaveDensity, epsilon: float, tilt: float, side: int
) -> None:
    counted = Counted(density)
    HalfLine.beyond(counted, epsilon, tilt=tilt, zero=Ball(0.0), side=side).breaks()  # type: ignore[arg-type]
    assert counted.asked <= _MOST


@pytest.mark.parametrize("shift", [5e-324, 1e-310, 1e-300])
def test_a_shift_that_is_nearly_nothing_reveals_nearly_nothing(shift: float) -> None:
    assert 0.0 <= NormalPair(shift).delta(0.0) < 1e-290
