"""Values and best policies of many decision processes at once, by solving linear systems.

Arrays carry a leading axis of draws, then states s, actions a and the states t that follow.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names, as_floats, named_matrix, say
from veil.core.record import frozen
from veil.matrices.chain import Chain
from veil.matrices.chain_intake import as_in_others, different_names, in_order
from veil.vectors.simplex import SUM_TOLERANCE

Actions = NDArray[np.intp]

# How many roundings two values may differ by and still count as a tie.
_TIE = 32.0 * float(np.finfo(np.float64).eps)


def expected_rewards(transitions: Floats, rewards: Floats) -> Floats:
    """The mean reward of each action, [..., s, a], from rewards of a state, an action or a transition."""
    shape = transitions.shape[:-1]
    if rewards.ndim == 1:
        return np.broadcast_to(rewards[:, None], shape)
    if rewards.ndim == 2:
        return np.broadcast_to(rewards, shape)
    gains: Floats = np.einsum("...sat,sat->...sa", transitions, rewards)
    return gains


def values(steps: Floats, rewards: Floats, discount: float) -> Floats:
    """v = r + discount P v, solved: for each draw the matrix [s, t] and the reward [s] of its chain."""
    system = np.eye(steps.shape[-1]) - discount * steps
    return np.asarray(np.linalg.solve(system, rewards[..., None])[..., 0], dtype=np.float64)


def mixed_values(transitions: Floats, rewards: Floats, discount: float, policies: Floats) -> Floats:
    """The value [draw, s] of random policies [draw, s, a] in one process [s, a, t] with rewards [s, a]."""
    steps = np.moveaxis(np.moveaxis(policies, 1, 0) @ transitions, 0, 1)
    gains = np.einsum("dsa,sa->ds", policies, rewards)
    return values(steps, gains, discount)


def fixed_values(transitions: Floats, rewards: Floats, discount: float, policies: Actions) -> Floats:
    """The value [draw, s] of the actions [draw, s], each draw in a process of its own."""
    draws, states = np.arange(len(policies))[:, None], np.arange(policies.shape[1])
    return values(transitions[draws, states, policies], rewards[draws, states, policies], discount)


def best_policies(transitions: Floats, rewards: Floats, discount: float) -> tuple[Actions, Floats]:
    """The best actions [draw, s] and their value, by policy iteration.

    A step is taken only if it raises the sum of the values, so no policy comes twice and the iteration
    ends, whatever the rounding. Among actions that are equally good the first one is taken.
    """
    policies: Actions = rewards.argmax(axis=-1)
    value = fixed_values(transitions, rewards, discount, policies)
    open_draws = np.arange(len(policies))
    while len(open_draws):
        ahead = _look_ahead(transitions[open_draws], rewards[open_draws], discount, value[open_draws])
        now = np.take_along_axis(ahead, policies[open_draws][..., None], axis=-1)[..., 0]
        better = ahead.max(axis=-1) > now
        trial = np.where(better, ahead.argmax(axis=-1), policies[open_draws])
        its = fixed_values(transitions[open_draws], rewards[open_draws], discount, trial)
        rises = better.any(axis=-1) & (its.sum(axis=-1) > value[open_draws].sum(axis=-1))
        open_draws = open_draws[rises]
        policies[open_draws], value[open_draws] = trial[rises], its[rises]
    return _first_of_ties(transitions, rewards, discount, policies, value)


def _look_ahead(transitions: Floats, rewards: Floats, discount: float, value: Floats) -> Floats:
    """The value of taking an action once and then going on as before, [draw, s, a]."""
    draws, states, actions, _ = transitions.shape
    after = transitions.reshape(draws, states * actions, states) @ value[..., None]
    ahead: Floats = rewards + discount * after.reshape(draws, states, actions)
    return ahead


def _first_of_ties(
    transitions: Floats, rewards: Floats, discount: float, policies: Actions, value: Floats
) -> tuple[Actions, Floats]:
    """Instead of each action the first that is as good up to rounding, if the value stays what it is."""
    condition = (1.0 + discount) / (1.0 - discount)
    allowed = _TIE * condition * np.abs(value).max(axis=-1, keepdims=True)
    ahead = _look_ahead(transitions, rewards, discount, value)
    tied = ahead >= ahead.max(axis=-1, keepdims=True) - allowed[..., None]
    first: Actions = tied.argmax(axis=-1)
    its = fixed_values(transitions, rewards, discount, first)
    same = (its >= value - allowed).all(axis=-1, keepdims=True)
    return np.where(same, first, policies), np.where(same, its, value)


_LARGEST_DISCOUNT = 1.0 - 1e-9
_LARGEST_REWARD = 1e100
_MOST_ENTRIES = 50_000_000


@dataclass(frozen=True, eq=False)
class Solution:
    """The best policy, as the number of an action for each state, and its value from each state."""

    policy: Actions
    value: Floats

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False, repr=False)
class DecisionProcess:
    """A Markov decision process with finitely many states and actions.

    transitions: [s, a, t], the probability that action a in state s leads to state t.
    rewards: [s, a] for an action, or [s] for being in a state, or [s, a, t] for a transition.
    discount: what a reward is worth one step later, at least 0 and below 1.
    states, actions: their names; by default 0, 1, ...

    A policy is a table [s, a] of probabilities, a mapping {state: {action: probability}}, or one action
    for each state: its number, or its name if that is text.

    >>> from veil import matrices
    >>> stay_or_go = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> process = matrices.DecisionProcess(stay_or_go, [0.0, 1.0], 0.5, actions=["stay", "go"])
    >>> process.optimal().policy.tolist(), process.optimal().value.tolist()
    ([1, 0], [1.0, 2.0])
    >>> process.value(["stay", "go"]).tolist()
    [0.0, 1.0]
    """

    transitions: Any
    rewards: Any
    discount: float
    _: KW_ONLY
    states: Any = None
    actions: Any = None

    def __post_init__(self) -> None:
        table = as_floats("transitions", self.transitions)
        if table.ndim != 3 or table.shape[0] != table.shape[2] or not 0 < table.size <= _MOST_ENTRIES:
            expected = f"an array [state, action, next state] of at most {_MOST_ENTRIES:,} entries"
            raise InvalidData("transitions", expected=expected, found=f"an array of shape {table.shape}")
        states = different_names("states", self.states, table.shape[0])
        actions = different_names("actions", self.actions, table.shape[1])
        words = "a number of at least 0 and below 1 (at most 0.999999999)"
        discount = within("discount", self.discount, 0.0, _LARGEST_DISCOUNT, expected=words)
        transitions = frozen(_rows("transitions", table, states, actions))
        for field, value in (
            ("transitions", transitions),
            ("rewards", frozen(_rewards(self.rewards, table.shape))),
            ("discount", discount),
            ("states", states),
            ("actions", actions),
        ):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        sizes = f"{len(self)} states and {self.transitions.shape[1]} actions"
        return f"<veil.matrices.DecisionProcess of {sizes}, discount {self.discount:g}>"

    def __len__(self) -> int:
        return len(self.transitions)

    @cached_property
    def gains(self) -> Floats:
        """The expected reward of each action in each state, [s, a]."""
        return expected_rewards(self.transitions, self.rewards)

    def policy_table(self, policy: Any) -> Floats:
        """The policy as a table [s, a] of probabilities, or an error that says what is wrong."""
        if _is_list(policy):
            return np.eye(len(self.actions))[self._numbers(policy)]
        taken = named_matrix("policy", policy)
        entries = taken.dense()
        if entries.shape == self.gains.shape:
            for axis, given, names, what in (
                (0, taken.rows, self.states, "states"),
                (1, taken.columns, self.actions, "actions"),
            ):
                entries = in_order("policy", entries, axis, given, names, f"the {what} of the process")
            return _rows("policy", entries, self.states)
        expected = f"an array of shape {self.gains.shape}, or {len(self)} actions"
        raise InvalidData("policy", expected=expected, found=f"an array of shape {entries.shape}")

    def _numbers(self, policy: Any) -> Actions:
        place = {name: number for number, name in enumerate(self.actions)}
        given = np.asarray(policy)
        numbers = np.full(len(given), -1, dtype=np.intp)
        if given.dtype.kind in "iu":
            numbers = given.astype(np.intp)
        elif given.dtype.kind in "OU":
            numbers[:] = [place.get(name, -1) for name in map(str, given)]
        wrong = (numbers < 0) | (numbers >= len(place))
        few = len(numbers) != len(self)
        if few or wrong.any():
            expected = f"for each of the {len(self)} states the name of an action, or its number"
            found = f"{len(numbers)}" if few else say(wrong, f"not among the {len(place)} actions")
            raise InvalidData("policy", expected=expected, found=found)
        return numbers

    def value(self, policy: Any) -> Floats:
        """The expected discounted reward from each state: v = r + discount P v, solved exactly."""
        table = self.policy_table(policy)[None]
        value: Floats = mixed_values(self.transitions, self.gains, self.discount, table)[0]
        return value

    def expected_return(self, policy: Any, *, start: Any = None) -> float:
        """The expected discounted reward from a start.

        start: a state, or a distribution over the states; None for all states alike.
        """
        return float(self.start_law(start) @ self.value(policy))

    def start_law(self, start: Any = None) -> Floats:
        """The start as a distribution over the states."""
        names, size = self.states, len(self)
        if start is None:
            return np.full(size, 1.0 / size)
        if isinstance(start, Hashable) and start in names:
            return np.array([float(name == start) for name in names])
        if isinstance(start, Mapping) and set(start) <= set(names):
            start = [start.get(name, 0.0) for name in names]
        law = None if isinstance(start, (str, Mapping)) else as_floats("start", start)
        if law is None or law.shape != (size,):
            expected = f"a state, or a probability for each of {size} states"
            raise InvalidArgument("start", expected=expected, found="neither")
        return _rows("start", law[None], ("start",)).ravel()

    def policy_chain(self, policy: Any) -> Chain:
        """The Markov chain of the states under a policy."""
        steps = np.einsum("sa,sat->st", self.policy_table(policy), self.transitions)
        return Chain(steps, states=list(self.states))

    def optimal(self) -> Solution:
        """The policy of the largest value from every state, by policy iteration.

        Each round solves the linear system of its policy. Of equally good actions the first is taken.
        """
        policy, value = best_policies(self.transitions[None], self.gains[None], self.discount)
        return Solution(policy[0], value[0])


def _is_list(policy: Any) -> bool:
    try:
        return not isinstance(policy, Mapping) and np.ndim(policy) == 1
    except ValueError:
        return False


def _rewards(rewards: Any, shape: tuple[int, ...]) -> Floats:
    table = as_floats("rewards", rewards)
    if table.ndim not in (1, 2, 3) or table.shape != shape[: table.ndim]:
        expected = f"an array of shape {shape[:1]}, {shape[:2]} or {shape}"
        raise InvalidData("rewards", expected=expected, found=f"an array of shape {table.shape}")
    wrong = ~(np.abs(table) <= _LARGEST_REWARD)
    if wrong.any():
        expected = f"finite numbers up to {_LARGEST_REWARD:g}"
        raise InvalidData("rewards", expected=expected, found=say(wrong, "beyond it"))
    return table


def _rows(field: str, table: Floats, states: Names, actions: Names | None = None) -> Floats:
    """The rows, checked and scaled to sum to 1; an error says whose row is wrong, not what is in it."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = table.sum(axis=-1)
        sums = np.abs(totals - 1.0) <= SUM_TOLERANCE
        sound = np.isfinite(table).all(axis=-1) & (table >= 0.0).all(axis=-1)
    for expected, found, right in (
        ("finite numbers that are not negative", "others", sound),
        (f"probabilities that sum to 1 (within {SUM_TOLERANCE:g})", "another sum", sums),
    ):
        if not right.all():
            state, *action = np.argwhere(~right)[0]
            where = field if field == "start" else f"{field}, state {str(states[state])[:40]!r}"
            if actions is not None:
                where += f", action {str(actions[action[0]])[:40]!r}"
            raise InvalidData(where, expected=expected, found=found + as_in_others(int((~right).sum())))
    scaled: Floats = table / totals[..., None]
    return scaled
