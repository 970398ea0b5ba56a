"""From a project to a release: propose, approve, release, each by who may."""

from __future__ import annotations

import json

import pytest

import veil
from tests.studio.team.conftest import Served

# They share one server.
pytestmark = pytest.mark.xdist_group("postgres")


def test_from_a_project_to_a_release(served: Served) -> None:
    ada, cid, eve = served.person("ada"), served.person("cid"), served.person("eve")
    project = ada.found_project("Grades", "cid", "eve", "bob")
    cid.project = eve.project = project
    ada.grant()
    added = ada.add_source()
    assert added.status == 200, added.text
    assert "<code>grade</code>" in added.text
    proposal = cid.proposed()
    assert "Another steward" not in ada.look(f"/proposal/{proposal}").text
    assert ada.approve(proposal).status == 200
    release = cid.release(proposal)
    page = cid.wait(release)
    assert "state done" in page.text, page.text
    seen = eve.look(f"/release/{release}")
    assert seen.status == 200
    record = json.loads(eve.look(f"/release/{release}/get/record").content)
    assert record["entry"]["number"] == 2, record["entry"]
    history = veil.Ledger(served.team.settings.ledger).dataset("people")
    (charge,) = [entry for entry in history.entries() if entry.kind == "reserve"]
    shown = ada.look(f"/proposal/{proposal}").text
    assert charge.content["plan"] in shown
    assert charge.content["by"] == "cid"
