"""How audits attack mechanisms on words, with made-up neighbours among the words of a language."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import MOST_CHANGED, AuditPair, AuditSubject, Example, Reader, chosen_places
from veil.core.errors import InvalidArgument
from veil.words.adjacency import Hamming
from veil.words.chain_words import ChainWords
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.each_word import EachWord
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.mechanisms.staircase_words import StaircaseWords
from veil.words.numerics.graph import WordGraph
from veil.words.word_batch import Codes, WordBatch

# How many made-up words are tried, and steps of a search, before a place is given up.
_WALKS, _STEPS = 200, 2_000
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
            return _word_table_pairs(mechanism, adjacency)
        return _word_pairs(mechanism.domain, adjacency.radius)

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        symbols, words = _apart(first, second)
        return Hamming(max(1, symbols), words_each=max(1, words))

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        symbols, words = _apart(first, second)
        if symbols <= adjacency.radius and words <= adjacency.words_each:
            return ""
        return f"{symbols} in a word" if words < 2 else f"{words} words that differ, in up to {symbols}"

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        if not isinstance(mechanism, EachWord):
            return mechanism.sample(value, rng=stream, size=draws)
        # Every word is drawn for itself: a table many times over is as good as many tables.
        valid = mechanism.validate(value)
        times = (np.tile(valid.codes, draws), np.tile(valid.lengths, draws))
        drawn = mechanism.sample(WordBatch(valid.labels, *times), rng=stream)
        return drawn.codes.reshape(draws, -1)

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


def _apart(first: WordBatch, second: WordBatch) -> tuple[int, int]:
    """In how many symbols a word differs, at most, and how many words differ."""
    if not np.array_equal(first.lengths, second.lengths):
        raise InvalidArgument("neighbour", expected="words of the same lengths", found="others")
    numbers = np.repeat(np.arange(len(first)), first.lengths)
    symbols = np.bincount(numbers, weights=first.codes != second.codes, minlength=len(first))
    return int(symbols.max()), int((symbols > 0).sum())


def _word_pairs(language: Language, radius: int) -> list[AuditPair]:
    """Words that differ at the first, a middle or the last place, or in as many places as they may."""
    pairs = []
    for name, one, other in _coded_pairs(language, radius):
        words = WordBatch.of_rows(language.labels, np.stack([one, other]))
        pairs.append(AuditPair(name, words[0], words[1]))
    return pairs


def _word_table_pairs(mechanism: EachWord, relation: Hamming) -> list[AuditPair]:
    """Tables of words, longer and shorter, of which as many differ as one person has."""
    language, found = mechanism.domain, []
    lengths = [language.length]
    if mechanism.mechanism.covers_shorter and language.length > 1:
        lengths += [max(1, language.length // 2), 1]
    for length in dict.fromkeys(lengths):
        try:
            shorter = language.of_length(length)
            pairs = _coded_pairs(shorter, min(relation.radius, length))
        except InvalidArgument:
            continue
        name, one, other = pairs[-1]
        many = relation.words_each
        first = [one] * many + [one]
        second = [other] * many + [one]
        batches = [
            WordBatch(language.labels, np.concatenate(words), np.full(many + 1, length, dtype=np.int64))
            for words in (first, second)
        ]
        what = "a word" if many == 1 else f"{many} words"
        symbols = "symbol" if length == 1 else "symbols"
        found.append(AuditPair(f"{what} of {length} {symbols}: {name}", *batches))
    return found


def _coded_pairs(language: Language, radius: int) -> list[tuple[str, Codes, Codes]]:
    length = language.length
    radius = min(radius, length)
    places = {"the first place": 0, "a middle place": length // 2, "the last place": length - 1}
    changes: list[tuple[str, Codes, Codes]] = []
    for name, place in places.items():
        if place in [places[done] for done, _, _ in changes]:
            continue
        pair = _differing(language, place, 1)
        if pair is not None:
            changes.append((name, *pair))
    if radius > 1 or not changes:
        for start in dict.fromkeys((0, length - radius)):
            pair = _differing(language, start, radius)
            if pair is not None:
                changes.append((f"{radius} places from {start + 1} on", *pair))
    if not changes:
        raise InvalidArgument("language", expected="two words that are neighbours", found="none found")
    return changes


def _differing(language: Language, start: int, width: int) -> tuple[Codes, Codes] | None:
    """Two words that are alike but for this window, where they differ in as many places as can be found."""
    if isinstance(language, FreeWords):
        word = np.zeros(language.length, dtype=np.int32)
        other = word.copy()
        other[start : start + width] = len(language.labels) - 1
        return word, other
    best: tuple[int, Codes, Codes] = (0, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))
    for word in language.walks(_WALKS, rng=7).rows:
        for other in islice(_others(language.graph, word, start, width), 20):
            apart = int((word != other).sum())
            if apart == width:
                return word, other
            if apart > best[0]:
                best = apart, word, other
    return None if best[0] == 0 else best[1:]


def _others(graph: WordGraph, word: Codes, start: int, width: int) -> Iterator[Codes]:
    """The words that differ from this one within a window only, those that differ most first."""
    end = start + width
    at = graph.size
    for symbol in word[:start]:
        at = int(graph.step[at, symbol])
    waiting = [(at, start, word)]
    for _ in range(_STEPS):
        if not waiting:
            return
        at, place, other = waiting.pop()
        if place == end:
            for symbol in word[end:]:
                at = int(graph.step[at, symbol])
                if at < 0:
                    break
            if at >= 0 and graph.last[at] and (other != word).any():
                yield other
            continue
        # The last of the list is looked at first: a symbol that differs.
        for symbol in [int(word[place]), *(s for s in range(graph.alphabet) if s != word[place])]:
            then = int(graph.step[at, symbol])
            if then >= 0:
                changed = other.copy()
                changed[place] = symbol
                waiting.append((then, place + 1, changed))
