"""The report of a released graph: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.privacy.beliefs import beliefs, best_guess
from veil.core.record import Release
from veil.graphs.estimation import GraphReading, estimates, out_degrees
from veil.graphs.graph import Graph
from veil.graphs.likely_graph import Decoding, decoding
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.pairs import Codes
from veil.graphs.planning import GraphPlan
from veil.graphs.report.figures import degrees_figure, edges_figure, facts_figure
from veil.report import figures
from veil.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Decoding takes some ten seconds for so many nodes.
MOST_DECODED = 6_000


@dataclass(frozen=True)
class GraphReport:
    """All that the page shows, computed from the release and public facts alone.

    reading: None for a graph by the published mechanism, of which nothing is estimated.
    """

    release: Release[Any]
    reading: GraphReading | None
    decoded: Decoding | None

    @classmethod
    def of(cls, release: Release[Any]) -> GraphReport:
        """Post-processing: costs no privacy."""
        if isinstance(release.mechanism, XorGraph):
            return cls(release, None, None)
        reading = estimates(release)
        fits = reading.graph is not None and reading.graph.space.nodes <= MOST_DECODED
        return cls(release, reading, decoding(release) if fits else None)

    @property
    def graph(self) -> Graph | None:
        """The released graph; None where facts were released alone."""
        return self.release.value if isinstance(self.release.value, Graph) else None

    @property
    def shows_decoded(self) -> bool:
        """Whether what decoding found means anything."""
        return self.decoded is not None and not self.decoded.says_little

    @cached_property
    def plan(self) -> GraphPlan | None:
        """What was to be expected of a graph with as many edges as are estimated."""
        if self.graph is None or self.reading is None:
            return None
        mechanism = self.release.mechanism
        if not isinstance(mechanism, PrivateGraph):
            mechanism = PrivateGraph(self.release.epsilon)
        return GraphPlan(self.graph.space, self.release.epsilon, round(self.reading.edges.value), mechanism)

    def html(self) -> str:
        """The page."""
        reading = self.reading
        shows_degrees = reading is not None and (self.graph is not None or "degrees" in self.release.tables)
        return page(
            "graph.html",
            package="veil.graphs.report",
            report=self,
            release=self.release,
            graph=self.graph,
            guess=best_guess(self.release.profile),
            beliefs=beliefs(self.release.worst_loss),
            edges="" if reading is None or reading.false_share is None else figures.svg(self._edges(reading)),
            degrees=figures.svg(value_figure(self.release)) if shows_degrees else "",
        )

    def _edges(self, reading: GraphReading) -> Figure:
        assert self.graph is not None
        total, share = max(len(self.graph), 1), reading.false_share or 0.0
        return edges_figure((1.0 - share) * total, share * total)


def value_figure(release: Release[Any]) -> Figure:
    """The degrees of a released graph, or the facts that were released in its place."""
    if isinstance(release.mechanism, XorGraph):
        return degrees_figure(None, _shares(out_degrees(release.value)), direct=False)
    reading = estimates(release)
    if reading.graph is None and "degrees" not in release.tables:
        return facts_figure([fact for fact in reading.facts if fact.name in release.tables])
    released = None if reading.graph is None else _shares(reading.released_degrees())
    return degrees_figure(reading.degree_distribution, released, direct="degrees" in release.tables)


def _shares(degrees: Codes) -> Floats:
    """The share of nodes with degree 0, 1, 2 ..."""
    return np.bincount(degrees) / max(1, len(degrees))
