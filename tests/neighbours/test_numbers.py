"""The numbers that sentences state: neighbours that are made with them are covered as well."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from veil.matrices import DoublyStochastic, Rectangle, RowByRow, Rows
from veil.vectors import L1, Laplace, Simplex, Transfer

_LAPLACE = Laplace(0.5, Simplex(3))
# Each with a mechanism, and by how many entries that move the whole of the number the loss is made.
CASES = [
    (Transfer(0.05), _LAPLACE, 2),
    (L1(0.25), _LAPLACE, 1),
    (Rows(1, Transfer(0.05)), RowByRow(_LAPLACE, rows=2), 2),
    (Rectangle(0.125), DoublyStochastic(0.5, 3), 4),
    (Transfer.from_records(98), _LAPLACE, 2),
    (L1.of_average(2.0, 3), _LAPLACE, 1),
    (Rows(1, Transfer(2 / 3)), RowByRow(_LAPLACE, rows=2), 2),
    (Rectangle(2 / 3), DoublyStochastic(0.5, 3), 4),
]


@pytest.mark.parametrize(("adjacency", "mechanism", "entries"), CASES, ids=str)
def test_what_is_stated_is_covered(adjacency: Any, mechanism: Any, entries: int) -> None:
    """Noise of scale 1/2: entries that move by the number that is written lose twice as much each."""
    written = re.search(r"at most ([0-9.]+)", adjacency.words.replace("at most 1 rows", ""))
    assert written is not None
    loss = entries * Fraction(written[1].rstrip(".")) * 2
    assert loss <= Fraction(mechanism.profile(adjacency).pure_epsilon)
