"""Words of a fixed length as paths: every node of a graph carries a symbol."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places


@dataclass(frozen=True, eq=False)
class WordGraph:
    """The words of `length` symbols that are read along a path: from a first node, over edges, to a last one.

    symbol[v]: the symbol that is read in node v. starts, targets: the successors of v are
    targets[starts[v] : starts[v + 1]]. first, last: where a path may begin and end. A word has one path at
    most: neither the successors of a node nor the first nodes share a symbol. A Markov chain has a node for
    each state, and its symbol is the state itself.

    weight, first_weight: positive factors of the edges and of the first nodes; all one unless words are
    weighted. The weight of a path is their product.
    """

    length: int
    alphabet: int
    symbol: Ints
    starts: Places
    targets: Ints
    first: Booleans
    last: Booleans
    weight: Floats = field(default_factory=lambda: np.empty(0))
    first_weight: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not len(self.weight):
            object.__setattr__(self, "weight", np.ones(len(self.targets)))
        if not len(self.first_weight):
            object.__setattr__(self, "first_weight", np.ones(self.size))
        for part in (self.symbol, self.starts, self.targets, self.first, self.last):
            part.setflags(write=False)
        for weights in (self.weight, self.first_weight):
            weights.setflags(write=False)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.symbol)

    @property
    def edges(self) -> int:
        return len(self.targets)

    @property
    def is_weighted(self) -> bool:
        return bool((self.weight != 1.0).any() or (self.first_weight != 1.0).any())

    @cached_property
    def sources(self) -> Ints:
        """The node that each edge leaves."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.starts))

    @cached_property
    def step(self) -> Ints:
        """step[v, symbol]: the successor that reads the symbol, -1 if none; row `size`: the first node."""
        table = np.full((self.size + 1, self.alphabet), -1, dtype=np.int32)
        table[self.sources, self.symbol[self.targets]] = self.targets
        begin = np.flatnonzero(self.first)
        table[self.size, self.symbol[begin]] = begin
        return table

    @cached_property
    def _completions(self) -> list[Booleans]:
        """Where a path may still be ended after r more nodes: entry r, until the entries repeat."""
        levels = [self.last]
        seen = {self.last.tobytes(): 0}
        while len(levels) <= self.length:
            ahead = np.zeros(self.size, dtype=np.bool_)
            np.logical_or.at(ahead, self.sources, levels[-1][self.targets])
            key = ahead.tobytes()
            if key in seen:
                object.__setattr__(self, "_cycle", (seen[key], len(levels)))
                break
            seen[key] = len(levels)
            levels.append(ahead)
        return levels

    def completable(self, more: int) -> Booleans:
        """The nodes from which exactly so many more nodes lead to a last one."""
        levels = self._completions
        if more < len(levels):
            return levels[more]
        begin, end = self._cycle
        return levels[begin + (more - begin) % (end - begin)]

    _cycle: tuple[int, int] = field(default=(0, 1), init=False, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is no word of this length at all."""
        return not bool((self.first & self.completable(self.length - 1)).any())

    def of_length(self, length: int) -> WordGraph:
        """The same graph, for words of another length."""
        return replace(self, length=length)

    def weighted(self, weight: Floats, first_weight: Floats) -> WordGraph:
        """The same words with other weights."""
        edges, nodes = np.array(weight, dtype=np.float64), np.array(first_weight, dtype=np.float64)
        return replace(self, weight=edges, first_weight=nodes)

    def trimmed(self) -> WordGraph:
        """Without the nodes that no word of this length passes."""
        reached = self.first.copy()
        used = np.zeros(self.size, dtype=np.bool_)
        for t in range(1, self.length + 1):
            used |= reached & self.completable(self.length - t)
            ahead = np.zeros(self.size, dtype=np.bool_)
            ahead[self.targets[reached[self.sources]]] = True
            if used.all() or not ahead.any():
                break
            reached = ahead
        if used.all():
            return self
        kept = np.flatnonzero(used)
        number = np.full(self.size, -1, dtype=np.int32)
        number[kept] = np.arange(len(kept), dtype=np.int32)
        stays = used[self.sources] & used[self.targets]
        return replace(
            self,
            symbol=self.symbol[kept],
            starts=begins(np.bincount(number[self.sources[stays]], minlength=len(kept))),
            targets=number[self.targets[stays]],
            first=self.first[kept],
            last=self.last[kept],
            weight=self.weight[stays],
            first_weight=self.first_weight[kept],
        )


def begins(counts: Any) -> Places:
    """Where runs of these lengths begin when they stand one after another, and where the last ends."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def edges_after(starts: Places, nodes: Any) -> tuple[Places, Places]:
    """How many edges leave each of some nodes, and these edges, one after another."""
    counts = np.diff(starts)[nodes]
    begin = begins(counts)
    return counts, np.arange(begin[-1]) + np.repeat(starts[nodes] - begin[:-1], counts)


def graph_of(
    successors: list[list[int]], length: int, *, first: list[int] | None = None, last: list[int] | None = None
) -> WordGraph:
    """The graph of a chain: a node a state, which is its own symbol. first, last: None for every state."""
    size = len(successors)
    starts = begins([len(row) for row in successors])
    targets = np.array([node for row in successors for node in row], dtype=np.int32)
    nodes = np.arange(size, dtype=np.int32)
    begin, end = (np.isin(nodes, nodes if chosen is None else chosen) for chosen in (first, last))
    return WordGraph(length, size, nodes, starts, targets, begin, end)
