"""From tables of two values to bits and back, and what a hurried newcomer is told."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.bits.files import check_columns, write_bits
from veil.bits.reading import DROPPED, ROWS, VALUES, BitSource
from veil.bits.verbs import read as read_bits
from veil.core.mechanism import ROW_BY_ROW
from veil.errors import InvalidArgument, InvalidData, OutputExists, UnreadableFile

HOUSE = Path(__file__).parents[3] / "shared" / "data" / "house-votes-84.data"
NAMED = "the first line of the file names the columns, and is public"
SMALL = {"smoker": ["yes", "no", "no"], "drinks": ["no", "no", "yes"]}
CSV = "smoker,drinks\nyes,no\nno,no\nno,yes\n"
BITS = [[1, 0], [0, 0], [0, 1]]


def put(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def bits_of(source: BitSource) -> list[list[int]]:
    return [[int(bit) for bit in row] for row in source.table]


def complaint(path: Path, **options: Any) -> str:
    """What the error says, if there is one."""
    try:
        read_bits(path, **options)
    except (InvalidData, InvalidArgument) as error:
        return str(error)
    return ""


def sources(folder: Path) -> dict[str, Any]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(SMALL)
    pq.write_table(table, folder / "t.parquet")
    lines = "".join(
        json.dumps({"smoker": a, "drinks": b}) + "\n" for a, b in zip(*SMALL.values(), strict=True)
    )
    return {
        "mapping": SMALL,
        "pandas": pd.DataFrame(SMALL),
        "categories": pd.DataFrame(SMALL, dtype="category"),
        "polars": pl.DataFrame(SMALL),
        "lazy": pl.LazyFrame(SMALL),
        "arrow": table,
        "batch": table.to_batches()[0],
        "parquet": folder / "t.parquet",
        "csv": put(folder, CSV),
        "text path": str(put(folder, CSV)),
        "packed": put(folder, gzip.compress(CSV.encode()), "t.csv.gz"),
        "json lines": put(folder, lines, "t.jsonl"),
        "packed json": put(folder, gzip.compress(lines.encode()), "t.jsonl.gz"),
        "tabs": put(folder, CSV.replace(",", "\t"), "t.tsv"),
        "semicolons": put(folder, CSV.replace(",", ";"), "s.csv"),
        "bars": put(folder, CSV.replace(",", "|"), "b.txt"),
        "spaces": put(folder, CSV.replace(",", " "), "s.txt"),
        "spaced": put(folder, CSV.replace(",", " , "), "p.csv"),
        "windows": put(folder, CSV.replace("\n", "\r\n"), "w.csv"),
        "byte order mark": put(folder, b"\xef\xbb\xbf" + CSV.encode(), "m.csv"),
        "quotes": put(folder, CSV.replace("smoker", '"smoker"').replace("no,no", '"no","no"'), "q.csv"),
        "no last line break": put(folder, CSV.rstrip(), "n.csv"),
        "blank lines": put(folder, "\n\n" + CSV.replace("\n", "\n\n"), "l.csv"),
    }


def test_every_source_gives_the_same_bits(tmp_path: Path) -> None:
    for name, source in sources(tmp_path).items():
        found = read_bits(source)
        assert bits_of(found) == BITS, name
        assert found.columns == ("smoker", "drinks"), name
        assert (found.zeros, found.ones, found.dropped) == (("no", "no"), ("yes", "yes"), ()), name
        computed = (ROW_BY_ROW,) if name == "lazy" else ()
        assert found.assumptions in ((*computed, ROWS), (NAMED, ROWS)), name
        assert found.table.dtype == np.bool_
        assert not found.table.flags.writeable
        chosen = read_bits(source, columns=["drinks"])
        assert bits_of(chosen) == [row[1:] for row in BITS], name
        assert bits_of(read_bits(source, columns=["drinks", "smoker"])) == [row[::-1] for row in BITS], name


@pytest.mark.parametrize(
    "source",
    [
        np.array(BITS),
        np.array(BITS, dtype=bool),
        np.array(BITS, dtype=float),
        np.array(BITS, dtype=np.uint8, order="F"),
        BITS,
        [tuple(row) for row in BITS],
        [[bool(cell) for cell in row] for row in BITS],
        np.array(BITS).astype(str),
    ],
)
def test_arrays_and_lists(source: Any) -> None:
    found = read_bits(source)
    assert bits_of(found) == BITS
    assert found.columns == ("column1", "column2")
    assert found.ones in (("1", "1"), ("true", "true"))
    assert bits_of(read_bits(source, columns="column2")) == [row[1:] for row in BITS]


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        *(("no", "yes"), ("N", "Y"), ("False", "True"), ("f", "t"), ("0", "1"), ("-", "+"), ("NO", "YES")),
        *((0, 1), (0.0, 1.0), (False, True), ("0.0", "1.0")),
    ],
)
def test_usual_pairs_are_known_even_where_one_value_occurs(zero: Any, one: Any) -> None:
    """All columns over a usual pair are read in the same way: the reading tells nothing about them."""
    read = [read_bits({"a": cells}) for cells in ([zero, one], [one, zero], [one, one], [zero, zero])]
    assert [bits_of(found) for found in read] == [[[0], [1]], [[1], [0]], [[1], [1]], [[0], [0]]]
    assert len({(found.zeros, found.ones, found.assumptions) for found in read}) == 1
    assert read[0].assumptions == (ROWS,)


def test_two_other_values_are_sorted_and_public() -> None:
    for cells, zero, one in (
        (["m", "f"], "f", "m"),
        ([2, 1], "1", "2"),
        ([10, 9], "9", "10"),
        (["été", "Zürich"], "Zürich", "été"),
        (["a b", "a,b"], "a b", "a,b"),
        ([-1, 1], "-1", "1"),
    ):
        found = read_bits({"c": cells})
        assert (found.zeros, found.ones) == ((zero,), (one,))
        assert found.assumptions == (ROWS, VALUES)
    # Spelt in several ways: how is for the data to say.
    mixed = read_bits({"c": ["Yes", "yes", "NO"]})
    assert (bits_of(mixed), mixed.ones) == ([[1], [1], [0]], ("yes",))
    assert mixed.assumptions == (ROWS, VALUES)


def test_values_may_be_given() -> None:
    table = {"sex": ["m", "m"], "vote": ["y", "n"]}
    with pytest.raises(InvalidData, match="sex: expected two different values, found 1 value only"):
        read_bits(table)
    found = read_bits(table, values={"sex": ("f", "m")})
    assert bits_of(found) == [[1, 1], [1, 0]]
    assert (found.zeros, found.ones, found.assumptions) == (("f", "n"), ("m", "y"), (ROWS,))
    turned = read_bits({"a": ["y", "n"], "b": ["n", "n"]}, values=("y", "n"))
    assert bits_of(turned) == [[0, 1], [1, 1]]
    assert bits_of(read_bits({"a": [1.0, 2.0]}, values=(2, 1))) == [[1], [0]]
    assert bits_of(read_bits({"a": [True, False]}, values=(True, False))) == [[0], [1]]
    # What the user calls a value is no gap.
    assert bits_of(read_bits({"a": ["NA", "EU"]}, values=("EU", "NA"))) == [[1], [0]]


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        (("y",), InvalidArgument, "two values with a comma"),
        ("yn", InvalidArgument, "two values with a comma"),
        ({"smoker": ("y",)}, InvalidArgument, "found 1 values"),
        ({"smoker": "yn"}, InvalidArgument, "found str"),
        (("y", "y"), InvalidArgument, "the same twice"),
        (("y", ""), InvalidArgument, "an empty one"),
        ({"smokr": ("n", "y")}, InvalidData, "Did you mean 'smoker'"),
        (("no", "y"), InvalidData, "smoker: expected one of its two values in every row, found another one"),
    ],
)
def test_values_that_do_not_fit(values: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        read_bits(SMALL, values=values)


GAPS: list[Any] = [None, float("nan"), "?", "NA", "", "NaN", "NULL", " "]


@pytest.mark.parametrize("gap", GAPS)
def test_gaps(gap: Any) -> None:
    table = {"a": ["y", gap, "n"], "b": ["n", "n", "y"], "c": [gap, "y", gap]}
    with pytest.raises(InvalidData, match=r"^a: expected a value in every row, found gaps; 2 columns have"):
        read_bits(table)
    assert bits_of(read_bits(table, missing="no")) == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert bits_of(read_bits(table, missing="yes")) == [[1, 0, 1], [1, 0, 1], [0, 1, 1]]
    dropped = read_bits(table, missing="drop-column")
    assert (dropped.columns, dropped.dropped) == (("b",), ("a", "c"))
    assert dropped.assumptions == (ROWS, DROPPED)
    # Whether a column was left out is public, so it is said even where none was.
    assert read_bits(SMALL, missing="drop-column").assumptions == (ROWS, DROPPED)
    with pytest.raises(InvalidData, match="a column without gaps"):
        read_bits({"a": ["y", gap]}, missing="drop-column")
    with pytest.raises(InvalidData, match=r"^b: expected two different values, found no different values"):
        read_bits({"a": ["y", "n"], "b": [gap, gap]}, missing="no")


def test_gaps_of_frames() -> None:
    import pandas as pd
    import polars as pl

    floats = pd.DataFrame({"a": [1.0, np.nan, 0.0], "b": pd.array([True, None, False], dtype="boolean")})
    mixed = pd.DataFrame({"a": [1, "?", 0], "b": [True, None, "false"]})
    for frame in (floats, mixed, pl.DataFrame({"a": [1, None, 0], "b": [True, None, False]})):
        found = read_bits(frame, missing="no")
        assert bits_of(found) == [[1, 1], [0, 0], [0, 0]]
        assert found.ones == ("1", "true")
        with pytest.raises(InvalidData, match=r"^a: .*2 columns have"):
            read_bits(frame)


@pytest.mark.parametrize(
    ("text", "has_names"),
    [
        ("y,n\nn,n\ny,y\n", False),
        ("?,n\nn,n\ny,y\n", False),
        ("Y,n\ny,n\nn,n\n", False),
        ("dem,y,n\nrep,n,n\ndem,n,y\n", False),
        ("0 1 1\n1 1 0\n", False),
        ("q1,q2\n1,0\n0,0\n", True),
        ("q1,q2\n1,1\n", True),
        (",q1\n1,0\n2,0\n3,1\n", True),
        ("name,q1\nann,y\nbob,n\n", True),
        ("sex\nm\nf\nm\n", True),
    ],
)
def test_the_first_line_is_told_from_the_rest(tmp_path: Path, text: str, has_names: bool) -> None:
    path = put(tmp_path, text, "table.txt" if " " in text else "table.csv")
    lines = len(text.splitlines())
    wanted = "q1" if "q1" in text else None
    for header in (None, has_names):
        found = read_bits(path, columns=wanted, missing="no", header=header)
        assert len(found) == lines - has_names
        assert found.columns[-1].startswith("column") != has_names
        assert (NAMED in found.assumptions) == (has_names and header is None and wanted is None)


def test_numbers_below_text_tell_that_the_text_is_names(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"^column1: expected two different values, found 3"):
        read_bits(put(tmp_path, "age,income\n31,100\n32,200\n33,150\n"))


@pytest.mark.parametrize(
    "text", ["0,1,2\n1,1,0\n0,1,0\n", "y\n", "sex,x\n", "a,b\nc,d\n", "y,vote\ny,n\nn,y\n"]
)
def test_no_record_is_lost_where_the_first_line_may_be_one(tmp_path: Path, text: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(InvalidData, match=r"may be either.*Say which with header="):
        read_bits(path)


def test_header_is_believed(tmp_path: Path) -> None:
    path = put(tmp_path, "0,1,2\n1,1,0\n0,1,0\n")
    named = read_bits(path, header=True)
    assert (named.columns, bits_of(named)) == (("0", "1", "2"), [[1, 1, 0], [0, 1, 0]])
    assert bits_of(read_bits(path, header=False, columns=["column1", "column2"])) == [[0, 1], [1, 1], [0, 1]]
    with pytest.raises(InvalidData, match=r"column3: .*found 3 different values"):
        read_bits(put(tmp_path, "0,1,2\n1,1,0\n0,1,1\n"), header=False)
    with pytest.raises(InvalidData, match="a table with rows"):
        read_bits(put(tmp_path, "a,b\n"), header=True)


def test_messages_never_show_cells(tmp_path: Path) -> None:
    """A secret in any cell of a broken table is not quoted."""
    tries: list[dict[str, Any]] = [{}, {"missing": "no"}, {"columns": ["b"]}, {"values": ("n", "y")}]
    tries += [{"columns": "sec"}, {"header": False}, {"delimiter": ";"}]
    broken = [
        "a,b\nsecret,y\nx,n\nz,n\n",
        "a,b\ny,n\nn,y,secret\n",
        "a,b\ny,n\nn\nsecret,y\n",
        'a,b\ny,n\n"secret,y\nn,n\n',
        "a,b\nsecret,y\nsecret,n\n",
        "secret,b\nother,c\n",
        "secret,y\nother,n\n",
    ]
    for text in broken:
        for options in tries:
            assert "secret" not in complaint(put(tmp_path, text), **options), (text, options)
    # Who knows one cell of the first line is not told the others.
    for columns in (["b", "x"], ["x", "b"], ["secre"]):
        shown = complaint(put(tmp_path, "secret,b\nother,c\n"), columns=columns)
        assert "may be either" in shown
        assert "secret" not in shown
    for name in ("t.jsonl", "t.parquet"):
        with pytest.raises(InvalidData) as caught:
            read_bits(put(tmp_path, '{"a": secret}\n', name))
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "found an empty file"),
        ("\n\n", {}, "found an empty file"),
        ("a,a\ny,n\nn,n\n", {}, "columns with different names, found one of them twice"),
        ("a,b\ny,n\nn\n", {}, "line 3: expected 2 cells as in the first line, found 1"),
        (
            "a,b\n1,y\n2,n\n3,y\n",
            {},
            "column1: expected two different values, found 3 different values. Choose",
        ),
        (CSV, {"columns": ["smokr"]}, "a column 'smokr', found none of that name"),
        (CSV, {"columns": ["drinks", "smokr"]}, "Did you mean 'smoker'"),
        (CSV, {"columns": []}, "names of columns"),
        (CSV, {"columns": ["smoker", "smoker"]}, "one of them twice"),
        (CSV, {"columns": 3}, "found int"),
        (CSV, {"missing": "maybe"}, "'no' or 'yes' or 'drop-column' or 'own-column'"),
        (CSV, {"delimiter": ";;"}, "one mark"),
        (
            CSV,
            {"delimiter": ";"},
            "^delimiter: .*';', which does not occur in the first lines. Leave delimiter=",
        ),
        (CSV, {"delimiter": ";", "header": True}, "^delimiter: "),
        (CSV, {"delimiter": ";", "columns": "smoker"}, "^delimiter: "),
        (CSV, {"delimiter": "tab", "columns": "smoker", "header": True}, "^delimiter: "),
        (CSV, {"header": "yes"}, "True, False or None"),
        ("smoker\ncaf\xe9\n".encode("latin-1"), {}, "another encoding in line 2"),
        (CSV.encode("utf-16"), {}, "UTF-16. Save it as UTF-8"),
        (b"\0\1\2", {}, "another kind of file"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str | bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidData, InvalidArgument), match=message):
        read_bits(put(tmp_path, text), **options)


def test_paths_that_are_wrong(tmp_path: Path) -> None:
    put(tmp_path, CSV, "votes.csv")
    for path, message in (
        (tmp_path / "vote.csv", "no such file. Did you mean '.*votes.csv'"),
        (tmp_path / "nowhere" / "votes.csv", "There is no folder"),
        (tmp_path, "found a folder. Use a glob"),
        (".", r"^\.: expected a file, found a folder"),
        ("", "^source: expected a file, found a folder"),
        ("..", r"^\.\.: expected a file"),
        ("/dev/zero", "^/dev/zero: expected a file, found a device"),
        (tmp_path / "*.parquet", "files that match"),
        (put(tmp_path, "PK", "votes.xlsx"), "Save the sheet as CSV"),
        (put(tmp_path, CSV, "votes.csv.gz"), "a packed file that is whole"),
        (put(tmp_path, gzip.compress(CSV.encode() * 99)[:-20], "cut.csv.gz"), "a packed file that is whole"),
    ):
        with pytest.raises(UnreadableFile, match=message):
            read_bits(path)
    with pytest.raises(InvalidArgument, match="an address"):
        read_bits("https://example.org/votes.csv")
    for source in (3, None, object()):
        with pytest.raises(InvalidArgument, match="an object of type"):
            read_bits(source)


def test_objects_that_are_no_tables() -> None:
    import pandas as pd

    tables: list[Any] = [
        np.zeros(3),
        [0, 1],
        [[0, 1], [1]],
        [],
        pd.Series([0, 1]),
        {"a": [[1], [2]]},
        {"a": [1], "b": [1, 0]},
        pd.DataFrame([[0, 1]], columns=["a", "a"]),
        {"a": []},
    ]
    for source in tables:
        with pytest.raises(InvalidData):
            read_bits(source)
    with pytest.raises(InvalidArgument, match="header: expected none for this kind of source"):
        read_bits(SMALL, header=True)
    with pytest.raises(InvalidArgument, match="delimiter: expected none for this kind of source"):
        read_bits(SMALL, delimiter=",")


def test_a_single_column_has_no_separator(tmp_path: Path) -> None:
    path = put(tmp_path, "a;b\nc;d\nc;d\ne;f\n")
    found = read_bits(path, delimiter=",", header=True)
    assert (found.columns, found.zeros, found.ones) == (("a;b",), ("c;d",), ("e;f",))
    assert bits_of(read_bits(put(tmp_path, "smoker\nyes\nno\n"), delimiter=";")) == [[1], [0]]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("-", "/dev/stdin"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
        assert bits_of(read_bits(path)) == BITS


def test_arrow_holds_nothing_of_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one of its threads may let go of it when Python has ended, which aborts a command that failed."""
    import pyarrow as pa
    from pyarrow import csv

    seen = []

    def spy(source: Any, *, read_options: Any, **options: Any) -> Any:
        seen.append((read_options.use_threads, pa.total_allocated_bytes() - before))
        return real(source, read_options=read_options, **options)

    real = csv.read_csv
    monkeypatch.setattr(csv, "read_csv", spy)
    text = CSV + "yes,no\n" * 200_000
    before = pa.total_allocated_bytes()
    assert len(read_bits(put(tmp_path, text))) == 200_003
    assert [threads for threads, _ in seen] == [False]
    # A view of Python's bytes would not be Arrow's to count.
    assert seen[0][1] > len(text) / 2


def test_one_column_and_its_empty_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "smoker\nyes\n\nno\n\n")
    assert bits_of(read_bits(path, missing="no")) == [[1], [0], [0]]
    with pytest.raises(InvalidData, match=r"column1: .*gaps"):
        read_bits(path)


def test_several_files(tmp_path: Path) -> None:
    put(tmp_path, "a,b\ny,n\nn,n\n", "part1.csv")
    put(tmp_path, "a,b\nn,m\ny,n\n", "part2.csv")
    found = read_bits(tmp_path / "part*.csv")
    assert bits_of(found) == [[1, 1], [0, 1], [0, 0], [1, 1]]
    assert found.ones == ("y", "n")
    put(tmp_path, "b,a\ny,n\n", "part3.csv")
    with pytest.raises(InvalidData, match="the same first line"):
        read_bits(tmp_path / "part*.csv")


def test_repr_is_public() -> None:
    assert repr(read_bits(SMALL)) == "<BitSource of 3 rows and 2 columns, sensitive>"


@pytest.mark.skipif(not HOUSE.is_file(), reason="the votes of 1984 are not here")
def test_house_votes() -> None:
    with pytest.raises(InvalidData, match=r"^column2: .*16 columns have some"):
        read_bits(HOUSE)
    votes = read_bits(HOUSE, missing="no")
    assert votes.table.shape == (435, 17)
    assert (votes.zeros[0], votes.ones[0]) == ("democrat", "republican")
    lines = [line.split(",") for line in HOUSE.read_text().split()]
    assert votes.table[:, 1:].tolist() == [[vote == "y" for vote in line[1:]] for line in lines]
    assert votes.assumptions == (ROWS, VALUES)
    assert read_bits(HOUSE, missing="drop-column").columns == ("column1",)


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=2, max_size=6).map(str.strip)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, list[str], list[tuple[str, str]]]:
    width = draw(st.integers(1, 4))
    columns = draw(st.lists(NAMES.filter(bool), min_size=width, max_size=width, unique=True))
    values = NAMES.filter(lambda text: bool(text) and text not in {"NA", "N/A", "NaN", "NULL", "nan", "null"})
    pairs = [draw(st.tuples(values, values).filter(lambda pair: pair[0] != pair[1])) for _ in range(width)]
    rows = draw(st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=6))
    return np.array(rows, dtype=bool), columns, pairs


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet"])
@settings(deadline=None, max_examples=25)
@given(table=tables())
def test_what_is_written_is_read_again(
    ending: str, table: tuple[Any, list[str], list[tuple[str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    bits, columns, pairs = table
    path = tmp_path_factory.mktemp("bits") / f"table{ending}"
    zeros, ones = [zero for zero, _ in pairs], [one for _, one in pairs]
    write_bits(path, bits, columns, ones=ones, zeros=zeros)
    header = None if ending == ".parquet" else True
    delimiter = None if ending in {".parquet", ".tsv"} else ","
    found = read_bits(path, values=dict(zip(columns, pairs, strict=True)), header=header, delimiter=delimiter)
    assert found.table.tolist() == bits.tolist()
    assert found.columns == tuple(columns)
    assert (list(found.zeros), list(found.ones)) == (zeros, ones)


def test_writing(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_bits(path, np.array(BITS), ["smoker", "drinks"], ones=["yes"] * 2, zeros=["no"] * 2)
    assert path.read_text() == CSV
    with pytest.raises(OutputExists):
        write_bits(path, np.array(BITS), ["a", "b"], ones=["1"] * 2, zeros=["0"] * 2)
    write_bits(path, np.array(BITS) > 0, ["a,b", "c"], ones=["1"] * 2, zeros=["0"] * 2, overwrite=True)
    assert path.read_text() == '"a,b",c\n1,0\n0,0\n0,1\n'
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    good: dict[str, Any] = {"table": BITS, "columns": ["a", "b"], "ones": ["1", "1"], "zeros": ["0", "0"]}
    for changed in (
        {"table": [[0, 2], [1, 1]]},
        {"table": [0, 1]},
        {"table": [[0.0, 1.0]]},
        {"columns": ["a"]},
        {"columns": ["a", "a"]},
        {"columns": ["a", ""]},
        {"ones": ["1"]},
        {"ones": ["1", "0"]},
        {"zeros": ["0", " "]},
    ):
        options = good | changed
        with pytest.raises(InvalidArgument):
            write_bits(
                tmp_path / "new.csv",
                options["table"],
                options["columns"],
                ones=options["ones"],
                zeros=options["zeros"],
            )
    with pytest.raises(InvalidArgument, match="an ending of"):
        write_bits(tmp_path / "new.xlsx", BITS, ["a", "b"], ones=["1"] * 2, zeros=["0"] * 2)


def test_names_are_checked_before_anything_is_drawn(tmp_path: Path) -> None:
    """`check_columns` says what `write_bits` would say, and leaves no file."""
    good: dict[str, Any] = {"columns": ["a", "b"], "ones": ["1", "1"], "zeros": ["0", "0"]}
    for name, changed in (
        ("t.xlsx", {}),
        ("t.csv", {"columns": ["a", "a"]}),
        ("t.csv", {"columns": ["a", " "]}),
        ("t.csv", {"ones": ["1"]}),
        ("t.csv", {"ones": ["1", "0"]}),
        ("t.parquet", {"zeros": ["0", " "]}),
    ):
        options = good | changed
        with pytest.raises(InvalidArgument) as caught:
            check_columns(tmp_path / name, **options)
        with pytest.raises(InvalidArgument) as written:
            write_bits(tmp_path / name, np.zeros((2, 2), dtype=bool), **options)
        assert str(caught.value) == str(written.value)
    check_columns(tmp_path / "t.csv", **good)
    assert not list(tmp_path.iterdir())


def test_the_same_table_gives_the_same_packed_file(tmp_path: Path) -> None:
    bits = np.random.default_rng(1).random((1000, 3)) < 0.5
    for name in ("one.csv.gz", "two.csv.gz"):
        write_bits(tmp_path / name, bits, ["a", "b", "c"], ones=["y"] * 3, zeros=["n"] * 3)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert np.array_equal(read_bits(tmp_path / "one.csv.gz").table, bits)


@pytest.mark.slow
def test_a_large_table(tmp_path: Path) -> None:
    """100,000 rows of 30 columns, over several blocks of the reader, keep their order."""
    bits = np.random.default_rng(2).random((100_000, 30)) < 0.3
    columns = [f"q{i}" for i in range(30)]
    for name in ("large.csv", "large.parquet"):
        write_bits(tmp_path / name, bits, columns, ones=["agree"] * 30, zeros=["disagree"] * 30)
        found = read_bits(tmp_path / name, values=("disagree", "agree"))
        assert np.array_equal(found.table, bits)
