"""Domains by the name that their description carries."""

from __future__ import annotations

from typing import Any, Protocol

from veil.bits.domain import Bits
from veil.chains.transition_counts import TransitionTable
from veil.core.errors import InvalidArgument
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.counts import Counts
from veil.vectors.simplex import Simplex
from veil.words.automaton_words import AutomatonWords
from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords


class Domain(Protocol):
    """A set of values: `validate` raises, `in` derives from it."""

    @property
    def words(self) -> str: ...

    def validate(self, value: Any) -> Any: ...

    def describe(self) -> dict[str, Any]: ...


AnyLanguage = FreeWords | ChainWords | AutomatonWords
AnyDomain = Simplex | Counts | StochasticMatrix | Birkhoff | TransitionTable | AnyLanguage | Bits

_KINDS: dict[str, Any] = {
    kind.name: kind
    for kind in (
        Simplex,
        Counts,
        StochasticMatrix,
        Birkhoff,
        TransitionTable,
        FreeWords,
        ChainWords,
        AutomatonWords,
        Bits,
    )
}


def domain_from(description: dict[str, Any]) -> AnyDomain:
    """The domain that `describe` described."""
    fields = dict(description)
    name = fields.pop("name", None)
    if name not in _KINDS:
        raise InvalidArgument("domain", expected=f"one of {', '.join(_KINDS)}", found=repr(name))
    found: AnyDomain = _KINDS[name](**fields)
    return found
