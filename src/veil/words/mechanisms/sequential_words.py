"""Randomised response, symbol by symbol along a feasible path (proofs in words.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from veil.core.arrays import Floats, Ints
from veil.core.numerics.rounding import charged_times, rate_above, stated
from veil.core.random.streams import Rng
from veil.words.mechanisms.word_mechanism import WordMechanism, decay_within
from veil.words.numerics.channel import (
    best_targets,
    sequential_expected_errors,
    sequential_log_probabilities,
    sequential_pmf,
)
from veil.words.samplers.responses import sample_sequential
from veil.words.word_batch import Codes


@dataclass(frozen=True)
class SequentialWords(WordMechanism):
    """Each symbol is drawn when the true one is known, from those that may follow the last one drawn.

    The true symbol, where it may follow, is exp(epsilon / radius) times as likely as any other; where it may
    not, a fixed one that leads back to it is. So a trajectory can be released while it is being made, and no
    normaliser depends on it. See `words.online`.
    """

    name: ClassVar[str] = "SequentialWords"

    @cached_property
    def decay(self) -> float:
        return decay_within(stated(self.epsilon) / self.radius)

    @cached_property
    def targets(self) -> Ints:
        """targets[last node drawn, true symbol]: the node that is favoured. Public."""
        return best_targets(self.language.graph, self.decay, self.language.length)

    def loss(self, radius: int) -> float:
        return charged_times(rate_above(self.decay), radius)

    def draw_rows(self, rng: Rng, rows: Codes) -> Codes:
        graph = self.language.graph.of_length(rows.shape[1])
        return sample_sequential(rng, graph=graph, words=rows, decay=self.decay, targets=self.targets)

    def expected_errors(self, rows: Codes) -> Floats:
        graph = self.language.graph.of_length(rows.shape[1])
        return sequential_expected_errors(graph, rows, self.decay, self.targets)

    def distances(self, word: Codes) -> Floats:
        return sequential_pmf(self.language.graph.of_length(len(word)), word, self.decay, self.targets)

    def log_probabilities(self, outputs: Codes, word: Codes) -> Floats:
        graph = self.language.graph.of_length(len(word))
        return sequential_log_probabilities(graph, outputs, word, self.decay, self.targets)
