"""Attacks on the workbench: by other sites, other names, other people of the machine, and hostile text."""

from __future__ import annotations

import http.client
from urllib.parse import quote, urlsplit

import pytest

from tests.studio.conftest import Workbench
from tests.studio.visitor import Page, Visitor
from veil.core.errors import InvalidArgument
from veil.studio.gate import COOKIE, Gate
from veil.studio.uploads import checked_name

SCRIPT = "<script>document.title='ran'</script>"


def _stranger(workbench: Workbench, **more: dict[str, str]) -> Visitor:
    """Somebody who knows where the pages are, which is more than they should."""
    return Visitor(workbench.address, base=workbench.gate.base, **more)


def test_an_address_lets_one_browser_in(workbench: Workbench) -> None:
    token = workbench.gate.new_token()
    first, second = _stranger(workbench), _stranger(workbench)
    assert first.get(f"/?token={token}").status == 200
    assert second.get(f"/?token={token}").status == 403
    assert second.get("/").status == 403
    assert first.get("/").status == 200


def test_a_new_address_voids_the_one_before(workbench: Workbench) -> None:
    old = workbench.gate.new_token()
    workbench.gate.new_token()
    assert _stranger(workbench).get(f"/?token={old}").status == 403


def test_tokens_are_not_guessed(workbench: Workbench) -> None:
    token = workbench.gate.new_token()
    visitor = _stranger(workbench)
    for guess in ("", token[:-1], token + "a", token.upper(), "é" * 43, token.swapcase()):
        assert visitor.get(f"/?token={quote(guess)}").status == 403
    # 256 bits: guesses do not use it up.
    assert len(token) >= 43
    assert visitor.get(f"/?token={token}").status == 200


def test_a_session_cannot_be_fixed(workbench: Workbench) -> None:
    """A cookie that somebody else set does not become a session."""
    visitor = _stranger(workbench, cookies={COOKIE: "chosen-by-another"})
    assert visitor.get("/").status == 403
    visitor.get(f"/?token={workbench.gate.new_token()}")
    assert visitor.cookies[COOKIE] != "chosen-by-another"
    other = _stranger(workbench, cookies={COOKIE: "chosen-by-another"})
    assert other.get("/").status == 403


def test_closing_ends_the_session(workbench: Workbench, visitor: Visitor) -> None:
    kept = dict(visitor.cookies)
    visitor.send(visitor.get("/").form("/leave"))
    assert _stranger(workbench, cookies=kept).get("/").status == 403


def test_the_cookie_is_for_this_site_and_no_script(workbench: Workbench) -> None:
    visitor = _stranger(workbench)
    page = visitor.ask("GET", f"/?token={workbench.gate.new_token()}", follows=False)
    cookie = page.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    # The token does not stay in the address.
    assert page.headers["location"] == f"{workbench.gate.base}/"
    # A server on another port of this machine, to which the browser would send it, does not know the path.
    assert f"path={workbench.gate.base}" in page.headers["set-cookie"].replace("Path", "path")
    assert len(workbench.gate.base) > 20


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "localhost", ""]
)
def test_other_names_are_refused(workbench: Workbench, visitor: Visitor, host: str) -> None:
    """A page of another site whose name leads here (DNS rebinding) gets nothing, cookie or not."""
    page = visitor.get("/", Host=host)
    assert page.status == 403
    assert "Veil Studio" not in page.text


def test_two_names_are_refused(workbench: Workbench, visitor: Visitor) -> None:
    place = urlsplit(workbench.address).netloc
    connection = http.client.HTTPConnection(place)
    connection.putrequest("GET", f"{workbench.gate.base}/", skip_host=True)
    connection.putheader("Host", place)
    connection.putheader("Host", "evil.example")
    connection.putheader("Cookie", f"{COOKIE}={visitor.cookies[COOKIE]}")
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


def _new(visitor: Visitor, **headers: str) -> Page:
    proof = dict(visitor.get("/new").forms[1].fields)["proof"]
    return visitor.post("/new", {"proof": proof, "kind": "vector"}, headers=headers)


def test_forms_of_other_sites_are_refused(workbench: Workbench, visitor: Visitor) -> None:
    assert _new(visitor).status == 200
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": workbench.address.replace("127.0.0.1", "localhost.evil.example")},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert _new(visitor, **headers).status == 403, headers
    assert _new(visitor, Origin=workbench.address).status == 200


def test_forms_without_a_proof_are_refused(workbench: Workbench, visitor: Visitor) -> None:
    other = workbench.visitor()
    theirs = dict(other.get("/new").forms[1].fields)["proof"]
    before = len(list(workbench.workspace.names("drafts")))
    for proof in ("", "0" * 64, theirs, "é"):
        assert visitor.post("/new", {"proof": proof, "kind": "vector"}).status == 403
    assert visitor.post("/new", {"kind": "vector"}).status == 403
    assert len(list(workbench.workspace.names("drafts"))) == before


def test_nothing_is_done_by_links(visitor: Visitor) -> None:
    """What changes something cannot be asked for by GET."""
    for path in ("/new?kind=vector", "/leave", "/ledger/open?name=a&epsilon=1", "/ledger/verify"):
        page = visitor.get(path)
        assert page.status in (200, 404, 405)
    assert visitor.get("/").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/draft/..%2f..%2fetc/data",
        "/draft/0000000000000000/data",
        "/draft/../../etc/passwd",
        "/release/..%2f..%2fbudget.db/report",
        "/release/ffffffffffffffff/get/record",
        "/release/ffffffffffffffff/get/..%2fabout.json",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
    ],
)
def test_no_path_leads_out(visitor: Visitor, path: str) -> None:
    page = visitor.get(path)
    assert page.status in (400, 404)
    assert "import" not in page.text
    assert "root:" not in page.text


def test_uploads_stay_in_their_folder(workbench: Workbench, visitor: Visitor) -> None:
    for name in ("../../evil.csv", "..\\..\\evil.csv", "/etc/evil.csv", ".hidden.csv", "evil\x00.csv"):
        page = visitor.send(
            next(form for form in visitor.get("/new").forms if ("kind", "vector") in form.fields)
        )
        form = page.form("/source")
        taken = visitor.upload(form, name.replace("\x00", "%00"), b"grade,count\nA,1\n")
        assert taken.status == 200, taken.text
    uploads = [path for path in (workbench.workspace.folder / "uploads").rglob("*") if path.is_file()]
    assert len(uploads) == 5
    assert all(path.parent.parent.name == "uploads" for path in uploads)
    assert not list(workbench.workspace.folder.parent.rglob("passwd"))


def test_names_of_uploads() -> None:
    assert checked_name("../../a b.csv") == "a b.csv"
    assert checked_name("C:\\data\\trips.parquet") == "trips.parquet"
    assert checked_name("..hidden") == "hidden"
    assert checked_name('x";<y>.csv') == "x___y_.csv"
    assert len(checked_name("a" * 300 + ".csv")) == 100
    for name in ("", "/", "..", "..."):
        with pytest.raises(InvalidArgument):
            checked_name(name)


def test_text_stays_text(workbench: Workbench, visitor: Visitor) -> None:
    """Names of columns, of files, of budgets and titles that look like markup."""
    page = visitor.send(next(form for form in visitor.get("/new").forms if ("kind", "vector") in form.fields))
    content = f"{SCRIPT},count\nA,1\nB,2\n".encode()
    taken = visitor.upload(page.form("/source"), f"{SCRIPT}.csv", content, header="")
    draft = taken.path.split("/")[2]
    said = visitor.send(visitor.get(f"/draft/{draft}/data").form("/source"), header="yes")
    assert "&lt;script&gt;" in said.text
    visitor.send(said.form("/data"), go="on", title=SCRIPT, read__label_column=SCRIPT)
    refused = visitor.send(visitor.get("/ledger").form("/ledger/open"), name=SCRIPT, epsilon="1")
    for path in (
        f"/draft/{draft}/data",
        f"/draft/{draft}/release",
        "/",
        "/releases?search=" + "%3Cscript%3E",
        "/ledger",
    ):
        text = visitor.get(path).text + refused.text
        assert SCRIPT not in text
        assert "<script>" not in text


def test_every_answer_has_the_headers(visitor: Visitor) -> None:
    for path in ("/", "/new", "/nowhere", "/static/studio.css", "/ledger"):
        headers = visitor.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_pages_bring_nothing_from_elsewhere_and_no_inline_code(visitor: Visitor) -> None:
    draft = visitor.start("Grades of a course")
    steps = [f"/draft/{draft}/{step}" for step in ("data", "hidden", "choices", "plan", "budget", "release")]
    for path in ("/", "/new", "/releases", "/ledger", *steps):
        text = visitor.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        assert " style=" not in text
        assert "<style" not in text
        assert " onclick" not in text
        assert "<script>" not in text


def test_too_much_is_refused_before_it_is_read(visitor: Visitor) -> None:
    proof = dict(visitor.get("/new").forms[1].fields)["proof"]
    sent = visitor.post("/new", {"proof": proof, "kind": "v" * (5 * 2**20)})
    assert sent.status == 413


def test_a_gate_forgets_the_oldest_session() -> None:
    gate = Gate()
    sessions = [gate.enter(gate.new_token()) for _ in range(20)]
    assert not gate.knows(sessions[0])
    assert gate.knows(sessions[-1])
    assert not gate.knows(None)
    assert gate.enter("") is None
