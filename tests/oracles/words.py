"""Languages and word mechanisms by enumeration, from their definitions alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Word = tuple[Hashable, ...]
Law = dict[Word, float]
Floats = NDArray[np.float64]

# Every statistical test accepts the truth with probability 1 - 1e-6.
ALPHA = 1e-6


# Languages


def free_words(symbols: Sequence[Hashable], length: int) -> list[Word]:
    return list(product(symbols, repeat=length))


def chain_words(support: Mapping[Any, Iterable[Any]], length: int, start: Any = None) -> list[Word]:
    """The paths of `length` states; with a start, those that go on from it."""
    ahead = {state: list(dict.fromkeys(row)) for state, row in support.items()}
    states = list(dict.fromkeys([*ahead, *(end for row in ahead.values() for end in row)]))
    paths: list[Word] = [(state,) for state in (states if start is None else ahead.get(start, []))]
    for _ in range(length - 1):
        paths = [(*path, end) for path in paths for end in ahead.get(path[-1], [])]
    return paths


def automaton_words(
    transitions: Mapping[tuple[Any, Any], Iterable[Any]], start: Any, accepting: Iterable[Any], length: int
) -> list[Word]:
    """Every word over the alphabet is tried: is one of the states it may lead to accepting?"""
    alphabet = list(dict.fromkeys(symbol for _, symbol in transitions))
    ends = set(accepting)

    def accepted(word: Word) -> bool:
        states = {start}
        for symbol in word:
            states = {end for state in states for end in transitions.get((state, symbol), ())}
        return bool(states & ends)

    return [word for word in product(alphabet, repeat=length) if accepted(word)]


@dataclass(frozen=True)
class Recipe:
    """How to build a random language, and its words at every length."""

    kind: str
    arguments: tuple[Any, ...]
    length: int

    def words(self, length: int | None = None) -> list[Word]:
        n = self.length if length is None else length
        if self.kind == "chain":
            support, start = self.arguments
            return chain_words(support, n, start)
        if self.kind == "automaton":
            moves, begin, accepting = self.arguments
            return automaton_words(moves, begin, accepting, n)
        return free_words(self.arguments[0], n)

    def build(self, veil: Any) -> Any:
        if self.kind == "chain":
            support, start = self.arguments
            return veil.words.ChainWords(support, self.length, start=start)
        if self.kind == "automaton":
            return veil.words.AutomatonWords(*self.arguments, self.length)
        return veil.words.FreeWords(self.arguments[0], self.length)


def random_recipe(seed: int, *, most: int = 150, longest: int = 5) -> Recipe:
    """A language of 2 to `most` words: chains with dead ends, ambiguous automata, now and then all words."""
    random = Random(seed)
    while True:
        length = random.randint(1, longest)
        kind = random.choice(["chain", "chain", "chain", "automaton", "automaton", "free"])
        if kind == "free":
            recipe = Recipe(kind, ("abc"[: random.randint(2, 3)],), length)
        elif kind == "chain":
            states = "abcdefg"[: random.randint(2, 7)]
            density = random.uniform(0.15, 0.9)
            support = {s: [t for t in states if random.random() < density] for s in states}
            recipe = Recipe(kind, (support, random.choice([None, states[0]])), length)
        else:
            nodes, symbols = range(random.randint(1, 4)), "xyz"[: random.randint(2, 3)]
            density = random.uniform(0.2, 0.6)
            moves = {(q, a): [r for r in nodes if random.random() < density] for q in nodes for a in symbols}
            moves = {key: ends for key, ends in moves.items() if ends}
            if len({a for _, a in moves}) < 2 or not any(q == 0 for q, _ in moves):
                continue
            known = {q for q, _ in moves} | {r for ends in moves.values() for r in ends}
            accepting = [q for q in sorted(known) if random.random() < 0.6]
            if not accepting:
                continue
            recipe = Recipe(kind, (moves, 0, accepting), length)
        if 2 <= len(recipe.words()) <= most:
            return recipe


# Laws


def distance(first: Sequence[Any], second: Sequence[Any]) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


def distances(words: Sequence[Word]) -> NDArray[np.int64]:
    """The Hamming distance between all words."""
    places = {symbol: i for i, symbol in enumerate(dict.fromkeys(s for word in words for s in word))}
    codes = np.array([[places[symbol] for symbol in word] for word in words])
    return np.asarray((codes[:, None, :] != codes[None, :, :]).sum(axis=2))


def exponential_law(words: Sequence[Word], word: Word, rate: float, weight: Law | None = None) -> Law:
    """P(v) proportional to weight(v) exp(-rate d(v, w))."""
    masses = {v: (1.0 if weight is None else weight[v]) * math.exp(-rate * distance(v, word)) for v in words}
    total = math.fsum(masses.values())
    return {v: mass / total for v, mass in masses.items()}


def _power(rate: float, errors: int) -> Fraction:
    digits = Context(prec=40)
    return Fraction(digits.exp(digits.multiply(Decimal(-errors), Decimal(rate))))


def permute_and_flip_law(words: Sequence[Word], word: Word, rate: float) -> Law:
    """Take the words in random order, each with probability exp(-rate d); the first that is taken is it.

    By recursion over how many words of each distance are left. Only positive numbers are added, in 40 digits.
    """
    errors = [distance(v, word) for v in words]
    counts = tuple(errors.count(one) for one in range(len(word) + 1))
    masses = _permute_and_flip_masses(counts, rate)
    return {v: float(masses[one] / counts[one]) for v, one in zip(words, errors, strict=True)}


@cache
def _permute_and_flip_masses(counts: tuple[int, ...], rate: float) -> tuple[Decimal, ...]:
    """The probability of every distance, given how many words there are of each."""
    n, digits = len(counts) - 1, Context(prec=40)
    taken = [digits.exp(digits.multiply(Decimal(-errors), Decimal(rate))) for errors in range(n + 1)]
    passed = [digits.subtract(Decimal(1), share) for share in taken]

    @cache
    def chosen(left: tuple[int, ...]) -> tuple[Decimal, ...]:
        """The probability of every distance, given the words that are still to be looked at."""
        total = sum(left)
        found = [Decimal(0)] * (n + 1)
        for errors, many in enumerate(left):
            if not many:
                continue
            found[errors] = digits.fma(Decimal(many), taken[errors], found[errors])
            if errors:
                going_on = digits.multiply(Decimal(many), passed[errors])
                rest = (*left[:errors], many - 1, *left[errors + 1 :])
                found = [digits.fma(going_on, p, q) for p, q in zip(chosen(rest), found, strict=True)]
        return tuple(digits.divide(mass, Decimal(total)) for mass in found)

    return chosen(counts)


def permute_and_flip_by_integral(words: Sequence[Word], word: Word, rate: float) -> Law:
    """The same by its polynomial: P(v) = p_v * integral over (0, 1) of prod over the others of (1 - p t)."""
    taken = {v: _power(rate, distance(v, word)) for v in words}
    law = {}
    for errors in {distance(v, word) for v in words}:
        one = next(v for v in words if distance(v, word) == errors)
        polynomial = [Fraction(1)]
        for v in words:
            if v != one:
                polynomial = [
                    (polynomial[k] if k < len(polynomial) else 0) - taken[v] * (polynomial[k - 1] if k else 0)
                    for k in range(len(polynomial) + 1)
                ]
        mass = taken[one] * sum(c / (k + 1) for k, c in enumerate(polynomial))
        law.update({v: float(mass) for v in words if distance(v, word) == errors})
    return law


def least_error_of_free_words(length: int, alphabet: int, radius: int, epsilon: float) -> float:
    """The least expected error of any epsilon-private response over all words, by linear programming.

    By symmetry the probability of a word depends on its distance alone; words whose distances differ by up to
    the radius may differ by exp(epsilon).
    """
    counts = [math.comb(length, j) * (alphabet - 1) ** j for j in range(length + 1)]
    limits = []
    for i in range(length + 1):
        for j in range(length + 1):
            if i != j and abs(i - j) <= radius:
                row = [0.0] * (length + 1)
                # In units of the whole class, q_i = N_i p_i, so that the numbers are alike.
                row[i], row[j] = 1.0 / counts[i], -math.exp(epsilon) / counts[j]
                limits.append([entry * counts[i] for entry in row])
    found = optimize.linprog(
        range(length + 1), A_ub=limits, b_ub=[0.0] * len(limits), A_eq=[[1.0] * (length + 1)], b_eq=[1.0]
    )
    return float(found.fun)


def by_distance(law: Mapping[Word, float], word: Word) -> Floats:
    """The probability of 0, 1, ..., n wrong symbols."""
    found = np.zeros(len(word) + 1)
    for v, mass in law.items():
        found[distance(v, word)] += mass
    return found


def mean_error(law: Mapping[Word, float], word: Word) -> float:
    return float(by_distance(law, word) @ np.arange(len(word) + 1))


# Privacy


def exponential_logs(words: Sequence[Word], rate: float, weights: Floats | None = None) -> Floats:
    """log P(column | row) of the exponential mechanism for all inputs and outputs."""
    logs = -rate * distances(words) + (0.0 if weights is None else np.log(weights)[None, :])
    top = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - top - np.log(np.exp(logs - top).sum(axis=1, keepdims=True)))


def worst_loss(words: Sequence[Word], logs: Floats, radius: int) -> float:
    """The largest log ratio between inputs at most `radius` apart, over all outputs."""
    near = distances(words) <= radius
    return max(float(np.abs(logs[near[i]] - logs[i]).max()) for i in range(len(words)))


def logs_of(mechanism: Any, words: Sequence[Word]) -> Floats:
    """log P(column | row) as the mechanism itself states it."""
    rows = []
    for word in words:
        law = mechanism.distribution(word)
        rows.append([math.log(law[v]) for v in words])
    return np.array(rows)


# Samples


def fit(drawn: Iterable[Word], law: Mapping[Word, float]) -> float:
    """The p-value of a chi-square test; outcomes that expect fewer than 10 are joined. Unknown ones: 0."""
    seen = Counter(map(tuple, drawn))
    if not set(seen) <= set(law):
        return 0.0
    total = sum(seen.values())
    observed, expected, rare_seen, rare = [], [], 0, 0.0
    for word, mass in law.items():
        if mass * total >= 10.0:
            observed.append(seen.get(word, 0))
            expected.append(mass * total)
        else:
            rare_seen += seen.get(word, 0)
            rare += mass * total
    if rare >= 10.0:
        observed.append(rare_seen)
        expected.append(rare)
    elif rare_seen > stats.poisson.isf(ALPHA / 10.0, max(rare, 1e-12)):
        return 0.0
    if len(observed) < 2:
        return 1.0
    scaled = np.array(expected) * (sum(observed) / math.fsum(expected))
    return float(stats.chisquare(observed, scaled).pvalue)
