"""Where the nodes of a drawn graph go: the same graph is always drawn in the same way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

_ROUNDS = 200
# Of a part that stands alone, the room around it, in lengths of an edge.
_ROOM = 1.0
# How much alike the directions of edges are, up to quarter turns, from which they are those of a grid.
_GRID = 0.5
# Of the angle between two seeds of a sunflower.
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))


def spread(edges: Any, count: int) -> Floats:
    """Places in the plane such that nodes are as far apart as the steps between them (least stress).

    edges: pairs of numbers of nodes. Parts that hang together by no edge are set beside each other.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, shortest_path

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    joined = coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(count, count)).tocsr()
    parts, member = connected_components(joined, directed=False)
    placed = []
    for part in range(parts):
        nodes = np.flatnonzero(member == part)
        steps = shortest_path(joined[nodes][:, nodes], directed=False, unweighted=True)
        at = _least_stress(steps)
        ends = np.searchsorted(nodes, pairs[member[pairs[:, 0]] == part])
        placed.append((nodes, _turned(at, ends)))
    return _beside(placed, count)


def _least_stress(steps: Floats) -> Floats:
    """Classical scaling, then majorisation of the stress with weights 1 / steps^2 (Gansner and others)."""
    size = len(steps)
    if size == 1:
        return np.zeros((1, 2))
    if size == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    middle = np.eye(size) - 1.0 / size
    values, vectors = np.linalg.eigh(-0.5 * middle @ steps**2 @ middle)
    # The sign of a direction is nobody's choice: its largest entry is above zero.
    vectors = vectors[:, [-1, -2]]
    vectors = vectors * np.sign(vectors[np.argmax(np.abs(vectors), axis=0), [0, 1]])
    at = vectors * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    # Nodes at one place would never part: each a little aside, in an order of its own.
    angles = _GOLDEN * np.arange(size)
    at = at + 0.01 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = 1.0 / np.where(steps > 0.0, steps, 1.0) ** 2
    np.fill_diagonal(weights, 0.0)
    system = np.diag(weights.sum(axis=1)) - weights + 1.0 / size
    inverse = np.linalg.inv(system)
    for _ in range(_ROUNDS):
        apart = at[:, None, :] - at[None, :, :]
        lengths = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-9)
        pull = weights * steps / lengths
        after = inverse @ (pull[:, :, None] * apart).sum(axis=1)
        if np.abs(after - at).max() < 1e-4:
            return np.asarray(after)
        at = after
    return np.asarray(at)


def _turned(at: Floats, ends: NDArray[np.int64]) -> Floats:
    """Turned such that the edges of a grid go across and up; others are left as they are."""
    ways = at[ends[:, 1]] - at[ends[:, 0]]
    lengths = np.hypot(ways[:, 0], ways[:, 1])
    kept = lengths > 0.0
    if kept.sum() < 2:
        return at
    fourfold = np.exp(4j * np.arctan2(ways[kept, 1], ways[kept, 0])).mean()
    if abs(fourfold) < _GRID:
        return at
    angle = -float(np.angle(fourfold)) / 4.0
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.asarray(at @ np.array([[cosine, sine], [-sine, cosine]]))


def _beside(placed: Sequence[tuple[NDArray[np.int64], Floats]], count: int) -> Floats:
    """The parts in rows, from left to right, the largest first."""
    boxes = []
    for nodes, at in sorted(placed, key=lambda part: (-len(part[0]), int(part[0][0]))):
        low, high = at.min(axis=0), at.max(axis=0)
        boxes.append((nodes, at - low, high - low + _ROOM))
    area = sum(float(size[0] * size[1]) for _, _, size in boxes)
    wide = max(max(float(size[0]) for _, _, size in boxes), 1.35 * math.sqrt(area))
    places = np.zeros((count, 2))
    x = y = tall = 0.0
    for nodes, at, size in boxes:
        if x > 0.0 and x + size[0] > wide + 1e-9:
            x, y, tall = 0.0, y - tall, 0.0
        places[nodes] = at + np.array([x, y - float(size[1])])
        x, tall = x + float(size[0]), max(tall, float(size[1]))
    return places


def packed(sizes: Sequence[float], links: Floats) -> Floats:
    """Centres of discs with these radii that do not overlap, linked ones near each other.

    links: how strongly each two of them belong together. Each is put where it touches two others, as near as
    may be to those that it is linked to; the first ones first.
    """
    radii = np.asarray(sizes, dtype=np.float64)
    gap = 0.12 * float(radii.max(initial=1.0))
    centres = np.zeros((len(radii), 2))
    for place in range(1, len(radii)):
        before, around = centres[:place], radii[:place] + radii[place] + gap
        pull = links[place, :place] + 1e-3 * max(float(links.max()), 1e-12) * radii[:place]
        angles = np.linspace(0.0, 2.0 * math.pi, 48, endpoint=False)
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        tries = (before[:, None, :] + around[:, None, None] * ring[None]).reshape(-1, 2)
        apart = np.sqrt(((tries[:, None, :] - before[None]) ** 2).sum(axis=2))
        free = (apart >= around[None] - 1e-9).all(axis=1)
        cost = np.where(free, apart @ pull + 0.02 * pull.sum() * np.hypot(*tries.T), math.inf)
        centres[place] = tries[int(np.argmin(cost))]
    return centres


def sunflower(count: int) -> Floats:
    """So many places in a disc of radius 1, evenly, the first in its middle."""
    radii = np.sqrt((np.arange(count) + 0.3) / max(count, 1))
    angles = _GOLDEN * np.arange(count)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
