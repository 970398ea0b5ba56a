"""What is read off a released table of bits."""

from __future__ import annotations

import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument

TABLE = np.random.default_rng(1).random((400, 6)) < [0.9, 0.7, 0.5, 0.4, 0.2, 0.1]
TABLE[:, 3] = TABLE[:, 2] ^ (np.random.default_rng(2).random(400) < 0.1)


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize(
    "mechanism",
    [
        veil.bits.StaircaseXor(6, 3.0),
        veil.bits.StaircaseXor(6, 2.0, flips=2),
        veil.bits.RandomizedResponse(1.0),
        veil.bits.Xor(veil.bits.xor_parameters(80.0, 1.0, 400, 6, 6)),
    ],
    ids=["row", "flips", "bit", "xor"],
)
def test_shares_are_right_in_the_mean_and_covered(mechanism: veil.Mechanism) -> None:
    near = mechanism.adjacency or veil.bits.BitFlips(6, where="row")
    times, inside, total = 300, np.zeros(6), np.zeros(6)
    for seed in range(times):
        reading = veil.bits.estimates(veil.release(mechanism, TABLE, adjacency=near, rng=seed))
        share, low, high = reading.shares
        truth = TABLE.mean(axis=0)
        inside += (low <= truth) & (truth <= high)
        total += share
    error = np.sqrt(reading.column_sums.variance / 400**2 / times)
    # Six columns: beyond 4.5 standard errors with probability 4e-5.
    assert (np.abs(total / times - TABLE.mean(axis=0)) < 4.5 * error).all()
    # 95 % intervals; below 90 % of 300 has probability 2e-4 for a column.
    assert (inside / times > 0.90).all()


def test_pairs_and_associations() -> None:
    out = veil.release(veil.bits.StaircaseXor(6, 9.0), TABLE, rng=3)
    reading = veil.bits.estimates(out)
    both = reading.pairs([(2, 3)]).value[0]
    truth = [[np.sum((TABLE[:, 2] == a) & (TABLE[:, 3] == b)) for b in (0, 1)] for a in (0, 1)]
    assert np.abs(both - truth).max() < 60
    first, second, phi, error = reading.associations()[0]
    assert {first, second} == {"column3", "column4"}
    assert phi > 0.6
    assert error < 0.3
    assert np.abs(reading.entries.value.mean(axis=0) - reading.shares[0]).max() < 1e-9


def test_noise_that_leaves_nothing_of_pairs_is_told() -> None:
    out = veil.release(veil.bits.StaircaseXor(17, 0.5), np.zeros((20, 17), dtype=bool), rng=1)
    reading = veil.bits.estimates(out)
    assert reading.associations() == []
    with pytest.raises(InvalidArgument, match="one column more or less"):
        reading.pairs()


def test_what_cannot_be_read() -> None:
    small = TABLE[:4]
    whole = veil.release(veil.bits.StaircaseXor(6, 1.0, flips=2, rows=4), small)
    with pytest.raises(InvalidArgument, match="independent between rows"):
        veil.bits.estimates(whole)
    graph = veil.release(veil.graphs.RandomizedResponse(1.0), veil.graphs.Graph.from_edges([(0, 1)], 5))
    with pytest.raises(InvalidArgument, match="a table of bits"):
        veil.bits.estimates(graph)
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.bits.estimates(veil.release(veil.bits.RandomizedResponse(1.0), small), confidence=2.0)
