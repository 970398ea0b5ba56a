"""Adjacencies by short names, as a command line takes them."""

from __future__ import annotations

import json

from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument
from veil.core.kinds import every_kind
from veil.core.registry import adjacency_from


def adjacency_named(text: str) -> Adjacency:
    """The adjacency that a short name stands for: "add-remove", "user", "words:1", "transfer:0.1".

    >>> adjacency_named("edge")
    BitFlips(count=1, where='anywhere')
    """
    named = {name: make for kind in every_kind() for name, make in kind.short_adjacencies.items()}
    names = ", ".join(f"{name}N" if name.endswith(":") else name for name in named)
    expected = f"one of {names}, or JSON as in a record"
    if text.lstrip().startswith("{"):
        try:
            return adjacency_from(json.loads(text))
        except (ValueError, TypeError, AttributeError):
            raise InvalidArgument("adjacency", expected=expected, found="other JSON") from None
    name, colon, size = text.strip().partition(":")
    if name + colon in named and bool(colon) == bool(size):
        try:
            return named[name + colon](size)
        except InvalidArgument as error:
            expected = f"{name}:N with {error.expected}"
        except ValueError:
            pass
    raise InvalidArgument("adjacency", expected=expected, found=repr(text)[:40])
