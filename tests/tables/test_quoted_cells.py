"""No reader of any kind quotes a cell of a file without a header, whatever is asked of it."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from veil.core.kind import Kind, every_kind
from veil.errors import VeilError

# Cells that nobody would choose as a column, an option or a number in a message.
NAMES = ("Zqalice", "Xwbob", "Vkcarol", "Yjdave", "Qxerin", "Wzfrank")
NUMBERS = ("731924", "0.58213", "916.4477", "482915")
WORDS = (*NAMES, *NUMBERS)


def _lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


A, B, C, D, E, F = NAMES
FILES = {
    "bits.csv": _lines(f"{A},yes,no", f"{B},no,yes", f"{C},no,no"),
    "alone.csv": _lines(A, B, C, D),
    "one-line.csv": f"{A},{B},731924\n",
    "numbers.csv": _lines("731924,0.58213", "482915,916.4477", "482915,916.4477"),
    "vector.csv": _lines(f"{A},731924", f"{B},482915", f"{C},916.4477"),
    "wide.csv": _lines(f"{A},{B},{C}", "731924,482915,916.4477"),
    "broken.csv": _lines(f"{A},731924", f"{B},{C}", f"{D},{E}"),
    "uneven.csv": _lines(f"{A},{B}", f"{C},{D},{E}", F),
    "edges.txt": _lines(f"{A} {B}", f"{C} {D}", f"{A} {C}"),
    "edges.csv": _lines(f"{A},{B}", f"{C},{D}", f"{E},{A}"),
    "trips.csv": _lines(f"{A},1,{B}", f"{A},2,{C}", f"{D},1,{B}"),
    "text.tsv": _lines(f"{A}\t{B}\t{C}", f"{D}\t{E}\t{F}", f"{A}\tyes\t731924"),
    "semicolons.csv": _lines(f"{A};731924;yes", f"{B};482915;no", f"{C};916,4477;yes"),
    "matrix.csv": _lines(f"{A},0.5,0.58213", f"{B},0.2,0.8", f"{C},731924,1"),
    "square.csv": _lines(f",{A},{B}", f"{A},0.58213,0.1", f"{B},0.2,0.8"),
    "twice.csv": _lines(f"{A},{A},{B}", f"{B},{B},{C}", f"{A},{C},{C}"),
    "quotes.csv": _lines(f'"{A}","{B}, {C}"', f'"{D}","{E}'),
    "gaps.csv": _lines(f"{A},,yes", f",{B},no", f"{C},?,NA"),
    "lines.txt": _lines(f"{A} {B} {C}", f"{D} {A}", f"{B}"),
    "odd.jsonl": _lines(f'["{A}", "{B}"]', f'{{"x": "{C}"}}', f'"{D}"'),
    "rows.jsonl": _lines(f'{{"x": "{A}", "y": 731924}}', f'{{"x": {{"a": "{B}"}}, "y": "{C}"}}'),
    "vector.json": f'{{"{A}": 731924, "{B}": "{C}"}}',
    "matrix.json": f'{{"{A}": {{"{A}": 0.58213, "{B}": 0.1}}, "{B}": {{"{C}": 1}}}}',
}
COLUMNS = ("from", "to", "nope", "column1", "column2", "name", "alice", "id", "Zqalic", "")
# For each field what may be given; fields that a kind does not have are left out.
GIVEN: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        (
            "origin",
            "destination",
            "by",
            "order",
            "state",
            "tie_break",
            "group",
            "label_column",
            "value_column",
        ),
        COLUMNS,
    ),
    "columns": (*COLUMNS, "nope,name", "column1,column2", "column1,nope"),
    "values": (("no", "yes"), ("x", "y"), "nope=a,b", ("column1=no,yes", "nope=a,b"), "a"),
    "missing": ("no", "yes", "drop-column"),
    "header": (True, False, None),
    "delimiter": (",", ";", "tab", " ", "|", "xx"),
    "nodes": ("alone.csv", "edges.csv", "uneven.csv", 3, ["a", "b"], "alone.csv,edges.csv"),
    "kind": ("directed", "bipartite", "undirected", "nope"),
    "loops": ("keep", "drop", "refuse"),
    "lines": (True, False),
    "skip": (0, 1),
    "separator": (",", ";"),
    "states": (
        "alone.csv",
        "vector.csv:id",
        "vector.csv:id:name",
        "trips.csv:nope",
        ["a", "b"],
        "uneven.csv",
    ),
    "symbols": ("alone.csv", "vector.csv:id", "trips.csv:id:name", ["a", "b"]),
    "other": ("rest",),
    "drop_unlisted": (True,),
    "merge": ("edges.csv", "alone.csv", "a=b", "trips.csv"),
    "groups": (["a"], "1..3"),
    "cap": (1,),
    "memory": (1, 2),
    "chain": (
        "edges.csv",
        "matrix.csv",
        "square.csv",
        "broken.csv",
        "uneven.csv",
        "matrix.json",
        "odd.jsonl",
    ),
    "start": ("a", "nope"),
    "table": ("trips",),
}
# Sets of columns without which a kind would refuse before it reads.
USUAL: dict[str, tuple[dict[str, Any], ...]] = {
    "chain": (
        {"origin": "from", "destination": "to"},
        {"origin": "column0", "destination": "column1"},
        {"by": "who", "order": "time", "state": "state"},
        {"by": "column0", "order": "column1", "state": "column2"},
        {"lines": True},
    ),
    "words": (
        {"by": "who", "order": "time", "state": "state"},
        {"by": "column0", "order": "column1", "state": "column2"},
        {"lines": True},
    ),
    "trips": (
        {"lat": "from", "lng": "to", "trip": "who", "order": "time"},
        {"lat": "column0", "lng": "column1", "by": "column0", "order": "column1"},
        {"state": "state", "by": "who", "order": "time"},
    ),
}
# What readers cannot do without.
NEEDED: dict[str, dict[str, Any]] = {"trips": {"places": "grid:4x4", "box": (0.0, 0.0, 1.0, 1.0)}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("headerless")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def asked_of(kind: Kind, rng: random.Random) -> dict[str, Any]:
    """Some options that the kind has, most of them wrong."""
    read = kind.requests("release")[0]
    fields = [name for name in read.options() if name in GIVEN]
    usual = USUAL.get(kind.name)
    asked = dict(rng.choice(usual)) if usual and rng.random() < 0.8 else {}
    for field in rng.sample(fields, rng.randint(0, min(4, len(fields)))):
        asked[field] = rng.choice(GIVEN[field])
    return asked


def said(kind: Kind, path: str, asked: dict[str, Any]) -> str:
    """What the reader says, or the release of what it read; nothing if all is well."""
    read, release = kind.requests("release")
    try:
        data = read(source=path, **NEEDED.get(kind.name, {}), **asked).read()
        release(epsilon=1.0).prepare(data, rng=1)
    except VeilError as error:
        return str(error)
    return ""


# A kind that is released under the name of another one reads nothing.
READ = [kind.name for kind in every_kind() if kind.name != "toy" and kind.requests("release")]


@pytest.mark.slow_for("chain-3", "words-3", "bits-3")
@pytest.mark.parametrize("times", [3, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", READ)
def test_no_error_quotes_a_cell(name: str, times: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    kind = next(one for one in every_kind() if one.name == name)
    rng, heard = random.Random(name), 0
    leaks = set()
    for path in FILES:
        for _ in range(times):
            asked = asked_of(kind, rng)
            message = said(kind, path, asked)
            heard += bool(message)
            # What was asked for may be said again.
            bare = re.sub("|".join(re.escape(repr(one)) for one in COLUMNS if one), "", message)
            leaks |= {(path, message) for word in WORDS if word in bare}
    assert heard > 10 * times
    assert not leaks, "\n".join(f"{path}: {message}" for path, message in sorted(leaks)[:20])
