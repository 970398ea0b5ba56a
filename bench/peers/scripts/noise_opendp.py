"""Whole-number noise by OpenDP's exact samplers: on counts again and again, and timed on a long vector.

kind: laplace (pure privacy for `distance` in L1) or gaussian (rho for `distance` in L2). epsilon: what the
noise must cost; the scale is OpenDP's own least one. scale: instead, the noise as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as opendp

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given

dp: Any = opendp


def main() -> None:
    settings, arrays = given()
    dp.enable_features("contrib")
    laplace = settings["kind"] == "laplace"
    make = dp.m.make_laplace if laplace else dp.m.make_gaussian
    metric = dp.l1_distance(T=int) if laplace else dp.l2_distance(T=float)
    space = dp.vector_domain(dp.atom_domain(T=int)), metric
    distance = settings.get("distance", 1)
    scale = settings.get("scale")
    if scale is None:
        scale = dp.binary_search_param(
            lambda s: make(*space, scale=s), d_in=distance, d_out=settings["epsilon"]
        )
    noisy = make(*space, scale=scale)
    found: dict[str, Any] = {"scale": scale, "cost": noisy.map(distance)}
    drawn = {}
    if "counts" in arrays:
        counts = arrays["counts"].tolist()
        drawn["noisy"] = np.array([noisy(counts) for _ in range(settings["repeats"])])
    if "draws" in settings:
        zeros = [0] * settings["draws"]
        noisy(zeros[:100])
        found["seconds"] = least_seconds(lambda: noisy(zeros), runs=3)
    answer("opendp", drawn, **found)


if __name__ == "__main__":
    main()
