"""Synthetic sequences: how far off their transitions are, beside those of a chain that is followed."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import veil
from bench.measure import Ratio
from bench.work import Work
from veil.chains.user_plan import count_sequences

GROUP = "Accuracy: synthetic sequences"
MSNBC = Path(__file__).parents[3] / "shared" / "data" / "msnbc990928.zip"
PEER = "the released chain, followed from released starts for released lengths"
# A synthetic transition is to be at most so many times as far off as the released one, beside sampling.
GOAL = 1.3


def sessions() -> tuple[Any, Any, int]:
    """The sessions of msnbc.com: all pages one after the other, the length of each, the number of states."""
    with zipfile.ZipFile(MSNBC) as archive:
        lines = archive.read(archive.namelist()[0]).decode().split("\n", 7)[7].strip().split("\n")
    return (
        np.array(" ".join(lines).split(), dtype=np.int64) - 1,
        np.array([len(x.split()) for x in lines]),
        17,
    )


def stopping(users: int, states: int = 20) -> tuple[Any, Any, int]:
    """Made-up sessions that end at each page with a chance of its own."""
    rng = np.random.default_rng(5)
    chain = rng.dirichlet(np.full(states, 0.3), states).cumsum(axis=1)
    stop = rng.beta(1.0, 2.0, states)
    now, who = rng.integers(0, states, users), np.arange(users)
    visited, whose = [now], [who]
    while len(now):
        goes = rng.random(len(now)) >= stop[now]
        now, who = now[goes], who[goes]
        now = np.minimum((chain[now] < rng.random((len(now), 1))).sum(axis=1), states - 1)
        visited.append(now)
        whose.append(who)
    order = np.argsort(np.concatenate(whose), kind="stable")
    return np.concatenate(visited)[order], np.bincount(np.concatenate(whose), minlength=users), states


def joint(visited: Any, lengths: Any, states: int) -> Any:
    """The share of each transition."""
    counts = count_sequences(visited, lengths, states, None, np.random.default_rng(0))
    return np.asarray(counts.matrix) / counts.total


def apart(one: Any, other: Any) -> float:
    return 0.5 * float(np.abs(one - other).sum())


def run(work: Work) -> list[Ratio]:
    """Whole users and single transitions, at three epsilons."""
    data = {"made-up sessions, 20 pages": stopping(work.either(20_000, 100_000))}
    if MSNBC.is_file() and not work.quick:
        data["MSNBC's sessions"] = sessions()
    return [
        _row(name, content, unit, epsilon)
        for name, content in data.items()
        for unit in ("user", "event")
        for epsilon in (0.5, 1.0, 4.0)
    ]


def _row(name: str, content: tuple[Any, Any, int], unit: str, epsilon: float) -> Ratio:
    visited, lengths, states = content
    rng = np.random.default_rng(6)
    plan = None
    if unit == "user":
        plan = veil.chains.plan_users(
            states, users=len(lengths), epsilon=epsilon, mean_length=float(np.mean(lengths))
        )
    counts = count_sequences(visited, lengths, states, plan, rng)
    out = veil.chains.release(counts, epsilon=epsilon, unit=unit, parts=("starts", "lengths"), rng=1)
    model, truth = veil.chains.model(out), joint(visited, lengths, states)
    made = [veil.chains.synthetic(out, len(lengths), rng=seed) for seed in (2, 3)]
    first, second = (joint(one.states, one.lengths, states) for one in made)
    followed = joint(model.followed(made[0].lengths, rng), made[0].lengths, states)
    own, sampling = apart(truth, model.joint()), apart(first, second) / np.sqrt(2.0)
    goal = GOAL * own + sampling
    return Ratio(
        GROUP,
        f"{name}: transitions",
        f"epsilon {epsilon:g}, delta 0, one {unit} added or removed; starts and lengths released",
        apart(truth, first),
        apart(truth, followed),
        PEER,
        "total variation",
        note=f"the release itself {own:.4f}, sampling {sampling:.4f}; goal {goal:.4f}",
    )
