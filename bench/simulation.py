"""Simulated paths of Markov chains against quantecon's, in steps a second; compiling is left out on both."""

from __future__ import annotations

from functools import partial

import numpy as np

from bench.clock import least_seconds

STEPS = 10_000_000


def run() -> None:
    """Print millions of steps a second for one long path, for many paths, and for a large sparse chain."""
    from quantecon import MarkovChain

    from tests.matrices.sparse_chains import expander
    from veil.matrices.numerics.paths import Walker

    rng = np.random.default_rng(0)
    small = rng.dirichlet(np.ones(50), size=50)
    large = expander(rng, 100_000, 9)
    for name, matrix in (("50 states", small), ("100,000 states, 1,000,000 transitions", large)):
        tables = least_seconds(partial(Walker.of, matrix), runs=3)
        print(f"{name}: alias tables in {1e3 * tables:.3g} ms")
        walker, peer = Walker.of(matrix), MarkovChain(matrix)
        for paths in (1, 1000):
            steps = STEPS // paths
            starts = np.zeros(paths, dtype=np.int64)
            walker.paths(starts, 10, rng)
            peer.simulate(10, init=0, num_reps=paths, random_state=1)
            ours = STEPS / least_seconds(partial(walker.paths, starts, steps, rng), runs=3) / 1e6
            simulate = partial(peer.simulate, steps + 1, init=0, num_reps=paths, random_state=1)
            theirs = STEPS / least_seconds(simulate, runs=3) / 1e6
            print(
                f"{name}, paths: {paths}: {ours:.1f} million steps a second (goal for 50 states: 10), "
                f"{ours / theirs:.1f}x quantecon ({theirs:.1f})"
            )
