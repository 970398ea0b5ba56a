"""Words along the streets of a made-up town: how many symbols come out wrong."""

from __future__ import annotations

from typing import Any

from bench.measure import Ratio
from bench.work import Work
from veil.samples.streets import streets
from veil.words.chain_words import ChainWords
from veil.words.planning import plan_words

GROUP = "Accuracy: words"
EPSILON, WALKS = 4.0, 40
SHORT, LONG = 5, 14


def language(length: int) -> ChainWords:
    """The drives of so many segments from one place."""
    return ChainWords(streets(), length, start="Ash 1st-2nd")


def enumerated_errors(words: ChainWords, true: Any) -> Any:
    """For each true word, in how many places every word of the whole list differs from it."""
    everything = words.enumerate().rows
    return (everything[None, :, :] != true.rows[:, None, :]).sum(axis=2)


def run(work: Work) -> list[Ratio]:
    """A list of a few hundred drives, where enumeration is possible, and long ones, where it is not."""
    found = []
    for length in (SHORT, LONG):
        words = language(length)
        true = words.walks(WALKS, rng=3)
        plan = plan_words(words, EPSILON, examples=true)
        plain = next(row for row in plan.rows if row.name == "permute-and-flip")
        assert plan.best.error is not None
        assert plain.error is not None
        what = f"drives of {length} segments, {words.number_of_words:,} of them"
        setting = f"epsilon {EPSILON:g}, delta 0, one segment changes; Veil chose {plan.best.name}"
        ours = plan.best.error
        found.append(
            Ratio(
                GROUP,
                what,
                setting,
                ours,
                plain.error,
                "permute-and-flip, as published",
                "wrong segments",
                note=f"both expectations are exact, over the same {WALKS} random drives",
            )
        )
        if length > SHORT:
            continue
        answer = work.ask(
            "diffprivlib",
            "words",
            what,
            {"errors": enumerated_errors(words, true)},
            epsilon=EPSILON,
            mechanisms=["Exponential", "PermuteAndFlip"],
            draws=work.either(40, 200),
            seconds=work.either(6, 60),
        )
        for name, numbers in {} if answer is None else answer.numbers.items():
            if name == "version":
                continue
            note = f"theirs: {numbers['draws']:,} draws, standard error {numbers['error']:.2g}"
            peer = f"diffprivlib {name} on the list"
            spread = numbers["error"] / numbers["mean"]
            found.append(
                Ratio(
                    GROUP,
                    what,
                    setting,
                    ours,
                    numbers["mean"],
                    peer,
                    "wrong segments",
                    note=note,
                    spread=spread,
                )
            )
    return found
