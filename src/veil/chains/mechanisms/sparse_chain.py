"""A Markov chain of many states: the large noisy counts of pairs, and how busy each state is.

How the large counts are drawn without the others: chains/sparse/drawing.md (the other proofs in
sparse_chain.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.sparse.drawing import draw_kept
from veil.chains.sparse.estimate import KeptCells, chain_behind
from veil.chains.sparse.margins import counts_behind
from veil.chains.sparse.noise import SparseNoise
from veil.chains.transition_counts import TransitionCounts, TransitionTable
from veil.core.adjacency import Adjacency
from veil.core.checks import integer, truth
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names
from veil.core.mechanism import Described, adjacency_of
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng
from veil.matrices.back_off import BackOffChain
from veil.vectors.counts import Contributions

if TYPE_CHECKING:
    from veil.chains.sequence_model import SequenceModel

Tables = Mapping[str, NDArray[Any]]
TABLES = ("cells", "counts", "departures", "arrivals")
# More pairs than this in a table: their numbers would not fit.
MOST_STATES = 2**30


def alike(states: Names) -> Names:
    """The labels, all of one type: whole numbers if they all are, else text."""
    return states if all(type(state) is int for state in states) else tuple(map(str, states))


@dataclass(frozen=True)
class SparseDraw:
    """What was drawn: the private tables by name, and the chain made of them.

    states: the labels, where they were drawn too.
    """

    tables: Tables
    chain: BackOffChain
    states: Names | None = None


@dataclass(frozen=True, init=False)
class SparseChain(Described):
    """Noise on the count of every pair of states, of which those of at least a threshold are kept.

    states: how many. transitions: the noise on the count of each pair. margins: the noise on how often each
    state is left, and on how often each is entered. threshold: the least noisy count that is kept, a public
    number of at least 1. once: each pair of states was counted once for each user, and in the margins each
    state. The large counts are drawn without the others, in the law that they have among all.

    cells: how many pairs there are.
    """

    states: int
    transitions: SparseNoise
    margins: SparseNoise
    threshold: int
    once: bool
    cells: int = field(repr=False, compare=False)
    domain: TransitionTable = field(repr=False, compare=False)
    name: ClassVar[str] = "SparseChain"
    # Small tables that the record itself holds, with their lengths.
    in_record: ClassVar[Mapping[str, int]] = {}
    kind: ClassVar[str] = "sparse-chain"

    def __init__(
        self, states: int, transitions: Any, margins: Any, threshold: int, *, once: bool = False
    ) -> None:
        size = integer("states", states, least=2, most=MOST_STATES)
        content = {
            "states": size,
            "transitions": SparseNoise.given("transitions", transitions),
            "margins": SparseNoise.given("margins", margins),
            "threshold": integer("threshold", threshold, least=1),
            "once": truth("once", once),
            "cells": size**2,
            "domain": TransitionTable(size),
        }
        for name, value in content.items():
            object.__setattr__(self, name, value)
        if self.transitions.kind != self.margins.kind:
            raise InvalidArgument("margins", expected="the same law as of the transitions", found="another")

    def validate(self, value: Any) -> TransitionCounts:
        counts = self.domain.validate(value)
        if self.once != (counts.once is not None):
            expected = "each pair counted once a user" if self.once else "every transition counted"
            raise InvalidData("counts", expected=expected, found="others")
        for name, other in (("strata", counts.strata), ("groups", counts.groups), ("memory", counts.second)):
            if other is not None and other != ():
                raise InvalidData(name, expected="none where only large counts are kept", found="some")
        return counts

    def on(self, states: int) -> SparseChain:
        """What counts the transitions among so many states: itself."""
        if states != self.states:
            raise InvalidArgument("labels", expected=f"{self.states} states", found=str(states))
        return self

    def item_axes(self, valid: Any) -> int:
        return 0

    def _draw(self, rng: Rng, value: TransitionCounts, size: int | None) -> Any:
        draws = []
        for _ in range(size or 1):
            tables = self.tables(rng, value)
            draws.append(SparseDraw(tables, self.chain(tables, value.states)))
        return draws[0] if size is None else draws

    def tables(self, rng: Rng, value: TransitionCounts) -> dict[str, NDArray[Any]]:
        """The private tables, drawn once."""
        cells, counts = value.filled()
        noisy = counts + self.transitions.draw(rng, len(cells))
        kept = draw_kept(
            rng, self.transitions.tail(self.threshold), cells=self.cells, filled=cells, noisy=noisy
        )
        left, entered = value.margins()
        return {
            "cells": kept.cells,
            "counts": kept.counts,
            "departures": left + self.margins.draw(rng, self.states),
            "arrivals": entered + self.margins.draw(rng, self.states),
        }

    def chain(self, tables: Tables, states: Names) -> BackOffChain:
        """The chain that the private tables stand for: post-processing, without further cost."""
        origins, ends = np.divmod(tables["cells"], self.states)
        margins = self.sizes(tables)
        kept = KeptCells(origins, ends, tables["counts"])
        likely, law = chain_behind(kept, margins, self.transitions.law, self.threshold)
        return BackOffChain(likely, law, states=alike(states))

    def sizes(self, tables: Tables) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """About how often each state was left, and entered; by how many users, where those were counted."""
        law = self.margins.law
        return counts_behind(tables["departures"], law), counts_behind(tables["arrivals"], law)

    def model(self, tables: Tables, chain: BackOffChain) -> SequenceModel:
        """The model of sequences that the release stands for."""
        from veil.chains.sequence_model import SequenceModel

        return SequenceModel(chain, sizes=self.sizes(tables)[0])

    def told(self, tables: Tables) -> tuple[str, ...]:
        """Further sentences about what came out."""
        return ()

    def describe(self) -> dict[str, Any]:
        noises = {"transitions": self.transitions.describe(), "margins": self.margins.describe()}
        parameters = {"states": self.states, **noises, "threshold": self.threshold, "once": self.once}
        return {"name": self.name, "parameters": parameters}

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """All three tables together; what is kept of the first does not matter."""
        neighbours: Transitions = adjacency_of(self, adjacency, Transitions)
        change = self.change(neighbours)
        return self.transitions.profile_with([(self.margins, 2)], change, apart=self.once)

    def change(self, neighbours: Transitions) -> Contributions:
        """By how much neighbours differ in each table."""
        if self.once and neighbours.unit != "user":
            expected = "whole users, where each pair counts once a user"
            raise InvalidArgument("adjacency", expected=expected, found=repr(neighbours.unit))
        return neighbours.on("transitions")
