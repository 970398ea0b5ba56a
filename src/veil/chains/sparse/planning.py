"""What will survive of a chain of very many states, before any data is touched: from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.sparse.choosing import chosen_sparse, expected_pairs
from veil.chains.sparse.noise import SparseNoise
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.checks import integer
from veil.core.plan import Plan, beside

# Of a pair that is kept in so many of a hundred releases it is said that it is.
_SURE = 0.95
_PUBLIC = ("states", "records", "noise", "once")
# The busiest pairs of made-up tables one by one, and classes of the others.
_CLASSES = 4_000
# How fast pairs become rarer: the k-th has a share like k to minus this.
_EXPONENTS = {"a few busy pairs of states, as in click-streams": 1.0, "pairs of states more alike": 0.7}
# Different pairs, for each transition that is counted: of new ones there are ever fewer.
_DISTINCT = 0.5


@dataclass(frozen=True, slots=True)
class Surviving:
    """Of a made-up table: how many pairs that hold something are kept, and the transitions in them."""

    table: str
    pairs: float
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {"table": self.table, "pairs_kept": round(self.pairs), "share_of_transitions": self.share}


@dataclass(frozen=True, slots=True)
class SparsePlan(Plan):
    """What a budget buys for a chain of which only large counts are kept.

    threshold: the least noisy count that is kept. sure: a pair with so many transitions (or users, where each
    pair counts once for each) is kept in 95 of 100 releases. false: about so many pairs that nobody went are
    kept too. state_error: by how much the noise moves how often a state is left or entered, on average.
    """

    printer: ClassVar[str | None] = "veil.chains.sparse.planning:print_sparse_plan"

    states: int
    records: int
    noise: str
    threshold: int
    sure: int
    false: float
    pair_error: float
    state_error: float
    once: bool
    surviving: tuple[Surviving, ...]
    adjacency: Transitions
    epsilon: float
    delta: float
    why: str

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        return ()

    def to_dict(self) -> dict[str, Any]:
        plain = {
            name: getattr(self, name)
            for name in (
                "states",
                "records",
                "noise",
                "threshold",
                "sure",
                "pair_error",
                "state_error",
                "once",
            )
        }
        survive = [one.to_dict() for one in self.surviving]
        return {**plain, "false_pairs": round(self.false), "surviving": survive, **beside(self)}


def plan_sparse(
    states: int,
    records: int,
    *,
    epsilon: float,
    delta: float,
    adjacency: Transitions,
    once: bool,
    false_pairs: int | None = None,
) -> SparsePlan:
    """The plan. records: about how many transitions are counted; of users with a cap, after it."""
    states, records = integer("states", states, least=2), integer("records", records, least=1)
    chosen = chosen_sparse(
        "auto", states, adjacency, epsilon=epsilon, delta=delta, once=once, false_pairs=false_pairs
    )
    mechanism, noise = chosen.mechanism, chosen.mechanism.transitions
    passing = _passing(noise, mechanism.threshold)
    sure = max(1, math.ceil(mechanism.threshold + noise.law.quantile(_SURE)))
    return SparsePlan(
        states=states,
        records=records,
        noise=chosen.name,
        threshold=mechanism.threshold,
        sure=sure,
        false=expected_pairs(mechanism),
        pair_error=_mean_move(noise),
        state_error=_mean_move(mechanism.margins),
        once=once,
        surviving=tuple(
            _surviving(name, exponent, states, records, passing, mechanism.threshold)
            for name, exponent in _EXPONENTS.items()
        ),
        adjacency=adjacency,
        epsilon=epsilon,
        delta=delta,
        why=chosen.why,
    )


def _surviving(
    name: str, exponent: float, states: int, records: int, passing: Floats, threshold: int
) -> Surviving:
    """Of a table in which the k-th busiest pair has a share like k to a negative power."""
    pairs = min(float(states) ** 2, _DISTINCT * records)
    edges = np.unique(np.floor(np.geomspace(1.0, pairs + 1.0, _CLASSES)))
    often = np.diff(edges)
    middle = np.sqrt(edges[:-1] * (edges[1:] - 1.0).clip(1.0))
    shares = middle**-exponent
    counts = records * shares / float(often @ shares)
    span = (len(passing) - 1) // 2
    kept = passing[np.clip(np.rint(counts - threshold) + span, 0, len(passing) - 1).astype(np.int64)]
    return Surviving(name, float(often @ kept), float(often @ (counts * kept)) / records)


def _passing(noise: SparseNoise, threshold: int) -> Floats:
    """P(Z >= -gap) for each gap of a count above the threshold."""
    span = max(threshold, math.ceil(40.0 * max(noise.law.deviation, 1.0)))
    grid = np.arange(-span, span + 1.0)
    weights = noise.law.weights(grid)
    return np.asarray(np.cumsum(weights) / weights.sum())


def _mean_move(noise: SparseNoise) -> float:
    if noise.kind == "geometric":
        return 1.0 / math.sinh(min(1.0 / noise.scale, 700.0))
    return noise.scale * math.sqrt(2.0 / math.pi)


def print_sparse_plan(plan: SparsePlan) -> None:
    """What survives, in a few lines."""
    from veil.report.console import new_console

    console = new_console()
    of = "users" if plan.once else "transitions"
    console.print(
        f"At epsilon = {plan.epsilon:g}, delta = {plan.delta:g}; neighbours: {plan.adjacency.words}."
    )
    console.print(f"Mechanism: {plan.noise}: {plan.why}.")
    lines: Sequence[tuple[str, str]] = (
        (f"least noisy count ({of}) of a pair that is kept", f"{plan.threshold:,}"),
        (f"{of} from which on a pair is kept in 95 of 100 releases", f"{plan.sure:,}"),
        ("pairs that nobody went, and are kept all the same", f"{plan.false:,.0f}"),
        ("by how much the noise moves a kept count, on average", f"{plan.pair_error:,.3g}"),
        ("by how much it moves how often a state is left or entered", f"{plan.state_error:,.3g}"),
    )
    for text, number in lines:
        console.print(f"{text + ':':62} {number}")
    for one in plan.surviving:
        told = f"{one.pairs:,.0f} pairs with {100 * one.share:.3g} % of what is counted"
        console.print(f"Of a made-up table with {one.table}: {told} are kept.")
    console.print(
        f"Made-up tables have {plan.states:,} states and {plan.records:,} counted transitions; no data was "
        "read."
    )
