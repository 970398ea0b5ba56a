"""Mechanisms on words against enumeration: their laws, their draws, their privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

import veil
from tests.oracles.words import (
    ALPHA,
    Law,
    Recipe,
    Word,
    by_distance,
    chain_words,
    distance,
    distances,
    exponential_law,
    exponential_logs,
    fit,
    free_words,
    least_error_of_free_words,
    logs_of,
    mean_error,
    permute_and_flip_law,
    random_recipe,
    worst_loss,
)
from tests.params import quick_first
from veil.core.kind import kind_named
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidData, VeilError
from veil.words.planning import plan_words

ROADS = {"a": ["b", "c", "d"], "b": ["a", "c"], "c": ["a", "b", "c"], "d": ["end", "a"]}
LOOPS = {(0, "x"): [0, 1], (0, "y"): [1], (1, "x"): [0], (1, "z"): [1, 0], (2, "y"): [0]}
EXAMPLES = {
    "free": Recipe("free", ("abc",), 3),
    "chain": Recipe("chain", (ROADS, None), 3),
    "chain from a start": Recipe("chain", (ROADS, "a"), 4),
    "automaton": Recipe("automaton", (LOOPS, 0, [1]), 4),
}


def _generic(language: Any, epsilon: float, *, radius: int = 1) -> Any:
    return veil.words.ExponentialWords(language, epsilon, radius=radius, calibration="generic")


# By name, since a mechanism that is not there yet must not hide the tests of the others.
MAKERS: dict[str, Callable[..., Any]] = {
    "certified": lambda *args, **more: veil.words.ExponentialWords(*args, **more),
    "generic": _generic,
    "balanced": lambda *args, **more: veil.words.BalancedWords(*args, **more),
    "sequential": lambda *args, **more: veil.words.SequentialWords(*args, **more),
    "permute-and-flip": lambda *args, **more: veil.words.PermuteAndFlip(*args, **more),
    "staircase": lambda *args, **more: veil.words.StaircaseWords(*args, **more),
}
CASES = [(m, e) for m in MAKERS for e in EXAMPLES if m != "staircase" or e == "free"]
EACH_CASE = pytest.mark.parametrize(("name", "example"), CASES)
# One of each example and of most mechanisms.
FEW = [
    ("certified", "automaton"),
    ("balanced", "chain"),
    ("permute-and-flip", "chain from a start"),
    ("staircase", "free"),
]
FEW_CASES = pytest.mark.parametrize(
    ("name", "example"), quick_first([*FEW, *(case for case in CASES if case not in FEW)], quick=len(FEW))
)
LEVELS = pytest.mark.parametrize(
    ("epsilon", "radius"), quick_first([(3.0, 2), (0.4, 1), (3.0, 1), (12.0, 3)])
)
EACH_NAME = pytest.mark.parametrize("name", list(MAKERS))


def make(name: str, recipe: Recipe, epsilon: float = 2.0, radius: int = 1) -> Any:
    return MAKERS[name](recipe.build(veil), epsilon, radius=radius)


# Laws


@FEW_CASES
@LEVELS
def test_the_law_is_consistent(name: str, example: str, epsilon: float, radius: int) -> None:
    """distribution, distance_pmf, expected_error and log_density say the same thing."""
    recipe = EXAMPLES[example]
    mechanism, words = make(name, recipe, epsilon, radius), recipe.words()
    for word in words[:: max(1, len(words) // 4)]:
        law = mechanism.distribution(word)
        assert set(law) == set(words)
        assert abs(math.fsum(law.values()) - 1.0) < 1e-10
        assert min(law.values()) > 0.0
        pmf = mechanism.distance_pmf(word)
        assert pmf.shape == (recipe.length + 1,)
        assert abs(pmf.sum() - 1.0) < 1e-10
        assert np.abs(pmf - by_distance(law, word)).max() < 1e-8
        assert abs(mechanism.expected_error(word) - mean_error(law, word)) < 1e-8
        logs = mechanism.log_density(words[:5], word)
        assert np.abs(np.exp(logs) - [law[v] for v in words[:5]]).max() < 1e-10
        # Where the word decides by its distance alone, none is likelier than itself.
        assert name in ("balanced", "sequential") or law[word] >= max(law.values()) * (1 - 1e-12)


@pytest.mark.slow_for("3.0-2-automaton")
@pytest.mark.parametrize(
    "example", quick_first(["free", "chain", "automaton", "chain from a start"], quick=3)
)
@LEVELS
def test_exponential_and_permute_and_flip_by_definition(example: str, epsilon: float, radius: int) -> None:
    recipe = EXAMPLES[example]
    words = recipe.words()
    certified, generic = make("certified", recipe, epsilon, radius), make("generic", recipe, epsilon, radius)
    flip = make("permute-and-flip", recipe, epsilon, radius)
    assert generic.rate == pytest.approx(epsilon / (2 * radius), rel=1e-9)
    assert flip.rate == pytest.approx(epsilon / (2 * radius), rel=1e-9)
    # The certificate never does worse than the generic rate, nor better than can be.
    assert generic.rate * (1 - 1e-9) <= certified.rate
    if example == "free":
        assert certified.rate == pytest.approx(epsilon / radius, rel=1e-12)
    elif radius == 1:
        assert certified.rate <= epsilon
    for word in words[:: max(1, len(words) // 3)]:
        for mechanism, law in (
            (certified, exponential_law(words, word, certified.rate)),
            (generic, exponential_law(words, word, generic.rate)),
            (flip, permute_and_flip_law(words, word, flip.rate)),
        ):
            assert np.abs(mechanism.distance_pmf(word) - by_distance(law, word)).max() < 1e-8
            own = mechanism.distribution(word)
            assert max(abs(own[v] - law[v]) for v in words) < 1e-8
            assert abs(mechanism.expected_error(word) - mean_error(law, word)) < 1e-8
        assert flip.expected_error(word) <= generic.expected_error(word) + 1e-9


@pytest.mark.parametrize("seeds", quick_first([range(9), range(9, 25)]))
def test_permute_and_flip_of_random_languages(seeds: range) -> None:
    for seed in seeds:
        recipe = random_recipe(seed, most=40)
        words, epsilon = recipe.words(), (0.2, 2.0, 9.0)[seed % 3]
        mechanism = make("permute-and-flip", recipe, epsilon, 1 + seed % 2)
        for word in words[:2]:
            law = permute_and_flip_law(words, word, mechanism.rate)
            assert np.abs(mechanism.distance_pmf(word) - by_distance(law, word)).max() < 1e-8


@pytest.mark.parametrize("example", list(EXAMPLES))
def test_sequential_by_definition(example: str) -> None:
    """Given what came out before and the true symbol alone, one option is e^s times as likely as each other.

    It is the true symbol where a word can go on with it. Nothing else is asked of a target but that it is
    fixed: the same for the same past and symbol, whatever the word is.
    """
    recipe = EXAMPLES[example]
    words = recipe.words()
    mechanism = make("sequential", recipe, 1.7)
    s = mechanism.rate
    assert s == pytest.approx(1.7, rel=1e-12)
    favoured: dict[tuple[Word, Any], Any] = {}
    prefixes = {word[:t] for word in words for t in range(recipe.length)}
    for word in words:
        law = mechanism.distribution(word)
        mass: dict[Word, float] = {}
        for v, p in law.items():
            for t in range(recipe.length + 1):
                mass[v[:t]] = mass.get(v[:t], 0.0) + p
        for past in prefixes:
            options = sorted({v[len(past)] for v in words if v[: len(past)] == past}, key=str)
            shares = {x: mass[(*past, x)] / mass[past] for x in options}
            total = 1.0 + (len(options) - 1) * math.exp(-s)
            best = max(options, key=lambda x: shares[x])
            for x in options:
                expected = (1.0 if x == best else math.exp(-s)) / total
                assert shares[x] == pytest.approx(expected, rel=1e-9)
            true = word[len(past)]
            assert best == true or true not in options
            assert favoured.setdefault((past, true), best) == best


@pytest.mark.parametrize(
    ("length", "alphabet", "radius", "epsilon"),
    [
        (5, 2, 2, 5.0),
        (5, 2, 1, 5.0),
        (4, 3, 2, 1.0),
        (6, 4, 3, 3.0),
        (3, 2, 3, 2.0),
        (2, 5, 3, 2.0),
        (7, 2, 2, 0.3),
    ],
)
def test_staircase_is_private_and_the_best_there_is(
    length: int, alphabet: int, radius: int, epsilon: float
) -> None:
    language = veil.words.FreeWords(alphabet, length)
    mechanism = veil.words.StaircaseWords(language, epsilon, radius=radius)
    words = free_words(range(alphabet), length)
    error = mechanism.expected_error(words[0])
    assert error == pytest.approx(least_error_of_free_words(length, alphabet, radius, epsilon), rel=1e-6)
    assert (
        error
        <= veil.words.ExponentialWords(language, epsilon, radius=radius).expected_error(words[0]) + 1e-12
    )
    if len(words) <= 300:
        assert worst_loss(words, logs_of(mechanism, words), radius) <= epsilon + 1e-9
    law = mechanism.distribution(words[-1])
    errors = {distance(v, words[-1]): p for v, p in law.items()}
    assert all(p == pytest.approx(errors[distance(v, words[-1])], rel=1e-12) for v, p in law.items())


def test_the_figures_of_the_specification() -> None:
    """n = 5, m = 2, epsilon = 5 (ERRATA 6), and b = 2 (the specification's staircase)."""
    language, word = veil.words.FreeWords(2, 5), [0] * 5
    assert _generic(language, 5.0).expected_error(word) == pytest.approx(0.379, abs=5e-4)
    assert veil.words.PermuteAndFlip(language, 5.0).expected_error(word) == pytest.approx(0.245, abs=5e-4)
    assert veil.words.ExponentialWords(language, 5.0).expected_error(word) == pytest.approx(0.033, abs=5e-4)
    assert veil.words.StaircaseWords(language, 5.0, radius=2).expected_error(word) == pytest.approx(
        0.155, abs=5e-4
    )
    # Per-symbol response at s = epsilon / b, the staircase's rival.
    rival = veil.words.ExponentialWords(language, 5.0, radius=2).expected_error(word)
    assert rival == pytest.approx(0.379, abs=5e-4)


def test_staircases_are_for_free_words() -> None:
    with pytest.raises(InvalidArgument, match="FreeWords"):
        veil.words.StaircaseWords(veil.words.ChainWords(ROADS, 3), 1.0)


# Privacy


def check_privacy(name: str, recipe: Recipe, epsilon: float, radius: int) -> float:
    """The exact loss over all pairs and outputs; compared with what is claimed, at this and other radii."""
    words, mechanism = recipe.words(), make(name, recipe, epsilon, radius)
    assert mechanism.certified_epsilon <= epsilon
    assert mechanism.profile().pure_epsilon == epsilon
    logs = logs_of(mechanism, words)
    if name in ("certified", "generic"):
        assert np.abs(logs - exponential_logs(words, mechanism.rate)).max() < 1e-9
    loss = worst_loss(words, logs, radius)
    assert loss <= mechanism.certified_epsilon * (1 + 1e-10) + 1e-12, (name, radius, recipe)
    for other in (1, 2, 3):
        claimed = mechanism.profile(veil.words.Hamming(other)).pure_epsilon
        assert worst_loss(words, logs, other) <= claimed * (1 + 1e-10) + 1e-12, (name, radius, other, recipe)
    return loss


def _privacy_cases(seeds: range, names: list[str]) -> None:
    used = dict.fromkeys(names, 0.0)
    for seed in seeds:
        recipe = random_recipe(seed, most=80)
        epsilon = (0.3, 1.0, 2.0, 3.0, 5.0, 8.0)[seed % 6]
        for name in names:
            if name == "staircase" and recipe.kind != "free":
                continue
            radius = 1 + seed % 3 if len(seeds) < 100 else 1 + (seed // 6) % 3
            used[name] = max(used[name], check_privacy(name, recipe, epsilon, radius) / epsilon)
    # The bound is reached somewhere: the test would see a mechanism that loses more.
    for name in set(names) & {"certified", "sequential"}:
        assert used[name] > 0.98, used


@pytest.mark.slow
@pytest.mark.parametrize("seeds", quick_first([range(5000, 5015), range(5000, 5060)]))
def test_privacy_of_random_languages(seeds: range) -> None:
    _privacy_cases(seeds, ["certified", "generic", "sequential", "staircase", "permute-and-flip"])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", quick_first([range(6000, 6006), range(6000, 6024)]))
def test_privacy_of_balanced_words(seeds: range) -> None:
    _privacy_cases(seeds, ["balanced"])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_privacy_of_many_random_languages(part: int) -> None:
    _privacy_cases(range(10_000 + 150 * part, 10_150 + 150 * part), list(MAKERS))


def test_the_enumeration_sees_a_rate_that_is_too_large() -> None:
    """Power: at a rate 5 % above the certified one the exact loss of some languages is above epsilon."""
    seen = 0
    for seed in range(5000, 5030):
        recipe = random_recipe(seed, most=80)
        mechanism = make("certified", recipe, 2.0)
        seen += worst_loss(recipe.words(), exponential_logs(recipe.words(), 1.05 * mechanism.rate), 1) > 2.0
    assert seen >= 10


FORK = {"s": ["a", "b"], "a": ["c"], "b": [f"d{i}" for i in range(20)]}


def test_two_changes_are_not_twice_one_change() -> None:
    """The specification's counterexample: start-a-c, start-b-d1...d20 at s = 1 loses 1 (b = 1) and 2.785."""
    words = chain_words(FORK, 2, "s")
    logs = exponential_logs(words, 1.0)
    assert worst_loss(words, logs, 1) == pytest.approx(1.0)
    assert worst_loss(words, logs, 2) == pytest.approx(2.785, abs=1e-3)
    language = veil.words.ChainWords(FORK, 2, start="s")
    one = veil.words.ExponentialWords(language, 1.0)
    assert one.profile(veil.words.Hamming(2)).pure_epsilon >= worst_loss(
        words, exponential_logs(words, one.rate), 2
    )


@pytest.mark.parametrize("epsilon", quick_first([2.0, 0.5, 6.0]))
@pytest.mark.parametrize("name", ["certified", "balanced", "sequential", "permute-and-flip"])
def test_privacy_at_a_fork(name: str, epsilon: float) -> None:
    check_privacy(name, Recipe("chain", (FORK, "s"), 2), epsilon, 2)


def covering(name: str, recipe: Recipe, epsilon: float = 2.0, radius: int = 1) -> Any:
    """The mechanism, calibrated for shorter words too where that makes a difference."""
    more = {"shorter": True} if name in ("certified", "balanced") else {}
    return MAKERS[name](recipe.build(veil), epsilon, radius=radius, **more)


def logs_of_shorter(name: str, mechanism: Any, words: list[Word]) -> Any:
    """log P(column | row) among shorter words, by the rate (and the weights) of the longest."""
    if name == "balanced":
        short = mechanism.language.of_length(len(words[0]))
        weighted = veil.words.BalancedWords(short, mechanism.epsilon, balance=mechanism.balanced)
        return logs_of(weighted, words)
    return exponential_logs(words, mechanism.rate)


@pytest.mark.parametrize("quick", quick_first([True, False]))
@pytest.mark.parametrize("name", ["certified", "generic", "balanced"])
def test_shorter_words_keep_what_is_promised_for_all(name: str, quick: bool) -> None:
    many = 12 if name == "balanced" else 50
    for seed in range(many // 6 if quick else many):
        recipe = random_recipe(seed, most=100)
        epsilon = (0.3, 1.0, 2.0, 3.0, 5.0, 8.0)[seed % 6]
        for radius in (1, 2):
            mechanism = covering(name, recipe, epsilon, radius)
            assert veil.words.EachWord(mechanism).profile().pure_epsilon == epsilon
            for length in range(1, recipe.length + 1):
                words = recipe.words(length)
                if not 2 <= len(words) <= 100:
                    continue
                loss = worst_loss(words, logs_of_shorter(name, mechanism, words), radius)
                assert loss <= epsilon * (1 + 1e-9), (seed, name, radius, length, loss, epsilon)


@pytest.mark.slow
def test_a_fork_that_the_longest_words_do_not_see() -> None:
    """Words of 5 symbols cannot pass b; those of 2 can, and would lose 2.785 at epsilon 2 and b = 2."""
    support = FORK | {"c": ["c"]}
    language, words = veil.words.ChainWords(support, 5, start="s"), chain_words(support, 2, "s")
    for kind in (veil.words.ExponentialWords, veil.words.BalancedWords):
        alone = kind(language, 2.0, radius=2)
        assert worst_loss(words, exponential_logs(words, alone.rate), 2) > 2.0
        with pytest.raises(InvalidData, match="5 symbols"):
            veil.words.EachWord(alone).sample([list(word) for word in words])
        with pytest.raises(VeilError):
            alone.drawn(np.random.default_rng(1), language.validate([list(words[0])], shorter=True))
        both = kind(language, 2.0, radius=2, shorter=True)
        assert worst_loss(words, exponential_logs(words, both.rate), 2) <= 2.0
        assert len(list(veil.words.EachWord(both).sample([list(word) for word in words]))) == len(words)


@pytest.mark.slow_for("balanced")
@pytest.mark.parametrize("name", ["certified", "balanced", "sequential", "permute-and-flip"])
def test_shorter_words_are_drawn_by_the_rate_of_the_longest(name: str) -> None:
    """What EachWord draws for a short word (alpha 1e-6), so that the tests above look at the right law."""
    recipe = EXAMPLES["chain"]
    mechanism = veil.words.EachWord(covering(name, recipe))
    words = recipe.words(2)
    drawn = list(mechanism.sample([list(words[1])] * 20_000, rng=7))
    assert {len(v) for v in drawn} == {2}
    assert set(drawn) <= set(words)
    if name in ("certified", "permute-and-flip"):
        law = exponential_law if name == "certified" else permute_and_flip_law
        assert fit(drawn, law(words, words[1], mechanism.mechanism.rate)) > ALPHA
        assert fit(drawn, law(words, words[1], 1.1 * mechanism.mechanism.rate)) < ALPHA


# Audits


@dataclass(frozen=True)
class Liar:
    """A mechanism that draws with less noise than it says."""

    claimed: Any
    real: Any
    exact: bool

    def __getattr__(self, name: str) -> Any:
        if name == "is_enumerable":
            return self.exact
        if name in ("distribution", "sample", "log_probabilities"):
            return getattr(self.real, name)
        return getattr(self.claimed, name)


@pytest.mark.slow_for("balanced-chain", "certified-automaton")
@FEW_CASES
def test_audits_find_no_violation_and_find_a_liar(name: str, example: str) -> None:
    """The liar's rate is doubled: found by enumeration and by samples (at confidence 0.999999999)."""
    recipe = EXAMPLES[example]
    words = recipe.words()
    near = distances(words) == 1
    mechanism, weaker = make(name, recipe, 1.5), make(name, recipe, 3.0)
    logs = logs_of(weaker, words)
    losses = {(i, j): np.abs(logs[i] - logs[j]).max() for i, j in zip(*np.nonzero(near), strict=True)}
    i, j = max(losses, key=lambda pair: losses[pair])
    honest = veil.audit(mechanism, words[i], words[j])
    assert honest.exact
    assert not honest.violated
    assert honest.claimed == 1.5
    assert honest.lower <= 1.5 * (1 + 1e-9)
    caught = veil.audit(Liar(mechanism, weaker, True), words[i], words[j])
    assert caught.exact
    assert caught.violated == (losses[i, j] > 1.5 * (1 + 1e-9))
    if name in ("certified", "sequential"):
        assert caught.violated
        sampled = veil.audit(Liar(mechanism, weaker, False), words[i], words[j], samples=40_000, rng=3)
        assert not sampled.exact
        assert sampled.violated
        fair = veil.audit(Liar(mechanism, mechanism, False), words[i], words[j], samples=40_000, rng=3)
        assert not fair.violated


def test_an_audit_of_words_that_are_no_neighbours_is_no_violation() -> None:
    mechanism = veil.words.ExponentialWords(veil.words.FreeWords(2, 5), 1.0)
    try:
        found = veil.audit(mechanism, [0] * 5, [1] * 5)
    except VeilError:
        return
    assert not found.violated


# Draws


@pytest.mark.slow
@FEW_CASES
def test_draws_follow_the_law(name: str, example: str) -> None:
    """Chi-square over all words at alpha 1e-6; the law at a rate 15 % off is rejected."""
    recipe = EXAMPLES[example]
    words = recipe.words()
    word = words[len(words) // 2]
    mechanism, wrong = make(name, recipe, 2.0), make(name, recipe, 2.3)
    drawn = [tuple(row) for row in mechanism.sample(word, rng=11, size=40_000).tolist()]
    assert fit(drawn, mechanism.distribution(word)) > ALPHA
    assert fit(drawn, wrong.distribution(word)) < ALPHA
    # Every word of a batch is drawn for itself: the draws of the last one follow its own law.
    other = words[0]
    batch = [word, other] * 20_000
    rows = [tuple(row) for row in mechanism.sample(batch, rng=12).tolist()]
    assert fit(rows[::2], mechanism.distribution(word)) > ALPHA
    assert fit(rows[1::2], mechanism.distribution(other)) > ALPHA
    assert fit(rows[::2], mechanism.distribution(other)) < ALPHA


@pytest.mark.parametrize(("length", "radius"), [(3, 1), (4, 2)])
def test_what_the_staircase_draws_is_private(length: int, radius: int) -> None:
    """By samples, at confidence 0.999999999: P(w | w) against P(w | w') is all that has to be looked at."""
    mechanism = veil.words.StaircaseWords(veil.words.FreeWords(3, length), 2.0, radius=radius)
    word, other = [0] * length, [1] * radius + [0] * (length - radius)
    assert not veil.audit(Liar(mechanism, mechanism, False), word, other, samples=40_000, rng=1).violated


@FEW_CASES
def test_pairs_of_draws_are_independent(name: str, example: str) -> None:
    """The distances of neighbours in a batch: a table of counts, alpha 1e-6."""
    recipe = EXAMPLES[example]
    word = recipe.words()[0]
    drawn = make(name, recipe, 2.0).sample(word, rng=5, size=20_000)
    errors = np.minimum((drawn != np.array(word)).sum(axis=1), 2)
    table = np.zeros((3, 3))
    np.add.at(table, (errors[::2], errors[1::2]), 1)
    table = table[np.ix_(table.sum(axis=1) > 0, table.sum(axis=0) > 0)]
    assert stats.chi2_contingency(table).pvalue > ALPHA


@FEW_CASES
def test_seeds_shapes_and_feasibility(name: str, example: str) -> None:
    recipe = EXAMPLES[example]
    words = recipe.words()
    mechanism, n = make(name, recipe, 0.1), recipe.length
    one = mechanism.sample(words[0], rng=1)
    assert isinstance(one, tuple)
    assert one == mechanism.sample(words[0], rng=1) == mechanism.sample(list(words[0]), rng=1)
    assert mechanism.sample(words[0], rng=1, size=5).shape == (5, n)
    assert mechanism.sample(words[:3], rng=1).shape == (3, n)
    assert mechanism.sample(words[:3], rng=1, size=5).shape == (5, 3, n)
    assert mechanism.sample(words[:1], rng=1).shape == (1, n)
    generator = np.random.default_rng(4)
    first, second = (mechanism.sample(words[0], rng=generator, size=50) for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, mechanism.sample(words[0], rng=np.random.default_rng(4), size=50))
    secret = [mechanism.sample(words[0], size=50) for _ in range(2)]
    assert not np.array_equal(*secret)
    everything = mechanism.sample(words, size=30).reshape(-1, n)
    assert {tuple(row) for row in everything.tolist()} <= set(words)
    for size in (0, -1, 1.5, "2"):
        with pytest.raises(InvalidArgument, match="size"):
            mechanism.sample(words[0], size=size)
    with pytest.raises(InvalidData):
        mechanism.sample([*words[0], words[0][0]])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", quick_first([range(15), range(15, 60)]))
def test_feasible_for_random_languages(seeds: range) -> None:
    for seed in seeds:
        recipe = random_recipe(seed)
        words = recipe.words()
        for name in ("certified", "sequential", "permute-and-flip"):
            drawn = make(name, recipe, 0.05, 1).sample(words, size=10, rng=seed).reshape(-1, recipe.length)
            assert {tuple(row) for row in drawn.tolist()} <= set(words)


def test_labels_come_back_as_they_went_in() -> None:
    for labels in ([(0, 1), (1, 0)], [3, 7], ["x", "yy"], ["a", 1], [0.5, 1.5]):
        language = veil.words.FreeWords(labels, 2)
        mechanism = veil.words.ExponentialWords(language, 1.0)
        assert set(mechanism.sample([labels[0], labels[1]], rng=1)) <= set(labels)
        drawn = mechanism.sample([labels[0], labels[1]], rng=1, size=20)
        assert {symbol for row in drawn.tolist() for symbol in row} == set(labels)


# Parameters


@EACH_NAME
def test_parameters_are_checked_and_kept(name: str) -> None:
    language = veil.words.FreeWords("abc", 3)
    mechanism = MAKERS[name](language, 2, radius=2)
    assert (mechanism.epsilon, mechanism.radius, mechanism.language) == (2.0, 2, language)
    assert mechanism.adjacency == veil.words.Hamming(2)
    for epsilon in (0, -1.0, math.nan, math.inf, "1", None, True, 1e9):
        with pytest.raises(InvalidArgument, match="epsilon"):
            MAKERS[name](language, epsilon)
    for radius in (0, -1, 1.5, "1", None, True):
        with pytest.raises(InvalidArgument, match="radius"):
            MAKERS[name](language, 1.0, radius=radius)
    with pytest.raises(InvalidArgument, match="language"):
        MAKERS[name]("abc", 1.0)
    with pytest.raises(InvalidArgument, match="adjacency"):
        mechanism.profile(veil.vectors.Transfer(0.1))
    with pytest.raises(InvalidArgument, match="calibration"):
        veil.words.ExponentialWords(language, 1.0, calibration="best")


@EACH_CASE
def test_a_description_builds_the_same_mechanism(name: str, example: str) -> None:
    mechanism, kind = make(name, EXAMPLES[example], 1.5, 2), kind_named("words")
    for made in (mechanism, veil.words.EachWord(mechanism, words_each=3)):
        again = mechanism_from(made.describe(), kind)
        assert again == made
        assert again.describe() == made.describe()
        assert again.profile().pure_epsilon == made.profile().pure_epsilon
    rebuilt: Any = mechanism_from(mechanism.describe(), kind)
    assert rebuilt.rate == mechanism.rate


@pytest.mark.slow
def test_extremes_of_epsilon_and_radius() -> None:
    recipe = EXAMPLES["chain from a start"]
    words = recipe.words()
    for name in ("certified", "generic", "balanced", "sequential", "permute-and-flip"):
        for epsilon, radius in ((1e-6, 1), (1e-3, 50), (60.0, 1), (400.0, 2)):
            mechanism = make(name, recipe, epsilon, radius)
            assert mechanism.certified_epsilon <= epsilon
            pmf = mechanism.distance_pmf(words[0])
            assert np.isfinite(pmf).all()
            assert abs(pmf.sum() - 1.0) < 1e-9
            assert tuple(mechanism.sample(words[0], rng=1)) in set(words)
            if epsilon >= 60.0:
                assert pmf[0] > 1.0 - 1e-9


def test_words_each_adds_up() -> None:
    mechanism = veil.words.ExponentialWords(veil.words.FreeWords("ab", 4), 0.25)
    each = veil.words.EachWord(mechanism, words_each=3)
    assert each.profile().pure_epsilon == 0.75
    assert each.adjacency == veil.words.Hamming(1, words_each=3)
    assert mechanism.profile(veil.words.Hamming(1, words_each=2)).pure_epsilon == 0.5
    for words_each in (0, 1.5, None):
        with pytest.raises(InvalidArgument, match="words_each"):
            veil.words.EachWord(mechanism, words_each=words_each)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="mechanism"):
        veil.words.EachWord(each)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="size"):
        each.sample(["abab"], size=3)


@pytest.mark.slow
def test_plans_name_the_best_for_made_up_words() -> None:
    language = EXAMPLES["chain from a start"].build(veil)
    plan = plan_words(language, 2.0)
    errors = [row.error for row in plan.rows if row.error is not None]
    assert errors == sorted(errors)
    assert {row.name for row in plan.rows} >= {"exponential", "sequential", "permute-and-flip", "generic"}
    walks = language.walks(100, rng=5)
    for row in plan.rows:
        if row.mechanism is not None:
            own = float(np.mean([row.mechanism.expected_error(word) for word in walks]))
            assert own == pytest.approx(row.error, rel=1e-9)
    words = language.enumerate()[:2]
    given = plan_words(language, 2.0, examples=words)
    mean = np.mean([veil.words.SequentialWords(language, 2.0).expected_error(word) for word in words])
    assert next(row.error for row in given.rows if row.name == "sequential") == pytest.approx(mean)
    with pytest.raises(InvalidArgument, match="mechanism"):
        plan_words(language, 2.0, names=["best"])
    free = plan_words(veil.words.FreeWords(2, 5), 5.0, radius=2)
    assert free.best.name == "staircase"


@pytest.mark.slow
def test_laws_of_a_larger_language_sum_to_one() -> None:
    """40 states, 30 symbols: no enumeration, but the law of distances must still be one."""
    random = np.random.default_rng(2)
    support = {i: sorted(random.choice(40, 4, replace=False).tolist()) for i in range(40)}
    language = veil.words.ChainWords(support, 30, start=0)
    word = language.walks(1, rng=3)[0]
    for name in ("generic", "sequential", "permute-and-flip"):
        mechanism = MAKERS[name](language, 4.0)
        pmf = mechanism.distance_pmf(word)
        assert abs(pmf.sum() - 1.0) < 1e-9
        assert mechanism.expected_error(word) == pytest.approx(float(pmf @ np.arange(31)), rel=1e-8)
        drawn = mechanism.sample(word, rng=8, size=4000)
        errors = (drawn != np.array(word)).sum(axis=1)
        law: Law = {(j,): float(p) for j, p in enumerate(pmf)}
        assert fit([(int(e),) for e in errors], law) > ALPHA
