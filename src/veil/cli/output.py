"""How commands speak: text for people, JSON for machines, errors with exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from veil.core.errors import BudgetExceeded, InvalidField, UnreadableFile, VeilError, with_fields

# Printed where a release takes the place of another.
AGAIN = "a release is overwritten, but readers may know the old one: without a ledger the costs do not add up"


def json_wanted(arguments: Sequence[str]) -> bool:
    """Whether the caller is a machine."""
    return "--json" in arguments


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def print_error(error: VeilError, *, as_json: bool, flags: Mapping[str, str] | None = None) -> None:
    """Say what is wrong. flags: how the command line calls the fields of its requests."""
    message = error.sentence(flags) if isinstance(error, InvalidField) else str(error)
    if not as_json:
        print(f"veil: {message}", file=sys.stderr)
        return
    details: dict[str, Any] = {"kind": type(error).__name__, "message": message}
    if isinstance(error, InvalidField):
        expected, found = (with_fields(text, error.names, flags) for text in (error.expected, error.found))
        details |= {"field": error.field, "expected": expected, "found": found}
    if isinstance(error, BudgetExceeded):
        details |= {"spent": error.spent, "asked": error.asked, "remaining": error.remaining}
    print_json({"error": details})


def refuse_other_files(path: Path) -> None:
    """A table of a release is not its record; the record is beside it."""
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


@contextmanager
def working(text: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while something takes its time; call it with what is being done."""
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console

    with Console(stderr=True).status(text) as status:
        yield lambda step: status.update(f"{text}: {step}")
