"""The most likely graph behind a released one, post-processing that any reader can do; and its command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import integer, truth
from veil.core.errors import InvalidArgument
from veil.core.kind import Progress
from veil.core.record import Release
from veil.core.request import CSV_SAFE, CommandRequest, option
from veil.graphs.estimation import estimates
from veil.graphs.files import EDGE_FILES, write_graph
from veil.graphs.graph import Graph
from veil.graphs.numerics.decoding import likeliest_within, pair_chances

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

    __repr__ = brief_repr

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


def decoding(release: Release[Any], *, edges: int | None = None, agree: bool = False) -> Decoding:
    """Decode a released graph, with how probable each edge of it is; see `decode`."""
    reading = estimates(release)
    graph = reading.graph
    if graph is None:
        raise InvalidArgument("release", expected="a released graph", found=release.size)
    if edges is not None:
        edges = integer("edges", edges, least=0)
        if edges > graph.space.count:
            expected = f"at most the {graph.space.count:,} pairs there are"
            raise InvalidArgument("edges", expected=expected, found=str(edges))
    agree = truth("agree", agree)
    if agree and edges is not None:
        raise InvalidArgument("edges", expected="none where degrees are to agree", found=str(edges))
    # Refused here, before the work, if they were not asked.
    falling = reading.falling_degrees if agree else None
    # Asked directly, it may be known far better than the release tells.
    known = reading.edges.value
    # Where hardly a pair is wrong there is nothing to decode, and nothing to learn the noise from.
    flip = reading.flip_rate if reading.flip_rate * graph.space.count > _FEWEST_FLIPS else 0.0
    chances = pair_chances(space=graph.space, codes=graph.codes, flip=flip)
    likeliest = chances.likeliest(round(known))
    named = float(chances.of(likeliest).sum())
    chosen = likeliest if edges is None else chances.likeliest(edges)
    if falling is not None:
        chosen = likeliest_within(chances, falling)
    return Decoding(graph.replaced(chosen), chances.of(chosen), known, named, len(graph), reading.says_little)


def decode(release: Release[Any], *, edges: int | None = None, agree: bool = False) -> Graph:
    """The most likely graph behind a released one.

    edges: how many to keep; None for as many as are estimated. agree: make its degrees agree with those that
    were asked directly; degrees and triangles are then far closer to the truth, the groups less clear.

    Randomised response flips pairs one by one, but a graph has structure: groups, hubs. What the noisy pairs
    say together tells for each pair how probable an edge is. Where a graph has no structure nothing is
    gained. It costs no privacy, and what it finds any reader of the release can find.

    >>> import networkx
    >>> from veil import graphs
    >>> groups = networkx.planted_partition_graph(4, 30, 0.6, 0.02, seed=1)
    >>> found = graphs.decode(graphs.release(groups, epsilon=2.0, rng=3))
    >>> shared = sum(groups.has_edge(*edge) for edge in found.labelled_edges())
    >>> shared / len(found) > 0.5
    True
    """
    return decoding(release, edges=edges, agree=agree).graph


@dataclass(frozen=True, kw_only=True)
class Decode(CommandRequest):
    """Find the most likely graph behind a released one. It costs no privacy: any reader could do it.

    Most edges of a release at small epsilon are false. Decoding looks for structure, groups and hubs, and
    keeps the pairs that are probably joined. Where there is no structure it cannot help, and says so.
    """

    examples = (("", {"source": "private.json", "output": "likely.txt"}),)

    source: Path = option(help="The record of a released graph (.json).", flag="RELEASE")
    edges: int | None = option(
        None, help="How many edges to keep; as many as are estimated unless given.", short="-m", least=0
    )
    agree: bool = option(False, help="Make its degrees agree with those that were asked directly.")
    output: Path | None = option(
        None,
        help="Where to write the edges: .txt, .csv, .tsv (also .gz), .parquet.",
        short="-o",
        group="Output",
    )

    csv_safe: bool = option(False, help=CSV_SAFE, group="Output")

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, EDGE_FILES)}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> DecodedFile:
        from veil.core.files import load

        release = load(self.source)
        if not isinstance(release.value, Graph):
            raise InvalidArgument("source", expected="a released graph", found=release.size)
        decoded = decoding(release, edges=self.edges, agree=self.agree)
        if self.output is not None:
            write_graph(self.output, decoded.graph, overwrite=overwrite, csv_safe=self.csv_safe)
        return DecodedFile(decoded, release, self.output)


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """A decoded graph, and where it was written."""

    decoded: Decoding
    release: Release[Any]
    output: Path | None

    def to_dict(self) -> dict[str, Any]:
        content = self.decoded.to_dict() | {"written": None if self.output is None else str(self.output)}
        if self.output is None:
            content["data"] = [list(pair) for pair in self.decoded.graph.labelled_edges()]
        return content

    def show(self) -> None:
        from veil.graphs.report.console import print_decoding

        print_decoding(self.decoded, self.release, written=self.output)
