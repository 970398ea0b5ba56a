"""Neighbours of probability vectors, as their sentences say."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tests.neighbours.written import Written
from veil.vectors import L1, Averaged, Simplex, Transfer, average

Vector = list[float]


def rounded(real: Sequence[Fraction]) -> Vector:
    """The floats next to a vector of real numbers: the form in which it is handed in."""
    return [float(entry) for entry in real]


def exchange(rng: np.random.Generator, vector: Vector, mass: float, domain: Simplex) -> Vector | None:
    """ "two protected entries of the vector exchange at most MASS of probability".

    One of two protected entries gives, the other one takes. All of the mass half of the time.
    """
    protected = range(domain.size) if domain.protected is None else domain.protected
    giver, taker = (int(i) for i in rng.choice(list(protected), 2, replace=False))
    real = [Fraction(entry) for entry in vector]
    most = min(Fraction(mass), real[giver] - Fraction(domain.floor))
    if most <= 0:
        return None
    moved = most if rng.random() < 0.5 else most * Fraction(rng.random())
    real[giver] -= moved
    real[taker] += moved
    return rounded(real)


def move(rng: np.random.Generator, vector: Vector, distance: float, domain: Simplex) -> Vector | None:
    """ "the vector moves by an L1 distance of at most DISTANCE: some protected entries gain half of it
    together, others lose as much".

    Any number of entries gain, any number of others lose; how it is divided among them is random too.
    """
    protected = list(range(domain.size) if domain.protected is None else domain.protected)
    order = [int(i) for i in rng.permutation(protected)]
    cut = int(rng.integers(1, len(order)))
    end = int(rng.integers(cut + 1, len(order) + 1))
    gain, lose = order[:cut], order[cut:end]
    real = [Fraction(entry) for entry in vector]
    half = Fraction(distance) / 2
    if rng.random() < 0.3:
        half *= Fraction(rng.random())
    room = [real[i] - Fraction(domain.floor) for i in lose]
    parts = _parts(rng, half, len(lose))
    taken = [min(part, most) for part, most in zip(parts, room, strict=True)]
    # What one of them cannot lose, another one may.
    for place, most in enumerate(room):
        taken[place] += min(most - taken[place], half - sum(taken))
    total = sum(taken, Fraction(0))
    if total <= 0:
        return None
    for i, part in zip(lose, taken, strict=True):
        real[i] -= part
    for i, part in zip(gain, _parts(rng, total, len(gain)), strict=True):
        real[i] += part
    return rounded(real)


def _parts(rng: np.random.Generator, total: Fraction, number: int) -> list[Fraction]:
    """The total, divided evenly or at random."""
    weights = [Fraction(1)] * number
    if rng.random() < 0.5:
        weights = [Fraction(float(weight)) for weight in rng.dirichlet(np.full(number, 0.7)) + 1e-6]
    whole = sum(weights, Fraction(0))
    return [total * weight / whole for weight in weights]


def vector_in(rng: np.random.Generator, domain: Simplex) -> Vector:
    """A vector of the domain: at the floor in some entries, with much in others."""
    protected = list(range(domain.size) if domain.protected is None else domain.protected)
    least = np.zeros(domain.size)
    least[protected] = domain.floor
    outside = [i for i in range(domain.size) if i not in protected]
    slack = domain.slack or 0.0
    if outside:
        least[outside[0]] += slack
    free = max(0.0, 1.0 - float(least.sum()))
    shares = rng.dirichlet(np.full(domain.size, rng.choice([0.15, 1.0])))
    shares = np.where(shares < 0.02, 0.0, shares)
    vector = least + free * shares / shares.sum()
    largest = int(np.argmax(vector - least))
    return rounded_to_one([Fraction(float(entry)) for entry in vector], largest)


def near_vector(rng: np.random.Generator, vector: Vector, domain: Simplex) -> Vector:
    """The vector after something went from one entry to another: a part of it, or all down to the floor."""
    giver, taker = (int(i) for i in rng.choice(domain.size, 2, replace=False))
    is_protected = domain.protected is None or giver in domain.protected
    least = Fraction(domain.floor) if is_protected else Fraction(0)
    real = [Fraction(entry) for entry in vector]
    part = Fraction(1) if rng.random() < 0.5 else Fraction(rng.random())
    moved = max(Fraction(0), real[giver] - least) * part
    real[giver] -= moved
    real[taker] += moved
    return rounded_to_one(real, taker)


def rounded_to_one(real: Sequence[Fraction], last: int) -> Vector:
    """Floats whose sum is as near to 1 as one of them can make it."""
    floats = rounded(real)
    rest = sum((Fraction(entry) for i, entry in enumerate(floats) if i != last), Fraction(0))
    floats[last] = float(1 - rest)
    return floats


def _moved(first: Vector, second: Vector) -> list[Fraction]:
    return [Fraction(b) - Fraction(a) for a, b in zip(first, second, strict=True)]


_HAIR = Fraction(1, 2**50)
_DOMAIN = Simplex(5, floor=0.05, protected=(0, 1, 2, 4))
_VECTOR = [0.3, 0.2, 0.1, 0.25, 0.15]


def exchanges(first: Vector, second: Vector, mass: float) -> bool:
    """Two entries at most differ, by at most so much, and one gains what the other loses."""
    moved = [gap for gap in _moved(first, second) if gap != 0]
    return (
        len(moved) <= 2
        and abs(sum(moved, Fraction(0))) <= _HAIR
        and all(abs(gap) <= Fraction(mass) + _HAIR for gap in moved)
    )


def moves(first: Vector, second: Vector, distance: float) -> bool:
    """What entries gain together is half of the distance at most, and what others lose."""
    moved = _moved(first, second)
    gain = sum((gap for gap in moved if gap > 0), Fraction(0))
    loss = gain - sum(moved, Fraction(0))
    return abs(gain - loss) <= _HAIR and max(gain, loss) <= Fraction(distance) / 2 + _HAIR


def _with_another_row(
    rng: np.random.Generator, vector: Vector, rows: int, *, mass: float | None = None
) -> Vector | None:
    """The average of a table in which one row is another one. The vector is the average of all rows alike."""
    first: Vector = list(vector)
    if mass is None:
        changed: Vector | None = vector_in(rng, Simplex(len(vector)))
    else:
        changed = exchange(rng, first, mass, Simplex(len(vector)))
    if changed is None:
        return None
    return list(average([changed, *[first] * (rows - 1)]).tolist())


WRITTEN = (
    Written(
        Transfer(0.05),
        "two protected entries of the vector exchange at most 0.05 of probability",
        lambda rng, vector: exchange(rng, vector, 0.05, _DOMAIN),
        _VECTOR,
        lambda first, second: exchanges(first, second, 0.05) and first[3] == second[3],
    ),
    Written(
        L1(0.1),
        "the vector moves by an L1 distance of at most 0.1: some protected entries gain half of it together, "
        "others lose as much",
        lambda rng, vector: move(rng, vector, 0.1, _DOMAIN),
        _VECTOR,
        lambda first, second: moves(first, second, 0.1) and first[3] == second[3],
    ),
    Written(
        Averaged.of(4),
        "one row behind the average may change in any way; it has at most 0.25 of the weight",
        lambda rng, vector: _with_another_row(rng, vector, 4),
        _VECTOR,
        lambda first, second: moves(first, second, 0.5 * (1.0 + 1e-8)),
    ),
    Written(
        Averaged.of(4, Transfer(0.2)),
        "one row behind the average may change by this: two protected entries of a row exchanging at most "
        "0.2; it has at most 0.25 of the weight",
        lambda rng, vector: _with_another_row(rng, vector, 4, mass=0.2),
        _VECTOR,
        lambda first, second: exchanges(first, second, 0.05),
    ),
)
