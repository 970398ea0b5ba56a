"""Counting transitions where the data lives; only the counts come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from veil.chains.counting.counting import count, look_for_states
from veil.chains.counting.tally import check_size
from veil.chains.transition_counts import Provenance, TransitionCounts
from veil.core.checks import items, on_progress
from veil.core.errors import InvalidArgument
from veil.tables.engines.columns import needed_columns
from veil.tables.engines.opening import open_engine
from veil.tables.questions import Question, ask
from veil.tables.sequences import as_log
from veil.tables.states import given_states, merged, text_of, with_other

Progress = Callable[[str], None]


def count_transitions(
    source: Any,
    *,
    origin: str | None = None,
    destination: str | None = None,
    by: str | None = None,
    order: str | None = None,
    state: str | None = None,
    states: Any = None,
    other: str | int | None = None,
    drop_unlisted: bool = False,
    cap: int | None = None,
    strata: Sequence[tuple[int, int]] | None = None,
    second_cap: int | None = None,
    memory: int = 1,
    sequences: bool = False,
    group: str | None = None,
    groups: Iterable[Any] | None = None,
    merge: Mapping[Any, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
    tie_break: str | None = None,
    salt: str | None = None,
    progress: Progress | None = None,
) -> TransitionCounts:
    """How often one state followed another. The arguments are those of `chains.read`."""
    tell = on_progress("progress", progress)
    log = as_log(source, is_sampled=cap is not None or strata is not None)
    if log is not None:
        for field, name in (("by", by), ("order", order), ("state", state)):
            if name is not None:
                raise InvalidArgument(field, expected="none for a source of sequences", found="a column")
        source, by, order, state = log, "sequence", "place", "state"
    question = ask(
        origin=origin,
        destination=destination,
        by=by,
        order=order,
        state=state,
        tie_break=tie_break,
        group=group,
        cap=cap,
        strata=strata,
        second_cap=second_cap,
        memory=memory,
        sequences=sequences,
        drop_unlisted=drop_unlisted,
        salt=salt,
    )
    if drop_unlisted and (states is None or other is not None):
        expected, found = "{states} with it, and no {other}", "no states" if states is None else "both"
        names = ("states", "other")
        raise InvalidArgument("drop_unlisted", expected=expected, found=found, names=names)
    chains = _groups(question, groups)
    named = list(question.roles.values())
    listed = None if states is None else given_states(states, columns=named)
    if listed is not None:
        listed = listed if other is None else with_other(listed, other)
        # Before anything is read: what is wrong with the call itself.
        listed.check()
        merged(listed, merge)
        check_size(question, len(listed))
    tell("looking at the columns")
    engine = open_engine(source, question.roles, table=table, query=query)
    try:
        if progress is not None and hasattr(engine, "watch"):
            engine.watch(progress)
        columns = needed_columns(engine, question.roles)
        if listed is None and other is not None:
            tell("looking for states")
            listed = look_for_states(engine, question, columns, other)
        tell("counting")
        provenance = Provenance(
            layout_guessed=engine.guesses_layout,
            without_names=log is not None,
            of_trips=not question.is_log,
        )
        return count(engine, question, columns, listed, chains, merge, provenance)
    finally:
        engine.close()


def _groups(question: Question, groups: Iterable[Any] | None) -> tuple[str, ...]:
    if question.group is None:
        if groups is not None:
            raise InvalidArgument("groups", expected="{group} as well", found="none", names=("group",))
        return ()
    if groups is None or isinstance(groups, str):
        raise InvalidArgument("groups", expected="the public list of groups", found="none")
    listed = tuple(map(text_of, items("groups", groups, expected="the public list of groups")))
    if not listed or len(set(listed)) < len(listed):
        raise InvalidArgument("groups", expected="labels that all differ", found="none or one twice")
    return listed
