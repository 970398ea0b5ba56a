"""The delta of the published Dirichlet form: exactly, against draws as in the data-driven chains paper."""

from __future__ import annotations

from functools import partial

import numpy as np
from veil_papers.data_driven_chains import delta_by_monte_carlo

import veil
from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work

GROUP = "Speed: exact numbers"
FLOOR, ACCURACY = 0.073, 0.01
SIZE, RECORDS = 5, 98


def run(work: Work) -> list[Ratio]:
    """At one delta that draws can find, and at one that they hardly can."""
    samples, found = work.either(200_000, 1_000_000), []
    mechanism = veil.vectors.Dirichlet(1.5 / FLOOR, veil.vectors.Simplex(SIZE, floor=FLOOR))
    near = veil.vectors.Transfer.from_records(RECORDS)
    for gamma in (1e-2, 1e-5):
        delta = mechanism.published(near, gamma=gamma).delta
        ours = least_seconds(partial(mechanism.published, near, gamma=gamma), runs=5)
        draw = partial(
            delta_by_monte_carlo,
            SIZE,
            k=mechanism.k,
            floor=FLOOR,
            gamma=gamma,
            samples=samples,
            rng=np.random.default_rng(1),
        )
        each = least_seconds(draw, runs=3) / samples
        needed = (1.0 - delta) / (delta * ACCURACY**2)
        theirs = each * needed
        found.append(
            Ratio(
                GROUP,
                f"delta of {SIZE} entries at gamma {gamma:g}",
                f"delta = {delta:.3g}; draws to a standard error of {100 * ACCURACY:g} %",
                ours,
                theirs,
                "Monte Carlo, data-driven chains paper",
                "seconds",
                note=f"{needed:.2g} draws are needed; their time is that of {samples:,}, times as many",
            )
        )
    return found
