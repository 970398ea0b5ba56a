"""Automata whose runs are the words at a given Hamming distance.

The symbolic trajectories paper, Definitions 5 and 6, Algorithms 1 and 2.

By the letter and in whole numbers, for small cases. What the paper prints otherwise is repaired: line 7 of
Algorithm 1 must add V once for each symbol, line 8 of Algorithm 2 must read V(q', y') / V(q, y), and a word
is feasible if T[y_t, y_{t+1}] > 0 (printed transposed), from y_0 -> y_1 on (printed from y_1 on).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from veil.core.errors import InvalidArgument, InvalidData
from veil.core.random.streams import Rng

Word = tuple[str, ...]
# (symbols so far, errors so far) or, in the product, also the state that the chain is in.
State = tuple[int, int] | tuple[int, int, str]


def hamming(left: Sequence[str], right: Sequence[str]) -> int:
    """In how many places two words differ."""
    return sum(a != b for a, b in zip(left, right, strict=True))


class DistanceAutomaton(ABC):
    """What both automata share: path counts V, the policy mu, and the words."""

    word: Word
    distance: int
    alphabet: Word

    @property
    @abstractmethod
    def initial(self) -> State: ...

    @abstractmethod
    def delta(self, state: State, symbol: str) -> State | None:
        """The state that the symbol leads to: at most one, since the Hamming distance needs no choice."""

    @cached_property
    def layers(self) -> list[list[State]]:
        """The states that some accepted word passes, by the number of symbols so far."""
        return [[state for state in layer if self.paths.get(state)] for layer in self._reached]

    @cached_property
    def _reached(self) -> list[list[State]]:
        layers: list[list[State]] = [[self.initial]]
        for _ in self.word:
            ahead = {self.delta(state, symbol) for state in layers[-1] for symbol in self.alphabet}
            layers.append(sorted(state for state in ahead if state is not None))
        return layers

    @property
    def accepting(self) -> frozenset[State]:
        """The states after the last symbol that have exactly `distance` errors."""
        return frozenset(state for state in self._reached[-1] if state[1] == self.distance)

    @cached_property
    def paths(self) -> dict[State, int]:
        """V of Algorithms 1 and 2: how many ways lead from each state to an accepting one."""
        counts: dict[State, int] = dict.fromkeys(self.accepting, 1)
        for layer in reversed(self._reached[:-1]):
            for state in layer:
                # Once for each symbol: the paper adds V(q'') once however many symbols lead to q''.
                counts[state] = sum(counts.get(ahead, 0) for ahead in self.successors(state).values())
        return counts

    def successors(self, state: State) -> dict[str, State]:
        """Where each symbol leads."""
        found = ((symbol, self.delta(state, symbol)) for symbol in self.alphabet)
        return {symbol: ahead for symbol, ahead in found if ahead is not None}

    def policy(self, state: State) -> dict[str, Fraction]:
        """mu of Algorithms 1 and 2: the probability of appending each symbol, V(q') / V(q)."""
        ways = self.paths[state]
        found = {symbol: self.paths.get(ahead, 0) for symbol, ahead in self.successors(state).items()}
        return {symbol: Fraction(count, ways) for symbol, count in found.items() if count}

    def printed_total(self, state: State) -> Fraction:
        """What mu adds up to in this state by the printed line 7, which counts each successor once."""
        ways = {ahead: self.paths.get(ahead, 0) for ahead in self.successors(state).values()}
        ahead = sum(self.paths.get(place, 0) for place in self.successors(state).values())
        return Fraction(ahead, sum(ways.values()))

    @property
    def size(self) -> int:
        """The number of accepted words."""
        return self.paths[self.initial]

    def run(self, rng: Rng) -> Word:
        """One accepted word, all equally likely, drawn symbol by symbol by the policy without rounding."""
        if not self.size:
            raise InvalidArgument(
                "distance", expected="a distance at which there is a word", found=repr(self.distance)
            )
        state, drawn = self.initial, []
        for _ in self.word:
            left = _below(rng, self.paths[state])
            for symbol, ahead in self.successors(state).items():
                left -= self.paths.get(ahead, 0)
                if left < 0:
                    drawn.append(symbol)
                    state = ahead
                    break
        return tuple(drawn)

    def law(self) -> dict[Word, Fraction]:
        """The exact probability of each word that the policy makes."""
        found: list[tuple[Word, State, Fraction]] = [((), self.initial, Fraction(1))] if self.size else []
        for _ in self.word:
            found = [
                ((*word, symbol), self.successors(state)[symbol], chance * share)
                for word, state, chance in found
                for symbol, share in self.policy(state).items()
            ]
        return {word: chance for word, _, chance in found}

    def words(self) -> Iterator[Word]:
        """The language, in the order of the alphabet."""
        yield from self.law()


@dataclass(frozen=True)
class HammingAutomaton(DistanceAutomaton):
    """Definition 5: accepts the words at exactly `distance` from `word`.

    A state (i, j) is the paper's q_{i,j}.

    >>> automaton = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
    >>> automaton.size, automaton.policy((0, 0))
    (12, {'a': Fraction(1, 3), 'b': Fraction(1, 3), 'c': Fraction(1, 3)})
    """

    word: Word
    distance: int
    alphabet: Word

    def __post_init__(self) -> None:
        _check_symbols(self.word, self.alphabet)

    @property
    def initial(self) -> State:
        return (0, 0)

    def delta(self, state: State, symbol: str) -> State | None:
        done, errors = state[0], state[1]
        if done == len(self.word):
            return None
        errors += symbol != self.word[done]
        return (done + 1, errors) if errors <= self.distance else None


class ProductAutomaton(DistanceAutomaton):
    """Definition 6: accepts the feasible words of a chain at exactly `distance` from `word`.

    support: the feasible successors of each state. start: y_0, which is public and not part of the word. A
    state (i, j, y) is the paper's (q_{i,j}, y).
    """

    def __init__(self, word: Word, distance: int, support: Mapping[str, Sequence[str]], start: str) -> None:
        _check_symbols(word, tuple(support))
        if start not in support:
            raise InvalidArgument("start", expected="a state of the chain", found=repr(start))
        for place, (before, after) in enumerate(zip((start, *word), word, strict=False)):
            if after not in support[before]:
                # The paper is silent here; the private word may leave its way, the sensitive one may not.
                raise InvalidData(
                    f"symbol {place}", expected="a successor of the one before", found="another"
                )
        self.word, self.distance, self.alphabet = word, distance, tuple(support)
        self.support, self.start = support, start

    @property
    def initial(self) -> State:
        return (0, 0, self.start)

    def delta(self, state: State, symbol: str) -> State | None:
        done, errors, before = state[0], state[1], str(state[-1])
        if done == len(self.word) or symbol not in self.support[before]:
            return None
        errors += symbol != self.word[done]
        return (done + 1, errors, symbol) if errors <= self.distance else None


def feasible_counts(word: Word, support: Mapping[str, Sequence[str]], start: str) -> list[int]:
    """The paper's N(l) for l = 0 ... n: the feasible words at each distance, by one pass over the product."""
    ahead = {state: [1] for state in support}
    for symbol in reversed(word):
        now: dict[str, list[int]] = {}
        for state, following in support.items():
            counts = [0] * (len(ahead[state]) + 1)
            for target in following:
                for errors, ways in enumerate(ahead[target]):
                    counts[errors + (target != symbol)] += ways
            now[state] = counts
        ahead = now
    return ahead[start]


def _check_symbols(word: Word, alphabet: Word) -> None:
    for place, symbol in enumerate(word):
        if symbol not in alphabet:
            raise InvalidData(f"symbol {place}", expected="a symbol of the alphabet", found="another")


def _below(rng: Rng, limit: int) -> int:
    """A whole number below the limit, each equally likely, however large."""
    bits = (limit - 1).bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if drawn < limit:
            return drawn
