"""The parameters of matrix-valued Bernoulli bits, and what the XOR paper prints about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.bits.numerics.brute import brute_law, dense, random_quadratic, random_symmetric, tables
from veil.bits.mechanisms.matrix_bernoulli import xor_parameters
from veil.bits.numerics.enumerated_changes import exact_sum
from veil.bits.numerics.fields import contraction
from veil.bits.numerics.flip_losses import worst_loss
from veil.bits.numerics.published_bounds import condition_4, expected_ones_in_closed_form, proposition_1
from veil.bits.numerics.quadratic import Quadratic
from veil.errors import InvalidArgument

KINDS = ("independent", "common", "pairs", "diagonal", "multiples")


@pytest.mark.parametrize("kind", KINDS)
def test_matrix_and_energy_are_those_of_the_definition(kind: str) -> None:
    rng = np.random.default_rng(1)
    q = random_quadratic(rng, 3, 2, kind)
    b = tables(6)
    assert q.pi() == pytest.approx(dense(q))
    assert q.energy(b.reshape(-1, 3, 2)) == pytest.approx(np.einsum("ti,ij,tj->t", b, dense(q), b))
    assert q.rows_independent == (kind == "independent")
    assert (q.multiples is not None) == (kind == "multiples")
    assert (q.column_form is not None) == (kind in {"diagonal", "multiples"})
    assert q.shape == (3, 2)


def test_couplings_take_their_simplest_form() -> None:
    same = random_symmetric(np.random.default_rng(2), 2)
    pairs = {(i, j): same for i in range(3) for j in range(i + 1, 3)}
    assert Quadratic(np.eye(2), pairs, rows=3).common is not None
    assert Quadratic(np.eye(2), {(0, 1): np.zeros((2, 2))}, rows=3).rows_independent
    for nothing in (None, 0, 0.0, np.zeros((2, 2))):
        assert Quadratic(np.eye(2), nothing, rows=3).coupling is None
    assert Quadratic(np.eye(2), same, rows=1).coupling is None
    assert Quadratic([[0.5]], [[0.25]], rows=4).multiples == (0.5, 0.25)
    lazy = Quadratic.exchangeable(0.5, 0.25, rows=3, columns=2)
    assert lazy.pi() == pytest.approx(Quadratic(0.5 * np.eye(2), 0.25 * np.eye(2), rows=3).pi())
    b = tables(6).reshape(-1, 3, 2)
    assert lazy.energy(b) == pytest.approx(np.einsum("tij,ijkl,tkl->t", b, lazy.pi().reshape(3, 2, 3, 2), b))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"theta": [[1.0, 2.0], [0.0, 1.0]], "rows": 2}, "theta"),
        ({"theta": [[1.0, 2.0]], "rows": 2}, "theta"),
        ({"theta": [[math.nan]], "rows": 2}, "theta"),
        ({"theta": [[1e30]], "rows": 2}, "theta"),
        ({"theta": np.eye(2), "coupling": [[1.0]], "rows": 2}, "coupling"),
        ({"theta": np.eye(2), "coupling": [[1.0, 2.0], [0.0, 1.0]], "rows": 2}, "coupling"),
        ({"theta": np.eye(1), "coupling": {(1, 0): [[1.0]]}, "rows": 2}, "coupling"),
        ({"theta": np.eye(1), "coupling": {0: [[1.0]]}, "rows": 2}, "coupling"),
        ({"theta": np.eye(1), "rows": 0}, "rows"),
        ({"theta": np.eye(1), "rows": True}, "rows"),
    ],
)
def test_wrong_parameters_are_named(arguments: Any, field: str) -> None:
    with pytest.raises(InvalidArgument, match=field):
        Quadratic(**arguments)


def test_dense_matrix_of_a_large_table_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="4096"):
        Quadratic.exchangeable(1.0, 0.0, rows=4039, columns=4039).pi()


def test_sums_are_exact() -> None:
    values = np.array([1.0, 2.0**-1000, -1.0, 2.0**60, 3.0 * 2.0**-1074])
    assert exact_sum(values) * 2**1074 == 2 ** (60 + 1074) + 2**74 + 3


def test_printed_epsilon_and_the_certified_one() -> None:
    """Algorithm 1: the stated epsilon, and epsilon / sqrt(P) (alpha + 4 (1 - alpha) / N)."""
    for rows, columns in ((240, 16), (426, 30)):
        for alpha in (0.5, 0.9, 1.0):
            q = xor_parameters(1.0, alpha, rows, columns, columns)
            assert condition_4(q, columns) == pytest.approx(1.0)
            certified = worst_loss(q, columns, "row")
            assert certified.exact
            expected = (alpha + 4 * (1 - alpha) / rows) / math.sqrt(columns)
            assert certified.value == pytest.approx(expected, rel=1e-12)


def test_flip_rates_of_the_published_parameters() -> None:
    """The sign repaired by the complement: 0.4961 and 0.4985 when nearly all goes to theta."""
    for rows, columns, rate in ((240, 16, 0.4961), (426, 30, 0.4985)):
        q = xor_parameters(1.0, 0.9999, rows, columns, columns)
        ones = expected_ones_in_closed_form(q)
        assert ones is not None
        assert ones > q.cells / 2
        assert 1.0 - ones / q.cells == pytest.approx(rate, abs=5e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_expected_ones(kind: str) -> None:
    q = random_quadratic(np.random.default_rng(3), 2, 3, kind)
    assert expected_ones_in_closed_form(q) == pytest.approx(brute_law(q) @ tables(6).sum(axis=1))


def test_proposition_1_holds_and_says_little() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        # Positive entries and eigenvalues, as the proposition asks.
        theta, common = (np.abs(random_symmetric(rng, 2, 0.3)) + np.eye(2) for _ in range(2))
        q = Quadratic(theta, common, rows=3)
        mean = brute_law(q) @ tables(6).sum(axis=1)
        found = proposition_1(q)
        a = np.linalg.eigvalsh(theta)[-1] + 6.0 * np.linalg.eigvalsh(common)[-1]
        by_hand = sum(math.comb(6, k) * k * math.exp(a * k) for k in range(7))
        assert found.log_upper == pytest.approx(math.log(by_hand))
        norms = 3.0 * np.linalg.norm(theta) + 3.0 * np.linalg.norm(common)
        assert found.log_lower == pytest.approx(math.log(2**5 * (2.0 + norms)))
        assert mean <= found.bound
    assert proposition_1(xor_parameters(1.0, 0.5, 240, 16, 16)).bound > 240 * 16


def test_contraction_of_a_pair_is_known_by_hand() -> None:
    """Two bits with pulls +-1 on one another: the influence is tanh(1/2), and each sweep keeps so much."""
    q = Quadratic([[-1.0]], [[1.0]], rows=2)
    assert contraction(q).rate == pytest.approx(math.tanh(0.5))
    assert contraction(Quadratic(np.eye(2), rows=5)).sweeps == 1.0
    assert contraction(Quadratic([[-30.0]], [[30.0]], rows=9)).sweeps == math.inf
    # The same parameters pair by pair.
    rng = np.random.default_rng(5)
    theta, common = random_symmetric(rng, 2, 0.2), random_symmetric(rng, 2, 0.05)
    q = Quadratic(theta, common, rows=3)
    apart = Quadratic(theta, {(0, 1): common, (0, 2): common, (1, 2): common + 1e-12}, rows=3)
    assert apart.pairs is not None
    assert contraction(apart).rate == pytest.approx(contraction(q).rate, rel=1e-3)
