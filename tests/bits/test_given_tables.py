"""What `bits.release` takes besides what was read: paths, frames, arrays and rows, with gaps or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from veil import bits
from veil.bits.reading import ROWS
from veil.bits.requests import as_source
from veil.errors import InvalidArgument, InvalidData

GIVEN = {"tea": ["y", "n", "?"], "milk": ["n", "n", "y"]}
ROWS_GIVEN = [list(row) for row in zip(*GIVEN.values(), strict=True)]
TAKEN = [[1, 0], [0, 0], [0, 1]]
# Beyond this epsilon hardly a bit in a million is flipped.
EXACT: Any = {"epsilon": 60.0, "rng": 1}


def bits_of(table: Any) -> Any:
    return np.asarray(table).astype(int).tolist()


def test_text_with_gaps_is_read_as_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("tea,milk\ny,n\nn,n\n?,y\n")
    named = [str(path), path, GIVEN, pd.DataFrame(GIVEN), pl.DataFrame(GIVEN), pa.table(GIVEN)]
    for table in (*named, ROWS_GIVEN, np.array(ROWS_GIVEN), np.array(ROWS_GIVEN, dtype=object)):
        out = bits.release(table, missing="no", **EXACT)
        assert bits_of(out.value) == TAKEN
        assert out.labels == (("tea", "milk") if any(table is one for one in named) else None)
        with pytest.raises(InvalidData, match=r"found gaps; 1 column has some\. Give missing= no or yes"):
            bits.release(table, **EXACT)
    assert bits.plan(columns=2, epsilon=1.0, rows=3, typical=GIVEN).best.name == "staircase"


def test_the_type_decides_how_bits_are_read_and_what_is_released_is_the_same() -> None:
    """The two readers of tables in memory agree on bits: nothing in a release tells which one it was."""
    values = np.array(TAKEN)
    plain = [values, values.astype(bool), values.astype(float), TAKEN, values.astype(object)]
    frames = [
        pd.DataFrame(values, columns=["a", "b"]),
        pd.DataFrame({"a": [1, 0, 0], "b": [0, 0, 1]}, dtype=object),
    ]
    frames += [
        pl.DataFrame({"a": [1, 0, 0], "b": [False, False, True]}),
        pa.table({"a": [1, 0, 0], "b": [0, 0, 1]}),
    ]
    for tables, names in ((plain, ()), (frames, ("a", "b"))):
        for table in tables:
            held = as_source(table)
            assert (bits_of(held.table), held.columns, held.assumptions) == (TAKEN, names, (ROWS,))


@pytest.mark.parametrize(
    "table",
    [
        [[1.0], [float("nan")]],
        pd.DataFrame({"a": [1, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [True, None]}),
    ],
    ids=["rows", "floats", "nullable", "polars", "polars-bool"],
)
def test_gaps_among_numbers_ask_for_missing(table: Any) -> None:
    with pytest.raises(InvalidData, match=r"found gaps.*missing="):
        bits.release(table, **EXACT)
    assert bits.release(table, missing="no", **EXACT).value.sum() == 1


def test_what_is_masked_is_a_gap() -> None:
    masked = np.ma.masked_array([[1, 0], [0, 1]], mask=[[True, False], [False, False]])
    with pytest.raises(InvalidData, match="masked"):
        bits.release(masked, **EXACT)
    assert bits_of(as_source(masked, missing="no").table) == [[0, 0], [0, 1]]
    assert bits_of(as_source(masked, missing="yes").table) == [[1, 0], [0, 1]]


def test_numbers_other_than_bits_and_lonely_values_are_refused() -> None:
    for table in ([[2, 0]], pd.DataFrame({"a": [2, 0]}), pl.DataFrame({"a": [2, 0]})):
        with pytest.raises(InvalidData, match="neither 0 nor 1"):
            bits.release(table, **EXACT)
    with pytest.raises(InvalidData, match="a: expected a column of values, found a single value"):
        bits.release({"a": 5}, **EXACT)
    held = bits.read(GIVEN, missing="no")
    with pytest.raises(InvalidArgument, match="missing: expected none for a table that was read"):
        bits.release(held, missing="no", **EXACT)


def test_gaps_are_a_third_value_of_every_column() -> None:
    held = bits.read(GIVEN, missing="own-column")
    assert held.columns == ("tea", "tea missing", "milk", "milk missing")
    assert bits_of(held.table) == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
    assert (held.zeros, held.ones) == (("n", "no", "n", "no"), ("y", "yes", "y", "yes"))
    # Which columns have gaps is no public fact: a table without any has the same columns and assumptions.
    full = bits.read({name: ["y", "n", "n"] for name in GIVEN}, missing="own-column")
    assert (full.columns, full.assumptions) == (held.columns, held.assumptions) == (held.columns, (ROWS,))
    # A mark that is said to be a value is none.
    stated = bits.read({"a": ["?", "x", ""]}, values=("?", "x"), missing="own-column")
    assert bits_of(stated.table) == [[0, 0], [1, 0], [0, 1]]
    with pytest.raises(InvalidData, match="columns: expected no column of the name"):
        bits.read({"a": ["y", "n"], "a missing": ["y", "n"]}, missing="own-column")
