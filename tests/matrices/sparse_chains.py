"""Large sparse Markov chains to test and to measure with."""

from typing import Any

import numpy as np
from scipy import sparse

from .chains import Floats


def normalised(matrix: Any) -> Any:
    """The rows divided by their sums."""
    matrix = sparse.csr_array(matrix)
    return sparse.csr_array(sparse.diags_array(1.0 / matrix.sum(axis=1)) @ matrix)


def links(states: int, start: Any, end: Any, weight: Any) -> Any:
    return sparse.csr_array((np.broadcast_to(weight, len(start)), (start, end)), shape=(states, states))


def expander(rng: np.random.Generator, states: int, out: int, spread: float = 1.0) -> Any:
    """Random transitions over `spread` orders of magnitude, and a ring."""
    start = np.repeat(np.arange(states), out)
    weights = 10.0 ** rng.uniform(-spread, 0.0, len(start))
    ring = links(states, np.arange(states), (np.arange(states) + 1) % states, 0.1)
    return normalised(links(states, start, rng.integers(0, states, len(start)), weights) + ring)


def grid(rng: np.random.Generator, side: int) -> Any:
    """A walk on a square that drifts, with random weights."""
    place = np.arange(side * side).reshape(side, side)
    total = sparse.csr_array((side * side, side * side))
    for here, there in ((place[1:], place[:-1]), (place[:, 1:], place[:, :-1])):
        start, end = here.ravel(), there.ravel()
        total = total + links(side * side, start, end, rng.uniform(0.9, 1.3, len(start)))
        total = total + links(side * side, end, start, rng.uniform(0.7, 1.1, len(start)))
    return normalised(total)


def ring(rng: np.random.Generator, states: int) -> Any:
    here, there = np.arange(states), (np.arange(states) + 1) % states
    one_way = links(states, here, there, rng.uniform(0.5, 1.0, states))
    return normalised(one_way + links(states, there, here, rng.uniform(0.5, 1.0, states)))


def wheel(rng: np.random.Generator, states: int) -> Any:
    """A ring of which every state is linked with a hub."""
    rim = sparse.block_diag([sparse.csr_array((1, 1)), ring(rng, states - 1)])
    centre, others = np.zeros(states - 1, dtype=int), np.arange(1, states)
    spokes = links(states, centre, others, rng.random(states - 1)) + links(states, others, centre, 0.1)
    return normalised(rim + spokes)


def line(up: Floats, down: Floats) -> Any:
    matrix = sparse.diags_array([down, up], offsets=[-1, 1])
    return sparse.csr_array(matrix + sparse.diags_array(1.0 - matrix.sum(axis=1)))


def nested(rng: np.random.Generator, states: int) -> Any:
    """Groups of 20 in groups of 400 in one, coupled by 1e-4 and 1e-9."""
    total = sparse.csr_array((states, states))
    for size, weight, out in ((20, 1.0, 5), (400, 1e-4, 1), (states, 1e-9, 1)):
        start = np.repeat(np.arange(states), out)
        base = start // size * size
        for end in (base + rng.integers(0, size, len(start)), base + (start + 1 - base) % size):
            total = total + links(states, start, end, weight * rng.uniform(0.1, 1.0, len(start)))
    return normalised(total)


def hub(rng: np.random.Generator, states: int) -> tuple[Any, Floats]:
    """A hub with leaves where the walk stays for a while, and the stationary distribution."""
    centre, leaves = np.zeros(states - 1, dtype=int), np.arange(1, states)
    stay, out = rng.uniform(0.0, 0.9, states - 1), rng.dirichlet(np.ones(states - 1))
    there_and_back = links(states, centre, leaves, out) + links(states, leaves, centre, 1.0 - stay)
    truth = np.concatenate([[1.0], out / (1.0 - stay)])
    return sparse.csr_array(there_and_back + links(states, leaves, leaves, stay)), truth / truth.sum()


def conductances(rng: np.random.Generator, states: int, links: int, spread: float) -> Any:
    """A random sparse symmetric matrix on one ring, with entries between 10^-spread and 1."""
    start = np.concatenate([np.repeat(np.arange(states), links), np.arange(states)])
    end = np.concatenate([rng.integers(0, states, states * links), (np.arange(states) + 1) % states])
    different = start != end
    start, end = start[different], end[different]
    values = 10.0 ** rng.uniform(-spread, 0.0, len(start))
    half = sparse.csr_array((values, (start, end)), shape=(states, states))
    return half + half.T


def reversible(symmetric: Any) -> tuple[Any, Floats]:
    """The walk on weighted links, and its stationary distribution: the sums of the links of each state."""
    sums = symmetric.sum(axis=1)
    return normalised(symmetric), sums / sums.sum()
