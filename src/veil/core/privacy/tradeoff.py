"""The trade-off function: what the best attacker's test can reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from veil.core.checks import within
from veil.core.numerics.search import least_point

if TYPE_CHECKING:
    from veil.core.privacy.profile import PrivacyProfile

_GRID = 129


def least_false_negative(profile: PrivacyProfile, false_positive: float) -> float:
    """max over epsilon of the lines that (epsilon, delta) privacy imposes, so not above the truth.

    (epsilon, delta) imposes 1 - delta - e^epsilon x and e^-epsilon (1 - delta - x) at false-positive
    rate x. The supremum over all epsilon is the trade-off function of the symmetrised pair; any
    finite search gives a value that is not above it, which is the side that never overstates privacy.
    """
    x = within("false_positive", false_positive, 0.0, 1.0, expected="a rate between 0 and 1")

    def line(epsilon: float) -> float:
        free = 1.0 - profile.delta(epsilon)
        return max(free - math.exp(epsilon) * x, math.exp(-epsilon) * (free - x), 0.0)

    top = min(profile.epsilon(1e-12), 700.0)
    points = [top * (i / (_GRID - 1)) ** 2 for i in range(_GRID)]
    values = [line(epsilon) for epsilon in points]
    best = max(range(_GRID), key=values.__getitem__)
    low, high = points[max(best - 1, 0)], points[min(best + 1, _GRID - 1)]
    _, refined = least_point(lambda epsilon: -line(epsilon), low, high, steps=40)
    return max(values[best], -refined)
