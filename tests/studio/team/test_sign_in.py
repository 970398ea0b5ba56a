"""Signing in: passwords, sessions, attempts, links, and where people are sent afterwards."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.studio.team.conftest import Served, Site
from tests.studio.team.people import PASSWORD, Person
from veil.core.errors import InvalidArgument
from veil.studio.team import passwords
from veil.studio.team.account_pages import safe_target
from veil.studio.team.attempts import Attempts
from veil.studio.team.database import Database
from veil.studio.team.passwords import check_password
from veil.studio.team.sessions import Sessions

# They share one server.
pytestmark = pytest.mark.xdist_group("postgres")


def test_a_session_begins_and_ends(served: Served) -> None:
    cid = served.stranger()
    cid.sign_in("cid")
    kept = dict(cid.cookies)
    page = cid.ask("GET", "/", follows=False)
    assert page.status == 200
    assert "cid" in page.text
    cid.send(page.form("/sign-out"))
    assert Person(served.address, cookies=kept).ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_no_session_is_fixed(served: Served) -> None:
    """A cookie from before, chosen by somebody else or not, is not the session after signing in."""
    victim = served.stranger()
    victim.cookies["veil_team"] = "chosen-by-another"
    victim.sign_in("cid")
    assert victim.cookies["veil_team"] != "chosen-by-another"
    # Who signs in again has another session, and the one before is void.
    first = dict(victim.cookies)
    page = served.stranger()
    page.cookies = dict(first)
    assert page.ask("GET", "/", follows=False).status == 200
    fresh = served.person("cid")
    assert fresh.cookies["veil_team"] != first["veil_team"]
    thief = Person(served.address, cookies={"veil_team": "chosen-by-another"})
    assert thief.ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_tokens_are_not_in_the_database(served: Served) -> None:
    cid = served.person("cid")
    with served.team.database.begin() as rows:
        (session,) = rows.all("SELECT * FROM veil_studio_sessions")
        accounts = rows.all("SELECT * FROM veil_studio_accounts")
    assert cid.cookies["veil_team"] not in str(session)
    assert PASSWORD not in str(accounts)
    assert all(row["password"].startswith("$argon2id$") for row in accounts)


@pytest.mark.slow
def test_sessions_end_by_themselves(served: Served) -> None:
    cid = served.person("cid")

    def older(column: str, by: timedelta) -> None:
        with served.team.database.begin() as rows:
            rows.run(f"UPDATE veil_studio_sessions SET {column} = {column} - :by", by=by)

    older("seen", timedelta(minutes=50))
    assert cid.ask("GET", "/", follows=False).status == 200
    # Using it has moved the end.
    older("seen", timedelta(minutes=50))
    assert cid.ask("GET", "/", follows=False).status == 200
    older("seen", timedelta(minutes=61))
    assert cid.ask("GET", "/", follows=False).status == 303
    dot = served.person("dot")
    older("begun", timedelta(hours=12, minutes=1))
    assert dot.ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_a_disabled_account_is_out_at_once(served: Served) -> None:
    cid = served.person("cid")
    served.team.accounts.set_disabled("cid", True)
    assert cid.ask("GET", "/", follows=False).status == 303
    assert "name or the password is wrong" in served.stranger().sign_in("cid", expect=403).text
    served.team.accounts.set_disabled("cid", False)
    assert cid.ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_another_role_holds_at_once(served: Served) -> None:
    ada = served.person("ada")
    served.team.accounts.set_role("ada", "viewer")
    assert ada.ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_unknown_names_are_looked_at_like_known_ones(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer after the same work: one password is verified, whatever the name."""
    served.team.accounts.set_disabled("dot", True)
    work: list[str] = []
    hasher = passwords._hasher()

    class Counting:
        def hash(self, password: str) -> str:
            return str(hasher.hash(password))

        def verify(self, kept: str, password: str) -> bool:
            work.append(kept)
            return bool(hasher.verify(kept, password))

    monkeypatch.setattr(passwords, "_hasher", Counting)
    answers = []
    for name in ("cid", "nobody", "dot", "x' OR 1=1 --"):
        work.clear()
        page = served.stranger().sign_in(name, "not this password", expect=403)
        answers.append(page.text.replace(f'value="{name}"', "").partition("<main")[2].partition("proof")[0])
        assert len(work) == 1, name
        # With the same parameters, so the work is the same.
        assert work[0].startswith("$argon2id$v=19$m=65536,t=3,p=4$"), name
    assert len(set(answers)) == 1


@pytest.mark.slow
def test_too_long_a_password_is_no_way_to_keep_the_server_busy(served: Served) -> None:
    served.stranger().sign_in("cid", "x" * 100_000, expect=403)


@pytest.mark.slow
def test_guessing_is_stopped(site: Site, serve: Callable[..., Served]) -> None:
    """For an account from wherever it is tried, also by another process, and after a restart."""
    first, second = serve(), serve()
    for served in (first, second):
        served.team.attempts = replace(served.team.attempts, of_account=4)
    for number in range(4):
        (first, second)[number % 2].stranger().sign_in("cid", "wrong password", expect=403)
    # Not even the right one is looked at now; others come in.
    assert "Too many attempts" in first.stranger().sign_in("cid", expect=429).text
    third = serve()
    third.team.attempts = replace(third.team.attempts, of_account=4)
    third.stranger().sign_in("cid", expect=429)
    third.stranger().sign_in("dot")
    with third.team.database.begin() as rows:
        rows.run("UPDATE veil_studio_attempts SET at = at - interval '16 minutes'")
    third.stranger().sign_in("cid")


@pytest.mark.slow
def test_an_account_that_is_not_there_is_stopped_alike(served: Served) -> None:
    served.team.attempts = replace(served.team.attempts, of_account=1)
    served.stranger().sign_in("nobody", "wrong password", expect=403)
    served.stranger().sign_in("nobody", "wrong password", expect=429)


@pytest.mark.slow
def test_an_address_is_stopped_whatever_the_names(site: Site) -> None:
    database = Database(site.url)
    attempts = Attempts(database, of_address=5)
    allowed = [attempts.allowed(f"name-{number}", "192.0.2.7") for number in range(8)]
    assert allowed == [True] * 5 + [False] * 3
    assert attempts.allowed("name-9", "192.0.2.8")
    # Coming in with one account does not allow to guess at others.
    attempts.forget("name-0", "192.0.2.7")
    assert attempts.allowed("name-9", "192.0.2.7")
    assert not attempts.allowed("name-9", "192.0.2.7")
    # Of the newer kind of addresses a whole network is one customer's.
    for number in range(5):
        assert attempts.allowed(f"six-{number}", f"2001:db8::{number}")
    assert not attempts.allowed("six-9", "2001:db8::ffff")
    assert attempts.allowed("six-9", "2001:db8:1::1")
    database.close()


@pytest.mark.slow
def test_attempts_at_once_are_counted_one_by_one(site: Site) -> None:
    database = Database(site.url)
    attempts = Attempts(database, of_account=7)
    with ThreadPoolExecutor(16) as pool:
        allowed = list(pool.map(lambda _: attempts.allowed("cid", "192.0.2.7"), range(40)))
    assert sum(allowed) == 7
    database.close()


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "///evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/%0d%0aSet-Cookie: a=b\r\nX: y",
        "evil",
        "",
        "/a b",
        "/" + "a" * 400,
        "/\t/evil.example",
    ],
)
def test_nobody_is_sent_elsewhere_after_signing_in(target: str) -> None:
    assert safe_target(target) == "/"


@pytest.mark.slow
def test_a_page_of_ours_is_shown_after_signing_in(served: Served) -> None:
    stranger = served.stranger()
    asked = stranger.get("/account?a=b")
    assert asked.path.startswith("/sign-in")
    page = stranger.send(asked.form("/sign-in"), name="cid", password=PASSWORD)
    assert page.path == "/account?a=b"
    evil = served.stranger()
    form = evil.get("/sign-in?next=//evil.example").form("/sign-in")
    assert dict(form.fields)["next"] == "/"
    given = {"next": "//evil.example", "name": "cid", "password": PASSWORD}
    answer = evil.post("/sign-in", {**dict(form.fields), **given}, follows=False)
    assert answer.headers["location"] == "/"


@pytest.mark.slow
def test_signing_in_needs_a_form_of_ours(served: Served) -> None:
    """Nobody is signed in by another site, as somebody else."""
    stranger = served.stranger()
    given = {"name": "cid", "password": PASSWORD, "next": "/"}
    assert stranger.post("/sign-in", given).status == 403
    theirs = dict(served.stranger().get("/sign-in").form("/sign-in").fields)["proof"]
    assert stranger.post("/sign-in", {**given, "proof": theirs}).status == 403
    assert "veil_team" not in stranger.cookies


@pytest.mark.slow
def test_a_link_lets_somebody_choose_a_password_once(served: Served) -> None:
    accounts = served.team.accounts
    accounts.add("Ida@example.org", "analyst")
    served.stranger().sign_in("ida@example.org", expect=403)
    void = accounts.new_link("ida@example.org")
    token = accounts.new_link("ida@example.org")
    ida = served.stranger()
    assert ida.get(f"/link/{void}").status == 404
    form = ida.get(f"/link/{token}").forms[0]
    form.action = f"/link/{token}"
    for wrong in ("short", "aaaaaaaaaaaaaaa", "ida1234567890123", "password1234!"):
        assert ida.send(form, password=wrong, again=wrong).status == 422, wrong
    assert ida.send(form, password="five words that she likes", again="others").status == 422
    new = "five words that she likes"
    assert ida.send(form, password=new, again=new).path == "/sign-in"
    assert ida.send(form, password=new, again=new).status == 404
    assert ida.get(f"/link/{token}").status == 404
    assert ida.sign_in("IDA@example.org", new).status == 200
    old = accounts.new_link("ida@example.org")
    with served.team.database.begin() as rows:
        rows.run("UPDATE veil_studio_accounts SET link_until = :now", now=datetime.now(UTC))
    assert served.stranger().get(f"/link/{old}").status == 404


@pytest.mark.slow
def test_a_password_is_changed_by_who_knows_it(served: Served) -> None:
    cid, elsewhere = served.person("cid"), served.person("cid")
    new = "another four of them"
    form = cid.get("/account").form("/account/password")
    assert cid.send(form, current="wrong one", password=new, again=new).status == 422
    page = cid.send(form, current=PASSWORD, password=new, again=new)
    assert page.path == "/account", page.text
    assert page.status == 200
    # Everybody else who is signed in with this account is out.
    assert elsewhere.ask("GET", "/", follows=False).status == 303
    served.stranger().sign_in("cid", expect=403)
    served.stranger().sign_in("cid", new)


@pytest.mark.slow
def test_other_sessions_are_ended(served: Served) -> None:
    cid, elsewhere = served.person("cid"), served.person("cid")
    page = cid.send(cid.get("/account").form("/account/sessions"))
    assert "In 1 browser" in page.text
    assert elsewhere.ask("GET", "/", follows=False).status == 303


@pytest.mark.slow
def test_sessions_of_the_past_are_removed(site: Site) -> None:
    database = Database(site.url)
    from veil.studio.team.accounts import Accounts

    account = Accounts(database).get("cid")
    sessions = Sessions(database)
    sessions.begin(account, "test")
    with database.begin() as rows:
        rows.run("UPDATE veil_studio_sessions SET seen = seen - interval '2 hours'")
    sessions.begin(account, "test")
    with database.begin() as rows:
        assert len(rows.all("SELECT * FROM veil_studio_sessions")) == 1
    database.close()


@pytest.mark.parametrize(
    ("password", "fits"),
    [
        ("four words for tests", True),
        ("Tr0ub4dor&3xyz", True),
        ("short", False),
        ("x" * 201, False),
        ("abababababab", False),
        ("margaret-12345", False),
        ("password123456", False),
        ("qwerty-123456!", False),
        ("ñandú über allem", True),
    ],
)
def test_which_passwords_are_taken(password: str, fits: bool) -> None:
    if fits:
        check_password(password, "margaret@example.org")
        return
    with pytest.raises(InvalidArgument) as found:
        check_password(password, "margaret@example.org")
    # The error does not repeat it.
    assert password not in str(found.value)


@pytest.mark.slow
def test_names_of_accounts_do_not_look_alike(served: Served) -> None:
    accounts = served.team.accounts
    with pytest.raises(InvalidArgument):
        accounts.add("CID", "viewer")
    for name in ("сid", "c id", "", "a", "x" * 101, "<b>", "-cid", "cid\n"):
        if name == "cid\n":
            with pytest.raises(InvalidArgument):
                accounts.add(name, "viewer")
            continue
        with pytest.raises(InvalidArgument):
            accounts.add(name, "viewer")
