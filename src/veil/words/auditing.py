"""How audits attack mechanisms on words."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.pair import AuditPair
from veil.core.audit.reading import MOST_CHANGED, chosen_places
from veil.core.audit.subject import AuditSubject, Example, Reader
from veil.core.errors import InvalidArgument
from veil.words.adjacency import Hamming
from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.each_word import EachWord
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.mechanisms.staircase_words import StaircaseWords
from veil.words.neighbours import word_pairs, word_table_pairs
from veil.words.word_batch import WordBatch

_ROADS = {"home": ["shop", "work"], "shop": ["home", "work"], "work": ["home"]}


class WordAudit(AuditSubject):
    """Audits of mechanisms on words, and on tables of words."""

    def examples(self) -> list[Example]:
        free, chain = FreeWords(3, 4), ChainWords(_ROADS, 5)
        return [
            (ExponentialWords(chain, 1.0), None),
            (ExponentialWords(FreeWords(4, 12), 1.0, radius=2), None),
            (BalancedWords(chain, 1.0), None),
            (SequentialWords(chain, 1.0), None),
            (PermuteAndFlip(chain, 1.0), None),
            (StaircaseWords(free, 1.0, radius=2), None),
            (EachWord(ExponentialWords(free, 1.0), words_each=2), None),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        if isinstance(mechanism, EachWord):
            return word_table_pairs(mechanism, adjacency)
        return word_pairs(mechanism.domain, adjacency.radius)

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        apart = _symbols_apart(first, second)
        return Hamming(max(1, int(apart.max())), words_each=max(1, int((apart > 0).sum())))

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        apart = _symbols_apart(first, second)
        symbols, words = int(apart.max()), int((apart > 0).sum())
        if symbols <= adjacency.radius and words <= adjacency.words_each:
            return ""
        return f"{symbols} in a word" if words < 2 else f"{words} words that differ, in up to {symbols}"

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        if not isinstance(mechanism, EachWord):
            return mechanism.sample(value, rng=stream, size=draws)
        # Every word is drawn for itself: a table many times over is as good as many tables.
        valid = mechanism.validate(value)
        times = (np.tile(valid.codes, draws), np.tile(valid.lengths, draws))
        found = mechanism.sample(WordBatch(valid.labels, *times), rng=stream)
        return found.codes.reshape(draws, -1)

    def size(self, mechanism: Any, valid: Any) -> int:
        return len(valid.codes)

    def keys(self, mechanism: Any, drawn: Any) -> list[Hashable]:
        return [tuple(row) for row in drawn.tolist()] if isinstance(drawn, np.ndarray) else list(drawn)

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        before, after = mechanism.validate(value).codes, mechanism.validate(neighbour).codes
        single = not isinstance(mechanism, EachWord)

        def read(found: Any) -> Floats:
            codes = mechanism.domain.validate(found).rows if single else found
            changed = np.flatnonzero(before != after)
            places = chosen_places(changed, codes.shape[1])
            few = changed[: 4 * MOST_CHANGED]
            nearer = (codes == before).sum(axis=1) - (codes == after).sum(axis=1)
            right = (codes[:, places] == before[places]).sum(axis=1)
            columns = [codes[:, places], codes[:, few] == before[few], codes[:, few] == after[few]]
            columns += [nearer[:, None], right[:, None]]
            if single:
                ratio = mechanism.log_probabilities(codes, before) - mechanism.log_probabilities(codes, after)
                columns.append(ratio[:, None])
            return np.hstack([np.asarray(part, dtype=np.float64) for part in columns])

        return read


def _symbols_apart(first: WordBatch, second: WordBatch) -> NDArray[np.int64]:
    """In how many symbols each word differs."""
    if not np.array_equal(first.lengths, second.lengths):
        raise InvalidArgument("neighbour", expected="words of the same lengths", found="others")
    words = np.repeat(np.arange(len(first)), first.lengths)
    return np.bincount(words, weights=first.codes != second.codes, minlength=len(first)).astype(np.int64)
