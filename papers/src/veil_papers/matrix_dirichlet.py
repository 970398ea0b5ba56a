"""The matrix Dirichlet paper (references.MATRIX_DIRICHLET): its bounds, its example and its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Published
from veil.core.random.streams import Rng
from veil.matrices.adjacency import Rows
from veil.matrices.chain import Chain
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.accuracy import largest_expected_entry_error
from veil.vectors.simplex import Simplex, Transfer

# Section V
FLOOR, SLACK, GAMMA, MOVED, STATES = 0.10, 0.051, 0.001, 0.025, 32
_CHUNK = 2_000


def theorem_2_absolute(k: float) -> float:
    """Equation (15): E|P_ij - P'_ij| <= Gamma(k) 2^(1-k) / (Gamma(k/2)^2 k). True: the largest is at 1/2."""
    return largest_expected_entry_error(k)


def theorem_2_squared(k: float) -> float:
    """Equation (16): E|P_ij - P'_ij|^2 <= k / (4 (k^2 + k)). True."""
    return k / (4.0 * (k * k + k))


def fundamental_as_printed(chain: Chain) -> Floats:
    """Z = (I - P - 1 pi')^-1, which is the group inverse - 1 pi'. The minus is that of Section IV.

    The data-driven chains paper has it too (Lemma 5).
    """
    return chain.group_inverse() - chain.stationary()


def lemma_4(chain: Chain, other: Chain) -> float:
    """Lemma 4: |pi - pi'|_1 <= ||Z||_1 ||P - P'||_1 with column sums, as printed.

    It is Lemma 5 of the data-driven chains paper.

    FALSE: two chains on two states exceed it by a factor of 1.99999. Row sums make it true:
    `veil.matrices.perturbation.stationary_bound` is that, with a smaller factor.
    """
    change = np.abs(chain.to_numpy() - other.to_numpy()).sum(axis=0).max()
    return float(np.abs(fundamental_as_printed(chain)).sum(axis=0).max() * change)


def theorem_3(chain: Chain, k: float, *, floor: float, slack: float, protected: Sequence[int]) -> float:
    """Theorem 3's bound on E|pi - pi'|_1, as printed; protected: |W_i| of each row.

    NOT PROVED: it rests on Lemma 4, which is false. Its other steps are right, the sum of variances in
    (27) too. No counterexample is known. `veil.matrices.perturbation.expected_stationary_change` holds.
    """
    size = len(chain)
    fundamental = float(np.abs(fundamental_as_printed(chain)).sum(axis=0).max())
    variances = size * size * theorem_2_squared(k) - max(
        _squared_mean_from_below(k, floor, slack, count) for count in set(protected)
    )
    spread = math.sqrt((size - 1.0) / size * variances)
    return fundamental * (size * theorem_2_absolute(k) + spread)


def _squared_mean_from_below(k: float, floor: float, slack: float, protected: int) -> float:
    """The bracket of (40): at most (E|P_ij - P'_ij|)^2 for a protected entry."""
    rest = slack + (protected - 1) * floor
    log_top = 2.0 * k * ((1.0 - rest) * math.log(floor) + (1.0 - floor) * math.log(rest))
    return 4.0 * math.exp(log_top - 2.0 * float(betaln(k * floor, k * rest))) / (k * k)


def protect_largest(matrix: Any, floor: float, slack: float) -> StochasticMatrix:
    """Section V's choice: W_i is all but the smallest of the |S_i| nonzero entries of row i.

    It is made by looking at the matrix, so releases say that it may be known. Rows with two nonzero
    entries have |W_i| = 1, which the paper's Assumption 1 excludes.
    """
    table = StochasticMatrix(Simplex(np.shape(matrix)[-1])).validate(matrix)
    domains: list[Simplex | None] = []
    support = [np.flatnonzero(row) for row in table]
    for number, columns in enumerate(support):
        if len(columns) == 2:
            raise InvalidArgument(
                "matrix",
                expected="one nonzero entry in a row, or three and more (Assumption 1: |W_i| >= 2)",
                found=f"row {number} with two",
                hint="veil.matrices.StochasticMatrix with protected=None protects both.",
            )
        largest = np.argsort(-table[number, columns], kind="stable")[:-1]
        chosen = sorted(int(place) for place in largest)
        domains.append(Simplex(len(columns), floor=floor, protected=chosen, slack=slack) if chosen else None)
    return StochasticMatrix(domains, support=[row.tolist() for row in support], chosen_from_data=True)


@dataclass(frozen=True, slots=True)
class MatrixExample:
    """One k of Section V: the paper's formula, and the exact epsilon at the delta that it prints.

    exact_one_row: where one row may change, which is all that the maximum over rows covers.
    exact_all_rows: where every row may change, as Definition 4 says.
    """

    k: float
    printed_delta: float
    published: Published
    exact_one_row: float
    exact_all_rows: float


def example_section_5(*, protected: int = 2) -> tuple[MatrixExample, MatrixExample]:
    """Section V: k = 9.87 (printed 1.16, 0.011) and k = 98.7 (printed 11.12, 0.019).

    k = 9.87 breaks the paper's Assumption 2, k >= 1/eta = 10. |W_i| is not printed; with the least that
    is allowed, 2, the formula's delta is 0.019 at k = 9.87 and 5e-17 at k = 98.7.
    """
    row = Simplex(protected + 1, floor=FLOOR, protected=range(protected), slack=SLACK)
    return _example(9.87, 0.011, row), _example(98.7, 0.019, row)


def _example(k: float, delta: float, row: Simplex) -> MatrixExample:
    mechanism, each = MatrixDirichlet(k, [row] * STATES), Transfer.from_l1(MOVED)
    return MatrixExample(
        k=k,
        printed_delta=delta,
        published=mechanism.published(Rows("all", each), gamma=GAMMA),
        exact_one_row=mechanism.profile(Rows(1, each)).epsilon(delta),
        exact_all_rows=mechanism.profile(Rows("all", each)).epsilon(delta),
    )


@dataclass(frozen=True, slots=True)
class EntryErrors:
    """A point of Figure 1: simulated mean entry error, its bound (15), published and exact epsilon."""

    k: float
    simulated: float
    bound: float
    published: Published
    exact: float


def figure_1(
    rng: Rng, *, ks: Sequence[float] = (10.0, 25.0, 50.0, 100.0), responses: int = 10_000
) -> list[EntryErrors]:
    """Figure 1: a 10 x 10 matrix of 0.1, b = 0.05, gamma = 0.001, |W| = 4.

    eta is not printed; the entries allow at most 0.1 and Assumption 2 at k = 10 asks for no less. eta-bar
    is not printed either; here it is that of Section V. exact: at the published delta, one changed row.
    """
    matrix, each = np.full((10, 10), 0.1), Transfer.from_l1(0.05)
    domain = Simplex(10, floor=0.1, protected=range(4), slack=SLACK)
    points = []
    for k in ks:
        mechanism = MatrixDirichlet(k, [domain] * 10)
        drawn = mechanism.sample(matrix, rng=rng, size=responses)
        published = mechanism.published(Rows("all", each), gamma=GAMMA)
        points.append(
            EntryErrors(
                k=k,
                simulated=float(np.abs(drawn - matrix).mean()),
                bound=theorem_2_absolute(k),
                published=published,
                exact=mechanism.profile(Rows(1, each)).epsilon(published.delta),
            )
        )
    return points


@dataclass(frozen=True, slots=True)
class StationaryErrors:
    """A point of Figure 3.

    mean_of_errors: the mean of |pi - pi'|_1, what a user of one release meets.
    error_of_mean: |pi - mean of pi'|_1, what the paper computed: the noise is averaged away first.
    """

    k: float
    published: Published
    exact: float
    mean_of_errors: float
    error_of_mean: float


def figure_3(
    rng: Rng, *, ks: Sequence[float] = (10.0, 50.0, 200.0), responses: int = 10_000
) -> list[StationaryErrors]:
    """Figure 3 on a made-up road network of 32 states, since Gainesville's matrix is not printed.

    Its figures (0.485 to 0.101) are therefore not reproduced; the shape of the curve is.
    """
    chain, each = road_chain(), Transfer.from_l1(MOVED)
    truth, matrix = chain.stationary(), chain.to_numpy()
    domain = protect_largest(matrix, FLOOR, SLACK)
    points = []
    for k in ks:
        mechanism = MatrixDirichlet(k, domain)
        published = mechanism.published(Rows("all", each), gamma=GAMMA)
        sizes = [min(_CHUNK, responses - start) for start in range(0, responses, _CHUNK)]
        found = np.concatenate(
            [quick_stationary(mechanism.sample(matrix, rng=rng, size=size)) for size in sizes]
        )
        points.append(
            StationaryErrors(
                k=k,
                published=published,
                exact=mechanism.profile(Rows(1, each)).epsilon(published.delta),
                mean_of_errors=float(np.abs(found - truth).sum(axis=1).mean()),
                error_of_mean=float(np.abs(found.mean(axis=0) - truth).sum()),
            )
        )
    return points


def road_chain() -> Chain:
    """A made-up town: 4 ring roads of 8 crossings, with cross streets; traffic volumes that vary widely.

    Every state has 3 to 5 successors, and no transition is below 0.12.
    """
    volumes = np.random.default_rng(32).lognormal(sigma=1.0, size=(4, 8))
    matrix = np.zeros((STATES, STATES))
    for state in range(STATES):
        road, crossing = divmod(state, 8)
        places = [(road, (crossing + 1) % 8), (road, (crossing - 1) % 8)]
        places += [(other, crossing) for other in (road - 1, road + 1) if 0 <= other < 4]
        # One diagonal street, without which the chain would be periodic.
        places += {(0, 0): [(1, 1)], (1, 1): [(0, 0)]}.get((road, crossing), [])
        weights = np.array([volumes[place] for place in places])
        shares = 0.12 + (1.0 - 0.12 * len(places)) * weights / weights.sum()
        matrix[state, [8 * row + column for row, column in places]] = shares
    return Chain(matrix)
