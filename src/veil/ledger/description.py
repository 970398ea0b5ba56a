"""What a ledger writes down of a release: how it was made, nothing of the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from veil.core.account import Charge
from veil.core.errors import InvalidArgument

# A longer description, such as of a road network, is kept by its name and its hash.
_LONG = 4_000


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
    found: dict[str, Any] = {"sha256": hash_of(text)}
    short: dict[str, Any] = {"name": str(description.get("name", ""))}
    if len(text) <= _LONG:
        short |= json.loads(text)
    return short | found


def hash_of(text: str) -> str:
    """What stands for a canonical description."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(description: Any) -> str:
    """The same text for the same description, and another for another."""
    try:
        return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidArgument("description", expected="plain data", found="something else") from None
