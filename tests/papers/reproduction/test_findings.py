"""What a finding says of a printed number, and that it is the same after it was stored."""

from __future__ import annotations

import json
import math

import pytest
from veil_papers.reproduction.catalogue import PAPERS
from veil_papers.reproduction.drawing import picture
from veil_papers.reproduction.finding import Agreement, Curve, Finding, Line, Panel, last_digit
from veil_papers.reproduction.pages import agreement, counts, index_page, paper_page, shown_value, verdict
from veil_papers.reproduction.runner import Shown


@pytest.mark.parametrize(
    ("printed", "unit"), [("0.478", 0.001), ("2.30", 0.01), ("12", 1.0), ("1,667", 1.0), ("1.13e5", 1000.0)]
)
def test_the_last_digit(printed: str, unit: float) -> None:
    assert last_digit(printed) == pytest.approx(unit)


EXACT, NEAR, OFF = "to the last printed digit", "within four standard errors", "differs"


@pytest.mark.parametrize(
    ("printed", "found", "agreement"),
    [
        ("0.478", 0.4784, EXACT),
        ("0.478", 0.4789, EXACT),  # cut, not rounded
        ("0.478", 0.4774, OFF),
        ("0.478", 0.47750001, EXACT),
        ("2.30", 2.31, OFF),
        ("1,667", 1666.7, EXACT),
        ("1.13e5", 113_400, EXACT),
        ("1.13e5", 114_100, OFF),
        ("", 1.0, None),
        ("at most 0.9", 0.5, None),
        ("0.5", None, None),
        ("0.5", "none", None),
    ],
)
def test_how_a_printed_number_is_met(
    printed: str, found: float | str | None, agreement: Agreement | None
) -> None:
    line = Line("x", printed, found)
    assert line.agreement == agreement
    assert line.met is (None if agreement is None else agreement == EXACT)


def test_simulated_numbers_have_room_and_no_more() -> None:
    assert Line("x", "0.478", 0.47, error=0.002).agreement == NEAR
    assert Line("x", "0.478", 0.47, error=0.002).met is True
    assert Line("x", "0.478", 0.478, error=0.002).agreement == EXACT
    assert Line("x", "0.478", 0.46, error=0.002).agreement == OFF


def test_how_many_are_met_is_counted_from_the_findings() -> None:
    lines = [
        Line("a", "0.478", 0.4781),
        Line("b", "0.478", 0.47, error=0.002),
        Line("c", "0.478", 0.47, error=0.001, why="Because."),
        Line("d", "at most 1", 0.5),
        Line("e", "", 0.5),
    ]
    shown = [Shown(PAPERS[0], PAPERS[0].exhibits[0], Finding(lines), 0.0, kept=False)]
    assert list(counts(shown).values()) == [1, 1, 1, 1]
    assert agreement(shown).startswith(
        "Of the printed numbers 1 are met to the last printed digit, 1 within four standard errors"
    )
    stood_in = [Shown(PAPERS[0], PAPERS[0].exhibits[0], Finding(lines, stand_in="Made up."), 0.0, kept=False)]
    assert list(counts(stood_in).values()) == [0, 0, 0, 4]
    page = paper_page(PAPERS[0], shown, quick=True)
    assert f"✓ {EXACT}" in page
    assert f"✓ {NEAR}" in page
    assert agreement(shown) in page
    assert agreement(shown) in index_page(PAPERS, shown, quick=True)


def finding() -> Finding:
    bars = [
        Curve("one", [0, 1], [1.0, 2.0], "printed", "bars"),
        Curve("two", [0, 1], [2.0, 1.0], "veil", "bars"),
    ]
    lines = [Curve("one", [1, 2, 3], [1.0, math.nan, 3.0]), Curve("two", [1], [2.0], "veil", "points")]
    points = [Curve("p", [0.2, 0.3], [0.3, 0.3], "paper", "points")]
    return Finding(
        [Line("a", "1", 1.0, math.inf, "because", headline=True), Line("b", veil="text")],
        [
            Panel("curves", "x", "y", lines, log_y=True),
            Panel("bars", curves=bars, ticks=["a", "b"]),
            Panel("triangle", curves=points, kind="triangle"),
            Panel("map", curves=[Curve("road", [0, 1], [0, 1], "truth")], kind="map"),
            Panel("image", kind="image", image=[[0, 1], [1, 0]]),
        ],
        "says",
        "stands in",
    )


def test_a_finding_is_the_same_after_it_was_stored() -> None:
    whole = finding()
    text = json.dumps(whole.to_dict(), allow_nan=False)
    again = Finding.from_dict(json.loads(text))
    assert json.dumps(again.to_dict(), allow_nan=False) == text
    assert again.lines == whole.lines
    assert math.isnan(again.panels[0].curves[0].y[1])
    assert again.panels[4].image == [[0, 1], [1, 0]]


@pytest.mark.slow
def test_every_kind_of_panel_is_drawn() -> None:
    drawn = picture(finding())
    assert drawn.startswith("<svg")
    for word in ("curves", "bars", "triangle", "map", "image", "one", "two"):
        assert word in drawn
    assert picture(finding()) == drawn
    assert picture(Finding([])) == ""


@pytest.mark.slow
def test_automata_are_drawn_with_their_policies() -> None:
    """Figures 1 and 3 of the symbolic trajectories paper: symbols and probabilities are in the picture."""
    free = {"word": list("abc"), "distance": 2, "alphabet": list("abc")}
    chain = {"word": ["y", "x"], "distance": 1, "support": {"x": ["x", "y"], "y": ["x", "y"]}, "start": "x"}
    beside = Panel("beside", "x", "y", [Curve("one", [0.0, 1.0], [0.0, 1.0])], y_range=(0.0, 7.0))
    panels = [Panel("words", kind="automaton", automaton=free), beside]
    drawn = picture(Finding([], panels))
    for text in ("b, c: 1/3 each", "b: 1/2", "a, c: 1/4 each", "beside", ">7<"):
        assert text in drawn
    product = picture(Finding([], [Panel("ways", kind="automaton", automaton=chain)]))
    assert product.count("1/2") >= 2
    assert "1/3" not in product
    # A longer word takes more room, and a picture that was stored is the same again.
    assert picture(Finding.from_dict(json.loads(json.dumps(Finding([], panels).to_dict())))) == drawn


def test_numbers_as_people_read_them() -> None:
    assert [shown_value(x) for x in (None, "t", 0.0, 0.01234, 1667.2, 2.46e-8, math.inf, -3.0)] == [
        "", "t", "0", "0.01234", "1,667", "2.46·10⁻⁸", "∞", "-3",
    ]  # fmt: skip
    assert [verdict(Line("x", "1", y)) for y in (1.0, 2.0, None)] == [
        "✓ to the last printed digit", "differs", "",
    ]  # fmt: skip
