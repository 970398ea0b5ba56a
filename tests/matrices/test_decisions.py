"""Decision processes: values solved by hand, by power series and by trying every policy."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument, InvalidData
from veil.matrices.decisions import DecisionProcess

STAY_OR_GO = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
TWO = DecisionProcess(STAY_OR_GO, [0.0, 1.0], 0.5, states=["low", "high"], actions=["stay", "go"])


def random_process(seed: int, *, states: int = 4, actions: int = 3, discount: float = 0.9) -> DecisionProcess:
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(states, 0.5), size=(states, actions))
    return DecisionProcess(transitions, rng.normal(size=(states, actions)), discount)


def test_two_states_by_hand() -> None:
    # From "high" staying earns 1 + 1/2 + 1/4 + ... = 2; from "low" going there earns half of that.
    best = TWO.optimal()
    assert best.policy.tolist() == [1, 0]
    assert best.value.tolist() == [1.0, 2.0]
    # Going always: v(low) = v(high)/2 and v(high) = 1 + v(low)/2.
    np.testing.assert_allclose(TWO.value([1, 1]), [2 / 3, 4 / 3], rtol=1e-15)
    # A coin: P = 1/2 everywhere, so v = r + 1/2 of the mean of v, and the mean is 1/2 / (1 - 1/2) = 1.
    np.testing.assert_allclose(TWO.value([[0.5, 0.5], [0.5, 0.5]]), [0.5, 1.5], rtol=1e-15)


def test_value_is_the_power_series() -> None:
    process = random_process(1, states=6, discount=0.8)
    policy = np.random.default_rng(2).dirichlet(np.ones(3), size=6)
    steps = np.einsum("sa,sat->st", policy, process.transitions)
    reward, total = np.einsum("sa,sa->s", policy, process.rewards), np.zeros(6)
    for _ in range(400):
        total = reward + 0.8 * steps @ total
    np.testing.assert_allclose(process.value(policy), total, rtol=1e-13)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.99])
def test_policy_iteration_finds_the_best_of_all_policies(seed: int, discount: float) -> None:
    process = random_process(seed, discount=discount)
    every = [process.value(list(policy)) for policy in itertools.product(range(3), repeat=4)]
    best = process.optimal()
    np.testing.assert_allclose(best.value, np.max(every, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(best.value, process.value(best.policy))


def test_of_equally_good_actions_the_first_is_taken() -> None:
    alike = np.tile(np.random.default_rng(3).dirichlet(np.ones(5), size=(5, 1)), (1, 4, 1))
    assert DecisionProcess(alike, np.arange(5.0), 0.97).optimal().policy.tolist() == [0] * 5
    # Action 1 earns more at once and action 0 as much in the end: v = 2 either way.
    early = DecisionProcess(
        [[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]], [[1.0, 1.0], [2.0, 2.0]], 0.5
    )
    assert early.optimal().policy.tolist() == [0, 0]


def test_a_few_hundred_states_and_a_long_horizon() -> None:
    process = random_process(5, states=250, actions=4, discount=0.9999)
    best = process.optimal()
    ahead = process.gains + 0.9999 * process.transitions @ best.value
    np.testing.assert_allclose(best.value, ahead.max(axis=1), rtol=1e-12)


def test_rewards_of_states_actions_and_transitions_agree() -> None:
    plain = random_process(6)
    by_state = DecisionProcess(plain.transitions, [1.0, 2.0, 3.0, 4.0], 0.9)
    by_action = DecisionProcess(plain.transitions, np.tile([[1.0], [2.0], [3.0], [4.0]], (1, 3)), 0.9)
    by_step = DecisionProcess(plain.transitions, np.tile(by_action.rewards[..., None], (1, 1, 4)), 0.9)
    np.testing.assert_array_equal(by_state.value([0, 1, 2, 0]), by_action.value([0, 1, 2, 0]))
    np.testing.assert_allclose(by_state.value([0, 1, 2, 0]), by_step.value([0, 1, 2, 0]), rtol=1e-14)


def test_policies_in_many_forms() -> None:
    table = [[0.25, 0.75], [1.0, 0.0]]
    as_mapping = {"high": {"stay": 1.0}, "low": {"go": 0.75, "stay": 0.25}}
    np.testing.assert_array_equal(TWO.policy_table(as_mapping), table)
    np.testing.assert_array_equal(TWO.policy_table(["go", "stay"]), TWO.policy_table(np.array([1, 0])))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.0, 1.0], [0.75, 0.25]], index=["high", "low"], columns=["go", "stay"])
    np.testing.assert_array_equal(TWO.policy_table(frame), table)


def test_the_chain_of_a_policy() -> None:
    chain = TWO.policy_chain([[0.5, 0.5], [0.9, 0.1]])
    assert isinstance(chain, veil.Chain)
    assert chain.states == ("low", "high")
    np.testing.assert_allclose(chain.to_numpy(), [[0.5, 0.5], [0.1, 0.9]])


def test_starts() -> None:
    policy = ["stay", "stay"]
    assert TWO.expected_return(policy, start="high") == 2.0
    assert TWO.expected_return(policy) == 1.0
    assert TWO.expected_return(policy, start=[0.75, 0.25]) == 0.5
    assert TWO.expected_return(policy, start={"high": 1.0}) == 2.0
    for wrong in ("middle", [1.0], {"middle": 1.0}, [[0.5, 0.5]], 7):
        with pytest.raises(InvalidArgument, match="start"):
            TWO.expected_return(policy, start=wrong)
    with pytest.raises(InvalidData, match="start: expected probabilities that sum to 1"):
        TWO.expected_return(policy, start=[0.75, 0.75])


def test_it_is_frozen_keeps_quiet_and_survives_pickling() -> None:
    with pytest.raises(AttributeError):
        setattr(TWO, "discount", 0.9)  # noqa: B010
    with pytest.raises(ValueError, match="read-only"):
        TWO.transitions[0, 0, 0] = 0.5
    assert repr(TWO) == "<veil.matrices.DecisionProcess of 2 states and 2 actions, discount 0.5>"
    again = pickle.loads(pickle.dumps(TWO))
    assert again.optimal().value.tolist() == [1.0, 2.0]


def test_wrong_transitions_say_where_and_not_what() -> None:
    wrong = np.array(STAY_OR_GO)
    wrong[1, 0] = [0.123, 0.8]
    with pytest.raises(InvalidData) as error:
        DecisionProcess(wrong, [0.0, 1.0], 0.5, states=["low", "high"], actions=["stay", "go"])
    assert error.value.field == "transitions, state 'high', action 'stay'"
    assert "sum to 1 (within 1e-09)" in error.value.expected
    assert "0.123" not in str(error.value)
    wrong[1, 0] = [-0.5, 1.5]
    wrong[0, 1] = [np.nan, 1.0]
    with pytest.raises(InvalidData, match=r"state '0', action '1': .*not negative.* 1 other row\b"):
        DecisionProcess(wrong, [0.0, 1.0], 0.5)
    DecisionProcess(np.array(STAY_OR_GO) * (1.0 + 5e-10), [0.0, 1.0], 0.5)
    with pytest.raises(InvalidData, match="sum to 1"):
        DecisionProcess(np.array(STAY_OR_GO) * (1.0 + 2e-9), [0.0, 1.0], 0.5)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"transitions": np.eye(2)}, "transitions"),
        ({"transitions": np.ones((2, 2, 3))}, "transitions"),
        ({"transitions": "text"}, "transitions"),
        ({"rewards": [1.0, 2.0, 3.0]}, "rewards"),
        ({"rewards": 1.0}, "rewards"),
        ({"rewards": [0.0, np.inf]}, "rewards"),
        ({"discount": 1.0}, "discount"),
        ({"discount": -0.1}, "discount"),
        ({"discount": "0.9"}, "discount"),
        ({"states": ["a"]}, "states"),
        ({"actions": ["a", "a"]}, "actions"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, Any], field: str) -> None:
    settings: dict[str, Any] = {"transitions": STAY_OR_GO, "rewards": [0.0, 1.0], "discount": 0.5}
    with pytest.raises((InvalidArgument, InvalidData)) as error:
        DecisionProcess(**(settings | changes))
    assert error.value.field == field


@pytest.mark.parametrize(
    "policy",
    [
        [0, 2],
        [0, -1],
        [0, 1, 0],
        ["stay", "fly"],
        [1.0, 0.0],
        [True, False],
        [[0.5, 0.5]],
        [[0.5, 0.6], [0.5, 0.5]],
        [[0.5, 0.5], [1.0]],
        {"low": {"stay": 1.0, "fly": 0.0}, "high": {"stay": 1.0}},
        {"low": {"stay": 1.0, "go": 0.0}, "middle": {"stay": 1.0}},
        None,
    ],
)
def test_wrong_policies_are_refused(policy: Any) -> None:
    with pytest.raises(InvalidData, match="policy"):
        TWO.value(policy)
