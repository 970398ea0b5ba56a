"""A private Markov chain from counted transitions, in one call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veil.chains.adjacency import UNITS, Transitions
from veil.chains.chain_mechanism import chosen_mechanism
from veil.chains.chain_tables import tables_of
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.published_chain import Published
from veil.chains.transition_counts import TransitionCounts
from veil.core.account import Account
from veil.core.checks import choice, delta_of, integer, shown
from veil.core.errors import InvalidArgument, InvalidData, PrivacyWarning
from veil.core.record import Release
from veil.core.releasing import release

USERS_SEEN = (
    "the data says who made each transition, but the unit 'event' hides one transition at a time: someone "
    "with many of them is hidden less. The unit 'user', with a cap, hides all that one person contributed"
)
RECORDS_ARE_PUBLIC = "the stated number of transitions is public"
STATES_ALIKE = "some states differ only in spaces or in upper and lower case; are they the same?"
REPEATED = "the same counts are released again without a ledger: what the releases cost adds up"


@dataclass(frozen=True, slots=True)
class ChainJob:
    """A release that is ready to be made: nothing has been drawn or charged.

    chosen: the mechanism's short name; why: the reason for it. epsilon: what it will be charged.
    """

    counts: TransitionCounts
    mechanism: PrivateChain
    adjacency: Transitions
    chosen: str
    why: str
    epsilon: float
    delta: float
    records: int | None
    warnings: tuple[str, ...]

    def run(self, *, ledger: Account | None = None, rng: Any = None) -> Release:
        """Reserve, draw, confirm."""
        out = release(
            self.mechanism,
            self.counts,
            adjacency=self.adjacency,
            delta=self.delta or None,
            epsilon=self.epsilon,
            ledger=ledger,
            rng=rng,
        )
        if self.records is None:
            return out
        return replace(out, records=self.records, assumptions=(*out.assumptions, RECORDS_ARE_PUBLIC))


def chain_job(
    counts: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    unit: str = "event",
    change: str = "add-remove",
    parts: Sequence[str] = (),
    records: int | None = None,
    floor: float | Sequence[float] | None = None,
) -> ChainJob:
    """Check the counts, choose and calibrate the mechanism from public numbers alone; see `fit_chain`."""
    counts = counts if isinstance(counts, TransitionCounts) else TransitionCounts(counts)
    delta = delta_of(delta)
    adjacency = _adjacency(counts, unit, change)
    if not counts.total:
        raise InvalidData("counts", expected="at least one transition", found="none")
    records = None if records is None else integer("records", records, least=1)
    is_published = isinstance(mechanism, str) and mechanism == "published"
    choice = chosen_mechanism(
        mechanism,
        tables_of(counts, parts),
        adjacency,
        states=len(counts),
        epsilon=epsilon,
        delta=delta,
        records=records,
        published=_published(counts, floor) if is_published else None,
        groups=None if counts.groups is None else tuple(counts.groups),
    )
    pure = math.isfinite(choice.mechanism.profile(adjacency).pure_epsilon)
    return ChainJob(
        counts=counts,
        mechanism=choice.mechanism,
        adjacency=adjacency,
        chosen=choice.name,
        why=choice.why,
        epsilon=float(epsilon),
        delta=0.0 if pure else delta,
        records=records,
        warnings=_warnings(counts, unit),
    )


def fit_chain(
    counts: Any,
    epsilon: float,
    *,
    delta: float = 0.0,
    mechanism: str = "auto",
    unit: str = "event",
    change: str = "add-remove",
    parts: Sequence[str] = (),
    records: int | None = None,
    floor: float | Sequence[float] | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release:
    """Release the Markov chain behind counted transitions.

    counts: what `count_transitions` returned, or a `TransitionCounts`.
    epsilon, delta: the total cost. delta=0 for pure privacy.
    mechanism: "auto" (least noise), "geometric", "gaussian", "dirichlet", or "published": the paper's form,
        which holds only under a condition on the data and needs a public `floor`.
    unit: what is hidden: "event", one transition; "row", one row of a log; "user", a whole person, for
        counts with a cap.
    change: "add-remove" or "replace" (of a row also "replace-state").
    parts: further tables to release under the same epsilon: "starts", "ends", "lengths" (of sequences),
        "sizes" (how many leave each state; noisy counts have them anyway).
    records: the number of transitions, where that is public; "dirichlet" is tuned to it.

    The value of the release is a `veil.Chain`; `release.model` has the rest.

    >>> import veil
    >>> counts = veil.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> out = veil.fit_chain(counts, epsilon=1.0, rng=1)
    >>> out.value, out.epsilon, bool(abs(out.value.matrix[0, 1] - 0.2) < 0.02)
    (<veil.Chain of 2 states>, 1.0, True)
    """
    job = chain_job(
        counts,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        unit=unit,
        change=change,
        parts=parts,
        records=records,
        floor=floor,
    )
    if rng is None:
        # A seeded release is not private and says so: nothing to warn of.
        _warn(job, ledger)
    out = job.run(ledger=ledger, rng=rng)
    if rng is None and ledger is None:
        job.counts.note_release()
    return out


def _warnings(counts: TransitionCounts, unit: str) -> tuple[str, ...]:
    """What the user should know, from public facts alone."""
    alike = len({" ".join(str(state).split()).casefold() for state in counts.states}) < len(counts)
    said = {USERS_SEEN: counts.has_users and unit == "event", STATES_ALIKE: alike}
    return tuple(text for text, applies in said.items() if applies)


def _warn(job: ChainJob, ledger: Account | None) -> None:
    for text in job.warnings:
        warnings.warn(text, PrivacyWarning, stacklevel=3)
    if ledger is None and job.counts.was_released:
        warnings.warn(REPEATED, PrivacyWarning, stacklevel=3)


def _adjacency(counts: TransitionCounts, unit: str, change: str) -> Transitions:
    choice("unit", unit, UNITS)
    if unit == "user" and counts.cap is None:
        raise InvalidArgument(
            "unit",
            expected="counts with a cap on the transitions of each user",
            found="counts without one",
            hint="Count with by=... and cap=..., such as cap=10.",
        )
    if unit == "row" and counts.of_trips:
        raise InvalidArgument(
            "unit", expected="event: one row of a table of trips is one transition", found="row"
        )
    if unit != "user" and counts.cap is not None:
        raise InvalidArgument(
            "unit",
            expected='"user", since the counts hold at most so many transitions of each user',
            found=shown(unit),
            hint="One event more can change which of a user's transitions are counted.",
        )
    return Transitions(unit, change, counts.cap if unit == "user" else None)


def _published(counts: TransitionCounts, floor: Any) -> Published:
    if counts.groups is not None:
        raise InvalidArgument("mechanism", expected="another one for groups", found="published")
    # The published form takes the sizes of the rows as public, and says so in the release.
    return Published.of(floor, np.asarray(counts.matrix.sum(axis=1)).tolist(), len(counts))
