"""What a plan shows before the release: a preview on made-up data, other epsilons, parts of the budget."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.studio.conftest import Workbench
from tests.studio.made import made_release
from tests.studio.visitor import Page, Visitor
from veil.samples.examples import EXAMPLES, Example
from veil.studio.draft import Draft
from veil.studio.journey import plan_texts
from veil.studio.planning import Plans, around_at, expected_at, preview_at


def _question(example: Example, folder: Path) -> tuple[Any, ...]:
    texts = {
        key: str(folder / text) if text in example.files else text for key, text in example.texts.items()
    }
    asked = plan_texts(Draft("0" * 16, example.kind, texts=texts))
    return example.kind, tuple(sorted(asked.items())), float(texts["release.epsilon"]), 0.0


@pytest.mark.slow_for("words", "chain", "graph", "trips")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.kind)
def test_every_kind_is_planned_and_has_a_preview(made_up: Path, example: Example) -> None:
    """From public numbers and public files alone: the data itself is not there."""
    question = _question(example, made_up)
    expected = expected_at(*question)
    assert not expected.trouble
    assert expected.measure
    sketch = preview_at(*question)
    assert sketch is not None
    assert sketch.made_up
    assert sketch.released
    assert sketch.made_up != sketch.released
    assert preview_at(*question) == sketch


@pytest.mark.slow_for("words", "chain", "trips")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.kind)
def test_points_of_a_curve_are_those_of_the_plan(made_up: Path, example: Example) -> None:
    """What is left out to be quick is in the ranges alone."""
    question = _question(example, made_up)
    point, whole = around_at(*question), expected_at(*question)
    assert not point.trouble
    assert (point.measure, point.nothing) == (whole.measure, whole.nothing)
    assert point.error == pytest.approx(whole.error, rel=1e-12)


def test_a_preview_is_marked_as_simulated(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    page = _planned(visitor, draft)
    shown = page.text.partition('class="sketch"')[2]
    assert shown.index("Simulated.") < shown.index("<svg")
    assert "Nothing here comes from your data." in shown
    # Labels are made up as well.
    assert "entry 1" in shown


def _planned(visitor: Visitor, draft: str) -> Page:
    path = f"/draft/{draft}/plan"
    for part in ("live", "drawn"):
        while 'hx-trigger="load' in visitor.get(f"{path}/{part}").text:
            pass
    return visitor.get(path)


@pytest.mark.slow
def test_the_place_of_the_slider_becomes_the_epsilon(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    _planned(visitor, draft)
    moved = visitor.get(f"/draft/{draft}/plan/live?at=0.5")
    assert 'name="use" value="1.649"' in moved.text
    stayed = visitor.send(visitor.get(f"/draft/{draft}/plan").form("/plan"), use="1.649")
    assert stayed.path == f"/draft/{draft}/plan"
    assert workbench.studio.drafts.get(draft).text("release.epsilon") == "1.649"


@pytest.mark.slow
def test_a_planner_that_is_killed_is_replaced() -> None:
    plans, texts = Plans(), {"plan.size": "5", "plan.change": "add-remove"}
    try:
        while plans.ask("vector", texts, 1.0, 0.0) is None:
            pass
        assert plans._pool is not None
        for process in plans._pool._processes or ():
            os.kill(process, signal.SIGKILL)
        forecast = plans.ask("vector", texts, 3.0, 0.0)
        while forecast is None or not forecast.expected.measure:
            # At most once it says that the process was stopped.
            forecast = plans.ask("vector", texts, 3.0, 0.0)
        assert forecast.expected.epsilon == 3.0
    finally:
        plans.close()


def test_a_part_of_what_is_left_is_taken_exactly(workbench: Workbench, visitor: Visitor) -> None:
    visitor.open_budget("people", "0.3")
    draft = visitor.start("Grades of a course")
    form = visitor.get(f"/draft/{draft}/budget").form("/budget")
    for share, epsilon in (("0.1", "0.03"), ("0.25", "0.075"), ("1", "0.3")):
        page = visitor.send(form, dataset="people", share=share)
        assert page.path == f"/draft/{draft}/budget"
        assert float(workbench.studio.drafts.get(draft).text("release.epsilon")) == float(epsilon)
        assert "Not enough" not in page.text
    assert "0 after this release" in page.text or "0.0 after this release" in page.text
    visitor.send(form, dataset="people", share="77", release__epsilon="0.2")
    assert workbench.studio.drafts.get(draft).text("release.epsilon") == "0.2"
    wrong = visitor.send(form, dataset="people", release__epsilon="lots", go="on")
    assert wrong.status == 422
    assert "Expected a number above 0." in wrong.text


def test_what_is_split_is_dragged_on_the_page_of_the_budget(visitor: Visitor) -> None:
    """Of a graph: between the graph and facts about it, by a slider and by a number."""
    draft = visitor.start("Friendships among 300 people")
    page = visitor.get(f"/draft/{draft}/budget")
    assert 'data-sets="release.share"' in page.text
    assert "release.share" in dict(page.form("/budget").fields)
    assert "release.share" not in visitor.get(f"/draft/{draft}/hidden").text


def test_a_release_is_sharpened_with_what_is_left(workbench: Workbench, visitor: Visitor) -> None:
    from dataclasses import replace

    visitor.open_budget("people", "2")
    veil.vectors.release(
        {"A": 3, "B": 4}, epsilon=0.5, ledger=veil.Ledger(workbench.workspace.ledger).dataset("people")
    )
    draft = visitor.start("Grades of a course")
    name = made_release(workbench, "Grades", has_report=False)
    jobs = workbench.studio.jobs
    jobs._keep(replace(jobs.get(name), draft=draft))
    page = visitor.get(f"/release/{name}")
    assert "ε = 1.5 left" in page.text
    sharper = visitor.send(page.form("/sharpen"))
    again = workbench.studio.drafts.get(sharper.path.split("/")[2])
    assert again.text("release.epsilon") == "1.5"
    assert again.sharpens == name
    assert again.source == workbench.studio.drafts.get(draft).source
    # What follows a release is shown beside it.
    second = made_release(workbench, "Grades, sharpened", has_report=False)
    jobs._keep(replace(jobs.get(second), sharpens=name))
    assert f"/compare?a={name}" in visitor.get(f"/release/{second}").text


def test_changes_are_undone_in_turn(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    path, drafts = f"/draft/{draft}/plan", workbench.studio.drafts
    assert "Undo" not in visitor.get(path).text
    for epsilon in ("2", "3", "3"):
        visitor.send(visitor.get(path).form("/plan"), release__epsilon=epsilon, go="stay")
    for before in ("2", "1"):
        page = visitor.send(visitor.get(path).form("/undo"))
        assert page.path == path
        assert drafts.get(draft).text("release.epsilon") == before
    assert "Undo" not in visitor.get(path).text
    assert drafts.undo(draft).text("release.epsilon") == "1"


def test_what_was_asked_of_the_data_cannot_be_undone(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    drafts = workbench.studio.drafts
    asked = drafts.get(draft).asked
    visitor.send(visitor.get(f"/draft/{draft}/data").form("/source"), header="yes")
    now = drafts.get(draft).asked
    assert len(now) > len(asked)
    visitor.send(visitor.get(f"/draft/{draft}/data").form("/data"), title="Other", go="on")
    assert drafts.undo(draft).asked == now


def test_an_address_is_in_no_note_of_what_was(workbench: Workbench) -> None:
    drafts = workbench.studio.drafts
    draft = drafts.new("chain", source="postgresql://me:secret@localhost/db")
    drafts.put(draft.with_texts({"release.epsilon": "1"}))
    folder = workbench.workspace.folder / "drafts" / draft.id
    assert not [path for path in folder.iterdir() if "secret" in path.read_text()]
    assert drafts.undo(draft.id).source.endswith("/db")


def test_a_removed_draft_comes_back(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    removed = visitor.send(visitor.get("/").form(f"/draft/{draft}/remove"))
    assert visitor.get(f"/draft/{draft}/data").status == 400
    visitor.send(removed.form(f"/draft/{draft}/restore"))
    assert visitor.get(f"/draft/{draft}/data").status == 200
    assert visitor.get("/?removed=%3Cscript%3E").text.count("restore") == 0
