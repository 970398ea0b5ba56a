"""The options that say what is counted, and the counts that they ask for."""

from __future__ import annotations

import re
from collections.abc import Callable
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veil.core.errors import InvalidArgument

if TYPE_CHECKING:
    from veil.chains.transition_counts import TransitionCounts

Source = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="CSV, Parquet or JSON lines (globs too), a .duckdb file, postgresql://..., or with --sequences "
        "a text file with one sequence a line.",
    ),
]
From = Annotated[str | None, typer.Option("--from", help="Column of the state that a transition leaves.")]
To = Annotated[str | None, typer.Option("--to", help="Column of the state that it enters.")]
By = Annotated[str | None, typer.Option("--by", help="Column that says who: a user, a device, a session.")]
Order = Annotated[str | None, typer.Option("--order", help="Column that says when.")]
State = Annotated[str | None, typer.Option("--state", help="Column of the state, in a log.")]
TieBreak = Annotated[
    str | None, typer.Option("--tie-break", help="Column that orders rows of the same time.")
]
SequenceLines = Annotated[
    bool, typer.Option("--sequences", help="The input is text, one sequence of states a line.")
]
Skip = Annotated[int, typer.Option("--skip", min=0, help="With --sequences: lines before the first one.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="With --sequences: between states; white space otherwise.")
]
TableName = Annotated[str | None, typer.Option("--table", help="Which table of a database.")]
Query = Annotated[str | None, typer.Option("--query", help="Or a SELECT whose result is counted.")]
States = Annotated[
    str | None,
    typer.Option(
        "--states",
        help="The public list of states: a file (CSV; zones.csv:id:name takes two of its columns), "
        "a,b,c, or 1..63. Without it the states found are taken, and their list is assumed public.",
    ),
]
Other = Annotated[str | None, typer.Option("--other", help="A state for everything that is not on the list.")]
DropUnlisted = Annotated[
    bool,
    typer.Option("--drop-unlisted", help="Leave out rows whose state is not on the list; a public choice."),
]
Merge = Annotated[
    str | None,
    typer.Option(
        "--merge", help="States to count as others, a public choice: a=b,c=b or a CSV of two columns."
    ),
]
Group = Annotated[str | None, typer.Option("--group", help="One chain for each value of this column.")]
Groups = Annotated[str | None, typer.Option("--groups", help="The public values of --group: a,b,c or 0..23.")]


def ask_counts(
    source: str,
    *,
    sequence_lines: bool = False,
    skip: int = 0,
    separator: str | None = None,
    states: str | None = None,
    merge: str | None = None,
    groups: str | None = None,
    progress: Callable[[str], None] | None = None,
    **asked: Any,
) -> TransitionCounts:
    """The counts that the options ask for."""
    from veil.chains.counting.transitions import count_transitions
    from veil.tables.sequences import SequenceFile

    if not sequence_lines and (skip or separator is not None):
        raise InvalidArgument("--sequences", expected="it, with --skip or --separator", found="none")
    return count_transitions(
        SequenceFile(source, separator, skip) if sequence_lines else source,
        states=None if states is None else listed(states),
        merge=None if merge is None else pairs(merge),
        groups=None if groups is None else _groups(groups),
        progress=progress,
        **asked,
    )


def listed(text: str, option: str = "--states") -> str | list[str]:
    """A file, or labels with commas between them."""
    if is_file(text) or is_file(text.split(":")[0]):
        return text
    numbers = _numbers(text)
    if numbers is not None:
        return numbers
    if "," not in text:
        return text
    labels = [label.strip() for label in text.split(",")]
    if "" in labels:
        raise InvalidArgument(option, expected="labels", found="an empty one", hint="A comma too many?")
    return labels


def is_file(text: str) -> bool:
    """Whether there is such a file; a list may be too long to be asked for."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def files_among(*texts: str | None) -> list[str]:
    """The files that options name, which are read and so must not be overwritten."""
    found = []
    for text in texts:
        if text is None or "://" in text:
            continue
        name = text if is_file(text) else text.split(":")[0]
        if is_file(name):
            found.append(name)
        elif has_magic(text):
            found += glob(text, recursive=True)
    return found


def pairs(text: str) -> dict[str, str]:
    """{state: state} from a=b,c=b or from a file of two columns."""
    if "=" in text and not is_file(text):
        parts = [pair.partition("=") for pair in text.split(",")]
        return {key.strip(): value.strip() for key, _, value in parts}
    import csv
    import io

    from veil.tables.cells import read_text

    rows = [row for row in csv.reader(io.StringIO(read_text(text, text))) if any(row)]
    if not rows or any(len(row) != 2 for row in rows):
        raise InvalidArgument("--merge", expected="a=b,c=b, or a CSV of two columns", found=text[:60])
    header = [cell.strip().lower() for cell in rows[0]] in (
        ["from", "to"],
        ["state", "into"],
        ["merge", "into"],
    )
    return {key.strip(): value.strip() for key, value in rows[header:]}


def _groups(text: str) -> list[str]:
    numbers = _numbers(text)
    return [label.strip() for label in text.split(",")] if numbers is None else numbers


def _numbers(text: str) -> list[str] | None:
    """0..23, or 0-23, as all the whole numbers from the first to the last."""
    found = re.fullmatch(r"\s*(\d{1,7})\s*(?:\.\.|-)\s*(\d{1,7})\s*", text)
    if found is None:
        return None
    return [str(number) for number in range(int(found[1]), int(found[2]) + 1)]
