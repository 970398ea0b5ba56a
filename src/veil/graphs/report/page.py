"""The report of a released graph: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from veil.core.privacy.beliefs import beliefs, best_guess
from veil.core.record import Release
from veil.graphs.estimation import GraphReading, graph_estimates
from veil.graphs.likely_graph import Decoding, decoding
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.planning import GraphPlan
from veil.graphs.report.figures import degrees_figure, edges_figure
from veil.report import figures
from veil.report.page import page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Decoding takes some ten seconds for so many nodes.
MOST_DECODED = 6_000


@dataclass(frozen=True)
class GraphReport:
    """All that the page shows, computed from the release and public facts alone."""

    release: Release
    reading: GraphReading
    decoded: Decoding | None

    @classmethod
    def of(cls, release: Release) -> GraphReport:
        """Post-processing: costs no privacy."""
        graph = release.graph
        fits = graph is not None and graph.space.nodes <= MOST_DECODED
        return cls(release, graph_estimates(release), decoding(release) if fits else None)

    @property
    def shows_decoded(self) -> bool:
        """Whether what decoding found means anything."""
        return self.decoded is not None and not self.decoded.says_little

    @cached_property
    def plan(self) -> GraphPlan | None:
        """What was to be expected of a graph with as many edges as are estimated."""
        graph = self.release.graph
        if graph is None:
            return None
        mechanism = self.release.mechanism
        if not isinstance(mechanism, PrivateGraph):
            mechanism = PrivateGraph(self.release.epsilon)
        return GraphPlan(graph.space, self.release.epsilon, round(self.reading.edges.value), mechanism)

    def html(self) -> str:
        """The page."""
        shows_degrees = self.release.graph is not None or "degrees" in self.release.tables
        return page(
            "graph.html",
            report=self,
            release=self.release,
            guess=best_guess(self.release.profile),
            beliefs=beliefs(self.release.worst_loss),
            edges="" if self.reading.false_share is None else figures.svg(self._edges()),
            degrees=figures.svg(self._degrees()) if shows_degrees else "",
        )

    def _edges(self) -> Figure:
        assert self.release.graph is not None
        total, share = len(self.release.graph), self.reading.false_share or 0.0
        return edges_figure((1.0 - share) * max(total, 1), share * max(total, 1))

    def _degrees(self) -> Figure:
        graph = self.release.graph
        released = None
        if graph is not None:
            seen = self.reading.released_degrees()
            released = np.bincount(seen) / len(seen)
        direct = "degrees" in self.release.tables
        return degrees_figure(self.reading.degree_distribution, released, direct=direct)
