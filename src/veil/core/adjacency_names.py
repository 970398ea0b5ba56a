"""Adjacencies by short names, as a command line takes them."""

from __future__ import annotations

import json
from collections.abc import Callable

from veil.bits.bit_flips import BitFlips
from veil.chains.contributions import Transitions
from veil.core.errors import InvalidArgument
from veil.matrices.rectangle import Rectangle
from veil.vectors.adjacency import Adjacency, Records, Rows, Transfer, adjacency_from
from veil.words.hamming import Hamming

# Who is a neighbour does not depend on how much is counted of a user.
_ANY_CAP = 1

_FIXED: dict[str, Callable[[], Adjacency]] = {
    "add-remove": lambda: Records("add-remove"),
    "replace": lambda: Records("replace"),
    "event": lambda: Transitions("event"),
    "event-replace": lambda: Transitions("event", "replace"),
    "row": lambda: Transitions("row"),
    "row-replace": lambda: Transitions("row", "replace"),
    "user": lambda: Transitions("user", cap=_ANY_CAP),
    "user-replace": lambda: Transitions("user", "replace", _ANY_CAP),
    "edge": lambda: BitFlips(1),
}
_SIZED: dict[str, Callable[[str], Adjacency]] = {
    "words": lambda size: Hamming(int(size)),
    "bits": lambda size: BitFlips(int(size)),
    "row-bits": lambda size: BitFlips(int(size), where="row"),
    "transfer": lambda size: Transfer(float(size)),
    "matrix-row": lambda size: Rows(1, Transfer(float(size))),
    "matrix": lambda size: Rows("all", Transfer(float(size))),
    "rectangle": lambda size: Rectangle(float(size)),
}
EXPECTED = f"one of {', '.join(_FIXED)}, {', '.join(f'{name}:N' for name in _SIZED)}, or JSON as in a record"


def adjacency_named(text: str) -> Adjacency:
    """The adjacency that a short name stands for: "add-remove", "user", "words:1", "transfer:0.1".

    >>> adjacency_named("edge")
    BitFlips(count=1, where='anywhere')
    """
    if text.lstrip().startswith("{"):
        try:
            content = json.loads(text)
            return adjacency_from({key: item for key, item in content.items() if key != "words"})
        except (ValueError, TypeError):
            raise InvalidArgument("adjacency", expected=EXPECTED, found="other JSON") from None
    name, colon, size = text.strip().partition(":")
    if not colon and name in _FIXED:
        return _FIXED[name]()
    if name in _SIZED and size:
        try:
            return _SIZED[name](size)
        except InvalidArgument as error:
            expected = f"{name}:N with {error.expected}"
            raise InvalidArgument("adjacency", expected=expected, found=repr(text)[:40]) from None
        except ValueError:
            pass
    raise InvalidArgument("adjacency", expected=EXPECTED, found=repr(text)[:40])
