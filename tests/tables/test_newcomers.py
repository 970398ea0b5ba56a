"""What a hurried newcomer gets wrong, and must be told rather than given a wrong chain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import veil
from veil.errors import InvalidArgument, InvalidData, NoGuarantee, PrivacyWarning
from veil.vectors.contribution_profiles import gamma_contributions


def visits(times: list[str]) -> pd.DataFrame:
    states = ["home", "work", "shop"]
    return pd.DataFrame({"u": ["a"] * 3 + ["b"] * 3, "t": times * 2, "s": states * 2})


@pytest.mark.parametrize(
    "times",
    [
        ["9:00", "10:00", "11:00"],
        ["3/1/2026 9:00", "3/1/2026 10:00", "3/1/2026 11:00"],
        ["31/12/2026", "01/01/2027", "02/01/2027"],
        ["31.12.2026", "01.01.2027", "02.01.2027"],
        ["1", "2", "10"],
    ],
)
def test_text_that_is_no_order_in_time_is_refused(times: list[str]) -> None:
    with pytest.raises(InvalidData, match="letter by letter") as caught:
        veil.chains.read(visits(times), by="u", order="t", state="s")
    assert caught.value.field == "t"


@pytest.mark.parametrize(
    "times",
    [
        ["2026-03-01 09:00", "2026-03-01 10:00", "2026-03-01 11:00"],
        ["2026-03-01T09:00:00", "2026-03-01T09:00:00.5", "2026-03-01T09:00:01"],
        ["2026-03-01", "2026-03-02", "2026-03-10"],
        ["09:00", "10:00", "11:00"],
        ["0001", "0002", "0010"],
    ],
)
def test_text_that_is_in_order_counts(times: list[str]) -> None:
    counts = veil.chains.read(visits(times), by="u", order="t", state="s")
    assert counts.states == ("home", "shop", "work")
    assert counts.matrix.tolist() == [[0, 0, 2], [0, 0, 0], [0, 2, 0]]


def test_frames_of_counts_keep_their_labels() -> None:
    frame = pd.DataFrame([[1000, 1], [5, 2000]], index=["A", "B"], columns=["B", "A"])
    own = veil.chains.TransitionCounts(frame)
    assert own.states == ("A", "B")
    assert own.matrix.tolist() == [[1, 1000], [2000, 5]]
    assert veil.chains.TransitionCounts(frame, ["B", "A"]).matrix.tolist() == [[5, 2000], [1000, 1]]
    for states in (["A", "C"], ["A"]):
        with pytest.raises(InvalidData, match="labels of its rows"):
            veil.chains.TransitionCounts(frame, states)
    with pytest.raises(InvalidData, match="labels of its columns"):
        veil.chains.TransitionCounts(frame.rename(columns={"A": "C"}))
    plain = veil.chains.TransitionCounts(pd.DataFrame(np.arange(4).reshape(2, 2)))
    assert plain.matrix.tolist() == [[0, 1], [2, 3]]


def test_a_table_is_counted_first() -> None:
    with pytest.raises(InvalidData, match=r"counted by chains\.read first"):
        veil.chains.release("trips.csv", epsilon=1.0)


def test_columns_and_units_of_trips() -> None:
    trips = {"from": ["a", "b"], "to": ["b", "a"]}
    with pytest.raises(InvalidArgument, match="another column"):
        veil.chains.read(trips, origin="from", destination="from")
    counts = veil.chains.read(trips, origin="from", destination="to")
    with pytest.raises(InvalidArgument, match="one row of a table of trips"):
        veil.chains.release(counts, epsilon=1.0, unit="row", rng=1)


def test_states_that_look_alike_are_warned_of() -> None:
    for states in (["A", "a"], ["A b", "A  b"], ["A", "A "]):
        with pytest.warns(PrivacyWarning, match="differ only in spaces"):
            veil.chains.release(veil.chains.TransitionCounts([[8, 2], [1, 4]], states), epsilon=1.0)


def test_huge_caps_do_not_hang() -> None:
    with pytest.raises(NoGuarantee, match="at most 200 records"):
        gamma_contributions(10.0, 0.1, veil.vectors.Contributions(100_000))
    counts = veil.chains.TransitionCounts([[80, 20], [10, 40]], ["a", "b"], cap=100_000)
    assert veil.chains.release(counts, epsilon=1.0, unit="user", rng=1).epsilon == 1.0
