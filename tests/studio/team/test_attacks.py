"""Attacks by those who may sign in: paths, lists, addresses, labels; and by who stands before the proxy."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.requests import HTTPConnection

import veil
from tests.studio.team.conftest import Served, Site
from tests.studio.team.people import Person
from veil.core.errors import InvalidArgument, UnreadableFile
from veil.core.kind import every_kind, kind_named
from veil.studio.gate import POLICY
from veil.studio.team.lists import file_fields, secret_fields
from veil.studio.team.proxies import Proxies
from veil.studio.team.sealing import Sealing, new_key
from veil.studio.team.server import check_host
from veil.studio.team.settings import Settings
from veil.studio.team.sources import _address

# They share one server.
pytestmark = pytest.mark.xdist_group("postgres")
SCRIPT = "<script>document.title='ran'</script>"


def _project(served: Served) -> tuple[Person, Person]:
    ada = served.person("ada")
    ada.found_project("Grades", "cid", "eve")
    ada.grant()
    return ada, served.person("cid", ada.project)


@pytest.mark.slow
def test_no_source_is_outside_its_folder(served: Served, site: Site) -> None:
    ada, _ = _project(served)
    outside = site.folder / "secret.csv"
    outside.write_text("canary,1\n")
    (site.data / "link.csv").symlink_to(outside)
    (site.data / "inside").mkdir()
    (site.data / "inside" / "up").symlink_to(site.folder)
    os.mkfifo(site.data / "pipe.csv")
    answers = []
    for place in (
        "../secret.csv",
        "inside/../../secret.csv",
        str(outside),
        f"file://{outside}",
        "link.csv",
        "inside/up/secret.csv",
        "pipe.csv",
        "inside",
        ".",
        "",
        "*.csv",
        "grades.csv\0",
        "../data/../secret.csv",
        "/etc/passwd",
        "-",
        "/dev/stdin",
        "not-there.csv",
    ):
        page = ada.add_source(place)
        assert page.status == 422, (place, page.text)
        assert "canary" not in page.text
        if "://" not in place and place:
            answers.append(page.text.partition('role="alert">')[2].partition("</p>")[0])
    # What is there and what is not look the same.
    assert len(set(answers)) == 1, set(answers)
    # A path that comes back to the folder is one of it; a file that becomes a link later is not read.
    assert ada.add_source("inside/../grades.csv").status == 200
    project = served.team.projects.get(ada.project, served.team.accounts.get("ada"))
    (source,) = served.team.sources.of(project)
    (site.data / "grades.csv").unlink()
    (site.data / "grades.csv").symlink_to(outside)
    with pytest.raises(InvalidArgument):
        served.team.sources.location(project.id, source.id)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://host/db?sslkey=/etc/passwd",
        "postgresql://host/db?passfile=/etc/passwd",
        "postgresql://host/db?service=other",
        "postgresql://host/db?host=/var/run/postgresql",
        "postgresql://host/db?options=-c%20log_statement=all",
        "postgresql:///db",
        "postgresql://%2Fvar%2Frun/db",
        "postgresql://host/db#fragment",
        "postgresql://host:notaport/db",
        "mysql://host/db",
        "file:///etc/passwd",
        "sqlite:///budget.db",
        "http://169.254.169.254/latest",
        "postgresql+psycopg://host/db",
    ],
)
def test_which_addresses_are_taken(address: str) -> None:
    with pytest.raises(InvalidArgument) as found:
        _address(address)
    assert address not in str(found.value)


def test_addresses_of_servers_are_taken() -> None:
    for address in ("postgresql://a:b@host:5432/db?sslmode=verify-full", "postgres://a@10.0.0.7/db"):
        assert _address(address) == address


@pytest.mark.slow
def test_no_text_names_a_file_of_the_server(served: Served, site: Site) -> None:
    """Of fields that may name a file: only the public lists of the project."""
    ada, cid = _project(served)
    ada.add_source()
    draft = cid.draft("chain")
    (site.folder / "secret.csv").write_text("canary-state\n")
    form = cid.look(f"/draft/{draft}/choices").form(f"/draft/{draft}/choices")
    for text in (
        str(site.folder / "secret.csv"),
        "../secret.csv",
        "secret.csv",
        "~/secret.csv",
        "*.csv",
        "x:y/../../z.csv",
        "\\\\host\\share",
        "zones.csv",
        "https://host/list.csv",
    ):
        page = cid.send(form, read__states=text, go="on")
        assert page.status == 400, text
        assert "canary" not in page.text
    # Plain labels, and a list of the project; that of another project is none.
    assert cid.send(form, read__states="A,B,C", go="on").status in (200, 422)
    assert ada.upload(ada.look("/sources").form("/lists"), "zones.csv", b"A\nB\n").status == 200
    assert cid.send(form, read__states="zones.csv", go="on").status in (200, 422)
    fay = served.person("fay")
    fay.found_project("Other")
    fay.grant("theirs")
    fay.add_source(budget="theirs")
    theirs = fay.draft("chain")
    other = fay.look(f"/draft/{theirs}/choices").form(f"/draft/{theirs}/choices")
    assert fay.send(other, read__states="zones.csv", go="on").status == 400


@pytest.mark.slow
def test_a_list_that_is_handed_in_is_one_of_the_project(served: Served) -> None:
    """It has a name there, and its content in what is approved; two of one name stay apart."""
    ada, cid = _project(served)
    ada.add_source()
    names = []
    for content in (b"A\nB\n", b"A\nB\nC\n", b"A\nB\n"):
        draft = cid.draft("chain")
        form = cid.look(f"/draft/{draft}/choices").form(f"/draft/{draft}/choices")
        fields = [(name, text) for name, text in form.fields if not name.startswith("file:")]
        form.fields = fields
        page = cid.upload_as(form, "file:read.states", "zones.csv", content, go="on")
        assert page.status in (200, 422), page.text
        project = served.team.projects.get(ada.project, served.team.accounts.get("ada"))
        account = served.team.accounts.get("cid")
        from veil.studio.team.team import ProjectStudio

        names.append(ProjectStudio(served.team, project, account).drafts.get(draft).text("read.states"))
    assert names == ["zones.csv", "zones-2.csv", "zones.csv"]
    assert cid.look("/list/zones-2.csv").content == b"A\nB\nC\n"


@pytest.mark.slow
def test_what_a_source_fixes_is_not_for_its_users(served: Served, site: Site) -> None:
    """Forged fields of a form: another table, a query, another budget, another name of who releases."""
    ada, cid = _project(served)
    ada.grant("richer", "100")
    ada.add_source()
    draft = cid.draft()
    form = cid.look(f"/draft/{draft}/budget").form(f"/draft/{draft}/budget")
    cid.send(form, dataset="richer", by="ada", source="x", go="on")
    data = cid.look(f"/draft/{draft}/data").form(f"/draft/{draft}/data")
    forged = {
        "read.table": "pg_shadow",
        "read.query": "SELECT 1",
        "read.source": "/etc/passwd",
        "source": "y",
    }
    cid.post(data.action, {**dict(data.fields), **forged, "go": "on"})
    cid.plan(draft)
    proposal = cid.propose(draft)
    text = ada.look(f"/proposal/{proposal}").text
    for word in ("richer", "pg_shadow", "SELECT", "passwd"):
        assert word not in text
    assert "<dt>Budget</dt><dd>people</dd>" in text
    ada.approve(proposal)
    assert "state done" in cid.wait(cid.release(proposal)).text
    assert [entry.kind for entry in veil.Ledger(site.url).dataset("richer").entries()] == ["open"]


@pytest.mark.evidence
def test_texts_are_no_options_of_the_command(served: Served, site: Site) -> None:
    ada, cid = _project(served)
    ada.add_source()
    draft = cid.draft()
    evil = site.folder / "evil"
    for text in (f"--output={evil}", "--dry-run"):
        page = cid.plan(draft, read__label_column=text)
        assert page.status == 200
        proposal = cid.propose(draft)
        ada.approve(proposal)
        page = cid.wait(cid.release(proposal))
        assert "state failed" in page.text, text
    assert not evil.exists()
    assert [entry.kind for entry in veil.Ledger(site.url).dataset("people").entries()] == ["open"]


@pytest.mark.slow
def test_labels_that_look_like_markup_stay_text(served: Served, site: Site) -> None:
    """Names of projects, data, columns, lists, budgets, notes and labels."""
    ada, cid = _project(served)
    (site.data / f"{SCRIPT.replace('/', '')}.csv").write_text(f"{SCRIPT},count\n{SCRIPT},31\nB,28\n")
    ada.add_source(f"{SCRIPT.replace('/', '')}.csv", title=SCRIPT)
    draft = cid.draft()
    cid.send(cid.look(f"/draft/{draft}/data").form(f"/draft/{draft}/data"), title=SCRIPT, go="stay")
    cid.plan(draft, read__label_column=SCRIPT, title=SCRIPT, reason=SCRIPT)
    proposal = cid.propose(draft)
    form = ada.look(f"/proposal/{proposal}").form("/approve")
    ada.send(form, note=SCRIPT)
    release = cid.release(proposal)
    assert "state done" in cid.wait(release).text
    ada.send(ada.get("/").form("/projects"), title=SCRIPT)
    texts = [ada.get("/").text, served.stranger().sign_in(SCRIPT, "x", expect=403).text]
    for path in (
        "/",
        "/sources",
        "/members",
        "/budgets",
        "/log",
        "/releases",
        "/proposals",
        f"/proposal/{proposal}",
        f"/release/{release}",
        f"/release/{release}/view",
    ):
        page = ada.look(path)
        texts.append(page.text)
        assert page.headers["content-security-policy"] == POLICY
    texts += [cid.look(f"/draft/{draft}/{step}").text for step in ("data", "plan", "budget", "release")]
    for text in texts:
        assert SCRIPT not in text
        assert "<script>" not in text
    assert any("&lt;script&gt;" in text for text in texts)


def test_every_field_that_may_name_a_file_is_known() -> None:
    """By what each request says that it reads, and by its type."""
    assert "read.states" in file_fields(kind_named("chain"))
    assert "read.nodes" in file_fields(kind_named("graph"))
    assert {"read.source", "read.query", "read.table"} <= secret_fields(kind_named("chain"))
    for kind in every_kind():
        for request in (*kind.requests("release"), *kind.requests("plan")):
            for part in ("read", "release", "plan"):
                from veil.studio.forms import fields_of

                named = {field.key for field in fields_of(part, request) if field.file}
                assert named <= file_fields(kind) | secret_fields(kind)


# Keys


def test_what_is_sealed_is_opened_for_its_source_alone(tmp_path: Path) -> None:
    new_key(tmp_path / "a.key")
    new_key(tmp_path / "b.key")
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    sealing = Sealing.of(f"file:{tmp_path / 'a.key'}")
    sealed = sealing.seal("one", {"location": "postgresql://a:hunter2@host/db"})
    assert b"hunter2" not in sealed
    assert sealing.unseal("one", sealed)["location"].endswith("@host/db")
    with pytest.raises(InvalidArgument, match="another source"):
        sealing.unseal("two", sealed)
    with pytest.raises(InvalidArgument, match="another key"):
        Sealing.of(f"file:{tmp_path / 'b.key'}").unseal("one", sealed)
    # A key is replaced by naming the new one first.
    both = Sealing.of(f"file:{tmp_path / 'b.key'}, file:{tmp_path / 'a.key'}")
    assert both.unseal("one", sealed)
    assert Sealing.of(f"file:{tmp_path / 'b.key'}").unseal("two", both.seal("two", {"location": "x"}))
    with pytest.raises(InvalidArgument):
        new_key(tmp_path / "a.key")
    (tmp_path / "a.key").chmod(0o644)
    with pytest.raises(UnreadableFile, match="only its owner"):
        Sealing.of(f"file:{tmp_path / 'a.key'}")
    with pytest.raises(InvalidArgument) as found:
        Sealing.of("hunter2-secret-key")
    assert "hunter2" not in str(found.value)


# Before the proxy


def _asking(peer: str, **headers: str) -> HTTPConnection:
    named = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return HTTPConnection({"type": "http", "client": (peer, 1), "headers": named})


def test_only_known_proxies_are_believed() -> None:
    proxies = Proxies.of(["127.0.0.1", "10.1.0.0/24"])
    for peer, said, client in (
        ("127.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("127.0.0.1", "192.0.2.7, 10.1.0.9", "192.0.2.7"),
        # What a browser says of itself comes before what our proxy has added.
        ("127.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"),
        ("127.0.0.1", "10.1.0.3, 198.51.100.1, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.9", "198.51.100.1", "192.0.2.9"),
        ("127.0.0.1", "nonsense", "127.0.0.1"),
        ("127.0.0.1", "", "127.0.0.1"),
    ):
        assert proxies.client(_asking(peer, x_forwarded_for=said)) == client
    assert Proxies().client(_asking("127.0.0.1", x_forwarded_for="192.0.2.7")) == "127.0.0.1"
    assert proxies.trouble(_asking("192.0.2.9"))
    assert not proxies.trouble(_asking("127.0.0.1", x_forwarded_proto="https"))
    assert proxies.trouble(_asking("127.0.0.1", x_forwarded_proto="http"))
    assert proxies.trouble(_asking("127.0.0.1", x_forwarded_proto="https, http"))
    for wrong in ("everywhere", "0.0.0.0/0", "::/0", ""):
        with pytest.raises(InvalidArgument):
            Proxies.of([wrong])


def test_passwords_are_not_sent_in_the_clear() -> None:
    check_host("127.0.0.1", is_proxied=False)
    check_host("::1", is_proxied=False)
    check_host("0.0.0.0", is_proxied=True)
    for host in ("0.0.0.0", "192.0.2.7", "::", "example.org"):
        with pytest.raises(InvalidArgument):
            check_host(host, is_proxied=False)


@pytest.mark.parametrize(
    "address", ["veil.example", "ftp://host", "https://", "https://h/a?b", "https://u:p@h/", "https://h/../a"]
)
def test_which_public_addresses_are_taken(address: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        Settings(address, tmp_path, "postgresql://host/db")


@pytest.mark.slow
def test_behind_a_proxy_with_a_path(serve: Callable[..., Served]) -> None:
    served = serve(address="https://veil.example:8443/studio", proxies=Proxies.of(["127.0.0.1"]))
    through = {"Host": "veil.example:8443", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
    person = Person(served.address)
    page = person.ask("GET", "/studio/sign-in", headers=through)
    assert page.status == 200
    assert page.headers["strict-transport-security"]
    cookie = page.headers["set-cookie"]
    assert cookie.startswith("__Secure-veil_browser=")
    for mark in ("Secure", "HttpOnly", "SameSite=lax", "Path=/studio/"):
        assert mark in cookie
    assert 'href="/studio/static/studio.css"' in page.text
    assert person.ask("GET", "/studio/static/studio.css", headers=through).status == 200
    fields = {**dict(page.form("/sign-in").fields), "name": "cid", "password": "four words for tests"}
    sent = {**through, "Origin": "https://veil.example:8443"}
    answer = person.post("/studio/sign-in", fields, headers=sent, follows=False)
    assert answer.status == 303
    assert answer.headers["location"] == "/studio/"
    assert person.cookies["__Secure-veil_team"]
    home = person.ask("GET", "/studio/", headers=through)
    assert 'action="/studio/sign-out"' in home.text
    with served.team.database.begin() as rows:
        (session,) = rows.all("SELECT address FROM veil_studio_sessions")
    assert session["address"] == "192.0.2.7"
    # Not by another name, not in the clear, not without the path.
    for headers, path in (
        ({**through, "Host": "127.0.0.1"}, "/studio/"),
        ({**through, "X-Forwarded-Proto": "http"}, "/studio/"),
    ):
        assert person.ask("GET", path, headers=headers).status == 403
    assert person.ask("GET", "/", headers=through).status == 404
    whole = serve(address="https://veil.example", proxies=Proxies.of(["127.0.0.1"]))
    page = Person(whole.address).ask("GET", "/sign-in", headers={"Host": "veil.example"})
    assert page.headers["set-cookie"].startswith("__Host-veil_browser=")
    stranger = serve(address="https://veil.example", proxies=Proxies.of(["192.0.2.1"]))
    assert Person(stranger.address).ask("GET", "/sign-in", headers={"Host": "veil.example"}).status == 403
