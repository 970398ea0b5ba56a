"""veil inspect: what a release file is and what it guarantees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veil.cli import options
from veil.cli.output import check_ending, print_json, refuse_existing, refuse_other_files, working
from veil.core.errors import UnreadableFile

if TYPE_CHECKING:
    from veil.core.record import Release


def _words_beside(release: Release, record: Path) -> Release:
    """The release with the words of the table beside its record, which must be the one that was written."""
    from veil.words.batch import WordBatch
    from veil.words.files import column_names
    from veil.words.language import Language
    from veil.words.reading import read_words

    held = release.value
    assert isinstance(release.domain, Language)
    if not held.is_beside(record):
        raise UnreadableFile(held.file, expected="the table that was written beside the record", found="none")
    table = record.parent / held.file
    *keys, order, state = column_names(table)
    found = read_words(str(table), by=keys, order=order, state=state, states=list(release.domain.labels))
    return replace(release, value=WordBatch(found.states, found.codes, found.lengths))


def _page(release: Release, path: Path) -> str:
    from veil.matrices.stochastic import StochasticMatrix

    if release.is_words:
        from veil.words.codec import WordsElsewhere
        from veil.words.report.page import WordReport

        if isinstance(release.value, WordsElsewhere):
            release = _words_beside(release, path)
        return WordReport.of(release).html()
    if release.is_bits and (release.graph is not None or release.is_facts):
        from veil.graphs.report.page import GraphReport

        return GraphReport.of(release).html()
    if release.is_bits:
        from veil.bits.report.page import BitReport

        return BitReport.of(release).html()
    if isinstance(release.domain, StochasticMatrix) or release.is_matrix:
        from veil.matrices.report.chain import ChainReport

        return ChainReport.of_release(release).html()
    from veil.vectors.report.page import VectorReport

    return VectorReport.of(release).html()


def _size(release: Release) -> dict[str, Any]:
    """How much was released, for machines."""
    if release.is_words:
        return {"words": 1 if isinstance(release.value, tuple) else len(release.value)}
    if release.graph is not None:
        graph = release.graph
        return {"kind": graph.space.kind, "nodes": graph.space.nodes, "edges": len(graph)}
    return {"facts": list(release.tables)} if release.is_facts else {"shape": release.array.shape}


def inspect(
    path: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file (.json).")],
    report: options.ReportOption = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """What is this file, and what does it guarantee? The guarantee is computed anew.

    Example: veil inspect private.json --report private.html
    """
    from veil.core.claims import claim_of
    from veil.core.entries import entry_to_json
    from veil.core.files import load, write_text
    from veil.words.codec import WordsElsewhere

    check_ending("--report", report, (".html",))
    refuse_existing({"--report": report}, force=force, inputs=[path])
    refuse_other_files(path)
    release = load(path)
    claim = claim_of(release, str(path))
    beside = release.value.is_beside(path) if isinstance(release.value, WordsElsewhere) else None
    if report is not None:
        with working("Drawing the report", quiet=as_json):
            write_text(report, _page(release, path), overwrite=force)
    if as_json:
        print_json(
            {
                "file": str(path),
                "mechanism": release.mechanism.describe(),
                "adjacency": release.adjacency.describe(),
                "domain": release.domain.describe(),
                "privacy": {"epsilon": release.epsilon, "delta": release.delta, "kind": release.profile.kind},
                "computed_epsilon": claim.epsilon,
                "verified": claim.holds,
                "assumptions": list(release.assumptions),
                "assumptions_left_out": list(claim.missing),
                "reproducible": release.reproducible,
                "entry": entry_to_json(release.entry),
                **_size(release),
                **({} if beside is None else {"table_is_the_one_written": beside}),
                "created": release.created,
                "veil": release.version,
            }
        )
    else:
        from veil.report.console import print_inspection

        print_inspection(release, computed=claim.epsilon, missing=list(claim.missing))
        if isinstance(release.value, WordsElsewhere):
            is_it = "is" if beside else "is NOT"
            what = "was not found" if beside is None else f"{is_it} the one that was written"
            print(f"The table {release.value.file} beside it {what}.")
    if not claim.holds or beside is False:
        raise typer.Exit(4)
