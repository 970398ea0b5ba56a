"""Counts of categories: the error of the private frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import veil
from bench.measure import Ratio, relative_spread
from bench.work import Work

GROUP = "Accuracy: counts of categories"
EPSILON, DELTA = 1.0, 1e-6
# samples/grades.csv
GRADES = (31, 28, 21, 10, 8)
CATEGORIES, RECORDS = 20, 10_000


def zipf_counts(size: int = CATEGORIES, records: int = RECORDS) -> list[int]:
    """Counts that fall as 1, 1/2, 1/3 ... and sum to the records."""
    shares = 1.0 / np.arange(1, size + 1)
    counts = np.floor(records * shares / shares.sum()).astype(int)
    counts[0] += records - counts.sum()
    found: list[int] = counts.tolist()
    return found


def vectors(noisy: Any) -> Any:
    """Noisy counts as probability vectors: negative ones become 0, then each is divided by its sum."""
    positive = np.maximum(np.asarray(noisy, dtype=np.float64), 0.0)
    totals = positive.sum(axis=-1, keepdims=True)
    even = 1.0 / positive.shape[-1]
    return np.where(totals > 0.0, positive / np.where(totals > 0.0, totals, 1.0), even)


def total_variation(drawn: Any, truth: Any) -> Any:
    """The total-variation distance of each draw from the truth; of matrices, the mean over their rows."""
    distance = 0.5 * np.abs(np.asarray(drawn) - np.asarray(truth)).sum(axis=-1)
    return distance if distance.ndim == 1 else distance.mean(axis=-1)


def drawn_ratio(group: str, what: str, setting: str, ours: Any, theirs: Any, peer: str, unit: str) -> Ratio:
    """The row of two means over draws."""
    means = float(np.mean(ours)), float(np.mean(theirs))
    return Ratio(group, what, setting, *means, peer, unit, spread=relative_spread(ours, theirs))


def error_of_auto(counts: Sequence[int], repeats: int, *, epsilon: float = EPSILON) -> tuple[str, Any]:
    """What Veil chooses from public numbers, and its errors on these counts."""
    near, truth = veil.vectors.Records("replace"), np.array(counts) / sum(counts)
    plan = veil.compare(None, near, epsilon=epsilon, delta=DELTA, size=len(counts), records=sum(counts))
    mechanism = plan.best.mechanism
    assert mechanism is not None
    assert mechanism.profile(near).covers(epsilon, DELTA)
    return plan.best.name, total_variation(mechanism.sample(counts, size=repeats), truth)


def run(work: Work) -> list[Ratio]:
    """Five grades of 98 students, and 10,000 records in 20 categories."""
    found = []
    for what, counts in (
        ("5 grades of 98 students", GRADES),
        ("20 categories, 10,000 records", zipf_counts()),
    ):
        repeats = work.either(6_000, 20_000) if len(counts) < 10 else work.either(2_000, 10_000)
        name, ours = error_of_auto(counts, repeats)
        truth, given = np.array(counts) / sum(counts), {"counts": counts}
        setting = f"epsilon {EPSILON:g}, delta {DELTA:g}, one record replaced; Veil chose {name}"
        answer = work.ask(
            "opendp", "noise", what, given, kind="laplace", distance=2, epsilon=EPSILON, repeats=repeats
        )
        peers = {} if answer is None else {"OpenDP discrete Laplace": vectors(answer.arrays["noisy"])}
        answer = work.ask(
            "diffprivlib",
            "counts",
            what,
            given,
            epsilon=EPSILON,
            delta=DELTA,
            l1=2.0,
            l2=math.sqrt(2.0),
            repeats=repeats,
        )
        if answer is not None:
            peers |= {
                "diffprivlib Laplace": vectors(answer.arrays["laplace"]),
                "diffprivlib analytic Gaussian": vectors(answer.arrays["gaussian"]),
            }
        found += [
            drawn_ratio(GROUP, what, setting, ours, total_variation(drawn, truth), peer, "total variation")
            for peer, drawn in peers.items()
        ]
    return found
