"""Words that are released while they are made: the law, the errors, the charge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import veil
from tests.oracles.words import ALPHA, Word, automaton_words, chain_words, distance, fit, free_words
from tests.params import quick_first
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, VeilError
from veil.words.mechanisms.word_mechanism import FEASIBLE_IS_PUBLIC

ROADS = {"a": ["b", "c", "d"], "b": ["a", "c"], "c": ["a", "b", "c"], "d": ["end", "a"]}
LOOPS = {(0, "x"): [0, 1], (0, "y"): [1], (1, "x"): [0], (1, "z"): [1, 0], (2, "y"): [0]}
LANGUAGES: dict[str, tuple[Any, list[Word]]] = {
    "free": (veil.words.FreeWords("abc", 3), free_words("abc", 3)),
    "chain": (veil.words.ChainWords(ROADS, 3), chain_words(ROADS, 3)),
    "chain from a start": (veil.words.ChainWords(ROADS, 4, start="a"), chain_words(ROADS, 4, "a")),
    "automaton": (veil.words.AutomatonWords(LOOPS, 0, [1], 4), automaton_words(LOOPS, 0, [1], 4)),
    "one symbol": (veil.words.FreeWords(4, 1), free_words(range(4), 1)),
}
CHAIN = LANGUAGES["chain from a start"][0]


class Book:
    """A ledger that writes down what is asked of it."""

    def __init__(self, *, limit: float = 1e9) -> None:
        self.log: list[Any] = []
        self.limit = limit

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        self.log.append(("reserve", epsilon, delta, description["name"]))
        if epsilon > self.limit:
            raise BudgetExceeded(spent="0", asked=f"{epsilon:g}", remaining=f"{self.limit:g}")
        return "entry-1"

    def confirm(self, entry: str) -> None:
        self.log.append(("confirm", entry))


def said(mechanism: Any, word: Any, rng: Any = None) -> Word:
    trip = veil.words.online(mechanism, rng=rng)
    return tuple(trip.push(symbol) for symbol in word)


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_first(["chain", *(name for name in LANGUAGES if name != "chain")]))
def test_the_law_is_that_of_the_whole_word(name: str) -> None:
    """Chi-square at alpha 1e-6, over all words; the law at a rate 30 % off is rejected."""
    language, words = LANGUAGES[name]
    mechanism, wrong = veil.words.SequentialWords(language, 1.5), veil.words.SequentialWords(language, 1.95)
    word = words[len(words) // 2]
    generator = np.random.default_rng(3)
    drawn = [said(mechanism, word, generator) for _ in range(2500)]
    assert set(drawn) <= set(words)
    assert fit(drawn, mechanism.distribution(word)) > ALPHA
    assert fit(drawn, wrong.distribution(word)) < ALPHA
    whole = [tuple(row) for row in mechanism.sample(word, rng=4, size=20_000).tolist()]
    assert fit(whole, mechanism.distribution(word)) > ALPHA


def test_every_answer_is_known_at_once_and_never_changes() -> None:
    trip = veil.words.online(veil.words.SequentialWords(CHAIN, 2.0), rng=1)
    answers: tuple[Any, ...] = ()
    for t, symbol in enumerate("bcab"):
        assert trip.remaining == 4 - t
        answers = (*answers, trip.push(symbol))
        assert trip.word == answers
    assert trip.remaining == 0
    out = trip.finish()
    assert out.value == answers
    assert trip.finish().value == answers
    assert (out.epsilon, out.delta, out.reproducible) == (2.0, 0.0, True)
    assert out.assumptions == (FEASIBLE_IS_PUBLIC,)
    assert out.adjacency == veil.words.Hamming(1)


def test_answers_do_not_depend_on_the_future() -> None:
    """With the same seed, words that begin alike are answered alike as far as they do."""
    mechanism = veil.words.SequentialWords(CHAIN, 1.0)
    _, words = LANGUAGES["chain from a start"]
    for word in words[::7]:
        for other in words[::5]:
            shared = next((t for t in range(4) if word[t] != other[t]), 4)
            assert said(mechanism, word, 9)[:shared] == said(mechanism, other, 9)[:shared]


def test_the_record_is_read_back(tmp_path: Any) -> None:
    trip = veil.words.online(veil.words.SequentialWords(CHAIN, 2.0))
    for symbol in "bcab":
        trip.push(symbol)
    out = trip.finish()
    assert not out.reproducible
    out.save(tmp_path / "trip.json")
    assert veil.load(tmp_path / "trip.json") == out


def test_randomness() -> None:
    mechanism = veil.words.SequentialWords(veil.words.FreeWords(50, 40), 0.1)
    word = [0] * 40
    assert said(mechanism, word, 5) == said(mechanism, word, 5)
    assert said(mechanism, word, 5) != said(mechanism, word, 6)
    assert said(mechanism, word) != said(mechanism, word)


# Errors


def test_errors_name_the_position_and_leave_the_word_as_it_was() -> None:
    trip = veil.words.online(veil.words.SequentialWords(CHAIN, 2.0), rng=1)
    with pytest.raises(InvalidData, match=r"word, position 1: expected a first symbol"):
        trip.push("a")
    with pytest.raises(InvalidData, match=r"word, position 1: expected a symbol of the alphabet"):
        trip.push("zebra")
    trip.push("b")
    for symbol in ("b", "d", "end"):
        with pytest.raises(InvalidData, match=r"word, position 2: expected a symbol that") as caught:
            trip.push(symbol)
        assert f"'{symbol}'" not in str(caught.value)
        assert not str(caught.value).endswith(symbol)
    assert len(trip.word) == 1
    trip.push("a")
    trip.push("c")
    assert trip.push("c") in ("a", "b", "c", "d", "end")
    with pytest.raises(InvalidArgument, match="4 symbols at most"):
        trip.push("a")
    assert len(trip.finish().value) == 4


@pytest.mark.parametrize(
    "symbol", [None, 5, 1.5, float("nan"), b"a", {"b"}, {"b": 1}, object(), "", True, [], ()]
)
def test_wrong_symbols_are_invalid_data(symbol: Any) -> None:
    trip = veil.words.online(veil.words.SequentialWords(veil.words.FreeWords("ab", 3), 2.0), rng=1)
    with pytest.raises(InvalidData, match="position 1"):
        trip.push(symbol)
    assert trip.word == ()


@pytest.mark.parametrize("symbol", ["ab", "ba", ["a"], ["b", "a"], ("a",), np.array(["a", "b"])])
def test_a_word_is_no_symbol(symbol: Any) -> None:
    trip = veil.words.online(veil.words.SequentialWords(veil.words.FreeWords("ab", 3), 2.0), rng=1)
    with pytest.raises(InvalidData, match="position 1"):
        trip.push(symbol)


def test_words_must_end_where_they_may() -> None:
    language, words = LANGUAGES["automaton"]
    trip = veil.words.online(veil.words.SequentialWords(language, 2.0), rng=1)
    begun, bad = next((word[:3], s) for word in words for s in "xyz" if (*word[:3], s) not in words)
    for symbol in begun:
        trip.push(symbol)
    with pytest.raises(InvalidData, match="position 4"):
        trip.push(bad)
    with pytest.raises(InvalidArgument, match="4 symbols"):
        trip.finish()


def test_a_word_that_is_not_done_has_no_record() -> None:
    book = Book()
    trip = veil.words.online(veil.words.SequentialWords(CHAIN, 2.0), ledger=book, rng=1)
    for symbol in "bca":
        with pytest.raises(InvalidArgument, match=r"expected 4 symbols, found \d"):
            trip.finish()
        trip.push(symbol)
    assert [step[0] for step in book.log] == ["reserve"]


def test_labels_of_any_kind() -> None:
    for labels in ([3, 1], ["shop", "home"], [(0, 1), (1, 0)], ["a", 1], [0.5, 2.5]):
        language = veil.words.FreeWords(labels, 2)
        trip = veil.words.online(veil.words.SequentialWords(language, 2.0), rng=1)
        assert {trip.push(labels[0]), trip.push(labels[1])} <= set(labels)
    trip = veil.words.online(veil.words.SequentialWords(veil.words.FreeWords(3, 2), 2.0), rng=1)
    assert trip.push(np.int64(2)) in (0, 1, 2)


# The charge


def test_the_charge_comes_first_and_whole() -> None:
    book = Book()
    trip = veil.words.online(veil.words.SequentialWords(CHAIN, 0.3), ledger=book)
    assert book.log == [("reserve", 0.3, 0.0, "SequentialWords")]
    for symbol in "bca":
        trip.push(symbol)
    assert len(book.log) == 1
    trip.push("b")
    assert book.log[1:] == [("confirm", "entry-1")]
    assert trip.finish().entry == "entry-1"
    assert len(book.log) == 2


def test_a_refused_charge_begins_nothing() -> None:
    book = Book(limit=0.2)
    with pytest.raises(BudgetExceeded):
        veil.words.online(veil.words.SequentialWords(CHAIN, 0.3), ledger=book)
    assert len(book.log) == 1


def test_what_is_wrong_is_not_charged() -> None:
    book = Book()
    for mechanism in (
        veil.words.ExponentialWords(CHAIN, 1.0),
        veil.words.PermuteAndFlip(CHAIN, 1.0),
        "sequential",
        None,
    ):
        with pytest.raises(InvalidArgument, match="SequentialWords"):
            veil.words.online(mechanism, ledger=book)  # type: ignore[arg-type]
    with pytest.raises(VeilError):
        veil.words.online(veil.words.SequentialWords(CHAIN, 1.0), ledger=book, rng="dice")
    assert book.log == []


def test_a_ledger_that_is_none() -> None:
    with pytest.raises(InvalidArgument, match="ledger"):
        veil.words.online(veil.words.SequentialWords(CHAIN, 1.0), ledger={})  # type: ignore[arg-type]


@pytest.mark.slow
def test_privacy_by_samples() -> None:
    """No ratio of two neighbours' counts beats e^epsilon by five deviations; one beats a third of it."""
    language, words = LANGUAGES["chain"]
    mechanism = veil.words.SequentialWords(language, 1.5)
    laws = {word: mechanism.distribution(word) for word in words}
    near = [(v, w) for v in words for w in words if distance(v, w) == 1]
    one, two = max(near, key=lambda pair: max(laws[pair[0]][v] - laws[pair[1]][v] for v in words))
    generator = np.random.default_rng(8)
    counts = [
        {w: drawn.count(w) for w in words}
        for drawn in ([said(mechanism, word, generator) for _ in range(15_000)] for word in (one, two))
    ]
    excess = [
        abs(np.log(counts[0][w] / counts[1][w])) - 5.0 * np.sqrt(1.0 / counts[0][w] + 1.0 / counts[1][w])
        for w in words
        if min(counts[0][w], counts[1][w]) > 50
    ]
    assert max(excess) <= 1.5
    assert max(excess) > 0.5
