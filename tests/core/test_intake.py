"""Lists, arrays, pandas objects and mappings, all taken in as fresh arrays of floats."""

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from veil.core.intake import as_floats, labels_of, say
from veil.errors import InvalidData

pandas = pytest.importorskip("pandas")

ROW = [0.25, 0.5, 0.25]
HOLDERS: list[Any] = [
    ROW,
    tuple(ROW),
    np.array(ROW),
    np.array(ROW, dtype=np.float32),
    np.array(ROW, dtype=np.longdouble),
    np.array(ROW).reshape(1, 3)[0],
    dict(zip("abc", ROW, strict=True)),
    OrderedDict(zip("abc", ROW, strict=True)),
    MappingProxyType(dict(zip("abc", ROW, strict=True))),
    pandas.Series(ROW, index=list("abc")),
    pandas.Series(ROW, dtype="Float64"),
    [np.float64(item) for item in ROW],
]


@pytest.mark.parametrize("value", HOLDERS)
def test_a_row_in_any_holder(value: Any) -> None:
    found = as_floats("value", value)
    assert found.dtype == np.float64
    assert found.tolist() == ROW


def test_a_data_frame_is_a_batch() -> None:
    frame = pandas.DataFrame([ROW, ROW[::-1]], columns=list("abc"))
    assert as_floats("value", frame).tolist() == [ROW, ROW[::-1]]


@pytest.mark.parametrize("value", [[1, 2], [1, 2**80], pandas.Series([1, 2], dtype="Int64"), range(1, 3)])
def test_whole_numbers(value: Any) -> None:
    assert as_floats("value", value).tolist() == [float(item) for item in value]


@pytest.mark.parametrize("value", HOLDERS)
def test_what_comes_out_is_a_copy(value: Any) -> None:
    before = np.array(as_floats("value", value))
    as_floats("value", value)[:] = 9.0
    assert (as_floats("value", value) == before).all()


def test_the_columns_of_a_data_frame_are_not_changed() -> None:
    frame = pandas.DataFrame({"a": [0.5, 0.1], "b": [0.5, 0.9]})
    as_floats("value", frame)[:] = 9.0
    assert frame.to_numpy().tolist() == [[0.5, 0.5], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("1234", "text"),
        (b"1234", "text"),
        (["1234", 2], "a list of other things or of uneven length"),
        ((1234, "b"), "a tuple of other things or of uneven length"),
        ([[1234], [1, 2]], "a list of other things or of uneven length"),
        ([1234, object()], "a list of other things or of uneven length"),
        ({"a": 1234, "b": "x"}, "a list of other things or of uneven length"),
        (None, "NoneType"),
        (object(), "object"),
        (pandas.Series(["1234"]), "Series"),
        (pandas.DataFrame({"a": ["1234"]}), "DataFrame"),
        (np.array(["2020-12-34"[:7]], dtype="M8[M]"), "ndarray"),
        (np.array([True]), "ndarray"),
        (10**400, "int"),
    ],
)
def test_what_is_not_an_array_of_numbers(value: Any, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        as_floats("row", value)
    assert (caught.value.field, caught.value.expected, caught.value.found) == (
        "row",
        "an array of numbers",
        found,
    )
    assert "1234" not in str(caught.value)
    # Nothing quotes the value by way of the chained exception either.
    assert caught.value.__suppress_context__


def test_labels() -> None:
    assert labels_of({"b": 1, 2: 3}) == ("b", "2")
    assert labels_of(pandas.Series([1, 2], index=["x", "y"])) == ("x", "y")
    assert labels_of(pandas.DataFrame({"u": [1], "v": [2]})) == ("u", "v")
    for bare in ([1, 2], np.array([1, 2]), (1, 2), 3):
        assert labels_of(bare) is None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ([False, True, False], "1 entry odd, the first at position 1"),
        ([True, False, True], "2 entries odd, the first at position 0"),
        ([[False, False], [False, True]], "1 entry odd, the first at position (1, 1)"),
    ],
)
def test_saying_where(wrong: list[Any], text: str) -> None:
    assert say(np.array(wrong), "odd") == text
