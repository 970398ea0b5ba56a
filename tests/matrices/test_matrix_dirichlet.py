"""The matrix Dirichlet mechanism: what it guarantees when one row, some rows or all rows change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, kstest

import veil
from veil.core.kind import kind_named
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.matrices.row_profiles import WorstOf, changed_rows, dominates
from veil.matrices.stochastic import CHOSEN_FROM_DATA, ZEROS_ARE_PUBLIC

from ..oracles.hockey import worst_case_dirichlet

SIMPLEX = veil.vectors.Simplex(4, floor=0.1, protected=(0, 1, 2), slack=0.051)
SECTION_5 = veil.vectors.Transfer.from_l1(0.025)


def matrix_of(seed: int, rows: int, columns: int, floor: float) -> Any:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(columns), size=rows)
    return (1.0 - columns * floor) * drawn + floor


# The guarantee


def test_section_5_numbers() -> None:
    """The paper prints 1.16 and 11.12; the first k breaks the paper's own assumption."""
    for k, epsilon in ((9.87, 1.168), (98.7, 11.128)):
        printed = veil.matrices.MatrixDirichlet(k, [SIMPLEX] * 32).published(
            veil.matrices.Rows(1, SECTION_5), gamma=0.001
        )
        assert printed.epsilon == pytest.approx(epsilon, abs=5e-4)
        assert printed.theorem == "matrix Dirichlet paper, Theorem 1"
        broken = [text for text in printed.violations if "Assumption 2" in text]
        assert bool(broken) == (k < 10.0)


def test_the_paper_covers_one_row_only() -> None:
    mechanism = veil.matrices.MatrixDirichlet(20.0, [SIMPLEX] * 32)
    one = mechanism.published(veil.matrices.Rows(1, SECTION_5), gamma=0.001)
    every = mechanism.published(veil.matrices.Rows("all", SECTION_5), gamma=0.001)
    assert not one.violations
    assert (every.epsilon, every.delta) == (one.epsilon, one.delta)
    assert any("one changed row only" in text for text in every.violations)


def test_published_delta_is_printed_with_the_wrong_extreme() -> None:
    wide = veil.vectors.Simplex(6, floor=0.1, protected=(0, 1, 2, 3, 4), slack=0.051)
    mixed = veil.matrices.MatrixDirichlet(20.0, [SIMPLEX, wide]).published(
        veil.matrices.Rows(1, SECTION_5), gamma=0.001
    )
    alone = [
        veil.matrices.MatrixDirichlet(20.0, [domain])
        .published(veil.matrices.Rows(1, SECTION_5), gamma=0.001)
        .delta
        for domain in (SIMPLEX, wide)
    ]
    assert mixed.delta == min(alone)
    assert min(alone) < max(alone)
    assert any(f"{max(alone):.3g}" in text for text in mixed.violations)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
def test_one_row_is_the_worst_row(epsilon: float) -> None:
    """Against arbitrary precision, row by row; the worst row changes with epsilon."""
    ks, floors = (5.0, 40.0, 15.0), (0.05, 0.1, 0.02)
    domains = [veil.vectors.Simplex(5, floor=floor) for floor in floors]
    profile = veil.matrices.MatrixDirichlet(ks, domains).profile(
        veil.matrices.Rows(1, veil.vectors.Transfer(0.03))
    )
    truths = [
        float(worst_case_dirichlet(k, eta, 0.03, 5, epsilon)) for k, eta in zip(ks, floors, strict=True)
    ]
    assert profile.kind == "exact"
    assert max(truths) <= profile.delta(epsilon) <= max(truths) * (1.0 + 1e-8)


def convolved_delta(pairs: list[tuple[float, float]], epsilon: float, *, above: bool) -> float:
    """delta of a product of beta pairs by plain summation over cells of loss, rounded up or down.

    An oracle that shares nothing with the code: P's mass of each cell of each loss, every loss moved to
    the upper (or lower) end of its cell.
    """
    step = 0.004
    total = {0: 1.0}
    law = np.array([1.0])
    start = 0
    for a, s in pairs:
        reach = 40.0 * s
        edges = np.arange(math.floor(-reach / step), math.ceil(reach / step) + 1)
        cells = np.diff(beta(a + s, a).cdf(1.0 / (1.0 + np.exp(-edges * step / s))))
        law = np.convolve(law, cells)
        start += int(edges[0]) + (1 if above else 0)
    losses = step * (start + np.arange(len(law)))
    assert total
    missing = 1.0 - law.sum() if above else 0.0
    return float((law * np.maximum(0.0, -np.expm1(epsilon - losses))).sum() + max(0.0, missing))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "epsilons"),
    [
        (2, (1.0, 3.0)),
        pytest.param(3, (2.0,), marks=pytest.mark.slow),
        pytest.param("all", (2.0, 4.0), marks=pytest.mark.slow),
    ],
)
def test_changed_rows_compose(changed: int | str, epsilons: tuple[float, ...]) -> None:
    k, eta, mass = 30.0, 0.08, 0.02
    profile = veil.matrices.MatrixDirichlet(k, [veil.vectors.Simplex(5, floor=eta)] * 4).profile(
        veil.matrices.Rows(changed, veil.vectors.Transfer(mass))
    )
    times = 4 if changed == "all" else int(changed)
    pairs = [(k * eta, k * mass)] * times
    for epsilon in epsilons:
        low, high = (convolved_delta(pairs, epsilon, above=above) for above in (False, True))
        assert low < high
        assert low <= profile.delta(epsilon) <= high
    assert profile.kind == "upper bound"


@pytest.mark.slow
def test_rows_of_different_kinds() -> None:
    """r of n different rows: never below any choice of r rows, never above r times the worst row."""
    ks = (10.0, 25.0, 60.0, 60.0)
    domain, each = veil.vectors.Simplex(5, floor=0.06), veil.vectors.Transfer(0.02)
    profile = veil.matrices.MatrixDirichlet(ks, domain).profile(veil.matrices.Rows(2, each))
    for epsilon in (0.5, 2.0, 4.0):
        chosen = [
            convolved_delta([(k * 0.06, k * 0.02) for k in pair], epsilon, above=False)
            for pair in ((10.0, 25.0), (10.0, 60.0), (25.0, 60.0), (60.0, 60.0))
        ]
        worst = convolved_delta([(60.0 * 0.06, 60.0 * 0.02)] * 2, epsilon, above=True)
        assert max(chosen) <= profile.delta(epsilon)
        assert profile.delta(epsilon) <= worst * 1.05


@pytest.mark.slow
def test_ordered_rows_lose_nothing() -> None:
    """Where one row is worse than the next, r rows are exactly the r worst."""
    rows = [(SymmetricBetaPair(a, 0.5), 1) for a in (4.0, 1.0, 2.0, 3.0)]
    found = changed_rows(rows, 2)
    exact = SymmetricBetaPair(1.0, 0.5).compose(SymmetricBetaPair(2.0, 0.5))
    for epsilon in (0.5, 1.0, 2.0):
        assert found.delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-12)


@pytest.mark.parametrize(
    ("smaller", "larger"), [((2.0, 0.3), (1.5, 0.3)), ((2.0, 0.3), (2.0, 0.4)), ((2.0, 0.3), (1.0, 0.9))]
)
def test_known_dominance_is_true_everywhere(
    smaller: tuple[float, float], larger: tuple[float, float]
) -> None:
    small, large = SymmetricBetaPair(*smaller), SymmetricBetaPair(*larger)
    assert dominates(large, small)
    assert not dominates(small, large)
    for epsilon in np.linspace(0.0, 8.0, 33):
        assert large.delta(float(epsilon)) >= small.delta(float(epsilon)) * (1.0 - 1e-9)


def test_incomparable_rows_share_a_slot() -> None:
    first, second = SymmetricBetaPair(1.0, 0.2), SymmetricBetaPair(4.0, 1.0)
    assert not dominates(first, second)
    assert not dominates(second, first)
    worst = changed_rows([(first, 3), (second, 3)], 1)
    assert isinstance(worst, WorstOf)
    both = {worst.delta(e) == max(first.delta(e), second.delta(e)) for e in (0.0, 0.5, 2.0, 5.0)}
    assert both == {True}
    assert worst.rdp(2.0) == max(first.rdp(2.0), second.rdp(2.0))


@pytest.mark.slow
def test_many_kinds_are_merged_safely() -> None:
    ks = tuple(20.0 + 0.2 * i for i in range(120))
    domain, each = veil.vectors.Simplex(5, floor=0.1), veil.vectors.Transfer(0.001)
    merged = veil.matrices.MatrixDirichlet(ks, domain).profile(veil.matrices.Rows("all", each))
    # Beyond doubt between: all rows at the least k's floor and largest k's tilt, and the mean row.
    worst = SymmetricBetaPair(min(ks) * 0.1, max(ks) * 0.001).repeat(120)
    mean = SymmetricBetaPair(max(ks) * 0.1, min(ks) * 0.001).repeat(120)
    assert mean.epsilon(1e-6) <= merged.epsilon(1e-6) <= worst.epsilon(1e-6) * 1.001


@pytest.mark.slow
def test_rows_with_one_entry_reveal_nothing() -> None:
    support = [[0, 1, 2], [2], [0, 2]]
    mechanism = veil.matrices.MatrixDirichlet(30.0, veil.vectors.Simplex(3, floor=0.1), support=support)
    three = veil.vectors.Dirichlet(30.0, veil.vectors.Simplex(3, floor=0.1)).profile(
        veil.vectors.Transfer(0.02)
    )
    found = mechanism.profile(veil.matrices.Rows("all", veil.vectors.Transfer(0.02))).epsilon(1e-4)
    # More than the widest row alone, less than if the row of two were as bad as that of three.
    assert three.epsilon(1e-4) * 1.05 < found < three.repeat(2).epsilon(1e-4) * 0.99


def test_a_floor_of_zero_gives_no_guarantee() -> None:
    with pytest.raises(NoGuarantee, match="floor"):
        veil.matrices.MatrixDirichlet(5.0, veil.vectors.Simplex(3)).profile(
            veil.matrices.Rows(1, veil.vectors.Transfer(0.1))
        )


def test_any_number_of_rows_needs_a_number() -> None:
    with pytest.raises(InvalidArgument, match="changed"):
        veil.matrices.MatrixDirichlet(5.0, veil.vectors.Simplex(3, floor=0.1)).profile(
            veil.matrices.Rows("all", veil.vectors.Transfer(0.1))
        )


def test_other_adjacencies_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="Rows"):
        veil.matrices.MatrixDirichlet(5.0, veil.vectors.Simplex(3, floor=0.1)).profile(
            veil.vectors.Transfer(0.1)
        )


@pytest.mark.slow
def test_more_rows_than_there_are_means_all() -> None:
    mechanism = veil.matrices.MatrixDirichlet(30.0, [veil.vectors.Simplex(3, floor=0.1)] * 3)
    each = veil.vectors.Transfer(0.02)
    many, every = (
        mechanism.profile(veil.matrices.Rows(changed, each)).epsilon(1e-4) for changed in (9, "all")
    )
    assert many == every


# The draws


def test_every_entry_has_its_own_beta_law() -> None:
    """Kolmogorov-Smirnov on each entry of each row, alpha = 1e-3 over all; a 30 % wrong k is rejected."""
    ks, matrix = (8.0, 80.0, 20.0), matrix_of(1, 3, 4, 0.05)
    drawn = veil.matrices.MatrixDirichlet(ks, veil.vectors.Simplex(4, floor=0.05)).sample(
        matrix, rng=2, size=4_000
    )
    assert drawn.shape == (4_000, 3, 4)
    np.testing.assert_allclose(drawn.sum(axis=-1), 1.0, atol=1e-12)
    wrong = []
    for row in range(3):
        for column in range(4):
            p, k = matrix[row, column], ks[row]
            assert kstest(drawn[:, row, column], beta(k * p, k * (1 - p)).cdf).pvalue > 1e-3 / 12
            wrong.append(kstest(drawn[:, row, column], beta(1.3 * k * p, 1.3 * k * (1 - p)).cdf).pvalue)
    assert max(wrong) < 1e-3


def test_rows_are_independent() -> None:
    matrix = matrix_of(3, 2, 3, 0.1)
    drawn = veil.matrices.MatrixDirichlet(10.0, veil.vectors.Simplex(3, floor=0.1)).sample(
        matrix, rng=4, size=20_000
    )
    correlations = np.corrcoef(drawn[:, 0, 0], drawn[:, 1, 0])[0, 1]
    assert abs(correlations) < 4.0 / math.sqrt(20_000)


def test_the_support_is_kept_exactly() -> None:
    support = np.array([[True, True, False], [False, True, True], [False, True, False]])
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8], [0.0, 1.0, 0.0]])
    for mechanism in (
        veil.matrices.MatrixDirichlet(9.0, veil.vectors.Simplex(3, floor=0.1), support=support),
        veil.matrices.MatrixDirichlet(
            9.0, [veil.vectors.Simplex(2, floor=0.1), veil.vectors.Simplex(2, floor=0.1), None]
        ),
        veil.matrices.MatrixDirichlet(9.0, veil.vectors.Simplex(3, floor=0.1), support=support, smooth=True),
    ):
        drawn = mechanism.sample(matrix, rng=0, size=200)
        assert (drawn[:, ~support] == 0.0).all()
        assert (drawn[:, support] > 0.0).all()
        assert ZEROS_ARE_PUBLIC in mechanism.assumptions()


def test_smoothing_takes_zeros_inside_the_support() -> None:
    mechanism = veil.matrices.MatrixDirichlet(9.0, veil.vectors.Simplex(3, floor=0.1), smooth=True)
    drawn = mechanism.sample(np.eye(3), rng=0, size=4_000)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.7 * np.eye(3) + 0.1, atol=0.02)
    assert mechanism.assumptions() == ()


def test_stacks_and_policies() -> None:
    """States x actions, and P(s, a, ·): rows like any other, with the shape they came in."""
    policy = matrix_of(5, 6, 3, 0.05)
    assert veil.matrices.MatrixDirichlet(9.0, veil.vectors.Simplex(3, floor=0.05)).sample(
        policy, rng=0
    ).shape == (6, 3)
    stack = matrix_of(6, 8, 5, 0.02).reshape(4, 2, 5)
    for domains in (veil.vectors.Simplex(5, floor=0.02), [veil.vectors.Simplex(5, floor=0.02)] * 8):
        mechanism = veil.matrices.MatrixDirichlet(9.0, domains)
        assert mechanism.sample(stack, rng=0).shape == (4, 2, 5)
        assert mechanism.item_axes(mechanism.validate(stack)) == 3
    batch = np.stack([stack.reshape(8, 5)] * 3)
    assert mechanism.item_axes(mechanism.validate(batch)) == 2


def test_expected_errors_are_those_of_the_draws() -> None:
    matrix = matrix_of(7, 5, 4, 0.03)
    mechanism = veil.matrices.MatrixDirichlet(
        (5.0, 10.0, 20.0, 40.0, 80.0), veil.vectors.Simplex(4, floor=0.03)
    )
    drawn = mechanism.sample(matrix, rng=8, size=20_000)
    errors = mechanism.errors(matrix)
    assert errors.l1 == pytest.approx(np.abs(drawn - matrix).sum(axis=-1).mean(), rel=0.01)
    assert errors.rmse == pytest.approx(math.sqrt(((drawn - matrix) ** 2).mean()), rel=0.01)


# What goes in and out


def test_description_round_trip() -> None:
    support = [[0, 1, 2], [2], [0, 2]]
    for mechanism in (
        veil.matrices.MatrixDirichlet(3.0, veil.vectors.Simplex(3, floor=0.1)),
        veil.matrices.MatrixDirichlet(
            (3.0, 4.0, 5.0), veil.vectors.Simplex(3, floor=0.1), support=support, smooth=True
        ),
        veil.matrices.MatrixDirichlet(
            3.0, veil.matrices.StochasticMatrix([SIMPLEX] * 3, chosen_from_data=True)
        ),
    ):
        again = mechanism_from(mechanism.describe(), kind_named("matrix"))
        assert again.describe() == mechanism.describe()
        assert again.assumptions() == mechanism.assumptions()


def test_data_dependent_choices_are_confessed() -> None:
    domain = veil.matrices.StochasticMatrix([SIMPLEX] * 3, chosen_from_data=True)
    assert CHOSEN_FROM_DATA in veil.matrices.MatrixDirichlet(3.0, domain).assumptions()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], "sum to 1"),
        ([[0.5, 0.5], [-0.1, 1.1]], "negative"),
        ([0.5, 0.5], "shape"),
        ([[0.5, 0.25, 0.25]], "shape"),
        ([[0.5, 0.5], [0.05, 0.95]], "row 1"),
        ("matrix", "text"),
    ],
)
def test_bad_matrices_name_what_is_wrong(value: Any, words: str) -> None:
    with pytest.raises(InvalidData, match=words):
        veil.matrices.MatrixDirichlet(5.0, veil.vectors.Simplex(2, floor=0.1)).validate(value)


def test_entries_outside_the_support_are_refused() -> None:
    mechanism = veil.matrices.MatrixDirichlet(
        5.0, veil.vectors.Simplex(3, floor=0.1), support=[[0, 1], [1, 2]]
    )
    with pytest.raises(InvalidData, match="outside the support"):
        mechanism.validate([[0.4, 0.4, 0.2], [0.0, 0.5, 0.5]])
    ragged = veil.matrices.MatrixDirichlet(
        5.0, [veil.vectors.Simplex(2, floor=0.1), veil.vectors.Simplex(3, floor=0.1)]
    )
    with pytest.raises(InvalidData, match="row 0"):
        ragged.validate([[0.4, 0.4, 0.2], [0.3, 0.3, 0.4]])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"k": -1.0, "domains": SIMPLEX}, "k"),
        ({"k": [1.0, 2.0], "domains": [SIMPLEX] * 3}, "k"),
        ({"k": 1.0, "domains": "rows"}, "domains"),
        ({"k": 1.0, "domains": []}, "domains"),
        ({"k": 1.0, "domains": [SIMPLEX, 3]}, r"domains\[1\]"),
        ({"k": 1.0, "domains": veil.vectors.Simplex(3), "support": [[0], []]}, "support"),
        ({"k": 1.0, "domains": veil.vectors.Simplex(3), "support": np.ones((2, 2))}, "support"),
        ({"k": 1.0, "domains": SIMPLEX, "support": [[0, 1]]}, "domains"),
        ({"k": 1.0, "domains": [veil.vectors.Simplex(3)], "support": [[0, 1]]}, "domains"),
        ({"k": 1.0, "domains": veil.matrices.StochasticMatrix(SIMPLEX), "support": [[0, 1]]}, "support"),
        ({"k": 1.0, "domains": SIMPLEX, "smooth": "yes"}, "smooth"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument, match=field):
        veil.matrices.MatrixDirichlet(**arguments)


@pytest.mark.slow
def test_audit_finds_a_planted_fault() -> None:
    matrix = np.array([[0.12, 0.08, 0.8], [0.4, 0.3, 0.3]])
    neighbour = np.array([[0.08, 0.12, 0.8], [0.4, 0.3, 0.3]])
    honest = veil.matrices.MatrixDirichlet(30.0, veil.vectors.Simplex(3, floor=0.08))
    adjacency = veil.matrices.Rows(1, veil.vectors.Transfer(0.04))
    found = veil.audit(honest, matrix, neighbour, adjacency=adjacency, samples=20_000, delta=0.01, rng=1)
    assert not found.violated

    class TooClose(veil.matrices.MatrixDirichlet):
        def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
            closer = veil.matrices.MatrixDirichlet(3_000.0, self.domains)
            return closer._draw(rng, value, size)

    faulty = TooClose(30.0, veil.vectors.Simplex(3, floor=0.08))
    caught = veil.audit(faulty, matrix, neighbour, adjacency=adjacency, samples=20_000, delta=0.01, rng=1)
    assert caught.violated
