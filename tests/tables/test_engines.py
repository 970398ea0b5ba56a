"""The same counts in every engine, and the same as by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.conftest import Put, put_in_spark
from tests.tables.oracle import Label, count_log, count_trips
from veil.chains import read
from veil.chains.lengths import LengthBins
from veil.chains.transition_counts import TransitionCounts
from veil.errors import InvalidArgument, InvalidData

SALT = "0123456789abcdef"
# In the order of code points; a dictionary would put b and Zürich elsewhere.
WORDS = ["A'quote", "Zürich", "a\\b", "b", "select", "${x}", "été"]
LOG: dict[str, Any] = {"by": "who", "order": "time", "state": "state"}


def rows_of_log(*, number: int = 400, words: bool = True, seed: int = 1) -> list[dict[str, Any]]:
    """A log with few users and few times, so that most rows are tied."""
    rng = random.Random(seed)
    labels: Sequence[Label] = sorted(WORDS) if words else [3, 20, 100, -7]
    return [
        {
            "who": f"user {rng.choice('éXyz')}{int(rng.paretovariate(0.6)) % 23}",
            "time": rng.randrange(6),
            "tie": rng.randrange(3),
            "state": rng.choice(labels),
            "group": rng.choice(["north", "South"]),
        }
        for _ in range(number)
    ]


def columns_of(rows: Sequence[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names or rows[0]}


def matrix_of(moves: Counter[tuple[Label, Label]], states: Sequence[Any]) -> list[list[int]]:
    return [[moves[a, b] for b in states] for a in states]


def check(counts: TransitionCounts, moves: Counter[tuple[Label, Label]]) -> None:
    assert counts.matrix.tolist() == matrix_of(moves, counts.states)


def test_trips_with_states_found(put: Put) -> None:
    table: dict[str, list[Any]] = {"from": [1, 20, 3, 1, 1], "to": [20, 1, 3, 20, 3]}
    counts = read(**put(table), origin="from", destination="to")
    assert counts.states == (1, 3, 20)
    assert counts.provenance.states_found
    assert not counts.provenance.has_users
    check(counts, Counter({(1, 20): 2, (20, 1): 1, (3, 3): 1, (1, 3): 1}))


def test_trips_with_a_list_given(put: Put) -> None:
    table: dict[str, list[Any]] = {"from": [1, 20, 3, 1, 99], "to": ["20", "1", "3", "nowhere", None]}
    counts = read(**put(table), origin="from", destination="to", states=["20", 3, "1"], other="rest")
    assert counts.states == ("20", 3, "1", "rest")
    assert counts.matrix.tolist() == [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]]
    with pytest.raises(InvalidData, match="from: expected one of the 3 states in every row, found 1 label"):
        read(**put(table), origin="from", destination="to", states=[1, 3, 20])


@pytest.mark.parametrize("words", [True, False])
def test_ties_are_broken_the_same_everywhere(put: Put, words: bool) -> None:
    rows = rows_of_log(words=words)
    counts = read(**put(columns_of(rows, "who", "time", "state")), **LOG)
    assert counts.states == tuple(sorted({row["state"] for row in rows}))
    assert counts.provenance.has_users
    bare = [{name: row[name] for name in ("who", "time", "state")} for row in rows]
    check(counts, count_log(bare).moves)


@pytest.mark.parametrize("words", [True, False])
def test_ties_follow_the_order_of_the_list(put: Put, words: bool) -> None:
    rows = rows_of_log(words=words)
    states = sorted({row["state"] for row in rows}, reverse=True)
    counts = read(
        **put(columns_of(rows, "who", "time", "tie", "state")), **LOG, tie_break="tie", states=states
    )
    bare = [{name: row[name] for name in ("who", "time", "tie", "state")} for row in rows]
    check(counts, count_log(bare, states=states).moves)
    check(counts, count_log(list(reversed(bare)), states=states).moves)


@pytest.mark.parametrize("given", [True, False])
def test_a_cap_draws_the_same_sample_everywhere(put: Put, given: bool) -> None:
    rows = rows_of_log()
    states = sorted({row["state"] for row in rows}) if given else None
    counts = read(
        **put(columns_of(rows)), **LOG, tie_break="tie", cap=3, salt=SALT, states=states, sequences=True
    )
    expected = count_log(
        [{k: v for k, v in row.items() if k != "group"} for row in rows], cap=3, salt=SALT, states=states
    )
    assert counts.cap == 3
    check(counts, expected.moves)
    # The sample leaves starts and ends alone.
    assert counts.sequences is not None
    assert counts.sequences.starts.tolist() == [expected.starts[state] for state in counts.states]
    assert counts.sequences.ends.tolist() == [expected.ends[state] for state in counts.states]


@pytest.mark.parametrize("capped", [True, False])
def test_all_at_once(put: Put, capped: bool) -> None:
    """Strata, two past states, starts, ends and lengths from one query."""
    rows = [{k: v for k, v in row.items() if k != "group"} for row in rows_of_log(number=700)]
    strata = [(2, 1), (4, 3), (9, 8)] if capped else None
    counts = read(
        **put(columns_of(rows)), **LOG, tie_break="tie", strata=strata, memory=2, sequences=True, salt=SALT
    )
    expected = count_log(rows, strata=strata or (), salt=SALT)
    check(counts, expected.moves)
    states = counts.states
    assert counts.cap == (8 if capped else None)
    assert [stratum.least for stratum in counts.strata] == ([2, 4, 9] if capped else [])
    for number, stratum in enumerate(counts.strata):
        assert stratum.matrix.tolist() == matrix_of(expected.strata[number], states)
    assert counts.second is not None
    assert counts.second.shape == (len(states) + 1, len(states), len(states))
    for b, before in enumerate((*states, None)):
        expected_after = [[expected.second[before, x, y] for y in states] for x in states]
        assert counts.second[b].tolist() == expected_after
    assert counts.sequences is not None
    bins = LengthBins.default()
    lengths = np.zeros(len(bins), dtype=np.int64)
    for length, number in expected.lengths.items():
        lengths[bins.place([length])[0]] += number
    assert counts.sequences.lengths.tolist() == lengths.tolist()
    assert counts.sequences.starts.tolist() == [expected.starts[state] for state in states]
    assert counts.sequences.ends.tolist() == [expected.ends[state] for state in states]


@pytest.mark.parametrize(
    ("limits", "second_cap"),
    [
        ({"strata": [(2, 1), (4, 3), (9, 8)]}, 2),
        ({"strata": [(2, 3), (4, 5), (9, 8)]}, 1),
        ({"strata": [(2, 1), (4, 3), (9, 8)]}, 8),
        ({"cap": 5}, 2),
    ],
    ids=["between the caps", "below all caps", "the largest cap", "one cap"],
)
def test_second_order_counts_have_a_cap_of_their_own(
    put: Put, limits: dict[str, Any], second_cap: int
) -> None:
    """Of the same order of a user's transitions: the first so many for one table, others for the other."""
    rows = [{k: v for k, v in row.items() if k != "group"} for row in rows_of_log(number=700)]
    counts = read(
        **put(columns_of(rows)), **LOG, tie_break="tie", memory=2, second_cap=second_cap, salt=SALT, **limits
    )
    expected = count_log(rows, second_cap=second_cap, salt=SALT, **limits)
    check(counts, expected.moves)
    assert (counts.cap, counts.second_cap) == (limits.get("cap", 8), second_cap)
    for number, stratum in enumerate(counts.strata):
        assert stratum.matrix.tolist() == matrix_of(expected.strata[number], counts.states)
    assert counts.second is not None
    states = counts.states
    for b, before in enumerate((*states, None)):
        expected_after = [[expected.second[before, x, y] for y in states] for x in states]
        assert counts.second[b].tolist() == expected_after
    # Nobody is in the second table more often than its cap, nor left out of it.
    moves = Counter(row["who"] for row in rows)
    assert counts.second.sum() == sum(min(number - 1, second_cap) for number in moves.values())
    with pytest.raises(InvalidArgument, match="cap: expected the largest of all caps"):
        read(**put(columns_of(rows)), **LOG, memory=2, second_cap=9, salt=SALT, **limits)


def test_long_sequences_fall_into_wide_bins(put: Put) -> None:
    lengths = [1, 100, 101, 130, 1500]
    rows = [(who, time) for who, length in enumerate(lengths) for time in range(length)]
    table = {
        "who": [who for who, _ in rows],
        "time": [time for _, time in rows],
        "state": [time % 2 for _, time in rows],
    }
    counts = read(**put(table), **LOG, sequences=True)
    assert counts.sequences is not None
    bins = LengthBins.default()
    assert np.flatnonzero(counts.sequences.lengths).tolist() == sorted(set(bins.place(lengths)))
    assert counts.total == sum(lengths) - len(lengths)


@pytest.mark.parametrize("cap", [None, 4])
def test_groups_have_chains_of_their_own(put: Put, cap: int | None) -> None:
    rows = [{k: v for k, v in row.items() if k != "tie"} for row in rows_of_log()]
    counts = read(
        **put(columns_of(rows)), **LOG, group="group", groups=["South", "north", "west"], cap=cap, salt=SALT
    )
    expected = count_log(rows, cap=cap, salt=SALT)
    check(counts, expected.moves)
    assert counts.groups is not None
    assert list(counts.groups) == ["South", "north", "west"]
    for label, matrix in counts.groups.items():
        assert matrix.tolist() == matrix_of(expected.groups[label], counts.states)
    with pytest.raises(InvalidData, match="group: expected one of the 1 groups in every row, found 1 label"):
        read(**put(columns_of(rows)), **LOG, group="group", groups=["north"])


def test_trips_of_users_are_sampled_the_same_everywhere(put: Put) -> None:
    rng = random.Random(3)
    rows = [
        {
            "who": rng.randrange(12),
            "time": rng.randrange(4),
            "origin": rng.choice("abc"),
            "end": rng.choice("aB"),
        }
        for _ in range(200)
    ]
    for used in (("who", "origin", "end"), ("who", "time", "origin", "end")):
        chosen = [{name: row[name] for name in used} for row in rows]
        order = "time" if "time" in used else None
        counts = read(
            **put(columns_of(chosen)),
            by="who",
            order=order,
            origin="origin",
            destination="end",
            cap=5,
            salt=SALT,
        )
        assert counts.provenance.has_users
        assert counts.total == 12 * 5
        check(counts, count_trips(chosen, cap=5, salt=SALT))


@pytest.mark.parametrize("states", [["b", "Zürich"], None])
def test_empty_and_unknown_states_go_where_they_are_sent(put: Put, states: list[str] | None) -> None:
    rows = [row for row in rows_of_log() if row["state"] != "select"]
    for row in rows[::7]:
        row["state"] = None
    bare = [{name: row[name] for name in ("who", "time", "state")} for row in rows]
    listed = states or sorted({row["state"] for row in rows if row["state"]})
    counts = read(**put(columns_of(bare)), **LOG, states=states, other="rest")
    assert counts.states == (*listed, "rest")
    assert counts.provenance.states_found == (states is None)
    check(counts, count_log(bare, states=listed, other="rest").moves)


@pytest.mark.slow_for("duckdb")
def test_what_is_wrong_with_rows_is_said_without_showing_them(put: Put) -> None:
    table: dict[str, list[Any]] = {
        "who": [1, 1, 2, 2],
        "time": [1, 2, 1, 2],
        "state": ["secret-a", "secret-b", "secret-c", "known"],
    }
    source = put(table)
    with pytest.raises(InvalidData, match=r"state: .* one of the 2 states .* 3 different labels") as refused:
        read(**source, **LOG, states=["known", "seen"])
    assert "secret" not in str(refused.value)
    for column, field in (("who", "who"), ("time", "time"), ("state", "state")):
        holed = put({**table, column: [*table[column][:3], None]})
        for states in (None, ["known", "secret-a", "secret-b", "secret-c"]):
            with pytest.raises(InvalidData, match=f"{field}: expected .* found empty cells"):
                read(**holed, **LOG, states=states)
        if column != "state":
            with pytest.raises(InvalidData, match=f"{field}: expected .* found empty cells"):
                read(**holed, **LOG, other="rest")
    holed = put({"who": [1, 1], "time": [1.0, float("nan")], "state": ["a", "b"]})
    with pytest.raises(InvalidData, match="time: expected a value in every row"):
        read(**holed, **LOG)


def test_other_kinds_of_wrong_tables(put: Put) -> None:
    table: dict[str, list[Any]] = {"who": [1, 1], "time": [1, 2], "state": ["a", "a"], "speed": [1.5, 2.5]}
    source = put(table)
    with pytest.raises(InvalidData, match="two states or more"):
        read(**source, **LOG)
    with pytest.raises(InvalidData, match=r"'whom'.*the columns who, time, state, speed.*'who'"):
        read(**source, by="whom", order="time", state="state")
    with pytest.raises(InvalidData, match=r"speed: .*whole numbers or text.*Cast"):
        read(**source, by="who", order="time", state="speed")
    if "table" in source:
        with pytest.raises(InvalidData, match=r"no such table|does not exist"):
            read(source["source"], table="no such table", **LOG)
    empty = put({name: values[:0] for name, values in table.items()})
    with pytest.raises(InvalidData, match=r"a table with rows, found none|whole numbers or text"):
        read(**empty, **LOG)


def test_merged_states_are_counted_together(put: Put) -> None:
    rows = [{k: v for k, v in row.items() if k not in {"group", "tie"}} for row in rows_of_log(words=False)]
    counts = read(**put(columns_of(rows)), **LOG, merge={100: 3}, memory=2, sequences=True)
    assert counts.states == (-7, 3, 20)
    moves: Counter[tuple[Label, Label]] = Counter()
    for (a, b), number in count_log(rows).moves.items():
        moves[3 if a == 100 else a, 3 if b == 100 else b] += number
    check(counts, moves)
    assert counts.second is not None
    assert counts.second.sum(axis=0).tolist() == counts.matrix.tolist()


@pytest.mark.parametrize(
    "name", ["select", 'a "quoted" name', "with space", "Größe", "UPPER", "a.b", "back`tick"]
)
def test_columns_may_have_any_name(put: Put, name: str) -> None:
    table = {name: ["a", "b"], "o'ther": ["b", "a"]}
    counts = read(**put(table), origin=name, destination="o'ther")
    assert counts.matrix.tolist() == [[0, 1], [1, 0]]
    counts = read(**put({name: [1, 1], "t": [1, 2], "s": ["b", "a"]}), by=name, order="t", state="s")
    assert counts.matrix.tolist() == [[0, 0], [1, 0]]


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_tables_and_queries_of_a_spark_session(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    frame = put_in_spark(spark, {"a": ["x", "y"], "b": ["y", "x"]})["source"]
    frame.createOrReplaceTempView("trips_of_spark")
    ends: dict[str, Any] = {"origin": "a", "destination": "b"}
    expected = read(frame, **ends)
    assert expected.matrix.tolist() == [[0, 1], [1, 0]]
    assert read(spark, table="trips_of_spark", **ends) == expected
    assert read(spark, query="SELECT * FROM `trips_of_spark`;", **ends) == expected
    # No temporary name of ours is left behind.
    assert [table.name for table in spark.catalog.listTables()] == ["trips_of_spark"]
    with pytest.raises(InvalidData, match="TABLE_OR_VIEW_NOT_FOUND"):
        read(spark, table="nothing", **ends)
    with pytest.raises(InvalidData, match="found the error") as refused:
        read(spark, query="SELECT CAST(a AS INT) AS a, b FROM `trips_of_spark`", **ends)
    # Neither in the error nor in what Spark writes to the console of its own accord.
    for text in (str(refused.value), capfd.readouterr().err):
        assert "CAST_INVALID_INPUT" not in text or "The value" not in text
    wrong: list[dict[str, Any]] = [{"table": "t"}, {"query": "SELECT 1"}]
    for options in wrong:
        with pytest.raises(InvalidArgument, match="none for a DataFrame"):
            read(frame, **ends, **options)
    with pytest.raises(InvalidArgument, match="table"):
        read(spark, **ends)
    with pytest.raises(InvalidArgument, match="a DataFrame or a SparkSession"):
        read(frame.a, **ends)
