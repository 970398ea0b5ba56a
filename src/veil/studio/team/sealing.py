"""Encryption of what the database must not show: where data is, with passwords and queries.

The key is outside the database, so that a copy of the database opens no source of data.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile

_FLAG = "--key"


class Sealing:
    """keys: the first is that of new secrets; all are tried on old ones, so that a key can be replaced."""

    def __init__(self, keys: list[bytes]) -> None:
        from cryptography.fernet import Fernet, MultiFernet

        try:
            self._keys = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            raise InvalidArgument(
                _FLAG, expected="a key as `veil studio new-key` writes it", found="another"
            ) from None

    @classmethod
    def of(cls, given: str) -> Sealing:
        """given: file:PATH or env:NAME, several with commas."""
        return cls([_key(one.strip()) for one in given.split(",")])

    def seal(self, about: str, content: Mapping[str, Any]) -> bytes:
        """The content, for nobody without the key to read. about: what it belongs to, and to nothing else."""
        return self._keys.encrypt(json.dumps({"about": about, "content": dict(content)}).encode())

    def unseal(self, about: str, sealed: bytes) -> dict[str, Any]:
        """What was sealed for this."""
        from cryptography.fernet import InvalidToken

        try:
            found = json.loads(self._keys.decrypt(bytes(sealed)))
        except InvalidToken:
            expected = "the key with which the sources were sealed"
            raise InvalidArgument(_FLAG, expected=expected, found="another key") from None
        if found["about"] != about:
            # Somebody who can write to the database has put one in the place of another.
            raise InvalidArgument("source", expected="what was sealed for it", found="that of another source")
        content: dict[str, Any] = found["content"]
        return content


def new_key(file: Path) -> None:
    """Make a key in a new file that only its owner can read."""
    from cryptography.fernet import Fernet

    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidArgument(_FLAG, expected="a new file", found=error.strerror or "none") from None
    with os.fdopen(handle, "wb") as stream:
        stream.write(Fernet.generate_key() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def _key(given: str) -> bytes:
    scheme, _, rest = given.partition(":")
    if scheme == "env":
        text = os.environ.get(rest)
        if text is None:
            raise InvalidArgument(_FLAG, expected=f"a key in the variable {rest}", found="no such variable")
        return text.strip().encode()
    if scheme != "file":
        # Not what was found: it may be the key itself.
        raise InvalidArgument(_FLAG, expected="file:PATH or env:NAME", found="something else")
    file = Path(rest)
    try:
        status, content = file.stat(), file.read_bytes()
    except OSError as error:
        raise UnreadableFile(
            str(file), expected="the key of sources", found=error.strerror or "none"
        ) from None
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        found = f"mode {stat.S_IMODE(status.st_mode):04o}"
        raise UnreadableFile(
            str(file), expected="a key that only its owner can read", found=found, hint=f"chmod 600 {file}"
        )
    return content.strip()
