"""Numbers with Laplace or Gaussian noise, rounded to a public grid: the ideal sum, and nothing of floats.

What is drawn is the whole number of steps nearest to (centre + scale X) / step, where X is a real Laplace or
normal variable (ideal.md): post-processing of the noise that the proofs are about. The step is a power of two
that depends on the scale alone. Floats with a bound on their error nearly always tell the whole number;
otherwise intervals do, from the same random words and more bits of the same uniform numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats, Places
from veil.core.numerics.compiled import strictly_compiled
from veil.core.numerics.elementary import UNIT
from veil.core.numerics.intervals import Arithmetic, Interval
from veil.core.random.ideal import LaplaceVariable, NormalProposal, settle
from veil.core.random.proposals import OPEN, TAKEN, log_of_word, normal_proposal
from veil.core.random.streams import Rng, Words, random_words
from veil.core.random.uniform import Uniform

# A scale is 2^23 to 2^24 steps; centres of up to 1 are at most 2^60 of them.
_SCALE_BITS, _CENTRE_BITS = 24, 60
_AT_A_TIME = 2**16
_WORDS = 2
_SIGN = np.uint64(2**63)


def step_for(scale: float) -> float:
    """The step of the grid for noise of this scale, a power of two."""
    return math.ldexp(1.0, max(math.frexp(scale)[1] - _SCALE_BITS, -_CENTRE_BITS))


def sample_rounded_normal(rng: Rng, *, centres: Floats, sigma: float, widen: float = 1.0) -> Floats:
    """centre + sigma X for a standard normal X, rounded to the grid of `step_for(sigma)`, at each centre.

    widen: by how much error bounds are widened; 1 unless the intervals are to be tested.
    """
    return _sample(rng, centres, sigma, _normal_steps, _settled_normal, widen)


def sample_rounded_laplace(rng: Rng, *, centres: Floats, scale: float, widen: float = 1.0) -> Floats:
    """centre + scale X for a standard Laplace X, rounded to the grid of `step_for(scale)`, at each centre."""
    return _sample(rng, centres, scale, _laplace_steps, _settled_laplace, widen)


def _sample(
    rng: Rng,
    centres: Floats,
    scale: float,
    advance: Callable[..., tuple[int, int]],
    settled: Settled,
    widen: float,
) -> Floats:
    step = step_for(scale)
    flat = np.ascontiguousarray(centres, dtype=np.float64).ravel()
    # By powers of two: exact, but for what is far too small to matter, which the error bound covers.
    whole = np.rint(flat / step)
    parts, ratio = flat / step - whole, scale / step
    steps = np.empty(len(flat), dtype=np.int64)
    at, used = 0, 0
    words = random_words(rng, 0)
    while at < len(flat):
        if used + _WORDS > len(words):
            fresh = random_words(rng, min(_AT_A_TIME, _WORDS * (len(flat) - at + 8)))
            words, used = np.concatenate([words[used:], fresh]), 0
        at, used = advance(parts, ratio, words, used, at, steps, widen)
        if at < len(flat) and used + _WORDS <= len(words):
            # What these two words stand for is open.
            pair = words[used : used + _WORDS].tolist()
            part = Fraction(float(flat[at])) / Fraction(step) - int(whole[at])
            found = settled(rng, pair, part, Fraction(ratio))
            used += _WORDS
            if found is not None:
                steps[at] = found
                at += 1
    return ((whole.astype(np.int64) + steps).astype(np.float64) * step).reshape(np.shape(centres))


@strictly_compiled
def _normal_steps(
    parts: Floats, ratio: float, words: Words, used: int, at: int, steps: Places, widen: float
) -> tuple[int, int]:
    """Go on from `at` until all are drawn, the words run out or something is open; what comes next."""
    for place in range(at, len(parts)):
        verdict = 0
        while verdict != TAKEN:
            if used + _WORDS > len(words):
                return place, used
            verdict, y, error = normal_proposal(words[used], words[used + 1], widen)
            if verdict == OPEN:
                return place, used
            used += 2
        if not _rounds(parts[place], ratio, y, error, steps, place):
            return place, used - 2
    return len(parts), used


@strictly_compiled
def _laplace_steps(
    parts: Floats, ratio: float, words: Words, used: int, at: int, steps: Places, widen: float
) -> tuple[int, int]:
    """The same for Laplace noise, whose words always stand for a variable."""
    for place in range(at, len(parts)):
        if used + _WORDS > len(words) or words[used] == np.uint64(0):
            return place, used
        size, error = log_of_word(words[used])
        y = size if words[used + 1] >= _SIGN else -size
        if not _rounds(parts[place], ratio, y, error * widen, steps, place):
            return place, used
        used += 2
    return len(parts), used


@strictly_compiled
def _rounds(part: float, ratio: float, y: float, error: float, steps: Places, place: int) -> bool:
    """Write the whole number nearest to part + ratio y, unless the error leaves two."""
    value = part + ratio * y
    # Two roundings of the value, and two more until the floor is taken.
    doubt = 1.01 * (ratio * error + 4.0 * UNIT * (abs(ratio * y) + 1.0))
    low = math.floor(value - doubt + 0.5)
    if low != math.floor(value + doubt + 0.5):
        return False
    steps[place] = low
    return True


# The steps that two words stand for, given the part and the ratio; None where the proposal is left.
Settled = Callable[[Rng, list[int], Fraction, Fraction], int | None]


def _settled_normal(rng: Rng, words: list[int], part: Fraction, ratio: Fraction) -> int | None:
    proposal = NormalProposal()
    u, v = map(Uniform, words)
    if not proposal.accepts(rng, u, v):
        return None
    return _nearest(rng, u, part, ratio, lambda a: proposal.place(a, u))


def _settled_laplace(rng: Rng, words: list[int], part: Fraction, ratio: Fraction) -> int | None:
    u, is_negative = Uniform(words[0]), words[1] >= int(_SIGN)
    return _nearest(rng, u, part, ratio, lambda a: LaplaceVariable().place(a, u, negative=is_negative))


def _nearest(
    rng: Rng, u: Uniform, part: Fraction, ratio: Fraction, place: Callable[[Arithmetic], Interval]
) -> int:
    half = Fraction(1, 2)

    def ask(a: Arithmetic) -> int | None:
        ends = a.add(a.number(part + half), a.multiply(a.number(ratio), place(a)))
        low, high = (math.floor(end) for end in ends)
        return low if low == high else None

    return settle(rng, [u], ask)
