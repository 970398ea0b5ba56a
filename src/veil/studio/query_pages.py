"""The page on which new columns and conditions are put together into a query that works row by row."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from veil.core.errors import InvalidField, VeilError
from veil.studio.draft import Draft
from veil.studio.forms import sentence
from veil.studio.queries import (
    DUCKDB,
    NEW,
    POSTGRES,
    WHERE,
    composed,
    rules_in,
    texts_of,
    works_row_by_row,
)
from veil.studio.visit import Visit

DERIVED = "derived"
_LABELS = {"value": "“Value”", "name": "“Name”", "column": "“Column”", "operation": "“What”"}


def takes_queries(draft: Draft) -> bool:
    """Whether data of this kind may be the result of a query."""
    return "query" in draft.kind.requests("release")[0].options()


def _dialect(draft: Draft) -> str:
    return POSTGRES if draft.is_database else DUCKDB


def _table(draft: Draft) -> str:
    """What the query calls the table: of a file it is `input`."""
    return draft.text("read.table") or "input"


def show(visit: Visit) -> Response:
    """The lines as they were filled in."""
    return _page(visit, visit.studio.drafts.get(visit.path["id"]))


def _page(visit: Visit, draft: Draft, error: str = "") -> Response:
    query = draft.text("read.query")
    return visit.page(
        "query.html",
        status=422 if error else 200,
        here="new",
        draft=draft,
        error=error,
        columns=[name for name, kind in draft.columns if kind != DERIVED],
        parts=(
            ("new", "New columns", NEW, rules_in(draft.texts, "new")),
            ("where", "Only rows where", WHERE, rules_in(draft.texts, "where")),
        ),
        query=query,
        row_by_row=bool(query) and works_row_by_row(query, _dialect(draft)),
    )


def save(visit: Visit) -> Response:
    """Put the query together, or go without one."""
    drafts = visit.studio.drafts
    draft = drafts.get(visit.path["id"])
    plain = tuple((name, kind) for name, kind in draft.columns if kind != DERIVED)
    lines = {part: rules_in(visit.form, part) for part in ("new", "where")}
    cleared = {key: "" for key in draft.texts if key.startswith("query.")}
    if visit.form.get("go") == "without":
        drafts.put(replace(draft.with_texts({**cleared, "read.query": ""}), columns=plain))
        return visit.go(f"/draft/{draft.id}/data")
    texts = {**cleared, **texts_of(lines["new"], "new"), **texts_of(lines["where"], "where")}
    draft = draft.with_texts(texts)
    try:
        query = composed(
            [name for name, _ in plain],
            lines["new"],
            lines["where"],
            table=_table(draft),
            dialect=_dialect(draft),
        )
    except VeilError as error:
        where = _LABELS.get(error.field, "") if isinstance(error, InvalidField) else ""
        return _page(visit, drafts.put(draft), f"{where} {sentence(error, {})}".strip())
    derived = tuple((rule.name.strip(), DERIVED) for rule in lines["new"])
    drafts.put(replace(draft.with_texts({"read.query": query}), columns=(*plain, *derived)))
    more = visit.form.get("go") == "more"
    return visit.go(f"/draft/{draft.id}/{'query' if more else 'data'}")
