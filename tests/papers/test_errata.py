"""docs/errata.md: every counterexample runs once, here, and the page shows what it gives."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest
from veil_papers.errata.erratum import Erratum
from veil_papers.errata.page import ERRATA, errata_page, heading, number_table, top_level
from veil_papers.references import REFERENCES

ROOT = Path(__file__).parent.parent.parent
WITH_CODE = [erratum for erratum in ERRATA if erratum.show is not None]
# Those that take more than a second.
LONG = {"One row is not the matrix", "The example", "The comparison with Gaussian noise"}
_ITEM = re.compile(r"([A-Z][a-z]+?)s? (\(?[\dIVX][\w.-]*\)?|[A-D]\b)((?:, \(?\d[\d.]*\)?(?![\w–]))*)")


def _titled(erratum: Erratum) -> object:
    marks = [pytest.mark.slow] if erratum.title in LONG else []
    return pytest.param(erratum, id=erratum.title, marks=marks)


@cache
def written() -> str:
    return (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def written_table(erratum: Erratum) -> str:
    """The numbers of an entry as the page has them."""
    after = written().partition(f"### {heading(erratum)}\n")[2]
    section = re.split(r"^##+ ", after, maxsplit=1, flags=re.MULTILINE)[0]
    table: list[str] = re.findall(r"^\| .*\|$|^\|---.*\|$", section, re.MULTILINE)
    return "\n".join([*table, ""])


@cache
def items() -> dict[str, set[str]]:
    """The items of docs/papers.md by paper, one by one: "Figures 4, 5, Section VII" is three."""
    names = {reference.heading: reference.name for reference in REFERENCES}
    found: dict[str, set[str]] = {}
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = names[line.removeprefix("## ")]
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
    headings = [(erratum.chapter, heading(erratum)) for erratum in ERRATA]
    assert len(set(headings)) == len(headings)
    assert {erratum.title for erratum in ERRATA} >= LONG


@pytest.mark.slow
@pytest.mark.parametrize("erratum", [_titled(erratum) for erratum in WITH_CODE])
def test_counterexample(erratum: Erratum) -> None:
    """Its assertions hold, and it gives the numbers of the page."""
    assert erratum.show is not None
    numbers = erratum.show()
    assert numbers
    assert len({name for name, _ in numbers}) == len(numbers)
    for name, number in numbers:
        assert name
        assert isinstance(number, str) or math.isfinite(number), name
    assert number_table(numbers) == written_table(erratum), (
        "run: python -m veil_papers.errata > docs/errata.md"
    )


def test_page_is_up_to_date() -> None:
    """All but the numbers, which `test_counterexample` compares."""
    assert errata_page(written_table) == written(), "run: python -m veil_papers.errata > docs/errata.md"


@pytest.mark.parametrize("erratum", WITH_CODE, ids=lambda erratum: erratum.title)
def test_code_ends_in_assertions(erratum: Erratum) -> None:
    assert erratum.show is not None
    code = top_level(erratum.show)
    assert "assert " in code
    assert "return [" not in code
    compile(code, erratum.title, "exec")


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.title)
def test_items_are_in_the_table_of_the_papers(erratum: Erratum) -> None:
    assert erratum.papers
    for name in erratum.papers:
        paper, _, item = name.partition(" ")
        assert item in items()[paper], f"{name}: no row {item!r}"
