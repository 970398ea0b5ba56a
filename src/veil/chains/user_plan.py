"""How much of each user is counted: chosen from public numbers alone, and tried on made-up users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import chosen_mechanism, tables_of
from veil.chains.lengths import LengthBins
from veil.chains.planning import baseline_of, typical_tables
from veil.chains.sequence_model import LengthLaw, SequenceModel
from veil.chains.strata import (
    Strata,
    guessed_lengths,
    planned_second_cap,
    planned_shares,
    planned_strata,
)
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument
from veil.core.plan import Plan, beside
from veil.core.progress import tell
from veil.matrices.chain import Chain

# Where nobody says how many users there are, or how long their sequences: a guess, and the plan says so.
ASSUMED_USERS = 100_000
ASSUMED_LENGTH = 5.0
# More than there are people, and than anybody does.
_MOST = 10**12
# More users than this are stood for by so many with an epsilon that is larger in proportion: noise and counts
# then stand in the same relation.
_MOST_USERS = 150_000
_TRIALS, _SEED = 3, 17
# Nobody's sequence is made longer than this.
_LONGEST = 2_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class UserPlan:
    """Strata of users by the length of their sequences, each with a cap; and the cap of second-order counts.

    strata: (least number of states, most transitions counted of one user), by rising length.
    """

    strata: Strata
    second_cap: int | None

    @property
    def cap(self) -> int:
        """The most transitions counted of any user."""
        return max(cap for _, cap in self.strata)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `read` that count so."""
        # One stratum is everybody: a plain cap will do, and no lengths have to weigh it.
        whole = {"strata": self.strata} if len(self.strata) > 1 else {"cap": self.cap}
        if self.second_cap is None:
            return {**whole, "sequences": True}
        return {**whole, "sequences": True, "second_cap": min(self.second_cap, self.cap), "memory": 2}

    @property
    def words(self) -> str:
        """The plan in one line."""
        parts = [f"{cap} of those with {least} states or more" for least, cap in self.strata]
        return "of each user at most " + ", ".join(parts)


def plan_users(
    states: int,
    *,
    epsilon: float,
    users: int | None = None,
    mean_length: float | None = None,
    cap: int | None = None,
    memory: int = 1,
) -> UserPlan:
    """Strata and caps for a release that hides whole users.

    users, mean_length: about how many there are and how many states a sequence has, as far as that is
    public. cap: no stratum counts more than this.

    >>> from veil import chains
    >>> chains.plan_users(17, users=1_000_000, epsilon=1.0).strata
    ((2, 2), (4, 6), (8, 14), (16, 27), (32, 47), (64, 65), (128, 119))
    """
    states, memory = integer("states", states, least=2, most=_MOST), integer("memory", memory, least=1)
    if memory > 2:
        raise InvalidArgument("memory", expected="1 or 2", found=str(memory))
    number = ASSUMED_USERS if users is None else integer("users", users, least=1, most=_MOST)
    length = ASSUMED_LENGTH if mean_length is None else mean_length
    length = positive("mean_length", length, least=1.0, most=1e9)
    most = None if cap is None else integer("cap", cap, least=1, most=_MOST)
    share = planned_shares(second=memory == 2).transitions * positive("epsilon", epsilon)
    strata = planned_strata(states, number, share, mean_length=length, cap=most)
    second = planned_second_cap(guessed_lengths(number, length)) if memory == 2 else None
    return UserPlan(strata, second)


class UserTrial(NamedTuple):
    """Mean errors (TV) over made-up users: of the share of each transition, the next step, the lengths."""

    joint_tv: float
    row_tv: float
    length_tv: float

    def to_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        return self._asdict()


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
    tables_tried = typical_tables(states, 1_000 * states)
    for number_tried, table in enumerate(tables_tried, start=1):
        tell(f"made-up users {number_tried} of {len(tables_tried)}")
        chain = Chain((table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True))
        visited, of_length = SequenceModel(chain, lengths=law).sequences(made_up, rng=rng)
        every = count_sequences(visited, of_length, states, None, rng)
        counts = count_sequences(visited, of_length, states, plan, rng)
        tables, adjacency = tables_of(counts, ()), Transitions("user", change, plan.cap)
        scaled = epsilon * number / made_up
        mechanism = chosen_mechanism("auto", tables, adjacency, epsilon=scaled, delta=delta).mechanism
        for _ in range(_TRIALS):
            drawn = {part.key: part.simulated(rng, part.counted(counts)) for part in mechanism.parts}
            errors.append(_errors(mechanism.model(drawn, counts.states), every, of_length))
    return UserTrial(*(float(mean) for mean in np.mean(errors, axis=0)))


def count_sequences(
    visited: NDArray[Any], lengths: Numbers, states: int, plan: UserPlan | None, rng: np.random.Generator
) -> TransitionCounts:
    """What `chains.read` counts, of sequences in memory; without a plan, all of it."""
    users = np.repeat(np.arange(len(lengths)), lengths)
    moves = users[1:] == users[:-1]
    origins, ends, who = visited[:-1][moves], visited[1:][moves], users[:-1][moves]
    last, bins = np.cumsum(lengths), LengthBins.default()
    sequences = Sequences(
        np.bincount(visited[last - lengths], minlength=states),
        np.bincount(visited[last - 1], minlength=states),
        np.bincount(bins.place(lengths), minlength=len(bins)),
        bins,
    )
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


def _summed(origins: NDArray[Any], ends: NDArray[Any], states: int) -> Numbers:
    places = origins.astype(np.int64) * states + ends
    return np.bincount(places, minlength=states * states).reshape(states, states)


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

    printer: ClassVar[str | None] = "veil.chains.report.summary:print_chain_plan"

    best: UserPlan
    trial: UserTrial
    epsilon: float
    change: str
    assumed: tuple[int, float]
    states: int

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        return (baseline_of(typical_tables(self.states, 1_000 * self.states), self.trial.row_tv),)

    def to_dict(self) -> dict[str, Any]:
        strata = [list(stratum) for stratum in self.best.strata]
        return {"strata": strata, "cap": self.best.cap, **self.trial.to_dict(), **beside(self)}
