"""Stationary distributions: dense against LAPACK and quantecon, their accuracy, and large sparse chains."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.clock import least_seconds

STATES = 100_000


def run() -> None:
    """Print times as ratios to a peer in the same run, the largest relative errors, seconds and memory."""
    _dense_times()
    _accuracy()
    _sparse()


def _dense_times() -> None:
    from quantecon.markov.gth_solve import gth_solve

    from veil.matrices.numerics.elimination import hitting_times_to, stationary_dense, visits

    rng = np.random.default_rng(0)
    for states in (50, 500, 1000, 2000):
        matrix = rng.dirichlet(np.ones(states), size=states)
        stationary_dense(matrix[:50, :50])
        gth_solve(matrix[:50, :50])
        ours = least_seconds(partial(stationary_dense, matrix))
        lapack = least_seconds(partial(_lapack, matrix))
        peer = least_seconds(partial(gth_solve, matrix), runs=3)
        others = [least_seconds(partial(f, matrix, 0), runs=3) for f in (hitting_times_to, visits)]
        print(
            f"{states} states: {1e3 * ours:.3g} ms, {ours / lapack:.2f}x one LAPACK solve (goal: within 3x), "
            f"{peer / ours:.1f}x as fast as quantecon's gth_solve ({1e3 * peer:.3g} ms); "
            f"hitting times {1e3 * others[0]:.3g} ms, visits {1e3 * others[1]:.3g} ms"
        )


def _lapack(matrix: Any) -> Any:
    from scipy.linalg import lu_factor, lu_solve

    return lu_solve(lu_factor(matrix), np.ones(len(matrix)))


def _accuracy() -> None:
    from quantecon.markov.gth_solve import gth_solve

    from tests.matrices import chains
    from veil.matrices.numerics.elimination import stationary_dense

    rng = np.random.default_rng(1)
    down = rng.uniform(0.05, 0.1, 199)
    cases: dict[str, Any] = {
        "Courtois's eight states": chains.COURTOIS,
        "three groups of 30 coupled by 1e-12": chains.coupled(rng, [30, 30, 30], 1e-12),
        "three groups of 30 coupled by 1e-200": chains.coupled(rng, [30, 30, 30], 1e-200),
        "birth and death, 1e-199 to 1": chains.birth_death(0.1 * down, down),
        "birth and death, 1 to 1e199": chains.birth_death(9.99 * down, down),
        "120 random states": chains.random_chain(rng, 120),
    }
    for name, matrix in cases.items():
        truth = chains.precise_stationary(matrix, digits=300)
        ours, peer, plain = (
            chains.worst_error(solve(matrix), truth) for solve in (stationary_dense, gth_solve, _linear)
        )
        print(f"{name}: largest relative error {ours:.0e}; quantecon {peer:.0e}, LAPACK {plain:.0e}")


def _linear(matrix: Any) -> Any:
    """The plain way: one equation of pi (P - I) = 0 replaced by sum pi = 1."""
    system = matrix.T - np.eye(len(matrix))
    system[-1] = 1.0
    return np.linalg.solve(system, np.eye(len(matrix))[-1])


def _sparse_cases() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """The chain, and its stationary distribution where that is known exactly."""
    from scipy import sparse

    from tests.matrices import sparse_chains as chains

    rng = np.random.default_rng(2)

    def two_expanders() -> tuple[Any, Any]:
        halves = [chains.conductances(rng, STATES // 2, 4, 1.0) for _ in range(2)]
        bridge = chains.links(STATES, [3, STATES - 7], [STATES - 7, 3], 1e-12)
        return chains.reversible(sparse.csr_array(sparse.block_diag(halves) + bridge))

    def line() -> tuple[Any, Any]:
        down = rng.uniform(0.2, 0.3, STATES - 1)
        up = down * 10.0 ** (-200 / STATES)
        return chains.line(up, down), None

    return {
        "expander of 1,000,000 transitions": lambda: (chains.expander(rng, STATES, 9), None),
        "two expanders coupled by 1e-12": two_expanders,
        "links over 12 orders of magnitude": lambda: chains.reversible(
            chains.conductances(rng, STATES, 4, 12.0)
        ),
        "316 x 316 places with drift": lambda: (chains.grid(rng, 316), None),
        "ring": lambda: (chains.ring(rng, STATES), None),
        "hub with 99,999 leaves": lambda: chains.hub(rng, STATES),
        "ring around a hub": lambda: (chains.wheel(rng, STATES), None),
        "line over 200 orders of magnitude": line,
        "groups in groups, 1e-4 and 1e-9": lambda: (chains.nested(rng, STATES), None),
    }


def _sparse() -> None:
    for name in _sparse_cases():
        command = [sys.executable, "-m", "bench.stationary", name]
        figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        error = "" if figures["error"] is None else f", largest relative error {figures['error']:.0e}"
        print(
            f"{name}: {figures['seconds']:.2f} s, peak memory {figures['gigabytes']:.2f} GB "
            f"(goals: under 60 s and 2 GB), flows balance to {figures['imbalance']:.0e}{error}"
        )


def _measure(name: str) -> None:
    """One sparse chain in a process of its own, whose peak memory is then that of the solution."""
    from tests.matrices import sparse_chains as chains
    from veil.matrices.numerics.sparse_elimination import chain_of
    from veil.matrices.numerics.sparse_stationary import balanced_weights, stationary_sparse

    # Load or compile the machine code first.
    small = chains.expander(np.random.default_rng(0), 1200, 3)
    stationary_sparse(small)
    balanced_weights(chain_of(small))
    matrix, truth = _sparse_cases()[name]()
    start = time.perf_counter()
    found = stationary_sparse(matrix)
    seconds = time.perf_counter() - start
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {
        "seconds": seconds,
        "gigabytes": kilobytes / 1e6,
        "imbalance": float(np.abs(found @ matrix / found - 1.0).max()),
        "error": None if truth is None else float(np.abs(found / truth - 1.0).max()),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    _measure(sys.argv[1])
