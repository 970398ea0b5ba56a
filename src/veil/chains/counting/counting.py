"""One count: the query is run, labels become places, and what is wrong with the rows is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.counting.queries import MOST_GROUPS, CountingQuery
from veil.chains.counting.tally import ABSENT, UNKNOWN, Rows, check_size, codes_of, numbers_of, tally
from veil.chains.lengths import LengthBins
from veil.chains.transition_counts import Provenance, TransitionCounts
from veil.core.errors import InvalidData
from veil.tables import complaints
from veil.tables.engines.protocol import Column, Engine
from veil.tables.log_checks import check_times
from veil.tables.questions import Question
from veil.tables.states import StateList, found_states, merged, with_other


def look_for_states(
    engine: Engine, question: Question, columns: dict[str, Column], other: str | int
) -> StateList:
    """The labels found, and the state of all others, which here takes in the empty cells."""
    query = CountingQuery(question, columns, engine, None, LengthBins.default())
    labels = engine.run(query.distinct_sql)
    _check_number(question, labels.num_rows)
    if labels.num_rows == 0:
        raise complaints.empty_table()
    found = found_states(label for label in labels.column("state").to_pylist() if label is not None)
    return with_other(found, other)


def count(
    engine: Engine,
    question: Question,
    columns: dict[str, Column],
    listed: StateList | None,
    groups: tuple[str, ...],
    merge: Mapping[Any, Any] | None,
    provenance: Provenance,
) -> TransitionCounts:
    """Everything that the question asks for."""
    bins = LengthBins.default()
    # Plain trips are grouped as they are, as fast as anyone's own query; else places are quicker to sort.
    coded = listed if question.is_log or question.is_capped else None
    query = CountingQuery(question, columns, engine, coded, bins)
    if "order" in columns:
        check_times(engine, columns["order"], question.roles["order"])
    table = engine.run(query.sql)
    if table.num_rows == 0:
        raise complaints.empty_table()
    _check_number(question, table.num_rows)
    if question.by is not None and numbers_of(table.column("missing")).any():
        raise _complaint(engine, question, query)
    states = _found(question, table) if listed is None else listed
    states.check()
    places = merged(states, merge)
    check_size(question, len(states))
    if question.drop_unlisted and query.states is None:
        table = _listed(question, table, states)
    codes = _codes(engine, question, query, table, states)
    seen = numbers_of(table.column("seen"))
    rows = Rows(
        codes["state"],
        codes["next_state"],
        seen,
        numbers_of(table.column("kept")) if question.is_capped else seen,
        kept_second=None if question.second_cap is None else numbers_of(table.column("kept_second")),
        before=codes.get("before"),
        strata=numbers_of(table.column("stratum")) if question.strata else None,
        groups=None if question.group is None else _groups(question.group, table, groups),
        is_first=numbers_of(table.column("is_first")) if question.sequences else None,
        lengths=numbers_of(table.column("length")) if question.sequences else None,
    )
    return tally(
        rows, question, states=states, places=places, groups=groups, bins=bins, provenance=provenance
    )


def _listed(question: Question, table: Any, states: StateList) -> Any:
    """The grouped rows whose states are on the list."""
    import pyarrow as pa

    inside = np.all(
        [codes_of(table.column(name), states.texts) >= 0 for name in question.state_names], axis=0
    )
    if not inside.any():
        raise complaints.empty_table()
    return table.filter(pa.array(inside))


def _check_number(question: Question, number: int) -> None:
    if number > MOST_GROUPS:
        raise complaints.too_many([question.roles[role] for role in question.state_roles], MOST_GROUPS)


def _found(question: Question, table: Any) -> StateList:
    """The list of the labels in the grouped rows."""
    import pyarrow.compute as pc

    labels: set[Any] = set()
    for role, name in zip(question.state_roles, question.state_names, strict=True):
        if table.column(name).null_count:
            raise complaints.no_state(question.roles[role])
        labels.update(pc.unique(table.column(name)).to_pylist())
    return found_states(labels)


def _codes(
    engine: Engine, question: Question, query: CountingQuery, table: Any, states: StateList
) -> dict[str, NDArray[np.int64]]:
    """The places of the states of each group; an error where a label is not on the list."""
    names = ("state", "next_state", "before") if question.memory == 2 else ("state", "next_state")
    if query.states is None:
        codes = {name: codes_of(table.column(name), states.texts) for name in names}
    else:
        codes = {name: numbers_of(table.column(name)) for name in names}
    for role, name in zip(question.state_roles, question.state_names, strict=True):
        outside = codes[name] < 0
        if not outside.any():
            continue
        if states.other is not None:
            codes[name] = np.where(outside, states.other, codes[name])
        elif query.states is not None:
            raise _complaint(engine, question, query)
        elif (codes[name] == ABSENT).any():
            raise complaints.no_state(question.roles[role])
        else:
            distinct = _distinct(table.column(name), outside)
            raise complaints.unknown_states(question.roles[role], distinct, len(states))
    return codes


def _groups(column: str, table: Any, groups: tuple[str, ...]) -> NDArray[np.int64]:
    codes = codes_of(table.column("grp"), groups)
    if (codes == ABSENT).any():
        raise complaints.empty_cells(column)
    if (codes == UNKNOWN).any():
        distinct = _distinct(table.column("grp"), codes == UNKNOWN)
        raise complaints.unknown_groups(column, distinct, len(groups))
    return codes


def _distinct(cells: Any, chosen: NDArray[np.bool_]) -> int:
    import pyarrow as pa

    return len(cells.filter(pa.array(chosen)).unique())


def _complaint(engine: Engine, question: Question, query: CountingQuery) -> InvalidData:
    """The error for rows that lack something, after a second look that names the column."""
    gaps = engine.run(query.gaps_sql).to_pylist()[0]
    for role in ("by", "order"):
        if gaps.get(role):
            return complaints.empty_cells(question.roles[role])
    for role in question.state_roles:
        if gaps[role]:
            return complaints.no_state(question.roles[role])
    unknown = engine.run(query.unknown_sql).to_pylist()[0]
    role = next(role for role in question.state_roles if unknown[role])
    return complaints.unknown_states(question.roles[role], unknown[role], len(query.states or ()))
