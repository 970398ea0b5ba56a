"""What can be asked of the counting: the columns, the public list of states, how much of each user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from veil.chains.counting.counting import count, look_for_states, with_times
from veil.chains.counting.question import Question
from veil.chains.transition_counts import Provenance, TransitionCounts
from veil.core.checks import on_progress
from veil.core.errors import InvalidArgument
from veil.core.kind import Progress
from veil.core.request import ReadRequest, option
from veil.tables.engines.duck import DuckEngine
from veil.tables.engines.opening import open_engine
from veil.tables.engines.protocol import needed_columns
from veil.tables.given import files_among, groups_from, listed, pairs
from veil.tables.sequences import SequenceFile as SequenceFile
from veil.tables.sequences import as_log
from veil.tables.source_options import query_option, table_option
from veil.tables.states import given_states, merged, with_other
from veil.tables.times import checked_format, time_format_option

CAP = "With {unit=user}: the most transitions counted of one, sampled at random; planned unless given."
_INPUT, _STATES, _COUNTS = "Input", "States", "What is counted"
_MOST_NAMED = 3
# In the place of a list: the states that were found, of which some are named privately.
DISCOVER = "discover"
TOLD_APART = (
    "Labels that several states share in {{states}} ({number}: {some}) are told apart by what stands in the "
    "data, in brackets; {{merge_labels}} counts states with the same label as one"
)
# The columns of sequences that were read into a log.
_LOG = {"by": "sequence", "order": "place", "state": "state"}


@dataclass(frozen=True, kw_only=True)
class ChainRead(ReadRequest):
    """Count transitions in a table of trips, a log of states or a file of sequences."""

    source: Any = option(
        help="CSV, Parquet or JSON lines (globs too), a .duckdb file, postgresql://..., or with {lines} a "
        "text file with one sequence per line.",
        secret=True,
    )
    origin: str | None = option(
        None, help="Column of the state that a transition leaves.", flag="--from", group=_INPUT, column=True
    )
    destination: str | None = option(
        None, help="Column of the state that it enters.", flag="--to", group=_INPUT, column=True
    )
    by: str | None = option(
        None, help="Column that says who: a user, a device, a session.", group=_INPUT, column=True
    )
    order: str | None = option(None, help="Column that says when.", group=_INPUT, column=True)
    state: str | None = option(None, help="Column of the state, in a log.", group=_INPUT, column=True)
    tie_break: str | None = option(
        None, help="Column that orders rows of the same time.", group=_INPUT, column=True
    )
    time_format: str | None = time_format_option()
    lines: bool = option(
        False, help="The input is text, one sequence of states per line.", flag="--sequences", group=_INPUT
    )
    skip: int = option(0, help="With {lines}: lines before the first one.", least=0, group=_INPUT)
    separator: str | None = option(
        None, help="With {lines}: between states; white space otherwise.", group=_INPUT
    )
    table: str | None = table_option()
    query: str | None = query_option("counted")
    states: Any = option(
        None,
        help="The public list of states: a file (CSV; zones.csv:id:name takes two of its columns), a,b,c, or "
        "1..63. Without it the states found are taken, and their list is assumed public. discover: of the "
        "states found those that enough users have are named, under epsilon and delta; their names are "
        "published as they stand.",
        group=_STATES,
    )
    other: str | int | None = option(
        None, help="A state for everything that is not on the list.", group=_STATES
    )
    drop_unlisted: bool = option(
        False, help="Leave out rows whose state is not on the list; a public choice.", group=_STATES
    )
    merge: Mapping[Any, Any] | str | None = option(
        None,
        help="States to count as others or as new ones, a public choice: a=b,c=b, a CSV of two columns, or "
        "zones.csv:id:borough.",
        group=_STATES,
    )
    merge_labels: bool = option(
        False, help="With {states} of two columns: states with the same label are one.", group=_STATES
    )
    group: str | None = option(
        None, help="One chain for each value of this column.", group=_COUNTS, column=True
    )
    hour_of: str | None = option(
        None,
        help="One chain for each hour of the day, 0 to 23, of the times in this column.",
        group=_COUNTS,
        column=True,
    )
    weekday_of: str | None = option(
        None,
        help="One chain for each day of the week, Monday to Sunday, of this column.",
        group=_COUNTS,
        column=True,
    )
    month_of: str | None = option(
        None,
        help="One chain for each month, January to December, of this column.",
        group=_COUNTS,
        column=True,
    )
    groups: Iterable[Any] | str | None = option(
        None,
        help="The public values of {group}: a,b,c or 0..23. Of hours, weekdays and months all, unless given.",
        group=_COUNTS,
    )
    drop_unlisted_groups: bool = option(
        False, help="Leave out transitions whose group is not in {groups}; a public choice.", group=_COUNTS
    )
    cap: int | None = option(None, help=CAP, least=1, group=_COUNTS)
    strata: Sequence[tuple[int, int]] | None = option(
        None,
        help="Pairs (least number of states, cap): users with longer sequences are sampled differently.",
        in_command=False,
    )
    once: bool = option(
        False,
        help="With {cap}: each pair of states counts once for each user, and the cap is one of different "
        "pairs: less noise for chains of many states.",
        group=_COUNTS,
    )
    user_states: int | None = option(
        None,
        help="With {states=discover} and {cap}: of each user at most so many states count towards which are "
        "named, sampled at random; 10 unless given.",
        least=1,
        group=_COUNTS,
        advanced=True,
    )
    memory: int = option(1, help="How many past states matter: 1 or 2.", least=1, most=2, group=_COUNTS)
    second_cap: int | None = option(
        None, help="With {memory=2}: the cap of those counts.", least=1, group=_COUNTS, advanced=True
    )
    sequences: bool = option(
        False,
        help="Also count where sequences start and end, and their lengths.",
        flag="--count-sequences",
        group=_COUNTS,
        advanced=True,
    )
    salt: str | None = option(
        None,
        help="Fixes which transitions of a user are sampled, for experiments; secret otherwise.",
        secret=True,
        group=_COUNTS,
        advanced=True,
    )

    @property
    def is_log(self) -> bool:
        """Whether consecutive states are counted, rather than trips."""
        return self.state is not None or self.lines

    @property
    def discovers(self) -> bool:
        """Whether of the states found those are named that enough users have."""
        return isinstance(self.states, str) and self.states == DISCOVER

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.source, None if self.discovers else self.states, self.merge)

    def check(self) -> None:
        super().check()
        if not self.lines and (self.skip or self.separator is not None):
            expected, names = "it, with {skip} or {separator}", ("skip", "separator")
            raise InvalidArgument("lines", expected=expected, found="none", names=names)
        if self.drop_unlisted and (self.states is None or self.other is not None):
            expected, names = "{states} with it, and no {other}", ("states", "other")
            found = "no states" if self.states is None else "both"
            raise InvalidArgument("drop_unlisted", expected=expected, found=found, names=names)
        for name in ("other", "drop_unlisted", "merge", "merge_labels") if self.discovers else ():
            if getattr(self, name):
                expected = "none with {states=discover}"
                raise InvalidArgument(name, expected=expected, found="one", names=("states",))
        if self.user_states is not None and not (self.discovers and self.cap is not None):
            raise InvalidArgument(
                "user_states",
                expected="{states=discover} and {cap} with it",
                found="none",
                names=("states", "cap"),
            )
        if self.merge_labels and self.states is None:
            expected = "{states} with it"
            raise InvalidArgument("merge_labels", expected=expected, found="none", names=("states",))

    def told_apart(self) -> tuple[str, ...]:
        """That several states were given the same label, in a sentence; public, as the list of states is."""
        if self.discovers or self.merge_labels or not isinstance(self.states, (str, Path, Mapping)):
            return ()
        shared = given_states(listed("states", self.states)).shared
        some = ", ".join(shared[:_MOST_NAMED]) + (", ..." if len(shared) > _MOST_NAMED else "")
        return (TOLD_APART.format(number=len(shared), some=some),) if shared else ()

    def read(self, progress: Progress | None = None) -> TransitionCounts:
        self.check()
        tell = on_progress("progress", progress)
        source = SequenceFile(self.source, self.separator, self.skip) if self.lines else self.source
        log = as_log(source, is_sampled=self.cap is not None or self.strata is not None)
        for field in () if log is None else _LOG:
            if getattr(self, field) is not None:
                raise InvalidArgument(field, expected="none for a source of sequences", found="a column")
        asked = {one.name: getattr(self, one.name) for one in fields(Question) if one.init}
        asked |= {"groups": groups_from(self.groups), **({} if log is None else _LOG)}
        question, time_format = Question(**asked), checked_format(self.time_format)
        states, merge = None, pairs("merge", self.merge)
        if self.states is not None and not self.discovers:
            # Before anything is read: what is wrong with the call itself.
            columns_of_data = list(question.roles.values())
            given = listed("states", self.states)
            states = given_states(given, columns=columns_of_data, joined=self.merge_labels)
            states = states if self.other is None else with_other(states, self.other)
            states.check()
            merged(states, merge)
            question.check_size(len(states.labels))
        tell("looking at the columns")
        source = source if log is None else log
        engine = open_engine(
            source,
            question.roles,
            table=self.table,
            query=self.query,
            has_format=time_format is not None,
        )
        try:
            if progress is not None and isinstance(engine, DuckEngine):
                engine.tell = progress
            columns = needed_columns(engine, question.roles, floats=("group",))
            columns = with_times(engine, question, columns, time_format)
            if states is None and self.other is not None:
                tell("looking for states")
                states = look_for_states(engine, question, columns, self.other)
            tell("counting")
            provenance = Provenance(
                layout_guessed=engine.guesses_layout,
                without_names=log is not None,
                of_trips=not question.is_log,
                unchecked=not engine.row_by_row,
            )
            return count(engine, question, columns, states, merge, provenance)
        finally:
            engine.close()
