"""veil studio serve, veil studio user and what else belongs to the workbench of a team."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from getpass import getpass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App

from veil.cli.ledger_options import named_ledger
from veil.cli.options import option
from veil.cli.output import print_json
from veil.core.errors import InvalidArgument, MissingExtra
from veil.report.terminal import say

if TYPE_CHECKING:
    from veil.studio.team.accounts import Accounts
    from veil.studio.team.database import Database

_NEEDED = ("starlette", "uvicorn", "python_multipart", "argon2", "authlib", "cryptography", "joserfc")
_DATABASE = "VEIL_STUDIO_DATABASE"

users = App(name="user", help="Accounts of the workbench of a team.", help_epilogue="")

DatabaseOption = Annotated[
    str | None, option("--database", help=f"postgresql://user@host/database. Also: {_DATABASE}.")
]
Role = Literal["viewer", "analyst", "steward"]
NameArgument = Annotated[str, option("--name", help="The name of the account, such as ada.")]


def serve(
    *,
    database: DatabaseOption = None,
    host: Annotated[str, option("--host", help="Where it listens.")] = "127.0.0.1",
    port: Annotated[int, option("--port", least=1, help="The port that it listens on.")] = 8765,
    address: Annotated[
        str | None,
        option("--address", help="Under which browsers reach it: https://veil.example.org/studio."),
    ] = None,
    behind_proxy: Annotated[
        str | None,
        option(
            "--behind-proxy", help="Addresses of the reverse proxies, with commas: only they are believed."
        ),
    ] = None,
    workers: Annotated[int, option("--workers", least=1, help="Releases that are made at once.")] = 1,
    folder: Annotated[
        Path, option("--folder", help="Of this machine alone: releases that are being made, and the key.")
    ] = Path("veil-studio-team"),
    data: Annotated[
        Path | None, option("--data", help="The folder in which files of data may be; none unless given.")
    ] = None,
    ledger: Annotated[
        str | None,
        option("--ledger", help="The budgets: postgresql://... Also: VEIL_LEDGER; else in the database."),
    ] = None,
    key: Annotated[
        str | None,
        option("--key", help="With what sources are encrypted: file:PATH or env:NAME; else in the folder."),
    ] = None,
    oidc: Annotated[
        str | None,
        option(
            "--oidc", help="A file with the provider of identities, if people sign in there; see the docs."
        ),
    ] = None,
    single_steward: Annotated[
        bool, option("--single-steward", help="A steward may approve their own plans.", shown=False)
    ] = False,
    idle_minutes: Annotated[
        int, option("--idle-minutes", least=1, help="After so long without use people sign in again.")
    ] = 60,
    session_hours: Annotated[
        int, option("--session-hours", least=1, help="After so long people sign in again in any case.")
    ] = 12,
) -> int:
    """Serve the workbench to a team: accounts, roles, projects, plans that a second person approves.

    The tables are made in the database, or brought up to date. Browsers reach it through a reverse proxy
    that speaks https; without one only this machine can. The first steward comes from: veil studio user add.

    Example: veil studio serve --address https://veil.example.org --behind-proxy 127.0.0.1 --data /srv/data
    """
    _need()
    if port > 65535:
        raise InvalidArgument("--port", expected="a number up to 65535", found=f"{port}")
    from veil.studio.team.proxies import Proxies
    from veil.studio.team.sealing import Sealing
    from veil.studio.team.server import check_host
    from veil.studio.team.server import serve as run
    from veil.studio.team.settings import Settings
    from veil.studio.team.team import Team

    kept = _named(database)
    trusted = Proxies.of(behind_proxy.split(",")) if behind_proxy else Proxies()
    check_host(host, is_proxied=bool(trusted.trusted))
    shown = f"[{host}]" if ":" in host else host
    settings = Settings(
        address=(address or f"http://{shown}:{port}").rstrip("/"),
        folder=folder.absolute(),
        ledger=_ledger(ledger, database),
        data=None if data is None else _folder(data),
        proxies=trusted,
        single_steward=single_steward,
        workers=workers,
        idle=timedelta(minutes=idle_minutes),
        longest=timedelta(hours=session_hours),
    )
    if trusted.trusted and not settings.is_encrypted:
        raise InvalidArgument(
            "--address", expected="https://..., as the proxy speaks it", found=settings.address[:60]
        )
    if address is not None and not trusted.trusted and settings.is_encrypted:
        raise InvalidArgument("--behind-proxy", expected="the address of what speaks https", found="none")
    provider = None
    if oidc is not None:
        from veil.studio.team.provider import Provider

        provider = Provider.of(Path(oidc), settings)
    sealing = Sealing.of(key or f"file:{_own_key(settings.folder)}")
    kept.migrate()
    team = Team.opened(settings, kept, sealing, provider=provider)
    if not any(account.is_steward for account in team.accounts.all()):
        say("There is no steward yet. Make one: veil studio user add NAME --role steward")
    run(team, host=host, port=port)
    return 0


def make_key(
    file: Annotated[Path, option("--file", help="The new file.")],
    /,
) -> int:
    """Make a key with which sources of data are encrypted.

    To replace a key, name the new one first and the old one after a comma: --key file:new,file:old.

    Example: veil studio new-key studio.key
    """
    _need()
    from veil.studio.team.sealing import new_key

    new_key(file)
    say(f"Written: {file}. Keep a copy where the database is not.")
    return 0


def log(*, database: DatabaseOption = None) -> int:
    """Print who did what, as lines of JSON, and whether the log is whole.

    Example: veil studio log --database postgresql://veil@db/studio > log.jsonl
    """
    from veil.studio.team.audit import entries_of, first_fault

    with _database(database) as kept:
        entries = entries_of(kept, None)[::-1]
    for entry in entries:
        print_json(entry)
    fault = first_fault(entries)
    if fault is not None:
        say(f"Entry {fault} does not follow from the one before it: the log was changed.", error=True)
        return 4
    say(f"{len(entries)} entries, each follows from the one before it.", error=True)
    return 0


@users.command(name="add")
def add(
    name: NameArgument,
    /,
    *,
    role: Annotated[Role, option("--role", help="What they may do.")],
    database: DatabaseOption = None,
    link: Annotated[
        bool, option("--link", help="Print a link by which they choose a password.", shown=False)
    ] = False,
    external: Annotated[
        bool,
        option("--external", help="They sign in with the provider of identities (--oidc).", shown=False),
    ] = False,
    address: Annotated[
        str, option("--address", help="With --link: under which browsers reach the workbench.")
    ] = "http://127.0.0.1:8765",
) -> int:
    """Make an account. The password is asked for, or chosen by a link, or kept by the provider of identities.

    Example: veil studio user add ada --role steward
    """
    if link and external:
        raise InvalidArgument("--link", expected="no --external with it", found="both")
    with _accounts(database) as accounts:
        password = None if link or external else _asked_password()
        made = accounts.add(name, role, password=password, is_external=external)
        say(f"{made.name} is a {role}.")
        if link:
            _print_link(accounts, made.name, address)
    return 0


@users.command(name="reset")
def reset(
    name: NameArgument,
    /,
    *,
    database: DatabaseOption = None,
    link: Annotated[
        bool, option("--link", help="Print a link by which they choose a password.", shown=False)
    ] = False,
    address: Annotated[
        str, option("--address", help="With --link: under which browsers reach the workbench.")
    ] = "http://127.0.0.1:8765",
) -> int:
    """Give an account another password; it is signed out everywhere.

    Example: veil studio user reset ada --link --address https://veil.example.org
    """
    with _accounts(database) as accounts:
        if link:
            _print_link(accounts, name, address)
        else:
            accounts.set_password(name, _asked_password())
            say("The password is another one now.")
    return 0


@users.command(name="role")
def set_role(
    name: NameArgument,
    role: Annotated[Role, option("--role", help="What they may do.")],
    /,
    *,
    database: DatabaseOption = None,
) -> int:
    """Let an account be something else; it is signed out everywhere.

    Example: veil studio user role cid analyst
    """
    with _accounts(database) as accounts:
        accounts.set_role(name, role)
    say(f"{name} is a {role} from now on.")
    return 0


@users.command(name="disable")
def disable(name: NameArgument, /, *, database: DatabaseOption = None) -> int:
    """Let an account in no more; what it did stays.

    Example: veil studio user disable cid
    """
    with _accounts(database) as accounts:
        accounts.set_disabled(name, True)
    say(f"{name} is out.")
    return 0


@users.command(name="enable")
def enable(name: NameArgument, /, *, database: DatabaseOption = None) -> int:
    """Let an account in again.

    Example: veil studio user enable cid
    """
    with _accounts(database) as accounts:
        accounts.set_disabled(name, False)
    say(f"{name} may come in again.")
    return 0


@users.command(name="list")
def list_all(*, database: DatabaseOption = None) -> int:
    """Print all accounts.

    Example: veil studio user list
    """
    with _accounts(database) as accounts:
        found = accounts.all()
    for account in found:
        ways = "a password" if account.has_password else "a link that was not used yet"
        ways = "the provider of identities" if account.is_external else ways
        state = ", disabled" if account.disabled else ""
        say(f"{account.name}: {account.role}, signs in by {ways}{state}")
    return 0


def _need() -> None:
    for library in _NEEDED:
        if find_spec(library) is None:
            raise MissingExtra(library, "studio")


def _url(given: str | None) -> str:
    url = given or os.environ.get(_DATABASE, "")
    if not url:
        expected = "postgresql://user@host/database"
        raise InvalidArgument("--database", expected=expected, found="none", hint=f"Also: {_DATABASE}.")
    return url


def _named(given: str | None) -> Database:
    """The database, which nobody has asked anything yet."""
    _need()
    from veil.studio.team.database import Database

    return Database(_url(given))


@contextmanager
def _database(given: str | None) -> Iterator[Database]:
    """The database, with its tables as this version needs them, until it is used no more."""
    made = _named(given)
    try:
        made.migrate()
        yield made
    finally:
        made.close()


@contextmanager
def _accounts(given: str | None) -> Iterator[Accounts]:
    from veil.studio.team.accounts import Accounts

    with _database(given) as database:
        yield Accounts(database)


def _ledger(given: str | None, database: str | None) -> str:
    """The budgets; several processes share them, so they are on a server."""
    from veil.ledger.address import Address

    found = given or named_ledger() or _url(database)
    if Address.of(found).file is not None:
        raise InvalidArgument("--ledger", expected="postgresql://...", found="a file")
    return found


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise InvalidArgument("--data", expected="a folder", found="none")
    return path.absolute()


def _own_key(folder: Path) -> Path:
    """The key in the folder, which is made at the first start."""
    from veil.studio.team.sealing import new_key

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "studio.key"
    if not file.exists():
        new_key(file)
        say(f"A new key for the sources of data is in {file}. Keep a copy where the database is not.")
    return file


def _asked_password() -> str:
    """A password from the terminal, twice; or the first line of standard input, where that is no terminal."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass("Password: ")
    if getpass("The same again: ") != first:
        raise InvalidArgument("password", expected="the same twice", found="two passwords")
    return first


def _print_link(accounts: Accounts, name: str, address: str) -> None:
    token = accounts.new_link(name)
    say(f"Within a day, once: {address.rstrip('/')}/link/{token}")
