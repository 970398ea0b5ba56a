"""Secrets outside the ledger, with which its entries are keyed: who does not have them cannot forge one.

A key gives every entry a message authentication code. It is a file, a variable of the environment, or a key
service: any object with an `id` and a `mac`, such as one that asks a hardware module. Packages can offer such
services by name through the entry-point group `veil.ledger_keys`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, runtime_checkable

from veil.core.errors import InvalidArgument, UnreadableFile
from veil.ledger.entry import Entry

# Bytes of a secret: 256 bits.
_LEAST = 32
_EXPECTED = "file:PATH, env:NAME, or an object with `id` and `mac`"


@runtime_checkable
class Key(Protocol):
    """A secret that stays where it is. id: its public name, which entries hold."""

    id: str

    def mac(self, message: bytes) -> str:
        """The message authentication code, in hexadecimal digits; the same for the same message."""


class SecretKey:
    """A key in memory: HMAC with SHA-256 (RFC 2104).

    >>> SecretKey(bytes(32)).id
    '5839b86a2699739b'
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < _LEAST:
            raise InvalidArgument(
                "key", expected=f"a secret of at least {_LEAST} bytes", found=f"{len(secret)}"
            )
        self._secret = secret
        self.id = self.mac(b"veil ledger key")[:16]

    def __repr__(self) -> str:
        return f"<SecretKey {self.id}>"

    def mac(self, message: bytes) -> str:
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()


def message(entry: Entry, token: str) -> bytes:
    """What of an entry is authenticated: all of it, and the token beside it."""
    return f"{entry.body}\n{token}".encode("ascii", "backslashreplace")


def is_authentic(key: Key, entry: Entry, token: str, mac: str) -> bool:
    """Whether the code is that of the entry."""
    return hmac.compare_digest(key.mac(message(entry, token)).encode(), mac.encode())


def keys_from(given: Any) -> tuple[Key, ...]:
    """One key or several, of which the first is used for new entries."""
    if given is None:
        return ()
    if isinstance(given, str):
        return tuple(key_from(one.strip()) for one in given.split(","))
    return tuple(map(key_from, given)) if isinstance(given, Sequence) else (key_from(given),)


def key_from(given: Any) -> Key:
    """The key that is meant: a file, a variable, a named service, or an object that is one."""
    if isinstance(given, os.PathLike):
        return SecretKey(_from_file(Path(given)))
    if not isinstance(given, str):
        if isinstance(given, Key) and isinstance(given.id, str) and re.fullmatch(r"[\w.:/-]{1,80}", given.id):
            return given
        raise InvalidArgument("key", expected=_EXPECTED, found=type(given).__name__)
    scheme, colon, rest = given.partition(":")
    if colon and scheme == "file":
        return SecretKey(_from_file(Path(rest)))
    if colon and scheme == "env":
        text = os.environ.get(rest)
        if text is None:
            raise InvalidArgument(
                "key", expected=f"a secret in the variable {rest}", found="no such variable"
            )
        return SecretKey(_parsed(text.encode(), f"the variable {rest}"))
    for service in entry_points(group="veil.ledger_keys", name=scheme):
        return key_from(service.load()(rest))
    # Not what was found: it may be the secret itself.
    raise InvalidArgument("key", expected=_EXPECTED, found="something else")


def new_key(file: Path) -> SecretKey:
    """Make a secret in a new file that only its owner can read."""
    text = token_hex(_LEAST)
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidArgument("key", expected="a new file", found=error.strerror or "none") from None
    with os.fdopen(handle, "w") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return SecretKey(bytes.fromhex(text))


def _from_file(file: Path) -> bytes:
    try:
        status = file.stat()
        content = file.read_bytes() if status.st_size <= 10_000 else b""
    except OSError as error:
        found = "no such file" if isinstance(error, FileNotFoundError) else error.strerror or "none"
        raise UnreadableFile(str(file), expected="the key of a ledger", found=found) from None
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UnreadableFile(
            str(file),
            expected="a key that only its owner can read",
            found=f"mode {stat.S_IMODE(status.st_mode):04o}",
            hint=f"chmod 600 {file}",
        )
    return _parsed(content, str(file))


def _parsed(content: bytes, where: str) -> bytes:
    """Hexadecimal digits."""
    text = content.strip()
    if not re.fullmatch(rb"(?:[0-9a-fA-F]{2}){%d,}" % _LEAST, text):
        expected = f"at least {2 * _LEAST} hexadecimal digits, as `veil ledger new-key` writes them"
        raise UnreadableFile(where, expected=expected, found="something else")
    return bytes.fromhex(text.decode())
