"""The most likely graph behind a released one: post-processing that any reader can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.core.checks import integer, truth
from veil.core.errors import InvalidArgument
from veil.core.intake import Floats
from veil.core.record import Release
from veil.graphs.estimation import graph_estimates
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.numerics.decoding import pair_chances
from veil.graphs.numerics.within_degrees import likeliest_within

# Wrong pairs to be expected, below which the release is taken as it is.
_FEWEST_FLIPS = 1e-6


@dataclass(frozen=True)
class Decoding:
    """A decoded graph. probabilities: of each of its edges to be a true one, as far as the model is right.

    expected_edges: how many true edges there are, estimated. named: how many of them the likeliest pairs
    hold, as many pairs as there are edges. released: how many edges the release had. says_little: the number
    of edges is hardly known, so that neither is what was found of them.
    """

    graph: Graph
    probabilities: Floats
    expected_edges: float
    named: float
    released: int
    says_little: bool

    @property
    def precision(self) -> float:
        """The part of the decoded edges that are true, by their probabilities."""
        return float(self.probabilities.mean()) if len(self.probabilities) else 0.0

    @property
    def reconstruction(self) -> float:
        """The part of the true edges that a reader of the release can name, however many are kept here."""
        return min(1.0, self.named / max(self.expected_edges, 1.0))

    def to_dict(self) -> dict[str, Any]:
        return {
            "nodes": self.graph.space.nodes,
            "edges": len(self.graph),
            "expected_edges": self.expected_edges,
            "precision": self.precision,
            "reconstruction_rate": None if self.says_little else self.reconstruction,
            "released_edges": self.released,
        }


def decoding(release: Release, *, edges: int | None = None, agree: bool = False) -> Decoding:
    """Decode a released graph; see `decode`."""
    if not isinstance(release, Release):
        raise InvalidArgument("release", expected="a veil.Release", found=type(release).__name__)
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
    agree = truth("agree", agree)
    reading = graph_estimates(release)
    if agree and edges is not None:
        raise InvalidArgument("edges", expected="none where degrees are to agree", found=str(edges))
    if agree:
        # Refused here, before the work, if they were not asked.
        _ = reading.falling_degrees
    # Asked directly, it may be known far better than the release tells.
    known = reading.edges.value
    # Where hardly a pair is wrong there is nothing to decode, and nothing to learn the noise from.
    flip = mechanism.flip_rate if mechanism.flip_rate * graph.space.count > _FEWEST_FLIPS else 0.0
    chances = pair_chances(space=graph.space, codes=graph.codes, flip=flip)
    likeliest = chances.likeliest(round(known))
    named = float(chances.of(likeliest).sum())
    chosen = likeliest if edges is None else chances.likeliest(edges)
    if agree:
        chosen = likeliest_within(chances, reading.falling_degrees)
    return Decoding(graph.replaced(chosen), chances.of(chosen), known, named, len(graph), reading.says_little)


def decode(release: Release, *, edges: int | None = None, agree: bool = False) -> Any:
    """The most likely graph behind a released one.

    edges: how many to keep; None for as many as are estimated. agree: make its degrees agree with those that
    were asked directly; degrees and triangles are then far closer to the truth, the groups less clear.

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
    return decoding(release, edges=edges, agree=agree).graph
