"""What can be asked of chains that are counted from data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veil.chains.adjacency import CHANGE_MEANINGS, CHANGES, UNIT_MEANINGS, UNITS, Transitions
from veil.chains.chain_mechanism import FOR_CHAINS, MOST_CELLS, Published, chosen_mechanism, tables_of
from veil.chains.counting.counting import STATES_OF_A_TRANSITION
from veil.chains.counting.question import STATES_OF_A_USER
from veil.chains.planning import ChainPlan, least_epsilon_for_chain, plan_chain
from veil.chains.reading import CAP, DISCOVER, ChainRead
from veil.chains.sparse.discovery_plan import DiscoveryPlan
from veil.chains.sparse.planning import SparsePlan
from veil.chains.transition_counts import TransitionCounts
from veil.chains.user_plan import ASSUMED_LENGTH, ASSUMED_USERS, UserForecast, plan_users, try_users
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReleaseRequest, option, texts
from veil.matrices.chain import Chain
from veil.matrices.reading import read_matrix
from veil.tables.given import files_among, listed
from veil.tables.states import given_states

AnyPlan = ChainPlan | UserForecast | SparsePlan | DiscoveryPlan
USERS_SEEN = (
    "the data says who made each transition, but the unit 'event' hides one transition at a time: someone "
    "with many of them is hidden less. The unit 'user', with a cap, hides all that one person contributed"
)
RECORDS_ARE_PUBLIC = "the stated number of transitions is public"
STATES_ALIKE = "some states differ only in spaces or in upper and lower case; are they the same?"
TIES = "Rows of one user with the same time were ordered by their states; a better order: {tie_break=COLUMN}"
# Of chains of many states: different transitions that are counted of one user, unless it is said how many.
PAIRS_OF_A_USER = 10
# Where the list of states is not given, plans for users assume so many.
_USUAL_STATES = 30
_UNIT = "What is hidden: event (one transition), row (one row of a log) or user (a person)."
_CHANGE = "add-remove, or replace (for {unit=row} also replace-state)."
_USERS = "With {unit=user}: about how many users there are; public."
_MEAN_LENGTH = "With {unit=user}: about how many states a sequence has; public."


@dataclass(frozen=True, kw_only=True)
class ChainRelease(ReleaseRequest):
    """Release a private Markov chain, counted from a table of trips, a log of states or sequences.

    The counting runs where the data is; only the counts leave it. What is hidden is one transition, or with
    the unit user a whole person.
    """

    examples = (
        (
            "",
            {
                "source": "trips.parquet",
                "origin": "pickup",
                "destination": "dropoff",
                "states": "zones.csv",
                "epsilon": 1,
                "output": "model.json",
                "report": "model.html",
            },
        ),
        (
            "A log, hiding whole users",
            {
                "source": "visits.csv",
                "by": "user",
                "order": "time",
                "state": "page",
                "unit": "user",
                "users": 100_000,
                "epsilon": 1,
                "output": "model.json",
            },
        ),
    )

    mechanism: str = option(
        "auto",
        help="auto (least noise), geometric, gaussian, dirichlet, or published.",
        short="-m",
        choices=("auto", *FOR_CHAINS),
        group="Mechanism",
    )
    pairs: str = option(
        "auto",
        help="Pairs of states with a noisy count: all (up to 4,472 states), large (noise on all, of which "
        "large counts are kept, for millions of states), or auto: all where they fit.",
        choices=("auto", "all", "large"),
        group="Mechanism",
    )
    false_pairs: int | None = option(
        None,
        help="With {pairs=large}: about how many pairs that nobody went may be kept; more of them lower the "
        "threshold.",
        least=1,
        group="Mechanism",
        advanced=True,
    )
    unit: str = option("event", help=_UNIT, choices=UNITS, meanings=UNIT_MEANINGS, group="Privacy")
    change: str = option(
        "add-remove", help=_CHANGE, choices=CHANGES, meanings=CHANGE_MEANINGS, group="Privacy"
    )
    users: int | None = option(None, help=_USERS, least=1, group="Privacy", in_python=False)
    mean_length: float | None = option(None, help=_MEAN_LENGTH, least=1, group="Privacy", in_python=False)
    parts: Sequence[str] | str = option(
        (),
        help="Also release, under the same epsilon: starts, ends, lengths (of sequences), sizes (how many "
        "leave each state; noisy counts have them anyway).",
        flag="--with",
        group="Output",
    )
    records: int | None = option(
        None,
        help="The number of transitions, where it is public; dirichlet is tuned to it.",
        short="-n",
        least=1,
        group="Mechanism",
    )
    floor: float | Sequence[float] | None = option(
        None,
        help="With {mechanism=published}: what no frequency is below; public.",
        group="Mechanism",
        advanced=True,
    )

    def adapted(self, read: ChainRead, *, seed: int | None = None) -> tuple[ChainRead, tuple[str, ...]]:
        """What is counted of each user: all of it, at most a cap, or by strata that are planned; and why."""
        Transitions(self.unit, self.change, 1 if self.unit == "user" else None)
        for name in ("users", "mean_length"):
            if self.unit != "user" and getattr(self, name) is not None:
                raise _needs_users(name, self.unit)
        if seed is not None:
            # A seed repeats everything, the sample of each user too; and is not private.
            read = replace(read, salt=f"seed {seed}")
        sequences = bool({"starts", "ends", "lengths"} & set(texts("parts", self.parts)))
        if sequences and not read.is_log:
            raise InvalidArgument(
                "parts",
                expected="a log for starts, ends and lengths: {by}, {order} and {state}",
                found="trips, which are not sequences",
                names=("by", "order", "state"),
            )
        read = replace(read, sequences=read.sequences or sequences)
        told = read.told_apart()
        if read.discovers:
            from veil.chains.sparse.selection import needs_delta_for_names

            if self.delta == 0.0:
                raise needs_delta_for_names()
            self._check_discovered()
        told += (TIES,) if read.state is not None and read.tie_break is None else ()
        if self.unit != "user":
            if read.cap is not None:
                raise _needs_users("cap", self.unit)
            return read, told
        if read.discovers:
            cap = read.cap or PAIRS_OF_A_USER
            counted_once = f"Counted: of each user at most {cap} different transitions, each once"
            return replace(read, cap=cap, once=True), (counted_once, *told)
        if not read.is_log or read.group is not None:
            if read.cap is None:
                expected = "a number with {unit=user}, for trips and for groups"
                raise InvalidArgument("cap", expected=expected, found="none", names=("unit",))
            return read, told
        public = listed("states", read.states)
        if read.once or (public is not None and self._keeps_large(len(given_states(public).labels))):
            # Every length of sequences together: strata would divide counts that are small already.
            cap = read.cap or PAIRS_OF_A_USER
            counted_once = f"Counted: of each user at most {cap} different transitions, each once"
            return replace(read, cap=cap, once=True), (counted_once, *told)
        plan = plan_users(
            _USUAL_STATES if public is None else len(given_states(public).labels),
            epsilon=self.epsilon,
            users=self.users,
            mean_length=self.mean_length,
            cap=read.cap,
            memory=read.memory,
        )
        guessed = [name for name in ("users", "mean_length") if getattr(self, name) is None]
        better = " and ".join(f"{{{name}}}" for name in guessed)
        guess = f" (a guess; better with {better})" if guessed else ""
        counted = {"cap": None, **plan.options}
        return replace(read, **counted), (f"Counted: {plan.words}{guess}", *told)

    def _check_discovered(self) -> None:
        """Refuse what does not go with states that are discovered."""
        from veil.chains.mechanisms.discovered_chain import people_of
        from veil.chains.sparse.choosing import refuse_parts

        refuse_parts(texts("parts", self.parts), self.floor)
        if self.pairs == "all":
            expected = "large or auto, where states are discovered"
            raise InvalidArgument("pairs", expected=expected, found="all")
        people_of(Transitions(self.unit, self.change, 1 if self.unit == "user" else None), 2)

    def _prepare_discovered(
        self, counts: TransitionCounts, adjacency: Transitions, records: int | None
    ) -> Job[Chain]:
        """A release of the states that enough users have, and of large counts among them."""
        from veil.chains.sparse.discovering import chosen_discovery

        assert counts.visitors is not None
        self._check_discovered()
        choice = chosen_discovery(
            self.mechanism,
            adjacency,
            epsilon=self.epsilon,
            delta=self.delta,
            user_states=counts.visitors.most,
            once=counts.once is not None,
            false_pairs=self.false_pairs,
        )
        return self._job(choice, counts, adjacency, records)

    def _keeps_large(self, states: int) -> bool:
        """Whether only large counts are kept: asked for, or because not all pairs of states would fit."""
        return self.pairs == "large" or (self.pairs == "auto" and states**2 > MOST_CELLS)

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Chain]:
        self.check()
        counts = data if isinstance(data, TransitionCounts) else TransitionCounts(data)
        adjacency = _adjacency(counts, self.unit, self.change)
        if not counts.total:
            raise InvalidData("counts", expected="at least one transition", found="none")
        records = None if self.records is None else integer("records", self.records, least=1)
        if counts.visitors is not None:
            return self._prepare_discovered(counts, adjacency, records)
        if counts.once is not None and self.pairs == "all":
            expected, found = "large, for counts of each pair once a user", "all"
            raise InvalidArgument("pairs", expected=expected, found=found)
        fits = counts.groups is None and self._keeps_large(len(counts))
        if fits or counts.once is not None:
            return self._prepare_large(counts, adjacency, records)
        if self.false_pairs is not None:
            expected = "none where all pairs of states have a noisy count"
            raise InvalidArgument("false_pairs", expected=expected, found=str(self.false_pairs))
        choice = chosen_mechanism(
            self.mechanism,
            tables_of(counts, texts("parts", self.parts)),
            adjacency,
            epsilon=self.epsilon,
            delta=self.delta,
            records=records,
            published=_published(counts, self.floor) if self.mechanism == "published" else None,
            groups=None if counts.groups is None else tuple(counts.groups),
        )
        return self._job(choice, counts, adjacency, records)

    def _prepare_large(
        self, counts: TransitionCounts, adjacency: Transitions, records: int | None
    ) -> Job[Chain]:
        """A release of which only large counts are kept."""
        from veil.chains.sparse.choosing import chosen_sparse, refuse_parts

        refuse_parts(texts("parts", self.parts), self.floor)
        choice = chosen_sparse(
            self.mechanism,
            len(counts),
            adjacency,
            epsilon=self.epsilon,
            delta=self.delta,
            once=counts.once is not None,
            false_pairs=self.false_pairs,
        )
        return self._job(choice, counts, adjacency, records)

    def _job(
        self, choice: Any, counts: TransitionCounts, adjacency: Transitions, records: int | None
    ) -> Job[Chain]:
        """The job for a mechanism that was chosen."""
        # What the user should know, from public facts alone.
        from veil.chains.sparse.discovering import PUBLISHED

        is_listed = counts.visitors is None
        alike = {" ".join(str(state).split()).casefold() for state in counts.states}
        has_users = counts.provenance.has_users and self.unit == "event"
        told = {
            PUBLISHED: not is_listed,
            USERS_SEEN: has_users,
            STATES_ALIKE: is_listed and len(alike) < len(counts.states),
        }
        pure = math.isfinite(choice.mechanism.profile(adjacency).pure_epsilon)
        return Job.prepare(
            choice.mechanism,
            counts,
            adjacency=adjacency,
            epsilon=float(self.epsilon),
            delta=None if pure else self.delta,
            assumptions=() if records is None else (RECORDS_ARE_PUBLIC,),
            chosen=choice.name,
            why=choice.why,
            records=records,
            warnings=tuple(text for text, applies in told.items() if applies),
            told_first=() if is_listed else (PUBLISHED,),
            request=self,
            source=counts,
        )


@dataclass(frozen=True, kw_only=True)
class ChainPlanning(PlanRequest):
    """What to expect of each mechanism for a chain that is counted from a table, without any data."""

    examples = (
        ("", {"states": 63, "records": 2_900_000, "epsilon": 1}),
        ("Which epsilon for an error of 1 %", {"states": 63, "records": 2_900_000, "error": 0.01}),
        (
            "Whole users, of whom a plan chooses how much to count",
            {"states": 17, "records": 4_000_000, "unit": "user", "users": 1_000_000, "epsilon": 1},
        ),
        ("What will survive of a million states", {"states": 1_000_000, "users": 5_000_000, "epsilon": 1}),
        (
            "How many users a state needs that nobody listed",
            {"states": "discover", "unit": "user", "epsilon": 1, "delta": 1e-6},
        ),
    )

    states: str | int = option(
        help="The number of states; or discover, where states are named that enough users have: then the "
        "plan says how many users that takes.",
        short="-s",
        least=2,
    )
    user_states: int | None = option(
        None,
        help="With {states=discover} and {unit=user}: of each user at most so many states count towards "
        "which are named; 10 unless given.",
        least=1,
    )
    records: int | None = option(
        None,
        help="About how many transitions there are, as far as public; where {users} are given, it follows.",
        short="-n",
        least=1,
    )
    epsilon: float | None = option(None, help="Privacy loss; smaller is more private.", short="-e")
    delta: float = option(0.0, help="Failure probability; far below 1/people.", short="-d")
    unit: str = option("event", help=_UNIT, choices=UNITS)
    change: str = option("add-remove", help=_CHANGE, choices=CHANGES)
    cap: int | None = option(None, help=CAP, least=1)
    users: int | None = option(None, help=_USERS, least=1)
    mean_length: float | None = option(None, help=_MEAN_LENGTH, least=1)
    error: float | None = option(
        None, help="The other way round: the epsilon for this error of the next step, such as 0.01."
    )
    pairs: str = option(
        "auto",
        help="Pairs of states with a noisy count, as for a release: all, large, or auto.",
        choices=("auto", "all", "large"),
    )
    false_pairs: int | None = option(
        None, help="With {pairs=large}: about how many pairs that nobody went may be kept.", least=1
    )
    typical: Any = option(
        None,
        help="A public table to plan for (CSV or JSON): transitions from each state (rows) to each, made to "
        "hold as many as {records}; tables of all kinds unless given. Where users are tried out, public "
        "sequences instead: a text file with one per line.",
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.typical)

    def __post_init__(self) -> None:
        # On the command line it is text.
        if isinstance(self.states, str) and self.states.strip().isdecimal():
            object.__setattr__(self, "states", int(self.states))

    @property
    def discovers(self) -> bool:
        """Whether states that nobody listed are to be named."""
        return self.states == DISCOVER

    @property
    def _size(self) -> int:
        """The number of states."""
        if not isinstance(self.states, int):
            raise InvalidArgument("states", expected="a whole number, or discover", found=shown(self.states))
        return self.states

    def _plan_discovered(self) -> DiscoveryPlan:
        """How many users a state needs."""
        from veil.chains.sparse.discovery_plan import plan_discovery

        refused = ("error", "typical", "records", "users", "mean_length")
        for name in refused:
            if getattr(self, name) is not None:
                expected = "none where states are discovered: how many there are is not known"
                raise InvalidArgument(name, expected=expected, found="one")
        if self.pairs == "all":
            expected = "large or auto, where states are discovered"
            raise InvalidArgument("pairs", expected=expected, found="all")
        of_users = self.unit == "user"
        for name in () if of_users else ("cap", "user_states"):
            if getattr(self, name) is not None:
                raise _needs_users(name, self.unit)
        assert self.epsilon is not None
        return plan_discovery(
            Transitions(self.unit, self.change, (self.cap or PAIRS_OF_A_USER) if of_users else None),
            epsilon=self.epsilon,
            delta=self.delta,
            user_states=(self.user_states or STATES_OF_A_USER) if of_users else STATES_OF_A_TRANSITION,
            once=of_users,
            false_pairs=self.false_pairs,
        )

    def check(self) -> None:
        super().check()
        if not self.discovers:
            size = self._size
            if self.user_states is not None:
                expected, found = "{states=discover} with it", f"{size} states"
                raise InvalidArgument("user_states", expected=expected, found=found, names=("states",))
        if self.discovers and self.error is not None:
            expected = "none where states are discovered: how many there are is not known"
            raise InvalidArgument("error", expected=expected, found="one")
        if (self.epsilon is None) == (self.error is None):
            expected, found = "either it or {error}", "both or neither"
            raise InvalidArgument("epsilon", expected=expected, found=found, names=("error",))

    @property
    def tries_users(self) -> bool:
        """Whether made-up users are counted, rather than tables drawn."""
        return (
            self.unit == "user" and self.epsilon is not None and (self.cap is None or self.users is not None)
        )

    @property
    def keeps_large(self) -> bool:
        """Whether only large counts would be kept."""
        return self.pairs == "large" or (self.pairs == "auto" and self._size**2 > MOST_CELLS)

    def _plan_large(self) -> SparsePlan:
        """What survives where only large counts are kept."""
        from veil.chains.sparse.planning import plan_sparse

        for name in ("error", "typical"):
            if getattr(self, name) is not None:
                expected = "none where only large counts are kept"
                raise InvalidArgument(name, expected=expected, found="one")
        assert self.epsilon is not None
        of_users = self.unit == "user"
        cap = (self.cap or PAIRS_OF_A_USER) if of_users else None
        each = (ASSUMED_LENGTH if self.mean_length is None else self.mean_length) - 1.0
        if of_users and cap is not None:
            each = min(each, float(cap))
        records = self.records
        if self.users is not None and (records is None or of_users):
            records = max(1, round(self.users * each))
        if records is None:
            expected, names = "it, or {users}", ("users",)
            raise InvalidArgument("records", expected=expected, found="neither", names=names)
        return plan_sparse(
            self._size,
            records,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=Transitions(self.unit, self.change, cap),
            once=of_users,
            false_pairs=self.false_pairs,
        )

    def plan(self, progress: Progress | None = None) -> AnyPlan:
        return self._planned(ranges=True)

    def quick_plan(self) -> AnyPlan:
        return self._planned(ranges=False)

    def _planned(self, *, ranges: bool) -> AnyPlan:
        self.check()
        if self.discovers:
            return self._plan_discovered()
        if self.keeps_large:
            return self._plan_large()
        if self.false_pairs is not None:
            expected = "none where all pairs of states have a noisy count"
            raise InvalidArgument("false_pairs", expected=expected, found=str(self.false_pairs))
        if self.tries_users:
            assert self.epsilon is not None
            public: dict[str, Any] = {"users": self.users, "mean_length": self.mean_length}
            plan = plan_users(self._size, epsilon=self.epsilon, cap=self.cap, **public)
            budget: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "change": self.change}
            trial = try_users(self._size, plan, typical=self.typical, ranges=ranges, **budget, **public)
            assumed = self.users or ASSUMED_USERS, self.mean_length or ASSUMED_LENGTH
            return UserForecast(
                plan, trial, self.epsilon, self.change, assumed, given=self.typical is not None
            )
        if self.records is None:
            expected, names = "it, or {users} with {unit=user}", ("users", "unit")
            raise InvalidArgument("records", expected=expected, found="neither", names=names)
        adjacency = Transitions(self.unit, self.change, self.cap)
        typical = None if self.typical is None else read_matrix(self.typical, "typical").dense()
        size: dict[str, Any] = {"delta": self.delta, "adjacency": adjacency, "typical": typical}
        epsilon = self.epsilon
        if epsilon is None:
            assert self.error is not None
            epsilon = least_epsilon_for_chain(self._size, self.records, error=self.error, **size)
        asked = plan_chain(self._size, self.records, epsilon=epsilon, ranges=ranges, **size)
        return asked if self.epsilon is not None else replace(asked, error=self.error)

    def preview(self, plan: Any) -> Preview | None:
        from veil.chains.planning import like_table
        from veil.chains.preview import preview_chain

        if not isinstance(plan, ChainPlan):
            return None
        if self.typical is None:
            return preview_chain(plan)
        public = read_matrix(self.typical, "typical").dense()
        return preview_chain(plan, like_table(public, self._size, plan.records))


def _needs_users(field: str, unit: str) -> InvalidArgument:
    return InvalidArgument(field, expected="{unit=user} with it", found=f"{{unit={unit}}}", names=("unit",))


def _adjacency(counts: TransitionCounts, unit: str, change: str) -> Transitions:
    if unit == "user" and counts.cap is None:
        raise InvalidArgument(
            "unit",
            expected="counts with a cap on the transitions of each user",
            found="counts without one",
            hint="Count with {by} and {cap=10}.",
            names=("by", "cap"),
        )
    if unit == "row" and counts.provenance.of_trips:
        expected = "event: one row of a table of trips is one transition"
        raise InvalidArgument("unit", expected=expected, found="row")
    if unit != "user" and counts.cap is not None:
        raise InvalidArgument(
            "unit",
            expected="user, since the counts hold at most so many transitions of each user",
            found=shown(unit),
            hint="One event more can change which of a user's transitions are counted.",
        )
    return Transitions(unit, change, counts.cap if unit == "user" else None)


def _published(counts: TransitionCounts, floor: Any) -> Published:
    if counts.groups is not None:
        raise InvalidArgument("mechanism", expected="another one for groups", found="published")
    # The published form takes the sizes of the rows as public, and states so in the release.
    return Published.of(floor, np.asarray(counts.matrix.sum(axis=1)).tolist(), len(counts))
