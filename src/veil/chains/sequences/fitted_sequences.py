"""Sequences whose transitions, starts, ends and lengths all come out as released (fitted_sequences.md).

A chain that is followed from released starts for released lengths does not have the released transitions
where lengths and states go together: who reaches an exit is at the end, and one who starts there is not.
Of all laws of sequences that have the released tables, this is the one of most entropy: weights for starts,
steps and ends (`steps_left`), found by minimising a convex function.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.chains.sequences.steps_left import Memory, OneState, StepsLeft, TwoStates
from veil.core.arrays import Floats, Places
from veil.core.progress import tell

# More weights than these take too long; there a chain is followed as it is.
MOST_WEIGHTS = 2_000_000
# Steps before the end that have a law of their own: so many, less where there are many weights.
_NEAR, _LEAST_NEAR, _PRODUCTS = 200, 20, 1e8
# The fit ends when no transition table is further off than this, after so many evaluations, or where nothing
# is gained.
_CLOSE, _GAIN = 1e-4, 1e-12
_EVALUATIONS, _LEAST_EVALUATIONS, _SUMS = 400, 60, 2e9
# Weights move by at most this factor's logarithm from the first guess, and are held back by this much of it.
_MOST_MOVE, _HELD = 15.0, 1e-4
# Nothing is impossible, so that logarithms exist.
_TINY = 1e-12
# How often strata are brought to add up, by turns with their sizes.
_ROUNDS = 100
# By how much starts and ends may be off at the least, in shares.
_LEAST_DOUBT = 1e-6


class Targets(NamedTuple):
    """What is to come out. joints: of each stratum, transitions [from, to] as shares.

    leasts: the least length (in states) of each stratum, rising from 2. joint: of all, as shares; the strata
    are brought to add up to it. lengths, shares: the law of the number of states. starts, ends: as shares,
    with how far off they may be (the deviation of their noise); None where unknown. second: [before, from,
    to], where the state before is known to matter.
    """

    joints: tuple[Floats, ...]
    leasts: tuple[int, ...]
    joint: Floats
    lengths: NDArray[np.int64]
    shares: Floats
    starts: Floats | None = None
    ends: Floats | None = None
    doubts: tuple[float, float] = (0.0, 0.0)
    second: Floats | None = None

    @property
    def weights(self) -> int:
        """How many numbers a step of the fit goes through."""
        states = len(self.joint)
        return len(self.joints) * states**2 * (1 if self.second is None else states + 1)


@dataclass(frozen=True, eq=False)
class FittedSequences:
    """A law of sequences. leasts: the least length of each stratum, in states; layers: its steps.

    gap: how far its transitions are from the released ones, in total variation.
    """

    leasts: tuple[int, ...]
    layers: tuple[StepsLeft, ...]
    gap: float

    def draw(self, lengths: Places, rng: np.random.Generator) -> NDArray[np.int32]:
        """Sequences of these lengths (in states), one after the other."""
        states = np.empty(int(lengths.sum()), dtype=np.int32)
        firsts = np.cumsum(lengths) - lengths
        place = np.maximum(np.searchsorted(self.leasts, lengths, side="right") - 1, 0)
        for number, layer in enumerate(self.layers):
            here = np.flatnonzero(place == number)
            here = here[np.argsort(-lengths[here], kind="stable")]
            if len(here):
                drawn, sizes = layer.draw(lengths[here] - 1, rng), lengths[here]
                inside = np.arange(len(drawn)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
                states[np.repeat(firsts[here], sizes) + inside] = drawn
        return states


def fitted_sequences(targets: Targets) -> FittedSequences:
    """The law of most entropy that has the targets, as far as they go together."""
    from scipy.optimize import minimize

    dual = _Dual(targets)
    told = 0

    def stop(_: Any) -> None:
        nonlocal told
        told += 1
        tell(f"fitting sequences: step {told}")
        if dual.gap < _CLOSE and dual.beside < 5.0 * _CLOSE:
            raise StopIteration

    minimize(
        dual.value,
        np.zeros(dual.size),
        jac=True,
        method="L-BFGS-B",
        callback=stop,
        bounds=dual.bounds,
        options={"maxfun": dual.evaluations, "maxcor": 12, "ftol": _GAIN, "gtol": 0.0},
    )
    return FittedSequences(targets.leasts, dual.best, dual.least_gap)


class _Dual:
    """The convex function of the logarithms of all weights that is least where the targets come out.

    The mean log-weight of sequences, less the targets times the logarithms: its gradient is what comes out
    less the targets. Every logarithm is counted from a first guess and in units that give the function about
    the same curvature in all directions.
    """

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        states = len(targets.joint)
        steps = np.asarray(targets.lengths) - 1
        by_steps = np.zeros(int(steps.max()) + 1)
        by_steps[steps] = targets.shares
        self.single = float(by_steps[0])
        bounds = [*(least - 1 for least in targets.leasts), len(by_steps)]
        self.laws = []
        for low, high in itertools.pairwise(bounds):
            law = np.zeros(max(high, low))
            law[low:high] = by_steps[low:high]
            self.laws.append(law)
        self.near = int(np.clip(_PRODUCTS / targets.weights, _LEAST_NEAR, _NEAR))
        self.transitions = _together(targets, [float(law @ np.arange(len(law))) for law in self.laws])
        total = np.sum(self.transitions, axis=0)
        made, come = total.sum(axis=1), total.sum(axis=0)
        # As if each state had a chance of being the last of its sequence.
        starts = made / made.sum() if targets.starts is None else targets.starts
        visits = np.maximum(starts + come, made)
        ended = visits - made if targets.ends is None else targets.ends
        visits = np.maximum(visits, made + ended)
        rows = total / made[:, None]
        self.goes = np.clip(made / visits, 1e-6, 1.0)
        self.first_starts, self.first_ends = np.maximum(starts, 1e-9), np.clip(ended / visits, 1e-6, 1.0)
        self.guesses = [
            np.log(self.goes[:, None] * (table / table.sum(axis=1, keepdims=True)))
            for table in self.transitions
        ]
        if targets.second is not None:
            # There the law of two states has the rows already; weights only change them.
            self.law = np.ascontiguousarray(np.swapaxes(targets.second, 0, 1))
            change = [np.log(table / table.sum(axis=1, keepdims=True) / rows) for table in self.transitions]
            self.guesses = [np.log(self.goes)[:, None] + one for one in change]
        self.margins = [
            (given, max(doubt, _LEAST_DOUBT))
            for given, doubt in zip((targets.starts, targets.ends), targets.doubts, strict=True)
        ]
        units = [np.sqrt(np.maximum(table, 1e-6)).ravel() for table in self.transitions]
        units += [np.sqrt(np.maximum(given, 1e-6)) for given, _ in self.margins if given is not None]
        self.cuts = np.cumsum([len(one) for one in units])[:-1]
        self.units = np.concatenate(units)
        self.size = len(self.units)
        self.states = states
        self.gap = self.beside = self.least_gap = self.least = np.inf
        self.best: tuple[StepsLeft, ...] = ()

    @property
    def evaluations(self) -> int:
        """How often the function is evaluated at most."""
        products = self.targets.weights * min(self.near, max(map(len, self.laws)))
        return int(np.clip(_SUMS / products, _LEAST_EVALUATIONS, _EVALUATIONS))

    @property
    def bounds(self) -> Any:
        from scipy.optimize import Bounds

        return Bounds(-_MOST_MOVE * self.units, _MOST_MOVE * self.units)

    def value(self, point: Floats) -> tuple[float, Floats]:
        """The function and its gradient."""
        moves = point / self.units
        parts = np.split(moves, self.cuts)
        steps = [parts.pop(0).reshape(self.states, -1) for _ in self.laws]
        moved = [np.zeros(self.states) if given is None else parts.pop(0) for given, _ in self.margins]
        starts = self.first_starts * np.exp(moved[0])
        ends = self.first_ends * np.exp(moved[1])
        both = starts * ends
        answer = self.single * float(np.log(both.sum()))
        margins = [self.single * both / both.sum()] * 2
        gradient, layers, joint = [], [], np.zeros((self.states,) * 2)
        for law, table, guess, step in zip(self.laws, self.transitions, self.guesses, steps, strict=True):
            layer = StepsLeft.of(
                self._memory(np.exp(guess + step)), starts, ends, min(self.near, len(law) - 1)
            )
            layers.append(layer)
            found = layer.expected(law)
            answer += found.log_weight - float((table * step).sum())
            answer += 0.5 * _HELD * float((table * step**2).sum())
            gradient.append((found.joint - table * (1.0 - _HELD * step)).ravel())
            joint += found.joint
            margins = [margins[0] + found.starts, margins[1] + found.ends]
        self.beside = 0.0
        for (given, doubt), move, found_margin in zip(self.margins, moved, margins, strict=True):
            if given is not None:
                answer += -float(given @ move) + 0.5 * doubt * float(move @ move)
                gradient.append(found_margin - given + doubt * move)
                self.beside = max(self.beside, 0.5 * float(np.abs(gradient[-1]).sum()))
        self.gap = 0.5 * float(np.abs(joint / joint.sum() - self.targets.joint).sum())
        if answer < self.least:
            self.least, self.least_gap, self.best = answer, self.gap, tuple(layers)
            self.found = margins
        return answer, np.concatenate(gradient) / self.units

    def _memory(self, weights: Floats) -> Memory:
        return OneState(weights) if self.targets.second is None else TwoStates(weights, self.law)


def _together(targets: Targets, steps: Sequence[float]) -> list[Floats]:
    """Expected transitions of each stratum that add up to all: in each as many as its lengths have."""
    sizes = np.array(steps)[:, None, None]
    total = np.maximum(targets.joint, _TINY) * sizes.sum()
    tables = np.maximum(np.array(targets.joints), _TINY) * sizes
    for _ in range(_ROUNDS):
        tables *= total / tables.sum(axis=0)
        tables *= sizes / tables.sum(axis=(1, 2), keepdims=True)
    return list(np.maximum(tables, _TINY))
