"""The laws of noise on bits, by their definitions and their public numbers, as rational numbers."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import prod
from typing import Any

from tests.neighbours.bits import Table, tables
from veil.bits import MatrixBernoulli, RandomizedResponse, StaircaseXor, Xor, XorBlocks

Noise = dict[Table, Fraction]
_DIGITS = Context(prec=60)
_NEAR = 2**150


def noise_law(mechanism: Any, rows: int, columns: int) -> Noise:
    """The probability of every table of flips."""
    weights = {table: _weight(mechanism, table) for table in tables(rows, columns)}
    total = sum(weights.values(), Fraction(0))
    return {table: weight / total for table, weight in weights.items()}


def _weight(mechanism: Any, table: Table) -> Fraction:
    if isinstance(mechanism, RandomizedResponse):
        ones = sum(map(sum, table))
        rate = Fraction(mechanism.flip_rate)
        return rate**ones * (1 - rate) ** (sum(map(len, table)) - ones)
    if isinstance(mechanism, StaircaseXor):
        falling = mechanism.steps.weights()
        if mechanism.rows is not None:
            return falling[sum(map(sum, table))]
        return prod((falling[sum(row)] for row in table), start=Fraction(1))
    return power_of_e(energy(mechanism, table))


def energy(mechanism: Any, table: Table) -> Fraction:
    """log P(b) but for a constant, b the flips; where the noise is its complement, of that."""
    if isinstance(mechanism, XorBlocks):
        total, top = Fraction(0), 0
        for band in mechanism.bands:
            height, left = band[0].noise.rows, 0
            for block in band:
                part = tuple(row[left : left + block.noise.columns] for row in table[top : top + height])
                total += energy(block, part)
                left += block.noise.columns
            top += height
        return total
    assert isinstance(mechanism, Xor)
    drawn = tuple(tuple(1 - bit for bit in row) for row in table) if mechanism.complement else table
    return quadratic(mechanism.noise, drawn)


def quadratic(noise: MatrixBernoulli, table: Table) -> Fraction:
    """b_i' theta b_i for every row, and b_i' Lambda b_j for every two rows, in both orders."""
    theta = noise.theta.tolist()
    coupling = None if noise.common is None else noise.common.tolist()
    assert noise.pairs is None
    total = sum((_form(row, theta, row) for row in table), Fraction(0))
    if coupling is not None:
        for i, one in enumerate(table):
            for j, other in enumerate(table):
                if i != j:
                    total += _form(one, coupling, other) if i < j else _form(other, coupling, one)
    return total


def _form(left: tuple[int, ...], matrix: list[list[float]], right: tuple[int, ...]) -> Fraction:
    return sum(
        (Fraction(matrix[i][j]) for i, a in enumerate(left) for j, b in enumerate(right) if a and b),
        Fraction(0),
    )


def power_of_e(exponent: Fraction) -> Fraction:
    """The rational number next to e^exponent: its first 45 digits are right."""
    written = _DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(round(Fraction(_DIGITS.exp(written)) * _NEAR), _NEAR)


def xor(table: Table, flips: Table) -> Table:
    return tuple(
        tuple(a ^ b for a, b in zip(row, flip, strict=True)) for row, flip in zip(table, flips, strict=True)
    )


def seen(noise: Noise, table: Table) -> Noise:
    """The law of the table that is released: every bit xor its flip."""
    return {xor(table, flips): chance for flips, chance in noise.items()}
