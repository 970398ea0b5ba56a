"""Compositions and Renyi bounds: the quick numbers are near those of exact arithmetic, and never below."""

from __future__ import annotations

import pytest

from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import (
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import PrivacyProfile, SymmetricProfile
from veil.core.privacy.renyi import RenyiProfile
from veil.core.privacy.rigorous import NOTHING
from veil.vectors.contribution_profiles import gamma_contributions, gaussian_contributions
from veil.vectors.counts import Contributions


def check(profile: PrivacyProfile, *epsilons: float, near: float = 1e-8) -> None:
    """The quick delta lies between the certified bound and a little above it."""
    for epsilon in epsilons:
        found, quick = profile.enclosure(epsilon), profile.delta(epsilon)
        assert found is not None
        assert found.low <= found.high <= quick <= found.high * (1.0 + near)


@pytest.mark.slow
def test_compositions_against_whole_numbers() -> None:
    responses = RandomizedResponses(0.3)
    check(responses.compose(RandomizedResponses(0.11, 3)), 0.0, 0.25, 0.6)
    check(Composed(((responses, 37),)), 0.3, 4.0)
    assert responses.compose(RandomizedResponses(0.11, 3)).enclosure(0.7) == NOTHING


@pytest.mark.slow
def test_a_composition_of_pairs_against_whole_numbers() -> None:
    check(SymmetricBetaPair(30.0, 1.0).repeat(20), 1.0)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "profile",
    [
        GammaPair(20.0, 1.0).repeat(40),
        Composed.of((GammaPair(0.7, 0.4), 2), (DiscreteGaussianShift(3.0, 1), 1), adaptive=True),
    ],
)
def test_compositions_of_pairs_against_whole_numbers(profile: PrivacyProfile) -> None:
    check(profile, 1.0, 4.0)


def test_divergences_against_balls() -> None:
    normal = gaussian_contributions(7.3, Contributions(5, 5))
    check(normal, 0.5, 3.0, 12.0)
    for prior, scale, change in [
        (50.0, 1.5, Contributions(3, 2)),
        (1e6, 20.0, Contributions(2, 2)),
        (0.8, 0.01, Contributions(6, 0)),
    ]:
        gammas = gamma_contributions(prior, scale, change)
        # Logarithms of huge gammas cancel, so the bound on their rounding shows there.
        near = 1e-3 if prior > 1e3 else 1e-8
        check(gammas, 0.5, 3.0, near=near)
        check(gammas.compose(normal), 1.0, 5.0, near=near)


def test_without_a_certified_form_nothing_is_said() -> None:
    plain = RenyiProfile(lambda orders: 0.1 * orders)
    assert plain.enclosure(1.0) is None
    assert plain.compose(RandomizedResponses(0.3)).enclosure(1.0) is None
    together = plain.compose(gaussian_contributions(3.0, Contributions(1)))
    assert isinstance(together, RenyiProfile)
    assert together.certified is None


def test_certified_divergences_cover_the_closed_form() -> None:
    """One record in one cell is a shift whose square is that of the normal pair."""
    check(gaussian_contributions(2.0, Contributions(1)), 1.0)
    bound = gaussian_contributions(2.0, Contributions(1)).enclosure(1.0)
    exact = NormalPair(0.5).enclosure(1.0)
    assert bound is not None
    assert exact.high <= bound.high


class _Plain(SymmetricProfile):
    """A profile without an enclosure of its own."""

    pure_epsilon = 0.5

    def _log_delta(self, epsilon: float) -> float:
        return RandomizedResponses(0.5)._log_delta(epsilon)


def test_a_part_without_an_enclosure_is_not_left_out() -> None:
    """Beyond its largest loss it has one: nothing. Below it has none, and so has the composition."""
    composed = Composed.of((_Plain(), 3), (RandomizedResponses(0.6), 1))
    assert composed.enclosure(0.55) is None
    assert composed.enclosure(2.2) == NOTHING
