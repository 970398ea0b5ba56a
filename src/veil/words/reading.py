"""From a table to words: the states of each person or trip, in the order of time. Languages in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.checks import on_progress
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile, VeilError
from veil.core.kind import Progress, kind_named
from veil.core.registry import domain_from
from veil.tables import complaints
from veil.tables.cells import numbers_of
from veil.tables.engines.duck import DuckEngine
from veil.tables.engines.opening import open_engine
from veil.tables.engines.protocol import Engine, needed_columns
from veil.tables.files import file_of, name_of, parse_json, text_bytes
from veil.tables.sequences import SequenceFile, as_log
from veil.tables.states import StateList, given_states
from veil.tables.times import checked_format, ordered_times
from veil.words.language import Language
from veil.words.queries import MOST_STATES, WordQuery
from veil.words.table import Rows, WordTable, check_listed, checked_list


def read_words(
    source: Any,
    *,
    by: str | Sequence[str] | None = None,
    order: str | None = None,
    state: str | None = None,
    tie_break: str | None = None,
    time_format: str | None = None,
    states: Any = None,
    table: str | None = None,
    query: str | None = None,
    progress: Progress | None = None,
) -> WordTable:
    """The words in a table. They are sensitive data, not a release.

    source: as for `words.read`, or a SequenceFile. by, order, state, tie_break, time_format, table,
        query: see there.
    states: the public list of states; a state that is not on it is an error. Without it the labels found,
        sorted: then `WordTable.recoded` brings them in the order of a list.
    progress: called with what is done.
    """
    tell = on_progress("progress", progress)
    log = as_log(source)
    if log is not None:
        for field, name in (("by", by), ("order", order), ("state", state), ("tie_break", tie_break)):
            if name is not None:
                raise InvalidArgument(field, expected="none for a source of sequences", found="a column")
        source, by, order, state = log, "sequence", "place", "state"
    keys = _key_names(by)
    others = _other_columns(order, state, tie_break)
    roles = {"by": keys[0]} if len(keys) == 1 else {f"by[{i}]": name for i, name in enumerate(keys)}
    wanted = roles | others
    listed = None if states is None else checked_list(given_states(states, columns=list(wanted.values())))
    tell("looking at the columns")
    stated = checked_format(time_format)
    engine = open_engine(
        source, wanted, table=table, query=query, numbers=True, has_format=stated is not None
    )
    try:
        if progress is not None and isinstance(engine, DuckEngine):
            engine.tell = progress
        columns = needed_columns(engine, wanted)
        of_keys = [columns.pop(role) for role in roles]
        columns["order"] = ordered_times(engine, columns["order"], others["order"], stated)
        words = WordQuery(of_keys, columns, engine, listed)
        return _read(engine, words, keys=keys, names=others, listed=listed, tell=tell)
    finally:
        engine.close()


def _read(
    engine: Engine,
    query: WordQuery,
    *,
    keys: tuple[str, ...],
    names: dict[str, str],
    listed: StateList | None,
    tell: Progress,
) -> WordTable:
    tell("looking for states")
    found = _states(engine.run(query.summary_sql), keys, names)
    tell("looking for words")
    words = engine.run(query.lengths_sql)
    lengths = _whole(words.column("length"))
    tell("sorting")
    symbols = engine.run(query.codes_sql)
    codes = np.array(symbols.column("code").to_numpy(), dtype=np.int32)
    if int(lengths.sum()) != len(codes):
        raise InvalidData(
            "source", expected="rows that stay the same while they are read", found="some that changed"
        )
    states = found if listed is None else listed
    check_listed(codes, lengths, names["state"], len(states.labels))
    renamed = words.drop_columns(["length"]).rename_columns(list(keys))
    return WordTable(
        renamed,
        lengths,
        states.labels,
        codes,
        names["order"],
        names["state"],
        layout_guessed=engine.guesses_layout,
        states_found=listed is None,
        unchecked=not engine.row_by_row,
    )


def _whole(column: Any) -> Rows:
    """A column of counts; databases have several types for whole numbers."""
    import pyarrow as pa

    return np.asarray(numbers_of(column.cast(pa.int64())))


def _states(summary: Any, keys: tuple[str, ...], names: dict[str, str]) -> StateList:
    """The labels that occur, in the order of their codes, after a look at what rows lack."""
    if summary.num_rows == 0:
        raise complaints.empty_table()
    if summary.num_rows > MOST_STATES:
        raise InvalidData(
            names["state"],
            expected=f"at most {MOST_STATES:,} different states",
            found="more",
            hint="Does this column hold states?",
        )
    labels = summary.column("state").to_pylist()
    gaps = {name: _whole(summary.column(f"key_{i}_gaps")) for i, name in enumerate(keys)}
    gaps[names["order"]] = _whole(summary.column("time_gaps"))
    gaps[names["state"]] = _whole(summary.column("number")) * np.array([label is None for label in labels])
    for column, missing in gaps.items():
        if number := int(missing.sum()):
            rows = "1 row" if number == 1 else f"{number} rows"
            raise InvalidData(column, expected="a value in every row", found=f"{rows} without one")
    return StateList(tuple(labels), tuple(map(str, labels)), found=True)


def _key_names(by: Any) -> tuple[str, ...]:
    """The columns that tell words apart."""
    names = tuple(by) if isinstance(by, (list, tuple)) else (by,)
    if not names or not all(isinstance(name, str) and name for name in names):
        found = "none" if by is None or not names else type(by).__name__
        raise InvalidArgument("by", expected="the name of a column, or several", found=found)
    if len(set(names)) < len(names):
        raise InvalidArgument("by", expected="different columns", found="one of them twice")
    return names


def _other_columns(order: Any, state: Any, tie_break: Any) -> dict[str, str]:
    """The columns besides the keys, by role."""
    named = {"order": order, "tie_break": tie_break, "state": state}
    for field, name in named.items():
        if (name is None and field != "tie_break") or (
            name is not None and (not isinstance(name, str) or not name)
        ):
            found = "none" if name is None else type(name).__name__
            raise InvalidArgument(field, expected="the name of a column", found=found)
    return {role: name for role, name in named.items() if name is not None}


def given_language(value: Any) -> Language | None:
    """A language: as it is, or from a JSON file with its description, or with a release of such words."""
    if value is None or isinstance(value, Language):
        return value
    if not isinstance(value, (str, os.PathLike)):
        expected = "a language such as words.FreeWords, or a file that describes one"
        raise InvalidArgument("language", expected=expected, found=type(value).__name__)
    file = file_of(value)
    raw, name = text_bytes(file), name_of(file)
    try:
        content = parse_json(raw, name)
        fields = dict(content.get("domain", content))
        # A record describes its domain in words as well.
        fields.pop("words", None)
        language = domain_from(fields, kind_named("words"))
    except (VeilError, ValueError, TypeError, AttributeError, RecursionError) as error:
        expected = "the description of a language, as in the record of released words"
        what = str(error).rstrip(".") if isinstance(error, VeilError) else "something else"
        raise UnreadableFile(name, expected=expected, found=what) from None
    assert isinstance(language, Language)
    return language


def given_words(value: Any, language: Language) -> Any:
    """Public words: as they are, or from a text file with one per line."""
    if not isinstance(value, (str, os.PathLike)):
        return value
    return read_words(SequenceFile(os.fspath(value)), states=list(language.labels)).batch
