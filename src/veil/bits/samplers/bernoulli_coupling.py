"""Coupling from the past for matrix-valued Bernoulli bits: exact samples of P(b) prop. to exp(b' Pi b).

Heat bath: cell by cell, b_ip becomes [u < 1 / (1 + exp(-pull))] with a fresh uniform u. That leaves the law
of b as it is. Follow all starts at once from the far past to the present with the same numbers u: if they
agree at the present, that is an exact sample (Propp and Wilson, 1996). All starts are followed by bounds
low <= b <= high of every bit (fields.py). For couplings that are all positive these are the two chains from
all zeros and all ones; for negative ones each bound is set from the other. Complementing some bits
exchanges their bounds and the signs of their couplings, and nothing else: so signs that become positive by
complements need no extra care, and mixed signs are correct too. They only may take longer to agree.

If the bounds do not agree after T sweeps, 2 T are taken, with the same numbers for the last T. A run is
never cut short: what a short run yields is not a sample of the law. fields.py proves when runs are short.

The comparison u < 1 / (1 + exp(-x)) is the same as logit(u) < x. Of u a word of 64 bits is drawn, w = 0 ...
2^64 - 1. Floats decide unless x and the logit of (w + 1/2) / 2^64 come within a slack of each other:

    the rounding of x: `Pulls.rounding`;
    the later bits of u: |logit(u) - logit((w + 1/2) / 2^64)| <= 1 / w + 1 / (2^64 - 1 - w);
    the rounding of the logit: log(m 2^e) = e log 2 + 2 (z + z^3 / 3 + ... + z^25 / 25) with z = (m - 1) /
    (m + 1), |z| < 0.1716. What is left out is below 2^-70. The series has an error below 2^-49, |e| <= 65
    times log 2 one below 2^-46, and words as floats one of 2^-52: far less than the 2^-40 that are allowed.

What is open is settled with the exact pull, bounds of the exponential that are certain, and more bits of
the same u, which are kept for the longer run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veil.bits.numerics.fields import Cells, Pulls, contraction, pull, pull_bounds
from veil.bits.numerics.quadratic import Quadratic
from veil.core.arrays import Booleans, Floats, Places
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_tables import exp_minus
from veil.core.random.streams import WORD, Rng, Words, one_word, random_words

Extended = tuple[int, int]

_FIRST_SWEEPS = 4
_LOGIT_SLACK = 2.0**-40
_LOG_2 = math.log(2.0)
_ROOT_HALF = math.sqrt(0.5)
_GUARD = 64
# Cells of all tables that are worked on together.
_AT_A_TIME = 2**16
# Trial runs, and what they may take.
_TRIALS, _TRIAL_SWEEPS, _TRIAL_WORDS = 4, 2**9, 2**23
# Words that a run which is called fast may need, and its sweeps.
_MOST_WORDS, _MOST_SWEEPS = 2**28, 2**12


def coalesces_fast(quadratic: Quadratic) -> bool:
    """Whether it is proved that runs are short. False does not say that they are long."""
    q = Quadratic(quadratic.theta, rows=1) if quadratic.rows_independent else quadratic
    sweeps = contraction(q).sweeps
    return sweeps <= _MOST_SWEEPS and sweeps * q.cells <= _MOST_WORDS


@lru_cache(maxsize=64)
def coalesces_in_trial(quadratic: Quadratic) -> bool:
    """Whether trial runs with public, fixed numbers agreed soon.

    It proves nothing about how long other runs take, but how long they take is no matter of exactness: the
    choice of the sampler depends on the parameters alone, and a run is never cut short. The time until the
    bounds agree has the same law forwards as from the past.
    """
    q = Quadratic(quadratic.theta, rows=1) if quadratic.rows_independent else quadratic
    pulls = Pulls.of(q)
    slack = pulls.rounding() + _LOGIT_SLACK
    rng = np.random.default_rng(0)
    low = np.zeros((_TRIALS, *q.shape), dtype=np.uint8)
    high = np.ones_like(low)
    for _ in range(min(_TRIAL_SWEEPS, _TRIAL_WORDS // (_TRIALS * q.cells))):
        words = random_words(rng, _TRIALS * q.cells).reshape(_TRIALS, q.cells)
        for run, place in _open_places(pulls, slack, words, low, high):
            # Open comparisons are rare; a bit of which nothing is known is a bound as well.
            low[run].flat[place], high[run].flat[place] = 0, 1
        if (low == high).all():
            return True
    return False


def sample_by_coupling(rng: Rng, *, quadratic: Quadratic, size: int) -> Booleans:
    """So many independent tables, exact. Without `coalesces_fast` this may take very long."""
    rows, columns = quadratic.shape
    if quadratic.rows_independent and rows > 1:
        # Rows are drawn as tables of their own.
        one = Quadratic(quadratic.theta, rows=1)
        return sample_by_coupling(rng, quadratic=one, size=size * rows).reshape(size, rows, columns)
    drawn = np.empty((size, rows, columns), dtype=np.bool_)
    pulls = Pulls.of(quadratic)
    together = max(1, _AT_A_TIME // quadratic.cells)
    for begin in range(0, size, together):
        some = drawn[begin : begin + together]
        _Runs(rng, pulls, rows, len(some)).finish(some)
    return drawn


class _Runs:
    """Runs from the past, side by side. blocks[k] are the words of sweeps -2^k F ... -2^(k-1) F - 1."""

    def __init__(self, rng: Rng, pulls: Pulls, rows: int, count: int) -> None:
        self._rng, self._pulls = rng, pulls
        self._shape = rows, len(pulls.theta)
        self._slack = pulls.rounding() + _LOGIT_SLACK
        self._runs = np.arange(count)
        self._blocks: list[Words] = []
        # More bits of some numbers: (run, block, place) -> number, bits.
        self._longer: dict[tuple[int, int, int], Extended] = {}

    def finish(self, drawn: Booleans) -> None:
        while len(self._runs):
            self._reach_back()
            low = np.zeros((len(self._runs), *self._shape), dtype=np.uint8)
            high = np.ones_like(low)
            for block in range(len(self._blocks) - 1, -1, -1):
                self._advance(block, low, high)
            agree = (low == high).all(axis=(1, 2))
            drawn[self._runs[agree]] = low[agree].astype(np.bool_)
            self._runs = self._runs[~agree]
            self._blocks = [words[~agree] for words in self._blocks]

    def _reach_back(self) -> None:
        """Twice as many sweeps; those that there were are kept."""
        sweeps = _FIRST_SWEEPS * 2 ** max(0, len(self._blocks) - 1)
        cells = self._shape[0] * self._shape[1]
        words = random_words(self._rng, len(self._runs) * sweeps * cells)
        self._blocks.append(words.reshape(len(self._runs), sweeps * cells))

    def _advance(self, block: int, low: Cells, high: Cells) -> None:
        for run, place in _open_places(self._pulls, self._slack, self._blocks[block], low, high):
            self._settle(block, run, place, low[run], high[run])

    def _settle(self, block: int, run: int, place: int, low: Cells, high: Cells) -> None:
        row, column = divmod(place % (self._shape[0] * self._shape[1]), self._shape[1])
        key = int(self._runs[run]), block, place
        number = self._longer.get(key, (int(self._blocks[block][run, place]), WORD))
        least = self._pulls.exact(low, high, row, column)
        most = self._pulls.exact(high, low, row, column)
        lower, number = below_logistic(least, number, lambda: one_word(self._rng))
        upper, number = below_logistic(most, number, lambda: one_word(self._rng))
        self._longer[key] = number
        low[row, column], high[row, column] = lower, upper


def _open_places(
    pulls: Pulls, slack: Floats, words: Words, low: Cells, high: Cells
) -> Iterator[tuple[int, int]]:
    """Advance every run through its words; yields the comparisons that floats leave open, to be settled."""
    done = np.zeros(len(words), dtype=np.int64)
    while (done < words.shape[1]).any():
        _sweep(pulls, slack, words, low, high, done)
        for run in np.flatnonzero(done < words.shape[1]).tolist():
            yield run, int(done[run])
            done[run] += 1


def below_logistic(x: Fraction, number: Extended, more: Callable[[], int]) -> tuple[bool, Extended]:
    """Whether u < 1 / (1 + exp(-x)) for the uniform u that begins with these bits, and the bits now known."""
    word, bits = number
    while True:
        precision = bits + _GUARD
        one = 1 << precision
        least, most = exp_minus(abs(x), precision) if x else (one, one)
        # u lies in [word, word + 1) / 2^bits, and e = exp(-|x|) in [least, most] / one. The bound is
        # 1 / (1 + e), or e / (1 + e) for negative x, which grows with e.
        if x >= 0:
            is_below = (word + 1) * (one + most) <= one << bits
            is_above = word * (one + least) >= one << bits
        else:
            is_below = (word + 1) * (one + least) <= least << bits
            is_above = word * (one + most) >= most << bits
        if is_below or is_above:
            return is_below, (word, bits)
        word, bits = word << WORD | more(), bits + WORD


@compiled
def _log_parts(x: float) -> tuple[float, float]:
    """e and log(m) with x = m 2^e."""
    m, e = math.frexp(x)
    if m < _ROOT_HALF:
        m *= 2.0
        e -= 1
    z = (m - 1.0) / (m + 1.0)
    square = z * z
    series = 1.0 / 25.0
    for k in range(23, 0, -2):
        series = series * square + 1.0 / k
    return float(e), 2.0 * z * series


@compiled
def logit(word: int) -> tuple[float, float]:
    """logit((word + 1/2) / 2^64), and how far that of any u that begins with the word can be from it."""
    below = float(np.uint64(word))
    above = float(~np.uint64(word))
    if below == 0.0 or above == 0.0:
        return 0.0, np.inf
    e, log_m = _log_parts(below + 0.5)
    f, log_n = _log_parts(above + 0.5)
    return (e - f) * _LOG_2 + (log_m - log_n), 1.0 / below + 1.0 / above


@compiled
def _sweep(pulls: Pulls, slack: Floats, words: Words, low: Cells, high: Cells, done: Places) -> None:
    """Advance every run until its words are used up or a comparison is open."""
    rows, columns = slack.shape
    cells = rows * columns
    low_sums, high_sums = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    for run in range(len(words)):
        below, above = low[run], high[run]
        low_sums[:] = 0
        high_sums[:] = 0
        unknown = 0
        for row in range(rows):
            for column in range(columns):
                low_sums[column] += below[row, column]
                high_sums[column] += above[row, column]
                unknown += above[row, column] - below[row, column]
        place = done[run]
        while place < words.shape[1]:
            cell = place % cells
            row, column = cell // columns, cell % columns
            mark, room = logit(words[run, place])
            room += slack[row, column]
            if unknown:
                least, most = pull_bounds(pulls, below, above, low_sums, high_sums, row, column)
            else:
                least = pull(pulls, below, low_sums, row, column)
                most = least
            if not (abs(least - mark) > room and abs(most - mark) > room):
                break
            lower = np.uint8(1) if mark < least else np.uint8(0)
            upper = np.uint8(1) if mark < most else np.uint8(0)
            unknown += (int(upper) - int(lower)) - (int(above[row, column]) - int(below[row, column]))
            low_sums[column] += int(lower) - int(below[row, column])
            high_sums[column] += int(upper) - int(above[row, column])
            below[row, column] = lower
            above[row, column] = upper
            place += 1
        done[run] = place
