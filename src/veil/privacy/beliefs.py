"""What a privacy loss means: how far a reader's belief can move."""

from __future__ import annotations

import math

# What somebody may believe beforehand.
BEFORE = (0.01, 0.1, 0.5, 0.9)


def beliefs(epsilon: float) -> list[tuple[float, float]]:
    """A belief before the release, and the largest that it can become.

    By Bayes' rule the odds grow by the ratio of the two probabilities of what is read, at most e^epsilon.

    >>> [(before, round(after, 3)) for before, after in beliefs(1.0)]
    [(0.01, 0.027), (0.1, 0.232), (0.5, 0.731), (0.9, 0.961)]
    """
    factor = math.exp(min(epsilon, 700.0))
    return [(before, before * factor / (1.0 - before + before * factor)) for before in BEFORE]
