"""Commands on released graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.kind import Progress
from veil.core.record import Release
from veil.core.request import CommandRequest, option
from veil.graphs.files import EDGE_FILES, write_graph
from veil.graphs.graph import Graph
from veil.graphs.likely_graph import Decoding, decoding


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

    @property
    def inputs(self) -> tuple[str, ...]:
        return (str(self.source),)

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, EDGE_FILES)}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> DecodedFile:
        from veil.core.files import load

        release = load(self.source)
        if not isinstance(release.value, Graph):
            raise InvalidArgument("source", expected="a released graph", found=release.size)
        found = decoding(release, edges=self.edges, agree=self.agree)
        if self.output is not None:
            write_graph(self.output, found.graph, overwrite=overwrite)
        return DecodedFile(found, release, self.output)


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """A decoded graph, and where it was written."""

    found: Decoding
    release: Release[Any]
    output: Path | None

    def to_dict(self) -> dict[str, Any]:
        content = self.found.to_dict() | {"written": None if self.output is None else str(self.output)}
        if self.output is None:
            content["data"] = [list(pair) for pair in self.found.graph.labelled_edges()]
        return content

    def show(self) -> None:
        from veil.graphs.report.console import print_decoding

        print_decoding(self.found, self.release, written=self.output)
