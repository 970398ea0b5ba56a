"""What the mechanisms on words share: a language, an epsilon, a radius (proofs in words.md)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, positive
from veil.core.errors import CannotCalibrate, InvalidArgument, NoGuarantee
from veil.core.mechanism import Described, adjacency_of
from veil.core.numerics.rounding import decay_above, float_above, float_below, stated
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.words.adjacency import Hamming
from veil.words.language import FreeWords, Language
from veil.words.word_batch import Codes, WordBatch

FEASIBLE_IS_PUBLIC = "which words are feasible is public, not read off the words that are hidden"
# e^-epsilon must be a float with all its digits.
LARGEST_EPSILON = 500.0
# Larger rates change nothing that can be seen, and the tables of long words need the exponents.
LARGEST_RATE = 46.0
_FEW_WORDS = 5_000


@dataclass(frozen=True)
class WordMechanism(Described):
    """Draw a feasible word near the true one.

    language: the feasible words, public. epsilon: what a release costs. radius: how many symbols may differ
    between neighbours.
    """

    language: Language
    epsilon: float
    _: KW_ONLY
    radius: int = 1
    takes: ClassVar[tuple[type[Language], ...]] = (Language,)

    def __post_init__(self) -> None:
        if not isinstance(self.language, self.takes):
            expected = (
                "FreeWords" if self.takes == (FreeWords,) else "FreeWords, ChainWords or AutomatonWords"
            )
            raise InvalidArgument("language", expected=expected, found=type(self.language).__name__)
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "radius", integer("radius", self.radius, least=1, most=10_000_000))

    @property
    def domain(self) -> Language:
        return self.language

    @property
    def adjacency(self) -> Hamming:
        return Hamming(self.radius)

    def validate(self, value: Any) -> WordBatch:
        return self.language.validate(value)

    @property
    def covers_shorter(self) -> bool:
        """Whether the guarantee holds for words of fewer symbols too, each among those of its own length."""
        return True

    def is_batch(self, valid: WordBatch) -> bool:
        """Whether several words were handed in."""
        return not valid.is_single

    @property
    @abstractmethod
    def decay(self) -> float:
        """The factor by which one more error makes a word less likely; the float as it stands."""

    @property
    def rate(self) -> float:
        """s = -log(decay): how fast the probability of a word falls with its errors."""
        return -math.log(self.decay)

    @abstractmethod
    def loss(self, radius: int) -> float:
        """A proved bound on the loss between words that differ in at most so many symbols, as it is charged:
        see `charge_above`."""

    @property
    def loss_each(self) -> float:
        """So much for every symbol in which two words differ, however many: a bound on the loss."""
        return float_above(Fraction(self.loss(self.language.length)) / self.language.length)

    @cached_property
    def certified_epsilon(self) -> float:
        """The loss that is proved for the noise as it is drawn; never above `epsilon` if made for it.

        A decay that is read back may lose the float and not the decimal that it is written as: the next float
        is then charged.
        """
        proved = self.loss(self.radius)
        if proved > math.nextafter(self.epsilon, math.inf):
            raise NoGuarantee(f"epsilon: {self.epsilon:g} was asked for, but only {proved:.6g} is proved.")
        return proved

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Pure: what was asked for at its own radius, and the proved bound at others."""
        near: Hamming = adjacency_of(self, adjacency, Hamming)
        # Charged as it was asked for, once it is known to hold.
        own = near.radius == self.radius
        loss = max(self.epsilon, self.certified_epsilon) if own else self.loss(near.radius)
        return RandomizedResponses(loss, times=near.words_each, kind="upper bound")

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return () if isinstance(self.language, FreeWords) else (FEASIBLE_IS_PUBLIC,)

    # Drawing

    def _draw(self, rng: Rng, value: WordBatch, size: int | None) -> Any:
        if size is None:
            return self.drawn(rng, value).as_labels()
        several = WordBatch.of_rows(value.labels, np.tile(value.rows, (size, 1)))
        labels = self.drawn(rng, several).as_labels()
        return labels if value.is_single else labels.reshape(size, *value.rows.shape)

    def drawn(self, rng: Rng, batch: WordBatch) -> WordBatch:
        """A private word for each, as codes."""
        if not self.covers_shorter and (batch.lengths != self.language.length).any():
            raise NoGuarantee("word: the mechanism was calibrated for words of one length only.")
        return batch.replaced(
            {length: self.draw_rows(rng, rows) for length, (_, rows) in batch.by_length.items()}
        )

    @abstractmethod
    def draw_rows(self, rng: Rng, rows: Codes) -> Codes:
        """Private words for words of one length, which may be shorter than those of the language."""

    # Errors: of made-up, public words. Those of a sensitive word depend on it.

    def expected_error(self, word: Any) -> float:
        """The expected number of wrong symbols. It depends on the word: for plans, never for reports."""
        return float(self.expected_errors(self.validate(word).rows)[0])

    @abstractmethod
    def expected_errors(self, rows: Codes) -> Floats:
        """The expected number of wrong symbols of each word."""

    def distance_pmf(self, word: Any) -> Floats:
        """The probability of 0, 1, ..., n wrong symbols. It depends on the word, as `expected_error` does."""
        return self.distances(self.validate(word).rows[0])

    @abstractmethod
    def distances(self, word: Codes) -> Floats:
        """The probability of every number of wrong symbols."""

    @abstractmethod
    def log_probabilities(self, outputs: Codes, word: Codes) -> Floats:
        """The log-probability of each output, a row of codes, for a word."""

    @property
    def is_enumerable(self) -> bool:
        """Whether the language is small enough for an audit that looks at every word."""
        return self.language.number_of_words <= _FEW_WORDS

    def distribution(self, word: Any) -> dict[tuple[Any, ...], float]:
        """Every word of a small language with its probability, for audits on made-up words."""
        outputs = self.language.enumerate()
        logs = self.log_probabilities(outputs.rows, self.validate(word).rows[0])
        return dict(zip(outputs, np.exp(logs).tolist(), strict=True))

    def log_density(self, outputs: Any, word: Any) -> Floats:
        """The log-probability of outputs given as labels."""
        return self.log_probabilities(self.validate(np.asarray(outputs)).rows, self.validate(word).rows[0])


def decay_within(rate: Fraction) -> float:
    """The least float that is not below e^-rate: drawing with it loses no more than the rate."""
    return decay_above(float_below(rate))


def room_for(epsilon: float, rounding: float) -> float:
    """What of epsilon is left when the rounding of the draw is taken off; an error if nothing is."""
    left = float_below(stated(epsilon) - Fraction(rounding))
    if left <= 0.0:
        raise CannotCalibrate(
            f"epsilon: expected more than {rounding:.2g}, which rounding may cost for words this long, "
            f"found {epsilon:g}."
        )
    return left


def distances_between(outputs: Codes, word: Codes) -> Any:
    """In how many places each output differs from the word."""
    return (outputs != word).sum(axis=1)
