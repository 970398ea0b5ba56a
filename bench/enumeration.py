"""Plain permute-and-flip: all words in a list, as one would write it in NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def all_words(followers: Sequence[Sequence[int]], start: int, length: int) -> Any:
    """Every word whose first symbol follows the start, as in `veil.words.ChainWords`."""
    words = np.array([[first] for first in followers[start]], dtype=np.int32)
    for _ in range(length - 1):
        number = np.array([len(followers[last]) for last in words[:, -1]])
        ends = np.concatenate([followers[last] for last in words[:, -1]]).astype(np.int32)
        words = np.column_stack([np.repeat(words, number, axis=0), ends])
    return words


def permute_and_flip(rng: np.random.Generator, words: Any, true: Any, epsilon: float) -> Any:
    """One private word: the words in random order, each taken with probability exp(-epsilon d / 2)."""
    errors = (words != true).sum(axis=1)
    chance = np.exp(-0.5 * epsilon * np.arange(len(true) + 1))[errors]
    # The first of a random order that is taken; the true word always is.
    keys = rng.random(len(words))
    taken = rng.random(len(words)) < chance
    keys[~taken] = math.inf
    return words[np.argmin(keys)]
