"""A provider of identities on loopback, as small as one can be: it signs tokens, and lies when told to."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

CLIENT, SECRET = "workbench", "secret of the client"


@dataclass
class Identities:
    """claims: what tokens say besides, or instead; None leaves a claim out. algorithm: of signatures.

    key: with which they are signed; known: what is told of keys. codes: what was asked for, by code.
    """

    issuer: str
    claims: dict[str, Any] = field(default_factory=dict)
    algorithm: str = "RS256"
    key: Any = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}, private=True))
    known: list[Any] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    told_issuer: str = ""
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = [self.key]

    def sign_in(self, address: str) -> str:
        """What a browser does there: the address to which it is led back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["client_id"] == CLIENT
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        told = {"code": code, "state": asked["state"], "iss": self.issuer}
        return f"{asked['redirect_uri']}?{urlencode(told)}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """What is given for a code, once, to who began."""
        asked = self.codes.pop(form.get("code", ""), None)
        named = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if asked is None or named != f"{CLIENT}:{SECRET.replace(' ', '%20')}":
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "subject-1",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "email": "ida@example.org",
            "email_verified": True,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return {"access_token": "x", "token_type": "Bearer", "id_token": self.signed(claims)}

    def signed(self, claims: dict[str, Any]) -> str:
        """A token."""
        if self.algorithm == "none":
            parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
            return ".".join([*(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), ""])
        key = OctKey.import_key(SECRET.encode() * 2) if self.algorithm == "HS256" else self.key
        header = {"alg": self.algorithm, "kid": "one"}
        return jwt.encode(header, claims, key, algorithms=[self.algorithm])

    def described(self) -> dict[str, Any]:
        """What it says of itself."""
        return {
            "issuer": self.told_issuer or self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }


@contextmanager
def identities() -> Iterator[Identities]:
    """It answers meanwhile."""
    made: list[Identities] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made[0].asked.append(self.path)
            if self.path.endswith("/openid-configuration"):
                self._answer(made[0].described())
            elif self.path == "/keys":
                self._answer(KeySet(made[0].known).as_dict(private=False))
            else:
                self._answer(None)

        def do_POST(self) -> None:
            made[0].asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(made[0].token(form, self.headers.get("Authorization", "")))

        def _answer(self, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(200 if content is not None else 400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.append(Identities(f"http://127.0.0.1:{server.server_port}"))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made[0]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
