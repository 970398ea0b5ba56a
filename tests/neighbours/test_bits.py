"""Tables of bits of which some differ: all tables of a size, all neighbours of some, with rational laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.neighbours.bit_laws import energy, noise_law, seen, xor
from tests.neighbours.bits import Table, flipped, tables
from tests.neighbours.claims import Tally
from tests.neighbours.discrete import divergences, largest_loss
from veil.bits import BitFlips, MatrixBernoulli, RandomizedResponse, StaircaseXor, Xor, XorBlocks

_BLOCK = Xor(MatrixBernoulli([[0.4, 0.2], [0.2, -0.3]], 0.2 * np.eye(2), 2))
_PLAIN = Xor(MatrixBernoulli([[0.4, 0.2], [0.2, -0.3]], 0.2 * np.eye(2), 2), complement=False)
_ROW = Xor(MatrixBernoulli([[0.4, 0.2], [0.2, -0.3]], None, 1))
LAZY = "the claim is one response of the largest loss, which few outcomes have"
# A mechanism, the adjacency, the size of the tables, the part of the curve that is reached, why not more.
BITS: tuple[tuple[Any, BitFlips, tuple[int, int], float, str], ...] = (
    (RandomizedResponse(1.0), BitFlips(1), (2, 2), 0.999, ""),
    (RandomizedResponse(1.0), BitFlips(3), (2, 2), 0.999, ""),
    (RandomizedResponse(1.0), BitFlips(2, where="row"), (2, 2), 0.999, ""),
    (StaircaseXor(3, 1.0), BitFlips(3, where="row"), (2, 3), 0.999, ""),
    (StaircaseXor(3, 1.0, flips=2), BitFlips(2, where="row"), (2, 3), 0.999, ""),
    (StaircaseXor(3, 1.0, flips=2), BitFlips(2), (2, 3), 0.3, LAZY),
    (StaircaseXor(2, 1.0, flips=2, rows=3), BitFlips(2), (3, 2), 0.999, ""),
    (_BLOCK, BitFlips(2, where="row"), (2, 2), 0.3, LAZY),
    (_BLOCK, BitFlips(1), (2, 2), 0.3, LAZY),
    (_PLAIN, BitFlips(3), (2, 2), 0.3, LAZY),
    (XorBlocks([[_ROW, _ROW]]), BitFlips(4, where="row"), (1, 4), 0.1, LAZY),
)
EPSILONS = (0.0, 0.4)
_MOST = 400


def _name(case: Any) -> str:
    if isinstance(case, BitFlips):
        return f"{case.count} {case.where}"
    return getattr(case, "name", "")


@pytest.mark.parametrize(("mechanism", "adjacency", "size", "reach", "why"), BITS, ids=_name)
def test_all_pairs(
    mechanism: Any, adjacency: BitFlips, size: tuple[int, int], reach: float, why: str
) -> None:
    """Noise that is added by xor treats all tables alike; still some other than the empty one are tried."""
    assert reach > 0.95 or why
    noise = noise_law(mechanism, *size)
    assert len(noise) == 2 ** (size[0] * size[1])
    exponents = {flips: energy(mechanism, flips) for flips in noise} if is_quadratic(mechanism) else None
    tally = Tally(f"{mechanism.name}, {adjacency.words}", mechanism.profile(adjacency))
    listed = list(tables(*size))
    for table in (listed[0], listed[len(listed) // 3]):
        law = seen(noise, table)
        for other in flipped(table, adjacency.count, adjacency.where):
            if tally.pairs >= _MOST:
                break
            near = seen(noise, other)
            tally.pairs += 1
            loss = largest_loss(law, near) if exponents is None else exact_loss(exponents, table, other)
            tally.add_loss(loss, (table, other))
            for epsilon in EPSILONS:
                tally.add(epsilon, divergences(law, near, epsilon)[:1], (table, other))
    assert tally.reached[-1.0] > 0.999
    tally.close(least=reach)


def is_quadratic(mechanism: Any) -> bool:
    return isinstance(mechanism, (Xor, XorBlocks))


def exact_loss(exponents: dict[Table, Fraction], table: Table, other: Table) -> Fraction:
    """The largest log ratio where the law is a power of e: by the exponents, which are exact."""
    changed = xor(table, other)
    return max(abs(exponents[flips] - exponents[xor(flips, changed)]) for flips in exponents)


def test_the_laws_are_those_of_the_mechanisms() -> None:
    """The law that was written down here is the one that the mechanism states, to the digits of a float."""
    for mechanism, _, size, *_ in BITS:
        table = list(tables(*size))[5]
        stated = mechanism.distribution(np.array(table))
        for out, chance in seen(noise_law(mechanism, *size), table).items():
            assert stated[tuple(bit for row in out for bit in row)] == pytest.approx(float(chance), rel=1e-9)
