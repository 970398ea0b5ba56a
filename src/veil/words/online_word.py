"""A trajectory that is released while it is being made."""

from __future__ import annotations

import os
from collections.abc import Hashable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from veil.core.account import Account, Charge, check_account, confirm, reserve
from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.job import cost
from veil.core.random.exact_choice import choose
from veil.core.random.streams import generator, one_word
from veil.core.record import Release
from veil.core.text import texts_in
from veil.version import __version__
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.numerics.channel import Channel, favoured
from veil.words.word_batch import code_of, not_feasible


class OnlineWord:
    """Hand in the true symbols one by one; each gives back a private one at once. See `online`.

    What it costs was charged in full at the beginning: a word that is broken off costs the same.
    """

    def __init__(self, mechanism: SequentialWords, *, ledger: Account | None = None, rng: Any = None) -> None:
        if not isinstance(mechanism, SequentialWords):
            raise InvalidArgument(
                "mechanism",
                expected="SequentialWords, the one that needs no future symbols",
                found=getattr(mechanism, "name", type(mechanism).__name__),
            )
        check_account(ledger)
        plain_texts("symbols", texts_in(mechanism.describe()), error=InvalidData)
        self.mechanism = mechanism
        profile = mechanism.profile()
        self.epsilon, self.delta = cost(profile, None)
        self._channel = Channel.of(mechanism.language.graph, mechanism.targets)
        self._decay = Fraction(mechanism.decay)
        self._rng, self._reproducible = generator(rng), rng is not None
        self._true = self._drawn = mechanism.language.graph.size
        self._word: list[int] = []
        self._process = os.getpid()
        self._places = {label: i for i, label in enumerate(mechanism.language.labels)}
        self._ledger = ledger
        self.entry = None
        if ledger is not None:
            described, near, seeded = mechanism.describe(), mechanism.adjacency, self._reproducible
            charge = Charge(self.epsilon, self.delta, described, near, (profile,), reproducible=seeded)
            self.entry = reserve(ledger, charge)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Never copied or sent: two copies would draw twice what was charged once."""
        raise InvalidArgument("word", expected="one that stays where it was begun", found="a copy of it")

    @property
    def word(self) -> tuple[Hashable, ...]:
        """The private symbols so far."""
        return tuple(self.mechanism.language.labels[code] for code in self._word)

    @property
    def remaining(self) -> int:
        """How many symbols are still to come."""
        return self.mechanism.language.length - len(self._word)

    def push(self, symbol: Hashable) -> Hashable:
        """The private symbol for the next true one."""
        language = self.mechanism.language
        position = len(self._word)
        if os.getpid() != self._process:
            # A fork is a copy too.
            raise InvalidArgument("word", expected="the process that began it", found="another")
        if not self.remaining:
            raise InvalidArgument("symbol", expected=f"{language.length} symbols at most", found="one more")
        # Not as a word of one symbol: text and tuples could be taken for words themselves.
        code = code_of(symbol, self._places)
        if code < 0:
            raise not_feasible(None, position + 1, "a symbol of the alphabet", "another")
        ahead = int(language.graph.step[self._true, code])
        if ahead < 0 or (self.remaining == 1 and not language.graph.last[ahead]):
            expected = "a symbol that may follow the one before it" if position else "a first symbol"
            raise not_feasible(None, position + 1, expected, "one that is not allowed there")
        self._true = ahead
        self._drawn = self._answer(code, position)
        answer = int(language.graph.symbol[self._drawn])
        self._word.append(answer)
        if not self.remaining and self._ledger is not None:
            confirm(self._ledger, self.entry, self.finish())
        return language.labels[answer]

    def _answer(self, code: int, position: int) -> int:
        """A successor of the last node drawn: the target, or one of the others, all alike."""
        channel, at = self._channel, self._drawn
        row = channel.which[position]
        ways = channel.ways
        ahead = ways.targets[ways.starts[at] : ways.starts[at + 1]]
        options = ahead[channel.open[row][ahead]].tolist()
        target = favoured(channel.targets, channel.open, channel.spare, row, at, code)
        weights = [Fraction(1) if node == target else self._decay for node in options]
        return int(options[choose(weights, one_word(self._rng), lambda: one_word(self._rng))])

    def finish(self) -> Release[tuple[Hashable, ...]]:
        """The record of the whole word, once all its symbols are in."""
        if self.remaining:
            raise InvalidArgument(
                "word", expected=f"{self.mechanism.language.length} symbols", found=f"{len(self._word)}"
            )
        return Release(
            value=self.word,
            mechanism=self.mechanism,
            adjacency=self.mechanism.adjacency,
            epsilon=self.epsilon,
            delta=self.delta,
            assumptions=self.mechanism.assumptions(self.mechanism.adjacency),
            reproducible=self._reproducible,
            entry=self.entry,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=__version__,
        )


def online(mechanism: SequentialWords, *, ledger: Account | None = None, rng: Any = None) -> OnlineWord:
    """Begin to release a word of which the symbols are not all known yet.

    The whole epsilon is charged now. Each symbol that is handed in gives back a private one, which may be
    published at once.

    >>> from veil import words
    >>> roads = {"a": ["b", "c"], "b": ["a"], "c": ["a", "c"]}
    >>> language = words.ChainWords(roads, 3, start="a")
    >>> trip = words.online(words.SequentialWords(language, 4.0), rng=1)
    >>> len([trip.push(symbol) for symbol in ("b", "a", "c")]), trip.finish().epsilon
    (3, 4.0)
    """
    return OnlineWord(mechanism, ledger=ledger, rng=rng)
