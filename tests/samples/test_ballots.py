"""The made-up votes: the same everywhere, and like votes."""

from __future__ import annotations

import csv
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from veil.bits.verbs import read as read_bits
from veil.errors import InvalidData
from veil.samples import path
from veil.samples.ballots import BILLS, MEMBERS, PARTIES, ballots

# Checksum of the file of the default seed.
BALLOTS = 781032800


def test_members_and_bills() -> None:
    rows = ballots()
    assert len(rows) == MEMBERS == 435
    assert len(BILLS) == 16
    assert {len(row) for row in rows} == {17}
    assert {row[0] for row in rows} == set(PARTIES)
    assert {vote for row in rows for vote in row[1:]} == {"y", "n", "?"}
    assert ballots() == rows != ballots(seed=2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_parties_differ_and_some_votes_are_unknown(seed: int) -> None:
    table = np.array(ballots(seed=seed))
    amber = table[:, 0] == "amber"
    assert 0.5 < amber.mean() < 0.7
    for j, (bill, (first, second)) in enumerate(BILLS.items(), start=1):
        apart = (table[amber, j] == "y").mean() - (table[~amber, j] == "y").mean()
        # Seven tenths at least are as loyal as they can be, and unknown votes pull both to 0.
        assert abs(apart - 0.8 * (first - second)) < 0.17, bill
    gaps = Counter({bill: int((table[:, j] == "?").sum()) for j, bill in enumerate(BILLS, start=1)})
    assert min(gaps.values()) > 0
    assert {bill for bill, _ in gaps.most_common(2)} == {"water rights", "broadcasting"}
    assert 0.03 < (table == "?").mean() < 0.07


def test_the_same_file_everywhere(tmp_path: Path) -> None:
    with (tmp_path / "ballots.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("party", *BILLS), *ballots()])
    text = (tmp_path / "ballots.csv").read_bytes()
    assert text == path("ballots.csv").read_bytes()
    assert b"\r" not in text
    assert zlib.crc32(text) == BALLOTS


def test_the_file_is_read_as_bits() -> None:
    rows = ballots()
    with pytest.raises(InvalidData, match="gaps; 16 columns have some"):
        read_bits(path("ballots.csv"))
    votes = read_bits(path("ballots.csv"), columns=list(BILLS), missing="no")
    assert votes.columns == tuple(BILLS)
    assert votes.table.tolist() == [[vote == "y" for vote in row[1:]] for row in rows]
    party = read_bits(path("ballots.csv"), columns=["party"])
    assert (party.zeros, party.ones) == (("amber",), ("lilac",))
    assert party.table[:, 0].tolist() == [row[0] == "lilac" for row in rows]
