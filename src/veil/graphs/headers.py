"""Whether the first line of a list of edges names its columns or is an edge.

It is an edge if one of its labels occurs again, and names if both are usual ones, or text above whole
numbers alone. Where that does not tell, the user has to say: no edge may be lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veil.core.errors import InvalidData
from veil.graphs.labels import Ends
from veil.tables.states import is_plain_integer

_USUAL = (
    {"origin", "destination"},
    {"from", "to"},
    {"source", "target"},
    {"source", "destination"},
    {"source", "dest"},
    {"src", "dst"},
    {"src", "dest"},
    {"start", "end"},
    {"head", "tail"},
    {"u", "v"},
    {"node1", "node2"},
    {"node_1", "node_2"},
    {"id1", "id2"},
    {"id_1", "id_2"},
    {"node_a", "node_b"},
    {"fromnodeid", "tonodeid"},
    {"from_id", "to_id"},
    {"source_id", "target_id"},
    {"user", "item"},
    {"user_id", "item_id"},
    {"follower", "followed"},
    {"follower", "followee"},
)


def has_header(columns: Sequence[Ends], name: str) -> bool:
    """Whether the first of these rows is one of names."""
    heads = [(column.texts or [])[column.codes[0]] for column in columns]
    body: set[str] = set()
    for column in columns:
        below = np.flatnonzero(np.bincount(column.codes[1:], minlength=1)[: len(column.texts or [])])
        body |= {(column.texts or [])[code] for code in below}
    recurs = any(head in body for head in heads)
    usual = {head.casefold().lstrip("#").strip() for head in heads} in _USUAL
    if recurs and not usual:
        return False
    if not recurs and usual:
        return True
    if body and all(map(is_plain_integer, body)) and not any(map(is_plain_integer, heads)):
        return True
    raise InvalidData(
        name,
        expected="a first line that names the columns, or one that is clearly an edge",
        found="one that may be either",
        hint="Say which with {header}.",
        names=("header",),
    )
