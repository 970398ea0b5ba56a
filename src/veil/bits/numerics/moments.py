"""What is left of bits after exchangeable noise, and unbiased estimates of what they were.

A record x of P bits is released as y = x XOR b. The law of the noise b depends on its number of ones |b|
alone, and the records' noises are independent. In signs, s = 1 - 2x and t = 1 - 2y, the release multiplies:
t_i = s_i r_i with r = 1 - 2b. For a set S of j columns write s_S for the product of its signs. Then

    E t_S = kappa_j s_S,   kappa_j = E r_S = E[K_j(|b|)] / C(P, j),

K_j(w) = sum_k (-1)^k C(w, k) C(P - w, j - k), the Krawtchouk polynomial. Proof: given |b| = w the ones are a
uniform set of w columns, so E[r_S | w] is the mean of r_S over the sets S of size j, and K_j(w) adds up r_S
over them, by the number k of ones in S. In particular kappa_1 = 1 - 2q, with q the flip rate, and kappa_2 =
E[((P - 2|b|)^2 - P) / (P (P - 1))]. Independent flips have kappa_j = kappa_1^j; others have not: kappa_2 may
be 0 while kappa_1 is not (the noise that keeps to the nearer half of an odd number of columns).

Estimates. t_S / kappa_j is an unbiased estimate of s_S; its variance, given the table, is 1 / kappa_j^2 - 1,
because t_S^2 = 1. So for n records, with T = sum of t over the records:

    ones of a column   (n - T_i / kappa_1) / 2,        variance n (1 / kappa_1^2 - 1) / 4;
    an entry           (y - q) / (1 - 2q),             variance (1 / kappa_1^2 - 1) / 4;
    a cell of a 2 x 2 table of columns i, j: with u = t_i or -t_i and v = t_j or -t_j, positive where the
    released bit is the cell's, sum of g(u, v), g = (1 + (u + v) / kappa_1 + u v / kappa_2) / 4.

E g is the indicator (1 + a)(1 + c) / 4 of the true cell, a and c the true signs in place of u and v. With
u^2 = v^2 = 1 and E u = kappa_1 a, E v = kappa_1 c, E u v = kappa_2 a c,

    16 E g^2 = 1 + 2 / kappa_1^2 + 1 / kappa_2^2 + 2 (1 + 1 / kappa_2) (a + c)
               + 2 (1 + kappa_2 / kappa_1^2) a c,

and the variance is the sum of E g^2 over the records less the true count, as the indicator is its own
square. It is linear in sums of signs that are estimated without bias, so it is too; the estimate is brought
into its range over all tables (the four sign pairs).

Intervals. All are about the noise alone: the table is fixed, the n rows of noise are independent. `normal`
takes the normal law for a sum of n bounded terms; its coverage is near to stated for large n. `proved` holds
for every n and every table: each row's term lies in an interval of a known width c, so P(|estimate - truth|
>= h) <= 2 exp(-2 h^2 / (n c^2)) (Hoeffding). c = 1 / kappa_1 for a column and max g - min g for a cell.
Both are cut to what is possible, [0, n], which loses no coverage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtri

from veil.bits.domain import checked_table
from veil.core.arrays import Floats, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.staircase import staircase

# Far above the rounding of the sums in floats, relative to their largest possible size.
_ROUNDING = 2.0**-45


def krawtchouk(columns: int, order: int) -> list[int]:
    """K_order(w) for w = 0 ... columns: products of `order` signs, added up, if w of the signs are -1.

    >>> krawtchouk(4, 2)
    [6, 0, -2, 0, 6]
    """
    return [
        sum((-1) ** k * math.comb(w, k) * math.comb(columns - w, order - k) for k in range(order + 1))
        for w in range(columns + 1)
    ]


def signal(law: Sequence[Fraction], order: int) -> Fraction:
    """kappa_order of noise whose number of ones has the weights law[0] ... law[P], exactly."""
    columns = len(law) - 1
    products = krawtchouk(columns, order)
    total = sum((weight * k for weight, k in zip(law, products, strict=True)), Fraction(0))
    return total / (sum(law, Fraction(0)) * math.comb(columns, order))


def staircase_law(columns: int, epsilon: float, *, flips: int | None = None) -> list[Fraction]:
    """The weights of 0 ... P flipped bits under the best noise when `flips` bits (None: all) may change."""
    steps = staircase(columns, 2, flips or columns, epsilon)
    return [math.comb(columns, w) * weight for w, weight in enumerate(steps.weights())]


@dataclass(frozen=True)
class BitSignals:
    """kappa_1 and kappa_2 of a noise on `columns` bits: what it leaves of a bit and of a pair of bits."""

    columns: int
    single: Fraction
    pair: Fraction

    @classmethod
    def of_law(cls, law: Sequence[Fraction]) -> BitSignals:
        """Of the weights of 0 ... P flipped bits."""
        pair = signal(law, 2) if len(law) > 2 else Fraction(0)
        return cls(len(law) - 1, signal(law, 1), pair)

    @classmethod
    def staircase(cls, columns: int, epsilon: float, *, flips: int | None = None) -> BitSignals:
        """Of the best noise, where the bits of a record flip together.

        >>> round(float(BitSignals.staircase(16, 1.0).pair), 5)
        0.00665
        """
        return cls.of_law(staircase_law(columns, epsilon, flips=flips))

    @classmethod
    def independent(cls, columns: int, flip_rate: float | Fraction) -> BitSignals:
        """Of bits that flip by themselves with this probability."""
        single = 1 - 2 * Fraction(flip_rate)
        return cls(columns, single, single * single)

    @property
    def flip_rate(self) -> float:
        return float((1 - self.single) / 2)

    def needed(self, order: int) -> float:
        """kappa_order as a float, or an error if nothing is left to estimate from."""
        kappa = float(self.single if order == 1 else self.pair)
        if kappa == 0.0:
            raise InvalidArgument(
                "signals",
                expected=f"noise that leaves something of {'bits' if order == 1 else 'pairs of bits'}",
                found=f"kappa_{order} = 0 for {self.columns} columns",
                hint="A larger epsilon, or one column more or less, changes that.",
            )
        return kappa


@dataclass(frozen=True)
class BitEstimates:
    """Unbiased estimates from n released records, the variance of each, and intervals.

    width: each record's term lies in an interval of this width. most: the largest possible true value.
    """

    value: Floats
    variance: Floats
    rows: int
    width: float
    most: float

    def normal(self, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Intervals that cover about as often as stated, for many records."""
        half = float(ndtri(0.5 + 0.5 * _level(confidence))) * np.sqrt(self.variance)
        return self._within(half)

    def proved(self, *, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """Intervals that cover at least as often as stated, always; together: all of them at once."""
        failing = (1.0 - _level(confidence)) / (max(1, self.value.size) if together else 1)
        half = self.width * math.sqrt(self.rows * math.log(2.0 / failing) / 2.0)
        return self._within(np.full(self.value.shape, half + _ROUNDING * self.width * (1 + self.rows)))

    def _within(self, half: Floats) -> tuple[Floats, Floats]:
        low, high = self.value - half, self.value + half
        return np.clip(low, 0.0, self.most), np.clip(high, 0.0, self.most)


def column_sums(released: Any, signals: BitSignals) -> BitEstimates:
    """The number of ones in every column before the noise."""
    bits, kappa = checked_table("released", released, signals.columns), signals.needed(1)
    rows = len(bits)
    signs = (rows - 2 * bits.sum(axis=0, dtype=np.int64)).astype(np.float64)
    variance = np.full(signals.columns, rows * (kappa**-2 - 1.0) / 4.0)
    return BitEstimates((rows - signs / kappa) / 2.0, variance, rows, 1.0 / abs(kappa), float(rows))


def entries(released: Any, signals: BitSignals) -> BitEstimates:
    """The table itself: unbiased numbers, far outside 0 to 1 where the noise is strong."""
    bits, kappa = checked_table("released", released, signals.columns), signals.needed(1)
    value = (1.0 - (1.0 - 2.0 * bits.astype(np.float64)) / kappa) / 2.0
    variance = np.full(value.shape, (kappa**-2 - 1.0) / 4.0)
    return BitEstimates(value, variance, 1, 1.0 / abs(kappa), 1.0)


def pair_tables(released: Any, signals: BitSignals, pairs: Any = None) -> BitEstimates:
    """For each pair of columns (None: all with i < j) the 2 x 2 table of their values: [pair, i's, j's].

    The margins of a table are the estimates of `column_sums`.
    """
    bits, k1, k2 = checked_table("released", released, signals.columns), signals.needed(1), signals.needed(2)
    rows = len(bits)
    first, second = _pairs(pairs, signals.columns)
    signs = 1 - 2 * bits.astype(np.int64)
    single = signs.sum(axis=0)
    both = (signs.astype(np.float64).T @ signs.astype(np.float64))[first, second]
    # a and c of the docstring: +1 where the column shows the cell's value, so -s for the value 1.
    turn = np.array([1.0, -1.0])
    left = single[first][:, None, None] * turn[None, :, None] / k1
    right = single[second][:, None, None] * turn[None, None, :] / k1
    product = both[:, None, None] * (turn[:, None] * turn[None, :])[None] / k2
    value = (rows + left + right + product) / 4.0
    # What one record adds to a cell at the least and at the most, over its true values.
    a, c = np.array([[1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
    each = _cell_squares(k1, k2, 1, a + c, a * c) - (1.0 + a) * (1.0 + c) / 4.0
    variance = _cell_squares(k1, k2, rows, left + right, product) - value
    variance = np.clip(variance, rows * max(0.0, each.min()), rows * each.max())
    terms = [(1.0 + (u + v) / k1 + u * v / k2) / 4.0 for u in (1, -1) for v in (1, -1)]
    return BitEstimates(value, variance, rows, max(terms) - min(terms), float(rows))


def _cell_squares(k1: float, k2: float, rows: int, signs: Floats, products: Floats) -> Floats:
    """The sum of E g^2 over the records, from the sums of a + c and of a c."""
    squares = rows * (1.0 + 2.0 / k1**2 + 1.0 / k2**2) + 2.0 * (1.0 + 1.0 / k2) * signs
    return np.asarray((squares + 2.0 * (1.0 + k2 / k1**2) * products) / 16.0)


def _pairs(pairs: Any, columns: int) -> tuple[Places, Places]:
    if pairs is None:
        return np.triu_indices(columns, 1)
    places = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if places.size and (places.min() < 0 or places.max() >= columns or (places[:, 0] == places[:, 1]).any()):
        raise InvalidArgument(
            "pairs", expected=f"two different columns of 0 to {columns - 1}", found="others"
        )
    return places[:, 0], places[:, 1]


def _level(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument("confidence", expected="a number between 0 and 1", found=repr(confidence))
    return confidence
