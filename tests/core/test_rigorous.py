"""Printed deltas against certified enclosures: never below, for parameters from 1e-30 to 1e30."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.rigorous import CHUNK, SEED, compared, finished, run
from veil import bits, matrices, vectors
from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.core.numerics.densities import LogitBeta
from veil.core.privacy.pairs import (
    BetaPair,
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile, SymmetricProfile
from veil.core.privacy.rigorous import NOTHING, Enclosure
from veil.core.privacy.rigorous.enclosure import flint as imported_flint
from veil.errors import MissingExtra
from veil.matrices.row_profiles import WorstOf
from veil.vectors.two_entries import TwoEntries

from .rigorous_cases import Case, cases
from .rigorous_study import Study

flint = pytest.importorskip("flint")


def judged(study: Study) -> None:
    """Nothing below; of all sets at most one in a hundred that Arb does not resolve."""
    total = study.total
    print(total, *study.unresolved, sep="\n")
    assert study.below == []
    assert total.unresolved <= 0.01 * total.sets


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize("seed", range(4))
def test_never_below(seed: int) -> None:
    judged(Study().look_at(cases(1_000 + seed, 96)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_sets(seed: int) -> None:
    judged(Study().look_at(cases(2_000 + seed, 1_000)))


@pytest.mark.evidence
@pytest.mark.parametrize("part", range(20))
def test_a_hundred_thousand_sets(part: int) -> None:
    """The sets of `python -m bench.rigorous`."""
    study = Study()
    for chunk in range(part, 100_000 // CHUNK, 20):
        study.add(compared(chunk, seed=SEED, sets=100_000))
    judged(study)


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


class Broken(SymmetricProfile):
    """Half of what it should be, or a profile without an evaluation."""

    def __init__(self, whole: NormalPair, *, known: bool = True) -> None:
        self.whole, self.known = whole, known

    def _log_delta(self, epsilon: float) -> float:
        return self.whole._log_delta(epsilon) - 1e-9

    def enclosure(self, epsilon: float) -> Enclosure | None:
        return self.whole.enclosure(epsilon) if self.known else super().enclosure(epsilon)


def test_the_study_finds_what_is_below() -> None:
    study = Study().look_at([Case("broken", Broken(NormalPair(0.7)), 0.3, (0.7,))])
    assert len(study.below) == study.total.below == 1
    assert "broken(0.7) at epsilon 0.3: printed" in study.below[0]


def test_the_study_counts_what_is_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NormalPair, "enclosure", lambda self, epsilon: Enclosure(0.0, 1.0))
    study = Study().look_at([Case("normal", NormalPair(0.7), 0.3, (0.7,))])
    assert (study.total.below, study.total.unresolved, len(study.unresolved)) == (0, 1, 1)


def test_the_study_goes_on_where_it_was_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "state.jsonl"
    whole = run(sets=16, seed=3, processes=1, state=state)
    assert whole.total.sets == 16
    assert finished(state, seed=3, sets=16)[0] == whole
    assert finished(state, seed=4, sets=16) == {}
    assert run(sets=16, seed=3, processes=1, state=state) == whole
    assert "16 of 16 sets, 0 below" in capsys.readouterr().out


# Every kind of profile


def test_a_lazy_response() -> None:
    found = LazyResponse(2.0, 0.3).enclosure(0.5)
    truth = 0.3 * (1.0 - math.exp(-1.5))
    assert found.low * (1.0 - 1e-15) <= truth <= found.high * (1.0 + 1e-15)
    assert LazyResponse(2.0, 0.3).enclosure(2.0) == NOTHING
    profile = bits.StaircaseXor(8, 1.0, flips=2).profile()
    assert isinstance(profile, LazyResponse)
    assert profile.enclosure(0.25).high <= profile.delta(0.25)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_two_entries_from_the_corner_to_the_worst_cell(epsilon: float) -> None:
    profile = TwoEntries(20.0, 0.1, 0.1)
    found, printed = profile.enclosure(epsilon), profile.delta(epsilon)
    # At the corner x = 0.1: Beta(4, 16) against Beta(2, 18), in the worse direction.
    corner = BetaPair(2.0, 16.0, 2.0).delta(epsilon)
    assert found.low == pytest.approx(corner, rel=1e-12)
    assert found.low <= found.high <= printed
    assert printed <= found.low * (1.0 + 2e-6)


def test_the_worst_of_several() -> None:
    one, other = SymmetricBetaPair(9.0, 0.5), SymmetricBetaPair(30.0, 1.0)
    worst = WorstOf((one, other))
    for epsilon in (0.0, 1.0, 4.0):
        both = [one.enclosure(epsilon), other.enclosure(epsilon)]
        assert worst.enclosure(epsilon) == Enclosure.largest(both)
    assert WorstOf((one, Broken(NormalPair(1.0), known=False))).enclosure(1.0) is None


def test_rows_of_a_matrix() -> None:
    mechanism = matrices.MatrixDirichlet([40.0, 90.0], [vectors.Simplex(3, floor=0.1)] * 2)
    profile = mechanism.profile(matrices.Rows(1, vectors.Transfer(0.05)))
    found = profile.enclosure(1.0)
    assert found is not None
    assert found.high <= profile.delta(1.0) <= found.low * (1.0 + 1e-9)


def test_no_loss_beyond_the_largest_one() -> None:
    assert NothingRevealed().enclosure(0.0) == NOTHING
    several = RandomizedResponses(0.5).compose(RandomizedResponses(0.25))
    assert several.enclosure(0.75) == NOTHING
    assert RandomizedResponses(0.1, 3).enclosure(RandomizedResponses(0.1, 3).pure_epsilon) == NOTHING
    below = RandomizedResponses(0.1, 3).enclosure(math.nextafter(0.1 * 3, 0.0))
    assert below.low > 0.0


def test_profiles_without_a_rigorous_evaluation_say_so() -> None:
    assert Broken(NormalPair(1.0), known=False).enclosure(1.0) is None


@pytest.mark.parametrize(("sigma", "cells"), [(1e-3, 1), (0.4, 1), (250.0, 1), (0.2, 2), (0.4, 2), (3.0, 2)])
def test_discrete_gaussians_by_the_definition(sigma: float, cells: int) -> None:
    """Summed term by term over all noises of one cell, or of two."""
    reach = max(3, math.ceil(9.0 * sigma))
    z = np.arange(-reach, reach + 2)
    weights = np.exp(-(z.astype(float) ** 2) / (2.0 * sigma**2))
    law = weights / weights.sum()
    moved = np.concatenate([[0.0], law[:-1]])
    p, q = (moved, law) if cells == 1 else (np.outer(moved, law), np.outer(law, moved))
    for epsilon in (0.0, 0.3 / sigma, 1.0):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
        found = DiscreteGaussianShift(sigma, cells).enclosure(epsilon)
        assert found.is_narrow
        assert found.low == pytest.approx(truth, rel=1e-9, abs=1e-15)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    imported_flint.cache_clear()
    try:
        with pytest.raises(MissingExtra, match="rigorous"):
            DiscreteGaussianShift(1.0, 1).enclosure(1.0)
    finally:
        imported_flint.cache_clear()
