"""Whether two values are neighbours, and in what sense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.bit_flips import BitFlips
from veil.bits.domain import Bits
from veil.bits.events import covers, flips_between
from veil.chains.contributions import Contributions, Transitions
from veil.chains.transition_counts import TransitionTable
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Mechanism
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.rectangle import Rectangle
from veil.vectors.adjacency import Adjacency, Records, Rows, Transfer
from veil.vectors.counts import Counts
from veil.vectors.simplex import Simplex
from veil.words.batch import WordBatch
from veil.words.hamming import Hamming

# What scaling a row to a sum of one may leave behind is no change.
_ROUNDING = 1e-12


def relation_between(mechanism: Mechanism, value: Any, neighbour: Any) -> Adjacency:
    """The tightest adjacency under which the two are neighbours."""
    first, second = mechanism.validate(value), mechanism.validate(neighbour)
    if isinstance(first, WordBatch):
        apart = _words_apart(first, second)
        return Hamming(max(1, int(apart.max())), words_each=max(1, int((apart > 0).sum())))
    if isinstance(mechanism.domain, Bits):
        return flips_between(first, second)
    if isinstance(mechanism.domain, TransitionTable):
        raise InvalidArgument(
            "adjacency", expected="one that says what a neighbour is, such as veil.Transitions", found="None"
        )
    axes = getattr(mechanism, "item_axes", lambda valid: 1)(first)
    if np.shape(first) != np.shape(second) or np.ndim(first) != axes:
        raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
    change: NDArray[Any] = second - first
    if isinstance(mechanism.domain, Counts):
        return _relation_of_counts(change.ravel())
    if axes > 1:
        return _relation_of_matrices(mechanism, change.reshape(-1, change.shape[-1]))
    moved = np.flatnonzero(change)
    if isinstance(mechanism.domain, Simplex) and len(moved) == 2:
        return Transfer(min(1.0, float(np.abs(change).sum()) / 2.0 * (1.0 + 1e-12)))
    raise _no_neighbours(len(moved))


def _no_neighbours(moved: int) -> InvalidArgument:
    return InvalidArgument(
        "neighbour",
        expected="a neighbour of the value (two entries that exchange mass, or one record's difference)",
        found=f"{moved} entries that differ in another way",
    )


def _relation_of_counts(change: NDArray[Any]) -> Adjacency:
    moved = sorted(int(step) for step in change[change != 0])
    if moved in ([1], [-1]):
        return Records("add-remove")
    if moved == [-1, 1]:
        return Records("replace")
    raise _no_neighbours(len(moved))


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


def _words_apart(first: WordBatch, second: WordBatch) -> NDArray[np.int64]:
    """In how many symbols each word differs."""
    if not np.array_equal(first.lengths, second.lengths):
        raise InvalidArgument("neighbour", expected="words of the same lengths", found="others")
    words = np.repeat(np.arange(len(first)), first.lengths)
    return np.bincount(words, weights=first.codes != second.codes, minlength=len(first)).astype(np.int64)


def check_neighbours(mechanism: Mechanism, relation: Adjacency, value: Any, neighbour: Any) -> None:
    """Refuse two values that are further apart than the relation allows: their loss is no violation."""
    first, second = mechanism.validate(value), mechanism.validate(neighbour)
    if isinstance(relation, Hamming) and isinstance(first, WordBatch):
        apart = _words_apart(first, second)
        symbols, words = int(apart.max()), int((apart > 0).sum())
        sound = symbols <= relation.radius and words <= relation.words_each
        said = f"{symbols} in a word" if words < 2 else f"{words} words that differ, in up to {symbols}"
    elif isinstance(relation, BitFlips) and isinstance(mechanism.domain, Bits):
        between = flips_between(first, second)
        sound, said = covers(relation, between), f"{between.count} bits that differ"
    elif isinstance(mechanism.domain, TransitionTable):
        sound, said = _transitions_near(mechanism, relation, first, second), "more transitions that differ"
    else:
        if np.shape(first) != np.shape(second):
            raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
        sound, said = _arrays_near(relation, np.atleast_2d(second - first)), "more that differs"
    if not sound:
        raise InvalidArgument(
            "neighbour",
            expected=relation.words,
            found=said,
            hint="State another adjacency to audit values further apart.",
        )


def _arrays_near(relation: Adjacency, change: NDArray[Any]) -> bool:
    flat = change.reshape(-1, change.shape[-1])
    if isinstance(relation, Records):
        limit = Contributions(1, 1 if relation.change == "replace" else 0)
        same_size = relation.change == "add-remove" or int(change.sum()) == 0
        return same_size and _contributed(limit, change)
    if isinstance(relation, Contributions):
        return _contributed(relation, change)
    moved = np.abs(flat) > _ROUNDING
    rows = int(moved.any(axis=1).sum())
    largest = float(np.abs(flat).max()) * (1.0 - 1e-9) - _ROUNDING
    if isinstance(relation, Transfer):
        return rows <= 1 and int(moved.sum(axis=1).max()) <= 2 and largest <= relation.mass
    if isinstance(relation, Rectangle):
        # Four corners, also where a matrix is laid out in one row.
        return rows <= 2 and int(moved.sum()) <= 4 and largest <= relation.mass
    if isinstance(relation, Rows):
        few = rows <= relation.among(len(flat))
        return few and int(moved.sum(axis=1).max()) <= 2 and largest <= relation.each.mass
    return True


def _contributed(limit: Contributions, change: NDArray[Any]) -> bool:
    come, gone = int(change[change > 0].sum()), -int(change[change < 0].sum())
    return any(a <= limit.added and b <= limit.removed for a, b in ((come, gone), (gone, come)))


def _transitions_near(mechanism: Any, relation: Any, first: Any, second: Any) -> bool:
    if not isinstance(relation, Transitions):
        return False
    for part in mechanism.parts:
        if part.of in ("starts", "ends", "lengths"):
            limit = relation.on_sequences
        elif part.of == "second":
            limit = relation.on_triples(part.cap)
        else:
            limit = relation.on_transitions(part.cap)
        if not _contributed(limit, part.counted(second) - part.counted(first)):
            return False
    return True
