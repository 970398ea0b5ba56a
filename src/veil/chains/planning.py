"""What a budget buys for a counted chain, and what an accuracy costs, before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import MOST_CELLS, Table, chosen_mechanism
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.checks import delta_of, integer, items, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.numerics.rounding import least_safe, log_margin
from veil.core.progress import tell
from veil.core.span import Span, assumed
from veil.matrices.chain import Chain
from veil.matrices.numerics.stationary import quick_stationary
from veil.matrices.planning import MatrixPlan, MatrixRow
from veil.vectors.counts import Integers

PLANNED = ("geometric", "gaussian", "dirichlet")
_SEED = 89
# Cells that are drawn in one simulation, over all draws.
_BUDGET = 120_000
_MOST_DRAWS = 12
_SMALLEST, _LARGEST = 1e-3, 1e3
# Far beyond any table, and still exact in floats.
_MOST_RECORDS = 10**12
_TYPICAL_SEED = 63
# How strongly sizes of rows differ: the largest of 60 has about thirty times what the median one has.
_SPREAD = 1.2
_NEAR = 0.25
TYPICAL = ("travel between places in a plane", "all next states as likely as any others")
_GIVEN = "Errors are those on the typical table given. Ranges hold nine in ten releases on it."
# Of tables further out: how far short ways reach, ways out of a crossing, how uneven pairs of states are.
_NEXT, _WAYS, _UNEVEN, _FAR_SPREAD = 0.08, 4, 2.5, 3.0
# Fewer transitions to a state than this may leave some without any.
_PER_STATE = 4
# Ranges are longer by these factors, for what lies between the tables.
_SPARE, _SPARE_IN_LONG_RUN = 1.25, 2.0


@dataclass(frozen=True, slots=True)
class ChainPlan(MatrixPlan):
    """The mechanisms for a counted chain, from the least to the largest expected error of the next step."""

    printer: ClassVar[str | None] = "veil.chains.report.summary:print_chain_plan"

    states: int = 0
    records: int = 0
    # The error that was asked for, where epsilon follows from it.
    error: float | None = None
    # Whether it is for a public table that was given.
    given: bool = False


def plan_chain(
    states: int,
    records: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    adjacency: Transitions | None = None,
    names: Sequence[str] = PLANNED,
    typical: Any = None,
    ranges: bool = True,
) -> ChainPlan:
    """Every mechanism at this budget, measured on public typical tables of this size.

    Rows count by their share of the transitions: the figures say how wrong the next step is on average.
    typical: a public table of transitions to plan for; None for made-up ones, from tables in which all pairs
    of states occur to those in which few do. ranges: try further tables too, for the ends of ranges only.

    >>> from veil.chains.planning import plan_chain
    >>> plan_chain(10, 100_000, epsilon=1.0, delta=1e-6).best.name
    'geometric'
    """
    states = integer("states", states, least=2)
    if states**2 > MOST_CELLS:
        expected = f"at most {MOST_CELLS:,} pairs of states, since each gets noise"
        raise InvalidArgument("states", expected=expected, found=f"{states:,} states")
    records = integer("records", records, least=1, most=_MOST_RECORDS)
    epsilon, delta = positive("epsilon", epsilon), delta_of(delta)
    adjacency = Transitions() if adjacency is None else adjacency
    if not isinstance(adjacency, Transitions):
        found = type(adjacency).__name__
        raise InvalidArgument("adjacency", expected="chains.Transitions", found=found)
    chosen = items("names", names, expected="names of mechanisms")
    if not chosen:
        raise InvalidArgument("names", expected="at least one", found="none")
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    tables = typical_tables(states, records) if typical is None else (like_table(typical, states, records),)
    further = extreme_tables(states, records) if typical is None and ranges else {}
    rows = planned_rows(
        tables, adjacency, records=records, names=chosen, further=tuple(further.values()), **budget
    )
    baselines = (baseline_of(tables, rows[0].row_tv),) if rows[0].mechanism is not None else ()
    assumes = _GIVEN
    if typical is None:
        told = assumed([*TYPICAL, *further], of="tables", usual="means over the first two")
        assumes = f"{told} Ranges hold nine in ten releases on each of them."
    size: dict[str, Any] = {"states": states, "records": records, "given": typical is not None}
    return ChainPlan(rows, adjacency, epsilon, delta, **size, baselines=baselines, assumes=assumes)


def baseline_of(tables: Sequence[NDArray[Any]], expected: float) -> Baseline:
    """An expected error of the next step beside that of next states that are all as likely.

    tables: of transitions counted from each state, or of their shares.
    """
    away = [float(np.abs(table - table.mean(axis=1, keepdims=True)).sum() / table.sum()) for table in tables]
    measure = "error of the next step (total variation)"
    return Baseline(measure, "all next states as likely", 0.5 * float(np.mean(away)), expected)


def planned_rows(
    tables: Sequence[Integers],
    adjacency: Transitions,
    *,
    epsilon: float,
    delta: float,
    records: int,
    names: Sequence[str] = PLANNED,
    further: Sequence[Integers] = (),
) -> tuple[MatrixRow, ...]:
    """The mechanisms at this budget, measured on public tables of one size; those of least error first.

    further: tables that only widen the ranges.
    """
    rows, hidden = [], (Table("transitions", tables[0].shape),)
    for name in names:
        tell(name)
        try:
            choice = chosen_mechanism(name, hidden, adjacency, epsilon=epsilon, delta=delta, records=records)
        except CannotCalibrate as error:
            rows.append(MatrixRow(name, None, why=str(error)))
        else:
            rows.append(measured(name, choice.mechanism, tables, further))
    return tuple(sorted(rows, key=lambda row: row.row_tv))


def measured(
    name: str, mechanism: PrivateChain, tables: Sequence[Integers], further: Sequence[Integers] = ()
) -> MatrixRow:
    """The errors of a mechanism, by simulation on public tables. further: those that only widen ranges."""
    rng = np.random.default_rng(_SEED)
    gaps, divergences, moved = [], [], []
    for counts in (*tables, *further):
        of_rows, of_divergence, of_states = _simulated(mechanism, counts, rng)
        gaps.append(of_rows)
        divergences.append(of_divergence)
        moved.append(of_states)
    usual, tried = np.concatenate(gaps[: len(tables)]), len(tables)
    known = np.concatenate(moved[:tried])
    return MatrixRow(
        name,
        mechanism,
        row_tv=float(usual.mean()),
        row_tv95=float(np.quantile(usual, 0.95)),
        stationary_tv=float(known.mean()) if len(known) else None,
        kl=float(np.concatenate(divergences[:tried]).mean()),
        row_span=_span(gaps, tried, _SPARE),
        stationary_span=_span(moved, tried, _SPARE_IN_LONG_RUN) if len(known) else None,
    )


def _simulated(
    mechanism: PrivateChain, counts: Integers, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """By simulated release: the error of rows, their divergence and, of chains, the stationary one."""
    sizes = counts.sum(axis=1, keepdims=True)
    share = sizes[:, 0] / sizes.sum()
    truth = np.where(sizes > 0, counts / np.maximum(sizes, 1), 1.0 / len(counts))
    chain, present = Chain(truth), truth > 0.0
    stationary = chain.stationary() if chain.is_irreducible else None
    logs = np.log(np.where(present, truth, 1.0))
    gaps, divergences, moved = [], [], []
    for _ in range(int(np.clip(_BUDGET / counts.size, 2, _MOST_DRAWS))):
        table = {"transitions": mechanism.first["transitions"].simulated(rng, counts)}
        drawn = mechanism.model(table, tuple(range(mechanism.states))).chain.to_numpy()
        gaps.append(share @ (0.5 * np.abs(drawn - truth).sum(axis=1)))
        # The Kullback-Leibler divergence of each row, in nats.
        away = logs - np.log(np.where(present, np.maximum(drawn, 1e-300), 1.0))
        divergences.append(share @ (truth * away).sum(axis=1))
        if stationary is not None:
            moved.append(0.5 * np.abs(quick_stationary(drawn) - stationary).sum())
    return np.array(gaps), np.array(divergences), np.array(moved)


def _span(errors: Sequence[Floats], tried: int, spare: float) -> Span:
    """From the releases on each table; the first tables are the usual ones."""
    usual = float(np.concatenate(errors[:tried]).mean())
    ends = np.array([np.quantile(each, (0.05, 0.95)) for each in errors if len(each)])
    # For what lies between the tables and beyond them, where there are several.
    spare = spare if len(errors) > 1 else 1.0
    return Span((usual,), (float(ends.min()) / spare, min(1.0, float(ends.max()) * spare)))


def least_epsilon_for_chain(
    states: int,
    records: int,
    *,
    error: float,
    delta: float = 0.0,
    adjacency: Transitions | None = None,
    name: str = "auto",
    typical: Any = None,
) -> float:
    """The smallest epsilon at which the expected error of the next step (total variation) is this small."""
    error = positive("error", error)
    public: dict[str, Any] = {"delta": delta, "adjacency": adjacency, "typical": typical}

    def margin(epsilon: float) -> float:
        plan = plan_chain(states, records, epsilon=epsilon, names=(name,), ranges=False, **public)
        return log_margin(error, plan.rows[0].row_tv) if plan.rows[0].mechanism is not None else -math.inf

    least = least_safe(margin, smallest=_SMALLEST, largest=_LARGEST, relative=0.01)
    if least is None:
        raise CannotCalibrate(
            f"no epsilon up to {_LARGEST:g} keeps the error of the next step below {error:g}."
        )
    return least


def typical_tables(states: int, records: int, *, seed: int = _TYPICAL_SEED) -> tuple[Integers, ...]:
    """Two public tables of so many transitions, the same every time: of travel, and of anything at all.

    In the first, states lie in a plane and near and popular ones attract; many cells are empty. In the
    second, rows are spread evenly over all distributions. Sizes of rows differ in both.
    """
    rng = np.random.default_rng(seed)
    places = rng.random((states, 2))
    popular = np.exp(_SPREAD * rng.standard_normal(states))
    far = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    travel = popular * np.exp(-far / _NEAR)
    anything = rng.standard_exponential((states, states))
    tables = []
    for weights in (travel, anything):
        sizes = np.exp(_SPREAD * rng.standard_normal(states))
        split = rng.multinomial(records, sizes / sizes.sum())
        rows = weights / weights.sum(axis=1, keepdims=True)
        tables.append(np.asarray(rng.multinomial(split, rows), dtype=np.int64))
    return tuple(tables)


def extreme_tables(states: int, records: int, *, seed: int = _TYPICAL_SEED) -> dict[str, Integers]:
    """Public tables that are further out than the typical ones, by what they are."""
    rng = np.random.default_rng(seed)
    places = rng.random((states, 2))
    popular = np.exp(_SPREAD * rng.standard_normal(states))
    far = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    nearby = popular[:, None] * popular * np.exp(-far / _NEXT)
    # Where most trips start is not where they end: of some places much arrives and hardly anything departs.
    starting = np.exp(_FAR_SPREAD * rng.standard_normal((states, 1)))
    one_way = starting * popular * np.exp(-far / _NEAR)
    # Those who stay: few in the middle, nearly all outside.
    staying = np.diag(nearby.sum(axis=1) * rng.beta(1.0, 1.0, states) / (popular / popular.max() + 0.05))
    ways = np.argsort(far, axis=1)[:, 1 : _WAYS + 1]
    streets = np.zeros((states, states))
    np.put_along_axis(streets, ways, rng.standard_exponential(ways.shape), axis=1)
    streets += streets.T
    few = np.outer(popular, popular**2) * np.exp(_UNEVEN * rng.standard_normal((states, states)))
    made = {
        "travel over short ways, between places that are mostly not left": nearby + staying,
        "travel that starts in a few places and ends anywhere": one_way,
        "steps between neighbours only, back as often as there": streets,
        "a few pairs of states that hold nearly everything": few,
        "all pairs of states about as often": np.ones((states, states)),
    }
    # Once around all states, so that each is left and reached, where there are enough transitions.
    around = np.roll(np.eye(states, dtype=np.int64), 1, axis=1) * (records >= _PER_STATE * states)
    left = records - int(around.sum())
    return {
        words: around + rng.multinomial(left, (weights / weights.sum()).ravel()).reshape(states, states)
        for words, weights in made.items()
    }


def like_table(typical: Any, states: int, records: int) -> Integers:
    """A table of so many transitions, drawn from a public one."""
    table = np.asarray(typical, dtype=np.float64)
    if table.shape != (states, states):
        found = f"one of shape {table.shape}"
        raise InvalidArgument("typical", expected=f"a table of {states} states to {states}", found=found)
    if not (np.isfinite(table).all() and (table >= 0.0).all() and table.sum() > 0.0):
        raise InvalidArgument("typical", expected="counts of transitions, some above 0", found="others")
    if table.sum() == records and (table == np.rint(table)).all():
        return table.astype(np.int64)
    drawn = np.random.default_rng(_TYPICAL_SEED).multinomial(records, (table / table.sum()).ravel())
    return drawn.reshape(states, states)
