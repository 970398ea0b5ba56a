"""How commands speak: tables for people, JSON for machines, errors with exit codes."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from veil.core.errors import (
    BudgetExceeded,
    InvalidArgument,
    InvalidField,
    OutputExists,
    UnreadableFile,
    VeilError,
)

# Said where a release takes the place of another.
AGAIN = "a release is overwritten, but what it told stays told: without a ledger nobody adds up the costs"


def json_wanted(arguments: Sequence[str]) -> bool:
    """Whether the caller is a machine."""
    return "--json" in arguments


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


# What a call in Python names an argument, the command line names an option.
_OPTIONS = {
    "origin": "--from",
    "destination": "--to",
    "by": "--by",
    "order": "--order",
    "state": "--state",
    "states": "--states",
    "tie_break": "--tie-break",
    "other": "--other",
    "drop_unlisted": "--drop-unlisted",
    "merge": "--merge",
    "group": "--group",
    "groups": "--groups",
    "table": "--table",
    "query": "--query",
    "cap": "--cap",
    "memory": "--memory",
    "unit": "--unit",
    "change": "--change",
    "floor": "--floor",
    "least": "--least",
    "support": "--chain",
    "radius": "--radius",
    "words_each": "--words-each",
    "nodes": "--nodes",
    "loops": "--loops",
    "kind": "--kind",
    "statistics": "--with",
    "share": "--share",
    "columns": "--columns",
    "values": "--values",
    "missing": "--missing",
    "header": "--header",
    "delimiter": "--delimiter",
    "flips": "--flips",
}
# Where a message names both, "columns= (--columns)", the command line is told the option alone.
_BOTH = re.compile(rf"\b(?:{'|'.join(_OPTIONS)})=[^()]*? \((--[^)]*)\)")
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:\.\.\.)?([^\s,.;:)]?)")


def in_options(text: str) -> str:
    """A message with options in place of the arguments that it names."""
    start, colon, rest = text.partition(": expected ")
    if colon and start in _OPTIONS:
        text = f"{_OPTIONS[start]}{colon}{rest}"
    text = _BOTH.sub(r"\1", text)
    return _ARGUMENT.sub(lambda found: " ".join(filter(None, (_OPTIONS[found[1]], found[2]))), text)


def fail(error: VeilError, *, as_json: bool) -> NoReturn:
    """Say what is wrong and leave."""
    if as_json:
        details: dict[str, Any] = {"kind": type(error).__name__, "message": in_options(str(error))}
        if isinstance(error, InvalidField):
            details |= {"field": error.field, "expected": error.expected, "found": error.found}
        if isinstance(error, BudgetExceeded):
            details |= {"spent": error.spent, "asked": error.asked, "remaining": error.remaining}
        print_json({"error": details})
    else:
        print(f"veil: {in_options(str(error))}", file=sys.stderr)
    sys.exit(error.exit_code)


def refuse_existing(
    outputs: Mapping[str, Path | None], *, force: bool, inputs: Sequence[str | Path] = ()
) -> None:
    """Before any work: no output may be an input, stand twice, or overwrite a file unless asked to."""
    taken = {Path(source).resolve(): "the input" for source in inputs if str(source) != "-"}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path.resolve()
        if place in taken:
            raise OutputExists(option, expected="a file of its own", found=f"{path}, which is {taken[place]}")
        taken[place] = option
        if path.exists() and not path.is_file():
            found = f"{path}, which is {'a folder' if path.is_dir() else 'no file'}"
            raise OutputExists(option, expected="a file", found=found)
        if path.exists() and not force:
            hint = "Add --force to overwrite it."
            raise OutputExists(option, expected="a new file", found=f"{path} exists already", hint=hint)
        if not path.parent.is_dir():
            raise OutputExists(option, expected="an existing folder", found=f"no folder {path.parent}")
        if not _takes_files(path.parent):
            expected = "a folder that can be written to"
            raise OutputExists(option, expected=expected, found=f"{path.parent}, which cannot")


def _takes_files(folder: Path) -> bool:
    """By trying: a release that cannot be kept would be paid for all the same."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def refuse_other_files(path: Path) -> None:
    """A table of a release is not its record; the record stands beside it."""
    from veil.core.files import is_release

    if path.is_file() and not is_release(path):
        beside = path.with_name(path.name.split(".")[0] + ".json")
        there = beside != path and is_release(beside)
        raise UnreadableFile(
            str(path),
            expected="the record of a release (.json)",
            found="another file",
            hint=f"The record is beside it: {beside}." if there else "",
        )


def check_ending(option: str, path: Path | None, endings: Sequence[str]) -> None:
    """The ending decides the format, so it must be one that is known."""
    if path is not None and not path.name.lower().endswith(tuple(endings)):
        expected = "a name that ends in " + " or ".join(endings)
        raise InvalidArgument(option, expected=expected, found=path.name)


@contextmanager
def working(text: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while something takes its time; it can be told what is being done."""
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    with Console(stderr=True).status(text) as status:
        yield lambda step: status.update(f"{text}: {step}")
