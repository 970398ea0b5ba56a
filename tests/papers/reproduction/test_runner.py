"""An interrupted run resumes, and keeps only results of the same version, data and size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from veil_papers.references import Reference
from veil_papers.reproduction.data import FILES, Data
from veil_papers.reproduction.exhibit import Exhibit, Paper, Run
from veil_papers.reproduction.finding import Finding, Line
from veil_papers.reproduction.runner import run_all

from veil.errors import InvalidArgument

REFERENCE = Reference(
    "a-paper", "sample", "A paper", ("S. Omebody",), 2020, "a journal", "https://example.org"
)


class Counted:
    """An exhibit that counts how often it is run, and may fail."""

    def __init__(self) -> None:
        self.runs = 0
        self.fails = False

    def __call__(self, run: Run) -> Finding:
        self.runs += 1
        if self.fails:
            raise RuntimeError("stopped")
        run.tell("half way")
        return Finding([Line("draw", "", float(run.rng("Figure 1").random()))])


@pytest.fixture
def works() -> list[Counted]:
    return [Counted(), Counted(), Counted()]


@pytest.fixture
def paper(works: list[Counted]) -> Paper:
    exhibits = [Exhibit(f"Figure {i}", "a title", work, ("trips",)) for i, work in enumerate(works, start=1)]
    return Paper(REFERENCE, tuple(exhibits))


def test_a_stopped_run_goes_on(paper: Paper, works: list[Counted], tmp_path: Path) -> None:
    works[2].fails = True
    begun: list[str] = []
    with pytest.raises(RuntimeError):
        list(run_all([paper], Run(), tmp_path, begun=begun.append))
    works[2].fails = False
    found = list(run_all([paper], Run(), tmp_path, begun=begun.append))
    assert [one.kept for one in found] == [True, True, False]
    assert [work.runs for work in works] == [1, 1, 2]
    assert begun == [f"sample paper, Figure {i}" for i in (1, 2, 3, 1, 2, 3)]
    assert [one.slug for one in found] == ["a-paper-figure-1", "a-paper-figure-2", "a-paper-figure-3"]
    # Whether kept or computed, the same.
    again = list(run_all([paper], Run(), tmp_path))
    assert [one.finding for one in again] == [one.finding for one in found]


def test_results_of_another_run_are_computed_again(
    paper: Paper, works: list[Counted], tmp_path: Path
) -> None:
    results, data = tmp_path / "out", tmp_path / "data"
    data.mkdir()
    list(run_all([paper], Run(), results))
    list(run_all([paper], Run(quick=False), results))
    assert works[0].runs == 2
    (data / FILES["trips"]).write_bytes(b"trips")
    list(run_all([paper], Run(quick=False, data=Data.of(data)), results))
    assert works[0].runs == 3
    list(run_all([paper], Run(quick=False, data=Data.of(data)), results, fresh=True))
    assert works[0].runs == 4
    # A result that cannot be read is computed again too.
    (results / "results" / "a-paper-figure-1.json").write_text("{", encoding="utf-8")
    found = list(run_all([paper], Run(quick=False, data=Data.of(data)), results))
    assert [one.kept for one in found] == [False, True, True]
    content = json.loads((results / "results" / "a-paper-figure-1.json").read_text(encoding="utf-8"))
    assert content["key"]["data"] == {"trips": 5}


def test_folders_of_data(tmp_path: Path) -> None:
    assert Data.of(None).file("trips") is None
    with pytest.raises(InvalidArgument, match="data"):
        Data.of(tmp_path / "none")
    with pytest.raises(InvalidArgument, match="none of them"):
        Data.of(tmp_path)
