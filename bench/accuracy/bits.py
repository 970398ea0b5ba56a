"""Records of 16 bits: wrong bits, and the error of the shares of ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import veil
from bench.measure import Ratio, relative_spread
from bench.work import Work

GROUP = "Accuracy: records of bits"
COLUMNS, RELEASES = 16, 100


def records(rows: int) -> Any:
    """Made-up answers to 16 questions that go together."""
    rng = np.random.default_rng(2)
    leaning = rng.normal(size=(rows, 1)) * rng.normal(size=COLUMNS)
    return rng.normal(size=(rows, COLUMNS)) + leaning < rng.normal(scale=0.7, size=COLUMNS)


def run(work: Work) -> list[Ratio]:
    """The record's epsilon: spent on the record as a whole, or split over its columns."""
    found = []
    rows = work.either(2_500, 25_000)
    table = records(rows)
    truth = table.mean(axis=0)
    for epsilon in (1.0, 4.0):
        drawn = [veil.bits.release(table, epsilon=epsilon, rng=seed) for seed in range(RELEASES)]
        name = drawn[0].mechanism.name
        shares = [veil.bits.estimates(out).shares[0] for out in drawn]
        what = f"{rows:,} records of {COLUMNS} bits"
        setting = f"epsilon {epsilon:g} for a whole record, delta 0; Veil chose {name}"
        each = epsilon / COLUMNS
        repeated = np.broadcast_to(table, (RELEASES, *table.shape))
        answer = work.ask("opendp", "bits", what, {"table": repeated}, each=each, runs=1)
        if answer is None:
            continue
        assert answer.numbers["each"] >= each * (1.0 - 1e-9)
        flip = 1.0 / (1.0 + math.exp(each))
        noisy = answer.arrays["noisy"].astype(bool)
        theirs = (noisy.mean(axis=1) - flip) / (1.0 - 2.0 * flip)
        peer = "OpenDP randomised response, bit by bit"
        wrong = float(np.mean([(out.value != table).mean() for out in drawn])), float((noisy != table).mean())
        squares = [(np.array(read) - truth) ** 2 for read in (shares, theirs)]
        # Of the roots: half of that of the squares. The columns of a release go together: one number each.
        spread = 0.5 * relative_spread(*(square.mean(axis=1) for square in squares))
        ours, others = (math.sqrt(float(square.mean())) for square in squares)
        found += [
            Ratio(
                GROUP,
                f"{what}, epsilon {epsilon:g}: wrong bits",
                setting,
                *wrong,
                peer,
                "share of bits",
                note="a coin is wrong in half of the bits",
            ),
            Ratio(
                GROUP,
                f"{what}, epsilon {epsilon:g}: shares of ones",
                setting,
                ours,
                others,
                peer,
                "root mean square error",
                spread=spread,
                note=f"{RELEASES} releases each; both without bias",
            ),
        ]
    return found
