"""Noise on every row of a matrix: what it costs, and that it stays on the support."""

from __future__ import annotations

import json
import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq

import veil
from veil.core.kind import kind_named
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidData
from veil.matrices.stochastic import ZEROS_ARE_PUBLIC

ALPHA = 1e-6
SUPPORT = ((0, 1), (0, 1, 2), (2,))
MATRIX = np.array([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])


def laplace(scale: float = 0.1, size: int = 3, **options: Any) -> veil.matrices.RowByRow:
    return veil.matrices.RowByRow(veil.vectors.Laplace(scale, veil.vectors.Simplex(size)), **options)


def gaussian(sigma: float = 0.1, size: int = 3, **options: Any) -> veil.matrices.RowByRow:
    return veil.matrices.RowByRow(veil.vectors.Gaussian(sigma, veil.vectors.Simplex(size)), **options)


def normal_delta(shift: float, epsilon: float) -> float:
    """Balle and Wang (2018): N(shift, 1) against N(0, 1)."""
    first = stats.norm.cdf(0.5 * shift - epsilon / shift)
    return float(first - math.exp(epsilon) * stats.norm.cdf(-0.5 * shift - epsilon / shift))


# What it costs


@pytest.mark.parametrize(("changed", "rows"), [(1, 1), (2, 2), (3, 3), (5, 5), ("all", 7), (9, 7)])
def test_laplace_is_pure(changed: int | str, rows: int) -> None:
    """2 r d / b, rounded up and by no more than a hair."""
    mass, scale = 0.03, 0.1
    profile = laplace(scale, rows=7).profile(veil.matrices.Rows(changed, veil.vectors.Transfer(mass)))
    exact = 2 * rows * mass / scale
    assert exact <= profile.epsilon(0.0) <= exact * (1 + 1e-12)
    assert profile.pure_epsilon == profile.epsilon(0.0)
    assert profile.delta(exact * (1 + 1e-12)) == 0.0
    assert profile.delta(exact * 0.98) > 0.0


def test_laplace_rows_cost_less_at_a_delta() -> None:
    profile = laplace(0.1, rows=7).profile(veil.matrices.Rows("all", veil.vectors.Transfer(0.01)))
    assert profile.epsilon(1e-3) < 0.9 * profile.epsilon(0.0)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_gaussian_on_one_row_is_exact(epsilon: float) -> None:
    profile = gaussian(0.05).profile(veil.matrices.Rows(1, veil.vectors.Transfer(0.03)))
    truth = normal_delta(math.sqrt(2) * 0.03 / 0.05, epsilon)
    assert truth <= profile.delta(epsilon) * (1 + 1e-12)
    assert profile.delta(epsilon) == pytest.approx(truth, rel=1e-9)
    assert profile.kind == "exact"


@pytest.mark.parametrize(("changed", "rows"), [(2, 2), ("all", 6)])
def test_gaussian_rows_add_up_in_squares(changed: int | str, rows: int) -> None:
    """A shift of sqrt(2 r) d / sigma: never below it, and above it by at most 2e-3 of epsilon."""
    mass, sigma, delta = 0.03, 0.1, 1e-5
    profile = gaussian(sigma, rows=6).profile(veil.matrices.Rows(changed, veil.vectors.Transfer(mass)))
    shift = math.sqrt(2 * rows) * mass / sigma
    truth = brentq(lambda epsilon: normal_delta(shift, epsilon) - delta, 0.0, 50.0, xtol=1e-14, rtol=1e-14)
    # Both are good to some 1e-13.
    assert truth * (1 - 1e-12) <= profile.epsilon(delta) <= truth * (1 + 2e-3)
    assert profile.delta(truth) >= delta * (1 - 1e-11)


def test_only_rows_that_can_change_count() -> None:
    """Of three rows on the support one has a single entry: everyone knows it."""
    each = veil.vectors.Transfer(0.02)
    mechanism = laplace(support=SUPPORT)
    for changed in (2, 3, "all"):
        assert mechanism.profile(veil.matrices.Rows(changed, each)).epsilon(0.0) == pytest.approx(
            2 * 2 * 0.02 / 0.1
        )
    assert mechanism.profile(veil.matrices.Rows(1, each)).epsilon(0.0) == pytest.approx(2 * 0.02 / 0.1)
    known = laplace(support=[[0], [2]])
    assert known.profile(veil.matrices.Rows("all", each)).epsilon(0.0) == 0.0


def test_any_number_of_rows() -> None:
    each = veil.vectors.Transfer(0.02)
    assert laplace().profile(veil.matrices.Rows(4, each)).epsilon(0.0) == pytest.approx(4 * 2 * 0.02 / 0.1)
    with pytest.raises(InvalidArgument, match=r"^rows: expected the number of rows, since all may change"):
        laplace().profile(veil.matrices.Rows("all", each))


@pytest.mark.parametrize("adjacency", [None, veil.vectors.Transfer(0.1), veil.vectors.Records()])
def test_other_adjacencies_are_refused(adjacency: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^adjacency: expected Rows for RowByRow"):
        laplace().profile(adjacency)


# What it draws


@pytest.mark.parametrize("make", [laplace, gaussian])
def test_draws_are_matrices_on_the_support(make: Any) -> None:
    drawn = make(0.3, support=SUPPORT).sample(MATRIX, rng=1, size=500)
    assert drawn.shape == (500, 3, 3)
    assert np.abs(drawn.sum(axis=-1) - 1.0).max() < 1e-12
    assert (drawn >= 0.0).all()
    assert (drawn[:, 0, 2] == 0.0).all()
    assert (drawn[:, 2] == [0.0, 0.0, 1.0]).all()
    # Every place that may be above zero is above it at times, and moves.
    for row, columns in enumerate(SUPPORT[:2]):
        assert (drawn[:, row, columns].std(axis=0) > 0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "law"), [(laplace, stats.laplace), pytest.param(gaussian, stats.norm, marks=pytest.mark.slow)]
)
def test_rows_are_drawn_as_vectors_are(make: Any, law: Any) -> None:
    """Two entries, far from the border: projection moves half the difference of two noises, in every row.

    KS at ALPHA accepts the truth, and rejects noise that is 10 % too small, on the same draws.
    """
    scale, count = 0.01, 20_000
    drawn = make(scale, size=2).sample(np.full((3, 2), 0.5), rng=2, size=count)
    noise = law.rvs(scale=scale, size=(2, 400_000), random_state=3)
    reference = 0.5 + 0.5 * (noise[0] - noise[1])
    for row in range(3):
        assert stats.ks_2samp(drawn[:, row, 0], reference).pvalue > ALPHA
        assert stats.ks_2samp(0.5 + 0.9 * (drawn[:, row, 0] - 0.5), reference).pvalue < ALPHA
    assert abs(np.corrcoef(drawn[:, :, 0].T)[0, 1]) < 5.0 / math.sqrt(count)


@pytest.mark.parametrize("options", [{}, {"support": SUPPORT}, {"rows": 3}])
def test_little_noise_leaves_every_entry_in_its_place(options: dict[str, Any]) -> None:
    for make in (laplace, gaussian):
        drawn = make(1e-7, **options).sample(MATRIX, rng=6, size=20)
        assert np.abs(drawn - MATRIX).max() < 1e-5


def test_narrow_rows_get_the_noise_of_wide_ones() -> None:
    """The noise of an entry does not depend on how many entries its row may have."""
    drawn = gaussian(0.01, size=3, support=[[0, 1], [0, 2]]).sample(
        [[0.5, 0.5, 0], [0.5, 0, 0.5]], rng=4, size=20_000
    )
    for row in (0, 1):
        spread = drawn[:, row, 0].std()
        # The standard error of a standard deviation is 1 / sqrt(2 n) of it: five of them.
        assert spread == pytest.approx(0.01 / math.sqrt(2), rel=5 / math.sqrt(2 * 20_000))


def test_stacks_and_batches() -> None:
    stack = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2))
    four = laplace(rows=4)
    assert four.sample(stack, rng=1).shape == (2, 2, 3)
    assert four.sample(stack, rng=1, size=5).shape == (5, 2, 2, 3)
    assert four.item_axes(four.validate(stack)) == 3
    assert four.item_axes(four.validate(np.full((5, 4, 3), 1 / 3))) == 2
    on = laplace(support=SUPPORT).sample(np.stack([MATRIX, MATRIX]), rng=1)
    assert (on[:, 0, 2] == 0.0).all()
    assert not np.array_equal(on[0], on[1])


def test_seeds() -> None:
    first, same, other = (laplace().sample(MATRIX, rng=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    before = MATRIX.copy()
    laplace().sample(MATRIX)
    assert np.array_equal(MATRIX, before)


def test_every_form_of_a_matrix() -> None:
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    graph = nx.DiGraph(
        [(i, j, {"weight": p}) for i, row in enumerate(MATRIX) for j, p in enumerate(row) if p]
    )
    forms: list[Any] = [MATRIX.tolist(), frame, veil.Chain(frame), veil.Chain(graph).to_scipy()]
    for form in forms:
        assert np.array_equal(laplace().sample(form, rng=5), laplace().sample(MATRIX, rng=5))


# Descriptions


@pytest.mark.parametrize(
    "mechanism",
    [
        laplace(),
        gaussian(rows=3),
        laplace(support=SUPPORT),
        gaussian(support=SUPPORT, rows=3),
        veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(3), onto="normalisation")),
    ],
)
def test_a_description_gives_the_mechanism_back(mechanism: veil.matrices.RowByRow) -> None:
    described = json.loads(json.dumps(mechanism.describe()))
    assert set(described["parameters"]) == {"mechanism", "rows", "support"}
    again = mechanism_from(described, kind_named("matrix"))
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert again.domain == mechanism.domain
    assert np.array_equal(again.sample(MATRIX, rng=3), mechanism.sample(MATRIX, rng=3))


def test_every_form_of_a_support_is_the_same_mechanism() -> None:
    table = MATRIX > 0.0
    same = [
        laplace(support=form) for form in (SUPPORT, [list(row) for row in SUPPORT], table, table.tolist())
    ]
    assert len(set(same)) == 1
    assert same[0].support == SUPPORT
    assert same[0].assumptions() == (ZEROS_ARE_PUBLIC,)
    assert laplace().assumptions() == ()


# Refused


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mechanism": veil.vectors.Dirichlet(5.0, veil.vectors.Simplex(3, floor=0.1))}, "mechanism"),
        ({"mechanism": "laplace"}, "mechanism"),
        ({"mechanism": veil.vectors.Laplace(0.1, veil.vectors.Simplex(3, floor=0.1))}, "mechanism.domain"),
        (
            {"mechanism": veil.vectors.Laplace(0.1, veil.vectors.Simplex(3, protected=(0, 1)))},
            "mechanism.domain",
        ),
        ({"rows": 0}, "rows"),
        ({"rows": 1.5}, "rows"),
        ({"rows": "3"}, "rows"),
        ({"rows": 2, "support": SUPPORT}, "rows"),
        ({"support": [[0, 0]]}, "support"),
        ({"support": "zeros"}, "support"),
    ],
)
def test_impossible_mechanisms(options: dict[str, Any], field: str) -> None:
    arguments: dict[str, Any] = {"mechanism": veil.vectors.Laplace(0.1, veil.vectors.Simplex(3))} | options
    with pytest.raises(InvalidArgument) as caught:
        veil.matrices.RowByRow(arguments.pop("mechanism"), **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "value",
    [[0.5, 0.5, 0.0], [[0.5, 0.5]], [[0.5, 0.4, 0.0]], [[0.5, 0.6, -0.1]], [[0.5, np.nan, 0.5]], "text"],
)
def test_impossible_matrices(value: Any) -> None:
    with pytest.raises(InvalidData) as caught:
        laplace().sample(value, rng=1)
    assert caught.value.field.startswith("value")


def test_wrong_numbers_of_rows_and_entries_off_the_support() -> None:
    with pytest.raises(InvalidData, match="4 rows of 3 entries"):
        laplace(rows=4).sample(MATRIX, rng=1)
    with pytest.raises(InvalidData, match="zeros outside the support"):
        laplace(support=SUPPORT).sample(MATRIX[::-1], rng=1)
