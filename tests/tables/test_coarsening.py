"""Coarser tables by public lists: states counted as new ones, equal labels as one, groups left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.conftest import Put
from veil import chains
from veil.errors import InvalidArgument, InvalidData

# Zones 1 and 2 are in the north, 3 and 4 in the south, 5 is an airport.
TRIPS: dict[str, list[Any]] = {"o": [1, 2, 3, 4, 5, 1], "d": [2, 3, 4, 1, 5, 5]}
ROLES: dict[str, Any] = {"origin": "o", "destination": "d"}
LOOKUP = "LocationID,Borough,Zone\n1,North,A\n2,North,B\n3,South,C\n4,South,D\n5,Airport,E\n6,Airport,F\n"
COARSE = [[1, 1, 1], [1, 1, 0], [0, 0, 1]]


@pytest.fixture
def lookup(tmp_path: Path) -> str:
    path = tmp_path / "zones.csv"
    path.write_text(LOOKUP)
    return str(path)


def test_states_are_merged_onto_new_labels(put: Put, lookup: str, tmp_path: Path) -> None:
    two = tmp_path / "zone_to_borough.csv"
    two.write_text("\n".join(",".join(line.split(",")[:2]) for line in LOOKUP.splitlines()) + "\n")
    for merge in (
        f"{lookup}:LocationID:Borough",
        str(two),
        {1: "North", 2: "North", 3: "South", 4: "South", 5: "Airport", 6: "Airport"},
    ):
        counts = chains.read(**put(TRIPS), **ROLES, states="1..6", merge=merge)
        assert counts.states == ("North", "South", "Airport")
        assert counts.matrix.tolist() == COARSE
        assert not counts.provenance.states_found


def test_equal_labels_are_one_on_request(put: Put, lookup: str) -> None:
    given = put(TRIPS)
    states = f"{lookup}:LocationID:Borough"
    counts = chains.read(**given, **ROLES, states=states, merge_labels=True)
    assert counts.states == ("North", "South", "Airport")
    assert counts.matrix.tolist() == COARSE
    with pytest.warns(UserWarning, match=r"3: North, South, Airport.* told apart .* merge_labels="):
        apart = chains.read(**given, **ROLES, states=states)
    assert apart.states[:2] == ("North (1)", "North (2)")
    mapping = {1: "n", 2: "n", 3: "s", 4: "s", 5: "s"}
    counts = chains.read(**given, **ROLES, states=mapping, merge_labels=True)
    assert counts.matrix.tolist() == [[1, 2], [1, 2]]
    with_rest = chains.read(**given, **ROLES, states={1: "n", 2: "n", 3: "s"}, merge_labels=True, other="s")
    assert with_rest.matrix.tolist() == [[1, 2], [1, 2]]
    both = chains.read(**given, **ROLES, states=states, merge_labels=True, merge={"Airport": "South"})
    assert both.matrix.tolist() == [[1, 2], [1, 2]]


def test_states_in_part_merged_and_order() -> None:
    counts = chains.read(TRIPS, **ROLES, states="1..5", merge="1=North,2=North")
    assert counts.states == ("3", "4", "5", "North")
    # With the states that occur, a public table may name some that do not.
    found = chains.read(TRIPS, **ROLES, merge={1: "x", 2: "x", 3: "y", 4: "y", 5: "y", 77: "y"})
    assert found.states == ("x", "y")
    assert found.provenance.states_found


@pytest.mark.parametrize(
    ("merge", "said"),
    [
        ({9: "North"}, "not on it"),
        ({1: 2, 2: 3}, "goes itself"),
        ({1: ""}, "empty"),
        (dict.fromkeys(range(1, 6), "all"), "two states"),
        ({1: "a\tb"}, "merge"),
    ],
)
def test_merges_that_are_none(merge: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        chains.read(TRIPS, **ROLES, states="1..5", merge=merge)


def test_what_a_lookup_must_be(lookup: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="merge"):
        chains.read(TRIPS, **ROLES, states="1..6", merge=lookup)
    for states in ("1..6", lookup, ["1", "2"]):
        with pytest.raises(InvalidArgument, match="merge_labels"):
            chains.read(TRIPS, **ROLES, states=states, merge_labels=True)
    with pytest.raises(InvalidArgument, match="merge_labels"):
        chains.read(TRIPS, **ROLES, merge_labels=True)
    twice = tmp_path / "twice.csv"
    twice.write_text("from,to\n1,a\n1,b\n")
    with pytest.raises(InvalidArgument, match="differ"):
        chains.read(TRIPS, **ROLES, states="1..6", merge=str(twice))


GROUPED: dict[str, list[Any]] = TRIPS | {"g": [8.0, 8.0, 9.0, 9.0, 23.0, 8.0]}


def test_groups_that_are_whole_floats(put: Put) -> None:
    for groups in ("8..23", [float(hour) for hour in range(8, 24)], range(8, 24)):
        counts = chains.read(**put(GROUPED), **ROLES, states="1..5", group="g", groups=groups)
        assert counts.groups is not None
        assert counts.groups["8"].sum() == 3
        assert counts.groups["23"].sum() == 1
    with pytest.raises(InvalidData, match="g") as caught:
        chains.read(**put(GROUPED | {"g": [8.25, *GROUPED["g"][1:]]}), **ROLES, group="g", groups="8..23")
    assert "8.25" not in str(caught.value)


def test_unlisted_groups_are_left_out_on_request(put: Put) -> None:
    given = put(GROUPED)
    with pytest.raises(InvalidData):
        chains.read(**given, **ROLES, states="1..5", group="g", groups=[8, 9])
    counts = chains.read(
        **given, **ROLES, states="1..5", group="g", groups=[8, 9, 10], drop_unlisted_groups=True
    )
    assert counts.groups is not None
    assert [int(one.sum()) for one in counts.groups.values()] == [3, 2, 0]
    assert counts.matrix.sum() == 5
    assert np.array_equal(sum(counts.groups.values()), counts.matrix)


def test_gaps_in_groups_are_left_out_with_them() -> None:
    frame = pd.DataFrame(GROUPED | {"g": [8, None, 9, 9, 23, 8]})
    with pytest.raises(InvalidData, match="g"):
        chains.read(frame, **ROLES, states="1..5", group="g", groups="0..23")
    counts = chains.read(frame, **ROLES, states="1..5", group="g", groups="0..23", drop_unlisted_groups=True)
    assert counts.matrix.sum() == 5


def test_a_group_by_its_number() -> None:
    counts = chains.read(GROUPED, **ROLES, states="1..5", group="g", groups="8..23")
    out = chains.release(counts, epsilon=5.0, rng=1)
    by_text = chains.group_chain(out, "8").matrix
    for group in (8, 8.0):
        assert (chains.group_chain(out, group).matrix == by_text).all()
    with pytest.raises(InvalidArgument, match="group"):
        chains.group_chain(out, 7)
