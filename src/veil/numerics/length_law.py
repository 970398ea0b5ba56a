"""The law of lengths behind a noisy histogram of lengths.

Three ranges, told apart by the noisy counts alone:

- the body: each bin's count, shrunk towards the smooth curve through its neighbours as far as the noise asks
  for it (`veil.numerics.denoise`; a histogram of few sharp lengths keeps them, since the law of the factor
  between count and curve is learnt);
- the tail, from where a doubling of the length no longer holds a number of users that stands out of the
  noise: a power law, continued from the last two doublings that do, as long as the noisy counts allow;
- beyond, where that power law expects less than half a user: nothing. Without an end, the noise in the bins
  of a million states would outweigh every real transition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.numerics.denoise import Floats, Noise, posterior

# Widths of the smooth curve, in the logarithm of the length: a tenth leaves a power law as it is.
_BAND = 0.1
# By how many deviations the users of a doubling must stand out for it to be known, and once more as many
# of a single bin's: one bin of geometric noise strays further than a sum of many.
_CLEAR = 4.0
# A tail falls at least so fast that its mean exists. No faster than the square: tails level off, and where
# they do not, the noisy counts themselves say so.
_LEAST_POWER, _MOST_POWER = 1.2, 2.0
# Within a bin, at most so steep.
_STEEPEST = 10.0
_NOBODY = 0.5
# A length that stands for the last, open bin is this much above its least.
_OPEN = 1.15


def smoothed_lengths(noisy: Sequence[int] | NDArray[Any], noise: Noise, least: Sequence[int]) -> Floats:
    """Estimated users by bin, from noisy ones. least: the least length of each bin; the last has no end.

    >>> users = smoothed_lengths([5210, 2480, 1233, 610, -3, 4, -2], Noise("geometric", 3.0), range(1, 8))
    >>> users.round(-1).tolist()
    [5210.0, 2480.0, 1230.0, 610.0, 0.0, 0.0, 0.0]
    """
    values = np.asarray(noisy, dtype=np.float64)
    starts = np.asarray(least, dtype=np.float64)
    body = _body(values, noise, starts)
    widths = _widths(starts)
    middles = np.log(starts + 0.5 * (widths - 1.0))
    kernel = np.exp(-0.5 * ((middles[:body, None] - middles) / _BAND) ** 2) * widths
    curve = widths[:body] * (kernel @ values) / (kernel @ widths)
    # A curve at or below nought would leave no way up for a count that stands out.
    means = np.maximum(curve, 0.1 * noise.deviation)
    answer = np.empty(len(values))
    answer[:body] = posterior(values[:body], means, noise).mean
    answer[body:] = _tail(values, noise, starts, body)
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


def _doubling(starts: Floats, low: float) -> NDArray[np.bool_]:
    """The bins with lengths from low to below twice that."""
    return np.asarray((starts >= low) & (starts < 2.0 * low))


def _body(values: Floats, noise: Noise, starts: Floats) -> int:
    """How many bins there are up to the start of the last doubling whose users stand out; at least one."""
    for at in range(len(starts) - 1, -1, -1):
        inside = _doubling(starts, starts[at])
        if values[inside].sum() > noise.deviation * (_CLEAR * np.sqrt(inside.sum()) + _CLEAR):
            return at + 1
    return 1


def _tail(values: Floats, noise: Noise, starts: Floats, body: int) -> Floats:
    """Users in the bins after the body, doubling by doubling, until nobody is left.

    Each holds what the power law makes of the one before, but no more than its noisy users allow for.
    """
    answer = np.zeros(len(starts))
    if body >= len(starts):
        return answer[body:]
    edge = float(starts[body])
    before, last = (float(values[_doubling(starts, edge / part)].sum()) for part in (4.0, 2.0))
    power = _MOST_POWER
    if before > 0.0 and last > 0.0:
        power = float(np.clip(np.log2(before / last), _LEAST_POWER, _MOST_POWER))
    users = max(last, 0.0)
    ends = np.append(starts[1:], starts[-1] * _OPEN)
    while edge <= starts[-1]:
        inside = _doubling(starts, edge)
        most = values[inside].sum() + noise.deviation * np.sqrt(inside.sum())
        users = min(users * 2.0**-power, max(float(most), 0.0))
        if users < _NOBODY * (1.0 - 2.0**-power):
            break
        shares = starts[inside] ** -power - ends[inside] ** -power
        answer[inside] = users * shares / shares.sum()
        edge = float(ends[inside][-1])
    return answer[body:]
