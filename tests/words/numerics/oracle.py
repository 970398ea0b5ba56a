"""Words by enumeration: what tables and samplers of words are compared with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from veil.core.arrays import Ints
from veil.core.numerics.rounding import float_above
from veil.words.numerics.counts import count_roundings
from veil.words.numerics.graph import WordGraph, graph_of

Word = tuple[int, ...]


def ring(length: int = 4) -> WordGraph:
    """Five states; some have two ways on, some three."""
    return graph_of([[0, 1, 2], [2, 3], [0, 3, 4], [0, 4], [1, 2, 4]], length)


def automaton(length: int = 5) -> WordGraph:
    """Six nodes that read three symbols, with a dead end and few last nodes."""
    successors = [[1, 2, 3], [0, 4], [2, 3, 5], [1, 4], [0, 5], []]
    starts = np.zeros(7, dtype=np.int64)
    np.cumsum([len(row) for row in successors], out=starts[1:])
    return WordGraph(
        length,
        3,
        np.array([0, 1, 2, 0, 2, 1], dtype=np.int32),
        starts,
        np.array([z for row in successors for z in row], dtype=np.int32),
        np.array([True, True, True, False, False, False]),
        np.array([True, False, True, False, True, True]),
    )


def weighted(graph: WordGraph) -> WordGraph:
    """With weights that are no powers of two."""
    rng = np.random.default_rng(8)
    return graph.weighted(rng.uniform(0.1, 3.0, graph.edges), rng.uniform(0.1, 3.0, graph.size))


def all_words(graph: WordGraph) -> dict[Word, Fraction]:
    """Every word of the graph, with its exact weight."""
    found: dict[Word, Fraction] = {}

    def extend(nodes: list[int], weight: Fraction) -> None:
        if len(nodes) == graph.length:
            if graph.last[nodes[-1]]:
                word = tuple(int(graph.symbol[node]) for node in nodes)
                assert word not in found, "a word has one path at most"
                found[word] = weight
            return
        for edge in range(graph.starts[nodes[-1]], graph.starts[nodes[-1] + 1]):
            extend([*nodes, int(graph.targets[edge])], weight * Fraction(float(graph.weight[edge])))

    for node in np.flatnonzero(graph.first).tolist():
        extend([node], Fraction(float(graph.first_weight[node])))
    return found


def distance(word: Word, other: Word) -> int:
    return sum(a != b for a, b in zip(word, other, strict=True))


def exponential_law(graph: WordGraph, word: Word, decay: float) -> dict[Word, Fraction]:
    weights = {v: kappa * Fraction(decay) ** distance(v, word) for v, kappa in all_words(graph).items()}
    total = sum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def permute_and_flip_law(graph: WordGraph, word: Word, rate: float) -> dict[Word, float]:
    """p_v times the integral of the product over all other words of 1 - p t, a polynomial, exactly."""
    words = list(all_words(graph))
    flips = [Fraction(math.exp(-rate * distance(v, word))) for v in words]
    law = {}
    for v in range(len(words)):
        polynomial = [Fraction(1)]
        for other, p in enumerate(flips):
            if other != v:
                shifted = [Fraction(0), *(-p * c for c in polynomial)]
                polynomial = [a + b for a, b in zip([*polynomial, Fraction(0)], shifted, strict=True)]
        law[words[v]] = float(flips[v] * sum(c / (k + 1) for k, c in enumerate(polynomial)))
    return law


def sequential_law(graph: WordGraph, word: Word, decay: float, targets: Ints) -> dict[Word, float]:
    """By following every answer."""
    found: dict[Word, float] = {}

    def extend(nodes: list[int], probability: float) -> None:
        t = len(nodes)
        if t == graph.length:
            answer = tuple(int(graph.symbol[node]) for node in nodes)
            found[answer] = found.get(answer, 0.0) + probability
            return
        ahead = (
            np.flatnonzero(graph.first) if t == 0 else np.unique(graph.targets[graph.sources == nodes[-1]])
        )
        ways = [int(z) for z in ahead if graph.completable(graph.length - 1 - t)[z]]
        target = int(targets[graph.size if t == 0 else nodes[-1], word[t]])
        if target not in ways:
            target = min(ways)
        total = 1.0 + (len(ways) - 1) * decay
        for z in ways:
            extend([*nodes, z], probability * (1.0 if z == target else decay) / total)

    extend([], 1.0)
    return found


def by_distance(law: dict[Word, float] | dict[Word, Fraction], word: Word) -> list[float]:
    found = [0.0] * (len(word) + 1)
    for v, probability in law.items():
        found[distance(v, word)] += float(probability)
    return found


def exact_distance_counts(graph: WordGraph, word: Ints) -> list[int]:
    """The numbers of words at the distances 0 ... n, in whole numbers."""
    path_ends = [[1 if graph.last[x] else 0] + [0] * graph.length for x in range(graph.size)]
    step = [graph.targets[graph.starts[x] : graph.starts[x + 1]].tolist() for x in range(graph.size)]

    def summed(nodes: list[int], ahead: list[list[int]], read: int) -> list[int]:
        total = [0] * (graph.length + 1)
        for z in nodes:
            wrong = int(graph.symbol[z] != read)
            for errors in range(graph.length + 1 - wrong):
                total[errors + wrong] += ahead[z][errors]
        return total

    for t in range(graph.length - 1, 0, -1):
        path_ends = [summed(step[x], path_ends, int(word[t])) for x in range(graph.size)]
    return summed(np.flatnonzero(graph.first).tolist(), path_ends, int(word[0]))


def count_error(graph: WordGraph) -> float:
    """The relative error of a number of words, at most; 0 for numbers that are below 2^53."""
    unit = Fraction(1, 2**53)
    roundings = count_roundings(graph) * unit
    return float_above(roundings / (1 - roundings))
