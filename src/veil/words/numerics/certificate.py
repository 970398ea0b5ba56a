"""How much the normaliser of the exponential mechanism on words can change, proved for all words at once.

The mechanism gives the word v the probability weight(v) * decay^d(v, w) / Z(w), with d the Hamming distance.
Between two words at distance d the loss is at most d * rate + |log Z(w') / Z(w)|, with rate = -log decay, and
the second term is at most d * rate as well. It is often far smaller: that is what is bounded here. The proof,
rounding included, is words/mechanisms/words.md.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats
from veil.core.errors import InvalidArgument
from veil.core.progress import part, same_listener, tell
from veil.words.numerics.bounds import Boxes, box_levels
from veil.words.numerics.changes import Reading, sums_over_successors, worst_ratio
from veil.words.numerics.contexts import Contexts, Side, context_tables, runs, sides
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.pair_bounds import may_tighten, tighten
from veil.words.numerics.tables import checked_decay

# Numbers kept for the boxes of one side, and operations to compare pasts with futures: for runs of several
# positions, many of those that are counted are not needed.
_MOST_ENTRIES, _MOST_OPERATIONS, _MOST_FOR_RUNS = 3e7, 1e9, 4e9
_MOST_MEMORY = 6
# Positions near either end with boxes of their own, if there is room: fewer where each is tested with each.
_OWN_POSITIONS, _OWN_IF_SHORTER = 16, 4
# Where the normaliser changes by less than this part of the rate, nothing more is tried.
_SMALL_CHANGE = 0.15
# Nor where the change would have to be less than this part of the bound found.
_LEAST_PART = 0.2
# The rounding is bounded for decays and weights inside these, and shorter runs.
_EXTREME, _LONGEST_RUN = 1e20, 12
# exp(-46) is inside: larger rates change nothing that can be seen.
_LARGEST_RATE = 46.0
_TOLERANCE, _MOST_ATTEMPTS = 1e-4, 12


def rate_above(decay: float) -> float:
    """-log(decay), rounded up."""
    return -math.log(decay) * (1.0 + 2.0**-50)


def certified_loss(
    graph: WordGraph, decay: float, radius: int, *, memory: int | None = None, shorter: bool = False
) -> float:
    """A proved bound on the loss between any two words of the graph at Hamming distance `radius` or less.

    memory: how many nodes before and after a position are told apart, at most; None: as many as are
    affordable. shorter: the bound holds for the words of every smaller length as well.
    """
    if radius < 1:
        raise InvalidArgument("radius", expected="one or more", found=str(radius))
    return _loss(Changes.of(graph, decay, memory, shorter), graph, decay, radius)


def _loss(changes: Changes, graph: WordGraph, decay: float, radius: int) -> float:
    radius = min(radius, graph.length)
    rate = rate_above(decay)
    if changes.are_free:
        return radius * rate
    if radius > 1 and (not changes.reading.unique or changes.plan(radius) is None):
        # If nodes share symbols, the words in between, with some runs changed only, may not exist.
        return 2.0 * radius * rate
    losses = [r * rate + min(r * rate, changes.bound(r)) for r in range(1, radius + 1)]
    return _worst_split(losses, graph.length) * (1.0 + 2.0**-48)


def _worst_split(losses: list[float], length: int) -> float:
    """The largest sum of losses over runs, of len(losses) positions at most, with one between any two."""
    radius = len(losses)
    # best[changed, used]: so many positions changed, and used with the one after each run.
    best = np.full((radius + 1, length + 2), -math.inf)
    best[0, 0] = 0.0
    for changed in range(1, radius + 1):
        for r in range(1, changed + 1):
            longer = best[changed - r, : length + 1 - r] + losses[r - 1]
            best[changed, r + 1 :] = np.maximum(best[changed, r + 1 :], longer)
    return float(best.max())


def certified_decay(
    graph: WordGraph, epsilon: float, radius: int, *, memory: int | None = None, shorter: bool = False
) -> tuple[float, float]:
    """The smallest decay found whose certified loss is at most epsilon, and that loss.

    The rate is within about 1e-4 of the largest that this certificate allows. memory, shorter: see
    certified_loss.
    """
    if radius < 1:
        raise InvalidArgument("radius", expected="one or more", found=str(radius))
    if not 0.0 < epsilon < math.inf:
        raise InvalidArgument("epsilon", expected="above 0 and finite", found=str(epsilon))
    used = min(radius, graph.length)
    # Half of the largest rate that there can be needs no certificate.
    best = _generic_decay(epsilon, used)
    good, bad = -math.log(best[0]), min(epsilon / used * (1.0 - 2.0**-40), _LARGEST_RATE)
    seen: list[tuple[float, float]] = []
    rate = bad
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        decay = math.exp(-rate)
        changes = Changes.of(graph, decay, memory, shorter)
        # For more changes than one it is not clear which of the bounds must be how small.
        wanted = epsilon - rate_above(decay) if used == 1 else math.inf
        with part(f"certificate {attempt} of at most {_MOST_ATTEMPTS}"):
            loss = _loss(changes._replace(wanted=wanted), graph, decay, radius)
        seen = sorted([*seen, (rate, loss)], key=lambda point: abs(point[1] - epsilon))[:2]
        if loss <= epsilon:
            good, best = rate, (decay, loss)
        else:
            bad = rate
        if bad - good <= _TOLERANCE * good or 0.0 <= epsilon - loss <= _TOLERANCE * epsilon:
            break
        rate = _next_rate(seen, good, bad, epsilon, used)
    return best


def _generic_decay(epsilon: float, radius: int) -> tuple[float, float]:
    """The decay that needs no certificate, and its loss: at most epsilon, as rounded up."""
    decay = math.exp(-min(epsilon / (2 * radius), _LARGEST_RATE))
    while 2.0 * radius * rate_above(decay) > epsilon:
        decay = math.nextafter(decay, 2.0)
    return decay, 2.0 * radius * rate_above(decay)


def _next_rate(
    seen: list[tuple[float, float]], good: float, bad: float, epsilon: float, radius: int
) -> float:
    """Where the line through the two losses nearest to epsilon reaches it, or a little below."""
    slope = float(radius)
    if len(seen) > 1 and seen[0][0] != seen[1][0]:
        slope = (seen[0][1] - seen[1][1]) / (seen[0][0] - seen[1][0])
    # The change of the normaliser often falls as the rate rises: the loss may be flat, or have two slopes.
    step = (epsilon - seen[0][1]) / slope if slope > 0.1 * radius else math.inf
    rate = seen[0][0] + step - 0.3 * _TOLERANCE * good
    if not good + 0.1 * _TOLERANCE * good < rate < bad - 0.1 * _TOLERANCE * good:
        rate = 0.5 * (good + bad)
    return rate


class _Half(NamedTuple):
    """What is known of all pasts, or of all futures: the direction of reading, the contexts, their boxes."""

    side: Side
    contexts: list[Contexts]
    boxes: list[Boxes]


class Changes(NamedTuple):
    """What is needed to bound the change of the normaliser, whatever the run.

    wanted: a larger bound for one position is of no use.
    """

    graph: WordGraph
    decay: float
    memory: int | None
    shorter: bool
    reading: Reading
    are_free: bool
    forwards: Side
    backwards: Side
    wanted: float = math.inf

    @classmethod
    def of(cls, graph: WordGraph, decay: float, memory: int | None, shorter: bool) -> Changes:
        decay = checked_decay(decay)
        if not shorter:
            graph = graph.trimmed()
        symbols = len(np.unique(graph.symbol))
        reading = Reading(graph.symbol, graph.step, graph.last, symbols == graph.size)
        # All words over some symbols: the normaliser is the same for each.
        everywhere: Booleans = np.diff(graph.starts) == symbols
        free = int(graph.first.sum()) == symbols and bool(everywhere.all() and graph.last.all())
        return cls(graph, decay, memory, shorter, reading, free and not graph.is_weighted, *sides(graph))

    def bound(self, length: int) -> float:
        """A bound on |log Z(w') / Z(w)| for one run: infinite if none was found, -infinite if no run is."""
        if self.are_free:
            return 0.0
        planned = self.plan(length)
        if planned is None:
            return math.inf
        memory, own = planned
        graph, halves = self.graph, []
        for side in (self.forwards, self.backwards):
            tell(f"what may stand {'before' if side is self.forwards else 'after'} a symbol")
            contexts = context_tables(side, memory)
            boxes = box_levels(side, contexts, graph, self.decay, own)
            if boxes is None:
                return math.inf
            halves.append(_Half(side, contexts, boxes))
        bound = self._worst(halves[0], halves[1], length, memory)
        rate = rate_above(self.decay)
        is_hopeful = _SMALL_CHANGE * rate < bound and _LEAST_PART * bound <= self.wanted
        if length == 1 and is_hopeful and may_tighten(graph, rate):
            tell("pairs of words")
            with ThreadPoolExecutor(2) as both:
                waiting = [
                    both.submit(
                        same_listener().run, tighten, half.boxes, half.side, half.contexts, graph, self.decay
                    )
                    for half in halves
                ]
            for done in waiting:
                done.result()
            bound = min(bound, self._worst(halves[0], halves[1], length, memory))
        return bound

    def _worst(self, past: _Half, future: _Half, length: int, memory: int) -> float:
        """The bound that these boxes give for runs of so many positions."""
        between = runs(self.graph, length)
        worst = 0.0
        for j, later in enumerate(future.boxes):
            partners = [
                earlier for i, earlier in enumerate(past.boxes) if self._meet(i, earlier, j, later, length)
            ]
            if not partners:
                continue
            tell(f"position {j + 1} of {len(future.boxes)}")
            sums = later.low
            for _ in range(length - 1):
                sums = sums_over_successors(sums, future.side)
            after, ends = future.contexts[later.nodes - 1], not later.is_tail and j <= memory
            for earlier in partners:
                ratio = worst_ratio(
                    earlier, past.contexts[earlier.nodes - 1], later, after, sums, past.side, future.side,
                    between, self.reading, self.decay, ends,
                )  # fmt: skip
                worst = max(worst, ratio)
        # The logarithm is good to a unit in the last place or two.
        return math.log(worst) * (1.0 + 2.0**-50) + 2.0**-50 if worst > 0.0 else -math.inf

    def _meet(self, i: int, earlier: Boxes, j: int, later: Boxes, length: int) -> bool:
        """Whether a run may have i nodes before it and j after it; tails serve larger numbers too."""
        missing = self.graph.length - length - (i + j)
        return missing == 0 or (missing > 0 and (self.shorter or earlier.is_tail or later.is_tail))

    def plan(self, length: int) -> tuple[int, int] | None:
        """The memory, and the positions with boxes of their own, that are affordable for such runs."""
        graph = self.graph
        weights = np.concatenate((graph.weight, graph.first_weight, [self.decay, 1.0]))
        extreme = max(weights.max(), 1.0 / weights.min())
        if length > min(graph.length, _LONGEST_RUN) or (length > 1 and not self.reading.unique):
            return None
        if extreme > _EXTREME or extreme**length > _EXTREME**2:
            return None
        forwards, backwards = self.forwards, self.backwards
        most = _MOST_MEMORY if self.memory is None else self.memory
        pasts, futures = _context_counts(forwards, most), _context_counts(backwards, most)
        best = None
        for memory in range(min(most, graph.length - 1) + 1):
            entries = graph.size * max(pasts[memory].sum(), futures[memory].sum())
            if entries == 0.0:
                # No path is that long.
                break
            positions = _OWN_IF_SHORTER if self.shorter else _OWN_POSITIONS
            own = max(memory, min(positions, graph.length, int(_MOST_ENTRIES / entries)))
            tests = (own + 1) ** 2 if self.shorter else min(graph.length, 2 * own + 1)
            operations = tests * _comparisons(graph, length, pasts[:memory], futures[:memory])
            # A memory that was asked for is given, for single changes.
            if (self.memory is None or length > 1) and (
                entries > _MOST_ENTRIES or operations > (_MOST_OPERATIONS if length == 1 else _MOST_FOR_RUNS)
            ):
                continue
            best = memory, own
        return best


def _comparisons(graph: WordGraph, length: int, pasts: list[Floats], futures: list[Floats]) -> float:
    """About how many operations it takes to compare all pasts with all futures at one position."""
    from scipy.sparse import csr_array

    shape = (graph.size, graph.size)
    steps = csr_array((np.ones(graph.edges), (graph.sources, graph.targets)), shape=shape)
    ways = np.ones(graph.size)
    for _ in range(length - 1):
        ways = steps @ ways
    each = 20.0 * length * ways.sum() / graph.size
    if not pasts:
        return float(ways.sum() * graph.size + ways.sum() ** 2 * each)
    between = steps
    for _ in range(length):
        between = between @ steps
    exchanges = pasts[-1] @ (between * between) @ futures[-1]
    return float(pasts[-1] @ between @ futures[-1] * graph.size + exchanges * each)


def _context_counts(side: Side, memory: int) -> list[Floats]:
    """How many contexts of memory + 1 nodes end in every node, for each memory up to the given one."""
    sources = np.repeat(np.arange(len(side.initial)), np.diff(side.starts))
    counts = [np.ones(len(side.initial))]
    for _ in range(memory):
        reached = np.bincount(side.targets, weights=counts[-1][sources], minlength=len(side.initial))
        counts.append(reached.astype(np.float64))
    return counts
