"""Permute-and-flip on words, as published (proofs in words.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import charge_above, float_below
from veil.core.numerics.staircase import free_counts
from veil.core.random.streams import Rng
from veil.words.language import FreeWords
from veil.words.mechanisms.word_mechanism import WordMechanism, distances_between, room_for
from veil.words.numerics.counts import Counts, distance_weights, permute_and_flip_rounding
from veil.words.numerics.errors import log_phi, permute_and_flip_pmf
from veil.words.samplers.distances import sample_permute_and_flip
from veil.words.samplers.noisy_max import sample_free_permute_and_flip
from veil.words.word_batch import Codes


@dataclass(frozen=True)
class PermuteAndFlip(WordMechanism):
    """Go through the feasible words in random order; take one with probability exp(-epsilon d / (2 radius)).

    d is the number of wrong symbols (Benvenuti, Rao and Hale, Mechanisms 1 and 2, after McKenna and Sheldon).
    Never worse than the exponential mechanism at the same rate, and as costly: half of epsilon is lost to
    words that are not there.
    """

    name: ClassVar[str] = "PermuteAndFlip"

    @property
    def _rounding(self) -> float:
        return 0.0 if isinstance(self.language, FreeWords) else permute_and_flip_rounding(self.language.graph)

    @cached_property
    def rate(self) -> float:
        return float_below(Fraction(room_for(self.epsilon, self._rounding)) / (2 * self.radius))

    @property
    def decay(self) -> float:
        return math.exp(-self.rate)

    def loss(self, radius: int) -> float:
        return charge_above(Fraction(self.rate) * (2 * radius) + Fraction(self._rounding))

    def draw_rows(self, rng: Rng, rows: Codes) -> Codes:
        if isinstance(self.language, FreeWords):
            alphabet = len(self.language.labels)
            return sample_free_permute_and_flip(rng, words=rows, alphabet=alphabet, rate=self.rate)
        graph = self.language.graph.of_length(rows.shape[1])
        return sample_permute_and_flip(rng, graph=graph, words=rows, rate=self.rate)

    def _counts(self, word: Codes) -> Counts | list[int]:
        """How many words there are with 0, 1, ..., n errors."""
        if isinstance(self.language, FreeWords):
            return free_counts(len(word), len(self.language.labels))
        return distance_weights(self.language.graph.of_length(len(word)), word)

    def distances(self, word: Codes) -> Floats:
        return permute_and_flip_pmf(self._counts(word), self.rate)

    def expected_errors(self, rows: Codes) -> Floats:
        errors = np.arange(rows.shape[1] + 1)
        if isinstance(self.language, FreeWords):
            return np.full(len(rows), float(self.distances(rows[0]) @ errors))
        return np.array([float(self.distances(word) @ errors) for word in rows])

    def log_probabilities(self, outputs: Codes, word: Codes) -> Floats:
        errors = distances_between(outputs, word)
        return np.asarray(log_phi(self._counts(word), self.rate)[errors] - self.rate * errors)
