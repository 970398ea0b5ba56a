"""Free words by a staircase in the number of errors (proofs in words.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import charged_times, float_above, rate_above
from veil.core.numerics.staircase import WordStaircase, free_counts, log_words_at, staircase
from veil.core.random.exact_choice import sample_free_by_distance
from veil.core.random.streams import Rng
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.word_mechanism import WordMechanism, distances_between
from veil.words.word_batch import Codes


@dataclass(frozen=True)
class StaircaseWords(WordMechanism):
    """A word's probability falls by exp(epsilon) at every `radius`-th error, and not between.

    Of all mechanisms on free words none errs less, in the worst case over words; for a radius of 1 it is
    randomised response of each symbol.
    """

    name: ClassVar[str] = "StaircaseWords"
    takes: ClassVar[tuple[type[Language], ...]] = (FreeWords,)

    def steps(self, length: int) -> WordStaircase:
        """The weights of words with 0, 1, ..., n errors."""
        return _steps(length, len(self.language.labels), self.radius, self.epsilon)

    @property
    def decay(self) -> float:
        """The factor of one step, shared by `radius` errors."""
        return float(self.steps(self.language.length).decay ** (1.0 / self.radius))

    def loss(self, radius: int) -> float:
        # Steps are `radius` apart, wherever the first one is: shorter words may have it elsewhere.
        drops = -(-min(radius, self.language.length) // self.radius)
        return charged_times(rate_above(self.steps(self.language.length).decay), drops)

    @property
    def loss_each(self) -> float:
        # Not the mean over a whole word: the second step may come with the very next symbol.
        most = range(self.radius + 1, self.language.length + 1)
        return max((float_above(Fraction(self.loss(many)) / many) for many in most), default=self.loss(1))

    def draw_rows(self, rng: Rng, rows: Codes) -> Codes:
        alphabet = len(self.language.labels)
        # The weights are those of single words; the sampler draws the distance first.
        counts = free_counts(rows.shape[1], alphabet)
        law = [n * weight for n, weight in zip(counts, self.steps(rows.shape[1]).weights(), strict=True)]
        return sample_free_by_distance(rng, words=rows, alphabet=alphabet, law=law)

    def distances(self, word: Codes) -> Floats:
        return self.steps(len(word)).distances()

    def expected_errors(self, rows: Codes) -> Floats:
        return np.full(len(rows), self.steps(rows.shape[1]).expected_error)

    def log_probabilities(self, outputs: Codes, word: Codes) -> Floats:
        steps = self.steps(len(word))
        counts = log_words_at(len(word), len(self.language.labels))
        total = np.logaddexp.reduce(counts + steps.log_weights)
        return np.asarray((steps.log_weights - total)[distances_between(outputs, word)])


@lru_cache(maxsize=1024)
def _steps(length: int, alphabet: int, radius: int, epsilon: float) -> WordStaircase:
    return staircase(length, alphabet, radius, epsilon)
