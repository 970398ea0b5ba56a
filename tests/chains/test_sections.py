"""What the page and the terminal say of groups, starts, ends, lengths, memory and strata."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import veil
from tests.chains.pages import page_text
from veil.chains.kind import ChainKind
from veil.chains.lengths import LengthBins
from veil.chains.report.page import CountedReport, Sections, length_figure, share_figure
from veil.chains.report.summary import also_holds, print_chain_release
from veil.chains.requests import ChainRelease
from veil.chains.sequence_model import LengthLaw
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.claim import claim_of
from veil.core.job import Job
from veil.matrices.report.console import print_chain
from veil.report.console import print_inspection

MATRIX = np.array([[800, 150, 50], [100, 300, 100], [40, 60, 500]])
NAMES = ["<b>home</b>", "work", "shop"]
SEQUENCES = Sequences(
    np.array([400, 300, 200]), np.array([200, 300, 400]), np.array([100, 300, 500]), LengthBins((1, 2, 5))
)
HEADINGS = {
    "groups": "One chain for each group",
    "starts": "Where sequences start",
    "ends": "Where sequences end",
    "lengths": "How long they are",
    "second": "Two states back",
    "strata": "How much of each person was counted",
}


def second() -> Any:
    """[before, from, to]: after work, home leads to the shop; otherwise as without memory."""
    table = np.zeros((4, 3, 3), dtype=np.int64)
    table[3] = MATRIX // 2
    table[0], table[2] = MATRIX // 8, MATRIX // 8
    table[1] = MATRIX // 8
    table[1, 0] = [0, 0, 5000]
    return table


@pytest.fixture(autouse=True)
def no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other mechanisms are left out: calibrating them takes most of the time."""
    monkeypatch.setattr("veil.chains.report.page._MOST_COMPARED", 0)


@cache
def prepared(kind: str) -> Job[Any]:
    more: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if kind == "groups":
        more = {"groups": {"day": MATRIX, "<night>": np.diag([10, 20, 90]) + 1}}
    elif kind == "strata":
        strata = (Stratum(2, 1, MATRIX // 2), Stratum(3, 2, MATRIX // 2), Stratum(5, 4, MATRIX // 2))
        more, options = {"cap": 4, "strata": strata, "sequences": SEQUENCES}, {"unit": "user"}
    elif kind == "sequences":
        more, options = {"sequences": SEQUENCES}, {"parts": ("starts", "ends", "lengths")}
    elif kind == "second":
        more = {"second": second()}
    return ChainRelease(epsilon=50.0, **options).prepare(TransitionCounts(MATRIX, NAMES, **more))


@cache
def released(kind: str) -> veil.Release[Any]:
    return prepared(kind).run(rng=1)


def sections(kind: str) -> Sections:
    report = CountedReport.of_release(released(kind))
    assert report.counted is not None
    return report.counted.sections


@cache
def page(kind: str) -> str:
    return page_text(released(kind))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("plain", ()),
        ("groups", ("groups",)),
        ("sequences", ("starts", "ends", "lengths")),
        ("second", ("second",)),
        ("strata", ("lengths", "strata")),
    ],
)
def test_only_what_is_held_has_a_section(kind: str, held: tuple[str, ...]) -> None:
    text = page(kind)
    for name, heading in HEADINGS.items():
        assert (f"<h2>{heading}</h2>" in text) == (name in held)
    assert "<b>home" not in text
    assert "None" not in text
    assert not re.search(r"\bnan\b", text)


def test_groups_are_told_apart() -> None:
    day, night = sections("groups").groups
    assert (day.name, night.name) == ("day", "<night>")
    # The total of its counts, and the largest cell: 800 of 2,100, and 91 of 129.
    assert day.size == pytest.approx(2100, abs=2)
    assert (day.origin, day.destination) == (NAMES[0], NAMES[0])
    assert day.share == pytest.approx(800 / 2100, abs=0.002)
    assert (night.origin, night.destination) == ("shop", "shop")
    assert night.share == pytest.approx(91 / 129, abs=0.02)
    chain = veil.chains.group_chain(released("groups"), "day")
    assert day.top_share == chain.stationary().max()
    assert "--group day" in page("groups")
    assert "&lt;night&gt;" in page("groups")


def test_many_groups_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.chains.report.page._MOST_GROUPS", 1)
    found = sections("groups")
    assert (len(found.groups), found.more_groups) == (1, 1)
    assert "And 1 more." in page_text(released("groups"))


@pytest.mark.slow
def test_lengths_in_numbers() -> None:
    facts = sections("sequences").lengths
    assert facts is not None
    law = veil.chains.model(released("sequences")).lengths
    assert law is not None
    assert facts.mean == law.mean
    below = {int(n): float(law.probabilities[law.lengths <= n].sum()) for n in law.lengths}
    assert below[facts.quantile(0.5)] >= 0.5
    assert below.get(facts.quantile(0.5) - 1, 0.0) < 0.5
    assert below[facts.quantile(0.95)] >= 0.95
    assert f"has {facts.mean:.3g} states on average" in page("sequences")


def test_short_lengths_are_bars_and_long_ones_a_line() -> None:
    few: Any = length_figure(LengthLaw(np.array([1, 2, 4]), np.array([0.5, 0.25, 0.25])))
    assert [bar.get_height() for bar in few.axes[0].patches] == [0.5, 0.25, 0.25]
    many: Any = length_figure(LengthLaw(np.arange(1, 201), np.full(200, 1 / 200)))
    assert many.axes[0].get_xscale() == "log"
    (line,) = many.axes[0].get_lines()
    # All have at least one state, half of them at least 101.
    assert line.get_ydata()[0] == 1.0
    assert line.get_ydata()[100] == pytest.approx(0.5)


def test_starts_are_ordered() -> None:
    figure: Any = share_figure(np.array([0.2, 0.5, 0.3]), ["x", "y", "z"], "starts")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["y", "z", "x"]
    assert [text.get_text() for text in axes.texts] == ["50 %", "30 %", "20 %"]


def test_the_pair_that_memory_changes_most_is_first() -> None:
    found = sections("second")
    first = found.pairs[0]
    assert (first.before, first.origin) == ("work", NAMES[0])
    model = veil.chains.model(released("second"))
    assert model.second is not None
    places = [NAMES.index(name) for name in (first.before, first.origin, first.destination)]
    assert first.known == model.second[tuple(places)]
    assert first.alone == model.chain.to_numpy()[places[1], places[2]]
    weights = [pair.share * abs(pair.known - pair.alone) for pair in found.pairs]
    assert weights == sorted(weights, reverse=True)
    gaps = 0.5 * np.abs(model.second[:-1] - model.chain.to_numpy()).sum(axis=2)
    assert found.gain == pytest.approx(float((model.joint() * gaps).sum()))


@pytest.mark.slow
def test_strata_say_who_is_counted_how_often() -> None:
    lines = [(line.least, line.most, line.cap) for line in sections("strata").strata]
    assert lines == [(2, 2, 1), (3, 4, 2), (5, None, 4)]
    text = page("strata")
    for cells in ("<td>2</td><td>1</td>", "<td>3 to 4</td><td>2</td>", "<td>5 or more</td><td>4</td>"):
        assert cells in text


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("plain", None),
        ("groups", "Also holds: 2 groups (day, <night>)."),
        ("sequences", "Also holds: starts, ends, lengths."),
        ("second", "Also holds: the state before."),
        ("strata", "Also holds: lengths; transitions in 3 tables, by the length of the sequences."),
    ],
)
def test_the_terminal_says_what_it_holds(
    kind: str, line: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    release = released(kind)
    assert also_holds(release) == line
    print_inspection(release, claim_of(release, "made"))
    inspected = capsys.readouterr().out
    print_chain_release(release, job=prepared(kind), written=[])
    for shown in (inspected, capsys.readouterr().out):
        assert ("Also holds" in shown) == (line is not None)
        assert (line or "") in shown


def test_the_noise_of_all_strata_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    moved = [line.moved for line in sections("strata").strata]
    moves: dict[str, Any] = {"chosen": "geometric", "why": "it moves a count by 1"}
    print_chain_release(released("strata"), job=replace(prepared("strata"), **moves), written=[])
    text = f"it moves a count by {min(moved):.3g} to {max(moved):.3g})"
    assert text in capsys.readouterr().out
    print_chain_release(released("plain"), job=replace(prepared("plain"), **moves), written=[])
    assert "Mechanism: geometric: it moves a count by 1.\n" in capsys.readouterr().out


# Error bars that are not there


def test_missing_error_bars_have_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    report = CountedReport.of_release(released("strata"))
    reason = "No error bars: they need a chain of one table of transitions, and this is one of several strata"
    assert reason in page("strata")
    print_chain(report)
    assert reason in capsys.readouterr().out
    assert CountedReport.of_release(released("plain")).no_bars is None
    assert "No error bars" not in page("plain")


def test_one_group_has_no_error_bars(capsys: pytest.CaptureFixture[str]) -> None:
    report = ChainKind().chain_report(released("groups"), "day")
    print_chain(report)
    reason = "No error bars: they are known for the chain of all groups together"
    assert reason in capsys.readouterr().out
    text = page_text(report)
    assert reason in text
    assert "chain of the group “day”" in text


def test_large_chains_say_why_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veil.matrices.report.chain._MOST_INTERVALS", 2)
    assert "No error bars: of more than 2 states they would take too long." in page_text(released("plain"))
