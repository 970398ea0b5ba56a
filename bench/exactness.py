"""What exactness costs: profiles, published deltas of many entries, discrete noise."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import veil
from bench.clock import least_seconds
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.core.random.streams import generator


def run() -> None:
    """Print times of the exact computations; SciPy's closed form is the peer of the profile."""
    from scipy.special import betainc, expit

    mechanism = veil.vectors.Dirichlet(20.6, veil.vectors.Simplex(5, floor=0.073))
    adjacency = veil.vectors.Transfer.from_records(98)
    profile = mechanism.profile(adjacency)
    a, s = 20.6 * 0.073, 20.6 / 98

    def closed_form() -> float:
        x = float(expit(-2.255 / s))
        return float(betainc(a, a + s, x) - 9.5353 * betainc(a + s, a, x))

    peer = least_seconds(lambda: [closed_form() for _ in range(100)]) / 100
    ours = least_seconds(lambda: [profile.delta(2.255) for _ in range(100)]) / 100
    print(f"profile.delta: {1e3 * ours:.3f} ms, {ours / peer:.0f}x two incomplete betas, which cancel")
    print(f"profile.epsilon: {1e3 * least_seconds(lambda: profile.epsilon(1e-6)):.1f} ms")
    calibrated = least_seconds(
        lambda: veil.calibrate(
            lambda k: veil.vectors.Dirichlet(k, veil.vectors.Simplex(5, floor=0.073)),
            adjacency,
            epsilon=2.255,
            delta=0.0026,
        )
    )
    print(f"calibrate: {1e3 * calibrated:.1f} ms")
    wide = veil.vectors.Dirichlet(
        5000.0, veil.vectors.Simplex(501, floor=1.5e-3, protected=range(500), slack=0.1)
    )
    for gamma in (1e-4, 1e-6):
        seconds = least_seconds(partial(wide.published, veil.vectors.Transfer(1e-4), gamma=gamma))
        delta = wide.published(veil.vectors.Transfer(1e-4), gamma=gamma).delta
        print(f"published delta of 500 entries: {delta:.6e} in {seconds:.3f} s (goal: under 1 s)")
    rng = generator()
    for name, draw in (
        ("discrete Laplace", lambda: sample_discrete_laplace(rng, scale=Fraction(2), size=20_000)),
        ("discrete Gaussian", lambda: sample_discrete_gaussian(rng, variance=Fraction(25), size=20_000)),
    ):
        print(f"exact {name}: {20_000 / least_seconds(draw, runs=3) / 1e6:.3f} million a second")
