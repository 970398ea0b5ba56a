"""Where the fit of the latent-position model begins, and how it goes on.

It begins at what stands out of the noise (spectrum.py): the shrunk low-rank estimate of the graph, kept
between a tenth of the density and 0.9, as log-odds. Rows and columns lose their means to how busy the nodes
are; the leading directions of what remains are the first places. A few sweeps follow, and no more: with ten
instead of six fewer true edges were kept, as the mean field grows too sure.
"""

from __future__ import annotations

import math

import numpy as np

from veil.graphs.numerics.latent import Latent, Side, Signs, Singles, sweep
from veil.graphs.numerics.spectrum import Noise, debiased, leading

# Directions looked for beyond the noise, and places of the model.
MOST_SIGNALS = 60
MOST_PLACES = 32
SWEEPS = 6
_SEED = 19_937


def fit(bits: Signs, flip: float, *, symmetric: bool) -> Latent:
    """Fit the model to a matrix of +1 (bit one), -1 (bit zero) and 0 (unknown, or not a pair)."""
    model = _start(bits, flip, symmetric)
    rng = np.random.Generator(np.random.PCG64(_SEED))
    other_way = bits if symmetric else np.ascontiguousarray(bits.T)
    for _ in range(SWEEPS):
        order = rng.permutation(model.rows.nodes)
        model.level += sweep(model.level, model.rows, model.columns, model.signs, bits, flip, order)
        if not symmetric:
            order = rng.permutation(model.columns.nodes)
            model.level += sweep(model.level, model.columns, model.rows, model.signs, other_way, flip, order)
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
