"""The sessions of msnbc.com with 5 to 20 pages as free words over 17 categories: errors of each mechanism."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from veil.core.random.streams import generator
from veil.tables.sequences import SequenceFile
from veil.words.language import FreeWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.staircase_words import StaircaseWords
from veil.words.mechanisms.word_mechanism import WordMechanism
from veil.words.reading import read_words
from veil.words.word_batch import WordBatch

MSNBC = Path(__file__).parents[2] / "shared" / "data" / "msnbc990928.zip"
SHORTEST, LONGEST, CATEGORIES = 5, 20, 17
EPSILONS = (1.0, 2.0, 5.0, 8.0)

Make = Callable[[FreeWords, float], WordMechanism]
MECHANISMS: dict[str, Make] = {
    "exponential, generic": lambda free, epsilon: ExponentialWords(free, epsilon, calibration="generic"),
    "permute-and-flip": PermuteAndFlip,
    "exponential, certified": ExponentialWords,
    "radius 2: per symbol": lambda free, epsilon: ExponentialWords(free, epsilon, radius=2),
    "radius 2: staircase": lambda free, epsilon: StaircaseWords(free, epsilon, radius=2),
}


def sessions() -> WordBatch:
    """The sessions of these lengths."""
    held = read_words(SequenceFile(MSNBC, skip=7), states=list(range(1, CATEGORIES + 1)))
    kept = (held.lengths >= SHORTEST) & (held.lengths <= LONGEST)
    return WordBatch(held.states, held.codes[np.repeat(kept, held.lengths)], held.lengths[kept])


def mean_error(make: Make, epsilon: float, lengths: dict[int, int]) -> float:
    """The expected number of wrong pages of a session."""
    total = 0.0
    for length, count in lengths.items():
        free = FreeWords(CATEGORIES, length)
        total += count * float(make(free, epsilon).expected_errors(free.walks(1).rows)[0])
    return total / sum(lengths.values())


def run() -> None:
    """Print one table, and for one mechanism what really came out."""
    if not MSNBC.is_file():
        print("the msnbc data is not here")
        return
    batch = sessions()
    lengths = {length: len(numbers) for length, (numbers, _) in batch.by_length.items()}
    mean = len(batch.codes) / len(batch)
    print(f"{len(batch):,} sessions of {SHORTEST} to {LONGEST} pages, {mean:.2f} on average; pages wrong:")
    print(f"{'epsilon':24}" + "".join(f"{epsilon:>8g}" for epsilon in EPSILONS))
    for name, make in MECHANISMS.items():
        errors = [mean_error(make, epsilon, lengths) for epsilon in EPSILONS]
        print(f"{name:24}" + "".join(f"{error:8.3f}" for error in errors), flush=True)
    drawn = ExponentialWords(FreeWords(batch.labels, LONGEST), 5.0).drawn(generator(1), batch)
    wrong = (drawn.codes != batch.codes).sum() / len(batch)
    print(f"drawn once, certified, epsilon 5: {wrong:.3f} wrong")


if __name__ == "__main__":
    run()
