"""Where sequences go when it is known how many steps they have left.

A sequence of r steps has the weight a(x_0) w(x_0, x_1) ... w(x_{r-1}, x_r) v(x_r): a factor for its start,
one for each step, one for its end (with a memory of two, times the probability of each step given two
states). Given its length, its law is that weight over the sum of all; so a step with r left goes from i to j
with probability w(i, j) b_{r-1}(j) / b_r(i), where b_0 = v and b_r = w b_{r-1} sums the weights of all ways
to go on. Forwards, the same numbers give the expected number of each transition: both are sums over paths
that need one product with w a step (Baum et al., Ann. Math. Stat. 41, 1970). Far from the end, b_r keeps its
direction: from `most` steps on it is taken to.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.matrices.numerics.paths import Walker

# The direction of b_r is the same from where no entry moves by more than this part of the largest.
_SETTLED = 1e-5
# Steps far from the end that are summed one by one, as a multiple of those near it.
_FAR = 3
# What is divided by stays above it.
_TINY = 1e-280


class Memory(Protocol):
    """How one step follows another. A position is a state; with a memory of two also the one before."""

    @property
    def states(self) -> int: ...

    def first(self, law: Floats) -> Floats:
        """By position, what is given by state of a start."""

    def back(self, later: Floats) -> Floats:
        """The weight of one step more, by the position before it."""

    def ahead(self, visits: Floats, later: Floats) -> Floats:
        """Visits after a step, from visits over `back(later)` before it."""

    def joint(self, visits: Floats, later: Floats) -> Floats:
        """Expected transitions [from, to], summed over steps: what `ahead` takes, one row a step."""

    def by_state(self, visits: Floats) -> Floats:
        """Visits of states, from those of positions."""

    def walk(self, later: Floats) -> Any:
        """Weights [position, position] of a step, an array or a scipy.sparse array."""

    def position(self, states: Ints) -> Places:
        """The numbers of the positions of starts."""


@dataclass(frozen=True, eq=False)
class OneState:
    """Steps with weights [from, to]."""

    weights: Floats

    @property
    def states(self) -> int:
        return len(self.weights)

    def first(self, law: Floats) -> Floats:
        return law

    def back(self, later: Floats) -> Floats:
        return np.asarray(self.weights @ later)

    def ahead(self, visits: Floats, later: Floats) -> Floats:
        return np.asarray((visits @ self.weights) * later)

    def joint(self, visits: Floats, later: Floats) -> Floats:
        return np.asarray(self.weights * (visits.T @ later))

    def by_state(self, visits: Floats) -> Floats:
        return visits

    def walk(self, later: Floats) -> Any:
        return self.weights * later

    def position(self, states: Ints) -> Places:
        return states.astype(np.int64)


@dataclass(frozen=True, eq=False)
class TwoStates:
    """Steps with weights [from, to] times law [from, before, to]; before a start is the number of states.

    Positions are [state, before].
    """

    weights: Floats
    law: Floats

    @property
    def states(self) -> int:
        return len(self.weights)

    def first(self, law: Floats) -> Floats:
        positions = np.zeros(self.law.shape[:2])
        positions[:, -1] = law
        return positions

    def _onwards(self, later: Floats) -> Floats:
        # The weight [from, to] of a step and of all that can follow it.
        return np.asarray(self.weights * later[:, :-1].T)

    def back(self, later: Floats) -> Floats:
        return np.asarray((self.law @ self._onwards(later)[:, :, None])[:, :, 0])

    def ahead(self, visits: Floats, later: Floats) -> Floats:
        positions = np.zeros(self.law.shape[:2])
        positions[:, :-1] = ((visits[:, None, :] @ self.law)[:, 0, :] * self._onwards(later)).T
        return positions

    def joint(self, visits: Floats, later: Floats) -> Floats:
        reached = np.swapaxes(visits, 0, 1) @ self.law
        return np.asarray(self.weights * np.einsum("isj,sji->ij", reached, later[:, :, :-1]))

    def by_state(self, visits: Floats) -> Floats:
        return np.asarray(visits.sum(axis=1))

    def walk(self, later: Floats) -> Any:
        from scipy.sparse import coo_array

        size, befores = self.law.shape[:2]
        state, before, end = np.indices(self.law.shape).reshape(3, -1)
        weights = (self.law * self._onwards(later)[:, None, :]).ravel()
        places = state * befores + before, end * befores + state
        return coo_array((weights, places), shape=(size * befores,) * 2)

    def position(self, states: Ints) -> Places:
        befores = self.law.shape[1]
        return np.asarray(states.astype(np.int64) * befores + befores - 1)


class Expected(NamedTuple):
    """What sequences of a law of lengths hold on average: transitions [from, to], starts, ends (by state).

    log_weight: the mean logarithm of the sum of the weights of all sequences as long.
    """

    log_weight: float
    joint: Floats
    starts: Floats
    ends: Floats


@dataclass(frozen=True, eq=False)
class StepsLeft:
    """Sequences under weights. starts: a, by state. later: b_r of r = 0, 1, ..., each scaled to at most one.

    logs: the logarithms of those scales. The last b_r stands for all that are further from the end.
    """

    memory: Memory
    starts: Floats
    later: Floats
    logs: Floats

    @classmethod
    def of(cls, memory: Memory, starts: Floats, ends: Floats, most: int) -> StepsLeft:
        """most: the steps before the end whose law is their own."""
        befores = memory.first(ends).ndim
        first = ends if befores == 1 else np.repeat(ends[:, None], len(ends) + 1, axis=1)
        scale = float(first.max())
        later, logs = [np.maximum(first / scale, _TINY)], [np.log(scale)]
        for _ in range(most):
            weights = memory.back(later[-1])
            scale = float(weights.max())
            later.append(np.maximum(weights / scale, _TINY))
            logs.append(logs[-1] + np.log(scale))
            if np.abs(later[-1] - later[-2]).max() < _SETTLED:
                break
        return cls(memory, starts, np.array(later), np.array(logs))

    @property
    def near(self) -> int:
        """The number of steps before the end whose law is their own."""
        return len(self.later) - 1

    def start_law(self, steps: int) -> Floats:
        """Where sequences of so many steps start."""
        later = self.later[min(steps, self.near)]
        if steps > self.near:
            later = self.memory.back(later)
        weights = self.starts * (later if later.ndim == 1 else later[:, -1])
        return np.asarray(weights / weights.sum())

    def expected(self, shares: Floats) -> Expected:
        """Of sequences of which these shares have 0, 1, ... steps."""
        memory, near = self.memory, self.near
        weights = memory.first(self.starts) * self.later
        sums = weights.reshape(near + 1, -1).sum(axis=1)
        begun = (weights.reshape(near + 1, -1) / sums[:, None]).reshape(weights.shape)
        close, far = np.zeros(near + 1), shares[near + 1 :]
        close[: min(len(shares), near + 1)] = shares[: near + 1]
        log_weight = float(close @ (np.log(sums) + self.logs))
        starts = memory.by_state(np.tensordot(close, begun, axes=1))
        joint = np.zeros((memory.states,) * 2)
        visits = np.zeros(self.later.shape[1:])
        if far.sum() > 0.0:
            law = memory.first(self.start_law(near + 1))
            growth = np.log(float((memory.first(self.starts) * memory.back(self.later[-1])).sum()) / sums[-1])
            far_steps = np.arange(1.0, len(far) + 1.0)
            log_weight += float(far @ (np.log(sums[-1]) + self.logs[-1] + growth * far_steps))
            starts = starts + far.sum() * memory.by_state(law)
            visits, passed = self._far(law, far)
            joint += memory.joint(passed[None], self.later[-1:])
        over = np.zeros_like(self.later)
        for left in range(near, 0, -1):
            visits = visits + close[left] * begun[left]
            over[left] = visits / np.maximum(memory.back(self.later[left - 1]), _TINY)
            visits = memory.ahead(over[left], self.later[left - 1])
        if near:
            joint += memory.joint(over[1:], self.later[:-1])
        return Expected(log_weight, joint, starts, memory.by_state(visits + close[0] * begun[0]))

    def _far(self, law: Floats, far: Floats) -> tuple[Floats, Floats]:
        """Visits when `near` steps are left, and visits before over `back`, of those with more steps.

        far: shares of one step more than `near`, of two, and so on.
        """
        memory, last = self.memory, self.later[-1]
        back = np.maximum(memory.back(last), _TINY)
        going = np.append(np.cumsum(far[::-1])[::-1], 0.0)
        arrived, passed = np.zeros_like(law), np.zeros_like(law)
        for step in range(len(far)):
            ahead = memory.ahead(law / back, last)
            passed += going[step] * law
            arrived += far[step] * ahead
            if step >= _FAR * self.near or np.abs(ahead - law).sum() < _SETTLED:
                # From here on they are where they stay in the long run; two steps, since some alternate.
                passed += going[step + 1 :].sum() * 0.5 * (law + ahead)
                arrived += going[step + 1] * 0.5 * (law + ahead)
                break
            law = ahead
        return arrived, passed / back

    def draw(self, steps: Places, rng: np.random.Generator) -> Ints:
        """Sequences of so many steps each, falling: the states of all, one sequence after the other."""
        size = self.memory.states
        firsts = np.cumsum(steps + 1) - (steps + 1)
        states = np.empty(int((steps + 1).sum()), dtype=np.int32)
        for left, start, stop in runs(np.minimum(steps, self.near + 1)):
            began = rng.choice(size, size=stop - start, p=self.start_law(left))
            states[firsts[start:stop]] = began
        now = self.memory.position(states[firsts])
        # How far a position's number is from a state's: positions are state * befores + before.
        befores = int(np.prod(self.later.shape[2:]))
        beyond = int(np.searchsorted(-steps, -self.near))
        if beyond:
            walker = Walker.of(self.memory.walk(self.later[-1]))
            for start, stop in _of_like_length(steps[:beyond]):
                far = steps[start:stop] - self.near
                paths = walker.paths(now[start:stop], int(far[0]), rng)
                kept = np.arange(paths.shape[1]) <= far[:, None]
                states[(firsts[start:stop, None] + np.arange(paths.shape[1]))[kept]] = paths[kept] // befores
                now[start:stop] = paths[np.arange(stop - start), far]
        for left in range(min(self.near, int(steps[0]) if len(steps) else 0), 0, -1):
            alive = int(np.searchsorted(-steps, -left, side="right"))
            walker = Walker.of(self.memory.walk(self.later[left - 1]))
            now[:alive] = walker.paths(now[:alive], 1, rng)[:, 1]
            states[firsts[:alive] + steps[:alive] - left + 1] = now[:alive] // befores
        return states


def runs(values: Places) -> list[tuple[int, int, int]]:
    """Runs of equal values: the value, where it begins and ends."""
    bounds = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return [(int(values[a]), a, b) for a, b in itertools.pairwise(bounds) if b > a]


def _of_like_length(steps: Places) -> list[tuple[int, int]]:
    """Parts of falling numbers in each of which the largest is at most twice the least."""
    parts, start = [], 0
    while start < len(steps):
        stop = int(np.searchsorted(-steps, -(steps[start] // 2), side="left"))
        stop = max(stop, start + 1)
        parts.append((start, stop))
        start = stop
    return parts
