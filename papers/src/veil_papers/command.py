"""veil papers: reproduce what five papers print, and show Veil's numbers beside theirs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from veil.cli.options import JsonOption, option
from veil.cli.output import print_error, print_json
from veil.core.errors import InvalidArgument
from veil.report.terminal import say

if TYPE_CHECKING:
    from veil_papers.reproduction.runner import Shown

_FLAGS = {"name": "NAME", "output": "--output", "data": "--data"}


def papers(
    name: Annotated[
        str | None,
        Parameter(
            name="NAME",
            help="dirichlet-simplex, matrix-dirichlet, data-driven-chains, symbolic-trajectories or xor; all "
            "five by default.",
        ),
    ] = None,
    /,
    *,
    output: Annotated[Path, option("--output", "-o", help="A folder for the pages and the results.")] = Path(
        "papers"
    ),
    quick: Annotated[bool, option("--quick", help="Fewer repetitions: minutes instead of an hour.")] = False,
    data: Annotated[
        Path | None,
        option("--data", help="A folder with the real data; labelled stand-ins replace what it lacks."),
    ] = None,
    fresh: Annotated[
        bool, option("--fresh", help="Compute everything again, instead of keeping earlier results.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Reproduce the papers: their number, our number, why they differ. Writes a page for each, and an index.

    Example: veil papers --quick -o papers

    An interrupted run resumes: every finished table and figure is kept in the folder.
    """
    try:
        shown, written = _write(name, output, quick, data, fresh, as_json)
    except InvalidArgument as error:
        print_error(error, as_json=as_json, flags=_FLAGS)
        return error.exit_code
    if as_json:
        from veil_papers.reproduction.pages import counts

        exhibits = [_as_json(one) for one in shown]
        print_json({"written": written, "printed": counts(shown), "exhibits": exhibits})
    else:
        from veil_papers.reproduction.console import print_papers

        print_papers(shown, written)
    return 0


def _write(
    name: str | None, output: Path, quick: bool, data: Path | None, fresh: bool, quiet: bool
) -> tuple[list[Shown], list[str]]:
    """Run the exhibits and write the pages. Returns what was found, and the files."""
    from veil.core.writing import write_text
    from veil_papers.reproduction.catalogue import papers_named
    from veil_papers.reproduction.data import Data
    from veil_papers.reproduction.exhibit import Run
    from veil_papers.reproduction.pages import index_page, page_name, paper_page
    from veil_papers.reproduction.runner import run_all

    chosen = papers_named(name)
    found = Data.of(data)
    folder = _folder(output)
    total = sum(len(paper.exhibits) for paper in chosen)
    with _bar(total, quiet=quiet) as (begun, tell):
        shown = list(run_all(chosen, Run(quick, found, tell), folder, begun=begun, fresh=fresh))
    pages = {} if name is not None else {"index.html": index_page(chosen, shown, quick=quick)}
    for paper in chosen:
        mine = [one for one in shown if one.paper is paper]
        pages[page_name(paper)] = paper_page(paper, mine, quick=quick)
    for file, text in pages.items():
        write_text(folder / file, text, overwrite=True)
    return shown, [str(folder / file) for file in pages]


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = error.strerror or "none"
        raise InvalidArgument("output", expected="a folder to write to", found=found) from None
    return path


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """A bar over the tables and figures, on standard error; on a pipe a line for each."""
    if quiet or not sys.stderr.isatty():
        done = 0

        def begin(name: str) -> None:
            nonlocal done
            done += 1
            if not quiet:
                say(f"[{done}/{total}] {name}", error=True)

        yield begin, lambda step: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from veil.report.console import new_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=new_console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, completed=-1)

        def begun(name: str) -> None:
            progress.update(task, advance=1, description=name)

        yield begun, lambda step: progress.update(task, description=step)


def _as_json(one: Shown) -> dict[str, object]:
    return {
        "paper": one.paper.name,
        "name": one.exhibit.name,
        "seconds": round(one.seconds, 2),
        "kept": one.kept,
        **one.finding.to_dict(),
    }
