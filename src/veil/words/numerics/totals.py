"""The normaliser of one word, for looking at laws rather than drawing from them."""

from __future__ import annotations

import math

import numpy as np

from veil.core.arrays import Floats, Ints
from veil.words.numerics.channel import Channel
from veil.words.numerics.graph import WordGraph


def log_total(graph: WordGraph, word: Ints, decay: float) -> float:
    """log Z(w): the sum of weight(v) decay^d(v, w) over all words v as long as w."""
    ahead: Floats = graph.last.astype(np.float64)
    scale = 0.0
    for t in range(len(word) - 1, 0, -1):
        held = ahead * np.where(graph.symbol == word[t], 1.0, decay)
        sums = np.bincount(graph.sources, graph.weight * held[graph.targets], minlength=graph.size)
        top = float(sums.max())
        ahead, scale = sums / top, scale + math.log(top)
    begin = graph.first * graph.first_weight * np.where(graph.symbol == word[0], 1.0, decay)
    return math.log(float(begin @ ahead)) + scale


def log_weights(graph: WordGraph, words: Ints) -> Floats:
    """The logarithm of each word's own weight; zero unless the graph is weighted."""
    found = np.zeros(len(words))
    if not graph.is_weighted:
        return found
    edge = np.full((graph.size, graph.size), np.nan)
    edge[graph.sources, graph.targets] = np.log(graph.weight)
    at = graph.step[graph.size, words[:, 0]]
    found += np.log(graph.first_weight[at])
    for t in range(1, words.shape[1]):
        ahead = graph.step[at, words[:, t]]
        found += edge[at, ahead]
        at = ahead
    return found


def sequential_log_probabilities(channel: Channel, outputs: Ints, word: Ints, decay: float) -> Floats:
    """The log-probability of each output under the sequential response."""
    ways = channel.ways
    size, length = ways.size, len(word)
    step = np.full((size + 1, int(ways.symbol.max()) + 1), -1, dtype=np.int64)
    source = np.repeat(np.arange(size + 1), np.diff(ways.starts))
    step[source, ways.symbol[ways.targets]] = ways.targets
    found = np.zeros(len(outputs))
    at = np.full(len(outputs), size, dtype=np.int64)
    for t in range(length):
        row = channel.which[t]
        target = channel.targets[at, word[t]].astype(np.int64)
        closed = (target < 0) | ~channel.open[row][np.maximum(target, 0)]
        target = np.where(closed, channel.spare[row][at], target)
        ahead = step[at, outputs[:, t]]
        total = np.log1p((channel.many[row][at] - 1) * decay)
        found += np.where(ahead == target, 0.0, math.log(decay)) - total
        at = ahead
    return found
