"""One private word: against a list of all words, by NumPy, diffprivlib and OpenDP."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench.accuracy.words import language
from bench.clock import least_seconds
from bench.enumeration import all_words, permute_and_flip
from bench.measure import Ratio
from bench.work import Work
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip

GROUP = "Speed: words"
EPSILON = 2.0


def run(work: Work) -> list[Ratio]:
    """The same mechanism without a list, and with one that is already there."""
    words = language(work.either(8, 9))
    mechanism = PermuteAndFlip(words, EPSILON)
    true = words.walks(1, rng=1)
    mechanism.sample(true[0])
    ours = least_seconds(partial(mechanism.sample, true[0]), runs=7)
    listed = all_words(words.successors, words.labels.index(words.start), words.length)
    assert len(listed) == words.number_of_words
    what = f"one private drive of {words.length} segments"
    setting = f"epsilon {EPSILON:g}; {len(listed):,} words, which the peers have as a list beforehand"
    plain = least_seconds(
        partial(permute_and_flip, np.random.default_rng(1), listed, true.rows[0], EPSILON), runs=5
    )
    found = [Ratio(GROUP, what, setting, ours, plain, "NumPy permute-and-flip on the list", "seconds")]
    errors: Any = (listed != true.rows[0]).sum(axis=1)
    answer = work.ask(
        "diffprivlib",
        "words",
        what,
        {"errors": errors[None, :]},
        epsilon=EPSILON,
        mechanisms=["PermuteAndFlip"],
        draws=1,
        seconds=1,
    )
    if answer is not None:
        theirs = answer.numbers["PermuteAndFlip"]["seconds"]
        found.append(Ratio(GROUP, what, setting, ours, theirs, "diffprivlib PermuteAndFlip", "seconds"))
    answer = work.ask("opendp", "choice", what, {"errors": errors}, epsilon=EPSILON)
    if answer is not None:
        found.append(Ratio(GROUP, what, setting, ours, answer.seconds, "OpenDP noisy max", "seconds"))
    return found
