"""Labels of every kind: refused before anything is charged, or written, read again and shown everywhere."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import veil
from tests.contracts.labelled import LEGITIMATE, MAKERS, REFUSED, Counted, made
from veil.cli.app import main
from veil.core.files import to_json
from veil.core.text import is_plain_text, texts_in
from veil.errors import VeilError
from veil.vectors.requests import VectorRelease

KINDS = pytest.mark.parametrize("kind", MAKERS)


def _texts_of(out: Any) -> set[str]:
    """All texts in the record, to compare labels with."""
    return set(texts_in(json.loads(to_json(out))))


@pytest.mark.mostly_slow(quick=3)
@KINDS
def test_legitimate_labels_are_written_and_read_again(kind: str, tmp_path: Path) -> None:
    account, path, table = Counted(), tmp_path / "out.json", tmp_path / "out.csv"
    out = made(kind, LEGITIMATE, account)
    assert account.charges == 1
    out.save(path)
    read = veil.load(path)
    assert read == out
    assert str(read.entry) == "می‌خواهم/1"
    assert set(LEGITIMATE) <= _texts_of(read)
    out.save(table)
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    header, body = out.kind.rows(out)
    assert rows == [[str(cell) for cell in row] for row in [header, *body]]
    assert "<script>" not in out._repr_html_()


@pytest.mark.mostly_slow(quick=3)
@KINDS
def test_legitimate_labels_can_be_inspected(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    made(kind, LEGITIMATE).save(path)
    assert main(["inspect", str(path)]) == 0
    assert main(["inspect", str(path), "--json"]) == 0
    capsys.readouterr()


@KINDS
@pytest.mark.slow
def test_legitimate_labels_are_reported(kind: str, tmp_path: Path) -> None:
    out, page = made(kind, LEGITIMATE), tmp_path / "out.html"
    out.report(page)
    assert "<script" not in page.read_text(encoding="utf-8")


@pytest.mark.mostly_slow(quick=15)
@KINDS
@pytest.mark.parametrize("label", REFUSED, ids=ascii)
def test_other_labels_are_refused_before_the_charge(kind: str, label: str) -> None:
    account = Counted()
    with pytest.raises(VeilError) as caught:
        made(kind, ["a", label, "c"], account)
    assert account.charges == 0
    message = str(caught.value)
    assert is_plain_text(message)
    assert REFUSED[label] in message
    assert "position" in message


@pytest.mark.mostly_slow(quick=3)
@KINDS
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    labels=st.lists(
        st.text(st.characters(exclude_categories=()), max_size=6), min_size=3, max_size=4, unique=True
    )
)
def test_random_labels_are_refused_or_round_trip(
    kind: str, labels: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    account = Counted()
    try:
        out = made(kind, labels, account)
    except VeilError:
        assert account.charges == 0
        return
    path = tmp_path_factory.mktemp("labels") / "out.json"
    out.save(path)
    assert veil.load(path) == out
    out.save(path.with_suffix(".csv"))


def test_a_job_whose_labels_were_changed_is_refused_as_well() -> None:
    account = Counted()
    job = VectorRelease(epsilon=1.0).prepare({"a": 4, "b": 5})
    with pytest.raises(VeilError, match=r"labels: .*position 1 of label 2"):
        replace(job, labels=("a", "\x1b")).run(ledger=account)
    assert account.charges == 0


def test_the_name_that_another_account_gives_an_entry_can_be_read_again(tmp_path: Path) -> None:
    class Odd(Counted):
        def reserve(self, **_: Any) -> Any:
            return "number\x1b 7"

    made("vector", ["a", "b"], Odd()).save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json").entry == "number\\x1b 7"
