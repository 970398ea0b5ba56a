"""Reading vectors as people write them, and refusing what is broken without quoting it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.errors import InvalidData, UnreadableFile, VeilError
from veil.vectors.reading import read_vector


def _read(tmp_path: Path, text: str | bytes, name: str = "v.csv", **columns: str) -> tuple[object, object]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    vector = read_vector(str(path), **columns)
    return vector.values, vector.labels


@pytest.mark.parametrize(
    ("text", "values", "labels"),
    [
        ("grade,students\nA,31\nB,28\n", (31.0, 28.0), ("A", "B")),
        ("A,31\nB,28\n", (31.0, 28.0), ("A", "B")),
        ("0.25\n0.75\n", (0.25, 0.75), None),
        ("share\n0.25\n0.75\n", (0.25, 0.75), None),
        ("A,B,C\n1,2,3\n", (1.0, 2.0, 3.0), ("A", "B", "C")),
        ("\ufeffA,31\r\n\r\nB,28\r\n", (31.0, 28.0), ("A", "B")),
        ('"a, b",1\n"c",2\n', (1.0, 2.0), ("a, b", "c")),
        (" A , 1e-3 \n B , 2 \n", (0.001, 2.0), ("A", "B")),
    ],
)
def test_csv(tmp_path: Path, text: str, values: object, labels: object) -> None:
    assert _read(tmp_path, text) == (values, labels)


def test_other_separators(tmp_path: Path) -> None:
    assert _read(tmp_path, "grade;share\nA;0,25\nB;0,75\n") == ((0.25, 0.75), ("A", "B"))
    assert _read(tmp_path, "A\t1\nB\t2\n") == ((1.0, 2.0), ("A", "B"))


@pytest.mark.parametrize(
    ("cell", "words"), [("31%", "a percentage"), ('"1,031"', "separators of thousands"), ("x", "text")]
)
def test_what_is_no_number_is_named_by_its_kind(tmp_path: Path, cell: str, words: str) -> None:
    with pytest.raises(InvalidData, match=words):
        _read(tmp_path, f"A,{cell}\nB,{cell}\n")


def test_named_columns(tmp_path: Path) -> None:
    text = "id,grade,n\n7,A,31\n8,B,28\n"
    assert _read(tmp_path, text, label_column="grade", value_column="n") == ((31.0, 28.0), ("A", "B"))
    with pytest.raises(InvalidData, match="Did you mean 'grade'"):
        _read(tmp_path, text, label_column="grades", value_column="n")
    with pytest.raises(InvalidData, match="label_column="):
        _read(tmp_path, text)
    with pytest.raises(InvalidData, match="no header"):
        _read(tmp_path, "A,1\nB,2\n", value_column="n")


def test_json(tmp_path: Path) -> None:
    assert _read(tmp_path, "[1, 2.5]", "v.json") == ((1.0, 2.5), None)
    assert _read(tmp_path, '{"A": 1, "B": 2}', "v.json") == ((1.0, 2.0), ("A", "B"))
    assert _read(tmp_path, "[1, 2.5]", "v.txt") == ((1.0, 2.5), None)


def test_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"A,1\nB,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert read_vector("-").labels == ("A", "B")


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "header\n", "A,1\nB\n", "A,1\nA,2\n", "A,x\nB,1\n", "A,1\nB,\n", "1\n", "A,1_000\nB,2\n",
     'a,"1\nb,2\n', b"\xff\xfe1,2\n", "A,1\nB,987654321oops\n"],
)  # fmt: skip
def test_broken_csv(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(VeilError) as caught:
        _read(tmp_path, text)
    assert caught.value.exit_code == 4
    assert "987654321" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["{", "3", '"a"', "[true, 1]", '["1", 2]', "[[1], [2]]", "[1e999999, 2, null]", "[1]"]
)
def test_broken_json(tmp_path: Path, text: str) -> None:
    with pytest.raises(VeilError) as caught:
        _read(tmp_path, text, "v.json")
    assert caught.value.exit_code == 4


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no such file"):
        read_vector(str(tmp_path / "none.csv"))
    with pytest.raises(UnreadableFile):
        read_vector(str(tmp_path))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_bytes_crash_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(content)
    try:
        vector = read_vector(str(path))
    except VeilError:
        return
    assert len(vector.values) >= 2
