"""Users in strata by the length of their sequences: how many strata, what cap in each, and the sum of all.

A user adds up to `cap` transitions, so that the noise on every cell has scale cap / epsilon. One cap for all
users must choose between much noise and a bias: the transitions of long sequences differ from those of short
ones, and most of them would be left out. But a user belongs to one stratum only, so each stratum may have
its own cap at the full epsilon. A stratum of U users whose sequences are all about as long as its cap gives
a law of transitions with noise of about 1 / (epsilon U) a cell, whatever the cap.

The strata are weighed by how many transitions their users made, which the (noisy) lengths tell. Those of few
users are shrunk towards the next, better known ones; how far is learnt from the strata before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.numerics.denoise import Floats, Noise, independent_means, posterior

Strata = tuple[tuple[int, int], ...]

# A stratum is worth having when epsilon times its users is this many times states^1.5. (The noise has
# states^2 cells to fall on, but the larger tables are the emptier ones, where it can be told from counts.)
_ENOUGH = 8.0
# Of sequences of which nothing is known: half the users or more are shorter, the others fall with the square.
_USUAL_LENGTH = 5.0
_GUESS = 0.8
_LONGEST_GUESS = 100_000


def planned_strata(
    states: int,
    users: float,
    epsilon: float,
    lengths: Floats | None = None,
    *,
    mean_length: float = _USUAL_LENGTH,
    cap: int | None = None,
) -> Strata:
    """Strata as (least number of states, most transitions counted of one user), from public numbers only.

    users: about how many there are. lengths: users by exact length, as far as that is public or released;
    without it, heavy tails around `mean_length` are assumed. cap: no stratum counts more than this.

    >>> planned_strata(17, 1e6, 0.5)
    ((2, 2), (4, 6), (8, 13), (16, 20), (32, 35), (64, 63))
    >>> planned_strata(17, 1e6, 0.5, cap=10)
    ((2, 2), (4, 6), (8, 10), (16, 10), (32, 10), (64, 10))
    >>> planned_strata(100, 1e3, 1.0)
    ((2, 2),)
    """
    by_length = guessed_lengths(users, mean_length) if lengths is None else np.asarray(lengths, np.float64)
    enough = _ENOUGH * states**1.5 / epsilon
    leasts = [2]
    edge = 4
    while edge < len(by_length) and by_length[edge:].sum() >= enough:
        if by_length[leasts[-1] : edge].sum() >= enough:
            leasts.append(edge)
        edge *= 2
    bounds = [*leasts[1:], max(len(by_length), leasts[-1] + 1)]
    caps = [
        planned_cap(states * states, epsilon, by_length, least, bound)
        for least, bound in zip(leasts, bounds, strict=True)
    ]
    return tuple((least, best if cap is None else min(best, cap)) for least, best in zip(leasts, caps, strict=True))


def guessed_lengths(users: float, mean_length: float = _USUAL_LENGTH) -> Floats:
    """Users by exact length, where nothing is known: those with at least l states fall with l^-2."""
    lengths = np.arange(_LONGEST_GUESS + 2, dtype=np.float64)
    above = users * np.minimum(1.0, (_GUESS * mean_length / np.maximum(lengths, 1.0)) ** 2)
    above[above < 1.0] = 0.0
    answer = above[:-1] - above[1:]
    answer[0] = 0.0
    # Below the guess's least length all are alike.
    short = max(int(_GUESS * mean_length), 1)
    answer[1 : short + 1] = answer[1 : short + 1].sum() / short
    return answer


def planned_cap(cells: int, epsilon: float, lengths: Floats, least: int = 2, bound: int | None = None) -> int:
    """The cap of least variance for users of `least` states or more, below `bound`.

    Noise: 2 (cap / epsilon)^2 on each cell. Sampling: one over the transitions counted, in all cells
    together, as long as some are left out.
    """
    inside = np.asarray(lengths[least:bound], dtype=np.float64)
    reach = np.cumsum(inside[::-1])[::-1]
    # counted[m]: the transitions counted with cap m + 1: all users have least - 1, the longer ones more.
    longer = np.concatenate([np.full(least - 1, inside.sum()), reach[1:]])
    counted = np.cumsum(longer)
    if counted[-1] <= 0.0:
        return max(1, least - 1)
    counted = np.maximum(counted, 1e-300)
    caps = np.arange(1, len(counted) + 1)
    variance = 2.0 * cells * (caps / epsilon / counted) ** 2 + 1.0 / counted - 1.0 / counted[-1]
    return int(caps[np.argmin(variance)])


class Weights(NamedTuple):
    """Of each stratum: the transitions that its users made, and those that its cap let be counted."""

    made: Floats
    counted: Floats


def stratum_weights(strata: Sequence[tuple[int, int]], lengths: Floats) -> Weights:
    """What users by exact length come to in each stratum.

    >>> made, counted = stratum_weights(((2, 1), (4, 5)), np.array([0.0, 9.0, 3.0, 2.0, 0.0, 0.0, 0.0, 1.0]))
    >>> made.tolist(), counted.tolist()
    ([7.0, 6.0], [5.0, 5.0])
    """
    steps = np.arange(len(lengths)) - 1.0
    bounds = [*(least for least, _ in strata[1:]), max(len(lengths), strata[-1][0])]
    made, counted = np.zeros(len(strata)), np.zeros(len(strata))
    for at, ((least, cap), bound) in enumerate(zip(strata, bounds, strict=True)):
        here, users = steps[least:bound], lengths[least:bound]
        made[at] = (here * users).sum()
        counted[at] = (np.minimum(here, cap) * users).sum()
    return Weights(made, counted)


def combined_strata(
    noisy: Any,
    noises: Sequence[Noise],
    strata: Sequence[tuple[int, int]],
    lengths: Floats,
    support: NDArray[np.bool_] | None = None,
) -> Floats:
    """Estimated counts [from, to] of all transitions of all users.

    noisy: whole numbers [stratum, from, to], each stratum with its noise. lengths: users by exact length.
    support: which transitions are possible, as the public knows; they come out positive, the others 0.
    """
    tables = np.asarray(noisy, dtype=np.float64)
    mask = np.ones(tables.shape[1:], dtype=bool) if support is None else np.asarray(support, dtype=bool)
    made, counted = stratum_weights(strata, lengths)
    if not (made > 0.0).any():
        # Nobody seems to have made a transition: then the strata count as what they sum to.
        counted = np.maximum(tables.sum(axis=(1, 2)), 1.0)
        made = counted.copy()
    # From the stratum of most users outwards: each next one starts from the law of the one before.
    caps = np.array([cap for _, cap in strata], dtype=np.float64)
    first = int(np.argmax(counted / caps))
    laws = np.zeros(tables.shape)
    for way in (range(first, len(strata)), range(first, -1, -1)):
        theta: Floats | None = None
        for before, at in zip([first, *way], way, strict=False):
            if at == first:
                means = independent_means(tables[at], mask, noises[at])[mask]
                known = posterior(tables[at][mask], means, noises[at])
            else:
                means = laws[before][mask] * max(counted[at], 1.0)
                cells = float(mask.sum())
                known = posterior(tables[at][mask], means, noises[at], theta, 2.0 if theta is None else cells)
                theta = known.theta
            # The mean, not the median: errors of one direction would add up from stratum to stratum.
            laws[at][mask] = known.mean / known.mean.sum()
    return np.asarray(np.tensordot(made, laws, axes=1))
