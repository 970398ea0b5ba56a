"""Random words of a language, and a local search for the changes of one symbol that move log Z most."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.words.numerics.balance_kernels import fill_tables
from veil.words.numerics.graph import WordGraph

# Attempts to change a random word in one symbol.
_TRIES = 60


def random_pairs(graph: WordGraph, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Random words, and for each another one that differs in one symbol."""
    first, alive = _first(graph), alive_nodes(graph)
    uniform = rng.random((count, graph.length))
    words = random_words(graph.starts, graph.targets, graph.symbol, first, alive, uniform)
    changed = random_changes(
        graph.starts, graph.targets, graph.symbol, first, alive, graph.step, graph.last, words,
        rng.random((count, _TRIES, 2)),
    )  # fmt: skip
    return words, changed


def _first(graph: WordGraph) -> Ints:
    return np.flatnonzero(graph.first).astype(np.int32)


def worst_changes(
    graph: WordGraph, weighted: WordGraph, decay: float, starts: int, attempts: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Floats]:
    """Words, changes of one symbol of each, and |log Z(w') / Z(w)|: the largest that a local search finds.

    `weighted` has the same words as `graph`. An estimate from below; the certificate bounds it from above.
    """
    first, alive = _first(graph), alive_nodes(graph)
    uniform = rng.random((starts, graph.length))
    words = random_words(graph.starts, graph.targets, graph.symbol, first, alive, uniform)
    changed = words.copy()
    opening = np.where(weighted.first, weighted.first_weight, 0.0)
    found = climb(
        weighted.starts, weighted.targets, weighted.symbol, opening, weighted.last, weighted.weight, decay,
        graph.starts, graph.targets, graph.symbol, first, alive, graph.step, graph.last, words, changed,
        rng.random((starts, attempts, 5)),
    )  # fmt: skip
    return words, changed, found


def alive_nodes(graph: WordGraph) -> Booleans:
    """alive[t, x]: whether a path that is in node x at position t can be completed."""
    return np.stack([graph.completable(graph.length - 1 - t) for t in range(graph.length)])


@compiled
def is_word(step: Ints, last: Booleans, word: Ints) -> bool:
    """Whether the word has a path in the graph with this table of steps."""
    at = len(step) - 1
    for symbol in word:
        at = step[at, symbol]
        if at < 0:
            return False
    return bool(last[at])


@compiled
def walk_on(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first: Ints,
    alive: Booleans,
    at: int,
    t: int,
    uniform: float,
) -> int:
    """A random node for position t after node `at` (negative: none yet) that can be completed; -1: none."""
    count = 0
    many = len(first) if at < 0 else starts[at + 1] - starts[at]
    for j in range(many):
        node = first[j] if at < 0 else targets[starts[at] + j]
        count += alive[t, node]
    left = int(uniform * count)
    for j in range(many):
        node = first[j] if at < 0 else targets[starts[at] + j]
        if alive[t, node]:
            if left == 0:
                return int(node)
            left -= 1
    return -1


@compiled
def random_words(
    starts: Places, targets: Ints, symbol: Ints, first: Ints, alive: Booleans, uniform: Floats
) -> Ints:
    """Random walks: a row of uniform numbers a word. alive[t, x]: whether node x at t can be completed."""
    words = np.empty(uniform.shape, dtype=np.int32)
    for i in range(len(uniform)):
        at = -1
        for t in range(len(uniform[i])):
            at = walk_on(starts, targets, symbol, first, alive, at, t, uniform[i, t])
            words[i, t] = symbol[at]
    return words


@compiled
def random_changes(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first: Ints,
    alive: Booleans,
    step: Ints,
    last: Booleans,
    words: Ints,
    uniform: Floats,
) -> Ints:
    """For every word another one that differs in one symbol, by as many attempts as there are numbers.

    Without success the word itself. uniform[i, j]: where attempt j changes word i, and to what.
    """
    changed = words.copy()
    length = words.shape[1]
    for i in range(len(words)):
        for j in range(uniform.shape[1]):
            t = int(uniform[i, j, 0] * length)
            at = -1
            for before in range(t):
                at = step[at if at >= 0 else len(step) - 1, words[i, before]]
            node = walk_on(starts, targets, symbol, first, alive, at, t, uniform[i, j, 1])
            if symbol[node] == words[i, t]:
                continue
            changed[i, t] = symbol[node]
            if is_word(step, last, changed[i]):
                break
            changed[i, t] = words[i, t]
    return changed


@compiled
def worst_change(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first_weight: Floats,
    last: Booleans,
    weight: Floats,
    decay: float,
    step: Ints,
    word_ends: Booleans,
    word: Ints,
    forward: Floats,
    backward: Floats,
    mass: Floats,
    changed: Ints,
) -> float:
    """The largest |log Z(w') / Z(w)| over the changes of one symbol of the word; `changed` is set to that w'.

    step, word_ends: of a graph of the same words. mass: working space, a number for every symbol.
    """
    fill_tables(starts, targets, symbol, first_weight, last, weight, decay, word, forward, backward)
    worst = 0.0
    changed[:] = word
    place, other = 0, word[0]
    for t in range(len(word)):
        # The mass of all words by their symbol at t, as if that symbol cost nothing.
        mass[:] = 0.0
        for x in range(len(symbol)):
            passes = forward[t, x] * backward[t, x]
            mass[symbol[x]] += passes if symbol[x] == word[t] else passes / decay
        rest = decay * mass.sum()
        here = np.log(rest + (1.0 - decay) * mass[word[t]])
        for y in range(len(mass)):
            if y != word[t] and mass[y] > 0.0:
                change = abs(np.log(rest + (1.0 - decay) * mass[y]) - here)
                if change > worst:
                    changed[t] = y
                    if is_word(step, word_ends, changed):
                        worst, place, other = change, t, y
                    changed[t] = word[t]
    changed[place] = other
    return worst


@compiled
def climb(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first_weight: Floats,
    last: Booleans,
    weight: Floats,
    decay: float,
    base_starts: Places,
    base_targets: Ints,
    base_symbol: Ints,
    first: Ints,
    alive: Booleans,
    step: Ints,
    word_ends: Booleans,
    words: Ints,
    changed: Ints,
    uniform: Floats,
) -> Floats:
    """Local search for words with a change that moves log Z far: rewrites words and changed, returns how far.

    The arguments from base_starts on are of a graph of the same words. Every attempt rewrites up to three
    neighbouring symbols: uniform[i, j] says where and how for attempt j at word i.
    """
    length, size = words.shape[1], len(symbol)
    forward, backward = np.empty((length, size)), np.empty((length, size))
    mass = np.empty(step.shape[1])
    trial, trial_changed = np.empty(length, dtype=np.int32), np.empty(length, dtype=np.int32)
    answer = np.empty(len(words))
    for i in range(len(words)):
        answer[i] = worst_change(
            starts, targets, symbol, first_weight, last, weight, decay, step, word_ends, words[i],
            forward, backward, mass, changed[i],
        )  # fmt: skip
        for j in range(uniform.shape[1]):
            begin = int(uniform[i, j, 0] * length)
            end = min(length, begin + 1 + int(uniform[i, j, 1] * 3.0))
            trial[:] = words[i]
            at = -1
            for t in range(end):
                if t < begin:
                    at = step[at if at >= 0 else len(step) - 1, trial[t]]
                else:
                    at = walk_on(
                        base_starts,
                        base_targets,
                        base_symbol,
                        first,
                        alive,
                        at,
                        t,
                        uniform[i, j, 2 + t - begin],
                    )
                    trial[t] = base_symbol[at]
            same = True
            for t in range(begin, end):
                same = same and trial[t] == words[i, t]
            if same or not is_word(step, word_ends, trial):
                continue
            found = worst_change(
                starts, targets, symbol, first_weight, last, weight, decay, step, word_ends, trial,
                forward, backward, mass, trial_changed,
            )  # fmt: skip
            if found > answer[i]:
                answer[i] = found
                words[i, :] = trial
                changed[i, :] = trial_changed
    return answer
