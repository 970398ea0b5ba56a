"""Where a ledger lives: a file, or a PostgreSQL server."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from veil.core.errors import InvalidArgument

_EXPECTED = "sqlite:///budget.db, postgresql://..., or the name of a file that ends in .db or .sqlite"
# Of libpq: nothing is sent before the connection is encrypted; the last also checks who answers.
_ENCRYPTED = ("require", "verify-ca", "verify-full")
_ENDINGS = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True)
class Address:
    """file: of a SQLite ledger; None for a server. url: as SQLAlchemy takes it; it may hold a password."""

    url: Any
    file: Path | None

    @classmethod
    def of(cls, given: Any) -> Address:
        from sqlalchemy import URL, make_url
        from sqlalchemy.exc import ArgumentError

        if isinstance(given, PathLike):
            return cls.of_file(Path(fspath(given)))
        if not isinstance(given, str) or not given.strip():
            raise InvalidArgument("ledger", expected=_EXPECTED, found=type(given).__name__)
        if "://" not in given:
            if not looks_like_address(given):
                raise InvalidArgument("ledger", expected=_EXPECTED, found=_shown(given))
            return cls.of_file(Path(given))
        kind, _, rest = given.partition("://")
        if kind == "sqlite":
            name = unquote(rest.removeprefix("/").partition("?")[0])
            if not rest.startswith("/") or name in ("", ":memory:"):
                raise InvalidArgument(
                    "ledger", expected="a file: sqlite:///budget.db", found="a ledger that would be forgotten"
                )
            return cls.of_file(Path(name))
        if kind in ("postgresql", "postgres", "postgresql+psycopg"):
            url: URL | None = None
            with suppress(ArgumentError, ValueError):
                url = make_url(f"postgresql+psycopg://{rest}")
            if url is None or not url.host:
                # Not what was found: it may hold a password.
                raise InvalidArgument(
                    "ledger", expected="postgresql://user@host:port/database", found="something else"
                )
            return cls(_with_tls(url), None)
        raise InvalidArgument("ledger", expected=_EXPECTED, found=_shown(kind + "://"))

    @classmethod
    def of_file(cls, file: Path) -> Address:
        from sqlalchemy import URL

        # In full: it stays the same file whatever folder the process, or one it is sent to, works in; and
        # ":memory:" is a file like any other.
        whole = file.absolute()
        return cls(URL.create("sqlite", database=str(whole)), whole)

    def __str__(self) -> str:
        """For people: without the password."""
        if self.file is not None:
            return str(self.file)
        return f"postgresql://{self.url.host}:{self.url.port or 5432}/{self.url.database or ''}"


def _with_tls(url: Any) -> Any:
    """What is charged, and the password, cross a network only encrypted."""
    if _is_here(url.host):
        return url
    mode = url.query.get("sslmode", "require")
    if mode not in _ENCRYPTED:
        raise InvalidArgument(
            "ledger",
            expected=f"TLS to a server elsewhere: sslmode={' or '.join(_ENCRYPTED)}",
            found=f"sslmode={str(mode)[:20]}",
        )
    return url.update_query_dict({"sslmode": mode})


def _is_here(host: str) -> bool:
    """Whether it is this machine: what goes there crosses no network."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in ("localhost", "localhost.localdomain") or host.startswith("/")


def looks_like_address(text: str) -> bool:
    """Whether it can only be meant as a ledger, not as the name of a dataset."""
    return "://" in text or text.lower().endswith(_ENDINGS)


def _shown(given: str) -> str:
    """What was given; an address that was mistyped may hold a password."""
    return "something else" if "@" in given else repr(given)[:60]
