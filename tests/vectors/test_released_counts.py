"""Releases by noise on counts hold the noisy counts beside the shares, in records, tables and pages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import veil
from veil import vectors
from veil.core.files import to_json
from veil.errors import InvalidArgument, VeilError
from veil.vectors.several import LabelledVectors

GRADES = {"A": 3100, "B": 28, "C": 0}


@pytest.mark.parametrize("mechanism", ["geometric", "discrete-gaussian"])
def test_noisy_counts_are_what_the_shares_are_made_of(mechanism: str, tmp_path: Path) -> None:
    out = vectors.release(GRADES, epsilon=1.0, delta=1e-6, mechanism=mechanism, rng=1)
    counts, drawn = vectors.noisy_counts(out), out.mechanism
    assert counts.dtype == np.int64
    assert (counts != list(GRADES.values())).any()
    assert np.abs(counts - list(GRADES.values())).max() < 100
    assert (drawn.to_vector(counts) == out.value).all()  # type: ignore[attr-defined]
    # The same stream as without: what was drawn has not changed.
    assert (drawn.sample(list(GRADES.values()), rng=1) == out.value).all()
    out.save(tmp_path / "out.json")
    assert (vectors.noisy_counts(veil.load(tmp_path / "out.json")) == counts).all()
    with pytest.raises(ValueError, match="read-only"):
        counts[0] = 0


SEVERAL = np.array([list(GRADES.values()), [5, 1234, 7]])


def test_tables_show_them(tmp_path: Path) -> None:
    for value in (GRADES, SEVERAL):
        out = vectors.release(value, epsilon=1.0, rng=1)
        counts = vectors.noisy_counts(out).reshape(-1, 3)
        out.save(tmp_path / "out.csv", overwrite=True)
        header, *lines = csv.reader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines())
        if out.value.ndim == 1:
            assert header == ["label", "probability", "noisy_count"]
            assert [int(line[2]) for line in lines] == counts[0].tolist()
        else:
            assert header[3:] == ["noisy_count 0", "noisy_count 1", "noisy_count 2"]
            assert [[int(cell) for cell in line[3:]] for line in lines] == counts.tolist()


@pytest.mark.slow
def test_pages_show_them_and_all_vectors() -> None:
    for value in (GRADES, SEVERAL):
        out = vectors.release(value, epsilon=1.0, rng=1)
        page = out.kind.page(out)
        assert all(f"<td>{count:,}</td>" in page for count in vectors.noisy_counts(out).ravel().tolist())
        assert all(f"<td>{share:.4f}</td>" in page for share in out.value.ravel())
        assert ("2 private probability vectors" in page) == (value is SEVERAL)


@pytest.mark.slow
def test_releases_without_them_say_so() -> None:
    out = vectors.release(GRADES, epsilon=1.0, delta=1e-6, mechanism="dirichlet", rng=1)
    assert out.tables == {}
    with pytest.raises(InvalidArgument, match="noisy counts"):
        vectors.noisy_counts(out)


def test_files_with_other_tables_are_refused(tmp_path: Path) -> None:
    out = vectors.release(GRADES, epsilon=1.0, rng=1)
    text = json.loads(to_json(out))
    for tables in ({"counts": [1, 2, 3]}, {"noisy_counts": [1, 2]}, {"noisy_counts": [1.5, 2, 3]}, [1]):
        (tmp_path / "out.json").write_text(json.dumps(text | {"tables": tables}), encoding="utf-8")
        with pytest.raises(VeilError):
            veil.load(tmp_path / "out.json")
    # Files of earlier versions have none.
    (tmp_path / "out.json").write_text(json.dumps(text | {"tables": {}}), encoding="utf-8")
    assert veil.load(tmp_path / "out.json").tables == {}


def test_a_released_table_is_read_again_as_its_shares(tmp_path: Path) -> None:
    """Noisy counts beside the shares are neither further labels nor further vectors."""
    counts = {"A": 310, "B": 280, "C": 210}
    one, several = tmp_path / "one.csv", tmp_path / "several.csv"
    out = vectors.release(counts, epsilon=1.0, rng=1)
    out.save(one)
    again = vectors.read(one)
    assert (again.values, again.labels) == (tuple(out.value), ("A", "B", "C"))
    assert vectors.read(one, label_column="label", value_column="noisy_count").values == tuple(
        map(float, vectors.noisy_counts(out))
    )
    assert vectors.plan(size=3, epsilon=1.0, typical=str(one)).best.name == "geometric"
    rows = pd.DataFrame([counts, counts], index=["maths", "art"])
    many = vectors.release(rows, epsilon=1.0, public_row_labels=True, rng=1)
    many.save(several)
    back = vectors.read(several)
    assert isinstance(back, LabelledVectors)
    assert (back.labels, back.row_labels) == (("A", "B", "C"), ("maths", "art"))
    assert np.array_equal(back.values, many.value)
    assert vectors.read(pd.read_csv(several)).labels == ("A", "B", "C")
