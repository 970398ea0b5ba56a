"""Chains from counted transitions as an audit sees them: their private tables, a row of numbers a draw.

The model is computed from the tables and the public list of states. If that is so, nothing but the tables
has to be looked at. That it is so is checked apart, on whole draws: to compute the model again from the
tables that came out must give the same, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.chains.transition_counts import TransitionCounts
from veil.core.arrays import Floats
from veil.core.audit.reading import entry_numbers, nearness
from veil.core.random.streams import Rng

MORE_THAN_TABLES = "the model says more than the private tables that it should be made of"
_WHOLE_DRAWS = 20


def tables_alone(mechanism: PrivateChain) -> PrivateChain:
    """The same mechanism, whatever its class, without the model at the end: a hundred times faster."""
    kind = type(mechanism)
    faster = type(kind.__name__, (kind,), {"model": lambda self, tables, states: None})
    made: PrivateChain = object.__new__(faster)
    made.__dict__.update(mechanism.__dict__)
    return made


def says_more_than_tables(mechanism: PrivateChain, value: Any, stream: Rng) -> bool:
    """Whether some model is not the one that its tables stand for."""
    states = mechanism.validate(value).states
    for draw in mechanism.sample(value, rng=stream, size=_WHOLE_DRAWS):
        again = mechanism.model(draw.tables, states)
        if not _same(draw.model, again):
            return True
    return False


def _same(one: Any, other: Any) -> bool:
    if not np.array_equal(one.chain.to_numpy(), other.chain.to_numpy()):
        return False
    for name in ("second", "starts", "ends", "sizes"):
        mine, theirs = getattr(one, name), getattr(other, name)
        if (mine is None) != (theirs is None) or (mine is not None and not np.array_equal(mine, theirs)):
            return False
    laws = [getattr(model.lengths, "probabilities", np.empty(0)) for model in (one, other)]
    groups = [[chain.to_numpy() for chain in model.groups.values()] for model in (one, other)]
    return (
        np.array_equal(laws[0], laws[1])
        and len(groups[0]) == len(groups[1])
        and all(np.array_equal(mine, theirs) for mine, theirs in zip(*groups, strict=True))
    )


def chain_numbers(
    mechanism: PrivateChain, drawn: Any, first: TransitionCounts, second: TransitionCounts
) -> Floats:
    """Every private table of every draw, and how much likelier it is under the first counts."""
    columns: list[Floats] = []
    likelier = np.zeros(len(drawn))
    for part in mechanism.parts:
        table = np.array([draw.tables[part.key] for draw in drawn], dtype=np.float64)
        counts, others = part.counted(first), part.counted(second)
        inputs = [np.asarray(item, dtype=np.float64) for item in (counts, others)]
        if not part.is_noisy_counts:
            inputs = [item / np.maximum(item.sum(axis=-1, keepdims=True), 1.0) for item in inputs]
        before, after = (item.ravel() for item in inputs)
        columns += entry_numbers(table.reshape(len(drawn), -1), before, after)
        likelier = likelier + _log_likelihood_ratio(part, table, counts, others)
    return np.hstack([*columns, likelier[:, None]])


def _log_likelihood_ratio(part: Part, tables: Floats, counts: Any, others: Any) -> Floats:
    """Of a table, or an approximation by its rows that differ; zeros where there is no density."""
    hides: Any = part.mechanism
    if part.is_noisy_counts:
        flat = tables.reshape(len(tables), -1)
        by_l1, by_squares = nearness(flat, counts.ravel(), others.ravel())
        ratio: Floats = by_l1 / hides.scale if hasattr(hides, "scale") else by_squares / hides.sigma**2
        return ratio
    total = np.zeros(len(tables))
    if not hasattr(hides, "log_density"):
        return total
    width = counts.shape[-1]
    rows = tables.reshape(len(tables), -1, width)
    pairs = zip(counts.reshape(-1, width), others.reshape(-1, width), strict=True)
    for row, (one, other) in enumerate(pairs):
        if (one != other).any():
            total = total + hides.log_density(rows[:, row], one) - hides.log_density(rows[:, row], other)
    return total
