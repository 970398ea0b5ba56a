"""Releases in the queue: what is refused, stopped, killed or raced leaves the ledger exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.studio.conftest import Workbench
from tests.studio.visitor import Visitor
from veil.studio.jobs import RUNNING, ReleaseJob
from veil.studio.workspace import new_id, write_note


def _spent(workbench: Workbench, name: str = "people") -> str:
    return str(veil.Ledger(workbench.workspace.ledger).dataset(name).spent.epsilon)


def _ready(visitor: Visitor, epsilon: str) -> str:
    draft = visitor.start("Grades of a course")
    visitor.fill_in(draft, "people", release__epsilon=epsilon)
    return draft


@pytest.mark.slow
def test_two_browsers_race_for_the_last_budget(workbench: Workbench) -> None:
    first, second = workbench.visitor(), workbench.visitor()
    first.open_budget("people", "1")
    drafts = _ready(first, "0.6"), _ready(second, "0.6")
    releases = first.release(drafts[0]), second.release(drafts[1])
    pages = [visitor.wait(release) for visitor, release in zip((first, second), releases, strict=True)]
    done = ["state done" in page.text for page in pages]
    assert sorted(done) == [False, True]
    refused = pages[done.index(False)]
    assert "privacy budget exceeded" in refused.text
    assert "charged as" not in refused.text
    assert first.get(f"/release/{releases[done.index(False)]}/get/record").status == 404
    assert _spent(workbench) == "0.6"


@pytest.mark.slow
def test_many_in_the_queue_are_all_made(workbench: Workbench, visitor: Visitor) -> None:
    visitor.open_budget("people", "2")
    draft = _ready(visitor, "0.1")
    releases = [visitor.release(draft) for _ in range(20)]
    pages = [visitor.wait(release) for release in releases]
    assert all("state done" in page.text for page in pages)
    assert _spent(workbench) == "2"
    entries = {page.text.partition("charged as ")[2].partition("<")[0] for page in pages}
    assert len(entries) == 20
    assert veil.Ledger(workbench.workspace.ledger).verify().entries == {"people": 41}


def test_what_is_wrong_with_a_new_budget_is_said_beside_its_field(visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    for path in ("/ledger", f"/draft/{draft}/budget"):
        form = next(form for form in visitor.get(path).forms if form.action.endswith("/open"))
        wrong = visitor.send(form, name="people", epsilon="lots")
        assert wrong.status == 422
        assert 'id="open-epsilon-error"' in wrong.text
        assert 'id="open-name-error"' not in wrong.text


def test_without_a_budget_there_is_no_release(workbench: Workbench, visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    page = visitor.get(f"/draft/{draft}/release")
    assert "Choose a budget" in page.text
    refused = visitor.send(page.form("/make"))
    assert refused.status == 422
    assert not list(workbench.workspace.names("releases"))


def test_what_waits_can_be_cancelled_for_nothing(workbench: Workbench, visitor: Visitor) -> None:
    visitor.open_budget("people", "1")
    draft = _ready(visitor, "0.5")
    # Nothing leaves the queue while the lock of the jobs is held.
    with workbench.studio.jobs._lock:
        release = visitor.release(draft)
    visitor.send(visitor.get(f"/release/{release}").form("/cancel"))
    page = visitor.wait(release)
    text = page.text
    assert ("Nothing was charged and nothing was drawn." in text) == (_spent(workbench) == "0")
    assert ("state done" in text) == (_spent(workbench) == "0.5")


def _left_behind(workbench: Workbench, diary: list[dict[str, str]]) -> str:
    """A release whose process was killed, with as much of a diary as it had written."""
    job = ReleaseJob(
        id=new_id(),
        draft=new_id(),
        title="Grades",
        kind_name="vector",
        dataset="people",
        command="veil release vector",
        python="import veil",
        asked_at="2026-11-18T12:00:00.000+00:00",
        state=RUNNING,
        process=2**22 + 1,
    )
    folder = workbench.workspace.place("releases", job.id)
    write_note(folder / "about.json", asdict(job))
    (folder / "diary.jsonl").write_text("".join(json.dumps(line) + "\n" for line in diary))
    return job.id


def test_after_a_restart_what_was_charged_without_a_result_says_so(
    workbench: Workbench, serve: Callable[[], Workbench]
) -> None:
    charged = _left_behind(
        workbench, [{"process": "4194305"}, {"step": "Reading"}, {"step": "charged as people/2"}]
    )
    free = _left_behind(workbench, [{"process": "4194305"}, {"step": "Reading"}])
    # There is no ledger that could be asked.
    unknown = _left_behind(workbench, [{"process": "4194305"}, {"step": "Reading"}, {"step": "charging"}])
    visitor = serve().visitor()
    page = visitor.get(f"/release/{charged}")
    assert "charged as people/2, and there is no result. It is not drawn again." in page.text
    assert "state failed" in page.text
    assert "Nothing was charged." in visitor.get(f"/release/{free}").text
    assert "The ledger could not be asked" in visitor.get(f"/release/{unknown}").text
    # And it stays so.
    assert "state failed" in visitor.get(f"/release/{charged}").text


def test_what_waited_when_the_workbench_stopped_was_not_charged(
    workbench: Workbench, serve: Callable[[], Workbench]
) -> None:
    name = _left_behind(workbench, [])
    path = workbench.workspace.place("releases", name) / "about.json"
    content = json.loads(path.read_text()) | {"state": "waiting", "process": None}
    write_note(path, content)
    page = serve().visitor().get(f"/release/{name}")
    assert "state cancelled" in page.text
    assert "Nothing was charged." in page.text


def test_a_worker_says_how_it_failed(workbench: Workbench, visitor: Visitor) -> None:
    """Bad data: an error in words, nothing charged, and a way back."""
    visitor.open_budget("people", "1")
    draft = visitor.start("Grades of a course")
    (Path(workbench.studio.drafts.get(draft).source)).write_text("grade,students\nA,31\nB,many\n")
    visitor.fill_in(draft, "people")
    page = visitor.wait(visitor.release(draft))
    assert "state failed" in page.text
    assert "grades.csv" in page.text
    assert "charged as" not in page.text
    assert _spent(workbench) == "0"


def test_results_are_searched_compared_and_removed(workbench: Workbench, visitor: Visitor) -> None:
    from tests.studio.made import made_release

    first, second = made_release(workbench, "Grades of May"), made_release(workbench, "Grades of June")
    found = visitor.get("/releases?search=may")
    assert "Grades of May" in found.text
    assert "Grades of June" not in found.text
    both = visitor.get(f"/compare?a={first}&b={second}")
    assert both.status == 200
    assert both.text.count("<iframe") == 2
    visitor.send(visitor.get(f"/release/{first}").form("/remove"))
    assert visitor.get(f"/release/{first}").status == 400
    assert "Grades of May" not in visitor.get("/releases").text


def test_the_command_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from veil.cli.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("veil.studio.server.serve", lambda workspace, **_: print(workspace.ledger))
    for arguments, said in (
        (["--port", "99999"], "--port: expected a number up to 65535"),
        (["--port", "-1"], "--port: expected"),
        (["--folder", "/dev/null/x"], "--folder: expected a folder that can be written to"),
    ):
        assert main(["studio", *arguments]) == 2
        assert said in capsys.readouterr().err
    # The ledger of the environment holds here as well.
    monkeypatch.setenv("VEIL_LEDGER", "books.db")
    assert main(["studio", "--no-browser"]) == 0
    assert capsys.readouterr().out.strip() == "books.db"


def test_the_files_belong_to_their_owner(workbench: Workbench, visitor: Visitor) -> None:
    folder = workbench.workspace.folder
    assert folder.stat().st_mode & 0o077 == 0
    _: Any = visitor.start("Grades of a course")
    for room in ("drafts", "uploads", "releases"):
        assert (folder / room).stat().st_mode & 0o077 == 0
