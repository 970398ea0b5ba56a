"""The most likely graph behind a released one: post-processing that any reader can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.domains.checks import integer
from veil.domains.graph import Graph
from veil.domains.intake import Floats
from veil.errors import InvalidArgument
from veil.mechanisms.private_graph import PrivateGraph
from veil.mechanisms.randomized_response import RandomizedResponse
from veil.numerics.graphs.decoding import decode_pairs
from veil.releases.record import Release


@dataclass(frozen=True)
class Decoding:
    """A decoded graph. probabilities: of each of its edges to be a true one, as far as the model is right.

    expected_edges: how many true edges there are, estimated. released: how many the release had.
    """

    graph: Graph
    probabilities: Floats
    expected_edges: float
    released: int

    @property
    def precision(self) -> float:
        """The part of the decoded edges that are true, by their probabilities."""
        return float(self.probabilities.mean()) if len(self.probabilities) else 0.0

    @property
    def reconstruction(self) -> float:
        """The part of the true edges that a reader of the release can name: the reconstruction rate."""
        return min(1.0, float(self.probabilities.sum()) / max(self.expected_edges, 1.0))

    def to_dict(self) -> dict[str, Any]:
        return {
            "nodes": self.graph.space.nodes,
            "edges": len(self.graph),
            "expected_edges": self.expected_edges,
            "precision": self.precision,
            "reconstruction_rate": self.reconstruction,
            "released_edges": self.released,
        }


def decoding(release: Release, *, edges: int | None = None) -> Decoding:
    """Decode a released graph; see `decode`."""
    if release.graph is None:
        raise InvalidArgument("release", expected="a released graph", found=release.size)
    graph, mechanism = release.graph, release.mechanism
    if not isinstance(mechanism, (RandomizedResponse, PrivateGraph)):
        raise InvalidArgument("release", expected="a graph by randomised response", found=mechanism.name)
    if edges is not None:
        edges = integer("edges", edges, least=0)
        if edges > graph.space.count:
            expected = f"at most the {graph.space.count:,} pairs there are"
            raise InvalidArgument("edges", expected=expected, found=str(edges))
    wanted = edges
    if wanted is None and "edges" in release.tables:
        # Asked directly, it is known far better than the release tells.
        wanted = int(np.clip(release.tables["edges"][0], 0, graph.space.count))
    found = decode_pairs(space=graph.space, codes=graph.codes, flip=mechanism.flip_rate, edges=wanted)
    known = float(release.tables["edges"][0]) if "edges" in release.tables else found.expected_edges
    return Decoding(graph.replaced(found.codes), found.probabilities, known, len(graph))


def decode(release: Release, *, edges: int | None = None) -> Any:
    """The most likely graph behind a released one, in the form that the graph came in.

    edges: how many to keep; None for as many as are estimated.

    Randomised response flips pairs one by one, but a graph has structure: groups, hubs. What the noisy pairs
    say together tells for each pair how probable an edge is. Where a graph has no structure nothing is
    gained. It costs no privacy, and what it finds any reader of the release can find.

    >>> import networkx, veil
    >>> groups = networkx.planted_partition_graph(4, 30, 0.6, 0.02, seed=1)
    >>> found = veil.decode(veil.release_graph(groups, epsilon=2.0, rng=3))
    >>> shared = sum(groups.has_edge(*edge) for edge in found.edges)
    >>> shared / found.number_of_edges() > 0.5
    True
    """
    return decoding(release, edges=edges).graph.as_given()
