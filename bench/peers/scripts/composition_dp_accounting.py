"""Many releases together by dp-accounting's privacy loss distributions, with its usual grid."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, _ = given()
    library: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
    kinds: dict[str, Callable[[], Any]] = {
        "geometric": lambda: library.from_discrete_laplace_mechanism(1.0 / settings["scale"]),
        "laplace": lambda: library.from_laplace_mechanism(settings["scale"]),
    }
    make, delta = kinds[settings["kind"]], settings["delta"]

    def composed() -> float:
        return float(make().self_compose(settings["times"]).get_epsilon_for_delta(delta))

    epsilon = composed()
    answer("dp-accounting", epsilon=epsilon, seconds=least_seconds(composed, runs=settings["runs"]))


if __name__ == "__main__":
    main()
