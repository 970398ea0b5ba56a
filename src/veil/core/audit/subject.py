"""How an audit attacks the mechanisms of one kind of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.marks import Marker, no_marks
from veil.core.errors import InvalidArgument
from veil.core.mechanism import Mechanism
from veil.core.random.streams import Rng

Reader = Callable[[Any], Floats]
Example = tuple[Mechanism, Adjacency | None]
# Draws for each of two neighbours, where a draw takes microseconds.
FAST = 20_000


class AuditSubject(ABC):
    """What an audit asks of a kind. Values are made up; nobody's data is ever needed."""

    # Draws that show whether a sampler follows the law that was enumerated.
    fitted: ClassVar[int] = 10_000

    @abstractmethod
    def examples(self) -> list[Example]:
        """A small mechanism of every sort, with an adjacency where it has none of its own."""

    @abstractmethod
    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """Neighbours of the kind that give a faulty mechanism away: at borders, at first and last places."""

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        """The tightest adjacency under which two validated values are neighbours."""
        raise InvalidArgument("adjacency", expected="one that says what a neighbour is", found="None")

    @abstractmethod
    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        """How two validated values differ where they are no neighbours; empty where they are."""

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        """So many outputs for the value, as the mechanism gives them out."""
        return mechanism.sample(value, rng=stream, size=draws)

    def size(self, mechanism: Any, valid: Any) -> int:
        """About how many numbers one output has."""
        return int(np.size(valid))

    @abstractmethod
    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        """What to look at in every draw, where these two are to be told apart: a row of numbers for each.

        Whatever is computed from a draw is post-processing: a bound that is found on it is one for the
        mechanism.
        """

    def marker(self, mechanism: Any, value: Any, neighbour: Any) -> Marker:
        """How to mark the last bits of what comes out (see `marks`); nothing where that is whole numbers."""
        return lambda drawn: no_marks(len(drawn))

    def beside(self, mechanism: Any, value: Any, neighbour: Any) -> tuple[Reader, Marker]:
        """The same for pairs of batches, of which only the items that are the same in both are looked at."""
        raise InvalidArgument("pairs", expected="none beside others: there are no batches", found="one")

    def keys(self, mechanism: Any, drawn: Any) -> list[Hashable]:
        """Draws of a mechanism with few outputs, as its `distribution` names them."""
        return [tuple(row) if isinstance(row, list) else row for row in np.asarray(drawn).tolist()]

    def samples(self, mechanism: Any) -> int:
        """Draws for each value that take a few seconds."""
        return FAST

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        """A fault that shows without comparing two values; empty where there is none."""
        return ""


@dataclass(frozen=True)
class AuditPair:
    """Two neighbours that were made up for an audit. name: what is looked at with them.

    beside: they are batches, and only the items that are the same in both are looked at. Each item is drawn
    for itself, so that these must not tell anything: epsilon is claimed to be 0.
    """

    name: str
    value: Any = field(repr=False)
    neighbour: Any = field(repr=False)
    _: KW_ONLY
    beside: bool = False


# Entries of an output that are looked at one by one; those that differ come first.
MOST_ENTRIES, MOST_CHANGED = 256, 4


def chosen_places(changed: Any, size: int) -> Any:
    """The places that are looked at: those that differ, then others all over."""
    others = np.unique(np.linspace(0, size - 1, min(size, MOST_ENTRIES)).astype(np.int64))
    return np.unique(np.concatenate([changed[:MOST_ENTRIES], others]))


def nearness(drawn: Floats, before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """How much nearer a draw is to the one than to the other, in L1 and in squares."""
    one, other = drawn - before, drawn - after
    return np.abs(other).sum(axis=1) - np.abs(one).sum(axis=1), (other**2 - one**2).sum(axis=1)


def entry_numbers(flat: Floats, before: Floats, after: Floats) -> list[Floats]:
    """Entries, ratios of those that differ, and whether one came out as it went in."""
    changed = np.flatnonzero(before != after)
    places, few = chosen_places(changed, flat.shape[1]), changed[:MOST_CHANGED]
    columns = [flat[:, places]]
    logs = np.log(np.maximum(flat[:, few], 1e-320))
    columns += [(logs[:, i] - logs[:, j])[:, None] for i, j in combinations(range(len(few)), 2)]
    columns += [(flat[:, few] == before[few]).astype(np.float64)]
    columns += [(flat[:, few] == after[few]).astype(np.float64)]
    if len(changed):
        near = nearness(flat[:, changed], before[changed], after[changed])
        columns += [column[:, None] for column in near]
    return columns
