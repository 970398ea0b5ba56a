"""veil release graph: a private version of who is joined to whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from veil.cli import charging, options
from veil.cli.keeping import Keeping
from veil.cli.output import AGAIN, working
from veil.core.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from veil.core.record import Release
    from veil.graphs.numerics.pairs import Kind

TABLES = (".txt", ".edges", ".csv", ".tsv", ".txt.gz", ".edges.gz", ".csv.gz", ".tsv.gz", ".parquet", ".pq")

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write: .txt, .csv, .tsv (also .gz) or .parquet, an edge a line (with the record as "
        ".json beside it), or .json.",
    ),
]
KindOption = Annotated[
    str, typer.Option("--kind", help="undirected (a b is b a), directed, or bipartite (two sets of nodes).")
]
WithOption = Annotated[
    str | None,
    typer.Option(
        "--with", help="Facts to ask directly besides, more exact in large graphs: degrees,triangles,edges."
    ),
]
ShareOption = Annotated[
    float | None,
    typer.Option(
        "--share", help="The part of epsilon for --with; 0.1 unless given. 1: no graph, facts only."
    ),
]


def graph(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Edges, two nodes a line: text, CSV, Parquet.")
    ],
    epsilon: options.Epsilon,
    origin: Annotated[str | None, typer.Option("--from", help="The column of the first node.")] = None,
    destination: Annotated[str | None, typer.Option("--to", help="The column of the second node.")] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            help="The public list of nodes: a file with one a line, or N for 0 to N-1; twice for bipartite. "
            "Else those that have an edge, assumed public.",
        ),
    ] = None,
    kind: KindOption = "undirected",
    loops: Annotated[
        str, typer.Option("--loops", help="Edges from a node to itself: refuse, keep or drop.")
    ] = "refuse",
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; else told."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="What separates the cells of a line; else told.")
    ] = None,
    facts: WithOption = None,
    share: ShareOption = None,
    mechanism: Annotated[
        str,
        typer.Option("--mechanism", "-m", help="response, or published: the paper's XOR mechanism."),
    ] = "response",
    alpha: Annotated[
        float, typer.Option("--alpha", help="With published: the part of epsilon for theta, above 0 to 1.")
    ] = 1.0,
    output: OutputOption = None,
    report: options.ReportOption = None,
    ledger: charging.LedgerOption = None,
    dataset: charging.DatasetOption = None,
    part: charging.PartOption = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Release a private graph: friendships, contacts, links. Whether any two nodes are joined is hidden.

    Example: veil release graph edges.txt --epsilon 3 -o private.txt --report private.html

    The edges of the release are mostly false at small epsilon; veil decode finds the likely ones. Facts asked
    directly: veil release graph edges.txt --epsilon 3 --with degrees,triangles,edges -o private.txt
    """
    from veil.core.checks import choice, positive
    from veil.graphs.graph import Graph
    from veil.graphs.job import FOR_GRAPHS, graph_job
    from veil.graphs.numerics.pairs import KINDS
    from veil.graphs.reading import read_edges

    only_facts = share == 1.0
    keeping = Keeping(output, report, force, as_json, (".csv",) if only_facts else TABLES)
    listed = _listed(nodes, kind)
    keeping.check([source, *(name for name in nodes or () if not name.isdigit())])
    account = charging.account_of(ledger, dataset, part)
    again = account is None and output is not None and output.exists()
    positive("epsilon", epsilon)
    choice("kind", kind, KINDS)
    choice("loops", loops, ("refuse", "keep", "drop"))
    choice("mechanism", mechanism, FOR_GRAPHS)
    if mechanism == "published" and report is not None:
        raise InvalidArgument("--report", expected="none with --mechanism published", found="one")
    asked = facts_of(facts)
    with working("Reading", quiet=as_json):
        held = read_edges(
            source,
            origin=origin,
            destination=destination,
            nodes=listed,
            kind=cast("Kind", kind),
            loops=loops,
            header=header,
            delimiter=delimiter,
        )
    if held.space.count < 1:
        raise InvalidData("--nodes", expected="at least two nodes", found=f"{held.space.nodes}")
    graph = Graph(held.space, held.codes, held.labels, held.column_labels)
    if output is not None and keeping.record is not None and not only_facts:
        _check_labels(output, graph)
    job = graph_job(
        graph,
        epsilon=epsilon,
        statistics=asked,
        share=share,
        mechanism=mechanism,
        alpha=alpha,
        read=held.assumptions,
    )
    if dry_run:
        charging.say_dry_run(job, account, as_json=as_json)
        return
    with working("Drawing", quiet=as_json):
        out = job.run(ledger=account, rng=seed)
    written = keeping.write(out, lambda: _page(out), None if only_facts else _edge_writer(out, force=force))
    if as_json:
        return
    from veil.graphs.report.console import print_graph_release

    print_graph_release(out, written=written, stated=epsilon)
    charging.say_charge(account)
    if again:
        print(f"WARNING: {AGAIN}.")


def _page(release: Release) -> str:
    from veil.graphs.report.page import GraphReport

    return GraphReport.of(release).html()


def _edge_writer(release: Release, *, force: bool) -> Any:
    def write(path: Path) -> None:
        write_graph(path, release.graph, overwrite=force)

    return write


def _check_labels(output: Path, graph: Any) -> None:
    """Before the draw: labels that the file cannot hold would make it be paid for and lost."""
    from veil.graphs.files import check_labels

    try:
        check_labels(output, graph.labels, graph.column_labels)
    except InvalidArgument as error:
        raise InvalidArgument(
            "--output", expected=error.expected, found=error.found, hint=error.hint
        ) from None


def write_graph(path: Path, graph: Any, *, overwrite: bool) -> None:
    """The edges of a graph as a table."""
    from veil.graphs.files import write_edges

    rows, columns = graph.edges()
    write_edges(path, graph.labels, rows, columns, column_labels=graph.column_labels, overwrite=overwrite)


def facts_of(text: str | None) -> tuple[str, ...]:
    """The facts that were asked for."""
    from veil.graphs.mechanisms.private_graph import STATISTICS

    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    for name in names:
        if name not in STATISTICS:
            expected = f"some of {','.join(STATISTICS)}"
            raise InvalidArgument("--with", expected=expected, found=repr(name)[:40])
    return names


def _listed(nodes: list[str] | None, kind: str) -> Any:
    """What --nodes stands for: a number of nodes or a file, two of them for a bipartite graph."""
    if not nodes:
        return None
    found = [int(text) if text.isdigit() else text for text in nodes]
    if kind == "bipartite":
        if len(found) != 2:
            raise InvalidArgument("--nodes", expected="twice for a bipartite graph", found=f"{len(found)}")
        return found
    if len(found) != 1:
        raise InvalidArgument("--nodes", expected="once", found=f"{len(found)} times")
    return found[0]
