"""How commands speak: text for people, JSON for machines, errors with exit codes."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, ValidationError

from veil.core.checks import shown
from veil.core.errors import (
    BudgetExceeded,
    InvalidArgument,
    InvalidField,
    ResultKept,
    ResultLost,
    UnreadableFile,
    VeilError,
    with_fields,
)
from veil.core.progress import tell, telling
from veil.core.text import json_text, visible
from veil.report.terminal import say

_NUMBERS = {int: "a whole number", float: "a number"}


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    if sys.stdout is not None:
        print(json_text(content))


def silence_output() -> None:
    """Standard output cannot be written to: what is left in its buffer must not fail again at the end."""
    with suppress(OSError, ValueError):
        empty = os.open(os.devnull, os.O_WRONLY)
        os.dup2(empty, sys.stdout.fileno())
        os.close(empty)


def print_error(error: VeilError, *, as_json: bool, flags: Mapping[str, str] | None = None) -> None:
    """Say what is wrong. flags: how the command line calls the fields of its requests."""
    message = error.sentence(flags) if isinstance(error, InvalidField) else str(error)
    if not as_json or sys.stdout is None:
        # Where standard output is closed, JSON would reach nobody.
        say(f"veil: {message}", error=True)
        return
    details: dict[str, Any] = {"kind": type(error).__name__, "message": message}
    if isinstance(error, InvalidField):
        expected, found = (with_fields(text, error.names, flags) for text in (error.expected, error.found))
        details |= {"field": error.field, "expected": expected, "found": found}
    if isinstance(error, (ResultKept, ResultLost)):
        from veil.core.files import entry_to_json

        entry = None if error.entry is None else entry_to_json(error.entry)
        details |= {"entry": entry, "kept": getattr(error, "place", None)}
    if isinstance(error, BudgetExceeded):
        details |= {"spent": error.spent, "asked": error.asked, "remaining": error.remaining}
    print_json({"error": details})


def print_misuse(error: CycloptsError, *, as_json: bool) -> int:
    """Say what is wrong with the arguments. Returns the exit code."""
    wrong = _invalid_argument(error)
    if wrong is not None:
        assert error.argument is not None
        print_error(wrong, as_json=as_json, flags={wrong.field: error.argument.name})
    elif as_json:
        print_json({"error": {"kind": "Usage", "message": str(error)}})
    else:
        say(f"veil: {error}", error=True)
    return InvalidArgument.exit_code


def _invalid_argument(error: CycloptsError) -> InvalidArgument | None:
    """The error that the library would raise; None where Cyclopts has the better words."""
    if error.argument is None:
        return None
    field = error.argument.field_info.name
    if isinstance(error, MissingArgumentError) and not error.unused_tokens:
        return InvalidArgument(field, expected="a value", found="none")
    if isinstance(error, ValidationError) and isinstance(error.__cause__, InvalidArgument):
        return error.__cause__
    if isinstance(error, CoercionError) and error.token is not None:
        expected, hint = _expected(error.target_type, error.token.value)
        if expected:
            return InvalidArgument(field, expected=expected, found=shown(error.token.value), hint=hint)
    return None


def _expected(kind: Any, text: str) -> tuple[str, str]:
    """What an option takes, and a hint where the text is nearly that."""
    kinds = (kind, *get_args(kind))
    words = [str(word) for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    if words:
        near = difflib.get_close_matches(text, words, n=1)
        return " or ".join(map(repr, words)), f"Did you mean {near[0]!r}?" if near else ""
    return next((_NUMBERS[one] for one in kinds if one in _NUMBERS), ""), ""


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
    """A spinner on standard error while something takes its time, with what slow steps tell.

    It may also be called with what is being done. Where it is no terminal, and with JSON, only who listens
    already is told.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        tell(text)
        yield tell
        return
    from rich.text import Text

    from veil.report.console import new_console

    with new_console(stderr=True).status(text) as status:

        def show(step: str) -> None:
            status.update(Text(visible(f"{text}: {step}")))

        with telling(show):
            yield show
