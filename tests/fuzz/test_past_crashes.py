"""What fuzzing has found, so that it stays found."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.errors import InvalidData, OutputExists, UnreadableFile, VeilError
from veil.releases.writing import replacing
from veil.sources.bits import read_bits
from veil.sources.edges import read_edges
from veil.sources.states import given_states
from veil.sources.supports import read_support

from .guard import guarded


@pytest.mark.parametrize("read", [given_states, read_support])
@pytest.mark.parametrize("text", [";\n", '""\n', ",,\n,,\n", "\t\t\n"])
def test_files_of_empty_cells(read: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match="empty"):
        read(str(path))


def test_an_archive_of_a_file_without_a_name(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("x", "a b\nb a\n")
    raw = out.getvalue()
    # The name is in front of the text and in the list at the end; cut to nothing in the list.
    at = raw.rindex(b"PK\x01\x02")
    path = tmp_path / "walks.zip"
    path.write_bytes(raw[: at + 28] + b"\0\0" + raw[at + 30 : at + 46] + raw[at + 47 :])
    with pytest.raises(UnreadableFile):
        veil.count_transitions(veil.SequenceFile(str(path)))


@pytest.mark.parametrize("read", [read_bits, read_edges, read_support])
def test_parquet_with_text_that_is_none(read: Any, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    good = pa.array(["ab", "cd"])
    broken = pa.Array.from_buffers(pa.string(), 2, [None, good.buffers()[1], pa.py_buffer(b"a\xa7cd")])
    path = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"a": broken, "b": good}), path)
    with pytest.raises(UnreadableFile, match="Parquet"):
        read(str(path))


def test_a_column_cannot_speak_in_our_name(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text('"a\nveil: all is well\x1b[2J",b\n1,2\n')
    with pytest.raises(InvalidData) as caught:
        veil.count_transitions(str(path), origin="origin", destination="b")
    assert str(caught.value).isprintable()


def test_long_names_are_not_quoted_in_full(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("x" * 100_000 + ",b\n1,2\n")
    with pytest.raises(InvalidData) as caught:
        veil.count_transitions(str(path), origin="origin", destination="b")
    assert len(str(caught.value)) < 4000


def test_sizes_that_would_fill_the_memory_are_refused() -> None:
    calls = (
        lambda: veil.FreeWords(10**12, 3),
        lambda: veil.RowByRow(veil.Laplace(0.1, veil.Simplex(3)), rows=10**12),
        lambda: veil.plan_chain(10**12, 100, epsilon=1.0),
        lambda: veil.audit(
            veil.GeometricCounts(1.0, 2), [1, 2], [2, 2], samples=10**12, adjacency=veil.Records()
        ),
        lambda: veil.StaircaseWords(veil.FreeWords(3, 3), 1.0, radius=10**30),
    )
    for call in calls:
        assert isinstance(guarded(call, room=2**30).error, VeilError)


def test_nodes_that_are_only_counted_are_not_made() -> None:
    outcome = guarded(lambda: veil.Graph.from_edges([(0, 1)], 100_000_000), room=2**28)
    assert len(outcome.result) == 1


@pytest.mark.parametrize("overwrite", [False, True])
def test_devices_and_pipes_are_not_replaced(overwrite: bool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(VeilError), replacing(pipe, overwrite=overwrite):
        pass
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".json")
    with replacing(path, overwrite=False) as beside:
        Path(beside).write_text("whole")
    assert path.read_text() == "whole"
    with pytest.raises(OutputExists), replacing(path, overwrite=False):
        pass
