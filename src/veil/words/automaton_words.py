"""The words that a finite automaton accepts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from veil.core.brief import brief_repr
from veil.core.checks import items
from veil.core.errors import InvalidArgument
from veil.words.language import Language, written
from veil.words.numerics.graph import WordGraph, graph_of
from veil.words.word_batch import Labels

# The subsets of a nondeterministic automaton can be exponentially many.
_MOST_NODES = 50_000

Moves = tuple[tuple[Hashable, Hashable, tuple[Hashable, ...]], ...]


@dataclass(frozen=True, init=False)
class AutomatonWords(Language):
    """The words of `length` symbols that a finite automaton accepts, deterministic or not.

    transitions: {(state, symbol): states}, a single state where there is one. start: the first state.
    accepting: the states in which a word may end.
    """

    transitions: Moves
    start: Any
    accepting: Any
    name: ClassVar[str] = "AutomatonWords"

    __repr__ = brief_repr

    def __init__(self, transitions: Any, start: Hashable, accepting: Any, length: int) -> None:
        moves = _moves(transitions)
        states = {state for state, _, _ in moves} | {end for _, _, ends in moves for end in ends}
        try:
            if start not in states:
                raise InvalidArgument("start", expected="a state of the automaton", found="another")
            if isinstance(accepting, str) or not isinstance(accepting, Iterable):
                accepting = (accepting,)
            ends = tuple(dict.fromkeys(accepting))
        except TypeError:
            raise InvalidArgument(
                "start and accepting", expected="states of the automaton", found="something else"
            ) from None
        if not ends or not set(ends) <= states:
            raise InvalidArgument("accepting", expected="states of the automaton", found="none or others")
        for name, part in (("transitions", moves), ("start", start), ("accepting", ends), ("length", length)):
            object.__setattr__(self, name, part)
        super().__post_init__()
        if len(self.labels) < 2:
            raise InvalidArgument("transitions", expected="two symbols or more", found=f"{len(self.labels)}")
        if self.graph.is_empty:
            raise InvalidArgument(
                "transitions", expected=f"an accepted word of {self.length} symbols", found="none"
            )

    @cached_property
    def labels(self) -> Labels:
        return tuple(dict.fromkeys(symbol for _, symbol, _ in self.transitions))

    @cached_property
    def graph(self) -> WordGraph:
        """The subset construction, so that a word is read along one path and counted once.

        A node is a set of states together with the symbol that was read last.
        """
        place = {label: i for i, label in enumerate(self.labels)}
        moves: dict[Hashable, dict[int, set[Hashable]]] = {}
        for state, symbol, ends in self.transitions:
            moves.setdefault(state, {}).setdefault(place[symbol], set()).update(ends)
        numbers: dict[tuple[frozenset[Hashable], int], int] = {}
        nodes: list[tuple[frozenset[Hashable], int]] = []

        def followers(subset: frozenset[Hashable]) -> list[int]:
            """The numbers of the nodes that follow a set of states; new ones are added to the nodes."""
            reached: dict[int, set[Hashable]] = {}
            for state in subset:
                for symbol, ends in moves.get(state, {}).items():
                    reached.setdefault(symbol, set()).update(ends)
            following = [(frozenset(reached[symbol]), symbol) for symbol in sorted(reached)]
            for node in following:
                if node not in numbers:
                    numbers[node] = len(nodes)
                    nodes.append(node)
            if len(nodes) > _MOST_NODES:
                expected = f"an automaton that needs at most {_MOST_NODES:,} sets of states"
                raise InvalidArgument("transitions", expected=expected, found="more")
            return [numbers[node] for node in following]

        first = followers(frozenset([self.start]))
        # The list grows while it is gone through.
        rows = [followers(subset) for subset, _ in nodes]
        last = [i for i, (subset, _) in enumerate(nodes) if subset & set(self.accepting)]
        codes = np.array([code for _, code in nodes], dtype=np.int32)
        graph = graph_of(rows, self.length, first=first, last=last)
        return replace(graph, symbol=codes, alphabet=len(self.labels))

    def of_length(self, length: int) -> Self:
        return type(self)(self.transitions, self.start, self.accepting, length)

    @property
    def words(self) -> str:
        return f"words of {self.length} symbols over {len(self.labels)} that an automaton accepts"

    def describe(self) -> dict[str, Any]:
        states = dict.fromkeys(
            [self.start, *(place for state, _, ends in self.transitions for place in (state, *ends))]
        )
        named = all(type(state) in (int, str) for state in states)
        numbers = {state: number for number, state in enumerate(states)}

        def plain(state: Hashable) -> Any:
            # By number where one is neither: the text of two states may be the same.
            return state if named else numbers[state]

        return {
            "name": self.name,
            "transitions": [
                [plain(state), written((symbol,))[0], list(map(plain, ends))]
                for state, symbol, ends in self.transitions
            ],
            "start": plain(self.start),
            "accepting": list(map(plain, self.accepting)),
            "length": self.length,
        }


def _moves(transitions: Any) -> Moves:
    """The transitions as (state, symbol, states) in the order in which they were given."""
    if isinstance(transitions, Mapping):
        pairs = transitions.items()
        listed: list[Any] = [(*key, ends) if isinstance(key, tuple) else (key, ends) for key, ends in pairs]
    else:
        listed = items("transitions", transitions, expected="{(state, symbol): states}")
    moves = []
    for move in listed:
        if not isinstance(move, (list, tuple)) or len(move) != 3 or move[2] is None:
            raise InvalidArgument("transitions", expected="{(state, symbol): states}", found="others")
        state, symbol, ends = move
        several = isinstance(ends, (list, tuple, set, frozenset))
        places = tuple(sorted(ends, key=str)) if isinstance(ends, (set, frozenset)) else ends
        moves.append((state, symbol, tuple(places) if several else (ends,)))
    if not moves:
        raise InvalidArgument("transitions", expected="{(state, symbol): states}", found="none")
    return tuple(moves)
