"""docs/errata.md: every counterexample runs once, here, and the page shows what it gives."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest
from veil_papers.errata.erratum import SEVERITIES, Erratum
from veil_papers.errata.page import ERRATA, errata_page, heading, number_table, top_level
from veil_papers.numbered import items_in
from veil_papers.references import REFERENCES

from tests.papers.rows import rows

ROOT = Path(__file__).parent.parent.parent
# The texts are not part of Veil.
TEXTS = ROOT.parent / "shared" / "papers"
WITH_CODE = [erratum for erratum in ERRATA if erratum.show is not None]
# Those that take more than a second.
LONG = {"One row is not the matrix", "The example", "The comparison with Gaussian noise"}


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


def test_enough_of_them_have_code() -> None:
    assert len(WITH_CODE) >= 25
    # Only small print does without.
    assert all(erratum.title == "Small print" for erratum in ERRATA if erratum.show is None)
    headings = [heading(erratum) for erratum in ERRATA]
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


@pytest.mark.parametrize("erratum", ERRATA, ids=heading)
def test_items_are_in_the_table_of_the_papers(erratum: Erratum) -> None:
    assert erratum.papers
    for name in erratum.papers:
        paper, _, item = name.partition(" ")
        mine = [row for row in rows() if row.paper == paper]
        listed = {one for row in mine for one in row.items}
        found = items_in(item)
        assert (found and found <= listed) or item in [row.item for row in mine], f"{name}: no row {item!r}"


def test_rows_that_name_a_counterexample_have_one() -> None:
    for row in rows():
        if "test_counterexample" in {test for _, test in row.tests}:
            cited = [name.partition(" ")[::2] for erratum in ERRATA for name in erratum.papers]
            mine = [item for paper, item in cited if paper == row.paper]
            assert any(items_in(item) & row.items or item == row.item for item in mine), row


def test_the_gravest_come_first() -> None:
    grave = [SEVERITIES.index(erratum.severity) for erratum in ERRATA]
    assert grave == sorted(grave)
    assert set(grave) == set(range(len(SEVERITIES)))
    order = [reference.name for reference in REFERENCES]
    for severity in SEVERITIES:
        firsts = [order.index(one.papers[0].split()[0]) for one in ERRATA if one.severity == severity]
        assert firsts == sorted(firsts)
    places = [written().index(f"### {heading(erratum)}\n") for erratum in ERRATA]
    assert places == sorted(places)


@pytest.mark.parametrize("erratum", ERRATA, ids=heading)
def test_places_are_quoted_briefly_and_numbered(erratum: Erratum) -> None:
    assert 0 < len(erratum.quote) < 260
    assert re.search(r"\([^()]*\d|\([A-Z][^()]*[A-Z\d]|\(3e-5|3e-5 \(", erratum.quote), erratum.quote
    # Words of the paper are quoted in pieces, not in sentences.
    assert all(len(words.split()) < 14 for words in _quoted(erratum))


@pytest.mark.parametrize("erratum", [one for one in ERRATA if "“" in one.quote], ids=heading)
def test_quoted_words_are_in_the_paper(erratum: Erratum) -> None:
    paths = [TEXTS / f"{name}.txt" for name in {item.split()[0] for item in erratum.papers}]
    if not all(path.exists() for path in paths):
        pytest.skip("the text of the paper is not at hand")
    texts = [_letters(path.read_text(encoding="utf-8")) for path in paths]
    for words in _quoted(erratum):
        for piece in words.split("…"):
            assert any(_letters(piece) in text for text in texts), piece


def _quoted(erratum: Erratum) -> list[str]:
    return re.findall(r"“([^”]*)”", erratum.quote)


def _letters(text: str) -> str:
    """Letters and digits of the Latin alphabet alone: formulas are written in many ways."""
    text = re.sub(r"\\[a-zA-Z]+", "", text)
    return "".join(mark for mark in text.lower() if mark.isascii() and mark.isalnum())
