"""Asks a process of its own for the names of the columns of a source, and notes what it asked."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

# Seconds; a server that does not answer must not hold up the page.
_PATIENCE = 20.0


@dataclass(frozen=True)
class Schema:
    """What may be known of a source: its columns with their types, and what was asked to know it.

    tables: of a database. bytes: at most so many were read of it.
    """

    columns: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str], ...]
    error: str = ""
    tables: tuple[str, ...] = ()
    bytes: int = 0


def schema_of(source: str, *, table: str | None, has_header: bool) -> Schema:
    """The columns of a source. has_header: the user says that the first line of a text names them."""
    order = json.dumps({"source": source, "table": table, "has_header": has_header})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "veil.studio.schema_reader"],
            input=order,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=True,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return Schema((), (), "The columns could not be read in time.")
    except (subprocess.CalledProcessError, ValueError):
        return Schema((), (), "The columns could not be read.")
    columns = tuple((name, kind) for name, kind in answer.get("columns", ()))
    questions = tuple((name, question) for name, question in answer["questions"])
    tables = tuple(answer.get("tables", ()))
    return Schema(columns, questions, answer.get("error", ""), tables, answer.get("bytes", 0))
