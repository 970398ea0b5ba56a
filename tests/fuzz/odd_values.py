"""Whatever a caller may hand in by mistake or malice."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st


def _ragged() -> Any:
    table = np.empty(2, dtype=object)
    table[:] = [[1.0], [0.5, 0.5]]
    return table


def _holds_itself() -> list[Any]:
    inside: list[Any] = [1]
    inside.append(inside)
    return inside


def _deep(depth: int) -> list[Any]:
    inside: list[Any] = [1]
    for _ in range(depth):
        inside = [inside]
    return inside


class Silent:
    """An object that can do nothing."""


def _frame(**columns: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def _arrow() -> Any:
    import pyarrow as pa

    return pa.table({"a": [1, None], "b": ["x", "y"]})


def _sparse(kind: str, *, entry: float = 1.0) -> Any:
    import scipy.sparse as sp

    return getattr(sp, kind)(np.array([[0.0, entry], [entry, 0.0]]))


def _wide_sparse() -> Any:
    import scipy.sparse as sp

    return sp.coo_array(([1.0], ([0], [1])), shape=(2**40, 2**40))


def _graph(kind: str) -> Any:
    import networkx as nx

    return getattr(nx, kind)([(0, 1), (1, 2), (2, 2)])


NUMBERS: tuple[Any, ...] = (
    0,
    1,
    -1,
    2,
    3,
    7,
    64,
    10**6,
    10**12,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    10**400,
    -(10**12),
    -(2**63),
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.0,
    1.5,
    2.0,
    1e-6,
    1e-12,
    1e-300,
    5e-324,
    1e12,
    1e30,
    1e300,
    1.7976931348623157e308,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    Fraction(1, 3),
    Fraction(10**400, 3),
    Decimal("0.1"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("1e999999"),
    complex(1, 1),
    complex(1, 0),
    np.float64(0.5),
    np.float32("nan"),
    np.float16(2.0),
    np.longdouble("1e4000"),
    np.int8(-3),
    np.int64(5),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.complex128(1j),
    np.datetime64("NaT"),
    np.array(0.5),
    np.array(3),
    np.array([3]),
)

TEXTS: tuple[Any, ...] = (
    "",
    " ",
    "auto",
    "1",
    "0.5",
    "nan",
    "a",
    "all",
    "row",
    "x" * 100_000,
    "\x00",
    "\ud800",
    "a\nb",
    "\x1b[31mred",
    "٣",
    "🜲",
    "no/such/file.csv",
    ".",
    "-1",
    "postgresql://",
    "sqlite:///nowhere/at/all.db",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc",
    b"",
    b"bytes",
    b"\xff\xfe",
    bytearray(b"0.5"),
    memoryview(b"0.5"),
)

_MADE: tuple[Callable[[], Any], ...] = (
    lambda: None,
    list,
    lambda: (),
    dict,
    set,
    lambda: [None],
    lambda: [[]],
    lambda: [[], []],
    lambda: [[[]]],
    lambda: [0.5, 0.5],
    lambda: [0.2, 0.3, 0.5],
    lambda: [1, 2, 3],
    lambda: [-1, 2, 3],
    lambda: [10**400, 1, 1],
    lambda: [10**18, 10**18, 10**18],
    lambda: [2**63 - 1, 2**63 - 1, 2**63 - 1],
    lambda: [math.nan, 0.5, 0.5],
    lambda: [math.inf, -math.inf, 1],
    lambda: [True, False, True],
    lambda: ["a", "b", "c"],
    lambda: ["0.5", "0.5"],
    lambda: [1, "a", None],
    lambda: [b"a", b"b"],
    lambda: [[0.5, 0.5], [0.5, 0.5]],
    lambda: [[0.5, 0.5], [1.0]],
    lambda: [[1, 0], [0, 1]],
    lambda: [["a", "b"], ["b", "a"]],
    lambda: [[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]],
    lambda: [Decimal("0.5"), Decimal("0.5")],
    lambda: [Fraction(1, 2), Fraction(1, 2)],
    lambda: [complex(1, 1), 0],
    lambda: [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)],
    lambda: [Silent(), Silent()],
    _holds_itself,
    lambda: _deep(60),
    lambda: _deep(5_000),
    lambda: {"a": 0.5, "b": 0.5},
    lambda: {"a": 1, "b": 2, "c": 3},
    lambda: {"a": {"a": 0.5, "b": 0.5}, "b": {"a": 0.5, "b": 0.5}},
    lambda: {"a": {"a": 0.5}, "b": 3},
    lambda: {"a": ["b"], "b": ["a"]},
    lambda: {None: None},
    lambda: {("a", 0): ["b"]},
    lambda: {1: "one", "1": "two"},
    lambda: {"a", "b"},
    lambda: range(3),
    lambda: range(10**15),
    lambda: iter([0.5, 0.5]),
    lambda: (number for number in (1, 2, 3)),
    lambda: np.array([]),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((3, 0)),
    lambda: np.array([0.5, 0.5]),
    lambda: np.full(3, math.nan),
    lambda: np.array([0.2, 0.3, 0.5], dtype=np.float16),
    lambda: np.array([1, 2, 3], dtype=np.uint64),
    lambda: np.array([2**64 - 1, 1, 1], dtype=np.uint64),
    lambda: np.array([True, False, True]),
    lambda: np.array([[True, False], [False, True]]),
    lambda: np.zeros((2, 2, 2), dtype=bool),
    lambda: np.eye(3),
    lambda: np.eye(2) * math.nan,
    lambda: np.array(["a", "b"]),
    lambda: np.array([1, "a", None], dtype=object),
    lambda: np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
    lambda: np.array([1 + 1j, 2]),
    lambda: np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    lambda: np.ma.array([0.5, 0.5], mask=[False, True]),
    lambda: np.broadcast_to(np.float64(0.5), (2**35, 2)),
    lambda: np.broadcast_to(np.int64(1), (2**20, 2**20)),
    lambda: np.broadcast_to(np.bool_(True), (2**18, 2**18)),
    _ragged,
    lambda: _frame(a=[0.5, 0.5], b=[0.5, 0.5]),
    lambda: _frame(a=["x", None], b=[1, 2]),
    lambda: _frame(),
    lambda: _frame(a=[]),
    lambda: _frame(a=[0.2, 0.3, 0.5])["a"],
    lambda: _arrow(),
    lambda: _sparse("csr_array"),
    lambda: _sparse("coo_matrix", entry=math.nan),
    lambda: _sparse("dok_array", entry=0.5),
    _wide_sparse,
    lambda: _graph("Graph"),
    lambda: _graph("DiGraph"),
    lambda: _graph("MultiGraph"),
    lambda: datetime.datetime(2020, 1, 1),
    lambda: datetime.timedelta(1),
    lambda: Path("no/such/file.json"),
    lambda: Path(),
    lambda: np.random.default_rng(1),
    lambda: np.random.RandomState(1),
    lambda: Silent(),
    lambda: lambda number: number,
    lambda: NotImplemented,
    lambda: ...,
)

numbers = st.sampled_from(NUMBERS) | st.floats() | st.integers(-5, 70) | st.integers()
texts = st.sampled_from(TEXTS) | st.text(max_size=8)
made = st.sampled_from(_MADE).map(lambda make: make())
scalars = st.none() | numbers | texts
nested = st.recursive(
    scalars,
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.tuples(inside, inside)
        | st.dictionaries(st.text(max_size=3) | st.integers(-2, 4), inside, max_size=3)
    ),
    max_leaves=8,
)
anything = st.one_of(numbers, numbers, texts, made, made, nested)
