"""Release files: read back bit for bit, refuse what is not one, never half written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil.core.files import to_json
from veil.core.writing import write_text
from veil.errors import InvalidArgument, OutputExists, UnreadableFile


@pytest.fixture
def out() -> veil.Release[Any]:
    mechanism = veil.vectors.DirichletCounts(2.0, 10.0, 3)
    return veil.release(mechanism, {"a": 1, "b": 2, "ü": 3}, adjacency=veil.vectors.Records(), delta=1e-6)


def test_bit_for_bit(out: veil.Release[Any], tmp_path: Path) -> None:
    out.save(tmp_path / "r.json")
    back = veil.load(tmp_path / "r.json")
    assert back.value.tobytes() == out.value.tobytes()
    assert to_json(back) == to_json(out)
    assert back.labels == ("a", "b", "ü")


@pytest.mark.parametrize("name", ["epsilon", "value", "assumptions", "data"])
def test_a_name_twice_is_refused(out: veil.Release[Any], tmp_path: Path, name: str) -> None:
    """Readers differ in which of two values they take: a file could say one thing here and another there."""
    text = to_json(out)
    assert text.count(f'"{name}":') == 1
    (tmp_path / "r.json").write_text(text.replace(f'"{name}":', f'"{name}": 9, "{name}":'))
    with pytest.raises(UnreadableFile, match="one of them twice"):
        veil.load(tmp_path / "r.json")


def test_schema_is_written(out: veil.Release[Any]) -> None:
    content = json.loads(to_json(out))
    assert content["format"] == "veil-release"
    assert content["schema"] == 3
    assert content["veil"] == veil.__version__
    assert set(content) == {
        "format", "schema", "kind", "veil", "created", "mechanism", "domain", "adjacency", "privacy",
        "assumptions", "reproducible", "entry", "records", "value",
    }  # fmt: skip


def test_csv(out: veil.Release[Any], tmp_path: Path) -> None:
    out.save(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "label,probability"
    assert [float(line.split(",")[1]) for line in lines[1:]] == out.value.tolist()
    batch = veil.release(out.mechanism, np.ones((2, 3)), adjacency=veil.vectors.Records(), delta=1e-6)
    batch.save(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[0] == "0,1,2"


def test_existing_files_are_kept(out: veil.Release[Any], tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("precious")
    with pytest.raises(OutputExists, match="exists"):
        out.save(target)
    assert target.read_text() == "precious"
    out.save(target, overwrite=True)
    assert veil.load(target) == out


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(InvalidArgument, match="room to write to"):
        write_text(tmp_path / "x.json", "text", overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_wrong_places_and_endings(out: veil.Release[Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"\.json or \.csv"):
        out.save(tmp_path / "r.txt")
    with pytest.raises(InvalidArgument, match="folder"):
        out.save(tmp_path / "nowhere" / "r.json")
    out.save(tmp_path / "r.json")
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o644


def _spoil(out: veil.Release[Any], path: tuple[str, ...], value: Any) -> str:
    content = json.loads(to_json(out))
    place = content
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "other"),
        (("schema",), 4),
        (("schema",), ...),
        (("mechanism", "name"), "Oracle"),
        (("mechanism", "parameters", "scale"), -1),
        (("mechanism",), None),
        (("adjacency", "name"), "Friends"),
        (("adjacency", "change"), "swap"),
        (("adjacency",), []),
        (("value", "data"), "abc"),
        (("value", "data"), [[1], [1, 2]]),
        (("value", "labels"), ["a"]),
        (("value",), ...),
        (("privacy", "epsilon"), "low"),
        (("privacy", "epsilon"), None),
        (("assumptions",), "none"),
        (("records",), ...),
    ],
)
def test_malformed_records_are_refused(
    out: veil.Release[Any], tmp_path: Path, path: tuple[str, ...], value: Any
) -> None:
    (tmp_path / "bad.json").write_text(_spoil(out, path, value))
    with pytest.raises(UnreadableFile) as caught:
        veil.load(tmp_path / "bad.json")
    assert "bad.json" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe\x00", b"null", b"3", b"[" * 100_000])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path / "bad.json")
    with pytest.raises(UnreadableFile, match="no such file"):
        veil.load(tmp_path / "missing.json")
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path)
