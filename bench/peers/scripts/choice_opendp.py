"""One of many candidates by OpenDP's noisy maximum with exponential noise, as permute-and-flip draws it."""

from __future__ import annotations

from typing import Any

import opendp.prelude as opendp

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given

dp: Any = opendp


def main() -> None:
    settings, arrays = given()
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    noisy = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0 / settings["epsilon"], negate=True)
    values = arrays["errors"].astype(float).tolist()
    noisy(values[:100])
    seconds = least_seconds(lambda: noisy(values), runs=2)
    answer("opendp", seconds=seconds, cost=noisy.map(1.0))


if __name__ == "__main__":
    main()
