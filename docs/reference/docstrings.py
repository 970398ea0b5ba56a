"""Docstrings as Markdown: lists of the arguments that they describe, and examples as code.

Docstrings in Veil are plain text: "name: what it is" on lines of their own, and doctests. mkdocstrings reads
this file as an extension (mkdocs.yml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

_NAMES = r"[a-z_]\w*(?:, [a-z_]\w*)*"
_START = re.compile(rf"^({_NAMES}): (.*)$")
# A further name inside a paragraph: after a full stop or a semicolon.
_INNER = re.compile(rf"(?<=[.;]) ({_NAMES}): ")


class Docstrings(griffe.Extension):
    """Rewrites every docstring that is loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value, _known(obj))


def _known(obj: griffe.Object) -> set[str]:
    """The names that a docstring may describe: parameters of a function, members of a class."""
    if isinstance(obj, griffe.Function):
        return {parameter.name for parameter in obj.parameters}
    if isinstance(obj, griffe.Class):
        made = obj.members.get("__init__")
        given = _known(made) if isinstance(made, griffe.Function) else set()
        return {*obj.members, *given}
    return set()


def to_markdown(text: str, known: set[str]) -> str:
    """The docstring with its described names as a list and its doctests as blocks of code."""
    return "\n\n".join("\n".join(_block(block, known)) for block in re.split(r"\n\s*\n", text))


def _block(block: str, known: set[str]) -> Iterator[str]:
    lines = block.split("\n")
    if lines[0].lstrip().startswith(">>> "):
        yield from ("```pycon", *lines, "```")
        return
    listed = False
    for line in lines:
        # Inside a list, a further name may begin an indented line too.
        found = _START.match(line.strip() if listed else line)
        if found and _all_known(found[1], known):
            if not listed:
                # Markdown wants an empty line before a list.
                yield ""
            listed = True
            yield f"- {_bold(found[1])}: {_split(found[2], known)}"
        else:
            yield f"  {_split(line.strip(), known)}" if listed else line


def _split(text: str, known: set[str]) -> str:
    """Names that are described further on in the same line become items of their own."""

    def item(found: re.Match[str]) -> str:
        return f"\n- {_bold(found[1])}: " if _all_known(found[1], known) else found[0]

    return _INNER.sub(item, text)


def _all_known(names: str, known: set[str]) -> bool:
    return all(name in known for name in names.split(", "))


def _bold(names: str) -> str:
    return ", ".join(f"**`{name}`**" for name in names.split(", "))
