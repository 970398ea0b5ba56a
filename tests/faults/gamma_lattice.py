"""An attack on gamma variables that are computed in floats: the normaliser is recovered from one release.

A gamma variable of a large shape a is computed as b v^3, b = a - 1/3 and v = 1 + c X for a normal X, where
c = 1 / sqrt(9 b) is so small that v is one of few floats: above 1 they are multiples of u = 2^-52. A release
x_j = b_j v_j^3 / S hides S, the sum. But for two cells

    v_j = R_j v_0, where R_j = (x_j b_0 / (x_0 b_j))^(1/3) is known,

so that (v_j - 1) / u = (R_j - 1) / u + R_j k for k = (v_0 - 1) / u must be a whole number for every j at
once, but for rounding errors of a fifth of a step. R_j - 1 is small, so that the sum over j of

    exp(2 pi i ((R_j - 1) / u + (R_j - 1) k))

is large near the true k, and small, as a sum of random phases, elsewhere: a Fourier transform finds the k.
With it v_j is known for every cell, and so is whether it lies on the lattice of one input or of the other:
these differ in b_j, and hence by an arbitrary part of a step.

At shapes above 2^53 the quotients R_j themselves are on a lattice, which the standard audit sees. Below, what
is here is needed: knowledge of the sampler.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
UNIT = 2.0**-52
# The grid of frequencies is this much finer than the span of k asks for, and so many k are looked at closely.
_FINER, _LIKELY = 4, 32
_DIGITS = 45
# The scores of cells that are used, and the deviations of S that are searched.
_ABOVE, _DEVIATIONS = 0.4, 5.0


@dataclass(frozen=True)
class Release:
    """One release and the shapes that are public but for the cell in question."""

    shares: Floats
    shapes: Floats

    @property
    def factors(self) -> Floats:
        """b of every cell, as the sampler computes it."""
        return np.asarray(self.shapes - 1.0 / 3.0)

    @property
    def scores(self) -> Floats:
        """About the normal X of every cell: S is known far better than each of its parts."""
        total = self.shapes.sum()
        return np.asarray((self.shares * total / self.factors - 1.0) / 3.0 * np.sqrt(9.0 * self.factors))


def root(share: float, factor: float) -> mpmath.mpf:
    """(x / b)^(1/3), to many digits."""
    with mpmath.workdps(_DIGITS):
        return mpmath.cbrt(mpmath.mpf(share) / mpmath.mpf(factor))


def offset(one: mpmath.mpf, other: mpmath.mpf) -> tuple[float, float]:
    """R - 1 for the quotient of two roots, and the part of (R - 1) / u that is not whole."""
    with mpmath.workdps(_DIGITS):
        ratio = one / other - 1
        steps = ratio / mpmath.mpf(UNIT)
        return float(ratio), float(steps - mpmath.floor(steps))


@dataclass(frozen=True)
class Recovered:
    """What is known of the sum that a release was divided by: v of one cell, in steps above 1.

    root: (x / b)^(1/3) of that cell. phase: what rounding added to the steps of all cells alike.
    """

    root: mpmath.mpf
    steps: float
    phase: float

    def off_lattice(self, share: float, factor: float) -> float:
        """How far v of another cell would lie from a whole number of steps, if its b were this: 0 to 1/2."""
        rate, part = offset(root(share, factor), self.root)
        apart = (part + rate * self.steps - self.phase) % 1.0
        return float(min(apart, 1.0 - apart))


def recovered(release: Release, without: int) -> Recovered:
    """The sum, from all cells but one whose v is surely above 1."""
    scores, b = release.scores, release.factors
    used = [int(j) for j in np.flatnonzero(scores > _ABOVE) if j != without]
    start = min(used, key=lambda j: scores[j])
    reference = root(release.shares[start], b[start])
    offsets = [offset(root(release.shares[j], b[j]), reference) for j in used if j != start]
    rates, parts = np.array(offsets).T
    middle = scores[start] / np.sqrt(9.0 * b[start]) / UNIT
    # The error of the score is that of S.
    reach = _DEVIATIONS / np.sqrt(9.0 * release.shapes.sum()) / UNIT
    steps, phase = _strongest(rates, parts, max(middle - reach, 0.0), middle + reach)
    return Recovered(reference, steps, phase)


def evidence(release: Release, cell: int, factors: tuple[float, float]) -> float:
    """By how much the cell is nearer to the lattice of the first b than to that of the second: -1/2 to 1/2.

    Nothing where its v is not above 1: there the lattice is too fine.
    """
    if release.scores[cell] < _ABOVE:
        return 0.0
    known = recovered(release, cell)
    first, second = (known.off_lattice(release.shares[cell], factor) for factor in factors)
    return second - first


def _strongest(rates: Floats, parts: Floats, least: float, most: float) -> tuple[float, float]:
    """The k between these at which the phases agree best, and in which phase they do."""
    span = most - least
    size = int(2 ** np.ceil(np.log2(_FINER * (rates.max() - rates.min()) * span)))
    bins = np.rint((rates - rates.min()) * span * _FINER).astype(np.int64) % size
    grid = np.zeros(size, dtype=np.complex128)
    np.add.at(grid, bins, np.exp(2j * np.pi * (parts + rates * least)))
    # The sum over j of exp(2 pi i bins_j n / size) stands for k = least + n span _FINER / size.
    heights = np.abs(np.fft.ifft(grid))[: size // _FINER]
    likely = np.argpartition(heights, -_LIKELY)[-_LIKELY:]
    near = least + (likely[:, None] + np.linspace(-1.0, 1.0, 21)).ravel() * (span * _FINER / size)
    sums = np.exp(2j * np.pi * (parts[:, None] + rates[:, None] * near)).sum(axis=0)
    best = int(np.argmax(np.abs(sums)))
    return float(near[best]), float(np.angle(sums[best]) / (2.0 * np.pi))
