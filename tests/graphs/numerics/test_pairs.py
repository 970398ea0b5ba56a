"""Numbers of pairs against a list of them."""

from __future__ import annotations

import numpy as np
import pytest

from veil.graphs.numerics.pairs import MOST_NODES, PairSpace

SPACES = [
    space
    for n in (1, 2, 3, 4, 7)
    for space in (
        PairSpace.among(n),
        PairSpace.among(n, loops=True),
        PairSpace.among(n, directed=True),
        PairSpace.among(n, directed=True, loops=True),
        PairSpace.between(n, 3),
        PairSpace.between(2, n),
    )
]


def listed(space: PairSpace) -> list[tuple[int, int]]:
    """All pairs, row by row, from the definition."""
    return [
        (i, j)
        for i in range(space.rows)
        for j in range(space.columns)
        if (space.kind == "bipartite")
        or (space.loops and i == j)
        or (i < j if space.kind == "undirected" else i != j)
    ]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_numbers_are_those_of_the_list(space: PairSpace) -> None:
    pairs = listed(space)
    assert space.count == len(pairs)
    codes = np.arange(space.count)
    rows, columns = space.ends(codes)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == pairs
    assert np.array_equal(space.codes(rows, columns), codes)
    if space.kind == "undirected":
        assert np.array_equal(space.codes(columns, rows), codes)


def test_the_largest_graphs() -> None:
    space = PairSpace.among(MOST_NODES)
    rng = np.random.default_rng(1)
    codes = np.append(rng.integers(0, space.count, 200_000), [0, 1, space.count - 1, space.count - 2])
    rows, columns = space.ends(codes)
    assert (rows >= 0).all()
    assert (rows < columns).all()
    assert (columns < MOST_NODES).all()
    assert np.array_equal(space.codes(rows, columns), codes)


def test_ends_of_rows() -> None:
    # Where a row begins and ends, a root that is rounded the wrong way would show.
    for n in (1_000_003, 94_906_267):
        space = PairSpace.among(n)
        rows = np.random.default_rng(2).integers(0, n - 1, 20_000)
        for columns in (rows + 1, np.full_like(rows, n - 1)):
            found = space.ends(space.codes(rows, columns))
            assert np.array_equal(found[0], rows)
            assert np.array_equal(found[1], columns)
