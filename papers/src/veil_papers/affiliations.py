"""Communities as the XOR paper finds them (Section 8.4): the adjacency matrix as a product of two equal
non-negative factors.

The paper names BIGCLAM (Yang and Leskovec, WSDM 2013), which fits 1 - exp(-H H') to the edges by likelihood.
Its published code does something simpler, and so does this module: A is nearly H H', by squares, with H >= 0
of n rows and K columns, and a node belongs to the community in which its row of H is largest.

Start. A is nearly W X by alternating least squares: X solves W'W X = W'A and W' solves X X' W' = X A, with
what is negative set to 0 each time. The rows of X are scaled to length one, and W is where H starts.

Steps. H <- H (1 - b + b A H / (H H' H)), entry by entry, b = 1/2 (Ding, He and Simon, SDM 2005). An entry
with H H' H = 0 becomes 0, so a node without edges has a row of zeros and is counted to the first community.
Steps come nearer to A as a rule; where H H' H is nearly 0, in very sparse graphs, one may lead away for a
while.

The result depends on the random start: several have to be drawn to say what it finds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from veil.core.arrays import Floats
from veil.core.random.streams import Rng
from veil.graphs.numerics.triangles import Integers, Neighbours

# Steps of either kind, and the changes at which they end, as in the published code.
_STEPS = 100
_START_CHANGE, _CHANGE = 1e-4, 1e-3
_DAMPING = 0.5
# From this share of pairs on, products with a full matrix are quicker than with a sparse one.
_FULL = 0.03


class Affiliations(NamedTuple):
    """The factor H, and how far H H' is from the matrix, as a share of its norm, after every step."""

    factor: Floats
    errors: Floats

    @property
    def labels(self) -> Integers:
        """The community of every node."""
        return np.asarray(self.factor.argmax(axis=1), dtype=np.int64)


def affiliations(graph: Neighbours, communities: int, rng: Rng, *, steps: int = _STEPS) -> Affiliations:
    """The factor of a graph's adjacency matrix with so many columns."""
    matrix = _matrix(graph)
    factor = _start(matrix, communities, rng, steps)
    above, own = _times(matrix, factor), float(len(graph.nodes))
    errors = [_error(own, factor, above)]
    for _ in range(steps):
        below = factor @ (factor.T @ factor)
        ratio = np.divide(above, below, out=np.zeros_like(factor), where=below > 0.0)
        moved = factor * (1.0 - _DAMPING + _DAMPING * ratio)
        change = float(np.linalg.norm(moved - factor))
        factor, above = moved, _times(matrix, moved)
        errors.append(_error(own, factor, above))
        if change < _CHANGE:
            break
    return Affiliations(factor, np.array(errors))


def _matrix(graph: Neighbours) -> Any:
    values = np.ones(len(graph.nodes), dtype=np.float32)
    matrix = csr_array((values, graph.nodes, graph.starts), shape=(graph.size, graph.size))
    return matrix.toarray() if len(graph.nodes) > _FULL * graph.size**2 else matrix.astype(np.float64)


def _times(matrix: Any, factor: Floats) -> Floats:
    # A matrix of zeros and ones loses nothing in half the memory, and is read twice as fast.
    return np.asarray(matrix @ factor.astype(matrix.dtype), dtype=np.float64)


def _start(matrix: Any, communities: int, rng: Rng, steps: int) -> Floats:
    factor = rng.random((matrix.shape[0], communities))
    other = factor
    for _ in range(steps):
        # The matrix is symmetric: W'A is the transpose of A W.
        other = np.maximum(_times(matrix, factor) @ np.linalg.pinv(factor.T @ factor, hermitian=True), 0.0)
        moved = np.maximum(_times(matrix, other) @ np.linalg.pinv(other.T @ other, hermitian=True), 0.0)
        change = float(np.abs(moved - factor).max()) / max(1.0, float(np.abs(factor).max()))
        factor = moved
        if change < _START_CHANGE:
            break
    return np.asarray(factor * np.linalg.norm(other, axis=0))


def _error(own: float, factor: Floats, product: Floats) -> float:
    """|A - H H'| / |A| from own = |A|^2 and the product A H, by |A|^2 - 2 tr(H'AH) + |H'H|^2."""
    square = own - 2.0 * float((factor * product).sum()) + float(np.linalg.norm(factor.T @ factor) ** 2)
    return float(np.sqrt(max(square, 0.0) / own)) if own else 0.0
