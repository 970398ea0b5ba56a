"""Records whose structure is kept but for a few places: other types, huge numbers, deep nests, odd text."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

LONG = "y" * 70_000


class Raw:
    """Text that stands in JSON as it is, valid or not."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Raw({self.text[:30]!r})"


_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    7,
    1000,
    10**6,
    10**9,
    10**12,
    2**63,
    10**30,
    10**400,
    -(10**12),
    0.0,
    -0.0,
    0.5,
    1.5,
    1e-300,
    5e-324,
    1e300,
    Raw("1e999"),
    Raw("-1e999"),
    Raw("NaN"),
    Raw("Infinity"),
    Raw("-Infinity"),
    Raw("1" + "0" * 5000),
    Raw("0x10"),
    Raw("[" * 2000 + "]" * 2000),
    Raw("[" * 200_000),
    Raw('{"a":' * 500 + "1" + "}" * 500),
    Raw('{"a": 1, "a": 2}'),
    Raw('"\\ud800"'),
    Raw('"\\u0000"'),
    Raw('"\ufeff"'),
    "",
    " ",
    "0",
    "all",
    "row",
    "words",
    "graph",
    "a\nveil: all is well",
    "\x1b[2J",
    "../../../../etc/passwd",
    "/dev/zero",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    LONG,
    [],
    {},
    [[]],
    [None],
    [0, 1],
    [0.5, 0.5],
    [[0, 1], [1, 0]],
    ["a", "b"],
    [1, "a", None],
    {"name": "Simplex", "size": 10**12},
    {"name": "FreeWords", "symbols": 10**12, "length": 10**12},
    {"name": "Bits"},
    {"name": "Dirichlet", "parameters": {}},
    {"type": "graph"},
    {"": 0},
    [0] * 5000,
)

odd = st.sampled_from(_ODD).map(copy.deepcopy) | st.integers(-3, 10) | st.floats() | st.text(max_size=4)


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all that a JSON value holds, itself included; of long lists only the beginning."""
    found = [path]
    if isinstance(content, dict):
        for key in content:
            found += places(content[key], (*path, key))
    elif isinstance(content, list):
        for i in range(min(len(content), 4)):
            found += places(content[i], (*path, i))
    return found


def _put(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    inside = content
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return content


def _at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


@st.composite
def changed_records(draw: Any, records: Callable[[], list[Any]]) -> str:
    """One of the records, changed in one to three places, as text. records: makes them when one is drawn."""
    content = copy.deepcopy(draw(st.sampled_from(records())))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(content)))
        how = draw(st.sampled_from(("odd", "odd", "odd", "gone", "twice", "swapped", "number")))
        held = _at(content, path)
        if how == "gone" and path:
            inside = _at(content, path[:-1])
            del inside[path[-1]]
        elif how == "twice" and isinstance(held, list):
            content = _put(content, path, held + held)
        elif how == "swapped":
            other = draw(st.sampled_from(places(content)))
            content = _put(content, path, copy.deepcopy(_at(content, other)))
        elif how == "number" and isinstance(held, (int, float)) and not isinstance(held, bool):
            content = _put(
                content, path, draw(st.sampled_from((held + 1, -held, held * 10**9, str(held), [held])))
            )
        else:
            content = _put(content, path, draw(odd))
    return as_text(content)


def as_text(content: Any) -> str:
    """JSON, with what is raw as it stands."""
    raws: list[str] = []

    def mark(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(value.text)
            return f"@raw{len(raws) - 1}@"
        if isinstance(value, dict):
            return {key: mark(item) for key, item in value.items()}
        return [mark(item) for item in value] if isinstance(value, list) else value

    text = json.dumps(mark(content))
    for number, raw in enumerate(raws):
        text = text.replace(f'"@raw{number}@"', raw)
    return text
