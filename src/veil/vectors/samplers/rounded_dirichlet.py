"""Dirichlet vectors of real numbers, each entry rounded to the nearest number of 28 bits, exactly.

The law of what is drawn is that of the rounded ideal vector (core/random/ideal.md): nothing else of the
shapes can be read from it. Floats with a bound on their error nearly always tell the rounded entries;
otherwise intervals do, from the same random words and more bits of the same uniform numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import inf, ldexp, prod

import numpy as np

from veil.core.arrays import Booleans, Floats, Places
from veil.core.numerics.compiled import strictly_compiled
from veil.core.numerics.elementary import EXP, UNIT, exp
from veil.core.random.ideal import GammaProposal
from veil.core.random.proposals import LEFT, TAKEN, gamma_proposal, log_of_word
from veil.core.random.streams import Rng, Words, random_words
from veil.core.random.uniform import Uniform
from veil.vectors.samplers.settled_dirichlet import BITS, LEAST_EXPONENT, Gammas, settled_row

# A bound on the relative error of the float shapes: up to four roundings, one of them to a chosen side.
SHAPE_ERROR = 6.0 * UNIT
# Entries that are worked on at a time, and random words that are drawn at a time.
_AT_A_TIME = 2**16
# The words of a proposal, and of the boost that may follow it.
_WORDS = 3
# Beyond it a factor e^-x is nothing beside the largest entry.
_NOTHING = 700.0

# The exact shape of an entry, by its row and column.
ExactShape = Callable[[int, int], Fraction]


def sample_rounded_dirichlet(
    rng: Rng, *, shapes: Floats, exact: ExactShape, size: int | None = None, widen: float = 1.0
) -> Floats:
    """Draw x ~ Dirichlet(shapes) along the last axis, each entry rounded; entries of shape zero stay zero.

    shapes: one vector or a batch, each within SHAPE_ERROR of the exact shape, or above it and both below
    1e-200. exact: that one, by the row of the batch and the column. size: how many draws, along a new leading
    axis. widen: see `gamma_proposal`.
    """
    entries = shapes.shape[-1]
    flat = np.ascontiguousarray(shapes, dtype=np.float64).reshape(-1, entries)
    rows, draws = len(flat), 1 if size is None else size
    drawn = np.empty((draws * rows, entries))
    together = max(1, _AT_A_TIME // entries)
    for begin in range(0, draws * rows, together):
        which = np.arange(begin, min(begin + together, draws * rows)) % rows
        drawn[begin : begin + len(which)] = _draw_rows(rng, flat[which], which, exact, widen)
    full = shapes.shape if size is None else (size, *shapes.shape)
    assert drawn.size == prod(full)
    return drawn.reshape(full)


def _draw_rows(rng: Rng, shapes: Floats, which: Places, exact: ExactShape, widen: float) -> Floats:
    """The rounded vectors of these shapes; which: the rows that they are in the batch."""
    entries = shapes.shape[1]
    flat = shapes.ravel()

    def exact_of(place: int) -> Fraction:
        return exact(int(which[place // entries]), place % entries)

    gammas = _draw_gammas(rng, flat, exact_of, widen)
    rounded = np.empty_like(shapes)
    open_rows = np.zeros(len(shapes), dtype=np.bool_)
    _round_rows(gammas.size, gammas.size_error, gammas.boost, gammas.boost_error, rounded, open_rows, widen)
    for row in np.flatnonzero(open_rows).tolist():
        begin = row * entries
        places = np.arange(begin, begin + entries)
        present = places[flat[places] > 0.0]
        rounded[row, flat[places] <= 0.0] = 0.0
        # What floats could tell stays; the others are none yet.
        asked = np.flatnonzero(np.isnan(rounded[row])) + begin
        rounded[row, asked - begin] = settled_row(
            rng, gammas, present.tolist(), asked.tolist(), flat, exact_of
        )
    return rounded


def _draw_gammas(rng: Rng, shapes: Floats, exact: Callable[[int], Fraction], widen: float) -> Gammas:
    """A gamma variable for each shape, from one stream of words, in the order of the shapes."""
    gammas = Gammas.none(len(shapes))
    state = (gammas.size, gammas.size_error, gammas.boost, gammas.boost_error, gammas.first, gammas.boosting)
    at, used = 0, 0
    words = random_words(rng, 0)
    while at < len(shapes):
        if used + _WORDS > len(words):
            fresh = random_words(rng, min(2 * _AT_A_TIME, _WORDS * (len(shapes) - at + 8)))
            words, used = np.concatenate([words[used:], fresh]), 0
        at, used, is_open = _advance(shapes, words, used, at, *state, widen)
        if is_open:
            u, v = (Uniform(int(word)) for word in words[used - 2 : used])
            is_boosted = shapes[at] < 1.0
            if GammaProposal(exact(at) + is_boosted).accepts(rng, u, v):
                gammas.known[at, 0] = u
                gammas.size_error[at] = inf
                if is_boosted:
                    gammas.boosting[at] = words[used]
                    used += 1
                at += 1
    return gammas


@strictly_compiled
def _advance(
    shapes: Floats,
    words: Words,
    used: int,
    at: int,
    size: Floats,
    size_error: Floats,
    boost: Floats,
    boost_error: Floats,
    first: Words,
    boosting: Words,
    widen: float,
) -> tuple[int, int, bool]:
    """Go on from entry `at` until all are drawn, the words run out or a proposal is open.

    Returns the entry that comes next, how many words are used, and whether the last proposal is open.
    """
    for place in range(at, len(shapes)):
        shape = shapes[place]
        if shape <= 0.0:
            continue
        is_boosted = shape < 1.0
        verdict = LEFT
        while verdict != TAKEN:
            if used + _WORDS > len(words):
                return place, used, False
            verdict, value, error = gamma_proposal(
                shape + 1.0 if is_boosted else shape,
                SHAPE_ERROR + UNIT,
                words[used],
                words[used + 1],
                widen,
            )
            used += 2
            if verdict < LEFT:
                return place, used, True
        size[place], size_error[place], first[place] = value, error, words[used - 2]
        if is_boosted:
            boosting[place] = words[used]
            used += 1
            whole, whole_error = log_of_word(boosting[place]) if boosting[place] > 0 else (0.0, np.inf)
            boost[place] = whole / shape
            boost_error[place] = widen * (
                1.01 * whole_error / shape + abs(boost[place]) * (SHAPE_ERROR + 2.0 * UNIT)
            )
    return len(shapes), used, False


@strictly_compiled
def _round_rows(
    size: Floats,
    size_error: Floats,
    boost: Floats,
    boost_error: Floats,
    rounded: Floats,
    open_rows: Booleans,
    widen: float,
) -> None:
    """Divide the variables of each row by their sum and round; NaN where floats cannot tell, in open rows."""
    rows, entries = rounded.shape
    value, error = np.empty(entries), np.empty(entries)
    for row in range(rows):
        begin = row * entries
        top, largest = -np.inf, begin
        for column in range(entries):
            place = begin + column
            if (size[place] > 0.0 or size_error[place] > 0.0) and boost[place] > top:
                top, largest = boost[place], place
        total, lost, doubt = 0.0, 0.0, 0.0
        for column in range(entries):
            place = begin + column
            fall = top - boost[place]
            moved = boost_error[place] + boost_error[largest] + UNIT * fall
            value[column], error[column] = size[place], size_error[place]
            # Two boosts that are equal as floats are hardly ever equal: a fall of 0 has an error too.
            if place != largest and size[place] > 0.0 and moved > 0.0:
                value[column] *= exp(-min(fall, _NOTHING))
                if moved < 1e-3:
                    error[column] += 1.001 * (moved + EXP * widen + 2.0 * UNIT)
                elif fall - moved > _NOTHING:
                    # Surely less than what stands there, which is next to nothing.
                    error[column] = 1.0
                else:
                    error[column] = np.inf
            # Compensated: the sum of n terms is off by 2 u of itself, not n u (Neumaier; Higham 4.8).
            sum_ = total + value[column]
            if total >= value[column]:
                lost += (total - sum_) + value[column]
            else:
                lost += (value[column] - sum_) + total
            total = sum_
            doubt += value[column] * error[column]
        total += lost
        if not doubt < 1e-3 * total:
            open_rows[row] = True
            rounded[row] = np.nan
            continue
        common = 1.01 * (doubt / total * (1.0 + entries * UNIT) + 6.0 * UNIT * widen)
        for column in range(entries):
            share = value[column] / total
            reach = share * 1.01 * (error[column] + common)
            low = _rounded(share - reach)
            if low == _rounded(share + reach):
                rounded[row, column] = low
            else:
                open_rows[row] = True
                rounded[row, column] = np.nan


@strictly_compiled
def _rounded(x: float) -> float:
    """The nearest number of BITS bits, halves up; zero below 2^LEAST_EXPONENT."""
    if x < LEAST:
        return 0.0
    m, e = math.frexp(x)
    return math.ldexp(math.floor(m * _SCALE + 0.5), e - BITS)


LEAST, _SCALE = ldexp(1.0, LEAST_EXPONENT), ldexp(1.0, BITS)
