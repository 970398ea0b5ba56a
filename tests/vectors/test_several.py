"""Several vectors at once: tables with a row for each are batches, and a person in several rows is a cap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from veil import vectors
from veil.core.job import ROW_LABELS_ARE_PUBLIC
from veil.core.mechanism import ONE_PER_PERSON, WITHIN_THE_CAP
from veil.core.registry import adjacency_named
from veil.errors import InvalidArgument, InvalidData
from veil.vectors.requests import VectorRelease

WIDE = "course,A,B,C\nart,31,28,21\nlaw,9,0,30\n"
LONG = "grade,students,course\nA,31,art\nB,28,art\nC,21,art\nA,9,law\nC,30,law\n"
ROWS = ((31.0, 28.0, 21.0), (9.0, 0.0, 30.0))
NAMES, GRADES = ("art", "law"), ("A", "B", "C")


def _read(folder: Path, text: str, name: str = "courses.csv", **columns: Any) -> Any:
    (folder / name).write_text(text, encoding="utf-8")
    held = vectors.read(folder / name, **columns)
    assert isinstance(held, vectors.LabelledVectors)
    return held.values, held.labels, held.row_labels


def test_files_with_a_row_for_each(tmp_path: Path) -> None:
    expected = (ROWS, GRADES, NAMES)
    assert _read(tmp_path, WIDE) == expected
    assert _read(tmp_path, WIDE, row_column="course") == expected
    # As pandas writes a frame with its index.
    assert _read(tmp_path, WIDE.removeprefix("course")) == expected
    assert _read(tmp_path, WIDE.replace("art", "101").replace("law", "102"), row_column="course") == (
        ROWS,
        GRADES,
        ("101", "102"),
    )
    columns = {"row_column": "course", "label_column": "grade", "value_column": "students"}
    assert _read(tmp_path, LONG, **columns) == expected
    nested = json.dumps({"art": {"A": 31, "B": 28, "C": 21}, "law": {"A": 9, "C": 30}})
    assert _read(tmp_path, nested, "courses.json") == expected
    lines = "\n".join(
        json.dumps({"course": name, **dict(zip(GRADES, row, strict=True))})
        for name, row in zip(NAMES, ROWS, strict=True)
    )
    assert _read(tmp_path, lines, "courses.jsonl") == expected


def test_values_in_memory() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=NAMES, columns=GRADES)
    nested = {name: dict(zip(GRADES, row, strict=True)) for name, row in zip(NAMES, ROWS, strict=True)}
    for source in (frame, frame.reset_index(names="course"), nested):
        held = vectors.read(source)
        assert isinstance(held, vectors.LabelledVectors)
        assert (held.values, held.labels, held.row_labels) == (ROWS, GRADES, NAMES)
    bare = vectors.read(np.array(ROWS))
    assert isinstance(bare, vectors.LabelledVectors)
    assert (bare.values, bare.labels, bare.row_labels) == (ROWS, None, None)


@pytest.mark.parametrize(
    ("text", "columns", "error", "words"),
    [
        (WIDE + "art,1,2,3\n", {}, InvalidData, "different names of rows, found one twice"),
        (WIDE.replace("B", "A"), {}, InvalidData, "different labels, found one twice"),
        (WIDE.replace("28", "many"), {"row_column": "course"}, InvalidData, "a number"),
        (WIDE, {"row_column": "class"}, InvalidData, "class"),
        (WIDE, {"row_column": "course", "label_column": "A"}, InvalidArgument, "value_column"),
        (
            LONG + "A,2,art\n",
            {"row_column": "course", "label_column": "grade", "value_column": "students"},
            InvalidData,
            "one line for each row and label",
        ),
    ],
    ids=["name twice", "label twice", "no number", "no column", "half of a pair", "cell twice"],
)
def test_tables_that_cannot_be_read(
    tmp_path: Path, text: str, columns: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        _read(tmp_path, text, **columns)


def test_a_batch_is_released_with_its_names_if_they_are_public(tmp_path: Path) -> None:
    held = vectors.LabelledVectors(ROWS, GRADES, NAMES)
    out = vectors.release(held, epsilon=1.0, public_row_labels=True, rng=1)
    assert (out.value.shape, out.labels, out.row_labels) == ((2, 3), GRADES, NAMES)
    assert {ONE_PER_PERSON, ROW_LABELS_ARE_PUBLIC} <= set(out.assumptions)
    hidden = VectorRelease(epsilon=1.0).prepare(held)
    assert hidden.row_labels is None
    assert "left out" in hidden.notes[-1]
    with pytest.raises(InvalidArgument, match="public_row_labels"):
        vectors.release([3, 4, 5], epsilon=1.0, public_row_labels=True)
    # Each row costs what one vector costs, and all together no more.
    one = vectors.release(ROWS[0], epsilon=1.0, rng=1)
    assert (out.mechanism, out.epsilon) == (one.mechanism, one.epsilon)


@pytest.mark.parametrize(
    "mechanism", ["geometric", "discrete-gaussian", pytest.param("dirichlet", marks=pytest.mark.slow)]
)
def test_a_person_in_several_rows_is_a_cap(mechanism: str, tmp_path: Path) -> None:
    held = vectors.LabelledVectors(ROWS, GRADES, NAMES)
    budget: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "mechanism": mechanism}
    out = vectors.release(held, cap=6, **budget, rng=1)
    assert out.adjacency == vectors.Contributions(6)
    assert WITHIN_THE_CAP in out.assumptions
    assert ONE_PER_PERSON not in out.assumptions
    # Without the cap the same noise would lose more than was asked for.
    less: Any = vectors.release(held, **budget, rng=1).mechanism
    assert less.profile(out.adjacency).delta(1.0) > 1e-3
    assert out.profile.delta(1.0) <= 1e-6
    out.save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json") == out


@pytest.mark.slow
def test_what_a_cap_costs_in_a_table_is_attained_and_never_more() -> None:
    """The loss of every outcome of a table, for neighbours that differ in up to three cells of any rows."""
    out = vectors.release(np.array(ROWS), epsilon=1.0, cap=3, rng=1)
    noise = np.array(np.meshgrid(*[[-4, 0, 1, 2, 4]] * 6)).reshape(6, -1).T
    for change in ([1, 0, 0, 1, 0, 1], [3, 0, 0, 0, 0, 0], [0, 0, 2, 0, 1, 0]):
        losses = (np.abs(noise - change) - np.abs(noise)).sum(axis=-1) / out.mechanism.scale  # type: ignore[attr-defined]
        assert 1.0 - 1e-9 < np.abs(losses).max() <= 1.0


@pytest.mark.slow
def test_the_choice_does_not_depend_on_the_rows() -> None:
    request, rng = VectorRelease(epsilon=1.0, cap=4), np.random.default_rng(0)
    jobs = [request.prepare(rng.integers(0, most, (rows, 5))) for most, rows in ((2, 3), (1000, 3), (50, 40))]
    seen = [(job.mechanism.describe(), job.chosen, job.why, job.notes, job.cost) for job in jobs]
    assert seen[0] == seen[1] == seen[2]


def test_totals_among_rows_and_columns_are_refused() -> None:
    rows = {"art": {"A": 3, "B": 1}, "law": {"A": 5, "B": 2}}
    down = {**rows, "Total": {"A": 8, "B": 3}}
    across = {name: {**row, "total": sum(row.values())} for name, row in rows.items()}
    for table, found in ((down, "a row"), (across, "an entry")):
        with pytest.raises(InvalidData, match=f"{found} '[Tt]otal' that is the sum of all others"):
            VectorRelease(epsilon=1.0).prepare(table)


def test_a_cap_is_of_counts() -> None:
    for given in ({"transfer": 0.1}, {"l1": 0.1}):
        with pytest.raises(InvalidArgument, match="cap: expected counts"):
            VectorRelease(epsilon=1.0, cap=2, **given).check()  # type: ignore[arg-type]
    assert VectorRelease(epsilon=1.0, cap=2, records=9).adjacency == vectors.Contributions(2, 2)


def test_several_records_cover_one_in_a_ledger() -> None:
    near = adjacency_named("records:6")
    assert near == vectors.Contributions(6)
    assert near.covers(vectors.Records())
    assert not near.covers(vectors.Records("replace"))
    assert vectors.Contributions(1, 1).covers(vectors.Records("replace"))
    assert not vectors.Records().covers(near)
    assert not near.covers(vectors.Transfer(0.1))


@pytest.mark.parametrize("text", [WIDE.replace("9,0,30", "9,,30"), WIDE.replace("9,0,30", "9, ,")])
def test_an_empty_cell_is_named_as_what_it_is(tmp_path: Path, text: str) -> None:
    """And not taken for a table of labels and numbers with too many columns."""
    expected = r"one row for each vector, found [12] empty\. Write 0 where there is none"
    with pytest.raises(InvalidData, match=expected):
        _read(tmp_path, text)
