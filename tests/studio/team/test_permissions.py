"""Who may ask for which page: every role at every address, in their own project and in another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.studio.team.conftest import Served, new_site, serving
from tests.studio.team.people import Person
from tests.studio.visitor import Page
from tests.tables.servers import Server
from veil.studio.team.pages import PAGES
from veil.studio.team.sessions import form_proof

# They share one server.
pytestmark = pytest.mark.xdist_group("postgres")

# Written out once more, so that a right given by mistake shows here. v: viewer, a: analyst, s: steward.
_EXPECTED = {
    "GET /": "vas",
    "POST /projects": "s",
    "POST /sign-out": "vas",
    "GET /account": "vas",
    "POST /account/password": "vas",
    "POST /account/sessions": "vas",
    "GET /project/{project}/": "vas",
    "GET /project/{project}/members": "vas",
    "POST /project/{project}/members": "s",
    "POST /project/{project}/members/remove": "s",
    "GET /project/{project}/sources": "as",
    "POST /project/{project}/sources": "s",
    "POST /project/{project}/source/{id}/retire": "s",
    "POST /project/{project}/lists": "as",
    "GET /project/{project}/list/{name}": "as",
    "GET /project/{project}/budgets": "vas",
    "POST /project/{project}/budgets": "s",
    "POST /project/{project}/budgets/raise": "s",
    "POST /project/{project}/budgets/close": "s",
    "GET /project/{project}/ledger": "vas",
    "GET /project/{project}/ledger/of": "vas",
    "GET /project/{project}/log": "s",
    "GET /project/{project}/log/export": "s",
    "GET /project/{project}/new": "as",
    "POST /project/{project}/new": "as",
    "GET /project/{project}/draft/{id}": "as",
    "POST /project/{project}/draft/{id}/remove": "as",
    "GET /project/{project}/draft/{id}/questions": "as",
    "POST /project/{project}/draft/{id}/source": "as",
    "GET /project/{project}/draft/{id}/plan/live": "as",
    "GET /project/{project}/draft/{id}/plan/picture.svg": "as",
    "POST /project/{project}/draft/{id}/propose": "as",
    "GET /project/{project}/draft/{id}/{step}": "as",
    "POST /project/{project}/draft/{id}/{step}": "as",
    "GET /project/{project}/proposals": "as",
    "GET /project/{project}/proposal/{id}": "as",
    "POST /project/{project}/proposal/{id}/approve": "s",
    "POST /project/{project}/proposal/{id}/refuse": "s",
    "POST /project/{project}/proposal/{id}/withdraw": "as",
    "POST /project/{project}/proposal/{id}/release": "as",
    "GET /project/{project}/releases": "vas",
    "GET /project/{project}/compare": "vas",
    "GET /project/{project}/release/{id}": "vas",
    "GET /project/{project}/release/{id}/state": "vas",
    "POST /project/{project}/release/{id}/cancel": "as",
    "POST /project/{project}/release/{id}/sharpen": "as",
    "GET /project/{project}/release/{id}/report": "vas",
    "GET /project/{project}/release/{id}/view": "vas",
    "GET /project/{project}/release/{id}/get/{what}": "vas",
    "GET /project/{project}/release/{id}/after/{command}": "as",
    "POST /project/{project}/release/{id}/after/{command}": "as",
    "GET /project/{project}/release/{id}/after/{command}/file": "as",
}
_OPEN = {
    "GET /sign-in",
    "POST /sign-in",
    "POST /sign-in/provider",
    "GET /sign-in/back",
    "GET /link/{token}",
    "POST /link/{token}",
}
_OF_A_PROJECT = [name for name in _EXPECTED if "{project}" in name]
_MEMBERS = {"v": "eve", "a": "cid", "s": "ada"}
_OTHERS = {"v": "hal", "a": "gil", "s": "fay"}


@dataclass(frozen=True)
class Worked:
    """A project in which something was done, and another one."""

    served: Served
    project: str
    other: str
    ids: dict[str, str]

    def path(self, name: str, project: str) -> str:
        """An address that leads to something of the first project, asked for in a project."""
        path = name.partition(" ")[2].replace("{project}", project)
        kind = path.split("/")[3] if path.count("/") > 2 else ""
        path = path.replace("{id}", self.ids.get(kind, "0" * 16)).replace("{token}", "x" * 43)
        path = (
            path.replace("{name}", "zones.csv")
            .replace("{step}", "hidden")
            .replace("{what}", "record")
            .replace("{command}", "chain")
        )
        return f"{path}?name=people" if path.endswith("/ledger/of") else path

    def ask(self, person: Person, name: str, project: str = "", *, proof: str | None = None) -> Page:
        """Ask for an address as it is asked for by a form that was left empty."""
        path, token = self.path(name, project or self.project), person.cookies.get("veil_team", "")
        if name.startswith("GET"):
            return person.ask("GET", path, follows=False)
        fields = {"proof": form_proof(token) if proof is None else proof}
        return person.post(path, fields, follows=False)


@pytest.fixture(scope="module")
def worked(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    with serving(new_site(postgres, tmp_path_factory.mktemp("team"))) as served:
        fay = served.person("fay")
        other = fay.found_project("Other", "gil", "hal")
        fay.grant("theirs")
        ada = served.person("ada")
        project = ada.found_project("Grades", "bob", "cid", "dot", "eve")
        ada.grant()
        assert ada.add_source().status == 200
        form = ada.look("/sources").form("/lists")
        assert ada.upload(form, "zones.csv", b"a\nb\n").status == 200
        source = ada.look("/sources").text.split("/source/")[1].partition("/")[0]
        cid = served.person("cid", project)
        draft = cid.draft()
        cid.plan(draft)
        proposal = cid.propose(draft)
        # Approved and asked for, and made by nobody: the runner is told to end first.
        served.team.runner.close()
        ada.approve(proposal)
        release = cid.release(proposal)
        ids = {"draft": draft, "proposal": proposal, "source": source, "release": release}
        yield Worked(served, project, other, ids)


def _says_role(page: Page) -> bool:
    return page.status == 403 and "Your role does not allow this." in page.text


def test_every_address_is_in_the_table() -> None:
    assert {f"{page.method} {page.path}" for page in PAGES} == set(_EXPECTED) | _OPEN
    assert len(PAGES) == len(_EXPECTED) + len(_OPEN)


@pytest.mark.parametrize("role", "vas")
def test_another_project_is_none(worked: Worked, role: str) -> None:
    """To who is not a member it looks like a project that is not there, whatever their role."""
    person = worked.served.person(_OTHERS[role])
    for name in _OF_A_PROJECT:
        there, nowhere = worked.ask(person, name), worked.ask(person, name, "f" * 16)
        assert there.status == nowhere.status == 404, name
        assert there.text == nowhere.text, name


def test_things_of_another_project_are_not_in_ours(worked: Worked) -> None:
    """An id is good for nothing under the address of another project."""
    for role, name in _OTHERS.items():
        person = worked.served.person(name, worked.other)
        for address in _OF_A_PROJECT:
            if (
                not any(part in address for part in ("{id}", "{name}", "/ledger/of"))
                or role not in _EXPECTED[address]
            ):
                continue
            page = worked.ask(person, address, worked.other)
            # Of a release that is not there nothing is removed, and of drafts neither.
            assert page.status in (400, 404) or address.endswith("/draft/{id}/remove"), (address, page.status)
            assert "Grades of a course" not in page.text, address
    cid = worked.served.person("cid", worked.project)
    assert cid.look(f"/draft/{worked.ids['draft']}/data").status == 200


def test_things_of_other_analysts_are_theirs(worked: Worked) -> None:
    """Drafts and plans of a colleague in the same project."""
    dot = worked.served.person("dot", worked.project)
    for path in (
        f"/draft/{worked.ids['draft']}",
        f"/draft/{worked.ids['draft']}/data",
        f"/draft/{worked.ids['draft']}/questions",
        f"/draft/{worked.ids['draft']}/plan/live",
        f"/proposal/{worked.ids['proposal']}",
        f"/release/{worked.ids['release']}",
        f"/release/{worked.ids['release']}/state",
        f"/release/{worked.ids['release']}/get/record",
    ):
        assert dot.look(path).status == 404, path
    for path in ("withdraw", "release"):
        page = worked.ask(dot, f"POST /project/{{project}}/proposal/{{id}}/{path}")
        assert page.status == 404
    assert worked.ids["proposal"] not in dot.look("/proposals").text
    # Not even a steward opens the draft of somebody else.
    ada = worked.served.person("ada", worked.project)
    assert ada.look(f"/draft/{worked.ids['draft']}/data").status == 404


def test_viewers_see_finished_releases_only(worked: Worked) -> None:
    eve = worked.served.person("eve", worked.project)
    for path in ("", "/state", "/report", "/get/record"):
        assert eve.look(f"/release/{worked.ids['release']}{path}").status == 404
    for path in ("/", "/releases"):
        assert worked.ids["release"] not in eve.look(path).text


def test_who_is_not_signed_in_is_asked_to(worked: Worked) -> None:
    stranger = worked.served.stranger()
    for name in _EXPECTED:
        page = worked.ask(stranger, name, proof="")
        assert page.status == 303, name
        assert page.headers["location"].startswith("/sign-in?next=/"), name
        # A part of a page sends the whole page there.
        if name.startswith("GET"):
            part = stranger.ask("GET", worked.path(name, worked.project), headers={"HX-Request": "true"})
            assert part.headers["hx-redirect"].startswith("/sign-in"), name


@pytest.mark.parametrize("proof", ["", "0" * 64, "é", "theirs"])
def test_forms_without_a_proof_do_nothing(worked: Worked, proof: str) -> None:
    other = worked.served.person("ada")
    wrong = form_proof(other.cookies["veil_team"]) if proof == "theirs" else proof
    ada = worked.served.person("ada", worked.project)
    with worked.served.team.database.begin() as rows:
        before = rows.one("SELECT count(*) AS n FROM veil_studio_audit")
    for name in _EXPECTED:
        if name.startswith("POST"):
            page = worked.ask(ada, name, proof=wrong)
            assert page.status == 403, name
            assert "That form is not ours" in page.text, name
    with worked.served.team.database.begin() as rows:
        assert rows.one("SELECT count(*) AS n FROM veil_studio_audit") == before


def test_nothing_is_done_by_other_methods(worked: Worked) -> None:
    """What is done by a form is not done by a link, nor by a method that nobody asked for."""
    ada = worked.served.person("ada", worked.project)
    posts = {name.partition(" ")[2] for name in _EXPECTED if name.startswith("POST")}
    gets = {name.partition(" ")[2] for name in _EXPECTED if name.startswith("GET")}
    for path in posts - gets:
        page = ada.ask("GET", worked.path(f"GET {path}", worked.project), follows=False)
        # An address with {step} answers to any word: it shows that there is no such step.
        assert page.status in (404, 405), path
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        for path in ("/", f"/project/{worked.project}/members", f"/project/{worked.project}/budgets"):
            assert ada.ask(method, path, b"", {"Content-Length": "0"}).status in (400, 403, 405)
    for headers in ({"X-HTTP-Method-Override": "POST"}, {"X-Method-Override": "POST"}):
        page = ada.get(ada.at("/budgets?name=x&epsilon=1"), **headers)
        assert page.status == 200
        assert "ε = 1," in page.text
        assert ada.look("/ledger/of?name=x").status == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
    ],
)
def test_other_sites_and_names_are_refused(worked: Worked, headers: dict[str, str]) -> None:
    ada = worked.served.person("ada")
    fields = {"proof": form_proof(ada.cookies["veil_team"]), "title": "Evil"}
    assert ada.post("/projects", fields, headers=headers).status == 403
    assert "Evil" not in ada.get("/").text


@pytest.mark.parametrize("role", "vas")
def test_roles(worked: Worked, role: str) -> None:
    """The last test here: it does whatever it may, to what the others look at."""
    for name in sorted(_EXPECTED, key=lambda one: ("remove" in one, "retire" in one, "cancel" in one)):
        if name == "POST /sign-out":
            continue
        # A new session each: some end it.
        person = worked.served.person(_MEMBERS[role], worked.project)
        page = worked.ask(person, name)
        if role in _EXPECTED[name]:
            assert not _says_role(page), name
            assert "/sign-in" not in page.headers.get("location", ""), name
            assert page.status < 500, (name, page.text)
        else:
            assert _says_role(page), (name, page.status)
