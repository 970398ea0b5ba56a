"""Lists of states: given, mapped, in files; merged, and with a state for all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tables.data import real
from veil.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.tables.cells import is_plain_integer
from veil.tables.states import found_states, given_states, merged, with_other


def test_labels_stay_as_they_are_given() -> None:
    assert given_states(["b", 1, "a"]).labels == ("b", 1, "a")
    assert given_states(range(2, 4)).labels == (2, 3)
    assert given_states(np.array([4, 5])).texts == ("4", "5")
    assert given_states({"b", "a"}).labels == ("a", "b")
    assert given_states([True, False]).texts == ("true", "false")


def test_a_mapping_shows_names_and_matches_by_its_keys() -> None:
    states = given_states({1: "Newark", 56: "Corona", 57: "Corona"})
    assert states.texts == ("1", "56", "57")
    assert states.labels == ("Newark", "Corona (56)", "Corona (57)")


@pytest.mark.parametrize(
    "states", [["a", None], [1.5, 2.5], [["a"], ["b"]], 7, ["a"], [], ["1", 1], {1: "a"}]
)
def test_other_lists_are_refused(states: Any) -> None:
    with pytest.raises(InvalidArgument, match="states"):
        given_states(states).check()


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("a\nb\nc\n", ["a", "b", "c"]),
        ("state\na\nb\n", ["a", "b"]),
        ("Page\na\nb\n", ["a", "b"]),
        ("zone_id\na\nb\n", ["a", "b"]),
        ("whatever\n1\n2\n", ["1", "2"]),
        ("1\n2\n", ["1", "2"]),
        ("\ufeff1\r\n2\r\n\r\n", ["1", "2"]),
        ("key;words\n007;x\n008;y\n", ["007", "008"]),
        ("code,since\nA,1990\nB,2001\n", ["A", "B"]),
        ("X,since\nA,1990\nB,2001\n", ["A", "B"]),
        ('"a, b",x\nc,y\n', ["a, b", "c"]),
    ],
)
def test_files_with_and_without_a_header(tmp_path: Path, text: str, labels: list[str]) -> None:
    path = tmp_path / "states.csv"
    path.write_bytes(text.encode())
    assert list(given_states(path, columns=["page"]).labels) == labels


def test_a_column_of_a_lookup_table_can_be_named() -> None:
    path = real("taxi_zone_lookup.csv")
    states = given_states(path)
    assert states.labels == tuple(str(i) for i in range(1, 266))
    assert given_states(f"{path}:location_id") == states
    named = given_states(f"{path}:location_id:zone")
    assert named.texts == states.texts
    assert named.labels[0] == "Newark Airport"
    assert len(set(named.labels)) == 265
    with pytest.raises(InvalidData, match="found none of that name") as refused:
        given_states(f"{path}:zones")
    # The first line may be a label, unless one of the columns is in it.
    assert "borough" not in str(refused.value)
    # What is spelled alike is what was typed, and shows nothing else.
    with pytest.raises(InvalidData, match="Did you mean 'location_id'") as refused:
        given_states(f"{path}:LocationID:zones")
    assert "borough" not in str(refused.value)
    with pytest.raises(InvalidData, match=r"location_id, borough, zone.*Did you mean 'zone'"):
        given_states(f"{path}:location_id:zones")


def test_files_that_hold_no_list(tmp_path: Path) -> None:
    path = tmp_path / "states.csv"
    with pytest.raises(UnreadableFile, match="no such file"):
        given_states(path)
    for text, words in (
        ("", "empty file"),
        ("a,b\nc\n", "line 2: expected 2 cells as in the first line, found 1"),
        ("a,1\n,2\n", "empty cell"),
        ('"a\nb', "CSV"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidData, match=words):
            given_states(path)


def test_found_states_are_sorted_by_kind() -> None:
    assert found_states([20, 3, 100]).labels == (3, 20, 100)
    assert found_states(["20", "3", "é", "B"]).labels == ("20", "3", "B", "é")
    assert found_states([20, "3"]).labels == ("20", "3")
    assert found_states(["20", "3", "100"]).labels == ("100", "20", "3")
    assert found_states(["20", "3", "100"], untyped=True).labels == (3, 20, 100)
    assert found_states(["7", "007"], untyped=True).labels == ("007", "7")
    with pytest.raises(InvalidData, match="two states or more, found 1"):
        found_states(["a", "a"]).check()


def test_the_state_of_all_others() -> None:
    states = given_states(["a", "b"])
    assert with_other(states, "rest").labels == ("a", "b", "rest")
    assert with_other(states, "rest").other == 2
    assert with_other(states, "a").labels == ("a", "b")
    assert with_other(states, "a").other == 0
    with pytest.raises(InvalidArgument, match="other"):
        with_other(states, "")


def test_merging() -> None:
    states = given_states({1: "one", 2: "two", 3: "three"})
    places = merged(states, {3: "one"})
    assert places.labels == ("one", "two")
    assert places.targets.tolist() == [0, 1, 0]
    assert merged(states, None).targets.tolist() == [0, 1, 2]
    assert merged(states, {1: 1}).targets.tolist() == [0, 1, 2]
    assert merged(states, {1: 4}).labels == ("two", "three", "4")
    wrong: list[Any] = [{4: 1}, {1: 2, 2: 3}, {1: 3, 2: 3}, ["a"]]
    for merge in wrong:
        with pytest.raises(InvalidArgument, match="merge"):
            merged(states, merge)


@pytest.mark.parametrize("text", ["0", "-7", "41", str(2**63 - 1)])
def test_numbers_as_a_database_writes_them(text: str) -> None:
    assert is_plain_integer(text)


@pytest.mark.parametrize("text", ["", "007", "+1", "-0", "1.0", "²", "٣", "a", str(2**63), "9" * 5000])
def test_numbers_written_in_other_ways(text: str) -> None:
    assert not is_plain_integer(text)
