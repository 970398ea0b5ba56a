"""The certified loss against brute force over all tables and changes."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np
import pytest

from tests.bits.numerics.brute import brute_loss, random_quadratic, random_symmetric
from tests.params import quick_first
from veil.bits.numerics import flip_losses
from veil.bits.numerics.enumerated_changes import gains_by_filters, gains_by_signs
from veil.bits.numerics.flip_losses import Where, worst_loss
from veil.bits.numerics.published_bounds import condition_4
from veil.bits.numerics.quadratic import Quadratic
from veil.errors import InvalidArgument

KINDS = ("independent", "common", "pairs", "diagonal", "multiples")
SHAPES = [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)]
PLACES: tuple[Where, ...] = ("anywhere", "row")


@pytest.mark.parametrize("many", quick_first([1, 6]))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_brute_force(kind: str, shape: tuple[int, int], many: int) -> None:
    rng = np.random.default_rng([7, *shape, KINDS.index(kind)])
    for _ in range(many):
        q = random_quadratic(rng, *shape, kind)
        for where in PLACES:
            for count in (1, 2, 3, shape[0] * shape[1]):
                found, truth = worst_loss(q, count, where), brute_loss(q, count, where)
                assert found.exact
                # Brute force is itself rounded.
                assert truth * (1 - 1e-13) <= found.value <= truth * (1 + 1e-12)


def exact_loss(q: Quadratic, count: int) -> Fraction:
    """Brute force in rationals: nothing is rounded."""
    cells = q.cells
    pi = [[Fraction(float(value)) for value in row] for row in q.pi()]
    energies = []
    for table in range(2**cells):
        ones = [i for i in range(cells) if table >> i & 1]
        energies.append(sum((pi[i][j] for i in ones for j in ones), Fraction(0)))
    changes = [change for change in range(1, 2**cells) if change.bit_count() <= count]
    return max(abs(energies[b] - energies[b ^ change]) for b in range(2**cells) for change in changes)


@pytest.mark.parametrize("kind", KINDS)
def test_never_below_the_rational_truth(kind: str) -> None:
    rng = np.random.default_rng([12, KINDS.index(kind)])
    for scale in (1e-3, 1.0, 30.0):
        q = random_quadratic(rng, 2, 2, kind, scale)
        for count in (1, 2, 3, 4):
            found, truth = worst_loss(q, count, "anywhere").value, exact_loss(q, count)
            assert truth <= Fraction(found) <= truth * (1 + Fraction(1, 10**12))


def test_the_numbers_of_the_paper_are_too_small() -> None:
    smallest = Quadratic([0.5], [0.5], rows=2)
    assert worst_loss(smallest, 1, "row").value == 1.5
    assert brute_loss(smallest, 1, "row") == 1.5
    assert condition_4(smallest, 1) == 1.0
    dense = Quadratic(np.full((2, 2), 0.45), np.full((2, 2), 0.375), rows=2)
    assert condition_4(dense, 2) == pytest.approx(3.30)
    assert worst_loss(dense, 2, "row").value == pytest.approx(4.80)
    assert brute_loss(dense, 2, "row") == pytest.approx(4.80)


@pytest.mark.slow
@pytest.mark.parametrize("many", quick_first([3, 20]))
def test_bounds_are_never_below(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing affordable the telescoped bounds answer; they too are above the truth, and not far."""
    monkeypatch.setattr(flip_losses, "_AFFORDABLE", 0)
    rng = np.random.default_rng(8)
    ratios = []
    for kind in ("independent", "common", "pairs"):
        for _ in range(many):
            q = random_quadratic(rng, 3, 3, kind)
            for where in PLACES:
                for count in (1, 2, 3, 5, 9):
                    found, truth = worst_loss(q, count, where), brute_loss(q, count, where)
                    assert found.exact == (count == 1)
                    assert found.value >= truth * (1 - 1e-13)
                    ratios.append(found.value / truth)
    assert np.median(ratios) < 1.5


def test_blocks_of_known_flips_bound_more_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flip_losses, "_MOST_BITS", 0)
    rng = np.random.default_rng(9)
    for kind in ("independent", "common", "pairs"):
        q = random_quadratic(rng, 3, 3, kind)
        for affordable in (2**11, 2**14):
            monkeypatch.setattr(flip_losses, "_AFFORDABLE", affordable)
            for where in PLACES:
                for count in (2, 3, 4, 7):
                    assert worst_loss(q, count, where).value >= brute_loss(q, count, where) * (1 - 1e-13)


def test_both_enumerations_agree() -> None:
    rng = np.random.default_rng(10)
    matrix = random_symmetric(rng, 7)
    assert gains_by_signs(matrix, [], 7) == pytest.approx(gains_by_filters(matrix, 7), rel=1e-12)


def test_dyadic_parameters_are_not_rounded_at_all() -> None:
    q = Quadratic([[0.5, -0.25], [-0.25, 0.125]], [[0.25, 0.5], [0.5, -1.0]], rows=2)
    for where in PLACES:
        for count in (1, 2, 4):
            assert worst_loss(q, count, where).value == brute_loss(q, count, where)


@pytest.mark.slow
def test_long_rows_and_large_tables() -> None:
    rng = np.random.default_rng(11)
    theta = random_symmetric(rng, 14, 0.1)
    q = Quadratic(theta, rows=240)
    assert worst_loss(q, 14, "row").exact
    assert worst_loss(q, 5, "anywhere").exact
    coupled = Quadratic(theta, random_symmetric(rng, 14, 0.001), rows=240)
    exact = worst_loss(coupled, 14, "row")
    assert exact.exact
    assert worst_loss(coupled, 3, "anywhere").exact
    # A row of 24 columns has 3^24 signed changes: a bound.
    wide = Quadratic(random_symmetric(rng, 24, 0.1), random_symmetric(rng, 24, 0.001), rows=240)
    bound = worst_loss(wide, 24, "row")
    assert not bound.exact
    assert bound.value >= worst_loss(wide, 5, "row").value
    many = Quadratic.exchangeable(0.01, 1e-6, rows=4039, columns=4039)
    assert worst_loss(many, 2, "anywhere").value == pytest.approx(2 * (0.01 + 2e-6 * 4038), rel=1e-12)
    assert worst_loss(many, 10**7, "anywhere").exact


def test_exchangeable_loss_of_a_row_is_the_formula_of_the_paper() -> None:
    for c, between, rows, columns in ((0.3, -0.2, 5, 4), (-0.3, 0.2, 7, 2), (0.25, 0.5, 1, 3)):
        q = Quadratic.exchangeable(c, between, rows=rows, columns=columns)
        formula = columns * max(abs(c), abs(c + 2 * between * (rows - 1)))
        assert worst_loss(q, columns, "row").value == pytest.approx(formula, rel=1e-14)


def test_wrong_use() -> None:
    q = Quadratic([0.5], rows=2)
    with pytest.raises(InvalidArgument, match="where"):
        worst_loss(q, 1, cast("Where", "column"))
    with pytest.raises(InvalidArgument, match="count"):
        worst_loss(q, -1, "row")
    assert worst_loss(q, 0, "row").value == 0.0
