"""What the commands on matrices share: reading options and tables."""

from __future__ import annotations

from typing import Any

from veil.core.checks import within
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.named_matrix import Taken
from veil.matrices.adjacency import Rows
from veil.vectors.adjacency import Transfer


def rows_from(changed: str, transfer: float | None, l1: float | None) -> Rows:
    """The adjacency that the options describe."""
    if (transfer is None) == (l1 is None):
        raise InvalidArgument(
            "what is secret",
            expected="either --transfer M or --l1 B: how much a row may change",
            found="neither of them" if transfer is None else "both of them",
            hint="--transfer 0.01: two entries of a row exchange at most 0.01.",
        )
    if l1 is not None:
        distance = within("--l1", l1, 1e-30, 2.0, expected="an L1 distance above 0 and at most 2")
        each = Transfer.from_l1(distance)
    else:
        each = Transfer(within("--transfer", transfer, 1e-30, 1.0, expected="a mass above 0 and at most 1"))
    if changed.strip().casefold() == "all":
        return Rows("all", each)
    if not changed.strip().isdecimal() or int(changed) < 1:
        raise InvalidArgument("--rows", expected="a whole number of at least 1, or all", found=changed[:20])
    return Rows(int(changed), each)


def support_from(option: str | None, like: Taken | None = None) -> Any:
    """None, the word "zeros", or a table of True and False read from a file, in the order of the matrix."""
    if option is None or option == "zeros":
        return option
    if option == "zero":
        raise InvalidArgument("--support", expected="zeros, or a file", found="zero")
    from veil.matrices.reading import read_matrix

    taken = read_matrix(option)
    table = taken.entries.toarray() if hasattr(taken.entries, "toarray") else taken.entries
    if like is not None:
        table = _ordered(_ordered(table, taken.rows, like.rows).T, taken.columns, like.columns).T
    if table.ndim != 2 or (like is not None and table.shape != like.entries.shape):
        raise InvalidData("--support", expected="a table like the matrix", found=f"shape {table.shape}")
    if (table.sum(axis=1) <= 0.0).any():
        raise InvalidData("--support", expected="a possible entry in every row", found="a row without one")
    return table != 0.0


def _ordered(table: Any, names: Any, wanted: Any) -> Any:
    """The rows of the table in the order of the matrix, where both are named."""
    if names is None or wanted is None:
        return table
    place = {str(name): i for i, name in enumerate(names)}
    unknown = [str(name) for name in wanted if str(name) not in place]
    if unknown or len(place) != len(wanted):
        found = f"no {unknown[0]!r}" if unknown else f"{len(place)} labels for {len(wanted)}"
        raise InvalidData("--support", expected="the labels of the matrix", found=found)
    return table[[place[str(name)] for name in wanted]]
