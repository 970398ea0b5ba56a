"""What the commands on matrices share: reading options and tables."""

from __future__ import annotations

from typing import Any

from veil.domains.adjacency import Rows, Transfer
from veil.domains.checks import within
from veil.errors import InvalidArgument, InvalidData


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


def support_from(option: str | None, shape: tuple[int, int] | None = None) -> Any:
    """None, the word "zeros", or a table of True and False read from a file."""
    if option is None or option == "zeros":
        return option
    from veil.sources.matrices import read_matrix

    entries = read_matrix(option).entries
    table = entries.toarray() if hasattr(entries, "toarray") else entries
    if table.ndim != 2 or (shape is not None and table.shape != shape):
        raise InvalidData("--support", expected="a table like the matrix", found=f"shape {table.shape}")
    if (table.sum(axis=1) <= 0.0).any():
        raise InvalidData("--support", expected="a possible entry in every row", found="a row without one")
    return table != 0.0
