"""Attacking one's own mechanism: a lower bound on epsilon, exact where outputs are few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.analysis.bit_events import covers, flips_between
from veil.analysis.events import best_event, drawn_outputs
from veil.domains.adjacency import Adjacency, Records, Rows, Transfer
from veil.domains.bit_flips import BitFlips
from veil.domains.bits import Bits
from veil.domains.checks import delta_of, integer, within
from veil.domains.counts import Counts
from veil.domains.doubly import Birkhoff
from veil.domains.hamming import Hamming
from veil.domains.rectangle import Rectangle
from veil.domains.simplex import Simplex
from veil.domains.word_batch import WordBatch
from veil.errors import InvalidArgument
from veil.mechanisms.base import Mechanism
from veil.samplers.randomness import generator


@dataclass(frozen=True, slots=True)
class Audit:
    """What an attack found.

    lower: epsilon is at least this (at the stated confidence, or surely if exact). claimed: what the
    mechanism claims at this delta. violated: the attack beat the claim. exact: by enumeration.
    """

    lower: float
    claimed: float
    violated: bool
    exact: bool
    confidence: float
    delta: float

    def __str__(self) -> str:
        sure = "by enumeration" if self.exact else f"at confidence {self.confidence:g}"
        verdict = "VIOLATION" if self.violated else "no violation found"
        claim = f"claimed {self.claimed:.4g} at delta {self.delta:g}"
        return f"{verdict}: epsilon >= {self.lower:.4g} {sure}, {claim}"


def audit(
    mechanism: Mechanism,
    value: Any,
    neighbour: Any,
    *,
    samples: int = 100_000,
    confidence: float = 0.999_999,
    delta: float = 0.0,
    adjacency: Adjacency | None = None,
    rng: Any = None,
) -> Audit:
    """A lower bound on the epsilon that tells the value from the neighbour.

    Never hand in sensitive values: audit on made-up ones. A mechanism with `distribution(value)`
    (outputs and probabilities) is enumerated. Otherwise an event is chosen on one half of the samples
    and measured on the other by Clopper-Pearson limits, half of the error on each side. No violation
    found does not mean that there is none.

    adjacency: the relation between the two; found from them if None.
    """
    delta = delta_of(delta)
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1")
    relation = adjacency or mechanism.adjacency or relation_between(mechanism, value, neighbour)
    if isinstance(relation, Hamming):
        far = relation_between(mechanism, value, neighbour)
        if isinstance(far, Hamming) and far.radius > relation.radius:
            raise InvalidArgument(
                "neighbour",
                expected=f"a word that differs in at most {relation.radius} symbols",
                found=f"{far.radius}",
                hint="State another adjacency to audit words further apart.",
            )
    if isinstance(relation, BitFlips):
        between = flips_between(mechanism.validate(value), mechanism.validate(neighbour))
        if not covers(relation, between):
            raise InvalidArgument(
                "neighbour",
                expected=relation.words,
                found=f"{between.count} bits that differ",
                hint="State another adjacency to audit values further apart.",
            )
    claimed = mechanism.profile(relation).epsilon(delta)
    laws = _laws(mechanism, value, neighbour)
    if laws is not None:
        lower = _exact(*laws, delta)
        return Audit(lower, claimed, lower > claimed * (1.0 + 1e-9) + 1e-12, True, 1.0, delta)
    draws = integer("samples", samples, least=1000)
    stream = generator(rng)
    first, second = drawn_outputs(mechanism, value, neighbour, draws, stream)
    lower = max(
        best_event(mechanism, first, second, value, neighbour, delta, confidence=0.5 + 0.5 * confidence),
        best_event(mechanism, second, first, neighbour, value, delta, confidence=0.5 + 0.5 * confidence),
    )
    return Audit(lower, claimed, lower > claimed, False, confidence, delta)


def _laws(mechanism: Any, value: Any, neighbour: Any) -> tuple[dict[Any, float], dict[Any, float]] | None:
    """All outputs for the two with their probabilities, where they can be listed."""
    if not hasattr(mechanism, "distribution"):
        return None
    check = getattr(mechanism, "can_enumerate", None)
    if not (check(value) if check is not None else getattr(mechanism, "is_enumerable", True)):
        return None
    return mechanism.distribution(value), mechanism.distribution(neighbour)


def _exact(first: dict[Any, float], second: dict[Any, float], delta: float) -> float:
    """The smallest epsilon at which both directions have at most this delta, over finite outputs."""
    return max(_one_way(first, second, delta), _one_way(second, first, delta))


def _one_way(first: dict[Any, float], second: dict[Any, float], delta: float) -> float:
    p = np.array([first[output] for output in first])
    q = np.array([second.get(output, 0.0) for output in first])

    def excess(epsilon: float) -> float:
        return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())

    if float(p[q == 0.0].sum()) > delta:
        return math.inf
    if excess(0.0) <= delta:
        return 0.0
    kept = (q > 0.0) & (p > 0.0)
    low, high = 0.0, float(np.log(p[kept] / q[kept]).max())
    if delta == 0.0:
        return high
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) <= delta else (middle, high)
    return low


def _relation_of_matrices(mechanism: Mechanism, change: NDArray[Any]) -> Adjacency:
    moved = (change != 0.0).sum(axis=1)
    # What smoothing or scaling of the rows left behind is no change.
    moved = np.where(np.abs(change).max(axis=1) < 1e-15, 0, moved)
    rows = int(np.count_nonzero(moved))
    mass = min(1.0, float(np.abs(change).sum(axis=1).max()) / 2.0 * (1.0 + 1e-12))
    if isinstance(mechanism.domain, Birkhoff) and rows == 2 and sorted(moved)[-2:] == [2, 2]:
        return Rectangle(mass)
    if rows > 0 and moved.max() == 2:
        return Rows(rows, Transfer(mass))
    raise InvalidArgument(
        "neighbour",
        expected="a matrix in which two entries of a row exchange mass, in one row or more",
        found=f"{rows} rows that differ in another way",
    )


def relation_between(mechanism: Mechanism, value: Any, neighbour: Any) -> Adjacency:
    """The tightest adjacency under which the two are neighbours."""
    first, second = mechanism.validate(value), mechanism.validate(neighbour)
    if isinstance(first, WordBatch):
        return Hamming(max(1, int((first.rows != second.rows).sum())))
    if isinstance(mechanism.domain, Bits):
        return flips_between(first, second)
    axes = getattr(mechanism, "item_axes", lambda valid: 1)(first)
    if np.shape(first) != np.shape(second) or np.ndim(first) != axes:
        raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
    change: NDArray[Any] = second - first
    if axes > 1:
        return _relation_of_matrices(mechanism, change.reshape(-1, change.shape[-1]))
    moved = np.flatnonzero(change)
    if isinstance(mechanism.domain, Simplex) and len(moved) == 2:
        return Transfer(min(1.0, float(np.abs(change).sum()) / 2.0 * (1.0 + 1e-12)))
    if isinstance(mechanism.domain, Counts):
        if len(moved) == 1 and abs(int(change[moved[0]])) == 1:
            return Records("add-remove")
        if len(moved) == 2 and sorted(int(change[i]) for i in moved) == [-1, 1]:
            return Records("replace")
    raise InvalidArgument(
        "neighbour",
        expected="a neighbour of the value (two entries that exchange mass, or one record's difference)",
        found=f"{len(moved)} entries that differ in another way",
    )
