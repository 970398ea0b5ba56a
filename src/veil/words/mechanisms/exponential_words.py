"""Words with probabilities proportional to weight * decay^errors (proofs in words.md)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import choice, positive
from veil.core.numerics.rounding import (
    charge_above,
    charged_times,
    float_above,
    rate_above,
    stated,
    times_above,
)
from veil.core.numerics.staircase import log_words_at
from veil.core.random.exact_choice import sample_free
from veil.core.random.streams import Rng
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.word_mechanism import (
    LARGEST_RATE,
    WordMechanism,
    decay_within,
    distances_between,
    room_for,
)
from veil.words.numerics.certificate import certified_decay, certified_loss
from veil.words.numerics.errors import expected_errors, exponential_pmf, log_total, log_weights
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import rounding_loss
from veil.words.samplers.exponential import sample_words
from veil.words.word_batch import Codes


@dataclass(frozen=True)
class ExponentialFamily(WordMechanism):
    """P(v | w) is proportional to weight(v) decay^d(v, w), d the number of wrong symbols.

    shorter: the loss is certified for words of fewer symbols as well.
    """

    _: KW_ONLY
    shorter: bool = False

    @property
    def covers_shorter(self) -> bool:
        return self.shorter or self.is_free

    @property
    @abstractmethod
    def graph(self) -> WordGraph:
        """The language with the weights of its words."""

    @property
    def is_free(self) -> bool:
        """Whether symbols are drawn one by one: then the normaliser is constant, and nothing is rounded."""
        return isinstance(self.language, FreeWords)

    def loss(self, radius: int) -> float:
        if self.is_free:
            return charged_times(rate_above(self.decay), radius)
        return charge_above(Fraction(self._proved(radius)) + Fraction(rounding_loss(self.graph)))

    def _proved(self, radius: int) -> float:
        """The certified loss, but for the rounding of the draw."""
        return certified_loss(self.graph, self.decay, radius, shorter=self.shorter)

    @property
    def loss_each(self) -> float:
        rate = Fraction(rate_above(self.decay))
        return float_above(rate if self.is_free else 2 * rate + Fraction(rounding_loss(self.graph)))

    def draw_rows(self, rng: Rng, rows: Codes) -> Codes:
        if self.is_free:
            return sample_free(rng, words=rows, alphabet=len(self.language.labels), decay=self.decay)
        return sample_words(rng, graph=self.graph.of_length(rows.shape[1]), words=rows, decay=self.decay)

    def expected_errors(self, rows: Codes) -> Floats:
        if self.is_free:
            others = (len(self.language.labels) - 1) * self.decay
            return np.full(len(rows), rows.shape[1] * (others / (1.0 + others)))
        return expected_errors(self.graph.of_length(rows.shape[1]), rows, self.decay)

    def distances(self, word: Codes) -> Floats:
        if self.is_free:
            errors, alphabet = np.arange(len(word) + 1), len(self.language.labels)
            total = len(word) * math.log1p((alphabet - 1) * self.decay)
            return np.asarray(
                np.exp(log_words_at(len(word), alphabet) + errors * math.log(self.decay) - total)
            )
        return exponential_pmf(self.graph, word, self.decay)

    def log_probabilities(self, outputs: Codes, word: Codes) -> Floats:
        errors = distances_between(outputs, word) * math.log(self.decay)
        if self.is_free:
            return np.asarray(errors - len(word) * math.log1p((len(self.language.labels) - 1) * self.decay))
        return np.asarray(errors + log_weights(self.graph, outputs) - log_total(self.graph, word, self.decay))


@dataclass(frozen=True)
class ExponentialWords(ExponentialFamily):
    """A word v with probability proportional to exp(-rate * d(v, w)), d the number of wrong symbols.

    calibration: "certified" takes the largest rate whose loss is proved to be at most epsilon; "generic" is
        the published epsilon / (2 radius), which holds for every language and wastes up to half.
    drawn_with: the decay of a release that is read back; its loss is certified again.

    >>> from veil import words
    >>> roads = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
    >>> mechanism = words.ExponentialWords(words.ChainWords(roads, 4, start="a"), 3)
    >>> len(mechanism.sample(["b", "c", "c", "a"])), mechanism.certified_epsilon <= 3
    (4, True)
    """

    _: KW_ONLY
    calibration: str = "certified"
    drawn_with: float | None = field(default=None, compare=False)
    name: ClassVar[str] = "ExponentialWords"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("calibration", self.calibration, ("certified", "generic"))
        if self.drawn_with is not None:
            positive("drawn_with", self.drawn_with, least=1e-300, most=1.0)

    @property
    def graph(self) -> WordGraph:
        return self.language.graph

    def describe(self) -> dict[str, Any]:
        described = super().describe()
        # Another version may find another decay: this is the one of the noise.
        described["parameters"]["drawn_with"] = self.decay
        return described

    @cached_property
    def decay(self) -> float:
        if self.drawn_with is not None:
            return self.drawn_with
        if self.is_free:
            share = 1 if self.calibration == "certified" else 2
            return decay_within(stated(self.epsilon) / (share * self.radius))
        if self.calibration == "certified":
            return self._certified[0]
        return decay_within(min(Fraction(self._room) / (2 * self.radius), Fraction(LARGEST_RATE)))

    @property
    def _room(self) -> float:
        return room_for(self.epsilon, rounding_loss(self.graph))

    @property
    def _certified(self) -> tuple[float, float]:
        """The decay and its loss."""
        return _certified(self.language, self._room, self.radius, self.shorter)

    @property
    def covers_shorter(self) -> bool:
        return self.calibration == "generic" or super().covers_shorter

    def _proved(self, radius: int) -> float:
        if self.calibration == "generic":
            return times_above(rate_above(self.decay), 2 * radius)
        if radius != self.radius or self.drawn_with is not None:
            return min(super()._proved(radius), times_above(rate_above(self.decay), 2 * radius))
        return self._certified[1]


@lru_cache(maxsize=128)
def _certified(language: Language, epsilon: float, radius: int, shorter: bool) -> tuple[float, float]:
    """The decay and its loss, by the language and the budget alone: computed once for all words."""
    return certified_decay(language.graph, epsilon, radius, shorter=shorter)
