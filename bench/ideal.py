"""Ideal draws, rounded, against floats: one thread, the cryptographic stream, both in one run."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import veil
from bench.clock import least_seconds
from veil.core.random.rounded_noise import sample_rounded_laplace, sample_rounded_normal
from veil.core.random.streams import generator
from veil.vectors.samplers import rounded_dirichlet
from veil.vectors.samplers.settled_dirichlet import settled_row

ROWS, ENTRIES = 100_000, 20
# Counts behind a row, with the scale and the prior of a release: many records, few, hardly any.
BATCHES = ((2.2, 100.0, 1_000), (1.0, 5.7, 10), (0.5, 0.5, 2))


def run() -> None:
    """Print batches, single releases and additive noise, as ratios to floats."""
    stream = generator()
    for scale, prior, records in BATCHES:
        counts = np.random.default_rng(1).integers(0, records + 1, size=(ROWS, ENTRIES))
        mechanism = veil.vectors.DirichletCounts(scale, prior, ENTRIES)
        mechanism.sample(counts[:10])  # compiles
        shapes = scale * counts + prior
        gammas = least_seconds(partial(stream.standard_gamma, shapes), runs=3)
        exact = least_seconds(partial(mechanism.sample, counts), runs=3)
        settled = _settled(mechanism, counts)
        print(
            f"{ROWS:,} x {ENTRIES} at scale {scale:g}, prior {prior:g}: {exact:.3f} s, "
            f"{exact / gammas:.1f}x the gammas of NumPy ({gammas:.3f} s); {settled} rows by intervals",
            flush=True,
        )
    for size in (5, 265, 4_000):
        one, value = veil.vectors.DirichletCounts(2.2, 100.0, size), np.full(size, 40)
        floats = veil.vectors.DirichletCounts(2.2, 100.0, size, exact=False)
        exact, plain = (least_seconds(partial(form.sample, value)) for form in (one, floats))
        print(f"one vector of {size}: {1e3 * exact:.3f} ms, {exact / plain:.1f}x floats", flush=True)
    centres = np.full(1_000_000, 0.3)
    for name, draw, plain_draw in (
        ("normal", partial(sample_rounded_normal, sigma=0.1), partial(stream.normal, 0.0, 0.1)),
        ("Laplace", partial(sample_rounded_laplace, scale=0.1), partial(stream.laplace, 0.0, 0.1)),
    ):
        draw(stream, centres=centres[:10])  # compiles
        exact = least_seconds(partial(draw, stream, centres=centres), runs=3)
        plain = least_seconds(partial(plain_draw, centres.shape), runs=3)
        print(f"a million {name} numbers: {exact:.3f} s, {exact / plain:.1f}x NumPy", flush=True)


def _settled(mechanism: Any, counts: Any) -> int:
    """How many rows of a batch floats leave open."""
    with patch.object(rounded_dirichlet, "settled_row", side_effect=settled_row) as watched:
        mechanism.sample(counts)
    return int(watched.call_count)


if __name__ == "__main__":
    run()
