"""Signing in with a provider of identities: a real one on loopback, honest and not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.studio.team.conftest import Served, Site, serving
from tests.studio.team.identities import CLIENT, SECRET, Identities, identities
from tests.studio.team.people import Person
from tests.studio.visitor import Page
from veil.core.errors import InvalidArgument, UnreadableFile
from veil.studio.team.provider import Provider
from veil.studio.team.settings import Settings

# They share one server.
pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.slow]


@pytest.fixture
def ids() -> Iterator[Identities]:
    with identities() as made:
        yield made


@pytest.fixture
def served(site: Site, ids: Identities) -> Iterator[Served]:
    provider = Provider(ids.issuer, CLIENT, SECRET, "Example", "http://127.0.0.1/unused")
    with serving(site, provider=provider) as made:
        provider.back = f"{made.address}/sign-in/back"
        made.team.accounts.add("ida@example.org", "analyst", is_external=True)
        yield made


def _to_provider(person: Person, target: str = "/") -> str:
    """Where the workbench sends somebody."""
    page = person.send(person.get(f"/sign-in?next={target}").form("/sign-in/provider"))
    assert page.status == 200, page.text
    assert page.headers["refresh"].startswith("0; url=http://127.0.0.1")
    return page.headers["refresh"].removeprefix("0; url=")


def _back(person: Person, address: str) -> Page:
    parts = urlsplit(address)
    return person.ask("GET", f"{parts.path}?{parts.query}", follows=False)


def _signed_in(person: Person) -> bool:
    return person.ask("GET", "/account", follows=False).status == 200


def test_who_has_an_account_comes_in(served: Served, ids: Identities) -> None:
    ida = served.stranger()
    page = _back(ida, ids.sign_in(_to_provider(ida, "/account")))
    assert page.status == 303
    assert page.headers["location"] == "/account"
    assert "ida@example.org" in ida.get("/account").text
    # Only the subject counts from now on: an address that is somebody else's by now opens nothing.
    ids.claims = {"sub": "subject-2"}
    other = served.stranger()
    assert _back(other, ids.sign_in(_to_provider(other))).status == 403
    ids.claims = {"email": "renamed@example.org"}
    again = served.stranger()
    assert _back(again, ids.sign_in(_to_provider(again))).status == 303
    # Not by a password, and no link makes one.
    served.stranger().sign_in("ida@example.org", "x" * 12, expect=403)
    with pytest.raises(InvalidArgument):
        served.team.accounts.new_link("ida@example.org")
    served.team.accounts.set_disabled("ida@example.org", True)
    assert _back(again, ids.sign_in(_to_provider(served.stranger()))).status == 403
    assert not _signed_in(again)


def _wrong() -> Iterator[dict[str, Any]]:
    """What a token must not say."""
    now = time.time()
    yield from (
        {"iss": "http://127.0.0.1:1"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"aud": ["another", CLIENT]},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": now - 3600},
        {"exp": None},
        {"iat": now + 3600},
        {"iat": None},
        {"nbf": now + 3600},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"at_hash": "wrong"},
        {"email_verified": False},
        {"email_verified": "true"},
        {"email_verified": None},
        {"email": None},
        {"email": "nobody@example.org"},
        # An account with a password is not that of somebody at the provider.
        {"email": "ada"},
    )


def test_tokens_that_say_something_else_open_nothing(served: Served, ids: Identities) -> None:
    for claims in _wrong():
        ids.claims = claims
        ida = served.stranger()
        page = _back(ida, ids.sign_in(_to_provider(ida)))
        assert page.status == 403, claims
        assert "You were not signed in." in page.text
        assert not _signed_in(ida)


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_tokens_that_anybody_can_sign_open_nothing(served: Served, ids: Identities, algorithm: str) -> None:
    ids.algorithm = algorithm
    ida = served.stranger()
    assert _back(ida, ids.sign_in(_to_provider(ida))).status == 403


def test_keys(served: Served, ids: Identities) -> None:
    """By a key that is not the provider's nothing is signed; its new key is asked for."""
    from joserfc.jwk import RSAKey

    first = served.stranger()
    assert _back(first, ids.sign_in(_to_provider(first))).status == 303
    ids.key = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
    ida = served.stranger()
    assert _back(ida, ids.sign_in(_to_provider(ida))).status == 403
    ids.known = [ids.key]
    assert _back(ida, ids.sign_in(_to_provider(ida))).status == 303


def test_the_way_back_is_for_the_browser_that_began_once(served: Served, ids: Identities) -> None:
    ida, eve = served.stranger(), served.stranger()
    address = ids.sign_in(_to_provider(ida))
    # Another browser, as one that was sent a link by somebody else.
    eve.get("/sign-in")
    assert _back(eve, address).status == 403
    # The state is used up by that.
    assert _back(ida, address).status == 403
    address = ids.sign_in(_to_provider(ida))
    code = address.partition("code=")[2].partition("&")[0]
    for changed in (
        address.replace("state=", "state=x"),
        address.replace("&state=", "&other="),
        address.replace("code=", "other="),
        address.replace("iss=http", "iss=https"),
    ):
        assert _back(ida, changed).status == 403
    again = ids.sign_in(_to_provider(ida))
    # A code that was used elsewhere.
    ids.codes.pop(again.partition("code=")[2].partition("&")[0])
    assert _back(ida, again).status == 403
    assert code
    page = _back(ida, ids.sign_in(_to_provider(ida)) + "&error=access_denied")
    assert page.status == 403
    late = ids.sign_in(_to_provider(ida))
    with served.team.database.begin() as rows:
        rows.run("UPDATE veil_studio_sign_ins SET begun = begun - interval '11 minutes'")
    assert _back(ida, late).status == 403
    assert not _signed_in(ida)


def test_a_provider_that_describes_another_is_not_asked(served: Served, ids: Identities) -> None:
    ids.told_issuer = "http://127.0.0.1:1"
    ida = served.stranger()
    page = ida.send(ida.get("/sign-in").form("/sign-in/provider"))
    assert page.status == 403
    assert "/token" not in ids.asked


def test_without_a_provider_there_is_no_such_way(site: Site) -> None:
    with serving(site) as served:
        stranger = served.stranger()
        page = stranger.get("/sign-in")
        assert "/sign-in/provider" not in page.text
        assert stranger.get("/sign-in/back?state=x&code=y").status == 404


def test_how_a_provider_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings("https://veil.example/studio", tmp_path, "postgresql://host/db")
    monkeypatch.setenv("CLIENT_SECRET", "hunter2")
    file = tmp_path / "oidc.toml"
    text = 'issuer = "https://id.example"\nclient_id = "veil"\ntitle = "Us"\n'
    text += 'client_secret = "env:CLIENT_SECRET"\n'
    file.write_text(text)
    made = Provider.of(file, settings)
    assert made.back == "https://veil.example/studio/sign-in/back"
    assert made.client_secret == "hunter2"
    for changed in (
        text.replace("https://id", "http://id"),
        text.replace("env:CLIENT_SECRET", "hunter2"),
        text.replace("env:CLIENT_SECRET", "env:NONE"),
        text.replace("title", "titel"),
        "nonsense",
    ):
        file.write_text(changed)
        with pytest.raises((InvalidArgument, UnreadableFile)) as found:
            Provider.of(file, settings)
        assert "hunter2" not in str(found.value)
