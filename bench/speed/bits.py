"""Bits flipped by randomised response, against OpenDP's bit vectors."""

from __future__ import annotations

from functools import partial

import numpy as np

from bench.bits import BITS
from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work
from veil.bits.mechanisms.randomized_response import RandomizedResponse

GROUP = "Speed: bits"


def run(work: Work) -> list[Ratio]:
    """A million bits at two epsilons, both exact and from cryptographic words."""
    table = np.random.default_rng(1).random((1000, BITS // 1000)) < 0.3
    found = []
    for epsilon in (1.0, 3.0):
        mechanism = RandomizedResponse(epsilon)
        mechanism.sample(table)
        what = f"a million bits by randomised response, epsilon {epsilon:g}"
        answer = work.ask("opendp", "bits", what, {"table": table}, each=epsilon)
        if answer is not None:
            ours = least_seconds(partial(mechanism.sample, table), runs=work.either(3, 7))
            setting = f"epsilon {epsilon:g} a bit, one process"
            found.append(Ratio(GROUP, what, setting, ours, answer.seconds, "OpenDP bit vectors", "seconds"))
    return found
