"""A page for each paper and an index, each a file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from veil.report.page import page
from veil.version import __version__
from veil_papers.reproduction.drawing import picture
from veil_papers.reproduction.exhibit import Paper
from veil_papers.reproduction.finding import Line, Value
from veil_papers.reproduction.runner import Shown


def shown_value(value: Value) -> str:
    """A number as people read it: 0.0123, 2.46e-8, 1,667."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if value != value or value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "–"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits}·10{_raised(int(power))}"


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def verdict(line: Line) -> str:
    """How the printed number is met: a mark, and words for those who cannot see it."""
    return f"✓ {line.agreement}" if line.met else line.agreement or ""


def paper_page(paper: Paper, shown: Sequence[Shown], *, quick: bool) -> str:
    """All exhibits of one paper."""
    return page(
        "paper.html",
        package="veil_papers",
        paper=paper,
        shown=[(one, picture(one.finding)) for one in shown],
        quick=quick,
        version=__version__,
        value=shown_value,
        verdict=verdict,
        agreement=agreement(shown),
    )


def index_page(papers: Sequence[Paper], shown: Sequence[Shown], *, quick: bool) -> str:
    """The headlines, and the way to the pages."""
    return page(
        "papers.html",
        package="veil_papers",
        papers=[(paper, [one for one in shown if one.paper is paper]) for paper in papers],
        headlines=headlines(shown),
        quick=quick,
        version=__version__,
        value=shown_value,
        verdict=verdict,
        agreement=agreement(shown),
        seconds=sum(one.seconds for one in shown),
    )


def headlines(shown: Sequence[Shown]) -> list[tuple[Shown, Line]]:
    """The numbers that sum up their papers."""
    return [(one, line) for one in shown for line in one.finding.lines if line.headline]


def summary_table(shown: Sequence[Shown]) -> str:
    """The headlines as a table in Markdown, for the first page of the documentation."""
    rows = [
        f"| {one.paper.cite(one.exhibit)} | {line.what} | {line.printed or '–'} | "
        f"{shown_value(line.found) or '–'} | **{shown_value(line.veil)}** | {line.why} |"
        for one, line in headlines(shown)
    ]
    return "\n".join(
        ["| paper | what | printed | by its recipe | Veil | why |", "|---|---|---|---|---|---|", *rows]
    )


def page_name(paper: Paper) -> str:
    """The file of a paper's page."""
    return f"{paper.name}.html"


def counts(shown: Sequence[Shown]) -> dict[str, int]:
    """How many printed numbers are met, in which way; how many differ; how many cannot be compared."""
    # What was made up in place of data meets or misses a printed number by chance alone.
    found = [
        None if one.finding.stand_in else line.agreement
        for one in shown
        for line in one.finding.lines
        if line.printed
    ]
    return {
        "to_the_last_printed_digit": found.count("to the last printed digit"),
        "within_four_standard_errors": found.count("within four standard errors"),
        "differ": found.count("differs"),
        "not_compared": found.count(None),
    }


def agreement(shown: Sequence[Shown]) -> str:
    """How the printed numbers are met, in a sentence."""
    number = counts(shown)
    return (
        f"Of the printed numbers {number['to_the_last_printed_digit']} are met to the last printed digit, "
        f"{number['within_four_standard_errors']} within four standard errors of a simulation, and "
        f"{number['differ']} differ, each with its reason; {number['not_compared']} cannot be compared: no "
        "single number, of data that are not at hand, or fitted."
    )
