"""The same request as a command and as Python: what the workbench runs, and what it shows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidField
from veil.studio.draft import Draft
from veil.studio.forms import YES, FormField, fields_of


def _given(draft: Draft) -> Iterator[tuple[FormField, str]]:
    """The fields that were filled in with something else than their default."""
    read, release = draft.kind.requests("release")
    for field in (*fields_of("read", read), *fields_of("release", release)):
        text = draft.text(field.key).strip()
        if field.name == "source" or not text:
            continue
        if field.name == "table" and draft.text("read.query"):
            # The query names the table; what was chosen as one was asked for its columns.
            continue
        is_default = (text == YES) is field.default if field.input == "flag" else text == str(field.default)
        if not is_default:
            yield field, text


def options_given(draft: Draft) -> list[tuple[str, str]]:
    """The options of the command with their values; of a switch the flag that is meant, and no value."""
    return [
        (field.mark.flag, text)
        if field.input != "flag"
        else (field.mark.flag if text == YES else field.mark.negative or "", "")
        for field, text in _given(draft)
    ]


def options(draft: Draft) -> list[str]:
    """The options of the command, with their values."""
    return [part for pair in options_given(draft) for part in pair if part]


def arguments(draft: Draft, source: str) -> list[str]:
    """The command that makes the release, without where it is written and what it is charged to."""
    # One that begins with a hyphen would be taken for an option.
    place = f"./{source}" if source.startswith("-") else source
    return ["release", draft.kind_name, place, *options(draft)]


def command_line(draft: Draft, *, dataset: str = "") -> str:
    """The release as it is typed in: a file without its folder, a database without its address."""
    source = "postgresql://…" if draft.is_database else Path(draft.source).name or "INPUT"
    charged = ["--ledger", "budget.db", "--dataset", dataset] if dataset else []
    parts = ["veil", *arguments(draft, source), *charged, "-o", "release.json", "--report", "release.html"]
    return " ".join(shlex.quote(part) if part != "postgresql://…" else part for part in parts)


def python(draft: Draft, *, dataset: str = "") -> str:
    """The same as a script."""
    module = draft.kind.module.rpartition(".")[2]
    source = "postgresql://…" if draft.is_database else Path(draft.source).name or "INPUT"
    reads: list[str] = [repr(source)]
    releases: list[str] = []
    for field, text in _given(draft):
        if not field.mark.in_python:
            continue
        value: Any = text
        # What cannot be meant is shown as it was typed in.
        with suppress(InvalidField):
            value = field.value(text)
        (reads if field.part == "read" else releases).append(f"{field.name}={value!r}")
    lines = ["import veil", f"from veil import {module}", ""]
    if dataset:
        lines += [f'budget = veil.Ledger("budget.db").dataset({dataset!r})']
        releases.append("ledger=budget")
    lines += [
        f"data = {module}.read({', '.join(reads)})",
        f"out = {module}.release(data, {', '.join(releases)})",
    ]
    return "\n".join([*lines, 'out.save("release.json")', 'out.report("release.html")'])
