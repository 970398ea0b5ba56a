"""veil papers: pages, what is printed, and mistakes. The exhibits themselves: tests/papers/reproduction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from veil_papers.reproduction import catalogue
from veil_papers.reproduction.exhibit import Exhibit, Paper
from veil_papers.reproduction.exhibit import Run as Reproduction
from veil_papers.reproduction.finding import Curve, Finding, Line, Panel

from tests.cli.conftest import Run


def _figure(run: Reproduction) -> Finding:
    panel = Panel(
        "a panel",
        "x (m)",
        "y (s)",
        [Curve("theirs", [1, 2], [2, 1]), Curve("ours", [1, 2], [1, 0.5], "veil")],
    )
    line = Line("error", "0.478", 0.4781, 0.264, "Less <noise>.", headline=True)
    return Finding(
        [line, Line("other", "0.9", 0.5)], [panel], "A sentence.", "" if run.data.folder else "Made up."
    )


@pytest.fixture(autouse=True)
def _two_small_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    papers = tuple(
        Paper(key, f"The paper {key}", "A. Uthor", (Exhibit("Figure 1", "A title", _figure),))
        for key in ("AA", "BB")
    )
    monkeypatch.setattr(catalogue, "PAPERS", papers)


def test_pages_and_an_index(run: Run, folder: Path) -> None:
    done = run("papers", "--quick", "-o", "out")
    assert done.code == 0
    assert "AA Figure 1" in done.out
    assert "0.264" in done.out
    assert "0 are met to the last digit and 0 differ" in done.out  # made-up data meets nothing
    assert "stand-ins" in done.out
    assert {path.name for path in (folder / "out").iterdir()} == {
        "aa.html",
        "bb.html",
        "index.html",
        "results",
    }
    page = (folder / "out" / "aa.html").read_text(encoding="utf-8")
    for text in ("<svg", "Less &lt;noise&gt;.", "0.478", "met", "Made up.", "x (m)", "A. Uthor"):
        assert text in page
    index = (folder / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="bb.html#bb-figure-1"' in index


def test_one_paper_in_small_letters(run: Run, folder: Path) -> None:
    assert run("papers", "bb", "--quick", "-o", "out").code == 0
    assert not (folder / "out" / "index.html").exists()
    assert (folder / "out" / "bb.html").exists()


def test_for_machines(run: Run) -> None:
    run("papers", "--quick", "-o", "out")
    told = run("papers", "--quick", "-o", "out", "--json").json
    assert [one["kept"] for one in told["exhibits"]] == [True, True]
    assert told["printed"] == {"met": 0, "differ": 0, "other": 4}
    assert json.loads(json.dumps(told)) == told
    assert [
        one["kept"] for one in run("papers", "--anew", "--quick", "-o", "out", "--json").json["exhibits"]
    ] == [False, False]


def test_mistakes(run: Run, folder: Path) -> None:
    (folder / "file").write_text("x")
    for arguments, words in (
        (("XY",), "AA, BB"),
        (("--data", "nowhere"), "--data"),
        (("--data", "."), "none of them"),
        (("-o", "file"), "--output"),
    ):
        done = run("papers", "--quick", *arguments)
        assert done.code == 2
        assert words in done.err
