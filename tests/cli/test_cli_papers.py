"""veil papers: pages, what is printed, and mistakes. The exhibits themselves: tests/papers/reproduction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from veil_papers.references import Reference
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


def _paper(name: str) -> Paper:
    reference = Reference(
        name, f"{name} topic", f"The {name}", ("A. Uthor",), 2020, "A journal", "https://x.org"
    )
    return Paper(reference, (Exhibit("Figure 1", "A title", _figure),))


@pytest.fixture(autouse=True)
def _two_small_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "PAPERS", tuple(map(_paper, ("first", "second"))))


@pytest.mark.slow
def test_pages_and_an_index(run: Run, folder: Path) -> None:
    done = run("papers", "--quick", "-o", "out")
    assert done.code == 0
    assert "first topic paper, Figure 1" in done.out
    assert "0.264" in done.out
    # Made-up data meets nothing.
    said = " ".join(done.out.split())
    assert "0 are met to the last printed digit, 0 within four standard errors of a simulation" in said
    assert "and 0 differ" in said
    assert "stand-ins" in done.out
    assert {path.name for path in (folder / "out").iterdir()} == {
        "first.html",
        "second.html",
        "index.html",
        "results",
    }
    page = (folder / "out" / "first.html").read_text(encoding="utf-8")
    for text in ("<svg", "Less &lt;noise&gt;.", "0.478", "met", "Made up.", "x (m)", "A. Uthor"):
        assert text in page
    # Cited by name and link.
    assert '<a href="https://x.org">Uthor et al. 2020 (first topic)</a>, A journal.' in page
    index = (folder / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="second.html#second-figure-1"' in index
    assert "Second topic paper" in index


def test_one_paper_in_any_letters(run: Run, folder: Path) -> None:
    assert run("papers", "Second", "--quick", "-o", "out").code == 0
    assert not (folder / "out" / "index.html").exists()
    assert (folder / "out" / "second.html").exists()


@pytest.mark.slow
def test_for_machines(run: Run) -> None:
    run("papers", "--quick", "-o", "out")
    told = run("papers", "--quick", "-o", "out", "--json").json
    assert [one["kept"] for one in told["exhibits"]] == [True, True]
    assert [one["paper"] for one in told["exhibits"]] == ["first", "second"]
    assert told["printed"] == {
        "to_the_last_printed_digit": 0,
        "within_four_standard_errors": 0,
        "differ": 0,
        "not_compared": 4,
    }
    assert json.loads(json.dumps(told)) == told
    fresh = run("papers", "--fresh", "--quick", "-o", "out", "--json").json
    assert [one["kept"] for one in fresh["exhibits"]] == [False, False]


def test_mistakes(run: Run, folder: Path) -> None:
    (folder / "file").write_text("x")
    for arguments, words in (
        (("other",), "NAME: expected one of first, second"),
        (("--data", "nowhere"), "--data"),
        (("--data", "."), "none of them"),
        (("-o", "file"), "--output"),
    ):
        done = run("papers", "--quick", *arguments)
        assert done.code == 2
        assert words in done.err
    done = run("papers", "--quick", "--json", "other")
    assert done.json["error"]["field"] == "name"
