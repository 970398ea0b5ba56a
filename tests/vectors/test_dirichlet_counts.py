"""Counts: the form for data."""

from __future__ import annotations

import math

import numpy as np
import pytest

import veil
from tests.oracles.brute import dirichlet_pair_delta
from tests.oracles.hockey import beta_hockey_stick, gamma_hockey_stick
from veil.errors import InvalidArgument

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
@pytest.mark.parametrize(("scale", "prior"), [(0.5, 1.0), (2.0, 10.0), (3.0, 0.4)])
def test_replaced_record_matches_the_oracle(scale: float, prior: float, epsilon: float) -> None:
    delta = (
        veil.vectors.DirichletCounts(scale, prior, 4).profile(veil.vectors.Records("replace")).delta(epsilon)
    )
    truth = float(beta_hockey_stick(prior + scale, prior, prior, prior + scale, epsilon))
    assert truth <= delta <= truth * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
@pytest.mark.parametrize(("scale", "prior"), [(0.5, 1.0), (2.0, 10.0), (3.0, 0.4), (2.2, 100.0)])
def test_added_record_matches_the_oracle(scale: float, prior: float, epsilon: float) -> None:
    delta = (
        veil.vectors.DirichletCounts(scale, prior, 4)
        .profile(veil.vectors.Records("add-remove"))
        .delta(epsilon)
    )
    both = (
        gamma_hockey_stick(prior + scale, prior, epsilon),
        gamma_hockey_stick(prior, prior + scale, epsilon),
    )
    truth = float(max(both))
    assert truth <= delta <= truth * (1 + 1e-9)


def test_closed_form_of_the_specification() -> None:
    from scipy.special import gammainc, gammaincc, gammaln

    r, a, epsilon = 2.0, 10.0, 0.4
    log_c = gammaln(a + r) - gammaln(a)
    g2, g1 = math.exp((log_c - epsilon) / r), math.exp((log_c + epsilon) / r)
    closed = max(
        gammainc(a, g2) - math.exp(epsilon) * gammainc(a + r, g2),
        gammaincc(a + r, g1) - math.exp(epsilon) * gammaincc(a, g1),
    )
    delta = veil.vectors.DirichletCounts(r, a, 3).profile(veil.vectors.Records("add-remove")).delta(epsilon)
    assert delta == pytest.approx(closed, rel=1e-8)


@pytest.mark.slow_for("replace-2")
@pytest.mark.parametrize("pairs", [2, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("change", ["replace", "add-remove"])
def test_no_database_beats_the_claim(change: str, pairs: int) -> None:
    scale, prior, epsilon = 1.5, 2.0, 0.5
    claimed = (
        veil.vectors.DirichletCounts(scale, prior, 3).profile(veil.vectors.Records(change)).delta(epsilon)
    )
    worst = 0.0
    for _ in range(pairs):
        counts = RNG.integers(0, 12, size=3)
        other = counts.copy()
        other[0] += 1
        if change == "replace":
            counts[1] += 1
        shapes = [(scale * row + prior).tolist() for row in (counts, other)]
        worst = max(
            worst,
            dirichlet_pair_delta(shapes[0], shapes[1], epsilon),
            dirichlet_pair_delta(shapes[1], shapes[0], epsilon),
        )
    assert worst <= claimed + 2e-6


@pytest.mark.slow
def test_added_record_is_nearly_attained_by_a_large_database() -> None:
    # x_0 against a huge rest: the pair of betas tends to the pair of gammas
    scale, prior, epsilon = 1.5, 2.0, 0.5
    claimed = (
        veil.vectors.DirichletCounts(scale, prior, 3)
        .profile(veil.vectors.Records("add-remove"))
        .delta(epsilon)
    )
    from scipy.integrate import quad
    from scipy.stats import beta

    rest = 1e7
    log_p, log_q = beta(prior + scale, rest).logpdf, beta(prior, rest).logpdf

    def excess(y: float) -> float:
        p, q = math.exp(log_p(y / rest)) / rest, math.exp(log_q(y / rest)) / rest
        return max(max(p - math.exp(epsilon) * q, 0.0), 0.0)

    def reverse(y: float) -> float:
        p, q = math.exp(log_p(y / rest)) / rest, math.exp(log_q(y / rest)) / rest
        return max(q - math.exp(epsilon) * p, 0.0)

    reached = max(quad(excess, 0.0, 60.0, limit=400)[0], quad(reverse, 0.0, 60.0, limit=400)[0])
    assert reached == pytest.approx(claimed, rel=1e-3)


def test_msnbc_figure() -> None:
    best = veil.calibrate(
        lambda scale: veil.vectors.DirichletCounts(scale, 100.0, 17),
        veil.vectors.Records("add-remove"),
        epsilon=1.0,
        delta=1e-6,
    )
    assert best.scale == pytest.approx(2.2, abs=0.05)


def test_same_release_as_a_smoothed_vector() -> None:
    mechanism = veil.vectors.DirichletCounts(2.0, 3.0, 4)
    same, moved = mechanism.as_dirichlet(50)
    assert same.k == pytest.approx(2.0 * 50 + 4 * 3.0)
    ours, theirs = (
        mechanism.profile(veil.vectors.Records("replace")),
        same.profile(veil.vectors.Transfer(moved)),
    )
    assert ours.delta(0.5) == pytest.approx(theirs.delta(0.5), rel=1e-9)


def test_empty_rows_get_the_prior() -> None:
    draws = veil.vectors.DirichletCounts(2.0, 3.0, 4).sample([0, 0, 0, 0], rng=1, size=2000)
    assert np.allclose(draws.mean(axis=0), 0.25, atol=0.02)


@pytest.mark.parametrize(
    ("scale", "prior", "size"), [(0, 1, 3), (1, 0, 3), (1, 1, 1), (1, -2, 3), ("a", 1, 3)]
)
def test_bad_arguments(scale: object, prior: object, size: object) -> None:
    with pytest.raises(InvalidArgument):
        veil.vectors.DirichletCounts(scale, prior, size)  # type: ignore[arg-type]
