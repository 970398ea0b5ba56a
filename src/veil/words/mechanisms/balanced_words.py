"""The exponential mechanism with weights that make its normaliser nearly constant (proofs in words.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import stated
from veil.words.language import Language
from veil.words.mechanisms.exponential_words import ExponentialFamily
from veil.words.mechanisms.word_mechanism import decay_within, room_for
from veil.words.numerics.balance import balanced_for
from veil.words.numerics.balance_features import lifted
from veil.words.numerics.certificate import certified_loss
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import rounding_loss

# A file may not ask for a certificate without end.
_LONGEST_MEMORY = 4


@dataclass(frozen=True)
class Balance:
    """The public numbers of a balanced mechanism.

    decay: the factor of one error. weights, first_weights: of two neighbouring symbols and of a first one,
    in the order of the graph of pairs; empty if words are not weighted. memory: that of the certificate.
    """

    decay: float
    weights: tuple[float, ...] = ()
    first_weights: tuple[float, ...] = ()
    memory: int | None = None

    def describe(self) -> dict[str, Any]:
        return {
            "decay": self.decay,
            "memory": self.memory,
            "weights": list(self.weights),
            "first_weights": list(self.first_weights),
        }

    @classmethod
    def from_description(cls, content: Any) -> Balance:
        """What a file holds, checked."""
        if not isinstance(content, dict) or set(content) != {"decay", "weights", "first_weights", "memory"}:
            raise InvalidArgument(
                "balance", expected="decay, weights, first_weights and memory", found="others"
            )
        decay = positive("decay", content["decay"], least=1e-300, most=1.0)
        memory = content["memory"]
        if memory is not None and integer("memory", memory, least=0) > _LONGEST_MEMORY:
            raise InvalidArgument("memory", expected=f"at most {_LONGEST_MEMORY}", found="more")
        return cls(decay, _numbers(content["weights"]), _numbers(content["first_weights"]), memory)


def _numbers(values: Any) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InvalidArgument("balance", expected="lists of numbers", found="others")
    return tuple(positive("weight", value, least=1e-9, most=1e9) for value in values)


@dataclass(frozen=True)
class BalancedWords(ExponentialFamily):
    """A word v with probability proportional to weight(v) exp(-rate * d(v, w)).

    The weights are public, a function of the language and the rate: words in crowded parts of the language
    weigh less, so that the normaliser hardly depends on the true word and the rate can be larger for the same
    epsilon. The loss is certified, weights and all. balance: the numbers of a release that is read back.
    """

    _: KW_ONLY
    balance: Balance | None = field(default=None, compare=False)
    name: ClassVar[str] = "BalancedWords"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.balance, dict):
            object.__setattr__(self, "balance", Balance.from_description(self.balance))
        if self.balance is not None and not isinstance(self.balance, Balance):
            raise InvalidArgument("balance", expected="what was released", found=type(self.balance).__name__)
        if self.is_free and self.balance is not None and (self.balance.weights or self.balance.first_weights):
            raise InvalidArgument("balance", expected="no weights for free words", found="weights")

    @cached_property
    def balanced(self) -> Balance:
        """The weights and the decay, searched for when they are first needed."""
        if self.balance is not None:
            return self.balance
        if self.is_free:
            return Balance(decay_within(stated(self.epsilon) / self.radius))
        return _searched(self.language, self.epsilon, self.radius, self.shorter)[0]

    @property
    def decay(self) -> float:
        return self.balanced.decay

    @cached_property
    def graph(self) -> WordGraph:
        balance = self.balanced
        if not balance.weights and not balance.first_weights:
            return self.language.graph
        pairs = lifted(self.language.graph)
        if len(balance.weights) != pairs.edges or len(balance.first_weights) != pairs.size:
            raise InvalidArgument(
                "balance",
                expected=f"{pairs.edges} weights and {pairs.size} first ones",
                found=f"{len(balance.weights)} and {len(balance.first_weights)}",
            )
        return pairs.weighted(np.array(balance.weights), np.array(balance.first_weights))

    def _proved(self, radius: int) -> float:
        if radius != self.radius or self.balance is not None:
            memory = self.balanced.memory
            return certified_loss(self.graph, self.decay, radius, memory=memory, shorter=self.shorter)
        return _searched(self.language, self.epsilon, radius, self.shorter)[1]

    def describe(self) -> dict[str, Any]:
        described = super().describe()
        described["parameters"]["balance"] = self.balanced.describe()
        return described


@lru_cache(maxsize=128)
def _searched(language: Language, epsilon: float, radius: int, shorter: bool) -> tuple[Balance, float]:
    """The balance and its loss, by the language and the budget alone: computed once for all words."""
    # The graph of pairs has the same degrees, but is rounded as it stands.
    room = room_for(epsilon, rounding_loss(lifted(language.graph)))
    graph, decay, loss, memory = balanced_for(language.graph, room, radius, shorter=shorter)
    if not graph.is_weighted:
        return Balance(decay), loss
    weights, first_weights = tuple(graph.weight.tolist()), tuple(graph.first_weight.tolist())
    return Balance(decay, weights, first_weights, memory), loss
