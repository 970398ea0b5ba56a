"""The first page: what can be released, what was begun, what was made."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.responses import Response

from veil.core.errors import InvalidArgument
from veil.core.kind import every_kind
from veil.samples.examples import EXAMPLES
from veil.studio.visit import Visit

_SHOWN = 6
_ID = re.compile(r"[0-9a-f]{16}")


def home(visit: Visit) -> Response:
    """What can be done next."""
    studio = visit.studio
    return visit.page(
        "home.html",
        here="home",
        drafts=[draft for draft in studio.drafts.all() if not draft.release][:_SHOWN],
        releases=studio.jobs.all()[:_SHOWN],
        budgets=studio.datasets()[:_SHOWN],
        examples=_examples(visit),
        removed=removed if _ID.fullmatch(removed := visit.query.get("removed", "")) else "",
    )


def _demo(visit: Visit) -> Path:
    return visit.studio.workspace.folder / "demo"


def _examples(visit: Visit) -> list[tuple[int, str, str]]:
    """The examples whose files are there."""
    return [
        (number, example.words, example.kind)
        for number, example in enumerate(EXAMPLES)
        if all((_demo(visit) / file).is_file() for file in (example.file, *example.files))
    ]


def new(visit: Visit) -> Response:
    """Which kind of data is it?"""
    kinds = [kind for kind in every_kind() if len(kind.requests("release")) == 2]
    return visit.page("new.html", here="new", kinds=kinds, examples=_examples(visit))


def begin(visit: Visit) -> Response:
    """A new draft of a kind."""
    draft = visit.studio.drafts.new(visit.form.get("kind", ""))
    return visit.go(f"/draft/{draft.id}/data")


def try_example(visit: Visit) -> Response:
    """A draft that is filled in for made-up data."""
    from veil.studio.schema import schema_of

    number = visit.form.get("example", "")
    if not number.isdecimal() or int(number) >= len(EXAMPLES):
        raise InvalidArgument("example", expected="one of the examples", found="another")
    example, folder = EXAMPLES[int(number)], _demo(visit)
    texts = {
        key: str(folder / text) if text in example.files else text for key, text in example.texts.items()
    }
    source = str(folder / example.file)
    has_header = True if example.file.endswith(".csv") else None
    schema = schema_of(source, table=None, has_header=bool(has_header))
    draft = visit.studio.drafts.new(
        example.kind,
        title=example.words,
        source=source,
        texts=texts,
        columns=schema.columns,
        asked=schema.questions,
        has_header=has_header,
        bytes_read=schema.bytes,
    )
    return visit.go(f"/draft/{draft.id}/data")


def leave(visit: Visit) -> Response:
    """Close the session of this browser."""
    return visit.page("message.html", title="Closed", text="Press Enter in the terminal for a new address.")
