"""Exact Hamiltonian Monte Carlo for matrix-valued Bernoulli bits (Pakman and Paninski, 2013), with its walls.

Bits b are the signs of real numbers y. Given the signs, y is normal, cut off at 0: the density of y is
proportional to exp(E(b(y)) - |y|^2 / 2). With a normal velocity q the motion keeps E - |y|^2 / 2 - |q|^2 /
2: between walls every coordinate swings, y_i(t) = r sin(t + phase). It is at 0 once in every half turn pi,
whatever happened there before, with speed r. There the energy would change by D = the pull on the bit, or
minus it. If r^2 / 2 > -D, the coordinate passes: the bit flips and r^2 becomes r^2 + 2 D. Else it bounces
off: the sign stays. So the walls are met in an order that repeats every half turn.

The energy here is b' Pi b itself: in signs s = 2 b - 1 it is (s' Pi s + 2 s' Pi 1) / 4 and a constant.
Without the quarter, as the XOR paper prints it, the noise would have four times the privacy loss.

Every table is the end of a chain of its own, started at fair coins. Each step keeps the law, exactly but
for the rounding of floats; how far a chain of finite length is from it, is not known. So is what it adds to
delta.
"""

from __future__ import annotations

import math

import numpy as np

from veil.bits.numerics.fields import Cells, Pulls, pull
from veil.bits.numerics.quadratic import Quadratic
from veil.core.arrays import Booleans, Floats
from veil.core.checks import integer, positive
from veil.core.numerics.compiled import compiled
from veil.core.random.streams import Rng

# A quarter turn more than a whole one: y ends where only q was, and every wall was met twice or more.
TRAVEL = 2.5 * math.pi
BURN_IN = 100
_TINY = 2.0**-1000
# Cells of all tables that are worked on together.
_AT_A_TIME = 2**16


def sample_by_hmc(
    rng: Rng, *, quadratic: Quadratic, size: int, travel: float = TRAVEL, burn_in: int = BURN_IN
) -> Booleans:
    """So many tables, each after `burn_in` steps of so much travel: nearly of the law, not quite."""
    travel, burn_in = positive("travel", travel), integer("burn_in", burn_in, least=1)
    pulls = Pulls.of(quadratic)
    drawn = np.empty((size, *quadratic.shape), dtype=np.bool_)
    together = max(1, _AT_A_TIME // quadratic.cells)
    for begin in range(0, size, together):
        some = drawn[begin : begin + together]
        places = rng.standard_normal(some.shape)
        for _ in range(burn_in):
            _travel_all(pulls, places, rng.standard_normal(some.shape), travel)
        some[:] = places > 0.0
    return drawn


@compiled
def _travel_all(pulls: Pulls, places: Floats, speeds: Floats, travel: float) -> None:
    for table in range(len(places)):
        _travel(pulls, places[table], speeds[table], travel)


@compiled
def _travel(pulls: Pulls, places: Floats, speeds: Floats, travel: float) -> None:
    """Move all coordinates for a time; places are where they end."""
    rows, columns = places.shape
    bits: Cells = np.zeros((rows, columns), dtype=np.uint8)
    sums = np.zeros(columns, dtype=np.int64)
    first = np.empty(rows * columns)
    square = np.empty((rows, columns))
    for row in range(rows):
        for column in range(columns):
            y, q = places[row, column], speeds[row, column]
            square[row, column] = y * y + q * q
            if y > 0.0:
                bits[row, column] = 1
                sums[column] += 1
            phase = math.atan2(y, q)
            # The next time at which t + phase is a multiple of pi.
            first[row * columns + column] = math.pi - phase if phase > 0.0 else -phase
    order = np.argsort(first)
    turn = 0.0
    while turn < travel:
        for cell in order:
            if first[cell] + turn >= travel:
                break
            row, column = cell // columns, cell % columns
            gain = pull(pulls, bits, sums, row, column)
            if bits[row, column]:
                gain = -gain
            if square[row, column] + 2.0 * gain > 0.0:
                square[row, column] += 2.0 * gain
                sums[column] += 1 - 2 * int(bits[row, column])
                bits[row, column] = 1 - bits[row, column]
        turn += math.pi
    for row in range(rows):
        for column in range(columns):
            begin = first[row * columns + column]
            radius = math.sqrt(square[row, column])
            # Whole half turns since the first wall; the sign is that of the bit.
            since = (travel - begin) - math.pi * math.floor((travel - begin) / math.pi)
            # A size of 0 would lose the sign.
            size = max(radius * math.sin(since), _TINY)
            places[row, column] = size if bits[row, column] else -size
