"""The exponential mechanism on words, with its rate from a certificate (proofs in words.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from veil.core.checks import choice, positive
from veil.core.numerics.rounding import float_above, rate_above, stated, times_above
from veil.words.language import Language
from veil.words.mechanisms.exponential_family import ExponentialFamily
from veil.words.mechanisms.word_mechanism import LARGEST_RATE, decay_within, room_for
from veil.words.numerics.certificate import certified_decay
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import rounding_loss


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
        found = super().describe()
        # Another version may find another decay: this is the one of the noise.
        found["parameters"]["drawn_with"] = self.decay
        return found

    @cached_property
    def decay(self) -> float:
        if self.drawn_with is not None:
            return self.drawn_with
        if self.is_free:
            share = 1 if self.calibration == "certified" else 2
            return decay_within(stated(self.epsilon) / (share * self.radius))
        room = room_for(self.epsilon, rounding_loss(self.graph))
        if self.calibration == "certified":
            return _certified(self.language, room, self.radius, self.shorter)[0]
        return decay_within(min(Fraction(room) / (2 * self.radius), Fraction(LARGEST_RATE)))

    @property
    def covers_shorter(self) -> bool:
        return self.calibration == "generic" or super().covers_shorter

    def _proved(self, radius: int) -> float:
        if radius != self.radius or self.drawn_with is not None:
            return min(super()._proved(radius), times_above(rate_above(self.decay), 2 * radius))
        return _certified(
            self.language, room_for(self.epsilon, rounding_loss(self.graph)), radius, self.shorter
        )[1]

    def loss(self, radius: int) -> float:
        if self.is_free or self.calibration == "certified":
            return super().loss(radius)
        generic = times_above(rate_above(self.decay), 2 * radius)
        return float_above(Fraction(generic) + Fraction(rounding_loss(self.graph)))


@lru_cache(maxsize=128)
def _certified(language: Language, epsilon: float, radius: int, shorter: bool) -> tuple[float, float]:
    """The decay and its loss, by the language and the budget alone: computed once for all words."""
    return certified_decay(language.graph, epsilon, radius, shorter=shorter)
