"""Accounts: who may come in, and as what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from veil.core.checks import choice
from veil.core.errors import InvalidArgument
from veil.studio.team.audit import note
from veil.studio.team.database import Database, Rows
from veil.studio.team.passwords import check_password, hashed, matches
from veil.studio.workspace import new_id

VIEWER, ANALYST, STEWARD = ROLES = ("viewer", "analyst", "steward")
# How long a link by which a password is chosen can be used.
LINK_LASTS = timedelta(hours=24)
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,99}")
# Who did what is done on the command line of the server.
OPERATOR = "(operator)"


@dataclass(frozen=True)
class Account:
    """Somebody who may come in. is_external: by the provider of identities, not with a password."""

    id: str
    name: str
    role: str
    disabled: bool
    is_external: bool
    has_password: bool
    made_at: datetime

    @property
    def is_steward(self) -> bool:
        return self.role == STEWARD

    @property
    def proposes(self) -> bool:
        """Whether they may plan and propose releases."""
        return self.role in (ANALYST, STEWARD)


def _account(row: Mapping[str, Any]) -> Account:
    return Account(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        disabled=row["disabled"],
        is_external=row["is_external"],
        has_password=row["password"] is not None,
        made_at=row["made_at"],
    )


def checked_name(name: str) -> str:
    """The name of an account: small letters, digits and . _ @ + -, so that no two look alike."""
    plain = name.strip().casefold()
    if not _NAME.fullmatch(plain):
        expected = "2 to 100 letters, digits, or . _ @ + -, such as ada or ada@example.org"
        raise InvalidArgument("name", expected=expected, found="something else")
    return plain


def secret_hash(token: str) -> str:
    """What is kept of a random token: who reads the database cannot use it."""
    return sha256(token.encode()).hexdigest()


@dataclass(frozen=True)
class Accounts:
    """All accounts of a workbench."""

    database: Database

    def all(self) -> list[Account]:
        """All of them by name."""
        with self.database.begin() as rows:
            return [_account(row) for row in rows.all("SELECT * FROM veil_studio_accounts ORDER BY name")]

    def get(self, name: str) -> Account:
        """The account of this name."""
        with self.database.begin() as rows:
            return _named(rows, name)

    def add(self, name: str, role: str, *, password: str | None = None, is_external: bool = False) -> Account:
        """A new account. Without a password, somebody chooses one by a link, or comes from the provider."""
        name = checked_name(name)
        choice("role", role, ROLES)
        if password is not None:
            check_password(password, name)
        kept = None if password is None else hashed(password)
        with self.database.begin() as rows:
            added = rows.run(
                "INSERT INTO veil_studio_accounts (id, name, role, password, is_external) "
                "VALUES (:id, :name, :role, :password, :external) ON CONFLICT (name) DO NOTHING",
                id=new_id(),
                name=name,
                role=role,
                password=kept,
                external=is_external,
            )
            if not added:
                raise InvalidArgument("name", expected="a name that is not taken", found=name)
            note(rows, OPERATOR, "account added", account=name, role=role)
            return _named(rows, name)

    def set_role(self, name: str, role: str) -> None:
        """Let an account be something else from now on."""
        choice("role", role, ROLES)
        with self.database.begin() as rows:
            account = _named(rows, name)
            rows.run("UPDATE veil_studio_accounts SET role = :role WHERE id = :id", role=role, id=account.id)
            _close_sessions(rows, account)
            note(rows, OPERATOR, "account changed", account=account.name, role=role)

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Let an account in no more, or again. What it did stays."""
        with self.database.begin() as rows:
            account = _named(rows, name)
            rows.run(
                "UPDATE veil_studio_accounts SET disabled = :disabled, link = NULL WHERE id = :id",
                disabled=disabled,
                id=account.id,
            )
            _close_sessions(rows, account)
            note(rows, OPERATOR, "account disabled" if disabled else "account enabled", account=account.name)

    def set_password(self, name: str, password: str, *, by: str = OPERATOR) -> None:
        """Another password; whoever is signed in with the old one is signed out."""
        with self.database.begin() as rows:
            account = _named(rows, name)
        check_password(password, account.name)
        kept = hashed(password)
        with self.database.begin() as rows:
            _replace_password(rows, account, kept, by)

    def change_password(self, account: Account, current: str, new: str) -> bool:
        """Another password for who knows the one there is; whether it was the one."""
        with self.database.begin() as rows:
            row = rows.one("SELECT password FROM veil_studio_accounts WHERE id = :id", id=account.id)
        if row is None or not matches(row["password"], current):
            return False
        self.set_password(account.name, new, by=account.name)
        return True

    def new_link(self, name: str) -> str:
        """A token that lets somebody choose a password for the account, once; any earlier one is void."""
        token = token_urlsafe(32)
        with self.database.begin() as rows:
            account = _named(rows, name)
            if account.is_external:
                raise InvalidArgument(
                    "name", expected="an account with a password", found="one of the provider of identities"
                )
            rows.run(
                "UPDATE veil_studio_accounts SET link = :link, link_until = :until WHERE id = :id",
                link=secret_hash(token),
                until=datetime.now(UTC) + LINK_LASTS,
                id=account.id,
            )
            note(rows, OPERATOR, "link made", account=account.name)
        return token

    def invited(self, token: str) -> Account | None:
        """Whose link this is, if it can still be used."""
        with self.database.begin() as rows:
            row = rows.one(_BY_LINK, link=secret_hash(token), now=datetime.now(UTC))
        return None if row is None else _account(row)

    def accept_link(self, token: str, password: str) -> Account | None:
        """Choose a password by a link, which is void from then on."""
        account = self.invited(token)
        if account is None:
            return None
        check_password(password, account.name)
        kept = hashed(password)
        with self.database.begin() as rows:
            # Two browsers with one link: the first wins.
            row = rows.one(f"{_BY_LINK} FOR UPDATE", link=secret_hash(token), now=datetime.now(UTC))
            if row is None:
                return None
            _replace_password(rows, account, kept, account.name)
        return account

    def with_password(self, name: str, password: str) -> Account | None:
        """The account that signs in so; None as well where there is no such account, after as much work."""
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT * FROM veil_studio_accounts WHERE name = :name", name=name.strip().casefold()[:200]
            )
        known = None if row is None or row["disabled"] or row["is_external"] else row
        fits = matches(None if known is None else known["password"], password)
        return _account(known) if fits and known is not None else None

    def from_provider(self, issuer: str, subject: str, name: str | None) -> Account | None:
        """The account of somebody whom the provider of identities names.

        name: their verified address. At the first time it finds the account, which is theirs from then on:
        later their subject at the provider alone counts, so that an address that is given to somebody else
        opens nothing.
        """
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT * FROM veil_studio_accounts WHERE issuer = :issuer AND subject = :subject",
                issuer=issuer,
                subject=subject,
            )
            if row is None and name is not None:
                row = rows.one(
                    "UPDATE veil_studio_accounts SET issuer = :issuer, subject = :subject WHERE name = :name "
                    "AND is_external AND subject IS NULL AND NOT disabled RETURNING *",
                    issuer=issuer,
                    subject=subject,
                    name=name.strip().casefold()[:200],
                )
        return None if row is None or row["disabled"] or not row["is_external"] else _account(row)


_BY_LINK = (
    "SELECT * FROM veil_studio_accounts WHERE link = :link AND link_until > :now AND NOT disabled "
    "AND NOT is_external"
)


def _named(rows: Rows, name: str) -> Account:
    plain = name.strip().casefold()
    row = rows.one("SELECT * FROM veil_studio_accounts WHERE name = :name", name=plain)
    if row is None:
        raise InvalidArgument("name", expected="the name of an account", found="another name")
    return _account(row)


def _replace_password(rows: Rows, account: Account, kept: str, by: str) -> None:
    rows.run(
        "UPDATE veil_studio_accounts SET password = :password, link = NULL WHERE id = :id",
        password=kept,
        id=account.id,
    )
    _close_sessions(rows, account)
    note(rows, by, "password changed", account=account.name)


def _close_sessions(rows: Rows, account: Account) -> None:
    rows.run("DELETE FROM veil_studio_sessions WHERE account = :id", id=account.id)


def account_of(rows: Rows, identity: str) -> Account | None:
    """The account with this identity, in a transaction."""
    row = rows.one("SELECT * FROM veil_studio_accounts WHERE id = :id", id=identity)
    return None if row is None else _account(row)
