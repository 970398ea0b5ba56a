"""Dirichlet mechanisms of all forms, values that they take, and neighbours made from the written relation.

A neighbour is made by editing the value itself: two protected entries exchange at most so much, a record
changes its category, comes or goes. Corners of the domain come often; which pair is the worst is not said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from veil.errors import InvalidData
from veil.vectors import Dirichlet, DirichletCounts, Records, Simplex, Transfer

# A vector of floats, or counts; two of them, and the places in which they differ.
Value = list[Any]
Neighbours = Iterator[tuple[Value, Value, int, int | None]]


@dataclass(frozen=True)
class Vectors:
    """Dirichlet(k p) for vectors that respect the borders, or are smoothed first."""

    mechanism: Dirichlet
    adjacency: Transfer

    @classmethod
    def random(cls, rng: np.random.Generator) -> Vectors:
        size = int(rng.integers(2, 9))
        floor = float(rng.choice([rng.uniform(0.02, 0.98), 10.0 ** rng.uniform(-4, -1)])) / size
        protected, slack = None, None
        if size > 2 and rng.random() < 0.4:
            count = int(rng.integers(2, size))
            protected = sorted(int(i) for i in rng.choice(size, count, replace=False))
            if rng.random() < 0.6:
                slack = float(rng.uniform(0.0, 0.9) * (1.0 - count * floor))
        domain = Simplex(size, floor=floor, protected=protected, slack=slack)
        smooth = bool(rng.random() < 0.5)
        # Up to the room, as much as it, or beyond: then the borders of the domain are what limits a move.
        mass = domain.room * float(rng.choice([10.0 ** rng.uniform(-4, 0), 1.0, rng.uniform(1.0, 3.0)]))
        k = float(10.0 ** rng.uniform(-2, 5))
        return cls(Dirichlet(k, domain, smooth=smooth), Transfer(min(max(mass, 1e-12), 1.0)))

    @property
    def typical_loss(self) -> float:
        k, domain = self.mechanism.k, self.mechanism.domain
        moved = k * min(self.adjacency.mass, domain.room)
        return moved * math.sqrt(2.0 / (k * domain.floor))

    def shapes(self, vector: Value) -> list[Fraction]:
        """k p, or k ((1 - n floor) p + floor) where it is smoothed; and that is what is drawn."""
        k, floor, size = Fraction(self.mechanism.k), Fraction(self.mechanism.domain.floor), len(vector)
        entries = [Fraction(entry) for entry in vector]
        if self.mechanism.smooth:
            entries = [(1 - size * floor) * entry + floor for entry in entries]
        made = [k * entry for entry in entries]
        assert made == self.mechanism.exact_shapes(self.mechanism.validate(vector))
        return made

    def neighbours(self, rng: np.random.Generator) -> Neighbours:
        """Two vectors that are taken, and the two entries in which they differ; without end."""
        domain, mass = self.mechanism.domain, Fraction(self.adjacency.mass)
        protected = list(range(domain.size)) if domain.protected is None else list(domain.protected)
        least = np.zeros(domain.size)
        if not self.mechanism.smooth:
            least[protected] = domain.floor
        while True:
            i, j = (int(one) for one in rng.choice(protected, 2, replace=False))
            first = self._vector(rng, least, protected, i)
            second = list(first)
            most = min(mass, Fraction(first[i]) - Fraction(least[i]))
            moved = float(most) * float(rng.choice([1.0, 1.0, rng.random()]))
            second[i] = max(first[i] - moved, float(least[i]))
            second[j] = first[j] + (first[i] - second[i])
            # Rounded sums may make a hair more of it than is allowed.
            given = Fraction(first[i]) - Fraction(second[i]), Fraction(second[j]) - Fraction(first[j])
            if not 0 < min(given) <= max(given) <= mass:
                continue
            try:
                for vector in (first, second):
                    valid = self.mechanism.validate(vector)
                    assert valid.tolist() == vector
            except InvalidData:
                continue
            yield first, second, i, j

    def _vector(
        self, rng: np.random.Generator, least: np.ndarray[Any, Any], protected: list[int], full: int
    ) -> Value:
        """A corner of the domain, a point on its border or within; the sum may be off by what is allowed."""
        size, slack = len(least), self.mechanism.domain.slack or 0.0
        outside = [one for one in range(size) if one not in protected]
        extra = np.zeros(size)
        free = max(0.0, 1.0 - least.sum() - slack)
        if outside:
            extra[outside] += slack * rng.dirichlet(np.full(len(outside), 0.5))
        kind, corners = rng.random(), np.eye(size)
        if kind < 0.3:
            spread = corners[full]
        elif kind < 0.6:
            # No more in the one than may leave it, the rest in another one.
            share = min(1.0, self.adjacency.mass / free) if free > 0.0 else 1.0
            spread = share * corners[full] + (1.0 - share) * corners[int(rng.integers(size))]
        else:
            spread = rng.dirichlet(np.full(size, 0.2 if kind < 0.8 else 1.0))
        vector = np.asarray(least + extra + free * spread, dtype=np.float64)
        vector[full] += 1.0 - vector.sum()
        if rng.random() < 0.2:
            vector[full] += rng.choice([-9e-10, 9e-10])
        return [float(entry) for entry in np.maximum(vector, least)]


@dataclass(frozen=True)
class Tables:
    """Dirichlet(scale counts + prior) for counts of records."""

    mechanism: DirichletCounts
    adjacency: Records

    @classmethod
    def random(cls, rng: np.random.Generator) -> Tables:
        scale, prior = float(10.0 ** rng.uniform(-3, 2)), float(10.0 ** rng.uniform(-2, 3))
        change = str(rng.choice(["replace", "add-remove"]))
        return cls(DirichletCounts(scale, prior, int(rng.integers(2, 9))), Records(change))

    @property
    def typical_loss(self) -> float:
        return self.mechanism.scale * math.sqrt(2.0 / self.mechanism.prior)

    def shapes(self, table: Value) -> list[Fraction]:
        """scale count + prior; and that is what is drawn."""
        scale, prior = Fraction(self.mechanism.scale), Fraction(self.mechanism.prior)
        made = [scale * count + prior for count in table]
        assert made == self.mechanism.exact_shapes(self.mechanism.validate(table))
        return made

    def neighbours(self, rng: np.random.Generator) -> Neighbours:
        """Two tables, and the cells in which they differ: one where a record comes or goes."""
        size = self.mechanism.size
        while True:
            sizes = rng.choice([0, 1, 3, 30, 1000, 100_000], size)
            first = [int(rng.integers(0, most + 1)) for most in sizes]
            i, j = (int(one) for one in rng.choice(size, 2, replace=False))
            if first[i] == 0:
                first[i] = 1
            second = list(first)
            second[i] -= 1
            if self.adjacency.change == "add-remove":
                yield first, second, i, None
            else:
                second[j] += 1
                yield first, second, i, j
