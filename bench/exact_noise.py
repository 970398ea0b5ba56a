"""Exact discrete noise against OpenDP's exact samplers and NumPy's inexact ones, in one thread."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from bench.clock import least_seconds
from veil.core.random import discrete, exact_tables
from veil.core.random.exact_tables import Law
from veil.core.random.streams import generator
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

DRAWS, PEER_DRAWS = 1_000_000, 20_000
SCALES = (0.05, 1.0, 7.3, 1e3, 1e6, 1e12)
SIGMAS = (0.3, 1.0, 7.3, 1e3, 1e5)


def _rate(draw: Callable[[], object], draws: int) -> float:
    """Millions a second."""
    return draws / least_seconds(draw, runs=3) / 1e6


def _opendp(kind: str) -> Callable[[float], Callable[[], object]]:
    """Noise on a vector of zeros, as OpenDP draws it for whole numbers."""
    import opendp.prelude as peer

    dp: Any = peer
    dp.enable_features("contrib")
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[kind]
    distance = {"laplace": dp.l1_distance(T=int), "gaussian": dp.l2_distance(T=float)}[kind]
    zeros = [0] * PEER_DRAWS
    return lambda scale: partial(make(dp.vector_domain(dp.atom_domain(T=int)), distance, scale=scale), zeros)


def _line(name: str, law: Law, ours: float, peer: float, slow: float, inexact: float, goal: int) -> None:
    table = 1e3 * least_seconds(partial(exact_tables._table.__wrapped__, law), runs=3)
    print(
        f"{name}: {ours:.1f} million a second (goal: {goal}), {ours / peer:.0f}x OpenDP ({peer:.3f}), "
        f"{ours / slow:.0f}x one by one ({slow:.3f}), {ours / inexact:.2f}x floating point ({inexact:.1f}); "
        f"table in {table:.2f} ms",
        flush=True,
    )


def run() -> None:
    """Print millions of draws a second, with the cryptographic generator, and the time for a table."""
    rng = generator()
    peer = _opendp("laplace")
    for scale in SCALES:
        exact = Fraction(scale)
        _line(
            f"discrete Laplace, scale {scale:g}",
            Law.laplace(exact),
            _rate(partial(discrete.sample_discrete_laplace, rng, scale=exact, size=DRAWS), DRAWS),
            _rate(peer(scale), PEER_DRAWS),
            _rate(partial(discrete.laplace_one_by_one, rng, scale=exact, size=PEER_DRAWS), PEER_DRAWS),
            _rate(partial(GeometricCounts(scale, 2).simulated_noise, rng, (DRAWS,)), DRAWS),
            3,
        )
    peer = _opendp("gaussian")
    for sigma in SIGMAS:
        exact = Fraction(sigma) ** 2
        _line(
            f"discrete Gaussian, sigma {sigma:g}",
            Law.gaussian(exact),
            _rate(partial(discrete.sample_discrete_gaussian, rng, variance=exact, size=DRAWS), DRAWS),
            _rate(peer(sigma), PEER_DRAWS),
            _rate(partial(discrete.gaussian_one_by_one, rng, variance=exact, size=PEER_DRAWS), PEER_DRAWS),
            _rate(partial(DiscreteGaussianCounts(sigma, 2).simulated_noise, rng, (DRAWS,)), DRAWS),
            1,
        )


if __name__ == "__main__":
    run()
