"""Markov decision processes: what a policy is worth, and which one is best."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import items, within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names, as_floats, named_matrix, say
from veil.matrices.chain import Chain
from veil.matrices.numerics.decisions import Actions, best_policies, expected_rewards, mixed_values
from veil.vectors.simplex import SUM_TOLERANCE

_LARGEST_DISCOUNT = 1.0 - 1e-9
_LARGEST_REWARD = 1e100
_MOST_ENTRIES = 50_000_000


@dataclass(frozen=True, eq=False)
class Solution:
    """The best policy, as the number of an action for each state, and its value from each state."""

    policy: Actions
    value: Floats


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
            raise InvalidData(
                "transitions",
                expected=f"an array [state, action, next state] of at most {_MOST_ENTRIES:,} entries",
                found=f"an array of shape {table.shape}",
            )
        states = _names("states", self.states, table.shape[0])
        actions = _names("actions", self.actions, table.shape[1])
        words = "a number of at least 0 and below 1 (at most 0.999999999)"
        discount = within("discount", self.discount, 0.0, _LARGEST_DISCOUNT, expected=words)
        for field, value in (
            ("transitions", _rows("transitions", table, states, actions)),
            ("rewards", _rewards(self.rewards, table.shape)),
            ("discount", discount),
            ("states", states),
            ("actions", actions),
        ):
            object.__setattr__(self, field, value)
        self.transitions.setflags(write=False)
        self.rewards.setflags(write=False)

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
        return self._mixed(policy)

    def _mixed(self, policy: Any) -> Floats:
        taken = named_matrix("policy", policy)
        entries: Floats = taken.entries.toarray() if hasattr(taken.entries, "toarray") else taken.entries
        if entries.shape == self.gains.shape:
            entries = _ordered(entries, taken.rows, self.states, "states")
            entries = _ordered(entries.T, taken.columns, self.actions, "actions").T
            return _rows("policy", entries, self.states)
        raise InvalidData(
            "policy",
            expected=f"an array of shape {self.gains.shape}, or {len(self)} actions",
            found=f"an array of shape {entries.shape}",
        )

    def _numbers(self, policy: Any) -> Actions:
        place = {name: number for number, name in enumerate(self.actions)}
        given = np.asarray(policy)
        numbers = np.full(len(given), -1, dtype=np.intp)
        if given.dtype.kind in "iu":
            numbers = given.astype(np.intp)
        elif given.dtype.kind in "OU":
            numbers[:] = [place.get(name, -1) for name in map(str, given)]
        wrong = (numbers < 0) | (numbers >= len(place))
        if len(numbers) != len(self) or wrong.any():
            few = len(numbers) != len(self)
            raise InvalidData(
                "policy",
                expected=f"for each of the {len(self)} states the name of an action, or its number",
                found=f"{len(numbers)}" if few else say(wrong, f"not among the {len(place)} actions"),
            )
        return numbers

    def value(self, policy: Any) -> Floats:
        """The expected discounted reward from each state: v = r + discount P v, solved exactly."""
        table = self.policy_table(policy)[None]
        found: Floats = mixed_values(self.transitions, self.gains, self.discount, table)[0]
        return found

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
            raise InvalidArgument(
                "start", expected=f"a state, or a probability for each of {size} states", found="neither"
            )
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


def _names(field: str, names: Sequence[Hashable] | None, size: int) -> Names:
    if names is None:
        return tuple(range(size))
    listed = items(field, names, expected=f"{size} different names")
    given = tuple(item.item() if isinstance(item, np.generic) else item for item in listed)
    try:
        different = len(set(given))
    except TypeError:
        raise InvalidArgument(field, expected="names such as text or numbers", found="others") from None
    if len(given) != size or different != size:
        raise InvalidArgument(
            field, expected=f"{size} different names", found=f"{len(given)}, {different} of them different"
        )
    return given


def _is_list(policy: Any) -> bool:
    try:
        return not isinstance(policy, Mapping) and np.ndim(policy) == 1
    except ValueError:
        return False


def _ordered(entries: Floats, given: Names | None, names: Names, what: str) -> Floats:
    """The rows in the order of the process, where the policy names them."""
    if given is None or given == names:
        return entries
    if set(given) != set(names):
        raise InvalidData("policy", expected=f"the {what} of the process", found="other names")
    return entries[[given.index(name) for name in names]]


def _rewards(rewards: Any, shape: tuple[int, ...]) -> Floats:
    table = as_floats("rewards", rewards)
    if table.ndim not in (1, 2, 3) or table.shape != shape[: table.ndim]:
        raise InvalidData(
            "rewards",
            expected=f"an array of shape {shape[:1]}, {shape[:2]} or {shape}",
            found=f"an array of shape {table.shape}",
        )
    wrong = ~(np.abs(table) <= _LARGEST_REWARD)
    if wrong.any():
        raise InvalidData(
            "rewards", expected=f"finite numbers up to {_LARGEST_REWARD:g}", found=say(wrong, "beyond it")
        )
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
            place = tuple(int(i) for i in np.argwhere(~right)[0])
            names = [f"state {str(states[place[0]])[:40]!r}"]
            if actions is not None:
                names.append(f"action {str(actions[place[1]])[:40]!r}")
            others = int(np.count_nonzero(~right)) - 1
            more = f", as in {others} other {'row' if others == 1 else 'rows'}" if others else ""
            where = field if field == "start" else f"{field}, {', '.join(names)}"
            raise InvalidData(where, expected=expected, found=found + more)
    scaled: Floats = table / totals[..., None]
    return scaled
