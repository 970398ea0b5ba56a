"""Lengths of sequences in public bins, and the law of lengths behind a noisy histogram of them.

First the users behind the noisy counts, along a curve that is smooth but for leaps, and where it ends:
`veil.chains.numerics.length_curve`. Beyond, where somebody is not very likely to be left, there is nothing;
without an end, the noise in the bins of a million states would outweigh every real transition. Where nobody
stands out of the noise at all, the lengths are taken to be what they usually are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.numerics.length_curve import length_curve
from veil.core.checks import integer
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Floats, Noise

_SINGLE, _GROWTH, _LONGEST = 100, 1.15, 1_000_000
# How likely it must be that anybody is in a bin or beyond for the law to go on, and for there to be a law.
# More than likely: one user of ten thousand states, who is not there, outweighs a thousand who are.
_LIKELY = 0.8
# The mean of the law of lengths, a geometric one, where nothing is known; see also `strata`.
_USUAL_LENGTH = 5.0
# Within a bin, at most so steep.
_STEEPEST = 10.0
# A length that stands for the last, open bin is this much above its least.
_OPEN = 1.15


@dataclass(frozen=True, slots=True)
class LengthBins:
    """Bins of lengths (of a sequence, in states), by the least length of each; the last has no end.

    >>> bins = LengthBins((1, 2, 5))
    >>> bins.place([1, 2, 4, 5, 900]).tolist()
    [0, 1, 1, 2, 2]
    """

    least: tuple[int, ...]
    name: ClassVar[str] = "LengthBins"

    def __post_init__(self) -> None:
        least = tuple(integer("bins", bound, least=1) for bound in self.least)
        if not least or least[0] != 1 or any(b <= a for a, b in pairwise(least)):
            raise InvalidArgument("bins", expected="increasing least lengths from 1 on", found="others")
        object.__setattr__(self, "least", least)

    @classmethod
    def default(cls) -> LengthBins:
        """Every length to 100 on its own, then ever wider bins up to a million and beyond."""
        bounds = list(range(1, _SINGLE + 1))
        while bounds[-1] < _LONGEST:
            bounds.append(max(bounds[-1] + 1, round(bounds[-1] * _GROWTH)))
        return cls(tuple(bounds))

    def __len__(self) -> int:
        return len(self.least)

    def place(self, lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.intp]:
        """The number of the bin of each length."""
        return np.searchsorted(self.least, np.asarray(lengths), side="right") - 1


def smoothed_lengths(noisy: Sequence[int] | NDArray[Any], noise: Noise, least: Sequence[int]) -> Floats:
    """Estimated users by bin, from noisy ones. least: the least length of each bin; the last has no end.

    >>> users = smoothed_lengths([5210, 2480, 1233, 610, -3, 4, -2], Noise("geometric", 3.0), range(1, 8))
    >>> users.round(-1).tolist()
    [5210.0, 2480.0, 1230.0, 610.0, 0.0, 0.0, 0.0]
    """
    values = np.asarray(noisy, dtype=np.float64)
    starts = np.asarray(least, dtype=np.float64)
    widths = _widths(starts)
    curve = length_curve(values, noise, starts + 0.5 * (widths - 1.0), widths)
    if curve.anybody[0] < _LIKELY:
        return _usual(values, noise, starts, widths)
    end = int(np.flatnonzero(curve.anybody >= _LIKELY)[-1]) + 1
    answer = np.zeros(len(values))
    answer[:end] = curve.expected[:end]
    return answer


def spread_lengths(users: Floats, least: Sequence[int]) -> Floats:
    """Users by exact length (the first entry is length 0) of users by bin.

    Within a bin they follow the power of the length that leads from its neighbours' densities.

    >>> spread_lengths(np.array([8.0, 6.0]), (1, 3)).tolist()
    [0.0, 4.0, 4.0, 6.0]
    """
    starts = np.asarray(least, dtype=np.float64)
    last = int(np.flatnonzero(users > 0.0)[-1]) if (users > 0.0).any() else 0
    widths = _widths(starts).astype(np.int64)
    answer = np.zeros(int(starts[last]) + int(widths[last]))
    with np.errstate(divide="ignore"):
        densities = np.log(users / widths)
    middles = np.log(starts + 0.5 * (widths - 1.0))
    for at in range(last + 1):
        lengths = np.arange(int(starts[at]), int(starts[at]) + int(widths[at]))
        power = 0.0
        if 0 < at < last and widths[at] > 1 and np.isfinite(densities[at - 1 : at + 2]).all():
            power = (densities[at + 1] - densities[at - 1]) / (middles[at + 1] - middles[at - 1])
        weights = (lengths / lengths[0]) ** np.clip(power, -_STEEPEST, _STEEPEST)
        answer[lengths] = users[at] * weights / weights.sum()
    return answer


def _widths(starts: Floats) -> Floats:
    last = max(1.0, np.rint(starts[-1] * (_OPEN - 1.0)))
    return np.append(np.diff(starts), last)


def _usual(values: Floats, noise: Noise, starts: Floats, widths: Floats) -> Floats:
    """Lengths as they usually are, of as many users as the noisy counts of those lengths come to."""
    chances = (1.0 - 1.0 / _USUAL_LENGTH) ** (starts - 1.0)
    shares = chances * -np.expm1(widths * np.log1p(-1.0 / _USUAL_LENGTH))
    shares[starts > 10.0 * _USUAL_LENGTH] = 0.0
    # The weights that tell a sum of this shape best from the noise.
    users = float((values * shares).sum() / (shares**2).sum())
    return np.asarray(max(users, noise.deviation) * shares / shares.sum())
