"""Mechanisms and neighbours as entries name them, read again."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import lru_cache

from veil.core.adjacency import Adjacency
from veil.core.errors import VeilError
from veil.core.kind import every_kind
from veil.core.mechanism import Mechanism
from veil.core.registry import adjacency_from, mechanism_from

# What may go wrong with an entry that somebody else has written.
UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, IndexError)


# The same few descriptions stand in thousands of entries.
@lru_cache(maxsize=256)
def adjacency_named(described: str) -> Adjacency:
    """The neighbours behind a canonical description."""
    return adjacency_from(json.loads(described))


@lru_cache(maxsize=256)
def mechanism_named(described: str) -> Mechanism:
    """The mechanism behind a canonical description; ValueError if no kind knows it."""
    content = json.loads(described)
    for kind in every_kind():
        with suppress(VeilError):
            return mechanism_from(content, kind)
    raise ValueError
