"""How much of each user is counted: planned from public numbers, and what `count_transitions` takes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import veil
from bench.accuracy.sequences import MSNBC, sessions
from veil.chains.strata import planned_shares, planned_strata
from veil.chains.user_plan import (
    ASSUMED_LENGTH,
    ASSUMED_USERS,
    UserPlan,
    count_sequences,
    plan_users,
    try_users,
)
from veil.errors import InvalidArgument


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("memory", [1, 2])
@pytest.mark.parametrize("users", [1, 1000, 1_000_000])
@pytest.mark.parametrize("states", [2, 17, 300])
def test_strata_are_what_counting_takes(states: int, users: int, memory: int) -> None:
    plan = plan_users(states, epsilon=1.0, users=users, memory=memory)
    assert plan.strata[0][0] == 2
    assert all(later[0] > sooner[0] for sooner, later in pairwise(plan.strata))
    assert all(cap >= 1 for _, cap in plan.strata)
    assert plan.cap == max(cap for _, cap in plan.strata)
    assert (plan.second_cap is not None) == (memory == 2)
    lines = [["a", "b"], ["b", "b", "a"], ["a"]] * 5
    counts = veil.chains.read(lines, states=["a", "b"], **plan.options)
    assert counts.cap == plan.cap
    strata = plan.strata if len(plan.strata) > 1 else ()
    assert [(one.least, one.cap) for one in counts.strata] == list(strata)
    assert counts.sequences is not None
    assert (counts.second is not None) == (memory == 2)
    if memory == 2:
        assert plan.second_cap is not None
        assert counts.second_cap == min(plan.second_cap, plan.cap)


def test_the_share_of_the_transitions_is_planned_with() -> None:
    for memory in (1, 2):
        share = planned_shares(second=memory == 2).transitions
        plan = plan_users(17, epsilon=0.5, users=10**6, mean_length=6.0, memory=memory)
        assert plan.strata == planned_strata(17, 10**6, 0.5 * share, mean_length=6.0)


def test_what_nobody_says_is_assumed() -> None:
    assert plan_users(5, epsilon=1.0) == plan_users(
        5, epsilon=1.0, users=ASSUMED_USERS, mean_length=ASSUMED_LENGTH
    )


def test_more_budget_more_strata_and_longer_sequences_larger_caps() -> None:
    few, many = (plan_users(17, epsilon=epsilon, users=10**5) for epsilon in (0.05, 5.0))
    assert len(few.strata) < len(many.strata)
    short, long = (plan_users(17, epsilon=1.0, users=10**5, mean_length=mean) for mean in (2.0, 40.0))
    assert short.cap < long.cap
    # A thousand users and three hundred states: nothing but one transition of each.
    assert plan_users(300, epsilon=1.0, users=1000).strata == ((2, 1),)


@pytest.mark.parametrize("cap", [1, 3, 10])
def test_caps_limit_every_stratum(cap: int) -> None:
    free = plan_users(17, epsilon=1.0, users=10**6, memory=2)
    plan = plan_users(17, epsilon=1.0, users=10**6, cap=cap, memory=2)
    assert plan.strata == tuple((least, min(most, cap)) for least, most in free.strata)
    assert plan.cap == cap
    assert plan.options["second_cap"] <= cap


def test_words_name_every_stratum() -> None:
    plan = UserPlan(((2, 3), (8, 9)), None)
    assert (
        plan.words
        == "of each user at most 3 of those with 2 states or more, 9 of those with 8 states or more"
    )
    assert plan.options == {"strata": ((2, 3), (8, 9)), "sequences": True}
    # One stratum is everybody.
    assert UserPlan(((2, 3),), 5).options == {
        "cap": 3,
        "sequences": True,
        "second_cap": 3,
        "memory": 2,
    }


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"states": 1}, "states"),
        ({"users": 0}, "users"),
        ({"users": 2.5}, "users"),
        ({"mean_length": 0.5}, "mean_length"),
        ({"mean_length": math.nan}, "mean_length"),
        ({"cap": 0}, "cap"),
        ({"memory": 0}, "memory"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_wrong_numbers(arguments: dict[str, Any], field: str) -> None:
    options: dict[str, Any] = {"states": 3, "epsilon": 1.0} | arguments
    with pytest.raises(InvalidArgument) as caught:
        plan_users(options.pop("states"), **options)
    assert caught.value.field == field


def test_a_memory_of_three_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        plan_users(3, epsilon=1.0, memory=3)


# The charge


@pytest.mark.slow_for("2-0.1", "2-1.0")
@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 1.0])
@pytest.mark.parametrize("memory", [1, 2])
def test_a_planned_release_costs_what_was_asked(memory: int, epsilon: float) -> None:
    plan = plan_users(2, epsilon=epsilon, users=60_000, mean_length=3.0, memory=memory)
    lines = [["a", "b"], ["b", "b", "a"], ["a"], ["a", "a", "b", "a", "b", "b"]] * 50
    counts = veil.chains.read(lines, states=["a", "b"], **plan.options)
    out = veil.chains.release(counts, epsilon=epsilon, unit="user", parts=("starts",), rng=1)
    assert out.epsilon <= epsilon
    assert out.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert out.delta == 0.0
    assert veil.chains.model(out).lengths is not None
    assert (veil.chains.model(out).second is not None) == (memory == 2)


# Trials on made-up users


def test_made_up_users_are_counted_like_real_ones() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 12, size=300)
    visited = rng.integers(0, 3, size=int(lengths.sum()))
    lines = [part.tolist() for part in np.split(visited, np.cumsum(lengths)[:-1])]
    every = count_sequences(visited, lengths, 3, None, rng)
    expected = veil.chains.read(lines, states=[0, 1, 2], sequences=True)
    assert every.matrix.tolist() == expected.matrix.tolist()
    assert every.sequences is not None
    assert expected.sequences is not None
    for name in ("starts", "ends", "lengths"):
        assert (getattr(every.sequences, name) == getattr(expected.sequences, name)).all()
    plan = UserPlan(((2, 1), (4, 2), (8, 20)), None)
    some = count_sequences(visited, lengths, 3, plan, rng)
    real = veil.chains.read(lines, states=[0, 1, 2], **plan.options)
    # Which transitions are drawn differs, how many does not; and nothing is cut where the cap is large.
    for one, other in zip(some.strata, real.strata, strict=True):
        assert (one.least, one.cap, one.matrix.sum()) == (other.least, other.cap, other.matrix.sum())
    assert some.strata[2].matrix.tolist() == real.strata[2].matrix.tolist()
    assert some.matrix.tolist() == np.sum([one.matrix for one in some.strata], axis=0).tolist()


@pytest.mark.slow
def test_trials_repeat_and_follow_the_budget() -> None:
    def tried(epsilon: float, **more: Any) -> Any:
        plan = plan_users(3, epsilon=epsilon, users=2000, mean_length=4.0)
        return try_users(3, plan, epsilon=epsilon, users=2000, mean_length=4.0, **more)

    base = tried(1.0)
    assert tried(1.0) == base
    assert tried(0.1).joint_tv > base.joint_tv
    assert tried(1.0, change="replace").joint_tv > base.joint_tv
    assert tried(100.0).length_tv < base.length_tv
    errors = {"joint_tv", "row_tv", "length_tv"}
    assert set(base.to_dict()) == errors | {f"{error}_range" for error in errors}
    for span in (base.joint, base.row, base.length):
        assert 0.0 < span.low < span.usual < span.high <= 1.0


# Ranges


@pytest.mark.evidence
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_ranges_hold_what_is_measured_on_real_sessions(epsilon: float) -> None:
    if not MSNBC.is_file():
        pytest.skip("the real data is not here")
    visited, lengths, states = sessions()
    public: dict[str, Any] = {"users": len(lengths), "mean_length": float(np.mean(lengths))}
    plan, rng = plan_users(states, epsilon=epsilon, **public), np.random.default_rng(3)
    truth = np.asarray(count_sequences(visited, lengths, states, None, rng).matrix)
    counts = count_sequences(visited, lengths, states, plan, rng)
    model = veil.chains.model(veil.chains.release(counts, epsilon=epsilon, unit="user", rng=1))
    trial = try_users(states, plan, epsilon=epsilon, **public)
    found = 0.5 * np.abs(model.joint() - truth / truth.sum()).sum()
    assert trial.joint.low <= found <= trial.joint.high
