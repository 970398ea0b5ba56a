"""A table of words, each hidden, in one call."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from veil.core.account import Account
from veil.core.assumptions import LAYOUT_IS_PUBLIC, STATES_ARE_PUBLIC
from veil.core.checks import choice, integer, items, positive
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.numerics.rounding import float_below, stated
from veil.core.record import Release
from veil.core.releasing import release
from veil.words.adjacency import Hamming
from veil.words.batch import WordBatch
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.each_word import EachWord
from veil.words.planning import FOR_WORDS, WordPlan, names_for, plan_words, word_mechanism


@dataclass(frozen=True)
class WordJob:
    """A release that is ready to be made: nothing has been drawn or charged.

    chosen: the mechanism's short name. plan: how it was chosen; None if it was asked for. symbols_found: the
    alphabet was read off the words. layout_guessed: so was how their file is laid out.
    """

    words: WordBatch = field(repr=False)
    mechanism: EachWord
    chosen: str
    plan: WordPlan | None
    epsilon: float
    symbols_found: bool = False
    layout_guessed: bool = False
    delta: float = 0.0

    @property
    def adjacency(self) -> Hamming:
        return self.mechanism.adjacency

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a reader must accept, the reading of the words included."""
        said = {STATES_ARE_PUBLIC: self.symbols_found, LAYOUT_IS_PUBLIC: self.layout_guessed}
        read = (text for text, applies in said.items() if applies)
        return (*self.mechanism.assumptions(self.adjacency), *read)

    def run(self, *, ledger: Account | None = None, rng: Any = None) -> Release:
        """Reserve, draw, confirm."""
        out = release(self.mechanism, self.words, epsilon=self.epsilon, ledger=ledger, rng=rng)
        return replace(out, assumptions=self.assumptions)


def word_job(
    words: Any,
    language: Language,
    *,
    epsilon: float,
    radius: int = 1,
    words_each: int = 1,
    mechanism: str = "auto",
    examples: Any = None,
    symbols_found: bool = False,
    layout_guessed: bool = False,
    progress: Callable[[str], None] | None = None,
) -> WordJob:
    """Check the words, choose and calibrate the mechanism from public facts alone; see `release_words`."""
    epsilon = positive("epsilon", epsilon)
    words_each = integer("words_each", words_each, least=1)
    choice("mechanism", mechanism, ("auto", *FOR_WORDS))
    if not isinstance(language, Language):
        expected = "a language such as veil.FreeWords"
        raise InvalidArgument("language", expected=expected, found=type(language).__name__)
    batch = language.validate(words, shorter=True)
    each = float_below(stated(epsilon) / words_each)
    # How long the words are is public.
    shorter = bool((batch.lengths < language.length).any())
    if mechanism == "auto":
        plan = plan_words(
            language,
            each,
            radius=radius,
            examples=examples,
            names=_likely(language, radius),
            shorter=shorter,
            progress=progress,
        )
        inner = plan.best.mechanism
        assert inner is not None
        made = EachWord(inner, words_each=words_each)
        return WordJob(batch, made, plan.best.name, plan, epsilon, symbols_found, layout_guessed)
    inner = word_mechanism(mechanism, language, each, radius=radius, shorter=shorter)
    made = EachWord(inner, words_each=words_each)
    return WordJob(batch, made, mechanism, None, epsilon, symbols_found, layout_guessed)


def _likely(language: Language, radius: int) -> tuple[str, ...]:
    """Those that can be best: the generic rate never is."""
    return tuple(name for name in names_for(language, radius) if name != "generic")


def _symbols(word: Any) -> list[Any]:
    found = list(word) if isinstance(word, str) else items("words", word, expected="sequences of symbols")
    if not all(isinstance(symbol, Hashable) for symbol in found):
        raise InvalidData("words", expected="symbols such as text or numbers", found="others")
    return found


def release_words(
    words: Any,
    language: Language | None = None,
    *,
    epsilon: float,
    radius: int = 1,
    words_each: int = 1,
    mechanism: str = "auto",
    examples: Any = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release:
    """Release a private version of every word, of one length or of several.

    words: a sequence of words, each a sequence of symbols.
    language: what is feasible, with the length of the longest word; None for all words over the symbols
        that occur, whose list is then assumed public.
    epsilon: what one person's words cost together. radius: how many symbols of a word are hidden at once.
    words_each: how many words one person has at most.
    mechanism: "auto" takes the one with the least expected error on made-up words, or on `examples`.

    >>> import veil
    >>> out = veil.release_words([["a", "b"], ["b", "b", "a"]], veil.FreeWords("ab", 3), epsilon=2, rng=1)
    >>> [len(word) for word in out.value], out.epsilon
    ([2, 3], 2.0)
    """
    found = language is None
    if language is None:
        words = items("words", words, expected="a sequence of words")
        if words and all(isinstance(word, str) and len(word) == 1 for word in words):
            # With a language this would be one word; as words of one symbol each it would be hidden less.
            raise InvalidArgument(
                "words", expected="a sequence of words, or a language", found="symbols that could be one word"
            )
        words = [_symbols(word) for word in words]
        if not any(words):
            raise InvalidData("words", expected="at least one symbol", found="none")
        symbols = sorted({symbol for word in words for symbol in word}, key=str)
        language = FreeWords(symbols, max(map(len, words)))
    job = word_job(
        words,
        language,
        epsilon=epsilon,
        radius=radius,
        words_each=words_each,
        mechanism=mechanism,
        examples=examples,
        symbols_found=found,
    )
    return job.run(ledger=ledger, rng=rng)
