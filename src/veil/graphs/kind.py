"""Graphs as a kind of data: friendships, contacts, links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from veil.bits.adjacency import BitFlips
from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.brief import card_rows
from veil.core.errors import InvalidArgument
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import Mechanism
from veil.core.record import Release, Tables
from veil.core.request import PlanRequest
from veil.graphs.files import EDGE_FILES
from veil.graphs.graph import NODES_ARE_PUBLIC, Graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from veil.core.request import ReleaseRequest

# Beyond so many released edges a notebook would wait for the estimates.
_MOST_READ = 200_000


class GraphKind(Kind):
    """Graphs: friendships, contacts, links."""

    name = "graph"
    module = "veil.graphs"
    description = "graphs: friendships, contacts, links"
    built_on = ("bits",)
    mechanisms: ClassVar[Places] = {
        "PrivateGraph": "veil.graphs.mechanisms.private_graph:PrivateGraph",
        "RandomizedResponse": "veil.graphs.mechanisms.randomized_response:RandomizedResponse",
        "XorGraph": "veil.graphs.mechanisms.xor_graph:XorGraph",
    }
    domains: ClassVar[Places] = {"Graphs": "veil.graphs.graph:Graphs"}
    short_adjacencies: ClassVar[Any] = {"edge": lambda _: BitFlips(1)}
    read_request = "veil.graphs.requests:GraphRead"
    release_request = "veil.graphs.requests:GraphRelease"
    plan_request = "veil.graphs.requests:GraphPlanning"
    release_printer = "veil.graphs.report.console:print_graph_release"
    audit_subject = "veil.graphs.auditing:GraphAudit"
    table_endings = EDGE_FILES
    commands: ClassVar[Places] = {"decode": "veil.graphs.likely_graph:Decode"}

    def check(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> None:
        from veil.graphs.codec import check_node_labels

        check_node_labels(valid)

    def stated_epsilon(self, mechanism: Any) -> float | None:
        return getattr(mechanism, "epsilon", None)

    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        return (*mechanism.assumptions(adjacency), NODES_ARE_PUBLIC)

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        from veil.graphs.findings import graph_findings

        return graph_findings(job)

    def released(self, drawn: Any, valid: Any) -> Content:
        if isinstance(drawn, Graph):
            return Content(drawn)
        return Content(drawn.tables if drawn.graph is None else drawn.graph, tables=drawn.tables)

    def frozen(self, value: Any, tables: Tables) -> Any:
        return tables if isinstance(value, Mapping) else value

    def texts(self, job: Job[Any]) -> Mapping[str, Iterable[Any]]:
        return {"nodes": job.value.labels or (), "columns": job.value.column_labels or ()}

    def wrote(self, content: Mapping[str, Any]) -> bool:
        return super().wrote(content) and content["value"]["type"] in ("graph", "facts")

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        from veil.graphs.codec import graph_to_json

        return {"type": "facts"} if _is_facts(release) else graph_to_json(release.value)

    def digested(self, release: Release[Any]) -> dict[str, Any]:
        from veil.graphs.codec import graph_digested

        return {"type": "facts"} if _is_facts(release) else graph_digested(release.value)

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        from veil.graphs.codec import facts_from_json, graph_from_json

        statistics = getattr(mechanism, "statistics", ())
        if getattr(mechanism, "share", 0.0) == 1.0:
            tables = facts_from_json(content["tables"], statistics, None)
            return Content(tables, tables=tables)
        # No graph of other nodes, or of a kind that the mechanism does not take.
        graph = mechanism.validate(graph_from_json(content["value"]))
        return Content(graph, tables=facts_from_json(content.get("tables", {}), statistics, graph))

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        if _is_facts(release):
            facts = release.tables.items()
            return ("fact", "number"), [(key, number) for key, table in facts for number in table.tolist()]
        return ("origin", "destination"), release.value.labelled_edges()

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        header, lines = self.rows(release)
        return pandas.DataFrame(lines, columns=list(header))

    def check_output(self, path: Path, job: Job[Any], *, csv_safe: bool = False) -> None:
        from veil.graphs.files import check_labels

        if job.request.share != 1.0:
            check_labels(path, job.value, csv_safe=csv_safe)

    def write_table(
        self, path: Path, release: Release[Any], job: Job[Any], *, overwrite: bool, csv_safe: bool = False
    ) -> Release[Any]:
        from veil.graphs.files import write_graph

        if _is_facts(release):
            return super().write_table(path, release, job, overwrite=overwrite, csv_safe=csv_safe)
        write_graph(path, release.value, overwrite=overwrite, csv_safe=csv_safe)
        return release

    def endings(self, request: ReleaseRequest, output: Path | None) -> tuple[str, ...]:
        return (".csv",) if getattr(request, "share", None) == 1.0 else self.table_endings

    def size(self, release: Release[Any]) -> str:
        if _is_facts(release):
            return f"facts about a graph: {', '.join(release.tables)}"
        space, edges = release.value.space, len(release.value)
        return f"{space.kind} graph, {space.nodes:,} nodes, {edges:,} edges"

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        if _is_facts(release):
            return {"facts": list(release.tables)}
        space = release.value.space
        return {"graph": space.kind, "nodes": space.nodes, "edges": len(release.value)}

    def neighbours(self, release: Release[Any]) -> str:
        if not isinstance(release.adjacency, BitFlips):
            return release.adjacency.words
        count = release.adjacency.count
        edges = "one edge" if count == 1 else f"at most {count} edges"
        return f"two graphs on the same nodes that differ in {edges}"

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        from veil.graphs.estimation import estimates
        from veil.graphs.mechanisms.xor_graph import XorGraph
        from veil.graphs.planning import baseline_of

        if _is_facts(release) or isinstance(release.mechanism, XorGraph):
            return ()
        reading = estimates(release)
        pairs = release.value.space.count
        wrong, edges = reading.flip_rate * pairs, min(max(0.0, reading.edges.value), float(pairs))
        # Where not even the number of edges is known, nothing else is.
        return (baseline_of(edges, max(wrong, edges) if reading.says_little else wrong),)

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        from veil.graphs.mechanisms.xor_graph import XorGraph
        from veil.graphs.planning import supposed_baseline

        mechanism: Any = job.mechanism
        if isinstance(mechanism, XorGraph) or getattr(mechanism, "share", None) == 1.0:
            return ()
        return (supposed_baseline(job.value.space, mechanism.flip_rate),)

    def check_plot(self, request: PlanRequest) -> None:
        if not getattr(request, "edges", None):
            raise InvalidArgument("edges", expected="about how many, to draw errors", found="none")
        if getattr(request, "share", None) == 1.0:
            raise InvalidArgument("share", expected="less than 1, to draw errors of a graph", found="1")

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Figure:
        from veil.graphs.report.page import plans_figure

        return plans_figure(plans, chosen)

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.graphs.report.page import graph_page

        return graph_page(release)

    def card(self, release: Release[Any]) -> str:
        from veil.graphs.estimation import estimates
        from veil.graphs.mechanisms.xor_graph import XorGraph
        from veil.report.page import number

        size = card_rows((), [(self.size(release),)])
        large = not _is_facts(release) and len(release.value) > _MOST_READ
        if isinstance(release.mechanism, XorGraph) or large:
            return size
        lines = [
            (fact.name, number(fact.value), f"{number(fact.low)} to {number(fact.high)}")
            for fact in estimates(release).facts
        ]
        return size + card_rows(("of the true graph", "estimate", "95 % interval"), lines)

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.graphs.report.views import graph_views

        return graph_views(release)

    def plot(self, release: Release[Any]) -> Figure:
        from veil.graphs.report.page import value_figure

        return value_figure(release)


def _is_facts(release: Release[Any]) -> bool:
    """Whether facts about a graph were released without the graph."""
    return isinstance(release.value, Mapping)
