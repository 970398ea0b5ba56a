"""The data-driven chains paper (references.DATA_DRIVEN_CHAINS), Sections 4, 5 and Supplement B."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Published
from veil.matrices.chain import Chain
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.accuracy import expected_kl
from veil.vectors.counts import Counts
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.simplex import Simplex, Transfer
from veil_papers.data_driven_chains import corollary_1
from veil_papers.matrix_dirichlet import fundamental_as_printed
from veil_papers.matrix_dirichlet import lemma_4 as lemma_5

__all__ = [
    "PrivateChain",
    "algorithm_2",
    "definition_8",
    "frequencies",
    "lemma_1",
    "lemma_4",
    "lemma_4_bound",
    "lemma_5",
    "lemma_6",
    "theorem_3",
    "theorem_4",
    "theorem_5",
]


def frequencies(counts: Any) -> Chain:
    """Equation (2): each row of transition counts, divided by its sum."""
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise InvalidArgument("counts", expected="a square table", found=f"shape {table.shape}")
    rows = np.stack([Counts(table.shape[1]).validate(row) for row in table]).astype(np.float64)
    return Chain(rows / rows.sum(axis=1, keepdims=True))


def lemma_1(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Lemma 1: one changed record and disjoint parts: (max epsilon_i, max delta_i).

    Right, by parallel composition: only the part with the record changes, so the pair of outputs is as
    distinguishable as that part's. The paper's proof instead multiplies the delta_i, as if the output
    were bad only where all parts are; some part is bad with a larger probability, not a smaller one.
    """
    return max(epsilon for epsilon, _ in bounds), max(delta for _, delta in bounds)


def theorem_3(bounds: Sequence[Published]) -> tuple[float, float]:
    """Theorem 3: the epsilon and delta of the chain, from Theorem 1 for its rows. Right as Lemma 1."""
    return lemma_1([(bound.epsilon, bound.delta) for bound in bounds])


@dataclass(frozen=True, slots=True)
class PrivateChain:
    """What Algorithm 2 puts out: the chain, the paper's bounds, and the exact epsilon at their delta."""

    value: Chain
    epsilon: float
    delta: float
    rows: tuple[Published, ...]
    exact: float


def algorithm_2(
    counts: Any,
    *,
    gammas: Sequence[float],
    floors: Sequence[float],
    ks: Sequence[float],
    rng: Any = None,
) -> PrivateChain:
    """Algorithm 2 to the letter: row i is drawn from Dirichlet(k_i C_i), then (3), (4) and the maxima.

    The guarantee is conditional, as Algorithm 1's: it holds between databases whose rows all respect
    their floors, and the numbers N_i of records that leave each state are public.
    """
    chain = frequencies(counts)
    size, records = len(chain), [int(total) for total in np.asarray(counts).sum(axis=1)]
    domains = [Simplex(size, floor=floor) for floor in floors]
    mechanism = MatrixDirichlet(tuple(ks), StochasticMatrix(domains))
    drawn = mechanism.sample(chain.to_numpy(), rng=rng)
    parts = [
        (Dirichlet(k, domain), Transfer.from_records(number), gamma)
        for k, domain, number, gamma in zip(ks, domains, records, gammas, strict=True)
    ]
    bounds = tuple(row.published(move, gamma=gamma) for row, move, gamma in parts)
    epsilon, delta = theorem_3(bounds)
    exact = max(row.profile(move).epsilon(delta) for row, move, _ in parts)
    return PrivateChain(Chain(drawn, states=chain.states), epsilon, delta, bounds, exact)


def definition_8(weights: Floats, one: Chain, other: Chain) -> float:
    """Definition 8: sum_i w_i KL(one_i || other_i)."""
    p, q = one.to_numpy(), other.to_numpy()
    taken = p > 0.0
    if (q[taken] <= 0.0).any():
        return math.inf
    logs = np.zeros_like(p)
    logs[taken] = np.log(p[taken] / q[taken])
    return float(weights @ (p * logs).sum(axis=1))


def lemma_4(chain: Chain, ks: Sequence[float]) -> float:
    """Lemma 4: E K(P || P') = sum_i pi_i sum_j P_ij (log P_ij + psi(k_i) - psi(k_i P_ij)). True."""
    rows = [expected_kl(k * row, row) for k, row in zip(ks, chain.to_numpy(), strict=True)]
    return float(chain.stationary() @ np.array(rows))


def lemma_4_bound(stationary: Floats, ks: Sequence[float], records: Sequence[int]) -> float:
    """Equation (7), the L of Theorem 4: the weighted mean of Corollary 1's bounds, as printed.

    True where every feasible transition occurs, as Assumption 6 asks. It needs the true stationary
    distribution, which is not public.
    """
    size = len(stationary)
    rows = [corollary_1(size, number, k) for k, number in zip(ks, records, strict=True)]
    return float(stationary @ np.array(rows))


def lemma_6(stationary: Floats, ks: Sequence[float], records: Sequence[int]) -> float:
    """Lemma 6's bound on E||P - P'||_1, the square root of 2 L, as printed.

    FALSE for the largest column sum, which Theorem 4 and 5 need, and for the largest row sum: a row that is
    rarely visited hardly counts in L, yet may be the one that is off. What holds:
    `veil.matrices.perturbation.expected_largest_column_distance` and `expected_largest_row_distance`;
    and with the weights, `expected_weighted_row_distance`.
    """
    return math.sqrt(2.0 * lemma_4_bound(stationary, ks, records))


def theorem_4(chain: Chain, ks: Sequence[float], records: Sequence[int]) -> float:
    """Theorem 4's bound on E of the total variation of pi and pi': ||Z||_1 sqrt(2 L) / 2, as printed.

    NOT PROVED: it rests on Lemma 5 and Lemma 6, both false. No counterexample is known.
    `veil.matrices.perturbation.expected_stationary_change` (twice the total variation) holds.
    """
    fundamental = float(np.abs(fundamental_as_printed(chain)).sum(axis=0).max())
    return 0.5 * fundamental * lemma_6(chain.stationary(), ks, records)


def theorem_5(chain: Chain, ks: Sequence[float], records: Sequence[int]) -> float:
    """Theorem 5's bound on E|tau_inf(P) - tau_inf(P')|, the square root of 2 L, as printed.

    FALSE, with Lemma 6. `veil.matrices.perturbation.expected_ergodicity_change` holds.
    """
    return lemma_6(chain.stationary(), ks, records)
