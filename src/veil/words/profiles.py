"""Public stand-ins for the words of a language, on which plans are made: walks of several habits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from veil.core.arrays import Ints
from veil.words.language import FreeWords, Language
from veil.words.numerics.graph import WordGraph
from veil.words.word_batch import WordBatch

_WALK_SEED, _SEED = 5, 8
# Walks that errors are averaged over, and how many steps of computing they may take together.
_WALKS, BUDGET = 100, 2_000_000_000
# Words of which the one nearest to the others is taken for an answer that uses no data.
_CANDIDATES = 100
# Words of each habit, and how many steps all of them may take together.
_WORDS, _STEPS = 30, 60_000
USUAL = "random walks"

# How much a walk that has read these symbols wants each of the nodes that it may go to.
Habit = Callable[[WordGraph, list[int], Ints], Any]


def _onward(graph: WordGraph, read: list[int], ahead: Ints) -> Any:
    return -np.isin(graph.symbol[ahead], read).astype(np.int64)


def _to_and_fro(graph: WordGraph, read: list[int], ahead: Ints) -> Any:
    return graph.symbol[ahead] == read[-2] if len(read) > 1 else np.zeros(len(ahead))


def _to_many_ways(graph: WordGraph, read: list[int], ahead: Ints) -> Any:
    return np.diff(graph.starts)[ahead]


def _to_few_ways(graph: WordGraph, read: list[int], ahead: Ints) -> Any:
    return -np.diff(graph.starts)[ahead]


HABITS: Mapping[str, Habit] = {
    "walks that do not come back where they can go on": _onward,
    "walks to and fro": _to_and_fro,
    "walks to where most symbols may follow": _to_many_ways,
    "walks to where fewest symbols may follow": _to_few_ways,
}


def made_up_words(language: Language) -> WordBatch:
    """Random walks, as many as a plan has time for; the same every time."""
    steps = language.length * max(1, language.graph.edges)
    return language.walks(int(np.clip(BUDGET // steps, 1, _WALKS)), rng=_WALK_SEED)


def no_data_error(language: Language, words: WordBatch | None = None) -> float:
    """The mean number of wrong symbols if always the same word is released, whatever the true one is.

    That word is the one of many random walks that is nearest to other random walks on average: the best
    answer that uses no data, as nearly as that many tell. words: those to be hidden; None for random walks.
    """
    if isinstance(language, FreeWords):
        # Of words without constraints each is as good, and one drawn at random.
        return language.length * (1.0 - 1.0 / len(language.labels))
    some = language.walks(_CANDIDATES, rng=_WALK_SEED + 1).rows
    others = language.walks(_CANDIDATES, rng=_WALK_SEED + 2).rows
    away = np.array([(others != word).sum() for word in some])
    nearest = some[int(np.argmin(away))]
    hidden = language.walks(10 * _CANDIDATES, rng=_WALK_SEED + 3) if words is None else words
    return float((hidden.rows != nearest).sum(axis=1).mean())


def word_profiles(language: Language) -> dict[str, WordBatch]:
    """Words of each habit; none where every word is as far from the others, or where words are too long."""
    count = min(_WORDS, _STEPS // (len(HABITS) * language.length))
    if isinstance(language, FreeWords) or not count:
        return {}
    return {words: _walks(language, habit, count) for words, habit in HABITS.items()}


def _walks(language: Language, habit: Habit, count: int) -> WordBatch:
    """Random walks that always take what they want most of what may come next."""
    rng, graph = np.random.default_rng(_SEED), language.graph
    rows = np.empty((count, language.length), dtype=np.int32)
    firsts = np.flatnonzero(graph.first).astype(np.int32)
    for row in rows:
        read: list[int] = []
        ahead = firsts
        for t in range(language.length):
            ahead = ahead[graph.completable(language.length - 1 - t)[ahead]]
            # The beginning is anywhere, so that there are different walks.
            wanted = habit(graph, read, ahead) if t else np.zeros(len(ahead))
            at = int(rng.choice(ahead[wanted == np.max(wanted)]))
            row[t] = graph.symbol[at]
            read.append(int(row[t]))
            ahead = graph.targets[graph.starts[at] : graph.starts[at + 1]]
    return WordBatch.of_rows(language.labels, rows)
