"""The made-up institute that takes the place of the Email network."""

from __future__ import annotations

import numpy as np
from veil_papers.reproduction.institute import DEPARTMENTS, PAIRS, PEOPLE, departments, messages
from veil_papers.xor_figures import EDGES
from veil_papers.xor_mechanism import NODES

from veil.graphs.numerics.structure import path_lengths
from veil.graphs.numerics.triangles import neighbours


def test_it_is_as_large_as_the_email_network() -> None:
    assert (NODES["Email"], EDGES["Email"]) == (PEOPLE, PAIRS)
    of, pairs = np.array(departments()), np.array(messages())
    assert set(of.tolist()) == set(range(DEPARTMENTS))
    assert pairs.shape == (PAIRS, 2)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len({tuple(pair) for pair in pairs.tolist()}) == PAIRS
    paths = path_lengths(neighbours(PEOPLE, pairs[:, 0], pairs[:, 1]))
    assert paths.connected == 1.0
    # Departments show: more pairs within than by chance.
    sizes = np.bincount(of)
    chance = float((sizes * (sizes - 1)).sum()) / PEOPLE / (PEOPLE - 1)
    assert (of[pairs[:, 0]] == of[pairs[:, 1]]).mean() > 4.0 * chance


def test_it_is_always_the_same_and_another_with_another_seed() -> None:
    assert departments() == departments()
    first, other = messages(), messages(seed=2)
    assert messages() == first != other
    assert len(other) == PAIRS
