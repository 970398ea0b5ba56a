"""The law of lengths behind a noisy histogram of lengths.

Three ranges, told apart by the noisy counts alone:

- the body: each bin's count, shrunk towards the smooth curve through its neighbours as far as the noise asks
  for it (`veil.numerics.denoise`; a histogram of few sharp lengths keeps them, since the law of the factor
  between count and curve is learnt);
- the tail, from where a doubling of the length no longer holds a number of users that stands out of the
  noise: a power law, continued from the last two doublings that do;
- beyond, where that power law expects less than half a user: nothing. Without an end, the noise in the bins
  of a million states would outweigh every real transition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veil.numerics.denoise import Floats, Noise, posterior

# Widths of the smooth curve, in the logarithm of the length: a tenth leaves a power law as it is.
_BAND = 0.1
# By how many deviations the users of a doubling must stand out for it to be known.
_CLEAR = 4.0
# A tail falls at least so fast that its mean exists, and at most as fast as matters.
_LEAST_POWER, _MOST_POWER, _USUAL_POWER = 1.2, 5.0, 2.0
_NOBODY = 0.5
# A length that stands for the last, open bin is this much above its least.
_OPEN = 1.15


def smoothed_lengths(noisy: Sequence[int] | Floats, noise: Noise, least: Sequence[int]) -> Floats:
    """Estimated users by bin, from noisy ones. least: the least length of each bin; the last has no end.

    >>> users = smoothed_lengths([5210, 2480, 1233, 610, -3, 4, -2], Noise("geometric", 3.0), range(1, 8))
    >>> users.round(-1).tolist()
    [5210.0, 2480.0, 1230.0, 610.0, 0.0, 0.0, 0.0]
    """
    values = np.asarray(noisy, dtype=np.float64)
    starts = np.asarray(least, dtype=np.float64)
    body = _body(values, noise, starts)
    answer = np.zeros(len(values))
    if body > 0:
        widths = _widths(starts)
        middles = np.log(starts + 0.5 * (widths - 1.0))
        kernel = np.exp(-0.5 * ((middles[:body, None] - middles) / _BAND) ** 2) * widths
        curve = widths[:body] * (kernel @ values) / (kernel @ widths)
        means = np.maximum(curve, 0.1 * noise.deviation)
        answer[:body] = posterior(values[:body], means, noise).mean
        answer[body:] = _tail(values, starts, body)
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
        weights = (lengths / lengths[0]) ** np.clip(power, -2.0 * _MOST_POWER, _MOST_POWER)
        answer[lengths] = users[at] * weights / weights.sum()
    return answer


def _widths(starts: Floats) -> Floats:
    last = max(1.0, np.rint(starts[-1] * (_OPEN - 1.0)))
    return np.append(np.diff(starts), last)


def _doubling(values: Floats, starts: Floats, low: float) -> tuple[float, int]:
    """Noisy users, and bins, with lengths from low to below twice that."""
    inside = (starts >= low) & (starts < 2.0 * low)
    return float(values[inside].sum()), int(inside.sum())


def _body(values: Floats, noise: Noise, starts: Floats) -> int:
    """How many bins lie below the end of the last doubling whose users stand out of the noise."""
    for at in range(len(starts) - 1, -1, -1):
        users, bins = _doubling(values, starts, starts[at])
        if users > _CLEAR * noise.deviation * np.sqrt(bins):
            # Within the last doubling that is clear, the noise may be all there is: step on from its start
            # only while single bins are clear.
            clear = np.flatnonzero(values > _CLEAR * noise.deviation)
            reach = max(at, int(clear[-1]) if len(clear) else 0)
            return min(reach + 1, len(starts))
    return 0


def _tail(values: Floats, starts: Floats, body: int) -> Floats:
    """Users in the bins after the body: a power law from its last doublings, until nobody is left."""
    if body >= len(starts):
        return np.zeros(0)
    edge = float(starts[body])
    before, last = _doubling(values, starts, edge / 4.0)[0], _doubling(values, starts, edge / 2.0)[0]
    power = _USUAL_POWER
    if before > 0.0 and last > 0.0:
        power = float(np.clip(np.log2(before / last), _LEAST_POWER, _MOST_POWER))
    total = max(last, 0.0) / (2.0**power - 1.0)
    above = total * (starts[body:] / edge) ** -power
    above = np.where(above < _NOBODY, 0.0, above)
    return above - np.append(above[1:], 0.0)
