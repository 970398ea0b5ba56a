"""What privacy costs a Markov decision process, in reward: every draw is evaluated exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import choice, delta_of, integer, positive
from veil.core.errors import InvalidArgument, InvalidData, VeilError
from veil.core.intake import array_of, say
from veil.core.random.streams import generator
from veil.matrices.adjacency import Rows
from veil.matrices.decisions import DecisionProcess, best_policies, expected_rewards, mixed_values, values
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.planning import RowKind, calibrated_rows
from veil.vectors.calibration import needs_delta

# How often the default policy tries an action at random: a policy without chance is all zeros and ones.
EXPLORATION = 0.1
LOW, HIGH = 0.05, 0.95
# Numbers held at once while the draws are evaluated.
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class Spread:
    """A loss over the draws, in units of reward.

    low, high: 5 of 100 draws are below, 5 above. relative: the mean as a share of the true return;
    None if that is zero. standard_error: of the mean, for the finite number of draws.
    """

    mean: float
    low: float
    high: float
    relative: float | None
    standard_error: float


@dataclass(frozen=True, slots=True)
class LossRow:
    """One privacy level. The mechanism comes from public numbers alone; the losses do not.

    k, floor: those of the rows with the most entries; kinds has all of them.
    value_error: only where the transitions are hidden.
    """

    epsilon: float
    mechanism: MatrixDirichlet
    kinds: tuple[RowKind, ...]
    loss: Spread
    value_error: Spread | None

    @property
    def k(self) -> float:
        return self.kinds[-1].k

    @property
    def floor(self) -> float:
        return self.kinds[-1].floor

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "epsilon": self.epsilon,
            "k": self.k,
            "floor": self.floor,
            "kinds": [asdict(kind) for kind in self.kinds],
            "loss": asdict(self.loss),
            "value_error": None if self.value_error is None else asdict(self.value_error),
        }


@dataclass(frozen=True, slots=True)
class ValueLoss:
    """The loss at each epsilon. It is computed from the process itself: as sensitive as that.

    true_return: without privacy. uninformed: the loss of a uniform answer, which keeps every secret; a
    release that loses as much tells nothing of use.
    """

    hide: str
    adjacency: Rows
    delta: float
    draws: int
    true_return: float
    uninformed: float
    uninformed_value_error: float | None
    rows: tuple[LossRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON. They are as sensitive as the process."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return content | {
            "adjacency": self.adjacency.describe(),
            "rows": [row.to_dict() for row in self.rows],
        }


def value_loss(
    process: DecisionProcess,
    policy: Any = None,
    *,
    hide: str = "policy",
    adjacency: Rows,
    epsilons: Sequence[float],
    delta: float,
    floor: float | None = None,
    support: Any = None,
    draws: int = 200,
    start: Any = None,
    rng: Any = None,
) -> ValueLoss:
    """How much reward is lost at each epsilon, over many releases by the matrix Dirichlet mechanism.

    THE RESULT DEPENDS ON THE SENSITIVE PROCESS AND IS NOT PRIVATE. Compute it on a public stand-in, or
    keep it to yourself. Choosing epsilon by looking at the curve of the secret process leaks as well.

    hide="policy": the policy is released, one row for each state. The loss is the return of the true
        policy minus that of the released one, both in the true process. It can be negative where the
        policy was not the best one.
    hide="transitions": P(s, a, ·) is released, one row for each state and action. The loss is that of
        planning in the released process and acting in the true one, against the best policy; it is
        never negative. The value error is |v' - v| of the policy, averaged over the start, v' being its
        value in the released process.
    policy: None is, for hide="policy", the best policy mixed with 10 % of actions chosen at random, and
        for hide="transitions" the best policy.
    floor: of the smoothed rows; None for that of least expected error on vectors spread over the
        simplex. A floor of your own stays as a bias however large epsilon is.
    support: a public table of True and False of the shape of what is hidden; what is False is zero and
        stays zero.
    start: a state or a distribution over the states; None for all states alike.

    >>> from veil import matrices, vectors
    >>> stay_or_go = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]
    >>> process = matrices.DecisionProcess(stay_or_go, [0.0, 1.0], 0.9)
    >>> one = matrices.Rows(1, vectors.Transfer(0.01))
    >>> found = matrices.value_loss(process, adjacency=one, epsilons=[1.0, 10.0], delta=1e-6, rng=1)
    >>> found.rows[0].loss.mean > found.rows[1].loss.mean > 0.0
    True
    """
    if not isinstance(process, DecisionProcess):
        raise InvalidArgument("process", expected="a matrices.DecisionProcess", found=type(process).__name__)
    choice("hide", hide, ("policy", "transitions"))
    if not isinstance(adjacency, Rows):
        raise InvalidArgument("adjacency", expected="matrices.Rows", found=type(adjacency).__name__)
    levels, delta = _levels(epsilons), delta_of(delta)
    if delta == 0.0:
        raise needs_delta("dirichlet")
    draws, random = integer("draws", draws, least=2, most=1_000_000_000), generator(rng)
    law = process.start_law(start)
    judge: Policies | Models
    if hide == "policy":
        judge = Policies(process, _policy_or_default(process, policy, support), law)
    else:
        judge = Models(process, process.optimal().policy if policy is None else policy, law)
    places = _support(support, judge.secret, hide)
    uninformed = judge.judge((places / places.sum(axis=-1, keepdims=True))[None])
    rows = []
    for epsilon in levels:
        mechanism, kinds = calibrated_rows(places, adjacency, epsilon=epsilon, delta=delta, floor=floor)
        chunk = max(1, _CHUNK // process.transitions.size)
        parts = [
            judge.judge(mechanism.sample(judge.secret, rng=random, size=min(chunk, draws - done)))
            for done in range(0, draws, chunk)
        ]
        losses = map(np.concatenate, zip(*parts, strict=True))
        spreads = [_spread(each, scale) for each, scale in zip(losses, judge.scales, strict=True)]
        rows.append(LossRow(epsilon, mechanism, kinds, spreads[0], spreads[1] if spreads[1:] else None))
    return ValueLoss(
        hide=hide,
        adjacency=adjacency,
        delta=delta,
        draws=draws,
        true_return=judge.scales[0],
        uninformed=float(uninformed[0][0]),
        uninformed_value_error=float(uninformed[1][0]) if uninformed[1:] else None,
        rows=tuple(rows),
    )


def _spread(losses: Floats, scale: float) -> Spread:
    mean = float(losses.mean())
    low, high = np.quantile(losses, (LOW, HIGH))
    return Spread(
        mean=mean,
        low=float(low),
        high=float(high),
        relative=mean / abs(scale) if scale else None,
        standard_error=float(losses.std(ddof=1)) / math.sqrt(losses.size),
    )


def _levels(epsilons: Sequence[float]) -> list[float]:
    try:
        levels = sorted(positive(f"epsilons[{place}]", level) for place, level in enumerate(epsilons))
    except TypeError:
        found = type(epsilons).__name__
        raise InvalidArgument("epsilons", expected="a sequence of numbers", found=found) from None
    if not levels or len(set(levels)) != len(levels):
        raise InvalidArgument("epsilons", expected="different numbers", found="none, or one of them twice")
    return levels


def _policy_or_default(process: DecisionProcess, policy: Any, support: Any) -> Floats:
    if policy is not None:
        return process.policy_table(policy)
    if support is not None:
        raise InvalidArgument("policy", expected="a policy, where some actions are left out", found="None")
    best = process.policy_table(process.optimal().policy)
    mixed: Floats = (1.0 - EXPLORATION) * best + EXPLORATION / best.shape[1]
    return mixed


def _support(support: Any, secret: Floats, hide: str) -> NDArray[np.bool_]:
    if secret.shape[-1] < 2:
        what = "actions" if hide == "policy" else "states"
        raise InvalidArgument("process", expected=f"two {what} or more, to hide something", found="one")
    if support is None:
        return np.ones(secret.shape, dtype=bool)
    expected = f"a table of True and False of shape {secret.shape}"
    try:
        places = array_of("support", support)
    except VeilError:
        raise
    except ValueError:
        raise InvalidArgument("support", expected=expected, found="uneven rows") from None
    if places.shape != secret.shape or places.dtype != np.bool_:
        found = f"an array of {places.dtype} of shape {places.shape}"
        raise InvalidArgument("support", expected=expected, found=found)
    wrong = (secret > 0.0) & ~places
    if wrong.any():
        raise InvalidData(hide, expected="zeros outside the support", found=say(wrong, "above it"))
    return places


@dataclass(frozen=True)
class Policies:
    """Released policies: the return that each loses against the true one.

    scales: for each kind of loss the true figure that it is compared with.
    """

    process: DecisionProcess
    secret: Floats
    law: Floats

    @cached_property
    def scales(self) -> tuple[float, ...]:
        return (self.process.expected_return(self.secret, start=self.law),)

    def judge(self, released: Floats) -> tuple[Floats, ...]:
        process = self.process
        reached = mixed_values(process.transitions, process.gains, process.discount, released)
        return (self.scales[0] - reached @ self.law,)


@dataclass(frozen=True)
class Models:
    """Released transitions: what planning with them loses, and how wrong the value they predict is."""

    process: DecisionProcess
    policy: Any
    law: Floats

    @property
    def secret(self) -> Any:
        return self.process.transitions

    @cached_property
    def _table(self) -> Floats:
        return self.process.policy_table(self.policy)

    @cached_property
    def _value(self) -> Floats:
        return self.process.value(self._table)

    @cached_property
    def scales(self) -> tuple[float, ...]:
        best = float(self.law @ self.process.optimal().value)
        return best, float(self.law @ np.abs(self._value))

    def judge(self, released: Floats) -> tuple[Floats, ...]:
        process = self.process
        gains = expected_rewards(released, process.rewards)
        steps = np.einsum("sa,dsat->dst", self._table, released)
        predicted = values(steps, np.einsum("sa,dsa->ds", self._table, gains), process.discount)
        planned, _ = best_policies(released, gains, process.discount)
        states = np.arange(len(process))
        reached = values(
            process.transitions[states, planned], process.gains[states, planned], process.discount
        )
        # No policy beats the best one: what is below zero is rounding.
        control = np.maximum(self.scales[0] - reached @ self.law, 0.0)
        return control, np.abs(predicted - self._value) @ self.law
