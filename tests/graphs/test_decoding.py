"""Decoding of a release, and of one whose degrees were asked directly."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument

HUBS = networkx.barabasi_albert_graph(80, 4, seed=1)


@pytest.mark.slow
def test_degrees_are_made_to_agree() -> None:
    mechanism = veil.graphs.PrivateGraph(12.0, statistics=["degrees"], share=0.6)
    out = veil.release(mechanism, HUBS, rng=1)
    asked = veil.graphs.estimates(out).falling_degrees
    found = veil.graphs.decode(out, agree=True).to_networkx()
    degrees = np.sort([degree for _, degree in found.degree()])[::-1]
    assert (degrees <= asked).all()
    assert degrees.sum() > 0.9 * asked.sum()
    shared = sum(HUBS.has_edge(*edge) for edge in found.edges)
    assert shared > 0.7 * HUBS.number_of_edges()


def test_what_was_not_asked_cannot_agree() -> None:
    with pytest.raises(InvalidArgument, match="degrees that were asked directly"):
        veil.graphs.decode(veil.graphs.release(HUBS, epsilon=3.0, rng=1), agree=True)
    out = veil.graphs.release(HUBS, epsilon=3.0, statistics=["degrees"], rng=1)
    with pytest.raises(InvalidArgument, match="edges"):
        veil.graphs.decode(out, edges=5, agree=True)


@pytest.mark.slow
def test_the_rate_is_of_the_release_and_not_of_what_is_kept() -> None:
    out = veil.graphs.release(HUBS, epsilon=4.0, rng=2)
    few, all_of_them = veil.graphs.decoding(out, edges=5), veil.graphs.decoding(out)
    assert few.reconstruction == all_of_them.reconstruction
    assert len(few.graph) == 5
    assert few.precision > all_of_them.precision
