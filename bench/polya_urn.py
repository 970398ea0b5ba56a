"""A Polya urn against the float sampler: one thread, the cryptographic stream."""

from __future__ import annotations

from functools import partial

import numpy as np

import veil
from bench.clock import least_seconds

CASES = ((5, 20.6, 2**16), (17, 2_000.0, 2**19), (1_000, 2_000.0, 2**19), (17, 60_000.0, 2**24))


def _line(name: str, exact: float, floats: float, draws: int, error: float) -> None:
    print(
        f"{name}: {1e3 * exact:.2f} ms for {draws:,} draws ({1e9 * exact / draws:.1f} ns a draw), "
        f"{exact / floats:.0f}x the floats ({1e3 * floats:.3f} ms); errors x {error:.5f}",
        flush=True,
    )


def run() -> None:
    """Print the time of one vector in both forms, and how much larger the errors of the exact one are."""
    for size, k, draws in CASES:
        simplex = veil.vectors.Simplex(size, floor=0.1 / size)
        vector = np.full(size, 1.0 / size)
        exact = veil.vectors.Dirichlet(k, simplex, smooth=True, draws=draws)
        floats = veil.vectors.Dirichlet(k, simplex, smooth=True, exact=False)
        exact.sample(vector)  # compiles
        _line(
            f"{size} entries, k = {k:g}",
            least_seconds(partial(exact.sample, vector)),
            least_seconds(partial(floats.sample, vector)),
            draws,
            exact.errors(vector).l1 / floats.errors(vector).l1,
        )
    counts = [40, 35, 25, 300, 4_000]
    for draws in (2**16, 2**20, 2**22, 2**24):
        whole = veil.vectors.DirichletCounts(2.2, 100.0, 5, draws=draws)
        plain = veil.vectors.DirichletCounts(2.2, 100.0, 5, exact=False)
        _line(
            f"counts of 5 categories, {draws:,} draws",
            least_seconds(partial(whole.sample, counts), runs=3),
            least_seconds(partial(plain.sample, counts)),
            draws,
            whole.errors(counts).l1 / plain.errors(counts).l1,
        )


if __name__ == "__main__":
    run()
