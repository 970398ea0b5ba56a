"""Users in strata by the length of their sequences: how many strata, what cap in each, and the sum of all.

A user adds up to `cap` transitions, so that the noise on every cell has scale cap / epsilon. One cap for all
users must choose between much noise and a bias: the transitions of long sequences differ from those of short
ones, and most of them would be left out. But a user belongs to one stratum only, so each stratum may have
its own cap at the full epsilon. A stratum of U users whose sequences are all about as long as its cap gives
a law of transitions with noise of about 1 / (epsilon U) a cell, whatever the cap.

The strata are weighed by how many transitions their users made, which the (noisy) lengths tell. Those of few
users are shrunk towards the next, better known ones; how far is learnt from the strata before them.

Second-order chains fall back on the first order as far as the noise asks for it.
For one pair of states (before, from) the counts of what came next are few, and there are states^3 of them.
So each is taken to be what the first order makes of the pair, times a factor of a law that all cells share
and that is learnt from them (`core.numerics.denoise`): pairs that drown in the noise keep the first order's
row, clear ones their own, and nobody sets the weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.chains.estimation.transition_table import TableEstimate
from veil.core.arrays import Floats
from veil.core.numerics.denoise import Noise, denoised, posterior

Strata = tuple[tuple[int, int], ...]

# A stratum is worth having when epsilon times its users is this many times states^1.5. (The noise has
# states^2 cells to fall on, but the larger tables are the emptier ones, where it can be told from counts.)
_ENOUGH = 8.0
# Of sequences of which nothing is known: half the users or more are shorter, the others fall with the square.
_USUAL_LENGTH = 5.0
_GUESS = 0.8
_LONGEST_GUESS = 100_000
# By how much a cell of the law may differ between short and long sequences, relatively: a guess. (MSNBC's
# laws differ by a tenth in total variation from one doubling of the length to the next.)
_DRIFT = 0.5
# How many caps are tried.
_CAPS = 60
# What weight the widest law of theta has, as long as no stratum has taught a better one.
_FIRST_CELLS = 2.0
# How much of the transitions the cap on second-order counts is to keep.
_KEPT = 2.0 / 3.0
_TINY = 1e-300


class Shares(NamedTuple):
    """How a release divides its epsilon between its parts; the first three count every user once."""

    lengths: float
    starts: float
    ends: float
    transitions: float
    second: float


def planned_shares(*, second: bool) -> Shares:
    """Shares that add up to 1.

    The counts of one per user need little. Chosen on MSNBC (17 states, a million users, epsilon 1), where a
    quarter for the second order leaves its log-loss about 0.012 nats above the truth's, and every further
    tenth of epsilon taken from the transitions would cost their joint law some 0.001 in total variation.

    >>> sum(planned_shares(second=True)), sum(planned_shares(second=False))
    (1.0, 1.0)
    """
    return Shares(0.08, 0.025, 0.025, 0.62, 0.25) if second else Shares(0.1, 0.03, 0.03, 0.84, 0.0)


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

    users: about how many there are. lengths: users by exact length, as far as that is public or released
    already (`length_law`); without it, heavy tails around `mean_length` are assumed, which
    serves sequences of 5 to 30 states, not those of 200. cap: no stratum counts more than this.

    >>> planned_strata(17, 1e6, 0.5)
    ((2, 2), (4, 6), (8, 14), (16, 25), (32, 38), (64, 59))
    >>> planned_strata(17, 1e6, 0.5, cap=10)
    ((2, 2), (4, 6), (8, 10), (16, 10), (32, 10), (64, 10))
    >>> planned_strata(100, 1e3, 1.0)
    ((2, 1),)
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
    return tuple((least, min(best, cap or best)) for least, best in zip(leasts, caps, strict=True))


def guessed_lengths(users: float, mean_length: float = _USUAL_LENGTH) -> Floats:
    """Users by exact length, where nothing is known: those with at least l states fall with l^-2."""
    lengths = np.arange(_LONGEST_GUESS + 2, dtype=np.float64)
    least = max(_GUESS * mean_length, 1.0)
    above = users * np.minimum(1.0, (least / np.maximum(lengths, 1.0)) ** 2)
    above[above < 1.0] = 0.0
    answer = above[:-1] - above[1:]
    answer[0] = 0.0
    # Below the guess's least length all are alike.
    short = int(least)
    answer[1 : short + 1] = answer[1 : short + 1].sum() / short
    return answer


def planned_cap(cells: int, epsilon: float, lengths: Floats, least: int = 2, bound: int | None = None) -> int:
    """The cap of least expected square error for users of `least` states or more, below `bound`.

    In all cells together: the noise, 2 (cap / epsilon)^2 a cell; the sampling, one over the transitions
    counted as long as some are left out; the bias, since a cap lets the shorter sequences weigh more.
    """
    users = np.asarray(lengths[least:bound], dtype=np.float64)
    steps = np.arange(least - 1, least - 1 + len(users), dtype=np.float64)
    made = float((users * steps).sum())
    if made <= 0.0:
        return max(1, least - 1)
    users, steps = users[users > 0.0], steps[users > 0.0]
    best, least_error = 1, np.inf
    for cap in np.unique(np.rint(np.geomspace(1.0, steps[-1], _CAPS))):
        taken = users * np.minimum(steps, cap)
        counted = float(taken.sum())
        shifted = 0.5 * float(np.abs(taken / counted - users * steps / made).sum())
        noise = 2.0 * cells * (cap / epsilon / counted) ** 2
        error = noise + 1.0 / counted - 1.0 / made + (_DRIFT * shifted) ** 2 / cells
        if error < least_error:
            best, least_error = int(cap), error
    return best


def stratum_weights(strata: Sequence[tuple[int, int]], lengths: Floats) -> tuple[Floats, Floats]:
    """Of each stratum: transitions that users by exact length made, and those that its cap let be counted.

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
    return made, counted


class StrataEstimate(NamedTuple):
    """counts: [from, to] of all transitions of all users, positive. laws: [stratum, from, to], shares."""

    counts: Floats
    laws: Floats


def combined_strata(
    noisy: Any,
    noises: Sequence[Noise],
    strata: Sequence[tuple[int, int]],
    lengths: Floats,
    *,
    rank: int | None = None,
) -> StrataEstimate:
    """What noisy tables of strata say of all transitions of all users.

    noisy: whole numbers [stratum, from, to], each stratum with its noise. lengths: users by exact length.
    rank: hidden dimensions of the largest stratum's table, if they are not to be chosen.
    """
    tables = np.asarray(noisy, dtype=np.float64)
    made, counted = stratum_weights(strata, lengths)
    if not (made > 0.0).any():
        # Nobody seems to have made a transition: then the strata count as what they sum to.
        counted = np.maximum(tables.sum(axis=(1, 2)), 1.0)
        made = counted.copy()
    made, counted = _agreed(made, counted, tables, noises, tables[0].size)
    # From the stratum of most users outwards: each next one starts from the law of the one before.
    caps = np.array([cap for _, cap in strata], dtype=np.float64)
    middle = int(np.argmax(counted / caps))
    start = TableEstimate.of(tables[middle], noises[middle], rank=rank)
    laws = np.empty(tables.shape)
    laws[middle] = _law(start.counts)
    for outwards in (range(middle + 1, len(strata)), range(middle - 1, -1, -1)):
        # The mean goes from stratum to stratum, not the estimate: errors of one direction would add up.
        law, theta, weight = _law(start.mean), None, _FIRST_CELLS
        for at in outwards:
            known = posterior(tables[at], law * max(counted[at], 1.0), noises[at], theta, weight)
            law, theta, weight = _law(known.mean), known.theta, float(tables[0].size)
            laws[at] = _law(known.estimate)
    return StrataEstimate(np.tensordot(made, laws, axes=1), laws)


def _law(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum())


def _agreed(
    made: Floats, counted: Floats, tables: Floats, noises: Sequence[Noise], cells: int
) -> tuple[Floats, Floats]:
    """Weights that the strata's own noisy sums allow: within a deviation of them.

    Of few states and many lengths, those sums are better known than the number of the long sequences.
    """
    sums = tables.sum(axis=(1, 2))
    deviations = np.array([noise.deviation for noise in noises]) * np.sqrt(cells)
    near = np.maximum(np.clip(counted, sums - deviations, sums + deviations), 0.0)
    factors = np.divide(near, counted, out=np.zeros(len(near)), where=counted > 0.0)
    # Where the lengths know of nobody, nor does anybody know how long they are: as if the cap were all.
    unknown = (counted <= 0.0) & (near > 0.0)
    return np.where(unknown, near, made * factors), near


def second_order(
    noisy: NDArray[Any],
    noise: Noise,
    joint: Floats,
    support: NDArray[np.bool_] | None = None,
) -> Floats:
    """Probabilities [before, from, to] of a second-order chain; one row more than states before: the start.

    noisy: counts [before, from, to] with noise on every cell. joint: what is known of the counts [from, to]
    of all transitions, positive where they are possible (`support`).
    """
    counts = np.asarray(noisy, dtype=np.float64)
    mask = joint > 0.0 if support is None else np.asarray(support, dtype=bool)
    rows = np.where(mask, joint, 0.0).sum(axis=1, keepdims=True)
    first = np.where(mask, joint, 0.0) / np.maximum(rows, _TINY)
    # How often each pair came about: its row of cells summed, with the noise of as many cells.
    inside = np.where(mask, counts, 0.0)
    summed = Noise("gaussian", max(noise.deviation * float(np.sqrt(mask.sum(axis=1).mean())), 1e-3))
    pairs = denoised(inside.sum(axis=2), summed)
    means = pairs[:, :, None] * first
    cells = np.broadcast_to(mask, counts.shape)
    answer = np.zeros(counts.shape)
    answer[cells] = posterior(counts[cells], means[cells], noise).mean
    # What a cap leaves out, it leaves out of long sequences most. The first order knows of them: the
    # transitions [from, to] after any state must add up to its own.
    answer *= joint / np.maximum(answer.sum(axis=0), _TINY)
    sums = answer.sum(axis=2, keepdims=True)
    return np.asarray(np.where(sums > 0.0, answer / np.maximum(sums, _TINY), first))


def planned_second_cap(lengths: Floats) -> int:
    """The least cap that keeps two thirds of all transitions, from users by exact length.

    >>> planned_second_cap(np.array([0.0, 5.0, 4.0, 3.0, 0.0, 0.0, 0.0, 1.0]))
    2
    """
    longer = np.cumsum(np.asarray(lengths, dtype=np.float64)[::-1])[::-1][2:]
    counted = np.cumsum(longer)
    if len(counted) == 0 or counted[-1] <= 0.0:
        return 1
    return int(np.searchsorted(counted, _KEPT * counted[-1])) + 1
