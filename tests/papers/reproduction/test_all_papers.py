"""All five papers in one run: the goals, the reasons, and the table on the first page of the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from veil_papers.reproduction.catalogue import PAPERS
from veil_papers.reproduction.data import Data
from veil_papers.reproduction.exhibit import Run
from veil_papers.reproduction.pages import headlines, index_page, paper_page, shown_value
from veil_papers.reproduction.runner import Shown, run_all

# All papers are computed once, by one worker.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]
ROOT = Path(__file__).parents[3]
REAL = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def shown(results: Path) -> list[Shown]:
    data = Data.of(REAL if REAL.is_dir() else None)
    return list(run_all(PAPERS, Run(quick=True, data=data), results))


def test_every_printed_number_is_met_or_explained(shown: list[Shown]) -> None:
    assert len(shown) == sum(len(paper.exhibits) for paper in PAPERS) > 25
    for one in shown:
        assert one.finding.lines
        for line in one.finding.lines:
            assert line.met is not False or line.why.endswith("."), (one.slug, line.what)
            assert line.veil is None or line.why, (one.slug, line.what)


def _ratios(shown: list[Shown]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for one, line in headlines(shown):
        theirs = line.found if isinstance(line.found, float) else float(line.printed)
        assert isinstance(line.veil, float)
        ratio = max(theirs, line.veil) / min(theirs, line.veil)
        found.setdefault(one.slug, []).append(ratio)
    return found


def test_the_headlines_reach_their_goals(shown: list[Shown]) -> None:
    ratios = _ratios(shown)
    assert ratios["data-driven-chains-figure-1"][0] >= 10.0
    assert ratios["data-driven-chains-msnbc"][0] >= 100.0
    assert ratios["symbolic-trajectories-figure-5"][0] >= 10.0
    assert ratios["xor-signal"][0] >= 12.5
    assert ratios["xor-signal"][1] >= 3.0
    dirichlet = next(line for one, line in headlines(shown) if one.slug == "dirichlet-simplex-figure-3")
    assert isinstance(dirichlet.veil, float)
    assert dirichlet.veil <= 0.27


def test_pages_are_whole(shown: list[Shown]) -> None:
    for paper in PAPERS:
        mine = [one for one in shown if one.paper is paper]
        page = paper_page(paper, mine, quick=True)
        assert page.count("<h2 id=") == len(paper.exhibits)
        assert page.count("<svg") == sum(bool(one.finding.panels) for one in mine)
    index = index_page(PAPERS, shown, quick=True)
    assert all(f"{paper.name}.html" in index for paper in PAPERS)


def test_the_first_page_of_the_docs_shows_these_headlines(shown: list[Shown]) -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    table = text.split("<!-- papers: begin -->")[1].split("<!-- papers: end -->")[0]
    rows = [row for row in table.strip().splitlines()[2:] if row]
    assert len(rows) == len(headlines(shown))
    for row, (one, line) in zip(rows, headlines(shown), strict=True):
        cells = [cell.strip(" *") for cell in row.strip("|").split("|")]
        assert cells[0] == one.paper.cite(one.exhibit)
        if not REAL.is_dir() and one.exhibit.needs:
            continue
        stated, now = (_number(text) for text in (cells[4], shown_value(line.veil)))
        # A quick run draws less often than the one that the page shows.
        assert stated == pytest.approx(now, rel=0.1)


def _number(text: str) -> float:
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return float(re.sub(r"·10(\S+)", lambda m: f"e{m[1].translate(raised)}", text.replace(",", "")))
