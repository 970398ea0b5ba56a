"""What a budget buys for a counted chain, and what an accuracy costs, before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import Table, chosen_mechanism
from veil.chains.chain_tables import MOST_CELLS
from veil.chains.mechanisms.chain_parts import Part
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.typical_chain import typical_tables
from veil.core.arrays import Floats
from veil.core.checks import delta_of, integer, items, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.numerics.search import least_safe, log_margin
from veil.core.random.streams import Rng
from veil.matrices.chain import Chain
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.planning import MatrixPlan, MatrixRow
from veil.vectors.counts import Integers
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

PLANNED = ("geometric", "gaussian", "dirichlet")
_SEED = 89
# Cells that are drawn in one simulation, over all draws.
_BUDGET = 120_000
_MOST_DRAWS = 12
_SMALLEST, _LARGEST = 1e-3, 1e3
# Far beyond any table, and still exact in floats.
_MOST_RECORDS = 10**12


@dataclass(frozen=True, slots=True)
class ChainPlan(MatrixPlan):
    """The mechanisms for a counted chain, from the least to the largest expected error of the next step."""

    states: int = 0
    records: int = 0


def plan_chain(
    states: int,
    records: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    adjacency: Transitions | None = None,
    names: Sequence[str] = PLANNED,
) -> ChainPlan:
    """Every mechanism at this budget, measured on public typical tables of this size.

    Rows count by their share of the transitions: the figures say how wrong the next step is on average.

    >>> from veil.chains.planning import plan_chain
    >>> plan_chain(10, 100_000, epsilon=1.0, delta=1e-6).best.name
    'geometric'
    """
    states, records = _checked_size(states, records)
    epsilon, delta = positive("epsilon", epsilon), delta_of(delta)
    adjacency = Transitions() if adjacency is None else adjacency
    if not isinstance(adjacency, Transitions):
        found = type(adjacency).__name__
        raise InvalidArgument("adjacency", expected="chains.Transitions", found=found)
    chosen = items("names", names, expected="names of mechanisms")
    if not chosen:
        raise InvalidArgument("names", expected="at least one", found="none")
    tables = typical_tables(states, records)
    rows = []
    for name in chosen:
        try:
            mechanism = chosen_mechanism(
                name,
                (Table("transitions", (states, states)),),
                adjacency,
                states=states,
                epsilon=epsilon,
                delta=delta,
                records=records,
            ).mechanism
        except CannotCalibrate as error:
            rows.append(MatrixRow(name, None, why=str(error)))
            continue
        rows.append(measured(name, mechanism, tables))
    rows.sort(key=lambda row: row.row_tv)
    return ChainPlan(tuple(rows), adjacency, epsilon, delta, states, records)


def _checked_size(states: int, records: int) -> tuple[int, int]:
    size = integer("states", states, least=2)
    if size**2 > MOST_CELLS:
        expected = f"at most {MOST_CELLS:,} pairs of states, since each gets noise"
        raise InvalidArgument("states", expected=expected, found=f"{size:,} states")
    return size, integer("records", records, least=1, most=_MOST_RECORDS)


def measured(name: str, mechanism: PrivateChain, tables: Sequence[Integers]) -> MatrixRow:
    """The errors of a mechanism, by simulation on public tables."""
    rng = np.random.default_rng(_SEED)
    gaps, divergences, moved = [], [], []
    for counts in tables:
        sizes = counts.sum(axis=1, keepdims=True)
        share = sizes[:, 0] / sizes.sum()
        truth = np.where(sizes > 0, counts / np.maximum(sizes, 1), 1.0 / len(counts))
        stationary = _stationary(truth)
        for _ in range(int(np.clip(_BUDGET / counts.size, 2, _MOST_DRAWS))):
            drawn = simulated(mechanism, counts, rng)
            gaps.append(float(share @ (0.5 * np.abs(drawn - truth).sum(axis=1))))
            divergences.append(float(share @ _divergence(truth, drawn)))
            if stationary is not None:
                moved.append(0.5 * float(np.abs(quick_stationary(drawn) - stationary).sum()))
    return MatrixRow(
        name,
        mechanism,
        row_tv=float(np.mean(gaps)),
        row_tv95=float(np.quantile(gaps, 0.95)),
        stationary_tv=float(np.mean(moved)) if moved else None,
        kl=float(np.mean(divergences)),
    )


def simulated(mechanism: PrivateChain, counts: Integers, rng: Rng) -> Floats:
    """A draw of the transition matrix as a release would make it, in floating point: for plans only."""
    part = mechanism.part("transitions")
    tables = {part.key: _drawn(part, counts, rng)}
    return mechanism.model(tables, tuple(range(mechanism.states))).chain.to_numpy()


def _drawn(part: Part, counts: Integers, rng: Rng) -> Floats | Integers:
    if isinstance(part.mechanism, (GeometricCounts, DiscreteGaussianCounts)):
        return counts + part.mechanism.simulated_noise(rng, counts.shape)
    return part.draw(rng, counts)


def _stationary(matrix: Floats) -> Floats | None:
    chain = Chain(matrix)
    return chain.stationary() if chain.is_irreducible else None


def _divergence(truth: Floats, drawn: Floats) -> Floats:
    """The Kullback-Leibler divergence of each row, in nats."""
    present = truth > 0.0
    logs = np.log(np.where(present, truth, 1.0)) - np.log(np.where(present, np.maximum(drawn, 1e-300), 1.0))
    return np.asarray((truth * logs).sum(axis=1))


def least_epsilon_for_chain(
    states: int,
    records: int,
    *,
    error: float,
    delta: float = 0.0,
    adjacency: Transitions | None = None,
    name: str = "auto",
) -> float:
    """The smallest epsilon at which the expected error of the next step (total variation) is this small."""
    error = positive("error", error)

    def margin(epsilon: float) -> float:
        plan = plan_chain(states, records, epsilon=epsilon, delta=delta, adjacency=adjacency, names=(name,))
        return log_margin(error, plan.rows[0].row_tv) if plan.rows[0].mechanism is not None else -math.inf

    least = least_safe(margin, smallest=_SMALLEST, largest=_LARGEST, relative=0.01)
    if least is None:
        raise CannotCalibrate(
            f"no epsilon up to {_LARGEST:g} keeps the error of the next step below {error:g}."
        )
    return least
