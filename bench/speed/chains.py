"""Markov chains: stationary distributions and simulated paths, against quantecon and NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work
from veil.matrices.numerics.elimination import stationary_dense
from veil.matrices.numerics.paths import Walker

GROUP = "Speed: Markov chains"


def _by_eigenvectors(matrix: Any) -> Any:
    """The plain way: the left eigenvector of the largest eigenvalue."""
    values, columns = np.linalg.eig(matrix.T)
    found = np.real(columns[:, np.argmax(np.real(values))])
    return found / found.sum()


def run(work: Work) -> list[Ratio]:
    """Dense chains of 50 and 500 states; a path of millions of steps."""
    rng, found = np.random.default_rng(0), []
    for states in (50, 500):
        matrix = rng.dirichlet(np.ones(states), size=states)
        stationary_dense(matrix)
        ours = least_seconds(partial(stationary_dense, matrix), runs=work.either(5, 9))
        what, setting = f"stationary distribution of {states} states", "dense, one thread each"
        plain = least_seconds(partial(_by_eigenvectors, matrix), runs=2)
        found.append(Ratio(GROUP, what, setting, ours, plain, "NumPy eigenvectors", "seconds"))
        steps = work.either(2_000_000, 10_000_000)
        answer = work.ask("quantecon", "chain", what, {"matrix": matrix}, steps=steps)
        if answer is None:
            continue
        assert np.allclose(answer.arrays["stationary"], stationary_dense(matrix))
        found.append(Ratio(GROUP, what, setting, ours, answer.seconds, "QuantEcon gth_solve", "seconds"))
        walker, starts = Walker.of(matrix), np.zeros(1, dtype=np.int64)
        walker.paths(starts, 10, rng)
        walked = least_seconds(partial(walker.paths, starts, steps, rng), runs=3)
        found.append(
            Ratio(
                GROUP,
                f"a path of {steps:,} steps through {states} states",
                "compiled code, one thread",
                walked,
                answer.numbers["simulated"],
                "QuantEcon simulate",
                "seconds",
            )
        )
    return found
