"""Propose, approve, release: what is signed is a hash, by somebody else, and it is released once."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import veil
from tests.studio.team.conftest import Served, Site
from tests.studio.team.people import Person
from veil.studio.team.database import Database, DatabaseAway

# They share one server.
pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.slow]


def _project(served: Served, epsilon: str = "1") -> tuple[Person, Person]:
    ada = served.person("ada")
    ada.found_project("Grades", "bob", "cid", "dot", "eve")
    ada.grant(epsilon=epsilon)
    assert ada.add_source().status == 200
    return ada, served.person("cid", ada.project)


def _entries(served: Served) -> list[str]:
    return [entry.kind for entry in veil.Ledger(served.team.settings.ledger).dataset("people").entries()]


def test_nothing_is_released_without_an_approval(served: Served) -> None:
    ada, cid = _project(served)
    proposal = cid.proposed()
    assert not [form for form in cid.look(f"/proposal/{proposal}").forms if form.action.endswith("/release")]
    proof = dict(cid.look("/proposals").forms[0].fields)["proof"]
    for path in ("release", "approve"):
        page = cid.post(cid.at(f"/proposal/{proposal}/{path}"), {"proof": proof})
        assert page.status in (400, 403), path
    form = ada.look(f"/proposal/{proposal}").form("/approve")
    form.action = form.action.replace("/approve", "/refuse")
    ada.send(form, note="Too much")
    page = cid.post(cid.at(f"/proposal/{proposal}/release"), {"proof": proof})
    assert page.status == 400
    assert "refused" in page.text
    assert "Too much" in cid.look(f"/proposal/{proposal}").text
    assert _entries(served) == ["open"]


def test_nobody_approves_their_own_plan(served: Served) -> None:
    ada, _ = _project(served)
    proposal = ada.proposed()
    page = ada.look(f"/proposal/{proposal}")
    assert "who proposes does not approve" in page.text
    digest = page.text.split("SHA-256 <code>")[1][:64]
    proof = dict(page.forms[0].fields)["proof"]
    for path in ("approve", "refuse"):
        own = ada.post(ada.at(f"/proposal/{proposal}/{path}"), {"proof": proof, "sha256": digest})
        assert own.status == 403
        assert "another steward" in own.text
    assert served.person("bob", ada.project).approve(proposal).status == 200


def test_a_single_steward_may_if_that_was_said(serve: Callable[..., Served]) -> None:
    served = serve(single_steward=True)
    ada, _ = _project(served)
    proposal = ada.proposed()
    assert "approved" in ada.approve(proposal).text


def test_an_approval_is_good_for_one_plan(served: Served) -> None:
    """That of one plan, sent for another, is refused; the other stays as it was."""
    ada, cid = _project(served)
    first, second = cid.proposed(), cid.proposed(release__epsilon="0.9")
    form = ada.look(f"/proposal/{first}").form("/approve")
    replayed = ada.post(ada.at(f"/proposal/{second}/approve"), dict(form.fields))
    assert replayed.status == 400
    assert "look at it again" in replayed.text
    assert "proposed" in ada.look(f"/proposal/{second}").text
    assert ada.approve(first).status == 200
    # Twice does nothing more.
    assert ada.post(ada.at(f"/proposal/{first}/approve"), dict(form.fields)).status == 400


def test_anything_changed_needs_another_approval(served: Served) -> None:
    ada, cid = _project(served)
    draft = cid.draft()
    cid.plan(draft)
    first = cid.propose(draft)
    assert ada.approve(first).status == 200
    # The draft goes on; what was approved does not.
    cid.send(cid.look(f"/draft/{draft}/plan").form(f"/draft/{draft}/plan"), release__epsilon="0.9", go="on")
    assert "0.5" in cid.look(f"/proposal/{first}").text
    second = cid.propose(draft)
    page = ada.look(f"/proposal/{second}")
    assert "<del>0.5</del>" in page.text
    assert "<ins>0.9</ins>" in page.text
    # With a new version the old approval is void.
    assert "withdrawn" in cid.look(f"/proposal/{first}").text
    proof = dict(cid.look("/proposals").forms[0].fields)["proof"]
    for proposal in (first, second):
        assert cid.post(cid.at(f"/proposal/{proposal}/release"), {"proof": proof}).status == 400
    assert _entries(served) == ["open"]


def test_what_was_proposed_is_kept_by_the_database_itself(served: Served) -> None:
    ada, cid = _project(served)
    proposal = cid.proposed()
    for change in (
        "UPDATE veil_studio_proposals SET request = replace(request, '0.5', '0.9')",
        "UPDATE veil_studio_proposals SET author = 'ada'",
        "DELETE FROM veil_studio_proposals",
        "UPDATE veil_studio_audit SET who = 'nobody'",
        "DELETE FROM veil_studio_audit",
        "TRUNCATE veil_studio_audit",
    ):
        with pytest.raises(DatabaseAway), served.team.database.begin() as rows:
            rows.run(change)
    # Past that, the hash shows it, and nothing is approved or released.
    with served.team.database.begin() as rows:
        rows.run("ALTER TABLE veil_studio_proposals DISABLE TRIGGER veil_studio_frozen")
        rows.run("UPDATE veil_studio_proposals SET request = replace(request, '0.5', '0.9')")
    assert "not what was hashed" in ada.look(f"/proposal/{proposal}").text
    assert ada.approve(proposal).status == 400
    with served.team.database.begin() as rows:
        rows.run("UPDATE veil_studio_proposals SET state = 'approved'")
    page = cid.do(f"/proposal/{proposal}", "/release")
    assert page.status == 400
    assert _entries(served) == ["open"]


def test_another_source_in_its_place_is_found_out(served: Served, site: Site) -> None:
    """Data that was swapped behind the workbench, after the approval: nothing is read, nothing charged."""
    ada, cid = _project(served)
    proposal = cid.proposed()
    ada.approve(proposal)
    (site.data / "others.csv").write_text("grade,count\nA,999\n")
    ada.add_source("others.csv", title="Others")
    with served.team.database.begin() as rows:
        other = rows.one("SELECT sealed FROM veil_studio_sources WHERE title = 'Others'")
        assert other is not None
        rows.run("UPDATE veil_studio_sources SET sealed = :sealed", sealed=other["sealed"])
    page = cid.wait(cid.release(proposal))
    assert "state failed" in page.text
    assert "another source" not in page.text
    assert _entries(served) == ["open"]


def test_an_analyst_is_not_told_what_depends_on_the_data(served: Served, site: Site) -> None:
    ada, cid = _project(served)
    proposal = cid.proposed()
    ada.approve(proposal)
    (site.data / "grades.csv").write_text("grade,count\nA,31\nB,-7\n")
    release = cid.release(proposal)
    page = cid.wait(release)
    assert "The release was not made. The stewards of the project can see why." in page.text
    assert "negative" not in page.text
    for path in ("", "/get/record", "/report"):
        assert "negative" not in cid.look(f"/release/{release}{path}").text
    assert "negative" in ada.look(f"/release/{release}").text
    assert served.person("eve", ada.project).look(f"/release/{release}").status == 404
    assert _entries(served) == ["open"]


def test_two_race_for_the_last_budget(site: Site, serve: Callable[..., Served]) -> None:
    """Two analysts, two processes of the workbench: one release is made, of the other nothing is drawn."""
    first, second = serve(), serve()
    ada, cid = _project(first, epsilon="0.7")
    dot = second.person("dot", ada.project)
    plans = [cid.proposed(), dot.proposed()]
    for plan in plans:
        ada.approve(plan)
    with ThreadPoolExecutor(2) as pool:
        releases = list(pool.map(lambda who, plan: who.release(plan), (cid, dot), plans))
    pages = [who.wait(release).text for who, release in zip((cid, dot), releases, strict=True)]
    assert sorted("state done" in page for page in pages) == [False, True]
    (refused,) = [page for page in pages if "state done" not in page]
    assert "state refused" in refused
    assert "asked for" in refused
    assert "privacy budget exceeded" in refused
    assert _entries(first).count("reserve") == 1


def test_pressing_release_twice_is_once(served: Served) -> None:
    ada, cid = _project(served)
    proposal = cid.proposed()
    ada.approve(proposal)
    form = cid.look(f"/proposal/{proposal}").form("/release")
    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda _: cid.post(form.action, dict(form.fields)), range(4)))
    assert len({page.path for page in pages}) == 1
    cid.wait(pages[0].path.split("/")[4])
    assert _entries(served).count("reserve") == 1


def test_a_release_that_waits_is_cancelled_for_nothing(served: Served) -> None:
    ada, cid = _project(served)
    served.team.runner.close()
    proposal = cid.proposed()
    ada.approve(proposal)
    release = cid.release(proposal)
    page = cid.send(cid.look(f"/release/{release}").form("/cancel"))
    assert "state cancelled" in page.text
    dot = served.person("dot", ada.project)
    proof = dict(dot.look("/").forms[0].fields)["proof"]
    assert dot.post(dot.at(f"/release/{release}/cancel"), {"proof": proof}).status == 404
    assert _entries(served) == ["open"]


def test_the_log_says_who_did_what_and_no_values(served: Served) -> None:
    ada, cid = _project(served)
    added = ada.add_source("postgresql://reader:hunter2-secret@127.0.0.1:1/db", title="Remote", table="t")
    assert added.status == 422
    assert "hunter2" not in added.text
    proposal = cid.proposed()
    ada.approve(proposal)
    cid.wait(cid.release(proposal))
    exported = ada.look("/log/export")
    lines = [json.loads(line) for line in exported.text.splitlines()]
    actions = [(line["who"], line["action"]) for line in lines]
    for who, action in (
        ("ada", "project made"),
        ("ada", "budget opened"),
        ("ada", "source added"),
        ("cid", "plan proposed"),
        ("ada", "plan approved"),
        ("cid", "release asked for"),
        ("cid", "release ended: done"),
    ):
        assert (who, action) in actions
    text = exported.text
    for value in ("hunter2", "grades.csv", str(served.team.settings.data)):
        assert value not in text.replace(lines[0]["at"][:10], ""), value
    database = Database(served.team.settings.ledger)
    from veil.studio.team.audit import entries_of, first_fault

    entries = entries_of(database, None)[::-1]
    assert first_fault(entries) is None
    entries[3]["who"] = "somebody"
    assert first_fault(entries) == 4
    assert first_fault([*entries[:2], *entries[3:]]) == 3
    database.close()
