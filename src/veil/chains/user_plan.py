"""How much of each user is counted: chosen from public numbers alone, and tried on made-up users."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import chosen_mechanism, tables_of
from veil.chains.lengths import LengthBins
from veil.chains.made_up_users import made_up_users, users_like
from veil.chains.planning import baseline_of
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
from veil.core.span import Span, assumed

# Where nobody says how many users there are, or how long their sequences: a guess, and the plan says so.
ASSUMED_USERS = 100_000
ASSUMED_LENGTH = 5.0
# More than there are people, and than anybody does.
_MOST = 10**12
# More users than this are stood for by so many with an epsilon that is larger in proportion: noise and counts
# then stand in the same relation.
_MOST_USERS = 150_000
_MOST_VISITS = 1_000_000
# Of users that are drawn from given ones, which is done once.
_MOST_GIVEN = 6_000_000
# Users of the first two kinds are the usual ones, and tried so often.
_USUAL, _TRIALS, _SEED = 2, 2, 17
# Ranges are longer by this factor, for what lies between the kinds of users.
_SPARE = 1.5
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


@dataclass(frozen=True, slots=True)
class UserTrial:
    """Errors (TV) over made-up users: of the share of each transition, the next step, the lengths.

    Numbers are means over the usual users; spans reach over users of all kinds, or are of those that were
    given. assumes: who they are, as a sentence.
    """

    joint: Span
    row: Span
    length: Span
    baseline: Baseline
    assumes: str

    @property
    def joint_tv(self) -> float:
        return self.joint.usual

    @property
    def row_tv(self) -> float:
        return self.row.usual

    @property
    def length_tv(self) -> float:
        return self.length.usual

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        spans = {"joint_tv": self.joint, "row_tv": self.row, "length_tv": self.length}
        return {name: span.usual for name, span in spans.items()} | {
            f"{name}_range": span.to_dict() for name, span in spans.items()
        }


def try_users(
    states: int,
    plan: UserPlan,
    *,
    epsilon: float,
    delta: float = 0.0,
    users: int | None = None,
    mean_length: float | None = None,
    change: str = "add-remove",
    typical: Any = None,
    ranges: bool = True,
) -> UserTrial:
    """Count made-up users as planned, hide, estimate, and compare.

    typical: public sequences; users are drawn from them instead of made up. ranges: whether users of all
    kinds are tried, or the usual ones only.
    """
    number = ASSUMED_USERS if users is None else users
    mean = ASSUMED_LENGTH if mean_length is None else mean_length
    most, together = (_MOST_USERS, _MOST_VISITS) if typical is None else (number, _MOST_GIVEN)
    few = max(1, min(number, most, int(together / mean)))
    scaled = epsilon * number / few
    rng = np.random.default_rng(_SEED)
    if typical is None:
        lengths = guessed_lengths(few, mean)[: _LONGEST + 1]
        law = LengthLaw(np.flatnonzero(lengths), lengths[lengths > 0.0] / lengths.sum())
        kinds, usual = made_up_users(states, few, law), _USUAL
    else:
        kinds, usual = iter([("the typical sequences given", users_like(typical, states, few))]), 1
    names: list[str] = []
    errors: list[Floats] = []
    away: list[Floats] = []
    tried = kinds if ranges else islice(kinds, usual)
    for number_tried, (name, visits) in enumerate(tried):
        tell(f"users of kind {number_tried + 1}: {name}")
        every = count_sequences(visits.states, visits.lengths, states, None, rng)
        counts = count_sequences(visits.states, visits.lengths, states, plan, rng)
        tables, adjacency = tables_of(counts, ()), Transitions("user", change, plan.cap)
        mechanism = chosen_mechanism("auto", tables, adjacency, epsilon=scaled, delta=delta).mechanism
        trials = []
        for _ in range(_TRIALS if number_tried < usual else 1):
            drawn = {part.key: part.simulated(rng, part.counted(counts)) for part in mechanism.parts}
            trials.append(_errors(mechanism.model(drawn, counts.states), every, visits.lengths))
        names.append(name)
        errors.append(np.array(trials))
        away.append(np.asarray(every.matrix))
    known = baseline_of(away[:usual], float(np.concatenate(errors[:usual])[:, 1].mean()))
    told = assumed(names, of="users", usual="means over the first two")
    joint, row, length = (_span([one[:, at] for one in errors], usual) for at in range(3))
    return UserTrial(joint, row, length, known, told)


def _span(errors: list[Floats], usual: int) -> Span:
    """From the least to the largest, with something for what lies between the kinds of users."""
    every = np.concatenate(errors)
    mean = float(np.concatenate(errors[:usual]).mean())
    spare = _SPARE if len(errors) > 1 else 1.0
    return Span((mean,), (float(every.min()) / spare, min(1.0, float(every.max()) * spare)))


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
    of their sequences that were tried. given: whether users were drawn from public sequences.
    """

    printer: ClassVar[str | None] = "veil.chains.report.summary:print_chain_plan"

    best: UserPlan
    trial: UserTrial
    epsilon: float
    change: str
    assumed: tuple[int, float]
    given: bool = False

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        return (self.trial.baseline,)

    @property
    def assumes(self) -> str:  # type: ignore[override]
        return self.trial.assumes

    def to_dict(self) -> dict[str, Any]:
        strata = [list(stratum) for stratum in self.best.strata]
        return {"strata": strata, "cap": self.best.cap, **self.trial.to_dict(), **beside(self)}
