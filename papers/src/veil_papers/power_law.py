"""Exponents of power laws in degree distributions (XOR paper, Section 8.4), by ranges that grow by a factor.

If the share of the nodes of degree k is in proportion to k^-gamma, then log(share) against log(k) is a line
of slope -gamma. Large degrees are rare, so shares are averaged over ranges of degrees, each wider than the
one before by the same factor, and stand at the geometric mean of their ends. The line is fitted by least
squares; ranges that hold no node are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument

_FACTOR = 1.5


class Ranges(NamedTuple):
    """Degrees, and the mean share of the nodes of a degree near there."""

    degrees: Floats
    shares: Floats


class PowerLaw(NamedTuple):
    """share = scale * k^-exponent."""

    exponent: float
    scale: float

    def at(self, degree: float) -> float:
        """The share of the nodes of this degree."""
        return float(self.scale * degree**-self.exponent)


def ranges(shares: Floats, least: int, most: int, *, factor: float = _FACTOR) -> Ranges:
    """Mean shares over ranges of the degrees least ... most, that have any nodes."""
    if not 1 <= least < most < len(shares):
        raise InvalidArgument(
            "least", expected=f"1 <= least < most < {len(shares)}", found=f"{least} to {most}"
        )
    if not factor > 1.0:
        raise InvalidArgument("factor", expected="more than 1", found=repr(factor))
    starts = [least]
    while starts[-1] <= most:
        starts.append(max(starts[-1] + 1, round(starts[-1] * factor)))
    edges = np.array([*(start for start in starts if start <= most), most + 1])
    mean = np.add.reduceat(shares[: most + 1], edges[:-1]) / np.diff(edges)
    used = mean > 0.0
    return Ranges(np.sqrt(edges[:-1] * (edges[1:] - 1.0))[used], mean[used])


def power_law(shares: Floats, least: int, most: int, *, factor: float = _FACTOR) -> PowerLaw:
    """The power law of the degrees least ... most.

    >>> shares = np.concatenate([[0.0], np.arange(1.0, 200.0) ** -2.0])
    >>> round(power_law(shares, 1, 14).exponent, 1)
    2.0
    """
    found = ranges(shares, least, most, factor=factor)
    if len(found.degrees) < 2:
        raise InvalidArgument("least", expected="two ranges with nodes", found=f"{len(found.degrees)}")
    slope, height = np.polyfit(np.log(found.degrees), np.log(found.shares), 1)
    return PowerLaw(-float(slope), float(np.exp(height)))
