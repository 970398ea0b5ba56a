"""5,514 values of compositions against lower bounds of the truth: none is below it, in any direction."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from tests.review.compositions import Composition, Part, Truth, continuous, discrete, normal
from tests.review.divergences import (
    ball,
    beta_divergence,
    gamma_divergence,
    is_below,
    normal_divergence,
    shown,
)
from tests.review.loss_laws import (
    BITS,
    LossLaw,
    beta_line,
    cells_for,
    deviation,
    gamma_line,
    gaussian_law,
    lazy_law,
    response_law,
)
from tests.review.sums import one_cell_divergence, responses_divergence, two_cell_divergence
from tests.review.tails import precision
from tests.review.tally import Tally, in_full
from veil.core.privacy.pairs import GammaPair, RandomizedResponses
from veil.errors import NoGuarantee

STUDY = "compositions"
EPSILONS = 12
DELTAS = (1e-3, 1e-9, 1e-18)
ORDERS = (1.5, 2.0, 8.0)
# Of what is claimed: below it nothing is compared with profit.
_TINY = 1e-25


class Sharpness:
    """The largest part of a claim that the truth reaches."""

    def __init__(self) -> None:
        self.largest = 0.0

    def see(self, claim: float, truth: arb) -> None:
        if claim > _TINY:
            self.largest = max(self.largest, float(truth) / claim)


def compare(tally: Tally, case: Composition, rng: np.random.Generator, *, inverse: bool) -> float:
    """Everything that the profile of a composition says; the largest part of a delta that is reached."""
    profile, truths, sharp = case.profile, list(case.truths(rng)), Sharpness()
    points = [(epsilon, profile.delta(epsilon)) for epsilon in case.epsilons(rng, EPSILONS)]
    if inverse:
        points += [(profile.epsilon(delta), delta) for delta in DELTAS]
    for truth in truths:
        for epsilon, claim in points:
            if not math.isfinite(epsilon):
                continue
            value = truth.divergence(Fraction(epsilon))
            what = f"{truth.name} at {epsilon!r}: {claim!r}, truth {shown(value)}"
            tally.add(what, is_above=is_below(claim, value))
            sharp.see(claim, value)
        for order, most in moments(profile):
            value = truth.renyi(Fraction(order))
            what = f"{truth.name}, order {order}: {float(most)!r}, truth {shown(value)}"
            with precision(BITS):
                tally.add(what, is_above=bool(value > ball(most)))
    if math.isfinite(profile.pure_epsilon):
        # The largest loss of each lattice, which is the last one: a whole number of steps, not rounded.
        total = sum(law.loss(len(law.masses) - 1) for law in truths[0].laws)
        tally.add(f"{case.name}: {profile.pure_epsilon!r}", is_above=Fraction(profile.pure_epsilon) < total)
    return sharp.largest


def moments(profile: Any) -> list[tuple[float, Fraction]]:
    """Renyi divergences where they are known, and those that zCDP implies."""
    found = []
    for order in ORDERS:
        with suppress(NoGuarantee):
            found.append((order, 1.0, profile.rdp(order)))
        with suppress(NoGuarantee):
            found.append((order, order, profile.zcdp()))
    finite = [one for one in found if math.isfinite(one[2])]
    return [(order, Fraction(factor) * Fraction(claim)) for order, factor, claim in finite]


@pytest.mark.slow
@in_full(STUDY)
def test_no_composition_is_below_the_truth(least: int) -> None:
    """Of each five, two are of beta and gamma pairs, whose grids take seconds."""
    tally, rng = Tally(STUDY), np.random.default_rng(5_514)
    largest = {discrete: 0.0, continuous: 0.0}
    turn = 0
    while tally.checked < least:
        maker = continuous if turn % 5 in (2, 4) else discrete
        largest[maker] = max(largest[maker], compare(tally, maker(rng), rng, inverse=turn % 3 == 0))
        turn += 1
    print(f"\n{turn} compositions; the largest part of a delta:", [f"{one:.9f}" for one in largest.values()])
    tally.close(least)
    assert largest[discrete] > 0.999


@cache
def gamma_laws() -> tuple[LossLaw, LossLaw]:
    line = gamma_line(3.0, 1.0, *cells_for(deviation(3.0)))
    return line.law(forward=True), line.law(forward=False)


@cache
def beta_laws() -> tuple[LossLaw, LossLaw]:
    line = beta_line(2.0, 5.0, 1.5, *cells_for(1.5 * deviation(2.0, 5.0)))
    return line.law(forward=True), line.law(forward=False)


def gamma_part(times: int) -> Part:
    return Part("gamma", GammaPair(3.0, 1.0), times, 0.6, *gamma_laws())


@pytest.mark.slow
def test_parts_that_go_opposite_ways_are_covered() -> None:
    """Two gamma pairs and some responses: both directions of each, against one claim."""
    answers = Part("answers", RandomizedResponses(0.25), 4, 0.5, response_law(0.25))
    case = Composition([gamma_part(2), answers])
    tally, found = Tally(STUDY), {}
    for ahead, epsilon in product((0, 1, 2), (0.0, 0.5, 1.0, 3.0)):
        claim = case.profile.delta(epsilon)
        laws = [part.law(ahead) for part in case.parts]
        truth = Truth("both ways", laws, Fraction(0)).divergence(Fraction(epsilon))
        tally.add(f"{ahead} forward at {epsilon}: {claim}, {shown(truth)}", is_above=is_below(claim, truth))
        found[ahead, epsilon] = float(truth)
    tally.close(12)
    # The comparison is sharp, and the directions do differ.
    assert found[0, 1.0] > 0.98 * case.profile.delta(1.0)
    assert found[2, 3.0] < found[1, 3.0] < found[0, 3.0]


@pytest.mark.parametrize("shrink", [1e-3, 1e-6])
def test_a_claim_that_is_a_little_less_is_seen(shrink: float) -> None:
    """Randomised responses of one parameter, whose composition has a closed form."""
    parts = [Part(f"{n} times", RandomizedResponses(0.5), n, 0.5, response_law(0.5)) for n in (3, 4)]
    case = Composition(parts)
    truth = next(case.truths(np.random.default_rng(1)))
    for epsilon in (0.0, 0.75, 2.0):
        claim = case.profile.delta(epsilon)
        assert not is_below(claim, truth.divergence(Fraction(epsilon)))
        assert is_below(claim * (1.0 - shrink), truth.divergence(Fraction(epsilon)))


@pytest.mark.parametrize("epsilon", [-1.5, 0.0, 0.4, 2.5])
def test_discrete_laws_have_the_known_divergences(epsilon: float) -> None:
    at = Fraction(epsilon)

    def known(truth: arb) -> arb:
        """At negative epsilons by the symmetry of the pair."""
        with precision(BITS):
            return truth if at >= 0 else 1 - ball(at).exp() + ball(at).exp() * truth

    size = abs(epsilon)
    pairs: list[tuple[LossLaw | Truth, arb]] = [
        (response_law(0.7).repeated(5), responses_divergence(0.7, 5, size)),
        (gaussian_law(1.25, 1), one_cell_divergence(1.25, size)),
        (gaussian_law(0.75, 2), two_cell_divergence(0.75, size)),
        (Truth("normal", [], Fraction(9, 16)), normal_divergence(0.75, size)),
    ]
    for law, truth in pairs:
        with precision(BITS):
            assert bool(abs(law.divergence(at) - known(truth)) < arb(10) ** -30)
    with precision(BITS):
        lazy = lazy_law(1.0, 0.25).divergence(Fraction(0))
        assert bool(abs(lazy - ball(0.25) * (1 - arb(-1).exp())) < arb(10) ** -30)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_laws_on_a_lattice_are_nearly_all_of_the_truth(epsilon: float) -> None:
    """Below it, and by no more than some hundredths at a delta of 1e-8."""
    for law, truth in [
        (gamma_laws()[0], gamma_divergence(3.0, 1.0, epsilon, more=True)),
        (gamma_laws()[1], gamma_divergence(3.0, 1.0, epsilon, more=False)),
        (beta_laws()[0], beta_divergence(2.0, 5.0, 1.5, epsilon)),
        (beta_laws()[1], beta_divergence(5.0, 2.0, 1.5, epsilon)),
    ]:
        found = law.divergence(Fraction(epsilon))
        assert bool(found <= truth)
        assert bool(found > ball(0.97) * truth)


def test_normal_pairs_add_by_their_squares() -> None:
    rng = np.random.default_rng(9)
    case = Composition([normal(rng, 3), normal(rng, 1), normal(rng, 7)])
    truth = next(case.truths(rng))
    total = reduce(lambda one, part: one + part.times * part.shift**2, case.parts, Fraction(0))
    claim = case.profile.delta(1.0)
    assert not is_below(claim, truth.divergence(Fraction(1)))
    assert claim == pytest.approx(float(normal_divergence(math.sqrt(total), 1.0)), rel=1e-9)
