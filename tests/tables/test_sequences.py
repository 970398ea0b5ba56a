"""Sequences, one per line or one per list."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tables.data import real
from veil.chains import read
from veil.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.tables.sequences import SequenceFile, as_log


def test_lines_become_a_log(tmp_path: Path) -> None:
    path = tmp_path / "sessions.txt"
    path.write_text("a title\n1 10  1 \n\n2\t10\r\n", encoding="utf-8")
    table: Any = as_log(SequenceFile(path, skip=1))
    assert table.to_pydict() == {
        "sequence": [0, 0, 0, 1, 1],
        "place": [0, 1, 2, 0, 1],
        "state": [1, 10, 1, 2, 10],
    }
    counts = read(SequenceFile(path, skip=1))
    assert counts.states == (1, 2, 10)
    assert counts.matrix.tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]
    by_columns = read(table, by="sequence", order="place", state="state")
    assert (by_columns.states, by_columns.matrix.tolist()) == (counts.states, counts.matrix.tolist())
    # Of lines nobody knows whose they are.
    assert (by_columns.provenance.without_names, counts.provenance.without_names) == (False, True)


def test_a_separator_may_stand_between_labels_with_spaces(tmp_path: Path) -> None:
    path = tmp_path / "sessions.txt.gz"
    path.write_bytes(gzip.compress(b"front page, news\nnews, front page, 007\n"))
    counts = read(SequenceFile(path, separator=","))
    assert counts.states == ("007", "front page", "news")
    assert counts.total == 3
    path.write_bytes(gzip.compress(b"a,,b\n"))
    with pytest.raises(InvalidData, match="empty cells"):
        read(SequenceFile(path, separator=","))


def test_lists_of_labels() -> None:
    counts = read([["a", "b", "a"], ["b"], ("b", "a")], sequences=True, cap=5)
    assert counts.matrix.tolist() == [[0, 1], [2, 0]]
    assert counts.provenance.has_users
    assert counts.sequences is not None
    assert counts.sequences.starts.tolist() == [1, 2]
    assert counts.sequences.lengths[:4].tolist() == [1, 1, 1, 0]
    assert read([[2, 1], [1, 1]], states=["1", "2"]).matrix.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("source", [[], ["ab", "cd"], [["a", 1]], [[1.5, 2.5]], [[True, False]], [[b"a"]]])
def test_other_lists_are_refused(source: Any) -> None:
    with pytest.raises((InvalidArgument, InvalidData), match="source"):
        read(source)


def test_columns_of_sequences_are_not_asked_for() -> None:
    with pytest.raises(InvalidArgument, match="by: expected none"):
        read([["a", "b"]], by="who")
    with pytest.raises(InvalidArgument, match="origin"):
        read([["a", "b"]], origin="a", destination="b")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no such file"):
        as_log(SequenceFile(tmp_path / "none.txt"))
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(UnreadableFile, match="packed file"):
        as_log(SequenceFile(broken))
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"1 2\n" * 1000)[:-9])
    with pytest.raises(UnreadableFile, match="packed file"):
        as_log(SequenceFile(broken))
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as packed:
        packed.writestr("a", "1 2")
        packed.writestr("b", "1 2")
    with pytest.raises(UnreadableFile, match="one file in the archive, found 2"):
        as_log(SequenceFile(tmp_path / "two.zip"))
    latin = tmp_path / "latin.txt"
    latin.write_bytes("été".encode("latin-1"))
    with pytest.raises(UnreadableFile, match="UTF-8"):
        as_log(SequenceFile(latin))
    latin.write_bytes(b"\n \n")
    with pytest.raises(InvalidData, match="no line with states"):
        as_log(SequenceFile(latin))
    with pytest.raises(InvalidArgument, match="skip"):
        SequenceFile(latin, skip=-1)
    with pytest.raises(InvalidArgument, match="separator"):
        SequenceFile(latin, separator="")


@pytest.mark.slow
def test_visits_to_a_news_site() -> None:
    """The facts that were checked when the file was copied."""
    counts = read(SequenceFile(real("msnbc990928.zip"), skip=7), sequences=True, strata=[(2, 10), (50, 20)])
    assert counts.states == tuple(range(1, 18))
    assert counts.sequences is not None
    assert counts.sequences.lengths.sum() == counts.sequences.starts.sum() == 989_818
    assert np.array_equal(sum(stratum.matrix for stratum in counts.strata), counts.matrix)
    whole = read(SequenceFile(real("msnbc990928.zip"), skip=7), memory=2)
    assert whole.total == 3_708_976
    assert int(whole.matrix.min()) >= 2
    assert whole.second is not None
    assert np.array_equal(whole.second.sum(axis=0), whole.matrix)
    assert counts.total < whole.total
