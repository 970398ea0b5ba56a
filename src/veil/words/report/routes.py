"""Where private words go: steps on the drawn graph of what may follow what, and how long words are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from veil.report.figures import BLUE, axes_of
from veil.report.networks import route_figure
from veil.words.chain_words import ChainWords
from veil.words.word_batch import WordBatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More symbols cannot be told apart on the page; steps that are drawn as arrows, the most frequent ones.
MOST_PLACES, MOST_STEPS = 150, 30


def steps_figure(words: WordBatch, language: ChainWords) -> Figure | None:
    """The most frequent steps of the words as arrows on the graph of the language, if it can be drawn."""
    size = len(words.labels)
    if size > MOST_PLACES or size != len(language.labels) or len(words.codes) < 2:
        return None
    counts = np.zeros((size, size))
    inside = np.ones(len(words.codes) - 1, dtype=bool)
    # From the last symbol of a word to the first of the next is no step.
    inside[words.starts[1:][words.starts[1:] > 0] - 1] = False
    np.add.at(counts, (words.codes[:-1][inside], words.codes[1:][inside]), 1.0)
    cells = [divmod(int(cell), size) for cell in np.argsort(-counts, axis=None, kind="stable")[:MOST_STEPS]]
    routes = [(a, b, float(counts[a, b])) for a, b in cells if counts[a, b] > 0.0]
    ways = [(a, b) for a, after in enumerate(language.successors) for b in after]
    return route_figure(routes, list(map(str, words.labels)), ways=ways, visits=words.shares)


def lengths_figure(lengths: Mapping[int, int]) -> Figure:
    """How many words there are of each length."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = axes_of(7.2, 2.6)
    axes.bar(list(lengths), list(lengths.values()), color=BLUE, width=0.8, alpha=0.85)
    axes.set_xlabel("symbols in a word")
    axes.set_ylabel("words")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure
