"""docs/errata.md: every counterexample runs, and the page is what they give now."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest
from veil_papers.errata.erratum import Erratum
from veil_papers.errata.page import ERRATA, errata_page, places, top_level

ROOT = Path(__file__).parent.parent.parent
WITH_CODE = [erratum for erratum in ERRATA if erratum.show is not None]
KINDS = {
    "Thm": "Theorem",
    "Cor.": "Corollary",
    "Def.": "Definition",
    "Alg.": "Algorithm",
    "Fig.": "Figure",
    "Sect.": "Section",
    "Prop.": "Proposition",
}
_ITEM = re.compile(r"([A-Z][a-z]+?)s? (\(?[\dIVX][\w.-]*\)?|[A-D]\b)((?:, \(?\d[\d.]*\)?(?![\w–]))*)")


@cache
def items() -> dict[str, set[str]]:
    """The items of docs/papers.md by paper, one by one: "Figures 4, 5, Section VII" is three."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = line[3:].partition(":")[0]
            found[paper] = set()
        elif line.startswith("| ") and not line.startswith("| item"):
            text = line.split(" | ")[0].removeprefix("| ").replace("footnote", "Footnote")
            found[paper].add(text)
            for kind, first, rest in _ITEM.findall(text):
                numbers = [first, *(number for number in rest.split(", ") if number)]
                found[paper] |= {f"{kind} {number}" for number in numbers}
    return found


def test_enough_of_them_have_code() -> None:
    assert len(WITH_CODE) >= 25
    # Only small print does without.
    assert all(erratum.title == "Small print" for erratum in ERRATA if erratum.show is None)
    headings = [(erratum.chapter, erratum.title, places(erratum.papers)) for erratum in ERRATA]
    assert len(set(headings)) == len(headings)


@pytest.mark.parametrize("erratum", WITH_CODE, ids=lambda erratum: erratum.title)
def test_counterexample(erratum: Erratum) -> None:
    assert erratum.show is not None
    numbers = erratum.show()
    assert numbers
    assert len({name for name, _ in numbers}) == len(numbers)
    for name, number in numbers:
        assert name
        assert isinstance(number, str) or math.isfinite(number), name


@pytest.mark.parametrize("erratum", WITH_CODE, ids=lambda erratum: erratum.title)
def test_code_ends_in_assertions(erratum: Erratum) -> None:
    assert erratum.show is not None
    code = top_level(erratum.show)
    assert "assert " in code
    assert "return [" not in code
    compile(code, erratum.title, "exec")


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    assert written == errata_page(), "run: python -m veil_papers.errata > docs/errata.md"


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.title)
def test_items_are_in_the_table_of_the_papers(erratum: Erratum) -> None:
    assert erratum.papers
    for name in erratum.papers:
        paper, _, item = name.partition(" ")
        kind, _, number = item.partition(" ")
        full = f"{KINDS.get(kind, kind)} {number}"
        assert full in items()[paper], f"{name}: no row {full!r}"
