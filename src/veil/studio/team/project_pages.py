"""Projects: what is in them, who works on them, their data, their budgets and their log."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from veil.core.errors import InvalidArgument, VeilError
from veil.ledger.accounting import words_of
from veil.ledger.history import BudgetHistory
from veil.studio.forms import label_of, sentence
from veil.studio.team.audit import entries_of, note
from veil.studio.team.proposals import PROPOSED
from veil.studio.team.visit import TeamVisit

_SHOWN = 6
_LOGGED = 200


def listed(visit: TeamVisit) -> Response:
    """The projects of which you are a member."""
    return visit.page("projects.html", here="projects", projects=visit.team.projects.of(visit.account))


def begin(visit: TeamVisit) -> Response:
    """A new project."""
    project = visit.team.projects.add(visit.form.get("title", ""), visit.account)
    return visit.go_home(f"/project/{project.id}/")


def show(visit: TeamVisit) -> Response:
    """What is going on in a project."""
    proposes = visit.account.proposes
    proposals = visit.team.proposals.of(visit.project, visit.account) if proposes else []
    return visit.page(
        "project.html",
        here="project",
        drafts=visit.room.drafts.all()[:_SHOWN] if proposes else [],
        proposals=proposals[:_SHOWN],
        waiting=sum(one.state == PROPOSED for one in proposals),
        releases=visit.room.jobs.all()[:_SHOWN],
        budgets=visit.room.datasets(),
        sources=visit.room.sources if proposes else [],
    )


# Members


def members(visit: TeamVisit) -> Response:
    """Who works on it."""
    return _members(visit)


def _members(visit: TeamVisit, *, status: int = 200, trouble: str = "") -> Response:
    found = visit.team.projects.members(visit.project)
    return visit.page("members.html", here="members", status=status, members=found, trouble=trouble)


def join(visit: TeamVisit) -> Response:
    """Add somebody."""
    try:
        visit.team.projects.join(visit.project, visit.form.get("name", ""), visit.account)
    except InvalidArgument as error:
        return _members(visit, status=422, trouble=sentence(error, {}))
    return visit.go("/members")


def leave(visit: TeamVisit) -> Response:
    """Remove somebody."""
    try:
        visit.team.projects.leave(visit.project, visit.form.get("name", ""), visit.account)
    except InvalidArgument as error:
        return _members(visit, status=422, trouble=sentence(error, {}))
    return visit.go("/members")


# Data


def sources(visit: TeamVisit) -> Response:
    """The data of a project, and its public lists."""
    return _sources(visit)


def _sources(visit: TeamVisit, *, status: int = 200, trouble: str = "") -> Response:
    team, project = visit.team, visit.project
    return visit.page(
        "sources.html",
        here="sources",
        status=status,
        trouble=trouble,
        typed=visit.form,
        lists=team.lists.names(project.id),
        budgets=team.budgets.names(project),
        has_files=team.settings.data is not None,
    )


def add_source(visit: TeamVisit) -> Response:
    """Add data: from here on its columns are known by name."""
    team, form = visit.team, visit.form
    try:
        team.sources.add(
            visit.project,
            visit.account,
            title=form.get("title", ""),
            place=form.get("place", ""),
            table=form.get("table", ""),
            header=form.get("header", ""),
            dataset=team.budgets.checked(visit.project, form.get("budget", "")),
        )
    except InvalidArgument as error:
        return _sources(visit, status=422, trouble=f"{label_of(error.field)}: {sentence(error, {})}")
    return visit.go("/sources")


def retire_source(visit: TeamVisit) -> Response:
    """Let data be used no more."""
    visit.team.sources.retire(visit.project, visit.account, visit.path["id"])
    return visit.go("/sources")


def add_list(visit: TeamVisit) -> Response:
    """Add a public list."""
    upload = visit.files.get("file")
    try:
        if upload is None or not upload.filename:
            raise InvalidArgument("file", expected="a file", found="none")
        content = upload.file.read()
        visit.team.lists.add(visit.project, visit.account, upload.filename, content)
    except InvalidArgument as error:
        return _sources(visit, status=422, trouble=f"{label_of(error.field)}: {sentence(error, {})}")
    return visit.go("/sources")


def show_list(visit: TeamVisit) -> Response:
    """A public list as it is, to be kept as a file: browsers do not run it."""
    name = visit.path["name"]
    content = visit.team.lists.content(visit.project.id, name)
    plain = "".join(mark if mark.isascii() and (mark.isalnum() or mark in "._-") else "_" for mark in name)
    given = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(content, media_type="application/octet-stream", headers=given)


# Budgets


def budgets(visit: TeamVisit) -> Response:
    """What the releases of a project may reveal together."""
    return _budgets(visit)


def _budgets(visit: TeamVisit, *, status: int = 200, trouble: str = "") -> Response:
    return visit.page(
        "budgets.html",
        here="budgets",
        status=status,
        trouble=trouble,
        typed=visit.form,
        budgets=visit.room.datasets(),
        words_of=words_of,
    )


def open_budget(visit: TeamVisit) -> Response:
    """Grant a budget."""
    given = _said(visit, "name", "epsilon", "delta", "adjacency", "why")
    return _granted(visit, lambda: visit.team.budgets.open(visit.project, visit.account, **given))


def raise_budget(visit: TeamVisit) -> Response:
    """Grant more."""
    given = _said(visit, "name", "epsilon", "delta", "why")
    return _granted(visit, lambda: visit.team.budgets.enlarge(visit.project, visit.account, **given))


def close_budget(visit: TeamVisit) -> Response:
    """Grant nothing any more."""
    given = _said(visit, "name", "why")
    return _granted(visit, lambda: visit.team.budgets.close(visit.project, visit.account, **given))


def _said(visit: TeamVisit, *names: str) -> dict[str, str]:
    return {name: visit.form.get(name, "").strip() for name in names}


def _granted(visit: TeamVisit, work: Any) -> Response:
    try:
        work()
    except VeilError as error:
        field = getattr(error, "field", "")
        told = f"{label_of(field)}: {sentence(error, {})}" if field else str(error)
        return _budgets(visit, status=422, trouble=told)
    return visit.go("/budgets")


def budget(visit: TeamVisit) -> Response:
    """One budget with all that was done to it."""
    name = visit.team.budgets.checked(visit.project, visit.query.get("name", ""))
    history = BudgetHistory.of(visit.room.ledger.dataset(name))
    return visit.page("dataset.html", here="budgets", history=history, words_of=words_of)


# The log


def log(visit: TeamVisit) -> Response:
    """Who did what."""
    found = entries_of(visit.team.database, [visit.project.id], last=_LOGGED)
    for entry in found:
        entry["about"] = json.loads(entry["about"])
    return visit.page("log.html", here="log", entries=found)


def export_log(visit: TeamVisit) -> Response:
    """The whole log of a project, as lines of JSON."""
    found = entries_of(visit.team.database, [visit.project.id])
    with visit.team.database.begin() as rows:
        note(rows, visit.account.name, "log exported", project=visit.project.id)
    lines = [json.dumps(entry, ensure_ascii=False) for entry in reversed(found)]
    given = {"Content-Disposition": 'attachment; filename="log.jsonl"'}
    return Response("\n".join([*lines, ""]), media_type="application/jsonl", headers=given)
