"""Words drawn where every word over the alphabet is possible: nothing is rounded, every law is exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Ints
from veil.core.errors import InvalidArgument
from veil.core.random.exact_choice import FixedChoice
from veil.core.random.streams import Rng

Distances = NDArray[np.int64]


def sample_free(rng: Rng, *, words: Ints, alphabet: int, decay: float | Fraction) -> Ints:
    """Each symbol on its own stays with weight 1, and becomes any other one with weight decay."""
    drawn = _free_words(words, alphabet)
    if alphabet == 1:
        return drawn
    changed = FixedChoice([Fraction(1), (alphabet - 1) * Fraction(decay)]).draw(rng, drawn.size)
    places = np.flatnonzero(changed)
    flat = drawn.ravel()
    # One of the other symbols: 1 to alphabet - 1 further on, around the circle.
    flat[places] = (flat[places] + rng.integers(1, alphabet, size=len(places))) % alphabet
    return drawn


def sample_free_by_distance(rng: Rng, *, words: Ints, alphabet: int, law: Sequence[Fraction | float]) -> Ints:
    """The distance by the weights law[0] ... law[n], then a uniform word at that distance."""
    given = _free_words(words, alphabet)
    if len(law) != given.shape[1] + 1 or (alphabet == 1 and any(law[1:])):
        raise InvalidArgument("law", expected="a weight for each distance from 0 to n", found=f"{len(law)}")
    distances = FixedChoice([Fraction(weight) for weight in law]).draw(rng, len(given))
    return sample_free_at_distances(rng, words=given, alphabet=alphabet, distances=distances)


def _free_words(words: Ints, alphabet: int) -> Ints:
    given = np.array(words, dtype=np.int32, order="C")
    if given.ndim != 2 or (given.size and not (given.min() >= 0 and given.max() < alphabet)):
        raise InvalidArgument("words", expected=f"rows of symbols from 0 to {alphabet - 1}", found="others")
    return given


def sample_free_at_distances(rng: Rng, *, words: Ints, alphabet: int, distances: Distances) -> Ints:
    """For each row a uniform word at the distance stated for it, among all words of the alphabet."""
    drawn = np.array(words, dtype=np.int32)
    rows, length = drawn.shape
    left = np.array(distances, dtype=np.int64)
    if left.shape != (rows,) or (rows and not (left.min() >= 0 and left.max() <= length * (alphabet > 1))):
        raise InvalidArgument("distances", expected=f"one of 0 to {length} a word", found="others")
    for t in range(length):
        # A position is one of the changed ones with probability (changes left) / (positions left): a uniform
        # set of positions. The generator's bounded integers are exactly uniform.
        changed = rng.integers(0, length - t, size=rows) < left
        left -= changed
        places = np.flatnonzero(changed)
        if len(places):
            # One of the other symbols: 1 to alphabet - 1 further on, around the circle.
            further = rng.integers(1, alphabet, size=len(places))
            drawn[places, t] = (drawn[places, t] + further) % alphabet
    return drawn
