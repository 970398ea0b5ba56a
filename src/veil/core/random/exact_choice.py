"""Choices among weights that are exact numbers, and walks made of such choices.

With weights c_1 ... c_k and their sum S, a uniform real number U in [0, 1) chooses the i for which
C_{i-1} <= U S < C_i, C_i = c_1 + ... + c_i: probability c_i / S, exactly. Of U only the first 64 bits, a
word, are drawn at first. Compiled code compares x = word 2^-64 S with the C_i in floats, where

    |x - U S| <= S ((k + 3) u + 2^-64) and the error of C_i is at most S (k + 1) u, u = 2^-53 (1 + 2^-20):

each term is a product of three floats (two roundings) that goes through at most k - 1 additions, in whatever
order the compiler takes them; the word is rounded to 53 bits, and multiplied once. So if x is further than
SLACK(k) S = (2 k + 16) 2^-53 S from C_{i-1} and from C_i, then i is what U stands for, whatever its later
bits; the room that is left covers the rounding of the comparison itself. Otherwise the walk stops, and the
choice is made here in whole numbers, from the same word and more bits of the same U. No option is lost
thereby, however small its weight is: what floats cannot see lies within the slack and is settled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.streams import WORD, Rng, Words, one_word, random_words

# SLACK(k) = (SLACK_EACH k + SLACK_ONCE) 2^-53
SLACK_EACH, SLACK_ONCE = 2.0, 16.0
UNIT = 2.0**-53
# Random words that are drawn at a time.
_AT_A_TIME = 2**18


def _whole(weights: Sequence[Fraction]) -> list[int]:
    """The weights times their common denominator: sums of long fractions would be reduced again and again."""
    unit = lcm(*{weight.denominator for weight in weights})
    return [weight.numerator * (unit // weight.denominator) for weight in weights]


def choose(weights: Sequence[Fraction], word: int, more: Callable[[], int]) -> int:
    """The option that a uniform number with this first word stands for."""
    parts = _whole(weights)
    total, bits = sum(parts), WORD
    if total <= 0:
        raise ValueError("no option has a positive weight")
    while True:
        # U S lies in [low, high) / 2^bits.
        low, high = word * total, (word + 1) * total
        reached = 0
        for option, part in enumerate(parts):
            reached += part
            if low < reached << bits:
                if high <= reached << bits:
                    return option
                break
        word, bits = word << WORD | more(), bits + WORD


@compiled
def likely_choice(weights: Floats, count: int, word: np.uint64) -> int:
    """The option among the first weights that floats can tell from the first word; -1 if they cannot."""
    total = 0.0
    for option in range(count):
        total += weights[option]
    mark = np.float64(word) * 2.0**-WORD * total
    slack = total * ((SLACK_EACH * count + SLACK_ONCE) * UNIT)
    reached = 0.0
    for option in range(count):
        before = reached
        reached += weights[option]
        if mark < reached:
            return option if mark - slack >= before and mark + slack < reached else -1
    return -1


class FixedChoice:
    """The same choice among exact weights, many times: thresholds in whole numbers, nothing is rounded."""

    def __init__(self, weights: Sequence[Fraction]) -> None:
        self._weights = list(weights)
        parts = _whole(self._weights)
        total = sum(parts)
        if total <= 0 or min(parts) < 0:
            raise ValueError("weights must not be negative, and one must be positive")
        sums = accumulate(parts[:-1])
        # A word below the floor of C_i 2^64 / S is below C_i; above it, it is not; equal to it, it is open.
        # A floor of 2^64 (a weight of zero follows) cannot be reached by a word.
        floors = [min((reached << WORD) // total, 2**WORD - 1) for reached in sums]
        self._floors = np.array(floors, dtype=np.uint64)

    def draw(self, rng: Rng, size: int) -> NDArray[np.int64]:
        """The option chosen, so many times."""
        if not len(self._floors):
            return np.zeros(size, dtype=np.int64)
        words = random_words(rng, size)
        chosen = np.searchsorted(self._floors, words, side="right")
        # side="right" has counted a floor that equals the word.
        is_open = (chosen > 0) & (np.append(self._floors[:1], self._floors)[chosen] == words)
        for row in np.flatnonzero(is_open).tolist():
            chosen[row] = choose(self._weights, int(words[row]), lambda: one_word(rng))
        return chosen


class Walk(Protocol):
    """Rows of words that are drawn node by node.

    together: rows whose tables are made side by side. each: random words to a position.
    """

    @property
    def together(self) -> int: ...

    @property
    def each(self) -> int: ...

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> Any:
        """For rows from begin to end, go on from the nodes that are known until all are, or a choice is open.

        bits, nodes and known are of these rows. Returns the tables of the last row, or of the last rows
        together.
        """
        ...

    def settle(
        self, tables: Any, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        """The node at a position whose choice is open."""
        ...


def draw_paths(rng: Rng, walk: Walk, *, rows: int, length: int, threads: int) -> Ints:
    """A path of nodes for each row.

    All first words are drawn by one generator in the order of the rows, and further bits after them, so the
    paths depend on the generator alone and not on the number of threads.
    """
    nodes = np.empty((rows, length), dtype=np.int32)
    known = np.zeros(rows, dtype=np.int64)
    unfinished: dict[int, Words] = {}
    waiting: deque[tuple[int, Words, Future[None]]] = deque()

    def advance(begin: int, bits: Words) -> None:
        end = begin + len(bits)
        walk.advance(begin, end, bits, nodes[begin:end], known[begin:end])

    def keep_open(begin: int, bits: Words) -> None:
        for place in np.flatnonzero(known[begin : begin + len(bits)] < length).tolist():
            unfinished[begin + place] = bits[place].copy()

    def finish() -> None:
        begin, bits, done = waiting.popleft()
        done.result()
        keep_open(begin, bits)

    each = length * walk.each
    piece = max(1, _AT_A_TIME // each // walk.together) * walk.together
    if rows <= piece:
        # To start a thread takes longer than to draw a few rows.
        bits = random_words(rng, rows * each).reshape(rows, each)
        advance(0, bits)
        keep_open(0, bits)
    else:
        with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
            for begin in range(0, rows, piece):
                count = min(piece, rows - begin)
                bits = random_words(rng, count * each).reshape(count, each)
                waiting.append((begin, bits, pool.submit(advance, begin, bits)))
                if len(waiting) > threads:
                    finish()
            while waiting:
                finish()
    for row, bits in sorted(unfinished.items()):
        _settle_row(rng, walk, nodes, row, bits, int(known[row]))
    return nodes


def _settle_row(rng: Rng, walk: Walk, nodes: Ints, row: int, bits: Words, position: int) -> None:
    """Finish a row. The same compiled code makes the same tables again, for the same rows together."""
    length = nodes.shape[1]
    begin = row // walk.together * walk.together
    group = nodes[begin : begin + walk.together]
    known = np.full(len(group), length, dtype=np.int64)
    given = np.zeros((len(group), len(bits)), dtype=np.uint64)
    place = row - begin
    given[place] = bits
    while position < length:
        known[place] = position
        tables = walk.advance(begin, begin + len(group), given, group, known)
        position = int(known[place])
        if position < length:
            nodes[row, position] = walk.settle(tables, row, nodes[row], position, bits, lambda: one_word(rng))
            position += 1


# Words where every word over the alphabet is possible: nothing is rounded, every law is exact.


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


def sample_free_at_distances(rng: Rng, *, words: Ints, alphabet: int, distances: Places) -> Ints:
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
