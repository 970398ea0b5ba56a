"""Words of different lengths, each hidden by the same mechanism (proofs in words.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.checks import integer
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Described, adjacency_of
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.words.adjacency import ONE_WORD_EACH, Hamming
from veil.words.language import Language
from veil.words.mechanisms.word_mechanism import WordMechanism
from veil.words.word_batch import WordBatch

LENGTHS_ARE_PUBLIC = "how many words there are, and how long each is, is public"


@dataclass(frozen=True)
class EachWord(Described):
    """Hide every word of a table, whatever its length.

    mechanism: one for the longest words, which covers shorter ones where there are any; those are drawn by
        the same rule among the words of their own length. words_each: how many words one person has at most;
        the costs of a person's words add up.
    """

    mechanism: WordMechanism
    _: KW_ONLY
    words_each: int = 1
    name: ClassVar[str] = "EachWord"

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, WordMechanism):
            found = type(self.mechanism).__name__
            raise InvalidArgument("mechanism", expected="a mechanism for words", found=found)
        words_each = integer("words_each", self.words_each, least=1, most=1_000_000_000)
        object.__setattr__(self, "words_each", words_each)

    @property
    def domain(self) -> Language:
        return self.mechanism.language

    @property
    def adjacency(self) -> Hamming:
        return Hamming(self.mechanism.radius, words_each=self.words_each)

    def validate(self, value: Any) -> WordBatch:
        return self.domain.validate(value, shorter=self.mechanism.covers_shorter)

    def is_batch(self, valid: WordBatch) -> bool:
        """Whose its words are is one of its own assumptions."""
        return False

    def _draw(self, rng: Rng, value: WordBatch, size: int | None) -> Any:
        if size is not None:
            raise InvalidArgument("size", expected="None for words of several lengths", found=str(size))
        return self.mechanism.drawn(rng, value)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        near: Hamming = adjacency_of(self, adjacency, Hamming)
        each = self.mechanism.profile(Hamming(near.radius)).pure_epsilon
        return RandomizedResponses(each, times=near.words_each, kind="upper bound")

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        near: Hamming = adjacency_of(self, adjacency, Hamming)
        whose = whose_words(near, several=True)
        return (*self.mechanism.assumptions(Hamming(near.radius)), LENGTHS_ARE_PUBLIC, *whose)


def whose_words(near: Hamming, *, several: bool) -> tuple[str, ...]:
    """What is assumed of how many words a person has. several: more than one word is released."""
    if near.words_each > 1:
        return (f"no person has more than {near.words_each} words",)
    return (ONE_WORD_EACH,) if several else ()
