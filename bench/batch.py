"""A batch of 100,000 vectors of 20 entries against NumPy's own gamma draws."""

from __future__ import annotations

import numpy as np

import veil
from bench.clock import least_seconds
from veil.core.random.streams import generator

VECTORS, ENTRIES = 100_000, 20


def measured(*, runs: int = 5) -> dict[str, float]:
    """Seconds of the bare gamma draws of two generators, of NumPy's vectors, and of Veil's."""
    vectors = np.random.default_rng(0).dirichlet(np.full(ENTRIES, 2.0), size=VECTORS)
    mechanism = veil.vectors.Dirichlet(100.0, veil.vectors.Simplex(ENTRIES, floor=0.01), smooth=True)
    shapes = 100.0 * mechanism.smoothed(vectors)
    fast, secure = np.random.default_rng(1), generator()

    def dirichlet() -> None:
        draws = fast.standard_gamma(shapes)
        draws /= draws.sum(axis=1, keepdims=True)

    return {
        "gamma": least_seconds(lambda: fast.standard_gamma(shapes), runs=runs),
        "aes": least_seconds(lambda: secure.standard_gamma(shapes), runs=runs),
        "dirichlet": least_seconds(dirichlet, runs=runs),
        "sample": least_seconds(lambda: mechanism.sample(vectors), runs=runs),
        "release": least_seconds(
            lambda: veil.release(mechanism, vectors, adjacency=veil.vectors.Transfer(0.001), delta=1e-3),
            runs=runs,
        ),
    }


def run() -> None:
    """Print the ratio of a whole release to the bare gamma draws of NumPy's default generator."""
    times = measured()
    gamma, aes, sample, released = (times[name] for name in ("gamma", "aes", "sample", "release"))
    print(f"NumPy's gamma draws: {gamma:.4f} s (PCG64), {aes:.4f} s (AES counter): {aes / gamma:.2f}x")
    print(f"Dirichlet.sample: {sample:.4f} s, {sample / gamma:.2f}x (goal: within 2x)")
    print(f"veil.release: {released:.4f} s, {released / gamma:.2f}x (goal: within 2x)")
