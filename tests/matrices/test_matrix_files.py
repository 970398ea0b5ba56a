"""Reading matrices as people write them, and refusing what is broken without quoting it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import veil
from veil.core.intake import NamedMatrix
from veil.errors import InvalidData, UnreadableFile, VeilError
from veil.matrices.reading import read_matrix

TABLE = [[0.25, 0.75], [0.5, 0.5]]


def _read(folder: Path, text: str | bytes, name: str = "m.csv") -> NamedMatrix:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_matrix(str(path))


def _parts(taken: NamedMatrix) -> tuple[Any, Any, Any]:
    entries: Any = taken.entries
    table = entries.toarray() if sparse.issparse(entries) else entries
    return table.tolist(), taken.rows, taken.columns


# Tables


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("0.25,0.75\n0.5,0.5\n", None, None),
        ("a,b\n0.25,0.75\n0.5,0.5\n", None, ("a", "b")),
        ("a,0.25,0.75\nb,0.5,0.5\n", ("a", "b"), None),
        ("from,a,b\na,0.25,0.75\nb,0.5,0.5\n", ("a", "b"), ("a", "b")),
        (",a,b\na,0.25,0.75\nb,0.5,0.5\n", ("a", "b"), ("a", "b")),
        ("state,left,right\ns,0.25,0.75\nt,0.5,0.5\n", ("s", "t"), ("left", "right")),
        (",0,1\na,0.25,0.75\nb,0.5,0.5\n", ("a", "b"), ("0", "1")),
        ("\ufefffrom,a,b\r\n\r\na,0.25,0.75\r\nb,0.5,0.5\r\n", ("a", "b"), ("a", "b")),
        (" from , a , b \n a , 25e-2 , .75 \n b , 0.5 , 0.5 \n", ("a", "b"), ("a", "b")),
        ("from;a;b\na;0,25;0,75\nb;0,5;0,5\n", ("a", "b"), ("a", "b")),
        ("from\ta\tb\na\t0.25\t0.75\nb\t0.5\t0.5\n", ("a", "b"), ("a", "b")),
        ('from,"a, b",c\n"a, b",0.25,0.75\nc,0.5,0.5\n', ("a, b", "c"), ("a, b", "c")),
        ("from,b,a\na,0.25,0.75\nb,0.5,0.5\n", ("a", "b"), ("b", "a")),
    ],
)
def test_tables(tmp_path: Path, text: str, rows: Any, columns: Any) -> None:
    assert _parts(_read(tmp_path, text)) == (TABLE, rows, columns)


@pytest.mark.parametrize("corner", ["from", "", "state", "origin"])
@pytest.mark.parametrize("names", [("0", "1"), ("2019", "2020"), ("1", "2")])
def test_labels_may_be_numbers(tmp_path: Path, corner: str, names: tuple[str, str]) -> None:
    """As Veil itself writes a matrix without labels, and as pandas does."""
    first, second = names
    text = f"{corner},{first},{second}\n{first},0.25,0.75\n{second},0.5,0.5\n"
    assert _parts(_read(tmp_path, text)) == (TABLE, names, names)
    policy = f"{corner},left,right\n{first},0.25,0.75\n{second},0.5,0.5\n"
    assert _parts(_read(tmp_path, policy)) == (TABLE, names, ("left", "right"))


def test_what_pandas_writes(tmp_path: Path) -> None:
    for frame in (
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE, index=["a", "b"], columns=["a", "b"]),
        pd.DataFrame(TABLE, index=[3, 4], columns=["x", "y"]),
    ):
        names = tuple(map(str, frame.index)), tuple(map(str, frame.columns))
        assert _parts(_read(tmp_path, frame.to_csv())) == (TABLE, *names)
    named = pd.DataFrame(TABLE, index=["a", "b"], columns=["a", "b"])
    assert _parts(_read(tmp_path, named.to_csv(index=False))) == (TABLE, None, ("a", "b"))
    assert _parts(_read(tmp_path, named.to_csv(header=False))) == (TABLE, ("a", "b"), None)
    assert _parts(_read(tmp_path, named.to_csv(header=False, index=False))) == (TABLE, None, None)


def test_a_policy_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    """Three states, two actions: as many lines as cells in a line, and still no header."""
    taken = _read(tmp_path, "a,0.1,0.9\nb,0.25,0.75\nc,0.5,0.5\n")
    assert _parts(taken) == ([[0.1, 0.9], *TABLE], ("a", "b", "c"), None)


def test_one_row(tmp_path: Path) -> None:
    assert _parts(_read(tmp_path, "a,b\n0.25,0.75\n")) == ([[0.25, 0.75]], None, ("a", "b"))
    assert _parts(_read(tmp_path, "from,a,b\nx,0.25,0.75\n")) == ([[0.25, 0.75]], ("x",), ("a", "b"))
    assert _parts(_read(tmp_path, "0.25,0.75\n")) == ([[0.25, 0.75]], None, None)


# Lists of transitions


@pytest.mark.parametrize(
    "header",
    ["from,to,probability", "From,To,P", "origin,destination,weight", "source,target,share", "state,next,p"],
)
def test_lists_of_transitions(tmp_path: Path, header: str) -> None:
    taken = _read(tmp_path, f"{header}\nb,a,1\na,b,0.75\na,a,0.25\n")
    # Sorted, whatever the order in the file; and the release will say that the list is public.
    assert _parts(taken) == ([[0.25, 0.75], [1.0, 0.0]], ("a", "b"), ("a", "b"))
    assert taken.names_found
    assert sparse.issparse(taken.entries)
    chain = veil.Chain(taken)
    assert chain.states == ("a", "b")
    assert chain.is_sparse
    assert chain.stationary() == pytest.approx([4 / 7, 3 / 7])


def test_lists_of_transitions_with_decimal_commas(tmp_path: Path) -> None:
    taken = _read(tmp_path, "from;to;p\n1;2;1\n2;1;0,75\n2;2;0,25\n")
    assert _parts(taken) == ([[0.0, 1.0], [0.75, 0.25]], ("1", "2"), ("1", "2"))


def test_a_transition_of_probability_zero_is_none(tmp_path: Path) -> None:
    taken = _read(tmp_path, "from,to,probability\na,b,1\nb,a,1\nb,b,0\n")
    assert veil.Chain(taken).period() == 2


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a,b,1\na,b,0.5\n", "each transition once"),
        ("a,b,1\nb,a,much\n", "line 3.*a number such as 0.31, found text"),
        ("a,b,1\nb,a,\n", "line 3.*found an empty cell"),
        ("a,b,1\nb,a\n", "line 3.*3 cells"),
    ],
)
def test_broken_lists_of_transitions(tmp_path: Path, lines: str, words: str) -> None:
    with pytest.raises(InvalidData, match=words):
        _read(tmp_path, f"from,to,probability\n{lines}")


def test_a_list_without_transitions(tmp_path: Path) -> None:
    with pytest.raises(VeilError) as caught:
        veil.Chain(_read(tmp_path, "from,to,probability\n"))
    assert caught.value.exit_code == 4


# JSON and pipes


def test_json(tmp_path: Path) -> None:
    assert _parts(_read(tmp_path, json.dumps(TABLE), "m.json")) == (TABLE, None, None)
    nested = {"a": {"a": 0.25, "b": 0.75}, "b": {"a": 0.5, "b": 0.5}}
    assert _parts(_read(tmp_path, json.dumps(nested), "m.json")) == (TABLE, ("a", "b"), ("a", "b"))
    policy = {"s": {"left": 0.25, "right": 0.75}, "t": {"left": 0.5, "right": 0.5}}
    assert _parts(_read(tmp_path, json.dumps(policy), "m.txt")) == (TABLE, ("s", "t"), ("left", "right"))
    assert _read(tmp_path, "[[[0.5, 0.5]]]", "m.json").entries.shape == (1, 1, 2)


def test_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (
        b"from,a,b\na,0.25,0.75\nb,0.5,0.5\n",
        b' {"a": {"a": 0.25, "b": 0.75}, "b": {"a": 0.5, "b": 0.5}}',
    ):

        class Stdin:
            buffer = io.BytesIO(text)

        monkeypatch.setattr(sys, "stdin", Stdin())
        assert _parts(read_matrix("-")) == (TABLE, ("a", "b"), ("a", "b"))


def test_errors_from_a_pipe_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"")

    monkeypatch.setattr(sys, "stdin", Stdin())
    with pytest.raises(UnreadableFile, match=r"^standard input: expected a matrix, found an empty file"):
        read_matrix("-")


@pytest.mark.parametrize(
    "text",
    ["{", "3", '"a"', "null", "[[1, 0], [1]]", '[["a"]]', "[[true, false]]", "[[1, null]]", '{"a": 1}',
     '{"a": [1]}', '{"a": {"b": "x"}}', "{}", '{"a": {"b": null}}',
     "[" * 100_000, '[{"from": "a", "to": "b"}]'],
    ids=lambda text: text[:24],
)  # fmt: skip
def test_broken_json(tmp_path: Path, text: str) -> None:
    with pytest.raises(VeilError) as caught:
        _read(tmp_path, text, "m.json")
    assert caught.value.exit_code == 4
    assert "m.json" in str(caught.value)


def test_json_with_numbers_that_are_none(tmp_path: Path) -> None:
    """NamedMatrix for numbers here, refused where probabilities are wanted."""
    for text in ("[[NaN, 1], [0, 1]]", "[[Infinity, 1], [0, 1]]", "[[1e999, 1], [0, 1]]"):
        with pytest.raises(InvalidData, match="finite"):
            veil.Chain(_read(tmp_path, text, "m.json"))


# What is broken


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "\n\n", ",,\n,,\n", ";\n", "a,b\n", "from,a,b\n", "x\n", "a,b\n0.5\n", "a,b\n0.5,x\n",
     "a,a\n0.5,0.5\n1,0\n", "from,a,b\na,1,0\na,0,1\n", "a,b\n0.5,\n0.5,0.5\n", 'a,"b\n0.5,0.5\n',
     b"\xff\xfe1,2\n", "a,b\n0.5,987654321oops\n1,0\n", "a,b\n0.5,1_0\n1,0\n",
     "a,b\n50%,50%\n10%,90%\n", "a\nb\n"],
    ids=lambda text: repr(text)[:30],
)  # fmt: skip
def test_broken_tables(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(VeilError) as caught:
        _read(tmp_path, text)
    assert caught.value.exit_code == 4
    assert "m.csv" in str(caught.value)
    assert "987654321" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("a,b\n0.5,0.5\n0.5,x\n", "line 3, column 2", "text"),
        ("from,a,b\na,0.5,0.5\nb,50%,0.5\n", "line 3, column 2", "a percentage"),
        ('a,b\n0.5,"1,031"\n0.5,0.5\n', "line 2, column 2", "a number with separators of thousands"),
        ("a,b\n0.5,0.5\n,0.5\n", "line 3, column 1", "an empty cell"),
        ("a,b\n\n0.5,0.5\n\n0.5,x\n", "line 5, column 2", "text"),
        ("a,b\n0.5,0.5\n0.5\n", "line 3", "1"),
        ("a,b\n\n0.5,0.5\n0.5\n", "line 4", "1"),
        ("0.5,0.5\n0.5,0.5,0.5\n", "line 2", "3"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, text: str, place: str, found: str) -> None:
    """Lines are counted as an editor counts them, blank ones too."""
    with pytest.raises(InvalidData) as caught:
        _read(tmp_path, text)
    assert caught.value.field == f"m.csv, {place}"
    assert caught.value.found == found


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"none\.csv: expected a file, found no such file"):
        read_matrix(str(tmp_path / "none.csv"))
    with pytest.raises(UnreadableFile):
        read_matrix(str(tmp_path))


def test_releases_are_not_released_again(tmp_path: Path) -> None:
    out = veil.release(
        veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(2))),
        TABLE,
        adjacency=veil.matrices.Rows(1, veil.vectors.Transfer(0.01)),
        rng=1,
    )
    out.save(tmp_path / "r.json")
    with pytest.raises(UnreadableFile, match=r"found a release of Veil.*private already"):
        read_matrix(str(tmp_path / "r.json"))


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(str.encode),
        st.text(alphabet='ab,;"\n\t01.5 {}[]:%-e', max_size=80).map(str.encode),
    )
)
def test_no_bytes_crash_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(content)
    with contextlib.suppress(VeilError):
        assert len(veil.Chain(read_matrix(str(path)))) >= 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_numbers_are_read_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, rows: int, columns: int, seed: int
) -> None:
    table = np.random.default_rng(seed).dirichlet(np.ones(columns), size=rows)
    path = tmp_path_factory.getbasetemp() / "table.csv"
    lines = [",".join(["from", *(f"c{j}" for j in range(columns))])]
    lines += [",".join([f"r{i}", *map(repr, row)]) for i, row in enumerate(table.tolist())]
    path.write_text("\n".join(lines))
    taken = read_matrix(str(path))
    assert isinstance(taken.entries, np.ndarray)
    assert taken.entries.tobytes() == table.tobytes()


def test_numbered_rows_under_any_word(tmp_path: Path) -> None:
    """zone,left,right over 1,0.5,0.5: the first column is a number of the row, not a probability."""
    path = tmp_path / "zones.csv"
    path.write_text("zone,left,right\n1,0.5,0.5\n7,0.25,0.75\n")
    taken = read_matrix(str(path))
    assert taken.rows == ("1", "7")
    assert taken.columns == ("left", "right")
    assert np.asarray(taken.entries).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    path.write_text("a,b,c\n0,0.5,0.5\n0.5,0.25,0.25\n")
    assert read_matrix(str(path)).columns == ("a", "b", "c")
