"""29,185 neighbours of the Dirichlet theorems: no pair is told apart better than is claimed.

Two Dirichlet vectors of which two shapes differ are told apart by the share t of the one entry in both: given
t, all the rest has the same law. t is a beta variable, so that the divergence has a closed form; where the
float entries do not quite exchange the same amount, t still gives a lower bound.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from flint import arb

from tests.review.divergences import added_divergence, is_below, is_known, shifted_bound, shown
from tests.review.neighbours import Tables, Vectors
from tests.review.tally import Tally, in_full
from veil.vectors import Dirichlet, Simplex, Transfer

STUDY = "neighbours of the Dirichlet theorems"
PAIRS, EPSILONS = 12, 3


def divergences(
    first: list[Fraction], second: list[Fraction], i: int, j: int | None, epsilon: float
) -> list[arb]:
    """Both directions of Dirichlet(first) and Dirichlet(second), which differ in i and j, or in i alone."""
    if j is not None:
        p, q = (first[i], first[j]), (second[i], second[j])
        return [shifted_bound(p, q, epsilon), shifted_bound(q, p, epsilon)]
    others, more = sum(first) - first[i], first[i] - second[i]
    return [added_divergence(second[i], others, more, epsilon, gained=gained) for gained in (True, False)]


def compare(tally: Tally, setting: Vectors | Tables, rng: np.random.Generator) -> None:
    """Some neighbours of one mechanism at some epsilons."""
    profile = setting.mechanism.profile(setting.adjacency)
    epsilons = [min(setting.typical_loss * float(rng.choice([0.0, rng.random(), 4.0])), 50.0)]
    epsilons += [float(10.0 ** rng.uniform(-4, 1.3)) for _ in range(EPSILONS - 1)]
    claims = [(epsilon, profile.delta(epsilon)) for epsilon in epsilons]
    for first, second, i, j in islice(setting.neighbours(rng), PAIRS):
        shapes = setting.shapes(first), setting.shapes(second)
        for epsilon, claim in claims:
            text = f"{setting} {first} {second} at {epsilon!r}: {claim!r}"
            truths = divergences(*shapes, i, j, epsilon)
            if all(is_known(truth) for truth in truths):
                worst = max(truths, key=lambda truth: float(truth.mid()))
                found = any(is_below(claim, truth) for truth in truths)
                tally.add(f"{text}, truth {shown(worst)}", is_above=found)
            else:
                tally.leave_open(f"{text}, truth {list(map(shown, truths))}")


@pytest.mark.slow
@in_full(STUDY)
def test_no_neighbours_are_told_apart_better_than_claimed(least: int) -> None:
    tally, rng = Tally(STUDY), np.random.default_rng(29_185)
    while tally.checked < least:
        for kind in (Vectors, Vectors, Tables):
            compare(tally, kind.random(rng), rng)
    tally.close(least)


def test_the_worst_pair_is_reached() -> None:
    """The comparison is sharp: the corner of the domain has all of the delta that is claimed."""
    setting = Vectors(Dirichlet(20.0, Simplex(4, floor=0.0625)), Transfer(0.25))
    first, second = [0.3125, 0.0625, 0.3125, 0.3125], [0.0625, 0.3125, 0.3125, 0.3125]
    shapes = setting.shapes(first), setting.shapes(second)
    for epsilon in (0.0, 0.5, 2.0):
        truth, _ = divergences(*shapes, 0, 1, epsilon)
        claim = setting.mechanism.profile(setting.adjacency).delta(epsilon)
        assert not is_below(claim, truth)
        assert claim == pytest.approx(float(truth), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["floor", "mass", "k"])
def test_a_claim_for_less_is_seen(fault: str) -> None:
    """A guarantee for a higher floor, a smaller move or a smaller k than is drawn with is found out."""
    drawn = {"floor": 0.05, "mass": 0.2, "k": 30.0}
    said = drawn | {fault: drawn[fault] * (1.02 if fault == "floor" else 0.98)}

    def setting(numbers: dict[str, float]) -> Vectors:
        domain = Simplex(4, floor=numbers["floor"])
        return Vectors(Dirichlet(numbers["k"], domain), Transfer(numbers["mass"]))

    honest, claimed = setting(drawn), setting(said)
    rng, found = np.random.default_rng(3), False
    claim = claimed.mechanism.profile(claimed.adjacency).delta(1.0)
    for first, second, i, j in islice(honest.neighbours(rng), 200):
        truths = divergences(honest.shapes(first), honest.shapes(second), i, j, 1.0)
        found = found or any(is_below(claim, truth) for truth in truths)
    assert found
