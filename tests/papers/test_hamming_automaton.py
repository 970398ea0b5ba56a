"""The automata of the symbolic trajectories paper against the enumeration of all words."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import chisquare
from veil_papers.hamming_automaton import (
    DistanceAutomaton,
    HammingAutomaton,
    ProductAutomaton,
    Word,
    feasible_counts,
    hamming,
)

from veil.errors import InvalidArgument, InvalidData
from veil.words import AutomatonWords

FIGURE_1 = HammingAutomaton(tuple("abc"), 2, tuple("abc"))
# The paper prints the edges of its four states in a picture only; these are of the same kind.
SUPPORT = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
FIGURE_3 = ProductAutomaton(("y1", "y2", "y3"), 2, SUPPORT, "y0")
# Probability that a right sampler fails a test of its frequencies.
ALPHA = 1e-6


def feasible_words(support: dict[str, list[str]], start: str, length: int) -> list[Word]:
    words = product(support, repeat=length)
    return [word for word in words if all(b in support[a] for a, b in pairwise((start, *word)))]


def assert_uniform_over(automaton: DistanceAutomaton, words: list[Word]) -> None:
    law = automaton.law()
    assert sorted(law) == sorted(words)
    assert set(law.values()) <= {Fraction(1, max(1, len(words)))}
    assert automaton.size == len(words) == len(list(automaton.words()))


def test_figure_1() -> None:
    """Words of three symbols at distance 2 from abc: the states, the counts and the probabilities by hand."""
    assert FIGURE_1.layers == [[(0, 0)], [(1, 0), (1, 1)], [(2, 1), (2, 2)], [(3, 2)]]
    assert FIGURE_1.accepting == {(3, 2)}
    assert [FIGURE_1.paths[state] for layer in FIGURE_1.layers for state in layer] == [12, 4, 4, 2, 1, 1]
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    assert FIGURE_1.policy((0, 0)) == {"a": third, "b": third, "c": third}
    assert FIGURE_1.policy((1, 0)) == {"a": half, "c": half}
    assert FIGURE_1.policy((1, 1)) == {"a": quarter, "b": half, "c": quarter}
    assert FIGURE_1.policy((2, 2)) == {"c": Fraction(1)}
    assert FIGURE_1.delta((0, 0), "a") == (1, 0)
    assert FIGURE_1.delta((2, 2), "a") is None
    assert FIGURE_1.delta((3, 2), "a") is None


def test_figure_3() -> None:
    """The product with a chain, from y0: every arrow is an edge, and y0 -> y1 is asked for as well."""
    words = [word for word in feasible_words(SUPPORT, "y0", 3) if hamming(word, FIGURE_3.word) == 2]
    assert_uniform_over(FIGURE_3, words)
    assert FIGURE_3.policy((0, 0, "y0")) == {"y1": Fraction(1, 2), "y2": Fraction(1, 2)}
    assert FIGURE_3.accepting == {(3, 2, "y0"), (3, 2, "y2"), (3, 2, "y3")}
    assert FIGURE_3.delta((0, 0, "y0"), "y3") is None
    assert all(word[0] != "y3" for word in FIGURE_3.words())


def test_free_words_are_uniform() -> None:
    rng = np.random.default_rng(1)
    for _ in range(25):
        alphabet = tuple("abcd"[: rng.integers(1, 5)])
        word = tuple(str(letter) for letter in rng.choice(alphabet, size=rng.integers(1, 6)))
        for distance in range(len(word) + 2):
            near = [v for v in product(alphabet, repeat=len(word)) if hamming(v, word) == distance]
            assert_uniform_over(HammingAutomaton(word, distance, alphabet), near)


def test_feasible_words_are_uniform() -> None:
    """Random supports, with dead ends and distances that no feasible word has."""
    rng = np.random.default_rng(2)
    empty = 0
    for _ in range(40):
        states = [f"s{i}" for i in range(rng.integers(2, 5))]
        support = {state: [other for other in states if rng.random() < 0.55] for state in states}
        length = int(rng.integers(1, 6))
        words = feasible_words(support, "s0", length)
        if not words:
            continue
        word = words[rng.integers(len(words))]
        counts = feasible_counts(word, support, "s0")
        for distance in range(length + 1):
            near = [v for v in words if hamming(v, word) == distance]
            automaton = ProductAutomaton(word, distance, support, "s0")
            assert_uniform_over(automaton, near)
            assert counts[distance] == len(near)
            empty += not near
    assert empty > 5


def test_policies_add_up_to_one_and_as_printed_do_not() -> None:
    """Line 7 counts a successor once, however many symbols lead to it; then mu adds up to 3/2 in Fig. 1."""
    for automaton in (FIGURE_1, FIGURE_3):
        for layer in automaton.layers[:-1]:
            for state in layer:
                assert sum(automaton.policy(state).values()) == 1
    assert FIGURE_1.printed_total((0, 0)) == Fraction(3, 2)
    # In the product each symbol has its own state, so that line 7 is right there; line 8 is not.
    assert FIGURE_3.printed_total((0, 0, "y0")) == 1


@pytest.mark.slow_for("automaton1")
@pytest.mark.parametrize("automaton", [FIGURE_1, FIGURE_3])
def test_runs_are_uniform(automaton: DistanceAutomaton) -> None:
    """4,000 runs; the next test shows that a wrong policy would be found."""
    rng = np.random.default_rng(3)
    drawn = Counter(automaton.run(rng) for _ in range(4000))
    words = list(automaton.words())
    assert set(drawn) == set(words)
    assert chisquare([drawn[word] for word in words]).pvalue > ALPHA


def test_runs_by_another_policy_are_rejected() -> None:
    """The planted fault: each possible symbol equally likely instead of V(q') / V(q)."""
    rng = np.random.default_rng(4)
    drawn: Counter[Word] = Counter()
    for _ in range(4000):
        state, word = FIGURE_1.initial, []
        for _ in FIGURE_1.word:
            symbols = list(FIGURE_1.policy(state))
            word.append(symbols[rng.integers(len(symbols))])
            state = FIGURE_1.successors(state)[word[-1]]
        drawn[tuple(word)] += 1
    assert chisquare([drawn[word] for word in FIGURE_1.words()]).pvalue < ALPHA


def test_counts_beyond_machine_numbers() -> None:
    word = tuple("ab" * 60)
    automaton = HammingAutomaton(word, 50, tuple("abc"))
    assert automaton.size > 2**64
    assert hamming(automaton.run(np.random.default_rng(5)), word) == 50


def test_wrong_words() -> None:
    with pytest.raises(InvalidData, match="symbol 1: expected a symbol of the alphabet"):
        HammingAutomaton(("a", "z"), 1, ("a", "b"))
    with pytest.raises(InvalidData, match="symbol 0: expected a successor"):
        ProductAutomaton(("y3",), 1, SUPPORT, "y0")
    with pytest.raises(InvalidData, match="symbol 2: expected a successor"):
        ProductAutomaton(("y1", "y2", "y2"), 1, SUPPORT, "y0")
    with pytest.raises(InvalidArgument, match="start"):
        ProductAutomaton(("y1",), 1, SUPPORT, "y9")
    nowhere = HammingAutomaton(("a",), 3, ("a", "b"))
    assert not list(nowhere.words())
    with pytest.raises(InvalidArgument, match="a distance at which there is a word"):
        nowhere.run(np.random.default_rng(6))


# Definition 1

Moves = dict[tuple[str, str], tuple[str, ...]]


def runs(moves: Moves, start: str, word: Word) -> list[tuple[str, ...]]:
    """All runs that a word induces: q_0 = q^0, and q_{i+1} is one of delta(q_i, s_{i+1})."""
    states = {state for (state, _), _ in moves.items()} | {end for ends in moves.values() for end in ends}
    return [
        run
        for run in product(states, repeat=len(word) + 1)
        if run[0] == start
        and all(
            after in moves.get((before, s), ())
            for (before, after), s in zip(pairwise(run), word, strict=True)
        )
    ]


def test_a_word_is_accepted_if_one_of_its_runs_ends_well() -> None:
    """Random nondeterministic automata: the language, each word once, however many of its runs accept it."""
    rng = np.random.default_rng(6)
    several = mixed = 0
    for _ in range(30):
        states, alphabet, length = "pqr", "ab", 4
        moves: Moves = {
            (state, symbol): ends
            for state in states
            for symbol in alphabet
            if (ends := tuple(end for end in states if rng.random() < 0.45))
        }
        accepting = [state for state in states if rng.random() < 0.4]
        induced = {word: runs(moves, "p", word) for word in product(alphabet, repeat=length)}
        language = [word for word, ways in induced.items() if any(run[-1] in accepting for run in ways)]
        if not language or len({symbol for _, symbol in moves}) < 2:
            continue
        try:
            made = AutomatonWords(moves, "p", accepting, length)
        except InvalidArgument:
            # A state without any move in or out is not known to the automaton.
            continue
        assert sorted(map(tuple, made.enumerate())) == sorted(language)
        # A run has one state more than the word has symbols (the paper prints Q^n).
        assert {len(run) for ways in induced.values() for run in ways} == {length + 1}
        several += any(sum(run[-1] in accepting for run in induced[word]) > 1 for word in language)
        mixed += any(len({run[-1] in accepting for run in induced[word]}) == 2 for word in language)
    # Power: words with several accepting runs, and with runs of both kinds, were among them.
    assert several > 5
    assert mixed > 5


@pytest.mark.parametrize("automaton", [FIGURE_1, FIGURE_3])
def test_the_automata_of_the_paper_are_automata_by_the_definition(automaton: DistanceAutomaton) -> None:
    """Written out as delta: Q x Sigma -> 2^Q, they accept by their runs what they say they accept."""
    moves = {
        (str(state), symbol): (str(ahead),)
        for layer in automaton.layers
        for state in layer
        for symbol, ahead in automaton.successors(state).items()
        if ahead in {one for layer in automaton.layers for one in layer}
    }
    accepting = [str(state) for state in automaton.accepting]
    words = list(automaton.words())
    made = AutomatonWords(moves, str(automaton.initial), accepting, len(automaton.word))
    assert sorted(map(tuple, made.enumerate())) == sorted(words)
    for word in product(automaton.alphabet, repeat=len(automaton.word)):
        state, way = automaton.initial, [automaton.initial]
        for symbol in word:
            ahead = automaton.delta(state, symbol)
            if ahead is None:
                break
            state = ahead
            way.append(state)
        # At most one run; the word is accepted if it goes to the end and ends in an accepting state.
        assert (len(way) == len(word) + 1 and state in automaton.accepting) == (word in words)
