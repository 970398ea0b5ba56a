"""Printed deltas against certified enclosures: never below, for parameters from 1e-30 to 1e30."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from veil import vectors
from veil.core.numerics.densities import LogitBeta
from veil.core.privacy import rigorous
from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.core.privacy.rigorous import Enclosure
from veil.errors import MissingExtra

from .rigorous_cases import Study, cases

flint = pytest.importorskip("flint")


def judged(study: Study) -> None:
    """Nothing below; of all sets at most one in a hundred that Arb does not resolve."""
    total = sum(study.counts.values())
    print(dict(study.counts), "loosest:", [f"{excess:.1e}" for excess, _ in study.loosest[:5]])
    assert study.below == []
    assert study.counts["not below"] >= 0.99 * total


@pytest.mark.parametrize("seed", range(3))
def test_never_below(seed: int) -> None:
    judged(Study().look_at(cases(1_000 + seed, 54)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_sets(seed: int) -> None:
    judged(Study().look_at(cases(2_000 + seed, 900)))


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(20))
def test_a_hundred_thousand_sets(seed: int) -> None:
    judged(Study().look_at(cases(10_000 + seed, 5_000)))


# The cases of the review that found the printed number below the truth


@pytest.mark.parametrize(
    ("pair", "epsilon"),
    [
        (SymmetricBetaPair(0.5, 1e12), 1.0),
        (BetaPair(0.0019046, 129495.63, 0.35430), 0.0),
    ],
)
def test_what_was_printed_too_low(pair: PrivacyProfile, epsilon: float) -> None:
    truth = pair.enclosure(epsilon)
    assert truth is not None
    assert truth.high <= pair.delta(epsilon) <= truth.high * (1.0 + 1e-12)


def test_counts_that_are_as_good_as_told() -> None:
    mechanism = vectors.DirichletCounts(1e12, 0.5, 3)
    assert mechanism.profile(vectors.Records("replace")).delta(1.0) == 1.0


def test_far_beyond_the_mode_of_a_skewed_beta_variable() -> None:
    """Where the log density was off by 2.9e-3: one shape is 1e12 times the other, w is above 1."""
    small, large = 0.5, 1e12
    density = LogitBeta(small, large)
    with flint.ctx.workprec(300):
        a, b = flint.arb(small), flint.arb(large)
        constant = a.lgamma() + b.lgamma() - (a + b).lgamma()
        for w in (0.2, 0.26, 1.0, 1.0000001, 2.0, 20.0, 30.0, 599.0, 601.0, 5e3):
            u = flint.arb(w) + (a / b).log()
            truth = a * u - (a + b) * u.exp().log1p() - constant
            found = flint.arb(float(density.log_above(np.array([w]))[0]))
            assert found >= truth
            assert found - truth <= abs(truth) * 1e-12 + 1e-12


# The oracle itself


def test_enclosures_of_known_numbers() -> None:
    # One randomised response: delta = (e^c - e^eps) / (1 + e^c).
    found = RandomizedResponses(1.0).enclosure(0.25)
    truth = (math.e - math.exp(0.25)) / (1.0 + math.e)
    assert found.low <= truth * (1.0 + 4e-16)
    assert found.high >= truth * (1.0 - 4e-16)
    assert found.high / found.low - 1.0 < 1e-15
    # Gaussian noise at epsilon 0: the total variation distance erf(shift / sqrt 8).
    with flint.ctx.workprec(100):
        exact = (flint.arb(0.7) / flint.arb(8).sqrt()).erf()
        enclosure = NormalPair(0.7).enclosure(0.0)
        assert flint.arb(enclosure.low) <= exact <= flint.arb(enclosure.high)
        # Beta(2, 1) against Beta(1, 2), densities 2t and 2 - 2t: 1 / (1 + e^eps).
        exact = 1 / (1 + flint.arb(0.5).exp())
        enclosure = SymmetricBetaPair(1.0, 1.0).enclosure(0.5)
        assert flint.arb(enclosure.low) <= exact <= flint.arb(enclosure.high)
        # Gamma(1) against Gamma(2), below x = e^-eps; the other direction is exp(-e^eps), less.
        grown = flint.arb(0.5).exp()
        exact = 1 - grown * (1 - (-1 / grown).exp())
        enclosure = GammaPair(1.0, 1.0).enclosure(0.5)
        assert (-grown).exp() < exact
        assert flint.arb(enclosure.low) <= exact <= flint.arb(enclosure.high)


def test_wide_where_nothing_is_known() -> None:
    assert not Enclosure(0.0, 1.0).is_narrow
    assert Enclosure(0.5, 0.5 * (1.0 + 1e-15)).is_narrow
    assert Enclosure.largest([Enclosure(0.1, 0.4), Enclosure(0.2, 0.3)]) == Enclosure(0.2, 0.4)


def test_profiles_without_a_rigorous_evaluation_say_so() -> None:
    assert NothingRevealed().enclosure(1.0) is None
    assert SymmetricBetaPair(9.0, 0.5).repeat(2).enclosure(1.0) is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    rigorous._flint.cache_clear()
    try:
        with pytest.raises(MissingExtra, match="rigorous"):
            DiscreteGaussianShift(1.0, 1).enclosure(1.0)
    finally:
        rigorous._flint.cache_clear()
