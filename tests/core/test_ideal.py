"""Proposals in floats: their verdicts and values are those of the intervals, also next to the borders."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.core.fit import ALPHA
from tests.core.scripted import Script
from veil.core.numerics.intervals import Arithmetic
from veil.core.random.ideal import GammaProposal, LaplaceVariable, LogisticProposal, NormalProposal, log_gamma
from veil.core.random.proposals import LEFT, OPEN, TAKEN, gamma_proposal, log_of_word, normal_proposal
from veil.core.random.rounded_noise import (
    sample_rounded_laplace,
    sample_rounded_normal,
    step_for,
)
from veil.core.random.uniform import Uniform

SHAPES = [0.75, 1.0, 1.0 + 2.0**-40, 3.7, 250.0, 1e7, 1e13, 1e24, 1e30]
NOBODY: Any = Script(after=2**63 + 12345)
FINE = Arithmetic(60)


def _float_verdict(shape: float | None, u: int, v: int) -> tuple[int, float, float]:
    words = np.uint64(u), np.uint64(v)
    return normal_proposal(*words, 1.0) if shape is None else gamma_proposal(shape, 0.0, *words, 1.0)


def _proposal(shape: float | None) -> LogisticProposal:
    return NormalProposal() if shape is None else GammaProposal(Fraction(shape))


def _border_word(shape: float | None, u: int) -> int:
    """The word of V next to which the proposal with this U turns from accepted to rejected."""
    low, high = 0, 2**64 - 1
    while high - low > 1:
        middle = (low + high) // 2
        accepted = _proposal(shape).accepts(NOBODY, Uniform(u), Uniform(middle))
        low, high = (middle, high) if accepted else (low, middle)
    return low


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("shape", [None, *SHAPES])
def test_verdicts_are_those_of_the_intervals(shape: float | None) -> None:
    rng = np.random.default_rng(5)
    compared = 0
    for u, v in rng.integers(0, 2**64, size=(20, 2), dtype=np.uint64).tolist():
        border = _border_word(shape, u)
        near = [border + int(step) for step in (-(2**20), -(2**8), -1, 0, 1, 2, 2**8, 2**20)]
        for other in (v, *(min(max(word, 0), 2**64 - 1) for word in near)):
            verdict, _, _ = _float_verdict(shape, u, other)
            if verdict != OPEN:
                accepted = _proposal(shape).accepts(NOBODY, Uniform(u), Uniform(other))
                assert (verdict == TAKEN) == accepted
                compared += 1
    assert compared > 40


@pytest.mark.parametrize("shape", [None, *SHAPES])
def test_values_are_within_their_error(shape: float | None) -> None:
    rng = np.random.default_rng(6)
    taken = 0
    words = rng.integers(0, 2**64, size=(200, 2), dtype=np.uint64)
    # Tails, where the first bits say little, as well.
    words[:40, 0] >>= rng.integers(0, 52, 40, dtype=np.uint64)
    words[40:80, 0] |= ~(~words[40:80, 0] >> rng.integers(0, 52, 40, dtype=np.uint64))
    for u, v in words.tolist():
        verdict, value, error = _float_verdict(shape, u, v)
        if verdict != TAKEN:
            continue
        taken += 1
        for end in (u, u + 1):
            known = _At(Fraction(end, 2**64))
            if shape is None:
                true = NormalProposal().place(FINE, known)
            else:
                true, _ = log_gamma(FINE, Fraction(shape), known, None)
            off = max(abs(Fraction(value) - Fraction(x)) for x in true)
            assert off <= Fraction(error) * (1 if shape is None else Fraction(value))
    assert taken > 50


class _At(Uniform):
    """A uniform number that is known."""

    def __init__(self, value: Fraction) -> None:
        self._value = min(max(value, Fraction(1, 2**70)), 1 - Fraction(1, 2**70))

    def between(self) -> tuple[Fraction, Fraction]:
        return self._value, self._value


def test_a_laplace_variable_of_either_sign_is_known_to_all_digits() -> None:
    known = _At(Fraction(2**63 + 12345, 2**64))
    below = LaplaceVariable().place(FINE, known, negative=True)
    above = LaplaceVariable().place(FINE, known, negative=False)
    assert [Fraction(end.copy_negate()) for end in above] == [Fraction(end) for end in reversed(below)]
    assert 0 < Fraction(above[1]) - Fraction(above[0]) < Fraction(1, 10**55)


@pytest.mark.parametrize("a", [0.5 + 1e-9, 0.51, 0.75, 1.0, 1.5, 4.0, 100.0, 1e6])
def test_envelope_is_above_the_density(a: float) -> None:
    rate = math.sqrt(2.0 * a - 1.0)
    y = np.concatenate([np.linspace(-60.0, 6.0, 40_001), np.linspace(-1.0, 1.0, 20_001)]) / max(1.0, rate)
    half = 0.5 * rate * y
    cosh = np.abs(half) + np.log1p(np.exp(-2.0 * np.abs(half))) - math.log(2.0)
    excess = np.where(np.abs(y) < 1e-4, 0.5 * y**2 + y**3 / 6.0, np.expm1(y) - y)
    assert (a * excess - 2.0 * cosh >= -1e-12 * (1.0 + a * excess)).all()


def test_extreme_words_are_left_open() -> None:
    top = 2**64 - 1
    for u, v in ((0, 2**63), (top, 2**63), (2**63, 0), (5, 5), (top - 5, 7)):
        assert _float_verdict(3.0, u, v)[0] == OPEN
        assert _float_verdict(None, u, v)[0] == OPEN
    # Intervals decide all the same, with more bits of the same numbers.
    more: Any = Script(after=1 << 60)
    assert not GammaProposal(Fraction(3)).accepts(more, Uniform(2**50), Uniform(2**63))
    assert GammaProposal(Fraction(3)).accepts(more, Uniform(2**63), Uniform(0))


def test_log_of_word_is_within_its_error() -> None:
    for word in (1, 2, 4095, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1):
        value, error = log_of_word(np.uint64(word))
        for end in (word, word + 1):
            low, high = FINE.log(FINE.number(Fraction(end, 2**64))) if end < 2**64 else (0, 0)
            assert max(abs(Fraction(value) - Fraction(x)) for x in (low, high)) <= Fraction(error)


@pytest.mark.parametrize("scale", [0.1, 1e-12, 1e-20, 1.0, 3e9, 1e30])
@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_intervals_and_floats_draw_the_same(law: str, scale: float) -> None:
    rng = np.random.default_rng(7)
    centres = np.concatenate([[0.0, 1.0, 1e-310, 2.0**-60, 0.5], rng.random(25)])
    plain, settled = (_noisy(law, 8, centres, scale, widen) for widen in (1.0, 1e12))
    np.testing.assert_array_equal(plain, settled)
    steps = plain / step_for(scale)
    np.testing.assert_array_equal(steps, np.rint(steps))


def _noisy(law: str, seed: int, centres: Any, scale: float, widen: float = 1.0) -> Any:
    rng = np.random.default_rng(seed)
    if law == "normal":
        return sample_rounded_normal(rng, centres=centres, sigma=scale, widen=widen)
    return sample_rounded_laplace(rng, centres=centres, scale=scale, widen=widen)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_noise_has_its_law_in_every_place(law: str) -> None:
    """Kolmogorov-Smirnov at alpha 1e-6; with the power to see a scale that is 3 % off."""
    count, scale = 60_000, 0.05
    centres = np.tile([0.2, 0.0, 0.8], (count, 1))
    noise = (_noisy(law, 9, centres, scale) - centres) / scale
    true = stats.norm if law == "normal" else stats.laplace
    for place in range(3):
        assert stats.kstest(noise[:, place], true.cdf).pvalue > ALPHA
    assert stats.kstest(noise.ravel() * 1.03, true.cdf).pvalue < ALPHA
    together = np.corrcoef(noise.T) - np.eye(3)
    assert np.abs(together).max() < stats.norm.isf(ALPHA) / math.sqrt(count)


def test_sign_does_not_depend_on_the_size() -> None:
    """Chi-square of the sign against the size at alpha 1e-6."""
    noise = _noisy("laplace", 10, np.zeros(100_000), 1.0)
    large = np.abs(noise) > math.log(2.0)
    table = [[int((large & (noise > 0)).sum()), int((large & (noise < 0)).sum())]]
    table += [[int((~large & (noise > 0)).sum()), int((~large & (noise < 0)).sum())]]
    assert stats.chi2_contingency(table).pvalue > ALPHA


def test_rejected_proposals_are_left() -> None:
    assert _float_verdict(None, 2**63, 2**63)[0] == TAKEN
    # Far out the acceptance is tiny, so a V in the middle rejects.
    assert _float_verdict(None, 2**40, 2**63)[0] == LEFT
