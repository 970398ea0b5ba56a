"""Releasing a table of words in one call: the choice, the charge, what is assumed, the plans."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import veil
from tests.params import quick_first
from veil.core.mechanism import STATES_ARE_PUBLIC
from veil.errors import BudgetExceeded, CannotCalibrate, InvalidArgument, InvalidData, NoGuarantee
from veil.words.adjacency import ONE_WORD_EACH
from veil.words.mechanisms.each_word import LENGTHS_ARE_PUBLIC, EachWord
from veil.words.mechanisms.word_mechanism import FEASIBLE_IS_PUBLIC, WordMechanism
from veil.words.planning import (
    FOR_WORDS,
    error_curves,
    least_epsilon_for_words,
    names_for,
    plan_words,
    word_mechanism,
)
from veil.words.requests import WordRelease
from veil.words.word_batch import WordBatch

ROADS = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
CHAIN = veil.words.ChainWords(ROADS, 5)
FREE = veil.words.FreeWords("abc", 5)
WORDS = ["abaca", "cccba", "bacab"]
# Words that have nothing in common with those above but their number and lengths.
OTHERS = ["cacbc", "bcbcc", "ccccc"]
MIXED = ["ab", "cccba", "b", "acc"]
MIXED_OTHERS = ["cc", "bcacb", "a", "cba"]


class Book:
    """A ledger that notes what happens in which order."""

    def __init__(self, refuses: bool = False) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.refuses = refuses

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> str:
        if self.refuses:
            raise BudgetExceeded(spent="3", asked=str(epsilon), remaining="0")
        self.log.append(("reserve", epsilon, delta, description["name"]))
        return "entry 1"

    def confirm(self, entry: Any) -> None:
        self.log.append(("confirm", entry))


def word_job(words: Any, language: Any = None, **options: Any) -> Any:
    return WordRelease(language=language, **options).prepare(words)


# The choice


@pytest.mark.slow_for("2.0-1-chain", "2.0-2-chain")
@pytest.mark.parametrize("language", [CHAIN, FREE], ids=["chain", "free"])
@pytest.mark.parametrize("radius", [1, 2])
@pytest.mark.parametrize("epsilon", quick_first([2.0, 0.3, 6.0]))
def test_auto_takes_the_least_expected_error(language: Any, radius: int, epsilon: float) -> None:
    """By the plan, and by errors computed here on the same made-up words."""
    job = word_job(WORDS, language, epsilon=epsilon, radius=radius)
    assert job.plan is not None
    walks = language.walks(100, rng=5)
    errors = {}
    for name in names_for(language, radius):
        mechanism = word_mechanism(name, language, epsilon, radius=radius)
        errors[name] = float(mechanism.expected_errors(walks.rows).mean())
    assert job.chosen == min(errors, key=lambda name: errors[name])
    assert job.plan.best.error == pytest.approx(min(errors.values()))
    assert [row.error for row in job.plan.rows] == sorted(row.error for row in job.plan.rows if row.error)
    assert job.mechanism.mechanism == word_mechanism(job.chosen, language, epsilon, radius=radius)


@pytest.mark.slow_for("3.0-chain-one", "3.0-chain-mixed")
@pytest.mark.parametrize(("words", "others"), [(WORDS, OTHERS), (MIXED, MIXED_OTHERS)], ids=["one", "mixed"])
@pytest.mark.parametrize("language", [CHAIN, FREE], ids=["chain", "free"])
@pytest.mark.parametrize("epsilon", quick_first([3.0, 0.5]))
def test_the_choice_does_not_depend_on_the_words(
    words: list[str], others: list[str], language: Any, epsilon: float
) -> None:
    first, second = (word_job(held, language, epsilon=epsilon) for held in (words, others))
    assert first.chosen == second.chosen
    assert first.mechanism.describe() == second.mechanism.describe()
    assert first.plan is not None
    assert second.plan is not None
    assert first.plan.to_dict() == second.plan.to_dict()
    assert first.value != second.value


def test_the_plan_looks_at_no_sensitive_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are asked for made-up words alone: those of the sensitive ones would depend on them."""
    seen: list[bytes] = []
    for kind in (
        veil.words.ExponentialWords,
        veil.words.SequentialWords,
        veil.words.PermuteAndFlip,
        veil.words.BalancedWords,
    ):
        original = kind.expected_errors

        def watched(self: Any, rows: Any, original: Any = original) -> Any:
            seen.append(np.asarray(rows).tobytes())
            return original(self, rows)

        monkeypatch.setattr(kind, "expected_errors", watched)
    word_job(WORDS, CHAIN, epsilon=2.0)
    assert seen
    assert set(seen) == {CHAIN.walks(100, rng=5).rows.tobytes()}


def test_examples_take_the_place_of_made_up_words() -> None:
    plan = word_job(WORDS, CHAIN, epsilon=2.0, radius=2, typical=OTHERS).plan
    assert plan is not None
    assert plan.from_examples
    assert plan.walks == 3
    assert plan.best.mechanism is not None
    rows = CHAIN.validate(OTHERS).rows
    assert plan.best.error == pytest.approx(float(plan.best.mechanism.expected_errors(rows).mean()))
    with pytest.raises(InvalidData, match="word 2, position 2"):
        word_job(WORDS, CHAIN, epsilon=2.0, typical=["ababa", "aabab"])


@pytest.mark.parametrize("name", [name for name in FOR_WORDS if name != "staircase"])
def test_a_mechanism_that_was_asked_for(name: str) -> None:
    job = word_job(WORDS, CHAIN, epsilon=2.0, mechanism=name)
    assert job.chosen == name
    assert job.plan is None
    assert job.mechanism.mechanism == word_mechanism(name, CHAIN, 2.0)
    assert job.mechanism.mechanism.certified_epsilon <= 2.0


def test_staircases_are_offered_where_they_help() -> None:
    assert "staircase" in names_for(FREE, 2)
    assert "staircase" not in names_for(FREE, 1)
    assert "staircase" not in names_for(CHAIN, 2)
    assert "balanced" not in names_for(CHAIN, 2)
    assert word_job(WORDS, FREE, epsilon=1.0, radius=2).chosen == "staircase"


# Sharing and charging


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 2.7, 5.0])
@pytest.mark.parametrize("words_each", [1, 3, 7])
@pytest.mark.parametrize("language", [CHAIN, FREE], ids=["chain", "free"])
def test_words_share_epsilon_and_cost_what_was_said(language: Any, words_each: int, epsilon: float) -> None:
    book = Book()
    job = word_job(WORDS, language, epsilon=epsilon, words_each=words_each, mechanism="sequential")
    each = job.mechanism.mechanism.epsilon
    # Never more than a share, and no more below it than a float can tell.
    assert Fraction(each) * words_each <= Fraction(epsilon)
    assert each == pytest.approx(epsilon / words_each, rel=1e-15)
    out = job.run(ledger=book, rng=1)
    assert out.epsilon == epsilon
    assert Decimal(repr(out.epsilon)) == Decimal(str(epsilon))
    assert out.delta == 0.0
    assert out.adjacency == veil.words.Hamming(1, words_each=words_each)
    assert book.log == [("reserve", epsilon, 0.0, "EachWord"), ("confirm", "entry 1")]
    assert out.profile.pure_epsilon <= epsilon * (1.0 + 1e-15)


@pytest.mark.slow
def test_more_words_each_more_errors() -> None:
    errors = []
    for each in (1, 2, 6):
        plan = word_job(WORDS, CHAIN, epsilon=6.0, radius=2, words_each=each).plan
        assert plan is not None
        assert plan.epsilon == 6.0 / each
        errors.append(plan.best.error or 0.0)
    assert 2.0 * errors[0] < errors[1] < errors[2]


@pytest.mark.parametrize("mechanism", ["auto", "exponential", "sequential"])
def test_the_ledger_is_charged_before_the_draw_and_once(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Book()
    drawn = WordMechanism.drawn

    def watched(self: Any, rng: Any, batch: Any) -> Any:
        book.log.append(("draw",))
        return drawn(self, rng, batch)

    monkeypatch.setattr(WordMechanism, "drawn", watched)
    veil.words.release(MIXED, language=CHAIN, epsilon=3.0, radius=2, mechanism=mechanism, ledger=book)
    assert [step[0] for step in book.log] == ["reserve", "draw", "confirm"]


def test_nothing_is_charged_for_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    book = Book()
    for words in (["abaca", "aabab"], ["abacab"], ["xyz"], []):
        with pytest.raises(InvalidData):
            veil.words.release(words, language=CHAIN, epsilon=3.0, mechanism="sequential", ledger=book)
    assert book.log == []

    def never(*args: Any) -> Any:
        raise AssertionError("drawn")

    monkeypatch.setattr(WordMechanism, "drawn", never)
    with pytest.raises(BudgetExceeded):
        veil.words.release(
            WORDS, language=CHAIN, epsilon=3.0, mechanism="sequential", ledger=Book(refuses=True)
        )


# What is assumed


def test_assumptions() -> None:
    def assumed(words: Any, language: Any = None, **more: Any) -> tuple[str, ...]:
        return veil.words.release(
            words, language=language, epsilon=3.0, mechanism="exponential", **more
        ).assumptions

    assert assumed(WORDS, CHAIN) == (FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, ONE_WORD_EACH)
    assert assumed(WORDS, FREE) == (LENGTHS_ARE_PUBLIC, ONE_WORD_EACH)
    assert assumed(WORDS) == (LENGTHS_ARE_PUBLIC, ONE_WORD_EACH, STATES_ARE_PUBLIC)
    several = "no person has more than 2 words"
    assert assumed(WORDS, CHAIN, words_each=2) == (FEASIBLE_IS_PUBLIC, LENGTHS_ARE_PUBLIC, several)


def test_symbols_that_are_found() -> None:
    out = veil.words.release([["x", 7], [7, "x", "y"]], epsilon=400.0)
    assert out.domain == veil.words.FreeWords([7, "x", "y"], 3)
    assert [list(word) for word in out.value] == [["x", 7], [7, "x", "y"]]


def test_no_words_at_all() -> None:
    try:
        veil.words.release([], epsilon=1.0)
    except InvalidData:
        return


# Lengths


@pytest.mark.slow_for("chain-auto")
@pytest.mark.parametrize("name", ["auto", *FOR_WORDS])
@pytest.mark.parametrize("language", [CHAIN, FREE], ids=["chain", "free"])
def test_mixed_lengths_take_a_mechanism_that_covers_them(name: str, language: Any) -> None:
    if name == "staircase" and language is CHAIN:
        pytest.skip("staircases are for free words")
    job = word_job(MIXED, language, epsilon=2.0, mechanism=name)
    assert job.mechanism.mechanism.covers_shorter
    out = job.run(rng=1)
    assert [len(word) for word in out.value] == [len(word) for word in MIXED]
    for word in out.value:
        assert word in language.of_length(len(word))


def test_words_of_one_length_need_no_cover() -> None:
    """Only then may the rate be that of this length alone; words that are shorter are then refused."""
    job = word_job(WORDS, CHAIN, epsilon=2.0, mechanism="exponential")
    assert not job.mechanism.mechanism.covers_shorter
    with pytest.raises((InvalidData, NoGuarantee)):
        veil.release(job.mechanism, MIXED)
    # A longest word that nobody has is public as well.
    longer = word_job(WORDS, veil.words.ChainWords(ROADS, 8), epsilon=2.0, mechanism="exponential")
    assert longer.mechanism.mechanism.covers_shorter


@pytest.mark.parametrize("name", ["exponential", "balanced", "sequential", "permute-and-flip", "generic"])
def test_shorter_words_are_as_private(name: str) -> None:
    """By enumeration: each length with the mechanism of the longest, whose law is that of its own length."""
    inner = word_job(MIXED, CHAIN, epsilon=1.5, mechanism=name).mechanism.mechanism
    for length in range(1, 6):
        words = CHAIN.of_length(length).enumerate().rows
        logs = np.array([inner.log_probabilities(words, word) for word in words])
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, rtol=1e-9)
        near = (words[:, None] != words[None]).sum(axis=2) <= 1
        loss = np.abs(logs[:, None] - logs[None]).max(axis=2)
        assert loss[near].max() <= 1.5 * (1.0 + 1e-9)


def test_words_keep_their_place() -> None:
    """At an epsilon at which nothing is wrong, every word comes back where it was."""
    for words in (WORDS, MIXED):
        out = veil.words.release(words, language=CHAIN, epsilon=400.0, mechanism="sequential")
        assert ["".join(map(str, word)) for word in out.value] == words


# Wrong use


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"words_each": 0}, "words_each"),
        ({"words_each": 1.5}, "words_each"),
        ({"radius": 0}, "radius"),
        ({"mechanism": "laplace"}, "mechanism"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], field: str) -> None:
    options: dict[str, Any] = {"epsilon": 1.0, "mechanism": "exponential"} | arguments
    with pytest.raises(InvalidArgument) as caught:
        veil.words.release(WORDS, language=CHAIN, **options)
    assert caught.value.field == field


@pytest.mark.parametrize("arguments", [{"radius": 0}, {"epsilon": 5000.0}, {"epsilon": 1e-9}])
def test_wrong_arguments_of_auto(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        veil.words.release(WORDS, language=CHAIN, **({"epsilon": 1.0} | arguments))
    assert caught.value.field == next(iter(arguments))


def test_what_words_may_be() -> None:
    batch = CHAIN.validate(WORDS)
    for words in (WORDS, [list(word) for word in WORDS], tuple(map(tuple, WORDS)), batch):
        out = veil.words.release(words, language=CHAIN, epsilon=3.0, mechanism="sequential", rng=7)
        assert isinstance(out.value, WordBatch)
        assert len(out.value) == 3
        assert out.reproducible
        assert isinstance(out.mechanism, EachWord)


# Plans


def test_plans_say_why_not() -> None:
    plan = plan_words(CHAIN, 2.0, names=("staircase", "sequential"))
    assert [row.name for row in plan.rows] == ["sequential", "staircase"]
    assert plan.rows[1].mechanism is None
    assert plan.rows[1].error is None
    assert "expected FreeWords, found ChainWords" in plan.rows[1].why
    with pytest.raises(InvalidArgument, match="one that fits the language"):
        plan_words(CHAIN, 2.0, names=("staircase",))


@pytest.mark.slow
def test_plans_repeat_and_stay_within_the_budget() -> None:
    plan = plan_words(CHAIN, 2.0, radius=2)
    assert plan.to_dict() == plan_words(CHAIN, 2.0, radius=2).to_dict()
    for row in plan.rows:
        assert row.mechanism is not None
        assert row.mechanism.certified_epsilon <= 2.0
        assert row.mechanism.radius == 2


@pytest.mark.parametrize("language", quick_first([FREE, CHAIN]), ids=["free", "chain"])
@pytest.mark.parametrize("error", [0.3, 1.5])
def test_the_least_epsilon_is_least(language: Any, error: float) -> None:
    epsilon = least_epsilon_for_words(language, error=error, radius=2)

    def reached(budget: float) -> float:
        found = plan_words(language, budget, radius=2).best.error
        assert found is not None
        return found

    assert reached(epsilon) <= error
    assert reached(0.995 * epsilon) > error


@pytest.mark.slow
def test_easy_goals_and_goals_out_of_reach() -> None:
    assert least_epsilon_for_words(FREE, error=4.9) == 0.01
    with pytest.raises(CannotCalibrate, match="no epsilon up to 100"):
        least_epsilon_for_words(CHAIN, error=1e-20, radius=4)
    with pytest.raises(InvalidArgument) as caught:
        least_epsilon_for_words(FREE, error=-1.0)
    assert caught.value.field == "error"


@pytest.mark.slow
def test_curves() -> None:
    epsilons = [0.5, 1.0, 3.0]
    curves = error_curves([plan_words(CHAIN, epsilon, radius=2) for epsilon in epsilons])
    assert set(curves) == set(names_for(CHAIN, 2))
    for x, y in curves.values():
        assert x == epsilons
        assert y == sorted(y, reverse=True)
    plans = [plan_words(CHAIN, epsilon, names=("staircase", "generic")) for epsilon in epsilons]
    assert set(error_curves(plans)) == {"generic"}
    steps: list[str] = []
    plan_words(CHAIN, 1.0, names=("sequential", "generic"), progress=steps.append)
    assert steps == ["sequential", "generic"]


def test_words_are_compared_by_their_plan_alone() -> None:
    with pytest.raises(InvalidArgument, match="found Hamming"):
        veil.compare(None, veil.words.Hamming(1), epsilon=1.0, typical=[0, 1])
