"""Matrix-valued Bernoulli bits, P(b) proportional to exp(b' Pi b), by the best sampler for the parameters.

    columns    theta and Lambda diagonal: each column by its number of ones, then a uniform subset
    table      independent rows of at most 16 columns, or at most 16 cells in all: one exact choice
    coupling   couplings so weak that the past is proved to be forgotten soon: coupling from the past
    hmc        everything else: a Markov chain, and so only nearly the right law

The first three are exact: every comparison has the outcome that it has for the real numbers.

Tables of thresholds. The weights w_0 ... w_{m-1} are real numbers, known by whole numbers that enclose them:
an enclosure (low, high, shift) stands for a number in [low, high] 2^shift. A uniform real number u in [0, 1)
chooses the k for which C_{k-1} <= u < C_k, C_k = (w_0 + ... + w_k) / (w_0 + ... + w_{m-1}). Of u only a word
of 64 bits is drawn. If it lies between two thresholds whatever they are within their enclosures, k is known.
Otherwise more bits of the same u are drawn and all enclosures are made narrower: the outcome is that of the
real numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Literal

import numpy as np

from veil.bits.numerics.published_bounds import expected_ones_in_closed_form
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers.bernoulli_coupling import coalesces_fast, coalesces_in_trial, sample_by_coupling
from veil.bits.samplers.bernoulli_hmc import sample_by_hmc
from veil.core.arrays import Booleans, Floats, Places
from veil.core.checks import choice
from veil.core.errors import InvalidArgument
from veil.core.random.exact_tables import exp_minus
from veil.core.random.streams import WORD, Rng, one_word, random_words

Method = Literal["columns", "table", "coupling", "hmc"]

# A table of 2^16 enclosures takes a second to make.
MOST_TABLED = 16
_CELLS_AT_A_TIME = 2**22
# A number in [low, high] 2^shift.
Enclosure = tuple[int, int, int]
ONE: Enclosure = (1, 1, 0)
# Bits that the enclosures have beyond those of the words: they swallow the rounding of long products.
_GUARD = 128


def method_for(quadratic: Quadratic) -> Method:
    """The sampler that "auto" takes. It depends on the parameters alone, never on a draw."""
    if quadratic.column_form is not None:
        return "columns"
    if _has_table(quadratic):
        return "table"
    return "coupling" if coalesces_fast(quadratic) or coalesces_in_trial(quadratic) else "hmc"


def _has_table(q: Quadratic) -> bool:
    return (q.columns if q.rows_independent else q.cells) <= MOST_TABLED


def sample_matrix_bernoulli(
    rng: Rng, *, quadratic: Quadratic, size: int, method: Method | Literal["auto"] = "auto"
) -> Booleans:
    """So many independent tables, of shape (size, N, P)."""
    samplers = {"columns": sample_by_columns, "table": sample_by_table, "coupling": sample_by_coupling}
    chosen = choice("method", method, ("auto", *samplers, "hmc"))
    sampler = samplers.get(method_for(quadratic) if chosen == "auto" else chosen, sample_by_hmc)
    return sampler(rng, quadratic=quadratic, size=size)


def sample_by_columns(rng: Rng, *, quadratic: Quadratic, size: int) -> Booleans:
    """Independent columns of alike rows: how many ones, then which rows have them."""
    form = quadratic.column_form
    if form is None:
        raise InvalidArgument("quadratic", expected="diagonal theta and coupling", found="others")
    rows, columns = quadratic.shape
    ones = np.empty((size, columns), dtype=np.int64)
    kinds, kind = np.unique(np.column_stack(form), axis=0, return_inverse=True)
    for which, (diagonal, between) in enumerate(kinds.tolist()):
        here = np.flatnonzero(kind.ravel() == which)
        drawn = ones_of_column(rows, diagonal, between).draw(rng, size * len(here))
        ones[:, here] = drawn.reshape(size, len(here))
    bits = np.arange(rows) < ones[..., None]
    # Every order of the rows is equally likely: whole numbers below a bound, drawn without rounding.
    rng.permuted(bits, axis=-1, out=bits)
    return np.ascontiguousarray(bits.transpose(0, 2, 1))


def sample_by_table(rng: Rng, *, quadratic: Quadratic, size: int) -> Booleans:
    """Row by row, or the whole table at once, by one exact choice among all."""
    rows, columns = quadratic.shape
    if not _has_table(quadratic):
        raise InvalidArgument(
            "quadratic",
            expected=f"independent rows of at most {MOST_TABLED} columns, or at most {MOST_TABLED} cells",
            found=f"{rows} rows of {columns} columns",
        )
    matrix = quadratic.theta if quadratic.rows_independent else quadratic.pi()
    times = size * (rows if quadratic.rows_independent else 1)
    chosen = _choice(matrix.tobytes(), len(matrix)).draw(rng, times)
    bits = (chosen[:, None] >> np.arange(len(matrix)) & 1).astype(np.bool_)
    return bits.reshape(size, rows, columns)


def expected_ones(quadratic: Quadratic, *, rng: Rng | None = None, samples: int = 400) -> tuple[float, float]:
    """E |B|^2 and its error: 0 for a closed form, otherwise the standard error of a Monte Carlo mean.

    The error leaves out that a Hamiltonian chain, where no exact sampler is known, is only near its law.
    """
    closed = expected_ones_in_closed_form(quadratic)
    if closed is not None:
        return closed, 0.0
    if rng is None:
        raise InvalidArgument("rng", expected="a generator: there is no closed form", found="None")
    if samples < 2:
        raise InvalidArgument("samples", expected="at least 2", found=str(samples))
    together = max(1, _CELLS_AT_A_TIME // quadratic.cells)
    sizes = [min(together, samples - begin) for begin in range(0, samples, together)]
    drawn = (sample_matrix_bernoulli(rng, quadratic=quadratic, size=size) for size in sizes)
    counts = np.concatenate([tables.sum(axis=(1, 2)) for tables in drawn]).astype(np.float64)
    return float(counts.mean()), float(counts.std(ddof=1)) / math.sqrt(samples)


@lru_cache(maxsize=8)
def _choice(entries: bytes, length: int) -> EnclosedChoice:
    matrix = np.frombuffer(entries).reshape(length, length)
    return EnclosedChoice(lambda bits: table_weights(matrix, bits))


def product(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    low, high, shift = a[0] * b[0], a[1] * b[1], a[2] + b[2]
    cut = high.bit_length() - bits
    if cut <= 0:
        return low, high, shift
    return low >> cut, -(-high >> cut), shift + cut


def times_ratio(a: Enclosure, top: int, bottom: int, bits: int) -> Enclosure:
    """a top / bottom, for whole numbers that are positive."""
    raised = bottom.bit_length() + bits
    low, high = (a[0] * top << raised) // bottom, -(-(a[1] * top << raised) // bottom)
    return product((low, high, a[2] - raised), ONE, bits)


def exponential(x: Fraction, bits: int) -> Enclosure:
    """exp(x): that of |x| / 2^h < 1, squared h times."""
    size = abs(x)
    halvings = int(size).bit_length()
    # Each squaring doubles the relative error.
    inner = bits + 2 * halvings + 8
    if not size:
        return ONE
    low, high = exp_minus(size / 2**halvings, inner)
    if x > 0:
        one = 1 << 2 * inner
        low, high = one // high, -(-one // low)
    power: Enclosure = (low, high, -inner)
    for _ in range(halvings):
        power = product(power, power, inner)
    return power


def enclosing_thresholds(weights: Sequence[Enclosure], bits: int) -> tuple[list[int], list[int]]:
    """For each threshold but the last: the first and the last number of so many bits that leave it open."""
    top = max(high.bit_length() + shift for _, high, shift in weights if high)
    unit = top - bits - _GUARD
    lows, highs = [], []
    for low, high, shift in weights:
        up = shift - unit
        lows.append(low << up if up >= 0 else low >> -up)
        highs.append(high << up if up >= 0 else -(-high >> -up))
    least, most = list(accumulate(lows)), list(accumulate(highs))
    first = [(part << bits) // most[-1] for part in least[:-1]]
    last = [min(-(-(part << bits) // least[-1]), 1 << bits) - 1 for part in most[:-1]]
    return first, last


class EnclosedChoice:
    """The same choice many times. `weights` gives enclosures of so many bits, in the same order always."""

    def __init__(self, weights: Callable[[int], Sequence[Enclosure]]) -> None:
        self._weights = weights
        first, last = self._thresholds(WORD)
        self._first = np.array(first, dtype=np.uint64)
        # last[k] belongs to the threshold below option k. Below option 0 there is none: the word 0 is sent
        # to be settled without need, which does no harm.
        self._last = np.array([0, *last], dtype=np.uint64)

    def _thresholds(self, bits: int) -> tuple[list[int], list[int]]:
        return enclosing_thresholds(self._weights(bits + _GUARD), bits)

    def draw(self, rng: Rng, size: int) -> Places:
        """The option chosen, so many times."""
        if not len(self._first):
            return np.zeros(size, dtype=np.int64)
        words = random_words(rng, size)
        chosen = np.searchsorted(self._first, words, side="right")
        for row in np.flatnonzero(words <= self._last[chosen]).tolist():
            chosen[row] = self.settled(int(words[row]), lambda: one_word(rng))
        return chosen

    def settled(self, word: int, more: Callable[[], int]) -> int:
        """The option that a uniform number with this first word stands for."""
        bits = WORD
        while True:
            first, last = self._thresholds(bits)
            option = bisect_right(first, word)
            if option == 0 or word > last[option - 1]:
                return option
            word, bits = word << WORD | more(), bits + WORD


@lru_cache(maxsize=64)
def ones_of_column(rows: int, diagonal: float, between: float) -> EnclosedChoice:
    """The number M of ones in a column of alike rows: weights C(N, M) exp((c - l) M + l M^2)."""
    return EnclosedChoice(lambda bits: column_weights(rows, Fraction(diagonal), Fraction(between), bits))


def column_weights(rows: int, diagonal: Fraction, between: Fraction, bits: int) -> list[Enclosure]:
    """The weight of M + 1 is that of M times (N - M) / (M + 1) exp(c + 2 l M).

    The factor exp(c + 2 l M) is itself multiplied by exp(2 l) from one M to the next: its relative error
    grows like M, and that of the weight like M^2 2^-bits. It is enclosed at each step.
    """
    narrow = bits + 2 * rows.bit_length()
    weight, weights = ONE, [ONE]
    factor, growth = exponential(diagonal, narrow), exponential(2 * between, narrow)
    for ones in range(rows):
        weight = times_ratio(product(weight, factor, narrow), rows - ones, ones + 1, narrow)
        factor = product(factor, growth, narrow)
        weights.append(weight)
    return weights


def table_weights(matrix: Floats, bits: int) -> list[Enclosure]:
    """exp(x' matrix x) for x = 0 ... 2^n - 1, bit i of the number being entry i of x."""
    length = len(matrix)
    entries = [[Fraction(float(value)) for value in row] for row in matrix]
    narrow = bits + 2 * length
    powers = [ONE]
    for i in range(length):
        # exp of what entry i adds, by the entries below it.
        pull = [exponential(entries[i][i], narrow)]
        for j in range(i):
            one = exponential(2 * entries[i][j], narrow)
            pull += [product(each, one, narrow) for each in pull]
        powers += [product(a, b, narrow) for a, b in zip(powers, pull, strict=True)]
    return powers
