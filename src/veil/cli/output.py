"""How commands speak: tables for people, JSON for machines, errors with exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from veil.errors import InvalidField, OutputExists, VeilError


def json_wanted(arguments: Sequence[str]) -> bool:
    """Whether the caller is a machine."""
    return "--json" in arguments


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def fail(error: VeilError, *, as_json: bool) -> NoReturn:
    """Say what is wrong and leave."""
    if as_json:
        details = {"kind": type(error).__name__, "message": str(error)}
        if isinstance(error, InvalidField):
            details |= {"field": error.field, "expected": error.expected, "found": error.found}
        print_json({"error": details})
    else:
        print(f"veil: {error}", file=sys.stderr)
    sys.exit(error.exit_code)


def refuse_existing(paths: Sequence[Path | None], *, force: bool) -> None:
    """Before any work: an existing output is not overwritten unless asked for."""
    for path in paths:
        if path is None:
            continue
        if path.exists() and not force:
            raise OutputExists(
                "--output" if path.suffix != ".html" else "--report",
                expected="a new file",
                found=f"{path} exists already",
                hint="Add --force to overwrite it.",
            )
        if not path.parent.is_dir():
            raise OutputExists("--output", expected="an existing folder", found=f"no folder {path.parent}")


@contextmanager
def working(text: str, *, quiet: bool) -> Iterator[None]:
    """A spinner on standard error while something takes its time."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def percent(share: float) -> str:
    """A share as people read it."""
    return f"{100.0 * share:.3g} %"
