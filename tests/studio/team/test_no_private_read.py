"""Before a release nothing of the data is read: no page opens it, and only the schema reader asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.studio.team.conftest import Served, Site
from tests.studio.test_no_private_read import LAWFUL, watching
from tests.tables.servers import Server
from veil.studio.team.pages import PAGES

# They share one server.
pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.slow]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that this one starts meanwhile, by their module."""
    import subprocess

    started: list[str] = []
    whole: Any = subprocess.Popen.__init__

    def noted(self: Any, order: Any, *arguments: Any, **more: Any) -> None:
        started.extend(str(part) for part in order if str(part).startswith("veil.studio"))
        whole(self, order, *arguments, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return started


def test_no_page_reads_the_data(served: Served, site: Site, asked: list[str]) -> None:
    """All pages of all roles, up to the approval."""
    cells = [f"canary-{row}" for row in range(50)]
    (site.data / "grades.csv").write_text("\n".join(["grade,count", *(f"{cell},7" for cell in cells)]))
    texts = []
    with watching() as opened:
        ada = served.person("ada")
        project = ada.found_project("Grades", "bob", "cid", "eve")
        ada.grant()
        texts.append(ada.add_source().text)
        assert asked == ["veil.studio.schema_reader"]
        cid = served.person("cid", project)
        draft = cid.draft()
        cid.plan(draft)
        proposal = cid.propose(draft)
        ada.approve(proposal)
        ids = {"draft": draft, "proposal": proposal}
        for page in PAGES:
            if page.method != "GET":
                continue
            for name in ("ada", "cid", "eve"):
                path = page.path.replace("{project}", project)
                kind = path.split("/")[3] if path.count("/") > 2 else ""
                path = path.replace("{id}", ids.get(kind, "0" * 16)).replace("{token}", "x")
                for step in ("data", "hidden", "choices", "plan", "budget", "release"):
                    at = path.replace("{step}", step).replace("{name}", "x").replace("{what}", "record")
                    texts.append(served.person(name, project).get(at.replace("{command}", "chain")).text)
                    if "{step}" not in path:
                        break
    assert opened, "the server opens its own files at least"
    assert not [path for path in opened if Path(path).parent == site.data]
    # Nobody but the schema reader was started: it asked once.
    assert asked == ["veil.studio.schema_reader"]
    assert not [cell for cell in cells if any(cell in text for text in texts)]
    (source,) = served.team.sources.of(served.team.projects.get(project, served.team.accounts.get("ada")))
    assert source.asked
    assert all(question.startswith(LAWFUL) for _, question in source.asked), source.asked
    # Then the worker alone reads it.
    with watching() as opened:
        cid.wait(cid.release(proposal))
    assert not [path for path in opened if Path(path).parent == site.data]
    assert asked == ["veil.studio.schema_reader", "veil.studio.worker"]


def test_of_a_text_without_a_header_nothing_is_read(served: Served, site: Site) -> None:
    (site.data / "grades.csv").write_text("canary,31\nB,28\n")
    ada = served.person("ada")
    ada.found_project("Grades")
    ada.grant()
    for header in ("no", ""):
        page = ada.add_source(header=header)
        assert page.status == 200
        assert "canary" not in page.text
    project = served.team.projects.get(ada.project, served.team.accounts.get("ada"))
    assert [source.asked for source in served.team.sources.of(project)] == [(), ()]


def test_of_a_database_only_the_catalogue_is_asked(served: Served, postgres: Server) -> None:
    """Its statements, as the server itself has logged them, until and including the release."""
    import psycopg

    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS visits")
        connection.execute("CREATE TABLE visits AS SELECT 'canary' AS grade, 31 AS count")
    ada = served.person("ada")
    ada.found_project("Grades")
    ada.grant()
    page = ada.add_source(postgres.address(), title="Visits", table="visits", header="")
    assert page.status == 200, page.text
    assert "<code>grade</code>" in page.text
    assert "canary" not in page.text
    project = served.team.projects.get(ada.project, served.team.accounts.get("ada"))
    (source,) = served.team.sources.of(project)
    for _, question in source.asked:
        assert "catalogue" in question or "information_schema" in question or question.startswith("SET "), (
            question
        )
    # The address is nowhere: not on a page, not in the clear in the database.
    assert postgres.password not in page.text
    with served.team.database.begin() as rows:
        kept = rows.all("SELECT * FROM veil_studio_sources")
        logged = rows.all("SELECT * FROM veil_studio_audit")
    assert postgres.password not in str(kept) + str(logged)
    assert postgres.password not in json.dumps([str(one) for one in served.team.sources.of(project)])
    assert served.team.sources.location(ada.project, source.id) == postgres.address()
