"""What auto chooses among pure mechanisms is charged without delta, whatever delta was allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx
import pytest

import veil
from tests.ledger.places import new_file
from veil.core.kind import kind_named

# Of each kind, a value and what must be said of it besides epsilon.
PURE: dict[str, tuple[Any, dict[str, Any]]] = {
    "vector": ([50, 20, 90], {}),
    "chain": ([[5, 3], [2, 7]], {}),
    "words": ([["a", "b"], ["b", "a"]], {"language": veil.words.FreeWords("ab", 2)}),
    "bits": ([[1, 0, 1], [0, 0, 1]], {}),
    "graph": (networkx.path_graph(5), {}),
}


@pytest.mark.parametrize("kind", PURE)
def test_no_delta_is_charged(folder: Path, kind: str) -> None:
    value, more = PURE[kind]
    _, request = kind_named(kind).requests("release")
    # A budget without delta has no room for any.
    dataset = new_file(folder).ledger().open("pure", epsilon=1)
    job = request(epsilon=1, delta=1e-6, **more).prepare(value)
    assert (job.chosen != "", job.charge().delta) == (True, 0.0)
    assert job.run(ledger=dataset).delta == 0.0
    assert str(dataset.spent) == "epsilon = 1, delta = 0"
