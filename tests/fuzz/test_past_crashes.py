"""What fuzzing has found, so that it stays found."""

from __future__ import annotations

import base64
import io
import os
import stat
import zipfile
from pathlib import Path

import pytest

import veil
from veil.core.writing import replacing
from veil.errors import InvalidData, LedgerCorrupt, OutputExists, UnreadableFile, VeilError

from .guard import guarded


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
        veil.chains.read(veil.chains.SequenceFile(str(path)))


# Text with a byte that is no letter, in a form that DuckDB hands on unseen.
_NO_TEXT = (
    "UEFSMRUEFSwVLkwVBhUAEgAAFhABAAAAYQEFMGIIAAAAWmFuemliYXIVABUUFRgsFQYVEBUGFQYcNgAoAWIYCFphbnppYmFyEREA"
    "AAAKJAIAAAAnAQIDJAAVBBUsFTBMFQYVABIAABZUAQAAAGIIAAAAWmFuemliYXIBAAAAYRUAFRQVGCwVBhUQFQYVBhw2ACgBYhgI"
    "WmFuemliYXIREQAAAAokAgAAAAYBAgMkABUEGTw1ABgGc2NoZW1hFQQAFQwlAhgGb3JpZ2luJQBMHAAAABUMJQIYC2Rlc3RpbmF0"
    "aW9uJQBMHAAAABYGGRwZLCYAHBUMGTUABhAZGAZvcmlnaW4VAhYGFqQBFqoBJlImCBw2ACgBYhgIWmFuemliYXIREQAZLBUEFQAV"
    "AgAVABUQFQIAPBYUGQYZJgAGAAAAJgAcFQwZNQAGEBkYC2Rlc3RpbmF0aW9uFQIWBhakARasASb+ASayARw2ACgBYhgIWmFuemli"
    "YXIREQAZLBUEFQAVAgAVABUQFQIAPBYUGQYZJgAGAAAAFsgCFgYmCBbWAgAZHBgMQVJST1c6c2NoZW1hGOABLy8vLy82QUFBQUFR"
    "QUFBQUFBQUtBQXdBQmdBRkFBZ0FDZ0FBQUFBQkJBQU1BQUFBQ0FBSUFBQUFCQUFJQUFBQUJBQUFBQUlBQUFCRUFBQUFCQUFBQU5U"
    "Ly8vOEFBQUVGRUFBQUFCd0FBQUFFQUFBQUFBQUFBQXNBQUFCa1pYTjBhVzVoZEdsdmJnREkvLy8vRUFBVUFBZ0FCZ0FIQUF3QUFB"
    "QVFBQkFBQUFBQUFBRUZFQUFBQUJ3QUFBQUVBQUFBQUFBQUFBWUFBQUJ2Y21sbmFXNEFBQVFBQkFBRUFBQUEAGCBwYXJxdWV0LWNw"
    "cC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAABMCAABQQVIx"
)


def test_parquet_with_broken_text_that_duckdb_hands_on(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    path.write_bytes(base64.b64decode(_NO_TEXT))
    with pytest.raises(UnreadableFile, match="UTF-8"):
        veil.chains.read(str(path), origin="origin", destination="destination")


def test_an_export_cannot_speak_in_our_name(tmp_path: Path) -> None:
    ledger = veil.Ledger(tmp_path / "budget.db")
    ledger.open("trips", epsilon=1)
    export = ledger.export()
    export["datasets"] = {"trips\nveil: all is well\x1b[2J": export["datasets"]["trips"]}
    with pytest.raises(LedgerCorrupt) as caught:
        ledger.verify(export)
    assert str(caught.value).isprintable()


def test_a_column_cannot_speak_in_our_name(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text('"a\nveil: all is well\x1b[2J",b\n1,2\n')
    with pytest.raises(InvalidData) as caught:
        veil.chains.read(str(path), origin="origin", destination="b")
    assert str(caught.value).isprintable()


def test_long_names_are_not_quoted_in_full(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("x" * 100_000 + ",b\n1,2\n")
    with pytest.raises(InvalidData) as caught:
        veil.chains.read(str(path), origin="origin", destination="b")
    assert len(str(caught.value)) < 4000


def test_sizes_that_would_fill_the_memory_are_refused() -> None:
    calls = (
        lambda: veil.words.FreeWords(10**12, 3),
        lambda: veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(3)), rows=10**12),
        lambda: veil.chains.plan(states=10**12, records=100, epsilon=1.0),
        lambda: veil.audit(
            veil.vectors.GeometricCounts(1.0, 2),
            [1, 2],
            [2, 2],
            samples=10**12,
            adjacency=veil.vectors.Records(),
        ),
        lambda: veil.words.StaircaseWords(veil.words.FreeWords(3, 3), 1.0, radius=10**30),
    )
    for call in calls:
        assert isinstance(guarded(call, room=2**30).error, VeilError)


def test_nodes_that_are_only_counted_are_not_made() -> None:
    outcome = guarded(lambda: veil.graphs.Graph.from_edges([(0, 1)], 100_000_000), room=2**28)
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
