"""Doubly stochastic matrices: noise, then the nearest doubly stochastic matrix (doubly_stochastic.md)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, positive, shown, truth
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import as_floats
from veil.core.mechanism import REAL_ARITHMETIC, Domain, ExactOrFloat, adjacency_of, batch_shape
from veil.core.numerics.rounding import charge_above
from veil.core.privacy.pairs import NormalPair, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.rounded_noise import sample_rounded_normal
from veil.core.random.streams import Rng
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.chain_intake import all_probabilities
from veil.matrices.samplers.birkhoff import Integers, project_birkhoff, sample_zero_sum_rows
from veil.vectors.simplex import ENTRY_ROUNDING

NOISES = ("laplace", "gaussian")
_SMALLEST_SCALE, _LARGEST_SCALE = 1e-9, 1e6
# The Laplace noise is a whole number of steps; this many bits of them make up its scale, where an entry
# in steps still fits a float.
_SCALE_BITS, _ENTRY_BITS = 44, 52


@dataclass(frozen=True)
class DoublyStochastic(ExactOrFloat):
    """Release a doubly stochastic matrix near the true one.

    scale: the size of the noise on an entry: of Laplace noise its scale, of Gaussian noise its standard
        deviation. The larger, the more private.
    size: the number of rows and columns.
    noise: "laplace" is pure, drawn in whole numbers and better where few rows change; "gaussian" needs a
        delta and is better where many do.
    exact: of Gaussian noise, draw it as real numbers and round the sum to a public grid. With exact=False it
        is drawn in floats; the guarantee then assumes real arithmetic.

    >>> from veil import matrices
    >>> mechanism = matrices.DoublyStochastic(0.04, 3)
    >>> round(mechanism.profile(matrices.Rectangle(0.01)).epsilon(0.0), 6)
    1.0
    """

    scale: float
    size: int
    _: KW_ONLY
    noise: str = "laplace"
    exact: bool = True
    form: ClassVar[str] = "rounded to 2^-24 of the scale"
    name: ClassVar[str] = "DoublyStochastic"

    def __post_init__(self) -> None:
        scale = positive("scale", self.scale, least=_SMALLEST_SCALE, most=_LARGEST_SCALE)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "size", self.domain.size)
        choice("noise", self.noise, NOISES)
        if not truth("exact", self.exact) and self.noise == "laplace":
            raise InvalidArgument("exact", expected="True, as for all Laplace noise here", found="False")

    @property
    def domain(self) -> Birkhoff:
        return Birkhoff(self.size)

    def validate(self, value: Any) -> Floats:
        return self.domain.validate(value)

    def item_axes(self, valid: Any) -> int:
        return 2

    @property
    def step(self) -> float:
        """The grid on which the Laplace noise lives, a power of two."""
        exponent = math.frexp(self.scale)[1] - _SCALE_BITS
        return 2.0 ** max(exponent, -_ENTRY_BITS)

    @property
    def scale_in_steps(self) -> int:
        """The scale of the Laplace noise as a whole and even number of steps, never too small."""
        return 2 * math.ceil(Fraction(self.scale) / (2 * Fraction(self.step)))

    def in_steps(self, matrices: Floats) -> Integers:
        """The matrices rounded to whole steps; the last column takes what its row is short of one."""
        steps = np.rint(matrices / self.step).astype(np.int64)
        steps[..., -1] = round(1.0 / self.step) - steps[..., :-1].sum(axis=-1)
        return steps

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        shape = batch_shape(value, size)
        if self.noise == "gaussian" and self.exact:
            centres = np.broadcast_to(value, shape)
            return project_birkhoff(sample_rounded_normal(rng, centres=centres, sigma=self.scale))
        if self.noise == "gaussian":
            return project_birkhoff(value + rng.normal(0.0, self.scale, shape))
        noise = sample_zero_sum_rows(rng, scale=self.scale_in_steps, shape=shape)
        return project_birkhoff((self.in_steps(value) + noise).astype(np.float64) * self.step)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What holds where some rows, two for a Rectangle, each exchange mass (doubly_stochastic.md)."""
        chosen: Rectangle | Rows = adjacency_of(self, adjacency, Rectangle, Rows)
        mass, rows = chosen.exchange(self.size)
        if self.noise == "gaussian":
            # Entries of each row gain the mass and others lose it; they may have been rounded to floats. The
            # factor outweighs the six roundings.
            moved = mass + chosen.entries(self.size) * float(ENTRY_ROUNDING)
            distance = math.sqrt(2.0 * rows) * moved / self.scale
            return NormalPair(distance * (1.0 + 2.0**-50), kind="upper bound")
        more = 2 * chosen.entries(self.size) - 3
        steps = 2 * (math.ceil(Fraction(mass) / Fraction(self.step)) + more)
        each = charge_above(Fraction(steps, self.scale_in_steps))
        return RandomizedResponses(each, times=rows, kind="upper bound")

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return () if self.exact else (REAL_ARITHMETIC,)

    def describe(self) -> dict[str, Any]:
        """The name and the parameters: of Laplace noise, which was always exact, as in Veil 0.1."""
        description = super().describe()
        if self.noise == "laplace":
            del description["parameters"]["form"]
        return description

    @classmethod
    def rebuilt(cls, form: Any = None, **parameters: Any) -> Any:
        """The mechanism that `describe` described."""
        if parameters.get("noise") == "laplace":
            if form is not None:
                raise InvalidArgument("form", expected="none for Laplace noise", found=shown(form))
            return cls(**parameters)
        return super().rebuilt(form, **parameters)

    def largest_expected_frobenius(self) -> float:
        """At least the expected Frobenius error for any truth, and so the expected mean L1 error of a row."""
        n = self.size
        if self.noise == "gaussian":
            spread = (self.scale * (n - 1)) ** 2
            highest = self.scale * n * math.sqrt(2.0 * math.log(n))
        else:
            scale = self.scale_in_steps * self.step
            spread = scale**2 * (2 * n - 1) * (n - 1) ** 2 / (n + 1)
            highest = scale * (n - 0.5) * sum(1.0 / k for k in range(1, n + 1))
        return math.sqrt(min(spread, highest, 2.0 * n)) * (1.0 + 1e-9)


SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Birkhoff(Domain):
    """Square matrices of non-negative entries whose rows and columns all sum to one.

    size: the number of rows, and of columns.
    """

    size: int
    name: ClassVar[str] = "Birkhoff"
    kind: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checks.integer("size", self.size, least=2))

    def validate(self, value: Any) -> Floats:
        """The value as a float array, one matrix or a batch along leading axes.

        Sums within the tolerance are left as they are: to repair them would move entries that two
        neighbours share, and by amounts that depend on those they do not.
        """
        matrices = as_floats("value", value)
        if matrices.ndim < 2 or matrices.shape[-2:] != (self.size, self.size) or matrices.size == 0:
            expected = f"{self.size} rows and {self.size} columns along the last two axes"
            raise InvalidData("value", expected=expected, found=f"an array of shape {matrices.shape}")
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.abs(matrices.sum(axis=-1) - 1.0) <= SUM_TOLERANCE
            columns = np.abs(matrices.sum(axis=-2) - 1.0) <= SUM_TOLERANCE
            sound = matrices.min() >= 0.0 and rows.all() and columns.all()
        if not sound:
            all_probabilities("value", matrices, matrices)
            which, right = ("row", rows) if not rows.all() else ("column", columns)
            first = tuple(int(i) for i in np.argwhere(~right)[0])
            expected = f"rows and columns that sum to 1 (within {SUM_TOLERANCE:g})"
            found = f"another sum of {which} {first[0] if len(first) == 1 else first}"
            hint = "A matrix whose rows alone sum to 1 is stochastic, not doubly stochastic."
            raise InvalidData("value", expected=expected, found=found, hint=hint)
        return matrices

    @property
    def words(self) -> str:
        return f"doubly stochastic matrices with {self.size} rows and columns"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size}
