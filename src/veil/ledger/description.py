"""What a ledger writes down: of a release how it was made, nothing of the data; and who acts, and why."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from veil.core.account import Charge
from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.core.text import is_plain_text

# A longer description, such as of a road network, is kept by its name and its hash.
_LONG = 4_000
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def described(charge: Charge) -> dict[str, Any]:
    """The parts of an entry that say what was released."""
    places = {"places": list(charge.places)} if charge.places else {}
    return places | {
        "mechanism": shortened(charge.description),
        "adjacency": None if charge.adjacency is None else charge.adjacency.describe(),
        "reproducible": charge.reproducible,
        "veil": charge.version,
        "epsilon": str(charge.epsilon),
        "delta": str(charge.delta),
    }


def mapping(description: Any) -> dict[str, Any]:
    """A description as `mechanism.describe()` gives it."""
    if not isinstance(description, Mapping) or not all(isinstance(key, str) for key in description):
        raise InvalidArgument(
            "description", expected="names with what they stand for", found="something else"
        )
    return dict(description)


def shortened(description: dict[str, Any]) -> dict[str, Any]:
    """The description, with its hash; parameters only where they are short."""
    text = canonical(description)
    return _shortened(text, str(description.get("name", "")))


# The same few mechanisms run again and again; nobody changes what is written down of them.
@lru_cache(maxsize=64)
def _shortened(text: str, name: str) -> dict[str, Any]:
    parameters = json.loads(text) if len(text) <= _LONG else {}
    return {"name": name, **parameters, "sha256": hash_of(text)}


def hash_of(text: str) -> str:
    """What stands for a canonical description."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(description: Any) -> str:
    """The same text for the same description, and another for another."""
    try:
        return _CANONICAL.encode(description)
    except (TypeError, ValueError, RecursionError):
        raise InvalidArgument("description", expected="plain data", found="something else") from None


def is_hash(text: Any) -> bool:
    """Whether it is a SHA-256 in hexadecimal digits."""
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{64}", text) is not None


def by_whom(by: str | None) -> str:
    """Who acts: as said, or the user of this machine."""
    if by is not None:
        return one_line("by", by)
    return _user(getattr(os, "getuid", int)(), *map(os.environ.get, _NAMED))


# What names the user of this machine, in this order; else the system does.
_NAMED = ("LOGNAME", "USER", "LNAME", "USERNAME")


@lru_cache(maxsize=16)
def _user(*_: Any) -> str:
    """The user of this machine; asked for once, for as long as nothing that names them changes."""
    try:
        # The environment may say anything.
        return one_line("by", getpass.getuser())
    except (OSError, KeyError, ImportError, InvalidArgument):
        return "unknown"


def one_line(field: str, text: Any) -> str:
    """A sentence that a table can hold."""
    if not isinstance(text, str) or not text.strip() or len(text) > 500 or not is_plain_text(text):
        raise InvalidArgument(field, expected="a sentence of at most 500 characters", found=shown(text))
    return text.strip()
