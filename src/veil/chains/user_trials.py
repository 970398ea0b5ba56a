"""What to expect of a release that hides whole users: tried on made-up users, before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import chosen_mechanism
from veil.chains.chain_tables import tables_of
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.numerics.strata import guessed_lengths
from veil.chains.sequence_model import LengthLaw, SequenceModel
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.chains.typical_chain import typical_tables
from veil.chains.user_plan import ASSUMED_LENGTH, ASSUMED_USERS, UserPlan, plan_users
from veil.core.arrays import Floats
from veil.core.plan import Plan
from veil.matrices.chain import Chain
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

# More users than this are stood for by so many with an epsilon that is larger in proportion: noise and counts
# then stand in the same relation.
_MOST_USERS = 150_000
_TRIALS, _SEED = 3, 17
# Nobody's sequence is made longer than this.
_LONGEST = 2_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UserTrial:
    """Mean errors (TV) over made-up users: of the share of each transition, the next step, the lengths."""

    joint_tv: float
    row_tv: float
    length_tv: float

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        return {"joint_tv": self.joint_tv, "row_tv": self.row_tv, "length_tv": self.length_tv}


def try_users(
    states: int,
    plan: UserPlan,
    *,
    epsilon: float,
    delta: float = 0.0,
    users: int | None = None,
    mean_length: float | None = None,
    change: str = "add-remove",
) -> UserTrial:
    """Count made-up users as planned, hide, estimate, and compare.

    Their sequences all follow one chain: what strata gain where long sequences differ does not show.
    """
    number = ASSUMED_USERS if users is None else users
    made_up = min(number, _MOST_USERS)
    rng = np.random.default_rng(_SEED)
    lengths = guessed_lengths(made_up, ASSUMED_LENGTH if mean_length is None else mean_length)[: _LONGEST + 1]
    law = LengthLaw(np.flatnonzero(lengths), lengths[lengths > 0.0] / lengths.sum())
    errors = []
    for table in typical_tables(states, 1_000 * states):
        chain = Chain((table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True))
        visited, of_length = SequenceModel(chain, lengths=law).sequences(made_up, rng=rng)
        every = count_sequences(visited, of_length, states, None, rng)
        counts = count_sequences(visited, of_length, states, plan, rng)
        mechanism = chosen_mechanism(
            "auto",
            tables_of(counts, ()),
            Transitions("user", change, plan.cap),
            states=states,
            epsilon=epsilon * number / made_up,
            delta=delta,
        ).mechanism
        errors += [_errors(_simulated(mechanism, counts, rng), every, of_length) for _ in range(_TRIALS)]
    return UserTrial(*(float(mean) for mean in np.mean(errors, axis=0)))


def count_sequences(
    visited: NDArray[Any], lengths: Numbers, states: int, plan: UserPlan | None, rng: np.random.Generator
) -> TransitionCounts:
    """What `count_transitions` counts, of sequences in memory; without a plan, all of it."""
    users = np.repeat(np.arange(len(lengths)), lengths)
    moves = users[1:] == users[:-1]
    origins, ends, who = visited[:-1][moves], visited[1:][moves], users[:-1][moves]
    sequences = _once(visited, lengths, states)
    if plan is None:
        return TransitionCounts(_summed(origins, ends, states), sequences=sequences)
    # Each user's transitions in random order, and the number of each in that order.
    order = np.lexsort((rng.random(len(who)), who))
    first = np.cumsum(lengths - 1) - (lengths - 1)
    drawn = np.arange(len(who)) - first[who[order]]
    least = np.array([bound for bound, _ in plan.strata])
    stratum = np.searchsorted(least, lengths[who[order]], side="right") - 1
    kept = drawn < np.array([cap for _, cap in plan.strata])[stratum]
    chosen, stratum = order[kept], stratum[kept]
    strata = [
        Stratum(bound, cap, _summed(origins[chosen[stratum == at]], ends[chosen[stratum == at]], states))
        for at, (bound, cap) in enumerate(plan.strata)
    ]
    total = np.sum([one.matrix for one in strata], axis=0)
    return TransitionCounts(total, cap=plan.cap, sequences=sequences, strata=strata)


def _once(visited: NDArray[Any], lengths: Numbers, states: int) -> Sequences:
    ends = np.cumsum(lengths)
    bins = LengthBins.default()
    return Sequences(
        np.bincount(visited[ends - lengths], minlength=states),
        np.bincount(visited[ends - 1], minlength=states),
        np.bincount(bins.place(lengths), minlength=len(bins)),
        bins,
    )


def _summed(origins: NDArray[Any], ends: NDArray[Any], states: int) -> Numbers:
    places = origins.astype(np.int64) * states + ends
    return np.bincount(places, minlength=states * states).reshape(states, states)


def _simulated(mechanism: PrivateChain, counts: TransitionCounts, rng: np.random.Generator) -> SequenceModel:
    tables = {}
    for part in mechanism.parts:
        assert isinstance(part.mechanism, (GeometricCounts, DiscreteGaussianCounts))
        tables[part.key] = part.counted(counts) + part.mechanism.simulated_noise(rng, part.shape)
    return mechanism.model(tables, counts.states)


def _errors(model: SequenceModel, every: TransitionCounts, lengths: Numbers) -> tuple[float, float, float]:
    truth = np.asarray(every.matrix, dtype=np.float64)
    sizes = truth.sum(axis=1, keepdims=True)
    rows = truth / np.maximum(sizes, 1.0)
    next_step = 0.5 * np.abs(model.chain.to_numpy() - rows).sum(axis=1)
    assert model.lengths is not None
    longest = int(max(lengths.max(), model.lengths.lengths[-1])) + 1
    told: Floats = np.zeros(longest)
    told[model.lengths.lengths] = model.lengths.probabilities
    exact = np.bincount(lengths, minlength=longest) / len(lengths)
    return (
        0.5 * float(np.abs(model.joint() - truth / truth.sum()).sum()),
        float(next_step @ (sizes[:, 0] / sizes.sum())),
        0.5 * float(np.abs(told - exact).sum()),
    )


@dataclass(frozen=True, slots=True)
class UserForecast(Plan):
    """How much of each user to count, and what comes of it on made-up users.

    best: the strata and caps. trial: the errors to expect. assumed: the number of users and the mean length
    of their sequences that were tried.
    """

    best: UserPlan
    trial: UserTrial
    epsilon: float
    change: str
    assumed: tuple[int, float]

    def to_dict(self) -> dict[str, Any]:
        strata = [list(stratum) for stratum in self.best.strata]
        return {"strata": strata, "cap": self.best.cap, **self.trial.to_dict()}


def forecast_users(
    states: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    users: int | None = None,
    mean_length: float | None = None,
    cap: int | None = None,
    change: str = "add-remove",
) -> UserForecast:
    """Plan how much of each user is counted, and try it on made-up users."""
    public: dict[str, Any] = {"users": users, "mean_length": mean_length}
    plan = plan_users(states, epsilon=epsilon, cap=cap, **public)
    trial = try_users(states, plan, epsilon=epsilon, delta=delta, change=change, **public)
    number = ASSUMED_USERS if users is None else users
    length = ASSUMED_LENGTH if mean_length is None else mean_length
    return UserForecast(plan, trial, epsilon, change, (number, length))
