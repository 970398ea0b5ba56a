"""veil decode: the most likely graph behind a released one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import check_ending, print_json, refuse_existing, refuse_other_files, working
from veil.cli.release_graph import TABLES, write_graph
from veil.core.errors import InvalidArgument


def decode(
    path: Annotated[Path, typer.Argument(metavar="RELEASE", help="The record of a released graph (.json).")],
    edges: Annotated[
        int | None,
        typer.Option("--edges", "-m", min=0, help="How many edges to keep; else as many as are estimated."),
    ] = None,
    agree: Annotated[
        bool,
        typer.Option("--agree", help="Make its degrees agree with those asked directly (--with degrees)."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write the edges: .txt, .csv, .tsv (also .gz), .parquet."
        ),
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """The most likely graph behind a released one. It costs no privacy: any reader could do it.

    Example: veil decode private.json -o likely.txt

    Most edges of a release at small epsilon are false. Decoding looks for structure, groups and hubs, and
    keeps the pairs that are probably joined. Where there is no structure it cannot help, and says so.
    """
    from veil.core.files import load
    from veil.graphs.likely_graph import decoding

    check_ending("--output", output, TABLES)
    refuse_existing({"--output": output}, force=force, inputs=[path])
    refuse_other_files(path)
    release = load(path)
    if release.graph is None:
        raise InvalidArgument("RELEASE", expected="a released graph", found=release.size)
    with working("Decoding", quiet=as_json):
        found = decoding(release, edges=edges, agree=agree)
    if output is not None:
        with working("Writing", quiet=as_json):
            write_graph(output, found.graph, overwrite=force)
    if as_json:
        content = found.to_dict() | {"written": None if output is None else str(output)}
        if output is None:
            content["data"] = [list(pair) for pair in found.graph.labelled_edges()]
        print_json(content)
        return
    from veil.graphs.report.console import print_decoding

    print_decoding(found, release, written=output)
