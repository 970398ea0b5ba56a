"""The bounds by cells: below the truth, and next to it; and claims that are too small are found out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.neighbours import dirichlets
from tests.neighbours.cells import (
    beta_cells,
    both,
    gaussian_cells,
    geometric_cells,
    laplace_cells,
    normal_cells,
)
from tests.neighbours.count_studies import COUNTS
from tests.neighbours.matrix_studies import MATRICES
from tests.neighbours.study import Study
from tests.neighbours.vector_studies import VECTORS
from tests.oracles.brute import dirichlet_pair_delta, discrete_gaussian_delta, geometric_delta
from tests.review.divergences import normal_divergence, shifted_bound

EPSILONS = (0.0, 0.3, 1.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cells_of_beta_and_normal_pairs(epsilon: float) -> None:
    first, second = (Fraction(3), Fraction(2)), (Fraction(2), Fraction(3))
    exact, found = shifted_bound(first, second, epsilon), both([beta_cells(first, second, 100)], epsilon)[0]
    assert bool(found < exact)
    assert float(found) == pytest.approx(float(exact), rel=1e-2)
    exact, found = normal_divergence(0.75, epsilon), both([normal_cells(0.75, 120)], epsilon)[0]
    assert bool(found < exact)
    assert float(found) == pytest.approx(float(exact), rel=2e-2)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cells_of_whole_numbers(epsilon: float) -> None:
    exact = geometric_delta(2.0, (2, 1), epsilon)
    found = both([geometric_cells(2, 2.0), geometric_cells(1, 2.0)], epsilon)
    assert float(found[0]) == pytest.approx(exact, rel=1e-10)
    assert float(found[1]) == pytest.approx(exact, rel=1e-10)
    exact = discrete_gaussian_delta(1.5, (2, 1), epsilon)
    assert float(both([gaussian_cells(2, 1.5), gaussian_cells(1, 1.5)], epsilon)[0]) == pytest.approx(
        exact, rel=1e-9
    )


def test_cells_of_laplace_noise() -> None:
    """One entry: the curve is 1 - exp((epsilon - shift) / 2), the shift in units of the scale."""
    for epsilon in (0.0, 0.5):
        exact = 1.0 - np.exp((epsilon - 1.5) / 2.0)
        found = float(both([laplace_cells(0.3, 0.2, 400)], epsilon)[0])
        assert found == pytest.approx(exact, rel=1e-4)
        assert found < exact + 1e-15


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((4.0, 1.0, 1.0), (2.0, 2.0, 2.0)),
        ((0.6, 0.1, 0.2), (0.3, 0.3, 0.3)),
    ],
)
def test_dirichlet_vectors_of_three_entries(first: Any, second: Any) -> None:
    """Against the integral over the simplex."""
    one, other = ([Fraction(entry) for entry in law] for law in (first, second))
    for epsilon in (0.5,):
        found = [float(truth) for truth in dirichlets.divergences(one, other, epsilon)]
        exact = [dirichlet_pair_delta(*pair, epsilon) for pair in ((first, second), (second, first))]
        assert sorted(found) == pytest.approx(sorted(exact), rel=1e-2)
        assert dirichlets.rough(one, other, epsilon) == pytest.approx(max(exact), rel=5e-2)


def test_dirichlet_vectors_in_any_number_of_coordinates() -> None:
    """An exchange beside which nothing changes is the same whatever it is told by."""
    first = [Fraction(n) for n in (3, 1, 2, 2)]
    second = [Fraction(n) for n in (2, 2, 2, 2)]
    (only,) = dirichlets.coordinates(first, second)
    assert [*only[0], *only[1]] == [3, 1, 2, 2]
    spread = [Fraction(n, 2) for n in (7, 3, 3, 3)]
    assert len(dirichlets.coordinates(spread, second)) == 3


class Shrunk:
    """A profile that claims a little less than it should."""

    kind = "exact"

    def __init__(self, profile: Any, part: float) -> None:
        self._profile, self._part = profile, part
        self.pure_epsilon = profile.pure_epsilon * part

    def delta(self, epsilon: float) -> float:
        return float(self._profile.delta(epsilon)) * self._part


@pytest.mark.parametrize("study", [VECTORS[0], COUNTS[1], MATRICES[4]], ids=lambda study: study.name)
def test_a_claim_that_is_too_small_is_found_out(study: Study) -> None:
    """With 3 % less than what holds, or less than that, the search finds a pair above the claim."""

    class Mechanism:
        domain = study.mechanism.domain
        validate = staticmethod(study.mechanism.validate)

        def profile(self, adjacency: Any) -> Any:
            return Shrunk(study.mechanism.profile(adjacency), 0.97)

    shrunk = Study(**{**vars(study), "mechanism": Mechanism()})
    with pytest.raises(AssertionError, match="above the claim"):
        shrunk.run(7, starts=25, steps=25, short=True).close()
