"""Released tables of bits as they are written to files."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.bits.domain import Table
from veil.core.errors import InvalidArgument


def table_to_json(table: Table) -> dict[str, Any]:
    """A row is a text of 0 and 1."""
    rows = np.atleast_2d(table).astype(np.uint8) + ord("0")
    data = [row.tobytes().decode("ascii") for row in rows]
    return {"type": "bits", "axes": int(np.ndim(table)), "data": data}


def table_from_json(content: Any) -> Table:
    data, axes = content["data"], content["axes"]
    if not isinstance(data, list) or not data or axes not in (1, 2) or (axes == 1 and len(data) != 1):
        raise InvalidArgument("value", expected="rows of bits", found="something else")
    width = len(data[0])
    if not width or any(not isinstance(row, str) or len(row) != width for row in data):
        raise InvalidArgument("value", expected="rows of equally many bits", found="something else")
    codes = np.frombuffer("".join(data).encode("ascii", "replace"), dtype=np.uint8)
    if not np.isin(codes, (ord("0"), ord("1"))).all():
        raise InvalidArgument("value", expected="rows of 0 and 1", found="something else")
    table: Table = np.equal(codes, ord("1")).reshape(len(data), width)
    return table if axes == 2 else np.array(table[0])
