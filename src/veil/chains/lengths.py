"""Lengths of sequences in public bins, and the law of lengths behind a noisy histogram of them.

First the users behind the noisy counts, along a curve that is smooth but for leaps, and where it ends.
Beyond, where somebody is not very likely to be left, there is nothing; without an end, the noise in the bins
of a million states would outweigh every real transition. Where nobody stands out of the noise at all, the
lengths are taken to be what they usually are.

From bin to bin, the expected count follows a power of the length. The power drifts, as those of all usual
laws do; now and then the curve leaps (a block, a single frequent length), and at some point it ends. Under
that law of curves, a hidden Markov chain over levels and powers, the noisy counts have an exact posterior:
forwards and backwards over the bins (Rabiner, Proc. IEEE 77, 1989). So bins that each drown in the noise
still count together, and nobody has to say over how many to smooth. Large counts stay as they are.

All of this is a function of the noisy counts and of public numbers: post-processing, and no random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Noise

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
# Levels of the expected count: the least (below it, nobody is left) and their ratio as a logarithm.
_LEAST, _STEP = 0.05, 0.3
# More levels than this cost time only: then the ratio grows.
_LEVELS = 90
# How far counts stray from the curve beyond chance, as a part of it. More than half a step of the levels, so
# that there are no gaps between them; from 0.12 to 0.3 the results are the same.
_STRAY = 0.2
# Powers of the length that the density follows, and how often they move on to a neighbour while the length
# grows by a factor e. A geometric law passes through all that fall; twice as slow or fast costs little.
_POWERS = np.array([5.0, 2.0, 0.5, -0.6, -1.5, -2.4, -4.0, -7.0, -13.0])
_TURNS = 1.5
# To the steeper neighbour this often: most laws fall ever faster, and noise should not hold up a tail.
_STEEPER = 0.7
# How often a curve ends within a factor e of the length, however many were there just before. Twice as often
# loses the tails of power laws, half as often prolongs short laws.
_ENDS = 0.15
# Chances of a leap, from something and from nothing, times the length. They fall with the length as the harm
# grows: one outlier of the noise that is taken for users of length 10^5 would outweigh all the others.
_LEAPS, _REVIVALS = 0.15, 0.2
# From so many deviations of the noise on, a count is taken as it stands.
_REACH = 20.0
# Nothing is impossible, so that logarithms exist.
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class LengthBins:
    """Bins of lengths (of a sequence, in states), by the least length of each; the last has no end.

    >>> bins = LengthBins((1, 2, 5))
    >>> bins.place([1, 2, 4, 5, 900]).tolist()
    [0, 1, 1, 2, 2]
    """

    least: tuple[int, ...]

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
    expected, anybody = _length_curve(values, noise, starts + 0.5 * (widths - 1.0), widths)
    if anybody[0] < _LIKELY:
        return _usual(values, noise, starts, widths)
    end = int(np.flatnonzero(anybody >= _LIKELY)[-1]) + 1
    answer = np.zeros(len(values))
    answer[:end] = expected[:end]
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


def _length_curve(noisy: Floats, noise: Noise, middles: Floats, widths: Floats) -> tuple[Floats, Floats]:
    """The curve behind noisy counts of bins, by the middle length and the number of lengths of each.

    Expected users by bin, and how likely it is that anybody at all is in that bin or a later one.
    """
    top = float(np.log((max(float(noisy.max()), 0.0) + 5.0 * noise.deviation + 1.0) / _LEAST))
    levels = _LEAST * np.exp(np.linspace(0.0, top, min(int(np.ceil(top / _STEP)) + 1, _LEVELS)))
    likely, likely_nobody = _likelihoods(noisy, noise, levels)
    steps = _steps(np.log(middles), np.log(widths), levels)
    forward, nobody, scales = _forward(likely, likely_nobody, steps)
    law = _backward(forward, likely, likely_nobody, scales, steps)
    # What is seen of a count counts as much as it strays from its level, against the noise.
    strays = levels + (_STRAY * levels) ** 2
    seen = strays / (strays + noise.deviation**2)
    expected = np.maximum(law @ (levels * (1.0 - seen)) + (law @ seen) * noisy, 0.0)
    expected = np.where(noisy > _REACH * noise.deviation, noisy, expected)
    # Nobody here nor in any later bin: one single way through the chain.
    stays = np.log(likely_nobody[1:]) + np.log1p(-steps.revives) - np.log(scales[1:])
    after = np.append(np.cumsum(stays[::-1])[::-1], 0.0)
    none = np.exp(np.minimum(np.log(np.maximum(nobody, _TINY)) + after, 0.0))
    return expected, 1.0 - none


def _likelihoods(noisy: Floats, noise: Noise, levels: Floats) -> tuple[Floats, Floats]:
    """Of each noisy count at each level [bin, level], and with nobody there, up to a factor for each bin.

    The spread of the count around its level widens the law of the noise, and leaves its shape.
    """
    spreads = np.sqrt(noise.deviation**2 + np.concatenate([[0.0], levels + (_STRAY * levels) ** 2]))
    gaps = np.abs(noisy[:, None] - np.concatenate([[0.0], levels])) / spreads
    logs = (-0.5 * gaps**2 if noise.kind == "gaussian" else -np.sqrt(2.0) * gaps) - np.log(spreads)
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    return likely[:, 1:], np.maximum(likely[:, 0], _TINY)


class _Steps(NamedTuple):
    """What happens from each bin to the next. A state is nobody, or a power and a level.

    ends, leaps, revives: chances. turns [step, from, to]: between powers. lower, upper [step, power, 1]: how
    the two levels share that a level is shifted in between. from_lower, from_upper, to_lower, to_upper [step,
    power, level]: where those stand in a flat table of all powers and levels with one more entry for nobody.
    """

    ends: Floats
    leaps: Floats
    revives: Floats
    turns: Floats
    lower: Floats
    upper: Floats
    from_lower: NDArray[np.intp]
    from_upper: NDArray[np.intp]
    to_lower: NDArray[np.intp]
    to_upper: NDArray[np.intp]


def _steps(middles: Floats, widths: Floats, levels: Floats) -> _Steps:
    """All steps, by the logarithms of middles and widths."""
    gaps = np.diff(middles)
    powers, size = len(_POWERS), len(levels)
    near = _STEEPER * np.eye(powers, k=1) + (1.0 - _STEEPER) * np.eye(powers, k=-1)
    turned = -np.expm1(-_TURNS * gaps)[:, None, None]
    ratio = np.log(levels[-1] / levels[0]) / (size - 1)
    shifts = (np.diff(widths)[:, None] + _POWERS * gaps[:, None])[:, :, None] / ratio
    whole = np.floor(shifts).astype(np.intp)

    def places(moved: NDArray[np.intp]) -> NDArray[np.intp]:
        found = np.arange(size) + moved
        inside = (found >= 0) & (found < size)
        return np.where(inside, found + size * np.arange(powers)[:, None], size * powers)

    return _Steps(
        ends=-np.expm1(-_ENDS * gaps),
        leaps=_LEAPS * np.exp(-middles[1:]),
        revives=_REVIVALS * np.exp(-middles[1:]),
        turns=(1.0 - turned) * np.eye(powers) + turned * near / near.sum(axis=1, keepdims=True),
        lower=1.0 - (shifts - whole),
        upper=shifts - whole,
        from_lower=places(-whole),
        from_upper=places(-whole - 1),
        to_lower=places(whole),
        to_upper=places(whole + 1),
    )


def _forward(likely: Floats, likely_nobody: Floats, steps: _Steps) -> tuple[Floats, Floats, Floats]:
    """The law of each bin's state given the bins so far [bin, power, level], and nobody's part of it.

    Third, how likely each noisy count was given those before.
    """
    bins, size = likely.shape
    tables, nobody, scales = np.empty((bins, len(_POWERS), size)), np.empty(bins), np.empty(bins)
    fresh = 1.0 / (len(_POWERS) * size)
    flat = np.zeros(len(_POWERS) * size + 1)
    table, none = np.full((len(_POWERS), size), 0.5 * fresh), 0.5
    for at in range(bins):
        if at > 0:
            one, gone = at - 1, float(nobody[at - 1])
            on = (1.0 - steps.ends[one]) * (1.0 - gone)
            flat[:-1] = (steps.turns[one].T @ tables[one]).ravel()
            table = steps.lower[one] * flat[steps.from_lower[one]]
            table += steps.upper[one] * flat[steps.from_upper[one]]
            table *= (1.0 - steps.ends[one]) * (1.0 - steps.leaps[one])
            table += fresh * (steps.leaps[one] * on + steps.revives[one] * gone)
            # Whoever falls off the least level is nobody.
            none = max(1.0 - float(table.sum()), 0.0)
        table = table * likely[at]
        none *= likely_nobody[at]
        scales[at] = table.sum() + none
        tables[at], nobody[at] = table / scales[at], none / scales[at]
    return tables, nobody, scales


def _backward(
    forward: Floats, likely: Floats, likely_nobody: Floats, scales: Floats, steps: _Steps
) -> Floats:
    """How likely each level is, given all noisy counts [bin, level]."""
    bins, powers, size = forward.shape
    answer = np.empty((bins, size))
    flat = np.empty(powers * size + 1)
    later, none = np.ones((powers, size)), 1.0
    for at in range(bins - 1, -1, -1):
        answer[at] = (forward[at] * later).sum(axis=0)
        if at == 0:
            break
        one = at - 1
        later *= likely[at] / scales[at]
        none *= likely_nobody[at] / scales[at]
        leapt = float(later.mean())
        flat[:-1], flat[-1] = later.ravel(), none
        on = steps.turns[one] @ (
            steps.lower[one] * flat[steps.to_lower[one]] + steps.upper[one] * flat[steps.to_upper[one]]
        )
        later = (1.0 - steps.leaps[one]) * on + steps.leaps[one] * leapt
        later = (1.0 - steps.ends[one]) * later + steps.ends[one] * none
        none = (1.0 - steps.revives[one]) * none + steps.revives[one] * leapt
    return answer
