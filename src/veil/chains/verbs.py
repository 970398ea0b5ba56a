"""Read, plan and release chains that are counted from data."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from veil.chains.planning import ChainPlan
from veil.chains.reading import ChainRead
from veil.chains.requests import ChainPlanning, ChainRelease
from veil.chains.sparse.discovery_plan import DiscoveryPlan
from veil.chains.sparse.planning import SparsePlan
from veil.chains.transition_counts import TransitionCounts
from veil.chains.user_plan import UserForecast
from veil.core.account import Account
from veil.core.errors import with_fields
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.matrices.chain import Chain

REPEATED = "the same counts are released again without a ledger: what the releases cost adds up"
_released: dict[int, weakref.ref[TransitionCounts]] = {}


def read(
    source: Any,
    *,
    origin: str | None = None,
    destination: str | None = None,
    by: str | None = None,
    order: str | None = None,
    state: str | None = None,
    tie_break: str | None = None,
    time_format: str | None = None,
    lines: bool = False,
    skip: int = 0,
    separator: str | None = None,
    table: str | None = None,
    query: str | None = None,
    states: Any = None,
    other: str | int | None = None,
    drop_unlisted: bool = False,
    merge: Mapping[Any, Any] | str | None = None,
    merge_labels: bool = False,
    group: str | None = None,
    hour_of: str | None = None,
    weekday_of: str | None = None,
    month_of: str | None = None,
    groups: Iterable[Any] | str | None = None,
    drop_unlisted_groups: bool = False,
    cap: int | None = None,
    strata: Sequence[tuple[int, int]] | None = None,
    once: bool = False,
    user_states: int | None = None,
    memory: int = 1,
    second_cap: int | None = None,
    sequences: bool = False,
    salt: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> TransitionCounts:
    """Count how often one state followed another, where the data is. The counts are sensitive, not a release.

    source: a path or glob (CSV, Parquet, JSON lines, DuckDB), a pandas, Polars, Arrow, Ibis or Spark
        table, a DuckDB relation or connection, a "postgresql://" address, a SequenceFile, or a list of
        sequences. table, query: which table of a database, or one SELECT: of a database, or of a file or
        frame, which it calls input, as in "SELECT hour(CAST(t AS TIMESTAMP)) AS hour, o, d FROM input".
    origin, destination: columns of trips, one transition per row; `by` may say who made it.
    by, order, state: columns of a log; consecutive states of one `by` are counted. Rows of the same time
        are ordered by tie_break (a column), then by the order of the states.
    time_format: how times that are text are written: "iso" (2026-11-15 10:00, with or without T and an
        offset), "day-first" (15/11/2026), "month-first" (11/15/2026 3:04 PM), or a pattern such as
        "%d.%m.%Y %H:%M". Nothing is guessed: without it they are ISO, or texts of one length such as 0042.
    lines: the source is text with one sequence of states per line. skip, separator: lines before the first
        sequence, and what is between states; white space otherwise.
    states: the public list: labels, {what is in the data: label}, or a file. Without it, the labels
        found, sorted. "discover": of those found a release names the ones that enough users have; of each
        user at most `user_states` of them count (10 unless given). other: a state that takes in all that is
        not on the list, and empty cells. drop_unlisted: leave out rows with such a state instead; both are
        a public choice.
    merge: {state: state}, counts the first as the second, which may be a new label; or a file of two columns,
        or "zones.csv:id:borough". merge_labels: states whose labels in `states` are equal are one.
    group, groups: a column and its public values, one table of counts each; a transition of a log belongs
        to the row that it leaves. hour_of, weekday_of, month_of: instead of group, a column of times, of
        which this part is the group; its values are known (0 to 23, Monday to Sunday, January to December).
        drop_unlisted_groups: leave out transitions of other groups, and of none; a public choice.
    cap: of each user at most so many transitions, sampled at random in the order of a hash of the salt
        (secret unless given), the user and the transition's place. strata: [(least number of states, cap),
        ...], to sample users with longer sequences differently; `plan_users` chooses them. once: each pair
        of states counts once for each user, and the cap is one of different pairs.
    memory: 2 also counts by the state before, with second_cap as a cap of its own. sequences: also count
        starts, ends and lengths. progress: a function that is called with what is being done.

    >>> from veil import chains
    >>> trips = {"from": ["home", "home", "work"], "to": ["work", "home", "home"]}
    >>> chains.read(trips, origin="from", destination="to").matrix.tolist()
    [[1, 1], [1, 0]]
    """
    asked = ChainRead.given(locals())
    counts = asked.read(progress)
    for text in asked.told_apart():
        warnings.warn(with_fields(text, None), UserWarning, stacklevel=2)
    return counts


def plan(
    *,
    states: int | str,
    user_states: int | None = None,
    records: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    unit: str = "event",
    change: str = "add-remove",
    cap: int | None = None,
    users: int | None = None,
    mean_length: float | None = None,
    error: float | None = None,
    pairs: str = "auto",
    false_pairs: int | None = None,
    typical: Any = None,
) -> ChainPlan | UserForecast | SparsePlan | DiscoveryPlan:
    """What to expect of each mechanism for a chain that is counted from a table, from public numbers alone.

    states: how many there are; or "discover", where nobody listed them: then the plan says how many users a
        state needs to be named, of each of whom at most user_states states count.
    records: about how many transitions, as far as that is public; where users are given and it is not, it
        follows from them.
    epsilon, delta: the total cost; or error, the other way round: the epsilon at which the expected error
        of the next step (total variation) is this small.
    unit, change: what is hidden, as in `release`.
    cap, users, mean_length: with unit="user", the most transitions counted of one user, about how many users
        there are, and about how many states a sequence has; without a cap, strata are planned and tried.
    pairs, false_pairs: as in `release`; with "large", and of more than 4,472 states, the plan says what is
        kept.
    typical: a public table of transitions to plan for; tables of all kinds unless given. Where users are
        tried out (unit="user" without a cap, or with `users`), public sequences instead: lists of states, or
        a text file.

    >>> from veil import chains
    >>> chains.plan(states=10, records=100_000, epsilon=1.0).best.name
    'geometric'
    """
    return ChainPlanning.given(locals()).plan()


def release(
    counts: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    pairs: str = "auto",
    false_pairs: int | None = None,
    unit: str = "event",
    change: str = "add-remove",
    parts: Sequence[str] | str = (),
    records: int | None = None,
    floor: float | Sequence[float] | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Chain]:
    """Release the Markov chain behind counted transitions. By default one transition is hidden.

    counts: what `read` returned, or a square table of counts.
    epsilon, delta: the total cost. delta=0 for pure privacy.
    mechanism: "auto" (least noise), "geometric", "gaussian", "dirichlet", or "published": the paper's form,
        which holds only under a condition on the data and needs a public `floor`.
    pairs: which pairs of states have a noisy count: "all" (up to 4,472 states), "large" (noise on all, of
        which large counts are kept, for millions of states), or "auto": all where they fit. false_pairs: with
        "large", about how many pairs that nobody went may be kept; more of them lower the threshold.
    unit: what is hidden: "event", one transition; "row", one row of a log; "user", a whole person, for
        counts with a cap.
    change: "add-remove" or "replace" (of a row also "replace-state").
    parts: further tables to release under the same epsilon: "starts", "ends", "lengths" (of sequences),
        "sizes" (how many leave each state; noisy counts have them anyway).
    records: the number of transitions, where that is public; "dirichlet" is tuned to it.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    The value of the release is a `veil.Chain`; `chains.model(out)` has the rest.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> out = chains.release(counts, epsilon=1.0, rng=1)
    >>> out.value, out.epsilon, bool(abs(out.value.matrix[0, 1] - 0.2) < 0.02)
    (<veil.Chain of 2 states>, 1.0, True)
    """
    job = ChainRelease.given(locals()).prepare(counts)
    is_unbudgeted = ledger is None and rng is None and isinstance(counts, TransitionCounts)
    key = id(counts)
    known = _released.get(key)
    if is_unbudgeted and known is not None and known() is counts:
        job = replace(job, warnings=(*job.warnings, REPEATED))
    out = run_with_warnings(job, ledger=ledger, rng=rng)
    if is_unbudgeted:
        _released[key] = weakref.ref(counts, lambda _: _released.pop(key, None))
    return out
