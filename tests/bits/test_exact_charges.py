"""XOR noise is charged at least its exact loss, whatever its parameters, and delta below that is not less."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import veil
from tests.core.exact_losses import ball, charge, energy_matrix, exact_loss, worst_flips
from veil.bits import BitFlips, MatrixBernoulli, RandomizedResponse, StaircaseXor, Xor, XorBlocks

SHAPES = [(1, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 1), (1, 5)]
NUMBERS: dict[str, Callable[[Random], float]] = {
    "decimals": lambda random: round(random.uniform(-2.0, 2.0), 2),
    "floats": lambda random: random.uniform(-1.0, 1.0),
    "subnormal": lambda random: random.randint(-5, 5) * 5e-324,
    "around the smallest normal": lambda random: (
        random.uniform(-1.0, 1.0) * 2.0 ** random.randint(-1060, -960)
    ),
    "of all sizes": lambda random: random.uniform(-1.0, 1.0) * 2.0 ** random.randint(-60, 39),
    "a unit apart": lambda random: 0.1 + random.randint(-3, 3) * 2.0**-56,
    "tiny beside huge": lambda random: random.choice((5e-324, -1e-16, 1.0, -1e10, 2.0**40)),
}


def random_noise(random: Random, numbers: str, shape: tuple[int, int]) -> MatrixBernoulli:
    rows, columns = shape

    def matrix() -> Any:
        values = np.array([[NUMBERS[numbers](random) for _ in range(columns)] for _ in range(columns)])
        return np.triu(values) + np.triu(values, 1).T

    coupling: Any = random.choice((None, matrix(), {}))
    if isinstance(coupling, dict):
        coupling = {pair: matrix() for pair in combinations(range(rows), 2)}
    theta = matrix()
    if random.random() < 0.2 and not isinstance(coupling, dict):
        theta = np.diag(np.diag(theta))
        coupling = None if coupling is None else np.diag(np.diag(coupling))
    return MatrixBernoulli(theta, coupling, rows)


def assert_charged(mechanism: Any, near: BitFlips) -> None:
    assert exact_loss(mechanism, near).is_at_most(charge(mechanism, near)), (mechanism, near)


def check_noise(numbers: str, seeds: range) -> None:
    for seed in seeds:
        random = Random(f"{numbers} {seed}")
        noise = random_noise(random, numbers, random.choice(SHAPES))
        for where in ("row", "anywhere"):
            for count in range(1, min(3, noise.rows * noise.columns) + 1):
                assert_charged(Xor(noise), BitFlips(count, where=where))


@pytest.mark.parametrize("numbers", NUMBERS)
def test_noise_of_any_parameters(numbers: str) -> None:
    check_noise(numbers, range(6))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_noise_of_many_parameters(numbers: str) -> None:
    check_noise(numbers, range(6, 120))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", NUMBERS)
def test_flips_in_larger_tables(numbers: str) -> None:
    """Rows that are alike, blocks of their own, and bounds that are not exact."""
    random = Random(numbers)
    for shape in ((7, 3), (6, 4), (2, 11)):
        noise = random_noise(random, numbers, shape)
        for near in (BitFlips(2), BitFlips(2, where="row"), BitFlips(3, where="row")):
            assert_charged(Xor(noise, accept="unquantified delta"), near)


def test_signed_changes_are_all_changes() -> None:
    """The oracle itself, against every table and every set of bits."""
    for seed in range(4):
        noise = random_noise(Random(seed), "decimals", ((2, 2), (3, 1), (1, 4), (2, 3))[seed])
        matrix = energy_matrix(noise)
        cells = range(len(matrix))
        energies = []
        for table in range(2 ** len(matrix)):
            ones = [cell for cell in cells if table >> cell & 1]
            energies.append(sum((matrix[a][b] for a in ones for b in ones), Fraction(0)))
        for where in ("row", "anywhere"):
            sets = [
                sum(1 << cell for cell in some)
                for size in (1, 2)
                for some in combinations(cells, size)
                if where == "anywhere" or len({cell // noise.columns for cell in some}) == 1
            ]
            worst = max(abs(e - energies[table ^ some]) for some in sets for table, e in enumerate(energies))
            assert worst_flips(noise, 2, where)[-1] == worst


@pytest.mark.slow
def test_blocks_add_up_without_rounding() -> None:
    for seed in range(6):
        random = Random(seed)
        numbers = random.choice(("decimals", "floats", "a unit apart", "subnormal"))
        blocks = [[Xor(random_noise(random, numbers, (2, 2))) for _ in range(3)] for _ in range(2)]
        for count in (1, 2, 3):
            for where in ("row", "anywhere"):
                assert_charged(XorBlocks(blocks), BitFlips(count, where=where))


def test_graphs_by_their_matrix() -> None:
    for seed in range(6):
        random = Random(seed)
        numbers = random.choice(("decimals", "floats", "a unit apart"))
        noise = random_noise(random, numbers, random.choice(((2, 2), (3, 3))))
        assert_charged(veil.graphs.XorGraph(noise, accept="unquantified delta"), BitFlips(1))


def test_many_cells_of_a_hundred_thousand() -> None:
    """One flip to a column is the worst, and all columns are alike."""
    for diagonal, between in ((0.1, 1e-17), (0.3, -1e-5), (-1.1, 5e-324), (0.7, 0.0)):
        noise = MatrixBernoulli.exchangeable(diagonal, between, rows=1_000, columns=100)
        pull = Fraction(between) * 999
        one = abs(Fraction(diagonal) + pull) + abs(pull)
        for count in (1, 3, 10, 100):
            assert charge(Xor(noise), BitFlips(count)) >= count * one
            assert charge(Xor(noise), BitFlips(count, where="row")) >= count * one


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.1])
def test_calibrated_noise_loses_at_most_the_decimal(epsilon: float) -> None:
    near = BitFlips(2)
    noise = MatrixBernoulli([[0.7]], [[0.1]], 3)
    made = veil.calibrate(lambda factor: Xor(noise.scaled(factor)), near, epsilon=epsilon)
    loss = worst_flips(made.noise, 2, "anywhere")[-1]
    assert Fraction(str(epsilon)) * (1 - Fraction(1, 10**12)) <= loss <= Fraction(str(epsilon))
    assert charge(made, near) <= Fraction(str(epsilon))


# Below the largest loss


def noise_law(mechanism: Any, rows: int, columns: int) -> list[arb]:
    """The probability of every table of flips, as balls."""
    tables = [[table >> cell & 1 for cell in range(rows * columns)] for table in range(2 ** (rows * columns))]
    weights: list[arb]
    if isinstance(mechanism, RandomizedResponse):
        rate = Fraction(mechanism.flip_rate)
        weights = [ball(rate ** sum(bits) * (1 - rate) ** (len(bits) - sum(bits))) for bits in tables]
    elif isinstance(mechanism, StaircaseXor):
        decay, levels = Fraction(mechanism.steps.decay), mechanism.steps.levels.tolist()
        weights = [ball(decay ** levels[sum(bits)]) for bits in tables]
    else:
        matrix = energy_matrix(mechanism.noise)
        size = range(len(matrix))
        energies = [sum(matrix[a][b] for a in size for b in size if bits[a] and bits[b]) for bits in tables]
        weights = [ball(Fraction(energy)).exp() for energy in energies]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


@pytest.mark.parametrize(
    ("mechanism", "near", "shape"),
    [
        (RandomizedResponse(0.1), BitFlips(1), (1, 1)),
        (RandomizedResponse(2.255), BitFlips(3), (1, 3)),
        (RandomizedResponse(1e-6), BitFlips(2), (1, 2)),
        (RandomizedResponse(31.414019235130866), BitFlips(2), (1, 2)),
        (StaircaseXor(4, 0.1), BitFlips(4, where="row"), (1, 4)),
        (StaircaseXor(5, 7.612, flips=2), BitFlips(2, where="row"), (1, 5)),
        (StaircaseXor(5, 3.0, flips=2), BitFlips(1, where="row"), (1, 5)),
        (Xor(MatrixBernoulli([[0.1]], None, 1), complement=False), BitFlips(1), (1, 1)),
        (Xor(MatrixBernoulli([[0.2, -0.1], [-0.1, 0.7]], [[0.3, 0.1], [0.1, 0.2]], 2)), BitFlips(2), (2, 2)),
    ],
    ids=repr,
)
def test_delta_below_the_largest_loss(mechanism: Any, near: BitFlips, shape: tuple[int, int]) -> None:
    profile = mechanism.profile(near)
    pure, before = profile.pure_epsilon, ctx.prec
    points = [0.0, 0.5 * pure, 0.99 * pure, pure * (1.0 - 1e-9), pure * (1.0 - 2.0**-50)]
    points += [math.nextafter(pure, 0.0), math.nextafter(math.nextafter(pure, 0.0), 0.0)]
    cells = range(shape[0] * shape[1])
    changes = [sum(1 << cell for cell in some) for k in cells for some in combinations(cells, k + 1)]
    changes = [change for change in changes if change.bit_count() <= near.count]
    try:
        ctx.prec = 600
        law = noise_law(mechanism, *shape)
        for epsilon in points:
            factor, claimed = ball(Fraction(epsilon)).exp(), ball(Fraction(profile.delta(epsilon)))
            for change in changes:
                gains = [chance - factor * law[table ^ change] for table, chance in enumerate(law)]
                exact = sum((gain for gain in gains if gain > 0), arb(0))
                assert not exact > claimed, (epsilon, change)
        assert profile.delta(pure) == 0.0
    finally:
        ctx.prec = before
