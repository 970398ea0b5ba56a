"""Signing in with a provider of identities, by OpenID Connect: the code flow with PKCE.

What is sent and what comes back are made and looked at by Authlib and joserfc; who may come in is decided by
the accounts of the workbench.
"""

from __future__ import annotations

import base64
import json
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.studio.team.accounts import secret_hash
from veil.studio.team.database import Database
from veil.studio.team.settings import Settings

# Signatures by a key that only the provider has; never none, never one that is made with our own secret.
ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
CALLBACK = "/sign-in/back"
# How long somebody may take at the provider; how far clocks may differ; bytes of an answer; seconds for it.
_PATIENCE, _LEEWAY, _LONGEST, _WAIT = timedelta(minutes=10), 60, 2**20, 10.0
_FIELDS = {"issuer", "client_id", "client_secret", "title"}


class NotSignedIn(VeilError):
    """The provider did not say who it is, or what it said is not valid. The reason is for the log."""

    exit_code = 2


@dataclass(frozen=True)
class Identity:
    """Who somebody is at a provider. name: their address, if the provider has verified it."""

    issuer: str
    subject: str
    name: str | None
    target: str


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass
class Provider:
    """A provider of identities. title: what people call it; back: our address to which it sends people."""

    issuer: str
    client_id: str
    client_secret: str
    title: str
    back: str
    _metadata: Mapping[str, Any] | None = None
    _keys: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, file: Path, settings: Settings) -> Provider:
        """As a TOML file says: issuer, client_id, client_secret (file:PATH or env:NAME), title."""
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UnreadableFile(str(file), expected="a TOML file", found="none") from None
        texts = {name: value for name, value in content.items() if isinstance(value, str)}
        if set(content) != _FIELDS or set(texts) != _FIELDS:
            expected = f"the texts {', '.join(sorted(_FIELDS))}"
            raise UnreadableFile(str(file), expected=expected, found="others")
        issuer = texts["issuer"]
        if not _is_safe(issuer):
            raise InvalidArgument("issuer", expected="https://...", found=issuer[:80])
        secret = _secret(texts["client_secret"])
        return cls(issuer, texts["client_id"], secret, texts["title"], f"{settings.address}{CALLBACK}")

    # The way there

    def begin(self, database: Database, browser: str, target: str) -> str:
        """The address at the provider where somebody signs in. browser: the cookie of who asks."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        endpoint = self._endpoint("authorization_endpoint")
        state, nonce, verifier = token_urlsafe(32), token_urlsafe(32), token_urlsafe(64)
        now = datetime.now(UTC)
        with database.begin() as rows:
            rows.run("DELETE FROM veil_studio_sign_ins WHERE begun < :since", since=now - _PATIENCE)
            rows.run(
                "INSERT INTO veil_studio_sign_ins (state, browser, nonce, verifier, target, begun) "
                "VALUES (:state, :browser, :nonce, :verifier, :target, :now)",
                state=secret_hash(state),
                browser=secret_hash(browser),
                nonce=nonce,
                verifier=verifier,
                target=target,
                now=now,
            )
        return str(
            prepare_grant_uri(
                endpoint,
                client_id=self.client_id,
                response_type="code",
                redirect_uri=self.back,
                scope="openid email",
                state=state,
                nonce=nonce,
                code_challenge=create_s256_code_challenge(verifier),
                code_challenge_method="S256",
            )
        )

    # The way back

    def finish(self, database: Database, browser: str, query: Mapping[str, str]) -> Identity:
        """Who came back. Each way there leads back once, in the same browser."""
        state = query.get("state", "")
        with database.begin() as rows:
            begun = rows.one(
                "DELETE FROM veil_studio_sign_ins WHERE state = :state RETURNING *", state=secret_hash(state)
            )
        if begun is None or datetime.now(UTC) - begun["begun"] > _PATIENCE:
            raise NotSignedIn("a state that is not known")
        if not browser or not compare_digest(begun["browser"], secret_hash(browser)):
            raise NotSignedIn("another browser than the one that began")
        if query.get("iss", self.issuer) != self.issuer:
            raise NotSignedIn("another issuer")
        if "error" in query or not query.get("code"):
            raise NotSignedIn("the provider refused")
        answer = self._exchanged(query["code"], begun["verifier"])
        claims = self._claims(answer, begun["nonce"])
        name = claims.get("email") if claims.get("email_verified") is True else None
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise NotSignedIn("no subject")
        return Identity(self.issuer, subject, name if isinstance(name, str) else None, begun["target"])

    def _exchanged(self, code: str, verifier: str) -> dict[str, Any]:
        """What the provider gives for the code, to us alone."""
        named = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.back,
            "code_verifier": verifier,
        }
        given = {"Authorization": f"Basic {base64.b64encode(named.encode()).decode()}"}
        return _asked(self._endpoint("token_endpoint"), urlencode(form).encode(), given)

    def _claims(self, answer: Mapping[str, Any], nonce: str) -> Mapping[str, Any]:
        """What the signed token says, once its signature and all that binds it to us were looked at."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError

        token = answer.get("id_token")
        if not isinstance(token, str):
            raise NotSignedIn("no token")
        found = None
        for fresh in (False, True):
            try:
                found = jwt.decode(token, self._key_set(fresh=fresh), algorithms=list(ALGORITHMS))
                break
            except (JoseError, ValueError):
                # A provider may have another key by now: they are asked for once more.
                continue
        if found is None:
            raise NotSignedIn("a token without a valid signature")
        wanted = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self.client_id},
            "nonce": {"essential": True, "value": nonce},
        }
        known = {"nonce": nonce, "client_id": self.client_id, "access_token": answer.get("access_token")}
        claims = CodeIDToken(found.claims, found.header, wanted, known)
        try:
            claims.validate(leeway=_LEEWAY)
        except (JoseError, ValueError, TypeError) as error:
            raise NotSignedIn(f"a token that is not valid ({type(error).__name__})") from None
        return dict(found.claims)

    # What the provider says of itself

    def _endpoint(self, name: str) -> str:
        with self._lock:
            if self._metadata is None:
                found = _asked(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
                if found.get("issuer") != self.issuer:
                    raise NotSignedIn("a description of another issuer")
                self._metadata = found
        place = self._metadata.get(name)
        if not isinstance(place, str) or not _is_safe(place):
            raise NotSignedIn(f"no {name} by https")
        return place

    def _key_set(self, *, fresh: bool) -> Any:
        from joserfc.jwk import KeySet

        place = self._endpoint("jwks_uri")
        with self._lock:
            if self._keys is None or fresh:
                self._keys = KeySet.import_key_set(_asked(place))  # type: ignore[arg-type]
        return self._keys


def _asked(place: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON that is answered there; no other place is asked instead."""
    request = Request(place, body, {"Accept": "application/json", **(headers or {})})
    try:
        with build_opener(_NoRedirects).open(request, timeout=_WAIT) as answer:
            content = json.loads(answer.read(_LONGEST))
    except (URLError, OSError, ValueError) as error:
        raise NotSignedIn(f"the provider did not answer ({type(error).__name__})") from None
    if not isinstance(content, dict):
        raise NotSignedIn("an answer that is none")
    return content


def _is_safe(place: str) -> bool:
    """Whether it is reached by https; on this machine it crosses no network."""
    parts = urlsplit(place)
    if parts.scheme == "https" and parts.hostname:
        return True
    try:
        return parts.scheme == "http" and ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _secret(given: str) -> str:
    import os

    scheme, _, rest = given.partition(":")
    try:
        found = os.environ.get(rest, "") if scheme == "env" else Path(rest).read_text(encoding="utf-8")
    except OSError:
        found = ""
    if scheme not in ("env", "file") or not found.strip():
        raise InvalidArgument("client_secret", expected="file:PATH or env:NAME with a secret", found="none")
    return found.strip()
