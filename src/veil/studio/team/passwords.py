"""Passwords: which are accepted, and how they are kept so that a thief of the database has none of them."""

from __future__ import annotations

import threading
from functools import cache
from secrets import token_urlsafe
from typing import Any

from veil.core.errors import InvalidArgument

LEAST, MOST = 12, 200
# Different characters that a password has at least: "aaaaaaaaaaaa" is none.
_DIFFERENT = 5
_USUAL = (
    "password",
    "passwort",
    "qwerty",
    "qwertz",
    "letmein",
    "welcome",
    "iloveyou",
    "administrator",
    "changeme",
    "123456",
    "abcdef",
)
# Each takes 64 MiB: so many at once, and others wait.
_AT_ONCE = threading.BoundedSemaphore(2)


@cache
def _hasher() -> Any:
    from argon2 import PasswordHasher

    # Argon2id with the parameters of RFC 9106 for little memory.
    return PasswordHasher(time_cost=3, memory_cost=2**16, parallelism=4)


@cache
def _nobody() -> str:
    """The hash of a password that nobody knows."""
    return hashed(token_urlsafe(32))


def check_password(password: str, name: str) -> None:
    """Refuse a password that is short, or that is tried first by those who guess. name: of the account."""
    expected = f"at least {LEAST} characters"
    if len(password) < LEAST:
        raise InvalidArgument("password", expected=expected, found=f"{len(password)}")
    if len(password) > MOST:
        raise InvalidArgument("password", expected=f"at most {MOST} characters", found=f"{len(password)}")
    plain = password.casefold()
    if len(set(plain)) < _DIFFERENT:
        raise InvalidArgument("password", expected=f"{_DIFFERENT} different characters", found="fewer")
    own = name.casefold().partition("@")[0]
    if len(own) >= 3 and own in plain:
        raise InvalidArgument("password", expected="one without the name of the account", found="its name")
    bare = plain
    for word in _USUAL:
        bare = bare.replace(word, "")
    if len(bare.strip("0123456789!?.-_ ")) < 4 and bare != plain:
        raise InvalidArgument("password", expected="one that is not guessed first", found="a usual one")


def hashed(password: str) -> str:
    """What is kept of a password."""
    with _AT_ONCE:
        made: str = _hasher().hash(password)
    return made


def matches(kept: str | None, password: str) -> bool:
    """Whether it is the password. kept: None for an account that is not there: it takes as much work."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    if len(password) > MOST:
        password = ""
    wanted = _nobody() if kept is None else kept
    with _AT_ONCE:
        try:
            _hasher().verify(wanted, password)
        except (Argon2Error, InvalidHashError):
            return False
    return kept is not None
