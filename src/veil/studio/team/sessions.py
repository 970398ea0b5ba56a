"""Sessions: who is signed in, kept in the database: every process knows, and a restart forgets none."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe

from veil.studio.team.accounts import Account, account_of, secret_hash
from veil.studio.team.database import Database

# How often it is noted that a session is used.
_NOTED_EVERY = timedelta(seconds=30)


def form_proof(token: str) -> str:
    """What a form of the browser with this cookie must hold; only who knows the cookie can compute it."""
    return hmac.new(token.encode(), b"veil studio form", sha256).hexdigest()


def proves(token: str, proof: str) -> bool:
    """Whether a form came from a page of the browser with this cookie."""
    return hmac.compare_digest(form_proof(token).encode(), proof.encode())


@dataclass(frozen=True)
class Sessions:
    """All sessions. idle: they end when nobody used them for so long; longest: in any case after so long."""

    database: Database
    idle: timedelta = timedelta(hours=1)
    longest: timedelta = timedelta(hours=12)

    def begin(self, account: Account, address: str) -> str:
        """A new session; its token is known to the browser alone, and to nobody before."""
        token, now = token_urlsafe(32), datetime.now(UTC)
        with self.database.begin() as rows:
            rows.run(
                "DELETE FROM veil_studio_sessions WHERE seen < :idle OR begun < :longest",
                idle=now - self.idle,
                longest=now - self.longest,
            )
            rows.run(
                "INSERT INTO veil_studio_sessions (token, account, begun, seen, address) "
                "VALUES (:token, :account, :now, :now, :address)",
                token=secret_hash(token),
                account=account.id,
                now=now,
                address=address,
            )
        return token

    def account(self, token: str) -> Account | None:
        """Who is signed in by this token; None for one that is not, or no longer."""
        now, kept = datetime.now(UTC), secret_hash(token)
        with self.database.begin() as rows:
            found = rows.one(
                "SELECT account, seen FROM veil_studio_sessions "
                "WHERE token = :token AND seen >= :idle AND begun >= :longest",
                token=kept,
                idle=now - self.idle,
                longest=now - self.longest,
            )
            if found is None:
                return None
            if now - found["seen"] > _NOTED_EVERY:
                rows.run(
                    "UPDATE veil_studio_sessions SET seen = :now WHERE token = :token", now=now, token=kept
                )
            account = account_of(rows, found["account"])
        return None if account is None or account.disabled else account

    def end(self, token: str) -> None:
        """Sign out."""
        with self.database.begin() as rows:
            rows.run("DELETE FROM veil_studio_sessions WHERE token = :token", token=secret_hash(token))

    def end_others(self, account: Account, token: str) -> int:
        """Sign out everywhere else; how many sessions that were."""
        with self.database.begin() as rows:
            return rows.run(
                "DELETE FROM veil_studio_sessions WHERE account = :account AND token <> :token",
                account=account.id,
                token=secret_hash(token),
            )

    def count(self, account: Account) -> int:
        """How many browsers the account is signed in with."""
        now = datetime.now(UTC)
        with self.database.begin() as rows:
            found = rows.one(
                "SELECT count(*) AS open FROM veil_studio_sessions "
                "WHERE account = :account AND seen >= :idle AND begun >= :longest",
                account=account.id,
                idle=now - self.idle,
                longest=now - self.longest,
            )
        return 0 if found is None else int(found["open"])
