"""The law of words as they are really drawn: by tables of floats, each taken as the exact number it is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tests.review.tails import precision
from tests.review.word_laws import BITS, Law, Word, fraction_ball
from veil.words.numerics.tables import LANES, Ways, fill_plain, read_lanes


def drawn_law(mechanism: Any, words: Sequence[Word]) -> Law:
    """Node after node, each chosen with the exact probability of weight * omega * table."""
    graph, labels = mechanism.graph.of_length(len(words[0])), mechanism.language.labels
    code = {label: i for i, label in enumerate(labels)}
    ways, decay = Ways.of(graph), mechanism.decay
    coded = [np.array([[code[symbol] for symbol in word]], dtype=np.int32) for word in words]
    rows = []
    with precision(BITS):
        for word in coded:
            table = _table(ways, decay, word)
            rows.append([fraction_ball(_chance(ways, decay, table, word[0], v[0])) for v in coded])
    return Law(words, rows)


def _table(ways: Ways, decay: float, word: Any) -> Any:
    """The table that the sampler makes for a word."""
    length = word.shape[1]
    assert ways.fits(length, decay, length * LANES)
    read = np.empty((LANES, length), dtype=np.int32)
    table, ahead = np.empty((length, ways.size, LANES)), np.empty((ways.size, LANES))
    read_lanes(word, 0, read)
    fill_plain(ways, decay, read, ahead, table)
    return table[:, :, 0]


def _chance(ways: Ways, decay: float, table: Any, word: Any, output: Any) -> Fraction:
    """The product over the positions of what the node of the output weighs, over all that may be chosen."""
    found, at = Fraction(1), ways.size
    for place, (true, shown) in enumerate(zip(word.tolist(), output.tolist(), strict=True)):
        total, chosen, ahead = Fraction(0), Fraction(0), -1
        for edge in range(int(ways.starts[at]), int(ways.starts[at + 1])):
            node = int(ways.targets[edge])
            weight = Fraction(float(ways.weight[edge])) * Fraction(float(table[place, node]))
            weight *= 1 if ways.symbol[node] == true else Fraction(decay)
            total += weight
            if ways.symbol[node] == shown:
                chosen, ahead = weight, node
        found, at = found * chosen / total, ahead
    return found
