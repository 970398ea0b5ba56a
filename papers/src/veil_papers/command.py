"""veil papers: what five papers print, made anew, and Veil's numbers beside theirs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veil.cli import options
from veil.cli.output import print_json

if TYPE_CHECKING:
    from veil_papers.reproduction.runner import Shown


def papers(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="DS, MD, DC, ST or XO; all five unless given.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A folder for the pages and the results.")
    ] = Path("papers"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions: minutes instead of an hour.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="A folder with the real data; named stand-ins take its place elsewhere."),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Compute everything again, also what an earlier run left.")
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Reproduce the papers: their number, our number, why they differ. Writes a page for each, and an index.

    Example: veil papers --quick -o papers

    A run that was stopped goes on where it was: every finished table and figure is kept in the folder.
    """
    from veil.core.files import write_text
    from veil_papers.reproduction.catalogue import papers_named
    from veil_papers.reproduction.data import Data
    from veil_papers.reproduction.exhibit import Run
    from veil_papers.reproduction.pages import counts, index_page, page_name, paper_page
    from veil_papers.reproduction.runner import run_all

    chosen = papers_named(name)
    found = Data.of(data)
    folder = _folder(output)
    total = sum(len(paper.exhibits) for paper in chosen)
    shown: list[Shown] = []
    with _bar(total, quiet=as_json) as (begun, tell):
        shown += run_all(chosen, Run(quick, found, tell), folder, begun=begun, anew=anew)
    written = []
    for paper in chosen:
        mine = [one for one in shown if one.paper.key == paper.key]
        write_text(folder / page_name(paper), paper_page(paper, mine, quick=quick), overwrite=True)
        written.append(str(folder / page_name(paper)))
    if name is None:
        write_text(folder / "index.html", index_page(chosen, shown, quick=quick), overwrite=True)
        written.insert(0, str(folder / "index.html"))
    if as_json:
        print_json(
            {"written": written, "printed": counts(shown), "exhibits": [_as_json(one) for one in shown]}
        )
        return
    from veil_papers.reproduction.console import print_papers

    print_papers(shown, written)


def _folder(path: Path) -> Path:
    from veil.core.errors import InvalidArgument

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgument(
            "--output", expected="a folder to write to", found=error.strerror or "none"
        ) from None
    return path


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """A bar over the tables and figures, on standard error; on a pipe a line for each."""
    if quiet or not sys.stderr.isatty():
        done = 0

        def say(name: str) -> None:
            nonlocal done
            done += 1
            if not quiet:
                print(f"[{done}/{total}] {name}", file=sys.stderr, flush=True)

        yield say, lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, completed=-1)

        def begun(name: str) -> None:
            progress.update(task, advance=1, description=name)

        yield begun, lambda step: progress.update(task, description=step)


def _as_json(one: Shown) -> dict[str, object]:
    return {
        "paper": one.paper.key,
        "name": one.exhibit.name,
        "seconds": round(one.seconds, 2),
        "kept": one.kept,
        **one.finding.to_dict(),
    }
