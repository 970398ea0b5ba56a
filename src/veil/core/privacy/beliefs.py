"""What a privacy loss means: how far a reader's belief can move."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal

from veil.core.privacy.profile import PrivacyProfile

# What somebody may believe beforehand.
BEFORE = (0.01, 0.1, 0.5, 0.9)


def rounded_up(value: float, digits: int = 4) -> str:
    """A number that is a bound, in so many digits, never less than it is.

    >>> rounded_up(26.895), rounded_up(99.9999), rounded_up(1.0), rounded_up(0.0)
    ('26.9', '100', '1', '0')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    exact = Decimal(value)
    up = exact.quantize(Decimal(1).scaleb(exact.adjusted() + 1 - digits), rounding=ROUND_CEILING)
    # A float that was meant to be a short decimal is that decimal, not the next one.
    near = float(f"{value:.{digits}g}")
    return f"{near:.{digits}g}" if abs(near - value) <= 1e-13 * abs(value) else f"{float(up):.{digits}g}"


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
