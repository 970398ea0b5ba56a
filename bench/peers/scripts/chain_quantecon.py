"""A Markov chain by quantecon: its stationary distribution, and simulated paths."""

from __future__ import annotations

from functools import partial
from typing import Any

from quantecon import MarkovChain
from quantecon.markov.gth_solve import gth_solve

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, arrays = given()
    matrix = arrays["matrix"]
    gth_solve(matrix[:3, :3])
    found: dict[str, Any] = {"seconds": least_seconds(partial(gth_solve, matrix), runs=3)}
    drawn = {"stationary": gth_solve(matrix)}
    if "steps" in settings:
        chain = MarkovChain(matrix)
        chain.simulate(10, init=0, random_state=1)
        simulate = partial(chain.simulate, settings["steps"] + 1, init=0, random_state=1)
        found["simulated"] = least_seconds(simulate, runs=3)
    answer("quantecon", drawn, **found)


if __name__ == "__main__":
    main()
