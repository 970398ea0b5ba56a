"""The pages on the way from data to a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.responses import Response

from veil.core.checks import positive
from veil.core.errors import InvalidArgument, InvalidField, VeilError
from veil.core.numerics.rounding import rounded_up
from veil.core.privacy.profile import beliefs
from veil.ledger.amounts import ZERO, Amount
from veil.ledger.history import BudgetHistory
from veil.studio import commands
from veil.studio.draft import Draft
from veil.studio.forms import YES, FormField, filled, help_of, sentence
from veil.studio.gate import REPORT_POLICY
from veil.studio.journey import STEPS, labels, plan_texts, step_fields, step_named
from veil.studio.ledger_pages import opening, opening_field
from veil.studio.pictures import error_curve, interpolated, unit_picture
from veil.studio.query_pages import takes_queries
from veil.studio.schema import schema_of
from veil.studio.uploads import save_list, save_upload
from veil.studio.visit import Visit
from veil.tables.engines.protocol import ADDRESSES, DATABASE
from veil.tables.files import PARQUET, ending_of

# What others released for, as they say themselves.
KNOWN = (
    (2.64, "Google: mobility during the pandemic, per person and day"),
    (4, "Apple: which emojis are used, per person and day"),
    (17.14, "US Census 2020: redistricting data on people"),
)


# Parts of what is left of a budget.
_SHARES = ("0.1", "0.25", "0.5", "1")


def _draft(visit: Visit) -> Draft:
    return visit.studio.drafts.get(visit.path["id"])


def resume(visit: Visit) -> Response:
    """The first step that is not complete."""
    draft = _draft(visit)
    if not draft.source:
        return visit.go(f"/draft/{draft.id}/data")
    for step in STEPS[1:]:
        if any(not draft.text(field.key) for field in step_fields(draft.kind, step.name) if field.required):
            return visit.go(f"/draft/{draft.id}/{step.name}")
    return visit.go(f"/draft/{draft.id}/release")


def remove(visit: Visit) -> Response:
    """Put the draft aside."""
    visit.studio.drafts.remove(visit.path["id"])
    return visit.go(f"/?removed={visit.path['id']}")


def restore(visit: Visit) -> Response:
    """Bring the draft back that was removed last."""
    visit.studio.drafts.restore(visit.path["id"])
    return visit.go("/")


def undo(visit: Visit) -> Response:
    """Take back what was typed in last."""
    draft = visit.studio.drafts.undo(visit.path["id"])
    step = step_named(visit.form.get("step", ""))
    return visit.go(f"/draft/{draft.id}/{STEPS[0].name if step is None else step.name}")


def show(visit: Visit) -> Response:
    """One step, with what was typed in so far."""
    return _page(visit, _draft(visit), {})


def _page(visit: Visit, draft: Draft, errors: Mapping[str, str], *, status: int = 200) -> Response:
    step = step_named(visit.path.get("step", ""))
    if step is None:
        return visit.page("message.html", title="There is no such step", text="Choose one above.", status=404)
    names, place = labels(draft.kind), STEPS.index(step)
    fields = list(step_fields(draft.kind, step.name))
    extra: dict[str, Any] = {}
    if step.name == "data":
        extra = {"is_text": _is_text(draft), "takes_queries": takes_queries(draft)}
    elif step.name == "plan":
        extra = _planned(visit, draft)
    elif step.name == "budget":
        budgets = [_after(history, draft) for history in visit.studio.datasets()]
        extra = {"budgets": budgets, "ration": _ration(budgets, draft)}
    elif step.name == "release":
        extra = {"missing": missing(draft), "chosen": _budget(visit, draft), "said": said(draft)}
    return visit.page(
        f"{step.name}.html" if step.name in ("data", "plan", "budget", "release") else "step.html",
        status=status,
        here="new",
        draft=draft,
        form=draft,
        step=step,
        steps=STEPS,
        before=STEPS[place - 1] if place else None,
        after=STEPS[place + 1] if place + 1 < len(STEPS) else None,
        fields=(shown := [field for field in fields if not _is_further(field, draft, step.name)]),
        groups=_grouped(shown, draft, errors) if step.name == "choices" else (),
        advanced=[field for field in fields if _is_further(field, draft, step.name)],
        errors=errors,
        yes=YES,
        can_undo=visit.studio.drafts.can_undo(draft.id),
        help_of=lambda field: help_of(field, names),
        unit_picture=unit_picture,
        command=commands.command_line(draft, dataset=draft.text("dataset")),
        python=commands.python(draft, dataset=draft.text("dataset")),
        **extra,
    )


def _grouped(
    fields: list[FormField], draft: Draft, errors: Mapping[str, str]
) -> list[tuple[str, list[FormField], bool]]:
    """The fields under their headings. The first are open, and those with something in them."""
    groups: dict[str, list[FormField]] = {}
    for field in fields:
        groups.setdefault(field.mark.group, []).append(field)
    return [
        (name, those, not number or any(_is_filled(field, draft) or field.key in errors for field in those))
        for number, (name, those) in enumerate(groups.items())
    ]


def _is_filled(field: FormField, draft: Draft) -> bool:
    return field.required or draft.text(field.key) not in ("", "no", YES, str(field.default))


def _is_further(field: FormField, draft: Draft, step: str) -> bool:
    """Whether most users leave the field alone; what was filled in stays in sight."""
    if draft.text(field.key) not in ("", "no"):
        return False
    return field.mark.advanced or (step == "data" and not field.mark.column)


def save(visit: Visit) -> Response:
    """Keep what was typed in, and go on if nothing is wrong with it."""
    draft, step = _draft(visit), step_named(visit.path["step"])
    if step is None:
        return _page(visit, draft, {})
    fields = list(step_fields(draft.kind, step.name))
    texts = {field.key: _text_of(field, visit.form) for field in fields}
    texts |= _handed_in(visit, fields)
    if step.name == "budget":
        texts |= {key: visit.form.get(key, "").strip() for key in ("dataset", "reason", "by")}
        texts |= _rationed(visit, texts["dataset"])
    if step.name == "plan" and visit.form.get("use"):
        # The place of the slider becomes the epsilon.
        texts["release.epsilon"] = visit.form["use"].strip()
    title = visit.form.get("title", draft.title).strip()[:200]
    draft = visit.studio.drafts.put(replace(draft.with_texts(texts), title=title))
    errors = _errors(draft, step.name, fields)
    if errors and visit.form.get("go") != "back":
        return _page(visit, draft, errors, status=422)
    place = STEPS.index(step) + (-1 if visit.form.get("go") == "back" else 1)
    stay = visit.form.get("go") == "stay" or "use" in visit.form or "share" in visit.form
    return visit.go(f"/draft/{draft.id}/{step.name if stay else STEPS[place].name}")


def _text_of(field: FormField, form: Mapping[str, str]) -> str:
    if field.input == "flag":
        return YES if form.get(field.key) == YES else "no"
    return form.get(field.key, "").strip()


def _handed_in(visit: Visit, fields: list[FormField]) -> dict[str, str]:
    """What fields that may name a file were given instead of text: a file, or a list."""
    texts, workspace = {}, visit.studio.workspace
    for field in (field for field in fields if field.file):
        upload, typed = visit.files.get(f"file:{field.key}"), visit.form.get(f"list:{field.key}", "")
        if upload is not None and upload.filename:
            texts[field.key] = str(save_upload(workspace, upload.filename, upload.file))
        elif typed.strip():
            texts[field.key] = save_list(workspace, field.name, typed)
    return texts


def _errors(draft: Draft, step: str, fields: list[FormField]) -> dict[str, str]:
    """What is wrong with the fields of a step, by field; without a look at the data."""
    names, errors = labels(draft.kind), {}
    if step == "data" and not draft.source:
        errors["source"] = "Choose a file, or type in where the data is."
    if step == "budget" and not draft.text("dataset"):
        errors["dataset"] = "Choose a budget, or open one."
    if step == "budget" and draft.text("release.epsilon") and _epsilon(draft) is None:
        errors["release.epsilon"] = "Expected a number above 0."
    for field in fields:
        text = draft.text(field.key)
        if field.required and not text:
            errors[field.key] = "Please choose." if field.input == "choice" else "Please fill this in."
        elif text:
            try:
                field.value(text)
            except InvalidField as error:
                errors[field.key] = sentence(error, names)
    if errors:
        return errors
    read, release = draft.kind.requests("release")
    for part, request, more in (
        ("read", read, {"source": draft.source}),
        ("release", release, {} if draft.text("release.epsilon") else {"epsilon": 1.0}),
    ):
        try:
            filled(request, part, draft.texts, **more).check()
        except VeilError as error:
            key = f"{part}.{getattr(error, 'field', '')}"
            # What is wrong on another page is said there.
            if any(field.key == key for field in fields):
                errors[key] = sentence(error, names)
    return errors


# Where the data is


def take_source(visit: Visit) -> Response:
    """A new source: an uploaded file, a path, or the address of a database."""
    draft, form = _draft(visit), visit.form
    upload = visit.files.get("file")
    typed = form.get("source", "").strip()
    if upload is not None and upload.filename:
        source = str(save_upload(visit.studio.workspace, upload.filename, upload.file))
    elif typed:
        source = typed
        if not typed.startswith(ADDRESSES) and not _is_file(typed):
            draft = replace(draft, source="", columns=())
            return _page(_at(visit, "data"), draft, {"source": "There is no such file."}, status=422)
        if not typed.startswith(ADDRESSES):
            source = str(Path(typed).expanduser().absolute())
    else:
        source = draft.source
    header_said = {"yes": True, "no": False}.get(form.get("header", ""))
    table = form.get("read.table", draft.text("read.table")).strip()
    header = {True: YES, False: "no"}.get(header_said, "") if header_said is not None else ""
    # A query was made for the columns of the source before this one.
    cleared = {key: "" for key in draft.texts if key.startswith("query.") or key == "read.query"}
    draft = replace(draft, source=source, has_header=header_said, columns=(), tables=()).with_texts(cleared)
    draft = draft.with_texts({"read.table": table, "read.header": header})
    schema = schema_of(source, table=table or None, has_header=bool(header_said)) if source else None
    questions = [] if schema is None else list(schema.questions)
    draft = replace(draft, columns=() if schema is None else schema.columns)
    draft = replace(draft, asked=(*draft.asked, *questions))
    if schema is not None:
        draft = replace(draft, tables=schema.tables, bytes_read=draft.bytes_read + schema.bytes)
    visit.studio.drafts.put(draft)
    if schema is not None and schema.error:
        return _page(_at(visit, "data"), draft, {"source": schema.error}, status=422)
    return visit.go(f"/draft/{draft.id}/data")


def _is_file(text: str) -> bool:
    """Whether there is a file at a path that was typed in, which may be no path at all."""
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _at(visit: Visit, step: str) -> Visit:
    return replace(visit, path={**visit.path, "step": step})


def _is_text(draft: Draft) -> bool:
    """Whether only the user can say if the first line names the columns."""
    if not draft.source or draft.is_database:
        return False
    return ending_of(draft.source) not in (*PARQUET, *DATABASE)


def questions(visit: Visit) -> Response:
    """What was asked of the data so far."""
    draft = _draft(visit)
    asked = [(source, question, "names of columns") for source, question in draft.asked]
    read = [("names of columns", draft.bytes_read)] if draft.asked else []
    for job in visit.studio.jobs.all():
        if job.draft == draft.id:
            asked += [
                (line["source"], line["asked"], f"release of {job.asked_at[:19]}")
                for line in visit.studio.jobs.diary(job)
                if "asked" in line
            ]
            read += [
                (f"release of {job.asked_at[:19]}", int(line["read"]))
                for line in visit.studio.jobs.diary(job)
                if "read" in line
            ]
    return visit.page("questions.html", here="new", draft=draft, asked=asked, read=read)


# What to expect


def _epsilon(draft: Draft) -> float | None:
    try:
        return float(positive("epsilon", float(draft.text("release.epsilon"))))
    except (ValueError, VeilError):
        return None


def _delta(draft: Draft) -> float:
    try:
        return float(draft.text("release.delta") or 0.0)
    except ValueError:
        return 0.0


def _planned(visit: Visit, draft: Draft, chosen: float | None = None) -> dict[str, Any]:
    """What to expect at the epsilon that is chosen, as far as it is known."""
    epsilon = _epsilon(draft)
    if epsilon is None:
        return {"found": None, "waiting": False, "drawing": False, "known": KNOWN}
    found = visit.studio.plans.ask(draft.kind_name, plan_texts(draft), epsilon, _delta(draft))
    at = epsilon if chosen is None else chosen
    content: dict[str, Any] = {
        "found": found,
        "waiting": found is None or not found.complete,
        "drawing": found is None or not found.is_drawn,
        "epsilon": epsilon,
        "delta": _delta(draft),
        "at": at,
        "beliefs": [(before, rounded_up(100.0 * after, 3)) for before, after in beliefs(at)],
        "known": KNOWN,
    }
    if found is not None and len(found.points) > 1:
        points, expected = found.points, found.expected
        content["error"] = interpolated(points, at)
        content["curve"] = error_curve(points, measure=expected.measure, nothing=expected.nothing, chosen=at)
        content["range"] = (points[0][0], points[-1][0])
    return content


def live_plan(visit: Visit) -> Response:
    """The part of the page that follows the slider: from the curve, without a new plan."""
    draft = _draft(visit)
    chosen: float | None = None
    if "at" in visit.query:
        try:
            chosen = math.exp(float(visit.query["at"]))
            positive("epsilon", chosen)
        except (ValueError, OverflowError, InvalidArgument):
            chosen = None
    return visit.page("plan_live.html", draft=draft, **_planned(visit, draft, chosen))


def drawn_plan(visit: Visit) -> Response:
    """The part of the page that takes longest: every mechanism, and a preview on made-up data."""
    draft = _draft(visit)
    return visit.page("plan_beside.html", draft=draft, **_planned(visit, draft))


def plan_picture(visit: Visit) -> Response:
    """Every mechanism against epsilon, as a picture of its own."""
    draft = _draft(visit)
    epsilon = _epsilon(draft)
    found = (
        None
        if epsilon is None
        else visit.studio.plans.ask(draft.kind_name, plan_texts(draft), epsilon, _delta(draft))
    )
    if found is None or not found.picture:
        return Response(status_code=404)
    text = found.picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    if 'xmlns="' in found.picture.partition(">")[0]:
        text = found.picture
    return Response(text, media_type="image/svg+xml", headers={"Content-Security-Policy": REPORT_POLICY})


# What it costs


def _after(history: BudgetHistory, draft: Draft) -> dict[str, Any]:
    """A budget as it is, and as it would be after this release, in exact decimals."""
    terms, epsilon = history.terms, _epsilon(draft)
    asked = ZERO if epsilon is None else Amount(repr(epsilon))
    spent, total = history.now.totals.get("epsilon", ZERO), terms.epsilon
    # With a filter, what fits is not a matter of epsilons alone: the ledger decides.
    basic = terms.rule.name == "basic"
    return {
        "name": history.name,
        "budget": terms.budget,
        "total": total,
        "closed": terms.closed,
        "spent": 100.0 * min(history.now.used, 1.0),
        "asked": 100.0 * min(float(asked / total), 1.0) if basic and total > 0 else 0.0,
        "left": total - spent if basic else None,
        "after": total - spent - asked if basic else None,
        "fits": not terms.closed and (not basic or spent + asked <= total),
        "releases": history.charges,
    }


def _ration(budgets: list[dict[str, Any]], draft: Draft) -> float:
    """Which part of what is left this release takes, of the budget that is chosen."""
    epsilon = _epsilon(draft)
    left = next((one["left"] for one in budgets if one["name"] == draft.text("dataset")), None)
    return 0.0 if epsilon is None or left is None or left <= 0 else min(1.0, epsilon / float(left))


def _rationed(visit: Visit, dataset: str) -> dict[str, str]:
    """The epsilon that was typed in, or the part that was asked for of what is left, in exact decimals."""
    share, typed = visit.form.get("share", ""), visit.form.get("release.epsilon")
    if share not in _SHARES:
        return {} if typed is None else {"release.epsilon": typed.strip()}
    for history in visit.studio.datasets():
        if history.name == dataset and history.terms.rule.name == "basic":
            left = history.terms.epsilon - history.now.totals.get("epsilon", ZERO)
            return {"release.epsilon": f"{left * Amount(share)}"} if left > 0 else {}
    return {}


def _budget(visit: Visit, draft: Draft) -> dict[str, Any] | None:
    name = draft.text("dataset")
    return next((_after(one, draft) for one in visit.studio.datasets() if one.name == name), None)


def open_budget(visit: Visit) -> Response:
    """Open a budget and choose it."""
    draft, form = _draft(visit), visit.form
    name = form.get("name", "").strip()
    try:
        visit.studio.ledger.open(name, **opening(form))
    except VeilError as error:
        errors = {opening_field(error): sentence(error, {})}
        return _page(_at(visit, "budget"), draft, errors, status=422)
    visit.studio.drafts.put(draft.with_texts({"dataset": name}))
    return visit.go(f"/draft/{draft.id}/budget")


# The release


def missing(draft: Draft) -> list[tuple[str, str]]:
    """What is still to be filled in, by step."""
    found = []
    for step in STEPS[:-1]:
        fields = [field for field in step_fields(draft.kind, step.name) if field.part != "plan"]
        errors = _errors(draft, step.name, fields).values()
        found += [(step.name, f"{step.title}: {text}") for text in errors]
    return found


def said(draft: Draft) -> list[tuple[str, str]]:
    """What was chosen, in the words of the forms."""
    told = []
    for step in STEPS[:-1]:
        for field in step_fields(draft.kind, step.name):
            text = draft.text(field.key)
            if text and text != "no" and field.part != "plan":
                meanings = dict(zip(field.mark.choices, field.mark.meanings, strict=False))
                told.append((field.label, f"{text}: {meanings[text]}" if text in meanings else text))
    return told


def make(visit: Visit) -> Response:
    """Ask for the release: from here on the data is read."""
    draft = _draft(visit)
    if missing(draft) or _budget(visit, draft) is None:
        return _page(_at(visit, "release"), draft, {}, status=422)
    dataset, reason = draft.text("dataset"), draft.text("reason")
    order = [*commands.arguments(draft, draft.source), "--ledger", visit.studio.workspace.ledger]
    order += ["--dataset", dataset]
    order += ["--reason", reason] if reason else []
    order += ["--released-by", draft.text("by")] if draft.text("by") else []
    job = visit.studio.jobs.ask(
        order,
        draft=draft.id,
        title=draft.title or draft.source_name,
        kind_name=draft.kind_name,
        dataset=dataset,
        command=commands.command_line(draft, dataset=dataset),
        python=commands.python(draft, dataset=dataset),
        sharpens=draft.sharpens,
    )
    visit.studio.drafts.put(replace(draft, release=job.id))
    return visit.go(f"/release/{job.id}")
