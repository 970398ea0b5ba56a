"""Independent flips: both ways against the binomial law, every place, and the settled cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, geom

from veil.bits.samplers import flips
from veil.bits.samplers.flips import sample_flip_mask, sample_flips
from veil.core.random.streams import generator

ALPHA = 1e-4


def by_gaps(rng: Any, count: int, chance: float) -> Any:
    mask = np.zeros(count, dtype=bool)
    mask[flips._by_gaps(rng, count, chance)] = True
    return mask


WAYS: list[Callable[[Any, int, float], Any]] = [flips._by_slices, by_gaps]


def codes(draw: Callable[[Any, int, float], Any], chance: float, tables: int) -> Any:
    """Tables of six bits, each as a number."""
    bits = draw(np.random.default_rng(11), 6 * tables, chance).reshape(tables, 6)
    return np.bincount(bits @ (1 << np.arange(6)), minlength=64)


def law(chance: float) -> Any:
    ones = np.array([int(code).bit_count() for code in range(64)])
    return chance**ones * (1.0 - chance) ** (6 - ones)


@pytest.mark.parametrize("way", WAYS, ids=["slices", "gaps"])
@pytest.mark.parametrize("chance", [0.5, 0.26894142136999516, 0.11920292202211757, 0.375])
def test_all_patterns_of_bits(way: Callable[[Any, int, float], Any], chance: float) -> None:
    # Every place and every pair of places: the whole joint law. alpha = 1e-4, seed fixed.
    tables = 400_000
    observed = codes(way, chance, tables)
    assert chisquare(observed, tables * law(chance)).pvalue > ALPHA
    # Power: the same test rejects a probability that is wrong by 5 %.
    assert chisquare(observed, tables * law(chance * 0.95)).pvalue < 1e-12


@pytest.mark.parametrize("chance", [0.05, 1e-3, 8.3e-7])
def test_gaps_are_geometric(chance: float) -> None:
    size = 200_000
    gaps = flips._gaps(np.random.default_rng(3), size, chance, 2**62)
    edges = np.unique(geom.ppf(np.linspace(0.0, 1.0, 41)[1:-1], chance) - 1)
    chances = np.diff(geom.cdf(np.concatenate(([-1.0], edges, [np.inf])) + 1, chance))
    observed = np.histogram(gaps, np.concatenate(([-1], edges, [2**62])) + 0.5)[0]
    assert chisquare(observed, size * chances).pvalue > ALPHA
    wrong = np.diff(geom.cdf(np.concatenate(([-1.0], edges, [np.inf])) + 1, 0.95 * chance))
    assert chisquare(observed, size * wrong).pvalue < 1e-12


@pytest.mark.slow
def test_the_last_place_is_flipped_too() -> None:
    for count in (1, 63, 64, 65, 127, 128, 1000):
        for chance in (0.3, 0.05):
            last = [sample_flip_mask(generator(seed), count=count, chance=chance)[-1] for seed in range(400)]
            assert 0.5 * chance < np.mean(last) < 1.7 * chance


def test_places_and_masks_agree() -> None:
    for chance in (0.3, 0.02):
        places = sample_flips(generator(5), count=5_000_000, chance=chance)
        mask = sample_flip_mask(generator(5), count=5_000_000, chance=chance)
        assert np.array_equal(places, np.flatnonzero(mask))
        assert (np.diff(places) > 0).all()


def test_never_and_none() -> None:
    assert len(sample_flips(generator(1), count=1000, chance=0.0)) == 0
    assert len(sample_flips(generator(1), count=0, chance=0.3)) == 0
    assert len(sample_flips(generator(1), count=0, chance=0.01)) == 0
    with pytest.raises(ValueError, match="flip"):
        sample_flips(generator(1), count=3, chance=1.0)


class Given:
    """Words in place of random ones."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def __call__(self) -> int:
        return self.words.pop(0)


@pytest.mark.slow
def test_settled_gaps_are_those_of_the_number() -> None:
    # U is known to so many bits that the powers of 1 - q decide: the oracle compares rationals.
    rng = np.random.default_rng(9)
    for chance in (0.25, 0.1, 1e-3):
        stay = 1 - Fraction(chance)
        for _ in range(60):
            word, more = (int(w) for w in rng.integers(0, 2**63, 2, dtype=np.uint64))
            number = Fraction(word * 2**64 + more, 2**128)
            gap = flips._settled_gap(word, 3.0, chance, 10**6, Given(more, 0, 0))
            assert number < stay**gap
            assert number >= stay ** (gap + 1)


def test_a_number_at_the_border_is_settled_with_more_bits() -> None:
    # 3/4 is exactly the first threshold of q = 1/4: only the bits after the first word tell.
    word = 3 * 2**62
    assert flips._settled_gap(word, 1.0, 0.25, 100, Given(0, 0, 0)) == 0
    assert flips._settled_gap(word - 1, 1.0, 0.25, 100, Given(0, 0, 0)) == 1


@pytest.mark.slow
def test_floats_and_rationals_decide_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.random.default_rng(4).integers(0, 2**64, 3000, dtype=np.uint64)
    monkeypatch.setattr(flips, "random_words", lambda rng, size: words[:size])
    for chance in (0.09, 1e-4, 1e-9):
        gaps = flips._gaps(np.random.default_rng(0), len(words), chance, 10**15)
        exact = [
            flips._settled_gap(int(w), float(gap), chance, 10**15, Given(0, 0, 0))
            for w, gap in zip(words, gaps, strict=True)
        ]
        assert gaps.tolist() == exact
