"""Error bars for a true chain, from its release alone: every transition, and the stationary distribution.

Nothing here sees the true matrix. What is known is the released one, x, and the mechanism: row i of x is
Dirichlet(k_i q_i), with q_i the true row, smoothed if the mechanism smooths. For the transitions that is an
exact confidence interval (`entry_intervals`). The stationary distribution is a function of all rows
at once. Two answers are given:

* simulated (the default): plausible true matrices are drawn, and the interval holds most of their
  stationary distributions. The entries of a Dirichlet vector are gamma variables divided by their sum, so a
  plausible shape behind the gamma value k x_j is the s at which P[Gamma(s) <= k x_j] is a uniform number;
  the row is these shapes divided by their sum. Coverage is measured (tests), not proved: small k make
  it anti-conservative, so the tails are taken four times lighter than asked for.
* proved: pi_j - pi~_j = sum_i pi_i (P_i - P~_i) f_j, f_j the j-th column of the released chain's group
  inverse. Each row's difference sums to zero, so this is at most (max f_j - min f_j)/2 times the largest L1
  error of a row, which is bounded for all rows at once (perturbation.md). Sure, and much wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, ndtr, ndtri

from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.matrices.chain import Chain
from veil.matrices.chain_summary import to_chain
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.perturbation import simultaneous_row_radii, stationary_radii
from veil.vectors.error_bars import as_intervals, beta_mean_limits, tail_of

_SEED = 30_301
_Z = np.linspace(-4.0, 4.0, 33)
# Above this value the inverse of the gamma law is its expansion, to a thousandth of a standard deviation.
_LARGE = 400.0
_LIGHTER = 0.25
_BUDGET = 4e8
_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class ChainIntervals:
    """Intervals for a true chain.

    estimate: the best guess of the true chain (smoothing undone, as far as it is known). transitions: [i, j]
    -> (low, high), each covering on its own. stationary: state -> (low, high), with a coverage that was
    measured. proved_stationary: the same with a proof. confidence: of each interval. no_stationary: where
    there are none for the stationary distribution but 0 and 1, the reason.
    """

    estimate: Chain
    transitions: Floats
    stationary: Floats
    proved_stationary: Floats
    confidence: float
    no_stationary: str | None = None

    __repr__ = brief_repr


def chain_intervals(
    release: Release[Any], *, confidence: float = 0.95, draws: int | None = None
) -> ChainIntervals:
    """Error bars for the true transitions and the true stationary distribution behind a released matrix.

    What is true: the matrix that was hidden.
    draws: how many plausible matrices are drawn; chosen by the number of states if None.
    """
    checked_release(release)
    mechanism = release.mechanism
    if not isinstance(mechanism, MatrixDirichlet) or np.ndim(release.value) != 2:
        expected = "a released matrix of a MatrixDirichlet mechanism"
        raise InvalidArgument("release", expected=expected, found=mechanism.name)
    return matrix_chain_intervals(mechanism, to_chain(release), confidence=confidence, draws=draws)


def matrix_chain_intervals(
    mechanism: MatrixDirichlet, chain: Chain, *, confidence: float = 0.95, draws: int | None = None
) -> ChainIntervals:
    """The error bars behind a chain that the mechanism drew; as `chain_intervals`."""
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1")
    matrix = chain.to_numpy()
    few = int(np.clip(_BUDGET / len(chain) ** 3, 200, 1_000))
    count = few if draws is None else integer("draws", draws, least=100, most=1_000_000_000)
    estimate = Chain(_possible(mechanism.unsmoothed(matrix), matrix), states=chain.states)
    return ChainIntervals(
        estimate=estimate,
        transitions=entry_intervals(mechanism, matrix, confidence=confidence),
        stationary=_simulated(mechanism, matrix, estimate, confidence, count),
        proved_stationary=_proved(mechanism, chain, confidence),
        confidence=confidence,
    )


def _simulated(
    mechanism: MatrixDirichlet, matrix: Floats, estimate: Chain, confidence: float, draws: int
) -> Floats:
    tail = 0.5 * (1.0 - confidence) * _LIGHTER
    rng = np.random.default_rng(_SEED)
    inverse = _PlausibleShapes(np.array(mechanism.concentrations(len(matrix)))[:, None] * matrix)
    signed, possible = [], []
    for start in range(0, draws, chunk := max(1, _AT_ONCE // matrix.size)):
        shapes = inverse.draw(rng, min(chunk, draws - start))
        plain = mechanism.unsmoothed(shapes / shapes.sum(axis=-1, keepdims=True))
        signed.append(quick_stationary(plain))
        possible.append(quick_stationary(_possible(plain, matrix)))
    # Where entries lie at their floor, the plausible ones below it are cut off in one of the two and not
    # in the other; each is biased, to opposite sides.
    ends = [_quantiles(np.concatenate(drawn), tail) for drawn in (signed, possible)]
    ends.append(np.stack([estimate.stationary()] * 2, axis=-1))
    low = np.min([end[:, 0] for end in ends], axis=0)
    high = np.max([end[:, 1] for end in ends], axis=0)
    return np.asarray(np.clip(np.stack([low, high], axis=-1), 0.0, 1.0), dtype=np.float64)


def _quantiles(drawn: Floats, tail: float) -> Floats:
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    if tail * len(drawn) >= 4.0:
        return np.asarray(np.quantile(drawn, [tail, 1.0 - tail], axis=0).T, dtype=np.float64)
    # Too few draws for the tail itself: the middle of the law, carried outwards as a normal one.
    inner = np.quantile(drawn, [0.1587, 0.5, 0.8413], axis=0)
    reach = -float(ndtri(tail))
    low, high = inner[1] - reach * (inner[1] - inner[0]), inner[1] + reach * (inner[2] - inner[1])
    return np.asarray(np.stack([low, high], axis=-1), dtype=np.float64)


def _possible(matrix: Floats, released: Floats) -> Floats:
    """The matrix made stochastic: what is below zero becomes zero, and rows sum to 1."""
    cut = np.maximum(matrix, 0.0)
    empty = cut.sum(axis=-1, keepdims=True) <= 0.0
    cut = np.where(empty, released, cut)
    return np.asarray(cut / cut.sum(axis=-1, keepdims=True), dtype=np.float64)


class _PlausibleShapes:
    """For gamma values g: draws of the shape s at which P[Gamma(s) <= g] is a uniform number."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.small = (values < _LARGE) & (values > 0.0)
        self.table = _log_shapes(values[self.small])

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        z = np.clip(rng.standard_normal((count, *self.values.shape)), -3.999, 3.999)
        # Cornish-Fisher: g = s - z sqrt(s) + (z^2 - 1)/3, turned round.
        shapes = self.values + z * np.sqrt(self.values) + (z * z + 2.0) / 6.0
        shapes[:, self.values <= 0.0] = 0.0
        place = (z[:, self.small] - _Z[0]) / (_Z[1] - _Z[0])
        cell = place.astype(np.intp)
        share = place - cell
        entries: NDArray[Any] = np.arange(cell.shape[1])
        logs = self.table[entries, cell] * (1.0 - share) + self.table[entries, cell + 1] * share
        shapes[:, self.small] = np.exp(logs)
        return shapes


def _log_shapes(values: Floats) -> Floats:
    """log s with P[Gamma(s) <= g] = ndtr(-z), for each g and each z of the grid; by bisection."""
    g = values[:, None]
    low = np.full((len(values), len(_Z)), -60.0)
    high = np.full_like(low, math.log(_LARGE) + 3.0)
    target = ndtr(-_Z)
    for _ in range(40):
        middle = 0.5 * (low + high)
        more = gammainc(np.exp(middle), g) > target
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray(0.5 * (low + high), dtype=np.float64)


def _proved(mechanism: MatrixDirichlet, chain: Chain, confidence: float) -> Floats:
    """All states at once: the released pi, give or take half the spread of f_j times the row error."""
    # From the public domain: small entries of the released matrix may have underflowed to zero.
    sizes, ks = mechanism.widths(len(chain)), mechanism.concentrations(len(chain))
    # The condition is of the released chain; the true one differs from it by smoothing as well.
    moves = np.array([mechanism.smoothing_moves(row) for row in range(len(chain))])
    reach = stationary_radii(chain, simultaneous_row_radii(ks, sizes, confidence) + moves)
    return as_intervals(chain.stationary() - reach, chain.stationary() + reach)


def intervals(release: Any, *, confidence: float = 0.95) -> Floats:
    """A confidence interval for every true entry behind a MatrixDirichlet release: (low, high) pairs.

    Each covers with the stated probability, one entry at a time, as those of `vectors.intervals` do.
    """
    tail_of(confidence)
    checked_release(release)
    if not isinstance(release.mechanism, MatrixDirichlet):
        expected = "a matrix released by a MatrixDirichlet mechanism"
        raise InvalidArgument("release", expected=expected, found=f"one of {release.mechanism.name}")
    return entry_intervals(release.mechanism, np.asarray(release.value), confidence=confidence)


def entry_intervals(mechanism: MatrixDirichlet, matrix: Floats, *, confidence: float) -> Floats:
    """The intervals for the entries behind a matrix that the mechanism drew."""
    flat, tail = matrix.reshape(-1, matrix.shape[-1]), tail_of(confidence)
    k = np.array(mechanism.concentrations(len(flat)))[:, None]
    # Outside a public support the entries are what everyone knows.
    free = np.zeros(flat.shape, dtype=bool)
    for group in mechanism.domain.alike(flat):
        free[group.where] = True
    low, high = flat.copy(), flat.copy()
    low[free], high[free] = beta_mean_limits(np.broadcast_to(k, flat.shape)[free], flat[free], tail)
    return as_intervals(*(mechanism.unsmoothed(end).reshape(matrix.shape) for end in (low, high)))
