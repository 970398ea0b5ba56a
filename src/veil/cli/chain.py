"""veil chain: everything one asks of a Markov chain."""

from __future__ import annotations

from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import check_ending, print_json, refuse_existing, working


def chain(
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A release (.json), or a public chain: CSV or JSON, - for a pipe."
        ),
    ],
    against: Annotated[
        str | None, typer.Option("--against", help="Another chain on the same states, to compare with.")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Of a release with groups: the chain of this one.")
    ] = None,
    report: options.ReportOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Analyse a chain, released or public: stationary distribution, mixing, classes, pictures.

    Example: veil chain private.json --report chain.html

    Of a release it also gives error bars for the true chain, from public information alone.
    """
    from veil.core.files import write_text
    from veil.matrices.chain_facts import read_chain
    from veil.matrices.report.chain import ChainReport

    check_ending("--report", report, (".html",))
    refuse_existing({"--report": report}, force=force, inputs=[path] if against is None else [path, against])
    with working("Analysing", quiet=as_json):
        found, release = read_chain(path, group)
        page = ChainReport.of(found, release, group=group)
        comparison = None if against is None else found.compare(read_chain(against)[0])
    if report is not None:
        with working("Drawing the report", quiet=as_json):
            write_text(report, page.html(), overwrite=force)
    if as_json:
        content = page.to_dict()
        print_json(content if comparison is None else content | {"comparison": comparison.to_dict()})
        return
    from veil.matrices.report.console_chain import print_chain, print_comparison_of_chains

    print_chain(page)
    if comparison is not None:
        print_comparison_of_chains(comparison, str(against))
    if report is not None:
        print(f"Written: {report}")
