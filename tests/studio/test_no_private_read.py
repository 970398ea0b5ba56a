"""Before "Release" is pressed nothing private is read: shown by what is opened, asked and shown."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.studio.conftest import Workbench
from tests.studio.visitor import Visitor
from veil.samples.examples import EXAMPLES

# What a schema reader may ask, in the beginnings of its questions.
LAWFUL = (
    "the names and types of the columns are read",
    "only the first line is kept",
    "the first 1,048,576 bytes",
)
_STEPS = ("data", "hidden", "choices", "plan", "budget", "release", "questions", "plan/live")
_opened: list[str] | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event == "open" and isinstance(arguments[0], str):
        _opened.append(arguments[0])


# Cannot be taken away again, so it is quick, and does nothing outside `watching`.
sys.addaudithook(_hook)


@contextmanager
def watching() -> Iterator[list[str]]:
    """The files that this process, which is the server's, opens meanwhile."""
    global _opened
    _opened = []
    try:
        yield _opened
    finally:
        _opened = None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.kind)
def test_no_page_of_any_kind_reads_the_data(workbench: Workbench, visitor: Visitor, example: object) -> None:
    assert isinstance(example, type(EXAMPLES[0]))
    visitor.open_budget("people", "20")
    with watching() as opened:
        draft = visitor.start(example.words)
        for step in _STEPS:
            assert visitor.get(f"/draft/{draft}/{step}").status == 200
        visitor.fill_in(draft, "people")
        for path in ("/", "/new", "/releases", "/ledger"):
            visitor.get(path)
    assert opened, "the server opens its own files at least"
    assert not [path for path in opened if Path(path).name == example.file]
    kept = workbench.studio.drafts.get(draft)
    assert all(question.startswith(LAWFUL) for _, question in kept.asked), kept.asked
    # Only what was asked to know the names of columns.
    assert len(kept.asked) <= 2


def test_the_watch_sees_reading(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a\n1\n")
    with watching() as opened:
        path.read_text()
    assert str(path) in opened


def _hostile_table(path: Path) -> list[str]:
    """A table in which every cell, and the first line, would be known again."""
    rows = [[f"canary-{row}-{column}" for column in range(3)] for row in range(50)]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return [cell for row in rows for cell in row]


def test_a_first_line_that_may_be_a_record_is_not_read(
    workbench: Workbench, visitor: Visitor, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    cells = _hostile_table(path)
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    draft = page.path.split("/")[2]
    for header in ("", "no"):
        taken = visitor.send(
            visitor.get(f"/draft/{draft}/data").form("/source"), source=str(path), header=header
        )
        assert taken.status == 200
        pages = taken.text + "".join(visitor.get(f"/draft/{draft}/{step}").text for step in _STEPS)
        assert not [cell for cell in cells if cell in pages]
        assert workbench.studio.drafts.get(draft).columns == ()
        assert workbench.studio.drafts.get(draft).asked == ()
    # Once the user has said that it names the columns, the first line is shown, and no other.
    said = visitor.send(visitor.get(f"/draft/{draft}/data").form("/source"), header="yes")
    assert all(cell in said.text for cell in cells[:3])
    assert not [cell for cell in cells[3:] if cell in said.text]


def test_of_a_database_only_the_catalogue_is_asked(
    workbench: Workbench, visitor: Visitor, tmp_path: Path
) -> None:
    import duckdb

    path = tmp_path / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'canary' AS page, 1 AS person")
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "chain") in form.fields))
    form = page.form("/source")
    taken = visitor.send(form, source=str(path), read__table="visits")
    assert "<code>page</code>" in taken.text
    assert "canary" not in taken.text
    asked = workbench.studio.drafts.get(taken.path.split("/")[2]).asked
    assert asked
    for _, question in asked:
        assert "information_schema." in question or question.startswith("SET ")


@pytest.mark.slow
def test_what_is_asked_by_a_release_is_shown(workbench: Workbench, visitor: Visitor) -> None:
    """The same trace for the user: after the release also what was asked to make it."""
    draft = visitor.start("Grades of a course")
    visitor.open_budget("people", "2")
    visitor.fill_in(draft, "people")
    before = visitor.get(f"/draft/{draft}/questions").text
    assert "the whole file is read" not in before
    visitor.wait(visitor.release(draft))
    after = visitor.get(f"/draft/{draft}/questions").text
    assert "the whole file is read" in after
    assert "grades.csv" in after


def test_the_schema_reader_keeps_only_names(tmp_path: Path) -> None:
    """Of a Parquet file no statistics, no counts and no values."""
    import json
    import subprocess

    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"page": ["canary"] * 9, "n": [77_777] * 9}), path)
    order = json.dumps({"source": str(path), "table": None, "has_header": False})
    done = subprocess.run(
        [sys.executable, "-m", "veil.studio.schema_reader"],
        input=order,
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    # Nothing else is in it than these; how many bytes were read is a bound by the size of the file.
    assert answer.pop("bytes") < 10 * path.stat().st_size
    assert answer == {
        "columns": [["page", "string"], ["n", "int64"]],
        "questions": [["data.parquet", "the names and types of the columns are read"]],
        "tables": [],
    }
