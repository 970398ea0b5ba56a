"""Closed-form errors against quadrature and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from veil_papers.data_driven_chains import corollary_1, lemma_7_entry_bound, lemma_8_entry_bound

import veil
from tests.oracles import brute
from veil.vectors.accuracy import (
    dirichlet_errors,
    expected_absolute_deviation,
    expected_kl,
    largest_expected_entry_error,
    largest_expected_kl,
    largest_expected_l1,
)

shapes = st.floats(0.2, 200.0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(a=shapes, b=shapes, centre=st.floats(0.0, 1.0))
def test_absolute_deviation(a: float, b: float, centre: float) -> None:
    ours = float(expected_absolute_deviation(np.array(a), np.array(b), np.array(centre)))
    assert ours == pytest.approx(float(brute.expected_absolute_deviation(a, b, centre)), rel=1e-6, abs=1e-9)


def test_absolute_deviation_at_the_mean_is_the_papers_formula() -> None:
    from scipy.special import betaln

    p, k = np.array([0.05, 0.3, 0.5]), 20.6
    paper = 2 * np.exp(k * p * np.log(p) + k * (1 - p) * np.log1p(-p) - betaln(k * p, k * (1 - p))) / k
    assert expected_absolute_deviation(k * p, k * (1 - p), p) == pytest.approx(paper, rel=1e-10)


def test_entries_that_cannot_vary() -> None:
    errors = expected_absolute_deviation(np.array([0.0, 3.0]), np.array([3.0, 0.0]), np.array([0.2, 0.9]))
    assert errors == pytest.approx([0.2, 0.1])


def test_expected_kl() -> None:
    p, a = np.array([0.2, 0.5, 0.3, 0.0]), np.array([3.0, 9.0, 4.0, 1.0])
    assert expected_kl(a, p) == pytest.approx(float(brute.expected_kl(p.tolist(), a.tolist())), rel=1e-6)
    assert expected_kl(np.array([0.0, 1.0]), np.array([0.5, 0.5])) == np.inf


def test_errors_against_simulation() -> None:
    # alpha: five standard errors; power: errors at a 10 % larger k are rejected
    truth = np.array([0.5, 0.3, 0.15, 0.05])
    mechanism = veil.vectors.Dirichlet(25.0, veil.vectors.Simplex(4, floor=0.1), smooth=True)
    draws = mechanism.sample(truth, rng=1, size=100_000)
    l1 = np.abs(draws - truth).sum(axis=1)
    tolerance = 5 * l1.std() / np.sqrt(len(l1))
    errors = mechanism.errors(truth)
    assert abs(errors.l1 - l1.mean()) < tolerance
    assert errors.tv == pytest.approx(errors.l1 / 2)
    assert errors.rmse == pytest.approx(np.sqrt(((draws - truth) ** 2).mean()), rel=0.02)
    assert errors.kl == pytest.approx((truth * np.log(truth / draws)).sum(axis=1).mean(), rel=0.03)
    wrong = veil.vectors.Dirichlet(27.5, veil.vectors.Simplex(4, floor=0.1), smooth=True).errors(truth)
    assert abs(wrong.l1 - l1.mean()) > tolerance


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), k=st.floats(5.0, 300.0), size=st.integers(3, 8))
def test_data_independent_bounds_hold(seed: int, k: float, size: int) -> None:
    floor = 0.3 / size
    p = floor + (1 - size * floor) * np.random.default_rng(seed).dirichlet(np.full(size, 0.3))
    errors = dirichlet_errors(k * p, p)
    assert errors.kl <= largest_expected_kl(k, size, floor) + 1e-12
    assert errors.l1 <= largest_expected_l1(k, size) + 1e-12
    assert max(errors.entries) <= largest_expected_entry_error(k) + 1e-12


def test_corollary_1_as_printed() -> None:
    """True, and attained at the vertex with entries of 1/N; with a larger floor the largest is smaller."""
    size, records, k = 5, 98, 20.6
    printed = corollary_1(size, records, k)
    assert printed == pytest.approx(largest_expected_kl(k, size, 1 / records), rel=1e-9)
    assert largest_expected_kl(k, size, 0.073) < printed
    vertex = np.array([1 / records] * (size - 1) + [1 - (size - 1) / records])
    assert printed == pytest.approx(expected_kl(k * vertex, vertex), rel=1e-9)
    uniform = np.full(size, 0.2)
    assert expected_kl(k * uniform, uniform) == pytest.approx(0.103, abs=2e-3)


def test_lemmas_7_and_8() -> None:
    assert lemma_7_entry_bound(20.6) == pytest.approx(largest_expected_entry_error(20.6), rel=1e-12)
    p = np.linspace(0.073, 0.7, 20)
    errors = expected_absolute_deviation(20.6 * p, 20.6 * (1 - p), p)
    assert (errors >= lemma_8_entry_bound(5, 98, 20.6)).all()
    assert (errors <= lemma_7_entry_bound(20.6)).all()
