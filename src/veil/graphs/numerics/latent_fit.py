"""Where the fit of the latent-position model begins, and how it goes on.

It begins at what stands out of the noise: the shrunk low-rank estimate of the graph, kept between a tenth of
the density and 0.9, as log-odds. Rows and columns lose their means to how busy the nodes are; the leading
directions of what remains are the first places. A few sweeps follow, and no more: with ten instead of six
fewer true edges were kept, as the mean field grows too sure.

What stands out of the noise. Let every entry of a 0/1 matrix A (n rows, k columns) be flipped with
probability q. The debiased bits D = (Y - q) / (1 - 2q) are unbiased for A, and D - A has independent entries
(above the diagonal, if A is symmetric) of mean 0 and one and the same variance sigma^2 = q (1 - q) / (1 -
2q)^2, whether a bit is 0 or 1.

The noise edge. The singular values of such noise fill [0, sigma (sqrt n + sqrt k)] and leave that interval
with vanishing probability (Marchenko and Pastur; for a symmetric matrix Wigner's semicircle, edge
2 sigma sqrt n). The largest one fluctuates above the edge by a share of order n^(-2/3) (Tracy and Widom), for
which `stands_out` leaves room. Below the edge nothing of the graph's spectrum can be told from noise.

Shrinkage. A part of A with singular value t appears at w, w^2 = (t + n sigma^2 / t) (t + k sigma^2 / t), and
its direction is tilted by the noise. The multiple of the direction found that is nearest to that part in
mean square is

    sqrt((w^2 - (n + k) sigma^2)^2 - 4 n k sigma^4) / w,      for n = k: sqrt(w^2 - 4 sigma^2 n)

(Gavish and Donoho 2017). All of this holds in the limit of large matrices with few such parts. It only
chooses where the fit begins; nothing that is stated about a decoded graph rests on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans
from veil.core.progress import tell
from veil.graphs.numerics.latent import Latent, Side, Signs, Singles, sweep

# Directions looked for beyond the noise, and places of the model.
MOST_SIGNALS = 60
MOST_PLACES = 32
SWEEPS = 6
_SPARE = 10
_ROUNDS = 16
_FIT_SEED, _START_SEED = 19_937, 20_240_229


def fit(bits: Signs, flip: float, *, symmetric: bool) -> Latent:
    """Fit the model to a matrix of +1 (bit one), -1 (bit zero) and 0 (unknown, or not a pair)."""
    model = _start(bits, flip, symmetric)
    rng = np.random.Generator(np.random.PCG64(_FIT_SEED))
    other_way = bits if symmetric else np.ascontiguousarray(bits.T)
    for number in range(1, SWEEPS + 1):
        tell(f"structure of the graph, round {number} of {SWEEPS}")
        sweep(model, model.rows, model.columns, bits, flip, rng.permutation(bits.shape[0]))
        if not symmetric:
            sweep(model, model.columns, model.rows, other_way, flip, rng.permutation(bits.shape[1]))
    return model


def _start(bits: Signs, flip: float, symmetric: bool) -> Latent:
    matrix, known = debiased(bits, flip)
    least = 0.5 / max(matrix.size, 1)
    density = min(max(float(matrix.mean(dtype=np.float64)), least), 1.0 - least)
    level = math.log(density / (1.0 - density))
    noise = Noise(bits.shape[0], bits.shape[1], flip, known)
    values, left, right = leading(matrix, MOST_SIGNALS, edge=noise.edge, symmetric=symmetric)
    del matrix
    kept = noise.stands_out(values)
    sizes = np.abs(noise.shrunk(values[kept]))
    estimate = (left[:, kept] * sizes) @ right[:, kept].T
    # In place: these are the largest matrices of all.
    np.clip(estimate, density / 10.0, max(0.9, density), out=estimate)
    np.log(estimate / (1.0 - estimate), out=estimate)
    estimate -= estimate.mean(dtype=np.float64)
    by_row, by_column = estimate.mean(axis=1), estimate.mean(axis=0)
    estimate -= by_row[:, None]
    estimate -= by_column[None, :]
    places = min(MOST_PLACES, 2 * int(kept.sum()) + 2 if kept.any() else 0)
    values, left, right = leading(estimate, places, symmetric=symmetric)
    sizes = np.sqrt(np.abs(values))
    signs = np.ones(len(values) + 1, dtype=np.float32)
    rows = _side(by_row, left * sizes)
    if not symmetric:
        return Latent(level, signs, rows, _side(by_column, right * sizes))
    signs[1:] = np.where(values < 0, -1.0, 1.0)
    return Latent(level, signs, rows, rows)


def _side(means: Singles, places: Singles) -> Side:
    place = np.concatenate([0.5 * means[:, None], places], axis=1).astype(np.float32)
    prior = np.maximum((place**2).mean(axis=0), np.float32(1e-3))
    prior[0] = 1.0
    return Side(place, np.zeros_like(place), prior)


class Noise(NamedTuple):
    """The noise of debiased bits, a share `known` of which was looked at (the others count as 0)."""

    rows: int
    columns: int
    flip: float
    known: float = 1.0

    @property
    def deviation(self) -> float:
        signal = 1.0 - 2.0 * self.flip
        return math.sqrt(self.flip * (1.0 - self.flip) / self.known) / signal

    @property
    def edge(self) -> float:
        return self.deviation * (math.sqrt(self.rows) + math.sqrt(self.columns))

    def stands_out(self, values: Singles) -> Booleans:
        """Which singular values (signed, if eigenvalues) lie clearly beyond the noise."""
        smaller = max(min(self.rows, self.columns), 1)
        beyond: Booleans = np.abs(values) > self.edge * (1.0 + 2.0 * smaller ** (-2.0 / 3.0))
        return beyond

    def shrunk(self, values: Singles) -> Singles:
        """What values beyond the edge stand for, their signs kept."""
        square, variance = values.astype(np.float64) ** 2, self.deviation**2
        inner = (square - (self.rows + self.columns) * variance) ** 2
        inner -= 4.0 * self.rows * self.columns * variance**2
        sizes = np.sqrt(np.maximum(inner, 0.0)) / np.maximum(np.abs(values), 1e-30)
        return (np.sign(values) * sizes).astype(np.float32)


def debiased(bits: Signs, flip: float) -> tuple[Singles, float]:
    """The debiased bits of a matrix of +1 (one), -1 (zero), 0 (unknown), and the share of known ones.

    They are divided by the share that is known, which keeps them unbiased when what is unknown is random.
    """
    # A symmetric matrix without loops has an unknown diagonal: that is structure, not a random gap.
    possible = bits.size - (bits.shape[0] if bits.shape[0] == bits.shape[1] else 0)
    known = min(1.0, np.count_nonzero(bits) / max(possible, 1))
    scale = max(known, 1e-12) * (1.0 - 2.0 * flip)
    table = np.array([0.0, (1.0 - flip) / scale, -flip / scale], dtype=np.float32)
    return table[bits], known


def leading(
    matrix: Singles, count: int, *, edge: float = 0.0, symmetric: bool
) -> tuple[Singles, Singles, Singles]:
    """The `count` largest singular values (eigenvalues, if symmetric) with left and right vectors.

    By block iteration with 2 (w / edge)^2 - 1, squared up to T_4, a Chebyshev polynomial: it keeps what lies
    inside the known noise edge at size one and lets everything beyond grow at the fastest rate. Without an
    edge by plain powers. Vectors just beyond the edge may stay inexact, which a starting point can bear.
    """
    rows, columns = matrix.shape
    width = min(rows, columns, count + _SPARE)
    if width == 0 or count == 0:
        empty = np.zeros((rows, 0), dtype=np.float32), np.zeros((columns, 0), dtype=np.float32)
        return np.zeros(0, dtype=np.float32), *empty
    rng = np.random.Generator(np.random.PCG64(_START_SEED))
    basis = rng.standard_normal((columns, width), dtype=np.float32)
    basis, _ = np.linalg.qr(basis)
    scale = np.float32(2.0 / edge**2 if edge else 0.0)
    for _ in range(_ROUNDS):
        once = matrix.T @ (matrix @ basis)
        if edge:
            once = scale * once - basis
            # T_4(x) = 2 T_2(x)^2 - 1, applied to the block.
            again = scale * (matrix.T @ (matrix @ once)) - once
            once = 2.0 * again - basis
        basis, _ = np.linalg.qr(once)
    image = matrix @ basis
    if symmetric:
        values, turn = np.linalg.eigh(basis.T @ image)
        order = np.argsort(-np.abs(values))[:count]
        left = basis @ turn[:, order]
        return values[order].astype(np.float32), left, left * np.sign(values[order])
    left, values, turned = np.linalg.svd(image, full_matrices=False)
    return values[:count], left[:, :count], basis @ turned[:count].T
