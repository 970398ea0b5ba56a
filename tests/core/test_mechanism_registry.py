"""Descriptions that do not describe a mechanism."""

from __future__ import annotations

from typing import Any

import pytest

from veil.core.kind import kind_named
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, VeilError


@pytest.mark.parametrize(
    "description",
    [
        None,
        [],
        {},
        {"name": "Dirichlet"},
        {"name": "Dirichlet", "parameters": []},
        {"name": "Unknown", "parameters": {}},
        {"name": "Dirichlet", "parameters": {"k": 3.0}},
        {"name": "Dirichlet", "parameters": {"k": 3.0, "domain": {"name": "Graph"}}},
        {"name": "Dirichlet", "parameters": {"k": 3.0, "domain": 7}},
        {"name": "DirichletCounts", "parameters": {"scale": 1, "prior": 1, "size": 3, "more": 1}},
        {"name": "GeometricCounts", "parameters": {"scale": -1, "size": 3, "onto": "projection"}},
        {
            "name": "Laplace",
            "parameters": {"scale": 1, "domain": {"name": "Simplex", "size": 3}, "onto": "x"},
        },
    ],
)
def test_refused(description: Any) -> None:
    with pytest.raises(VeilError):
        mechanism_from(description, kind_named("vector"))


def test_unknown_names_say_what_is_known() -> None:
    with pytest.raises(InvalidArgument, match=r"Dirichlet.*newer Veil"):
        mechanism_from({"name": "Future", "parameters": {}}, kind_named("vector"))
