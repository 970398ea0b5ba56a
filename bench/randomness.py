"""What cryptographic randomness costs: the default stream against PCG64, in the same run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

import veil
from bench.clock import least_seconds
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import generator
from veil.vectors.samplers.polya_urn import sample_urn

NUMBERS, RUNS = 1_000_000, 7
Draw = Callable[[np.random.Generator], object]


def _compare(name: str, draw: Draw) -> None:
    """The least times of both, in turns, so that a busy machine disturbs both alike."""
    secret, plain = generator(), np.random.default_rng(1)
    draw(secret)
    aes = pcg = float("inf")
    for _ in range(RUNS):
        aes = min(aes, least_seconds(lambda: draw(secret), runs=1))
        pcg = min(pcg, least_seconds(lambda: draw(plain), runs=1))
    print(
        f"{name}: {NUMBERS / aes / 1e6:.0f} against {NUMBERS / pcg / 1e6:.0f} million a second, "
        f"AES / PCG64 = {aes / pcg:.2f}x the time",
        flush=True,
    )


def run() -> None:
    """Print the rates of both streams for numbers and for whole mechanisms, and what a fresh key costs."""
    _compare("64-bit words", lambda rng: rng.integers(0, 2**64, size=NUMBERS, dtype=np.uint64))
    _compare("uniform floats", lambda rng: rng.random(NUMBERS))
    _compare("gamma(5.7)", lambda rng: rng.standard_gamma(5.7, size=NUMBERS))
    noise = Fraction(7.3)
    _compare("exact discrete Laplace", lambda rng: sample_discrete_laplace(rng, scale=noise, size=NUMBERS))
    shapes = [[Fraction(4)] * 5]
    _compare("draws of a Polya urn", lambda rng: sample_urn(rng, shapes=shapes, draws=NUMBERS))
    mechanism = veil.vectors.Dirichlet(100.0, veil.vectors.Simplex(20, floor=0.01), smooth=True)
    vectors = np.full((NUMBERS // 20, 20), 0.05)
    _compare("entries of Dirichlet vectors", lambda rng: mechanism.sample(vectors, rng=rng))
    fresh = least_seconds(lambda: [generator() for _ in range(200)]) / 200
    seeded = least_seconds(lambda: [np.random.default_rng(i) for i in range(200)]) / 200
    print(f"a fresh stream: {1e6 * fresh:.0f} us, {fresh / seeded:.1f}x a seeded PCG64")


if __name__ == "__main__":
    run()
