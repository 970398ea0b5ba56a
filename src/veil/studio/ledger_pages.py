"""Budgets: what is left of them, who used them and why, and whether the ledger is consistent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from veil.core.errors import VeilError
from veil.ledger.accounting import words_of
from veil.ledger.history import BudgetHistory
from veil.studio.forms import sentence
from veil.studio.visit import Visit

_OPENING = ("name", "epsilon", "delta", "why")


def show(visit: Visit) -> Response:
    """All budgets."""
    return _page(visit)


def _page(visit: Visit, *, status: int = 200, **content: object) -> Response:
    return visit.page(
        "ledger.html",
        status=status,
        here="ledger",
        budgets=visit.studio.datasets(),
        words_of=words_of,
        **content,
    )


def of_dataset(visit: Visit) -> Response:
    """One budget with all that was done to it."""
    history = BudgetHistory.of(visit.studio.ledger.dataset(visit.query.get("name", "")))
    return visit.page("dataset.html", here="ledger", history=history, words_of=words_of)


def open_dataset(visit: Visit) -> Response:
    """Open a budget."""
    try:
        visit.studio.ledger.open(visit.form.get("name", "").strip(), **opening(visit.form))
    except VeilError as error:
        return _page(visit, status=422, errors={opening_field(error): sentence(error, {})})
    return visit.go("/ledger")


def opening_field(error: VeilError) -> str:
    """The field of the form beside which an error about a new budget is shown."""
    field = getattr(error, "field", "")
    return f"open.{field if field in _OPENING else 'name'}"


def opening(form: Mapping[str, str]) -> dict[str, Any]:
    """What a form says of a new budget; the numbers as they were typed in, which is exact."""
    said = {key: form.get(key, "").strip() for key in ("epsilon", "delta", "why")}
    return {"epsilon": said["epsilon"], "delta": said["delta"] or "0", "why": said["why"] or None}


def verify(visit: Visit) -> Response:
    """Replay all entries."""
    try:
        found = visit.studio.ledger.verify()
    except VeilError as error:
        return _page(visit, status=400, trouble=str(error))
    return _page(visit, verified=found)


def export(visit: Visit) -> Response:
    """All entries, as a file to keep elsewhere."""
    content = json.dumps(visit.studio.ledger.export(), ensure_ascii=False, indent=1)
    given = {"Content-Disposition": 'attachment; filename="ledger.json"'}
    return Response(content, media_type="application/json", headers=given)
