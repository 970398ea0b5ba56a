"""Domains by the name that their description carries."""

from __future__ import annotations

from typing import Any, Protocol

from veil.domains.automaton_words import AutomatonWords
from veil.domains.bits import Bits
from veil.domains.chain_words import ChainWords
from veil.domains.counts import Counts
from veil.domains.doubly import Birkhoff
from veil.domains.simplex import Simplex
from veil.domains.stochastic import StochasticMatrix
from veil.domains.transition_counts import TransitionTable
from veil.domains.words import FreeWords
from veil.errors import InvalidArgument


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
