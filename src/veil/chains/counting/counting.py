"""One count: the query is run, labels become places, and the grouped rows become arrays of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.counting.queries import MOST_GROUPS, CountingQuery
from veil.chains.counting.question import Question
from veil.chains.lengths import LengthBins
from veil.chains.transition_counts import (
    MOST_FULL,
    OncePerUser,
    Provenance,
    Sequences,
    Stratum,
    TransitionCounts,
    Visitors,
)
from veil.core.errors import InvalidArgument, InvalidData
from veil.tables import complaints
from veil.tables.engines.protocol import Column, Engine, Kind, whole_floats
from veil.tables.states import Places, StateList, found_states, merged, text_of, with_other
from veil.tables.times import PARTS, ordered_times, part_of
from veil.vectors.counts import Integers

# Codes of cells that are not on the list.
UNKNOWN, ABSENT = -1, -2
# A transition leaves one state and enters another one.
STATES_OF_A_TRANSITION = 2


def with_times(
    engine: Engine, question: Question, columns: Mapping[str, Column], time_format: str | None
) -> dict[str, Column]:
    """The columns by role, with times in the place of texts, and the group that is a part of a time."""
    found = dict(columns)
    if "order" in found:
        found["order"] = ordered_times(engine, found["order"], question.roles["order"], time_format)
    if question.derived is None and "group" in found and found["group"].kind is Kind.FLOAT:
        found["group"] = whole_floats(engine, found["group"], question.roles["group"])
    if question.derived is not None:
        column, name = found.pop(question.derived), question.roles[question.derived]
        found["group"] = part_of(engine, column, name, question.derived, time_format)
    return found


def look_for_states(
    engine: Engine, question: Question, columns: Mapping[str, Column], other: str | int
) -> StateList:
    """The labels found, and the state of all others, which here takes in the empty cells."""
    labels = engine.run(CountingQuery(question, columns, engine, None).distinct_sql)
    if labels.num_rows > MOST_GROUPS:
        raise _too_many(question)
    if labels.num_rows == 0:
        raise complaints.empty_table()
    present = [label for label in labels.column("state").to_pylist() if label is not None]
    return with_other(found_states(present, untyped=engine.guesses_layout), other)


def count(
    engine: Engine,
    question: Question,
    columns: Mapping[str, Column],
    listed: StateList | None,
    merge: Mapping[Any, Any] | None,
    provenance: Provenance,
) -> TransitionCounts:
    """Everything that the question asks for."""
    # Plain trips are grouped as they are, as fast as anyone's own query; codes sort faster in logs.
    coded = listed if question.is_log or question.is_capped else None
    if question.once and (merge or (listed is not None and listed.joined)):
        # Two pairs that become one would count twice for a user.
        raise InvalidArgument("merge", expected="none with {once}", found="some", names=("once",))
    query = CountingQuery(question, columns, engine, coded)
    table = engine.run(query.sql)
    if table.num_rows == 0:
        raise complaints.empty_table()
    if table.num_rows > query.most_groups:
        raise _too_many(question)
    if question.by is not None and numbers_of(table.column("missing")).any():
        raise _complaint(query)
    visits = engine.run(query.visitors_sql) if question.user_states is not None else None
    if visits is not None and visits.num_rows > MOST_GROUPS:
        raise _too_many(question)
    if question.discovers:
        states = _discovered(query, table, visits)
    else:
        states = _found(query, table) if listed is None else listed
        states.check()
    places = merged(states, merge)
    question.check_size(len(states.labels))
    table, codes = _codes(query, table, states)
    origin = replace(
        provenance, states_found=states.found and not question.discovers, has_users=question.by is not None
    )
    users = None
    if visits is not None:
        users = np.zeros(len(states.labels), dtype=np.int64)
        users[codes_of(visits.column("state"), states.texts)] = numbers_of(visits.column("users"))
    return _tally(question, table, codes, places, origin, users)


def _too_many(question: Question) -> InvalidData:
    return complaints.too_many([question.roles[role] for role in question.state_names], MOST_GROUPS)


def _tally(
    question: Question,
    table: Any,
    codes: Mapping[str, NDArray[np.int64]],
    places: Places,
    provenance: Provenance,
    users: Integers | None = None,
) -> TransitionCounts:
    """Grouped rows, with the places of their states in the list (negative where there is none), as arrays."""
    from scipy.sparse import csr_array

    size = len(places.labels)
    moved = codes["next_state"] >= 0
    # A last place for those that have none, which ABSENT (-2) and the like must not reach by wrapping.
    target, nowhere = np.append(places.targets, size), len(places.targets)
    origins = target[codes["state"]]
    ends = target[np.where(moved, codes["next_state"], nowhere)]
    seen = numbers_of(table.column("seen"))
    kept = np.where(moved, numbers_of(table.column("kept")) if question.is_capped else seen, 0)
    strata, groups, second, sequences = [], None, None, None
    group = np.zeros(len(seen), np.int64) if question.group is None else _groups(question, table)
    kept = np.where(group >= 0, kept, 0)
    if question.strata:
        number = numbers_of(table.column("stratum"))
        strata = [
            Stratum(least, cap, _summed((size, size), (origins, ends), kept, moved & (number == at)))
            for at, (least, cap) in enumerate(question.strata)
        ]
    if question.group is not None:
        groups = {
            label: _summed((size, size), (origins, ends), kept, moved & (group == at))
            for at, label in enumerate(question.groups)
        }
    if question.memory == 2:
        before = target[np.where(codes["before"] >= 0, codes["before"], nowhere)]
        counted = kept if question.second_cap is None else numbers_of(table.column("kept_second"))
        second = _summed((size + 1, size, size), (before, origins, ends), counted, moved)
    if question.sequences:
        is_first, bins = numbers_of(table.column("is_first")) == 1, LengthBins.default()
        lengths = numbers_of(table.column("length"))
        sequences = Sequences(
            _summed((size,), (origins,), seen, is_first),
            _summed((size,), (origins,), seen, ~moved),
            _summed((len(bins),), (lengths,), seen, ~moved),
            bins,
        )
    once = None
    if question.once:
        once = OncePerUser(
            _summed((size,), (origins,), numbers_of(table.column("new_start")), moved),
            _summed((size,), (ends,), numbers_of(table.column("new_end")), moved),
        )
    # Nothing is kept of a group whose transitions were all left out: no stored zero may tell of it.
    some = kept > 0
    total = csr_array((kept[some], (origins[some], ends[some])), shape=(size, size))
    visitors = None
    if question.discovers:
        starts = ends_of = None
        if question.once:
            starts, ends_of = (
                csr_array((numbers_of(table.column(name))[some], (origins[some], ends[some])), (size, size))
                for name in ("new_start", "new_end")
            )
        visitors = Visitors(
            _touching(total) if users is None else users,
            question.user_states or STATES_OF_A_TRANSITION,
            starts,
            ends_of,
        )
    return TransitionCounts(
        total if size > MOST_FULL else total.toarray(),
        places.labels,
        cap=question.largest_cap,
        provenance=provenance,
        sequences=sequences,
        strata=strata,
        second=second,
        second_cap=question.second_cap,
        groups=groups,
        once=once,
        visitors=visitors,
    )


def _touching(total: Any) -> Integers:
    """How many transitions each state is an end of."""
    left, entered = (np.asarray(total.sum(axis=axis), dtype=np.int64).ravel() for axis in (1, 0))
    return left + entered - np.asarray(total.diagonal(), dtype=np.int64)


def _summed(
    shape: tuple[int, ...],
    places: Sequence[NDArray[np.int64]],
    counts: NDArray[np.int64],
    chosen: NDArray[np.bool_],
) -> Integers:
    sums = np.zeros(shape, dtype=np.int64)
    np.add.at(sums, tuple(place[chosen] for place in places), counts[chosen])
    return sums


def codes_of(column: Any, texts: Sequence[str]) -> NDArray[np.int64]:
    """The place of each cell of an Arrow column in a list, matched by text; UNKNOWN or ABSENT where none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    words = pc.cast(words, pa.large_string())
    places = pc.index_in(words, value_set=pa.array(texts, pa.large_string()))
    codes = pc.fill_null(pc.cast(places, pa.int64()), UNKNOWN).to_numpy(zero_copy_only=False)
    absent = pc.is_null(words).to_numpy(zero_copy_only=False)
    return np.where(absent, ABSENT, codes)


def numbers_of(column: Any) -> NDArray[np.int64]:
    """A column of whole numbers; ABSENT where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pc.fill_null(pc.cast(column, pa.int64()), ABSENT)
    return np.asarray(whole.to_numpy(), dtype=np.int64)


def _found(query: CountingQuery, table: Any) -> StateList:
    """The list of the labels in the grouped rows."""
    import pyarrow.compute as pc

    question, labels = query.question, set[Any]()
    for role, name in question.state_names.items():
        if table.column(name).null_count:
            raise complaints.no_state(question.roles[role])
        labels.update(pc.unique(table.column(name)).to_pylist())
    return found_states(labels, untyped=query.engine.guesses_layout)


def _discovered(query: CountingQuery, table: Any, visits: Any) -> StateList:
    """The labels that were found, as text: what type they have must not depend on all of them."""
    labels = set(map(text_of, _found(query, table).texts))
    if visits is not None:
        labels |= set(map(text_of, visits.column("state").to_pylist()))
    texts = tuple(sorted(labels))
    if len(texts) < 2:
        raise InvalidData("states", expected="two states or more", found=str(len(texts)))
    return StateList(texts, texts, found=True)


def _codes(query: CountingQuery, table: Any, states: StateList) -> tuple[Any, dict[str, NDArray[np.int64]]]:
    """The grouped rows and the places of their states; an error where a label is not on the list."""
    import pyarrow as pa

    question = query.question
    names = ("state", "next_state", "before") if question.memory == 2 else ("state", "next_state")
    if query.states is None:
        codes = {name: codes_of(table.column(name), states.texts) for name in names}
    else:
        codes = {name: numbers_of(table.column(name)) for name in names}
    if question.drop_unlisted and query.states is None:
        inside = np.all([codes[name] >= 0 for name in question.state_names.values()], axis=0)
        if not inside.any():
            raise complaints.empty_table()
        table, codes = table.filter(pa.array(inside)), {name: code[inside] for name, code in codes.items()}
    for role, name in question.state_names.items():
        outside = codes[name] < 0
        if not outside.any():
            continue
        if states.other is not None:
            codes[name] = np.where(outside, states.other, codes[name])
        elif query.states is not None:
            raise _complaint(query)
        elif (codes[name] == ABSENT).any():
            raise complaints.no_state(question.roles[role])
        else:
            distinct = len(table.column(name).filter(pa.array(outside)).unique())
            raise complaints.unknown_states(question.roles[role], distinct, len(states.labels))
    return table, codes


def _groups(question: Question, table: Any) -> NDArray[np.int64]:
    assert question.group is not None
    groups = question.groups
    if question.derived is not None:
        # Parts of times come as numbers.
        part = PARTS[question.derived]
        groups = tuple(str(part.first + part.labels.index(label)) for label in groups)
    codes = codes_of(table.column("grp"), groups)
    if question.drop_unlisted_groups:
        return codes
    if (codes == ABSENT).any():
        raise complaints.empty_cells(question.group)
    if (codes == UNKNOWN).any():
        import pyarrow as pa

        distinct = len(table.column("grp").filter(pa.array(codes == UNKNOWN)).unique())
        raise complaints.unknown_groups(question.group, distinct, len(question.groups))
    return codes


def _complaint(query: CountingQuery) -> InvalidData:
    """The error for rows that lack something, after a second look that names the column."""
    question = query.question
    gaps = query.engine.run(query.gaps_sql).to_pylist()[0]
    for role in ("by", "order"):
        if gaps.get(role):
            return complaints.empty_cells(question.roles[role])
    for role in question.state_names:
        if gaps[role]:
            return complaints.no_state(question.roles[role])
    unknown = query.engine.run(query.unknown_sql).to_pylist()[0]
    role = next(role for role in question.state_names if unknown[role])
    return complaints.unknown_states(
        question.roles[role], unknown[role], len(query.states.labels if query.states else ())
    )
