"""The Polya urn: word for word as defined, and its whole law."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.core.fit import ALPHA
from tests.core.scripted import ONES, Script, mutated
from veil.vectors.samplers import polya_urn
from veil.vectors.samplers.polya_urn import MOST_DRAWS, Urn, sample_urn

THIRD = Fraction(1, 3)


def by_definition(shapes: list[Fraction], words: list[int], more: list[int], after: int) -> list[int]:
    """The colours drawn, in rationals: each word is the first 64 bits of a uniform number."""
    further = iter(more)
    reached, total = list(accumulate(shapes)), sum(shapes)
    drawn: list[int] = []
    for t, first in enumerate(words):
        word, bits = first, 64
        while True:
            low, high = (Fraction(word + end, 2**bits) * (total + t) for end in (0, 1))
            ends = [Fraction(s) for s in range(t + 1)] + [t + amount for amount in reached]
            place = bisect_right(ends, low) - 1
            # An end of colour zero has no width: the last of equal ends is the one below.
            if high <= ends[place + 1]:
                drawn.append(drawn[place] if place < t else place - t)
                break
            word, bits = word << 64 | next(further, after), bits + 64
    return drawn


def drawn_by(module: Any, shapes: list[Fraction], words: list[int], more: list[int], after: int) -> list[int]:
    script: Any = Script(np.array(words, dtype=np.uint64), more=list(more), after=after)
    drawn = np.empty(len(words), dtype=np.uint8)
    module.Urn(shapes).draw(script, drawn)
    return [int(colour) for colour in drawn]


def border_words(shapes: list[Fraction], rng: np.random.Generator, count: int) -> list[int]:
    """Words that sit on borders of the definition, or next to them."""
    reached, words = list(accumulate(shapes)), []
    for t in range(count):
        whole = [Fraction(s) for s in range(t + 1)] + [t + amount for amount in reached]
        border = whole[int(rng.integers(len(whole)))] / (sum(shapes) + t)
        near = math.floor(border * 2**64) + int(rng.integers(-2, 3))
        words.append(min(max(near, 0), ONES))
    return words


CASES = {
    "thirds": [THIRD, Fraction(2, 3), Fraction(1)],
    "floats": [Fraction(0.1), Fraction(20.6 * 0.3), Fraction(1e-3)],
    "a colour that is not there": [Fraction(0), Fraction(3, 2), Fraction(0), Fraction(1, 7), Fraction(0)],
    "next to nothing": [Fraction(1, 10**30), Fraction(2, 10**30)],
    "a great deal": [Fraction(10**30), Fraction(10**30 + 1), Fraction(1, 10**30)],
    "small beside large": [Fraction(1, 2**70), Fraction(5), Fraction(1, 2**60)],
}


@pytest.mark.parametrize("name", CASES)
def test_every_word_stands_for_what_the_definition_says(name: str) -> None:
    shapes = CASES[name]
    rng = np.random.default_rng(list(CASES).index(name))
    open_draws = 0
    for repetition in range(24):
        after = [0, ONES, 7][repetition % 3]
        if repetition % 2:
            words = [int(word) for word in rng.integers(0, 2**64, size=40, dtype=np.uint64)]
        else:
            words = border_words(shapes, rng, 40)
        more = [int(word) for word in rng.integers(0, 2**64, size=60, dtype=np.uint64)]
        assert drawn_by(polya_urn, shapes, words, more, after) == by_definition(shapes, words, more, after)
        script: Any = Script(np.array(words, dtype=np.uint64), more=list(more), after=after)
        Urn(shapes).draw(script, np.empty(40, dtype=np.uint8))
        open_draws += script.asked
    # Some draws were open even after 64 bits, so that further bits were compared as well.
    assert open_draws > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("drawn[t] = drawn[repeated]", "drawn[t] = drawn[0]"),
        ("total = amount + t\n", "total = amount + t + 1\n"),
        ("_SLACK = 16.0 * 2.0**-53", "_SLACK = 0.0"),
        ("if z - slack < before or z + slack >= reached[low]:", "if z - slack < before:"),
        ("if x - slack < repeated or x + slack >= repeated + 1:", "if x + slack >= repeated + 1:"),
        ("balls, bits = drawn * self.unit, WORD", "balls, bits = (drawn + 1) * self.unit, WORD"),
        ("word, bits = word << WORD | more(), bits + WORD", "word, bits = word << WORD, bits + WORD"),
        ("if high <= (repeated + 1) * self.unit << bits:", "if True:"),
        ("if high <= (balls + self.reached[colour]) << bits:", "if True:"),
    ],
)
def test_a_planted_fault_is_seen(old: str, new: str) -> None:
    faulty = mutated(polya_urn, old, new)
    # In plain Python: what is compiled is kept under the name of the file.
    faulty._advance = faulty._advance._function
    shapes, rng = [THIRD, Fraction(2, 3), Fraction(1, 2**60), Fraction(1)], np.random.default_rng(5)
    for repetition in range(40):
        words = border_words(shapes, rng, 30)
        if repetition % 2:
            words = [int(word) for word in rng.integers(0, 2**64, size=30, dtype=np.uint64)]
        more = [int(word) for word in rng.integers(0, 2**64, size=60, dtype=np.uint64)]
        truth = by_definition(shapes, words, more, 7)
        try:
            if drawn_by(faulty, shapes, words, more, 7) != truth:
                return
        except (IndexError, OverflowError):
            return
    pytest.fail("no draw differs")


def test_the_harness_accepts_the_sound_module() -> None:
    sound = mutated(polya_urn, "_AT_A_TIME = 2**16", "_AT_A_TIME = 2**16 + 0")
    sound._advance = sound._advance._function
    rng = np.random.default_rng(6)
    words = border_words(CASES["thirds"], rng, 30)
    assert drawn_by(sound, CASES["thirds"], words, [], 7) == by_definition(CASES["thirds"], words, [], 7)


@settings(max_examples=60, deadline=None)
@given(
    shapes=st.lists(st.floats(1e-12, 1e12), min_size=2, max_size=6),
    words=st.lists(st.integers(0, ONES), min_size=1, max_size=25),
)
def test_any_shapes_and_words(shapes: list[float], words: list[int]) -> None:
    exact = [Fraction(shape) for shape in shapes]
    assert drawn_by(polya_urn, exact, words, [], 12345) == by_definition(exact, words, [], 12345)


def test_words_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, rng = CASES["floats"], np.random.default_rng(8)
    words = [int(word) for word in rng.integers(0, 2**64, size=50, dtype=np.uint64)]
    words[13] = 0
    monkeypatch.setattr(polya_urn, "_AT_A_TIME", 20)
    script: Any = Script(words[:20], words[20:40], words[40:], more=[99, 98, 97])
    drawn = np.empty(50, dtype=np.uint8)
    Urn(shapes).draw(script, drawn)
    assert drawn.tolist() == by_definition(shapes, words, [99, 98, 97], 0)


def closed_form(shapes: list[Fraction], counts: tuple[int, ...]) -> Fraction:
    """The Dirichlet-multinomial probability."""

    def rising(start: Fraction, steps: int) -> Fraction:
        return math.prod((start + step for step in range(steps)), start=Fraction(1))

    draws = sum(counts)
    found = Fraction(math.factorial(draws)) / rising(sum(shapes, Fraction(0)), draws)
    for shape, count in zip(shapes, counts, strict=True):
        found *= rising(shape, count) / math.factorial(count)
    return found


@pytest.mark.parametrize("shapes", [[Fraction(1, 2), Fraction(3, 2), Fraction(2)], [THIRD, Fraction(5, 3)]])
def test_the_definition_has_the_closed_form(shapes: list[Fraction]) -> None:
    """No sampling: the lengths of all intervals of the definition, along every path of four draws."""
    draws, total = 4, sum(shapes)
    law: dict[tuple[int, ...], Fraction] = {}
    for path in product(range(draws + len(shapes)), repeat=draws):
        drawn: list[int] = []
        probability = Fraction(1)
        for t, place in enumerate(path):
            if place >= t + len(shapes):
                probability = Fraction(0)
                break
            probability *= (Fraction(1) if place < t else shapes[place - t]) / (total + t)
            drawn.append(drawn[place] if place < t else place - t)
        if probability:
            counts = tuple(drawn.count(colour) for colour in range(len(shapes)))
            law[counts] = law.get(counts, Fraction(0)) + probability
    assert law == {counts: closed_form(shapes, counts) for counts in law}
    assert sum(law.values()) == 1


def _p_value(counts: Any, shapes: list[Fraction], draws: int) -> float:
    outcomes = [c for c in product(range(draws + 1), repeat=len(shapes)) if sum(c) == draws]
    expected = np.array([float(closed_form(shapes, c)) for c in outcomes]) * len(counts)
    found, times = np.unique(counts, axis=0, return_counts=True)
    seen = dict.fromkeys(outcomes, 0) | dict(zip(map(tuple, found.tolist()), times.tolist(), strict=True))
    return float(stats.chisquare([seen[o] for o in outcomes], expected).pvalue)


@pytest.mark.slow
def test_the_law_of_draws() -> None:
    shapes, draws = [Fraction(0.7), Fraction(2.5), Fraction(1.3)], 6
    counts = sample_urn(np.random.default_rng(3), shapes=[shapes], draws=draws, size=20_000)[:, 0]
    assert _p_value(counts, shapes, draws) > ALPHA
    # Power: shapes that are 5 % off are rejected.
    wrong = [shapes[0] * Fraction(105, 100), *shapes[1:]]
    assert _p_value(counts, [part * Fraction(110, 100) for part in wrong], draws) < ALPHA


@pytest.mark.slow
def test_moments_of_many_draws() -> None:
    shapes, draws, size = [Fraction(2), Fraction(3), Fraction(15)], 3000, 4000
    x = sample_urn(np.random.default_rng(4), shapes=[shapes], draws=draws, size=size)[:, 0] / draws
    k, limit = 20.0, float(stats.norm.isf(ALPHA / 2.0))
    for entry, mean in zip(x.T, (0.1, 0.15, 0.75), strict=True):
        variance = mean * (1.0 - mean) / (k + 1.0) * (1.0 + k / draws)
        assert abs(entry.mean() - mean) < limit * math.sqrt(variance / size)
        spread = math.sqrt((stats.kurtosis(entry) + 2.0) / size)
        assert abs(entry.var() / variance - 1.0) < limit * spread
    # Power: the multinomial itself, without the urn's memory, has a 140th of the variance.
    plain = np.random.default_rng(5).multinomial(draws, (0.1, 0.15, 0.75), size=size) / draws
    assert plain[:, 0].var() < 0.05 * x[:, 0].var()


def test_rows_sizes_and_seeds() -> None:
    rows = [[Fraction(1), Fraction(2)], [Fraction(50), Fraction(1, 9)]]
    one = sample_urn(np.random.default_rng(1), shapes=rows, draws=10)
    assert one.shape == (2, 2)
    many = sample_urn(np.random.default_rng(1), shapes=rows, draws=10, size=7)
    assert many.shape == (7, 2, 2)
    assert (many.sum(axis=-1) == 10).all()
    assert (many[0] == one).all()
    assert len({row.tobytes() for row in many}) > 1


@pytest.mark.slow
def test_many_colours() -> None:
    shapes = [Fraction(i + 1, 7) for i in range(300)]
    counts = sample_urn(np.random.default_rng(2), shapes=[shapes], draws=5000, size=40)[:, 0]
    assert counts.shape == (40, 300)
    assert (counts.sum(axis=1) == 5000).all()
    # Every place is drawn, the last too; the mean of the upper half is three quarters within 1e-3 chances.
    assert (counts.sum(axis=0) > 0).all()
    share = counts[:, 150:].sum() / counts.sum()
    assert abs(share - float(sum(shapes[150:]) / sum(shapes))) < 0.02


@pytest.mark.parametrize("shapes", [[], [Fraction(0), Fraction(0)], [Fraction(-1), Fraction(2)]])
def test_what_is_no_urn(shapes: list[Fraction]) -> None:
    with pytest.raises(ValueError, match="amounts"):
        Urn(shapes)


@pytest.mark.parametrize("draws", [0, -1, MOST_DRAWS + 1])
def test_how_many_draws(draws: int) -> None:
    with pytest.raises(ValueError, match="draws"):
        sample_urn(np.random.default_rng(1), shapes=[[Fraction(1), Fraction(1)]], draws=draws)
