"""The command line in this process, and what a well-behaved command leaves behind."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

from veil.cli.app import main

from .guard import guarded

# Done, wrong use, budget refused, bad data. 1 is our own fault and must not happen.
CODES = {0, 2, 3, 4}


@dataclass
class Done:
    """How a command ended, what it printed, and which files it left."""

    code: int
    out: str
    err: str
    made: set[str]


def command(folder: Path, *arguments: str) -> Done:
    """Run a command in a folder."""
    before = {path.name for path in folder.iterdir()}
    out, err = io.StringIO(), io.StringIO()

    def call() -> int:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return main(arguments)

    with contextlib.chdir(folder):
        outcome = guarded(call)
    assert outcome.error is None
    made = {path.name for path in folder.iterdir()} - before
    return Done(outcome.result, out.getvalue(), err.getvalue(), made)


def check_manners(done: Done, *, secret: str | None = None) -> None:
    """Never our own fault; a failure says one line, quotes no cell, and leaves no file."""
    assert done.code in CODES, done.err
    if done.code == 0:
        return
    assert done.made == set()
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err[:500]
    assert lines[0].startswith("veil: ")
    assert lines[0].isprintable()
    if secret is not None:
        assert secret not in done.err
