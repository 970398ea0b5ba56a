"""Decision processes from logs: one chain for each action, released together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from veil import chains, matrices
from veil.core.arrays import Floats

STATES, ACTIONS = ("low", "mid", "high"), ("wait", "work")
# [state, action, next state]; working pays later, and only those who know that work in every state.
TRUE = np.array(
    [
        [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0]],
        [[0.5, 0.5, 0.0], [0.1, 0.4, 0.5]],
        [[0.1, 0.6, 0.3], [0.0, 0.2, 0.8]],
    ]
)
REWARDS = [[0.0, -1.0], [1.0, 0.0], [5.0, 4.0]]


def _log(people: int, steps: int, seed: int) -> tuple[list[tuple[int, int, str, str]], Floats]:
    """Rows of (who, when, state, action), and what was counted while they were made."""
    rng = np.random.default_rng(seed)
    rows, counted = [], np.zeros((3, 2, 3))
    for person in range(people):
        state = int(rng.integers(3))
        for step in range(steps):
            action = int(rng.random() < 0.6)
            rows.append((person, step, STATES[state], ACTIONS[action]))
            ahead = int(rng.choice(3, p=TRUE[state, action]))
            # The last row of a person leaves no transition.
            counted[state, action, ahead] += step + 1 < steps
            state = ahead
    return rows, counted


def _counts(rows: list[tuple[int, int, str, str]], **reading: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    log = pandas.DataFrame(rows, columns=["who", "when", "state", "action"])
    # The order of a log is that of its times, however its rows are sorted.
    log = log.sample(frac=1.0, random_state=1)
    return chains.read(
        log,
        by="who",
        order="when",
        state="state",
        group="action",
        states=list(STATES),
        groups=list(ACTIONS),
        **reading,
    )


def _process(release: Any) -> matrices.DecisionProcess:
    tables = [chains.group_chain(release, action).to_numpy() for action in ACTIONS]
    return matrices.DecisionProcess(np.stack(tables, axis=1), REWARDS, 0.9, states=STATES, actions=ACTIONS)


def test_a_transition_belongs_to_the_action_of_the_row_that_it_leaves() -> None:
    rows, counted = _log(60, 9, 1)
    groups = _counts(rows).groups
    for place, action in enumerate(ACTIONS):
        assert np.array_equal(np.asarray(groups[action]), counted[:, place, :])
    # Power: by the action of the row that it enters it would be another table.
    entered = np.zeros((3, 3))
    for (who, _, before, _), (other, _, after, action) in pairwise(rows):
        if who == other and action == "work":
            entered[STATES.index(before), STATES.index(after)] += 1
    assert not np.array_equal(entered, counted[:, 1, :])


@pytest.mark.slow
def test_a_released_process_is_near_the_counted_one_and_leads_to_its_policy() -> None:
    rows, counted = _log(400, 12, 2)
    shares = counted / counted.sum(axis=2, keepdims=True)
    counted_process = matrices.DecisionProcess(shares, REWARDS, 0.9, states=STATES, actions=ACTIONS)
    best = counted_process.optimal()
    assert [ACTIONS[action] for action in best.policy] == ["work", "work", "work"]
    for unit, reading, epsilon in (("event", {}, 2.0), ("user", {"cap": 11}, 4.0)):
        out = chains.release(_counts(rows, **reading), unit=unit, epsilon=epsilon, rng=5)
        assert out.epsilon == epsilon
        released = _process(out)
        assert np.abs(released.transitions - shares).max() < (0.02 if unit == "event" else 0.15)
        assert released.optimal().policy.tolist() == best.policy.tolist()
        # What it promises for the policy, against what the policy earns.
        assert released.optimal().value == pytest.approx(best.value, rel=0.02 if unit == "event" else 0.2)


def test_all_actions_together_cost_what_one_costs() -> None:
    """A transition has one action: one group of a neighbouring log differs, so the noise is that of one."""
    rows, _ = _log(60, 9, 3)
    counts = _counts(rows)
    together = chains.release(counts, epsilon=1.0, mechanism="geometric", rng=1)
    pandas = pytest.importorskip("pandas")
    log = pandas.DataFrame([row[:3] for row in rows], columns=["who", "when", "state"])
    alone = chains.release(
        chains.read(log, by="who", order="when", state="state", states=list(STATES)),
        epsilon=1.0,
        mechanism="geometric",
        rng=1,
    )
    parts = [out.mechanism.describe()["parameters"]["parts"] for out in (together, alone)]
    scales = [part["mechanism"]["parameters"]["scale"] for (part,) in parts]
    assert scales == [1.0, 1.0]
    assert [part["shape"] for (part,) in parts] == [[2, 3, 3], [3, 3]]
    assert set(chains.groups(together)) == set(ACTIONS)
