"""Releases that were asked for: how far they are, what came of them, and what can be done with them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from veil.core.errors import InvalidArgument, VeilError
from veil.core.record import Release
from veil.ledger.amounts import ZERO, Amount
from veil.studio.followups import FOLDER, PART, FollowUp, followup_named, followups, run
from veil.studio.forms import YES, help_of, labels_of, sentence
from veil.studio.gate import REPORT_POLICY
from veil.studio.jobs import RECORD, REPORT, ReleaseJob
from veil.studio.results import FILES, MOST, largest_differences, look_of, release_in, view_numbered, views_of
from veil.studio.visit import Visit

_STEPS_SHOWN = 8


def _job(visit: Visit) -> ReleaseJob:
    return visit.studio.jobs.get(visit.path["id"])


def _release(visit: Visit, job: ReleaseJob) -> Release[Any] | None:
    path = visit.studio.jobs.record(job)
    return None if path is None or not job.ended else release_in(path)


def show(visit: Visit) -> Response:
    """How far a release is, or what came of it."""
    return _page(visit, "release_page.html")


def state(visit: Visit) -> Response:
    """The part of the page that changes while a release is being made."""
    return _page(visit, "release_state.html")


def _page(visit: Visit, template: str) -> Response:
    job = _job(visit)
    jobs, out = visit.studio.jobs, _release(visit, job)
    steps = [line["step"] for line in jobs.diary(job) if "step" in line]
    return visit.page(
        template,
        here="releases",
        job=job,
        steps=steps[-_STEPS_SHOWN:],
        charge=jobs.charge(job),
        release=out,
        details=() if out is None else out.kind.details(out),
        left=_left(visit, job) if out is not None else None,
        rougher=_rougher(visit, job),
        followups=[] if out is None else list(followups(out.kind)),
        **({} if out is None else _explored(visit, out)),
    )


def view(visit: Visit) -> Response:
    """One view of a release, searched and put in order as is asked."""
    job = _job(visit)
    out = _release(visit, job)
    if out is None:
        return _nothing(visit)
    return visit.page("explore.html", job=job, release=out, **_explored(visit, out))


def _explored(visit: Visit, out: Release[Any]) -> dict[str, Any]:
    views, look = views_of(out), look_of(visit.query)
    chosen = view_numbered(views, visit.query.get("view", ""))
    shown = views[chosen]
    content = {"views": views, "chosen_view": chosen, "look": look, "all_most": MOST}
    return content | {"order": shown.order(look), "orders": shown.orders, "drawn": shown.draw(look)}


def listed(visit: Visit) -> Response:
    """All releases, or those that have a word in their title, kind or budget."""
    wanted = visit.query.get("search", "").strip().casefold()
    jobs = [
        job
        for job in visit.studio.jobs.all()
        if wanted in f"{job.title} {job.kind_name} {job.dataset} {job.state}".casefold()
    ]
    return visit.page("releases.html", here="releases", jobs=jobs, search=visit.query.get("search", ""))


def compare(visit: Visit) -> Response:
    """Two releases beside each other."""
    pair = []
    for side in ("a", "b"):
        job = visit.studio.jobs.get(visit.query.get(side, ""))
        pair.append((job, _release(visit, job)))
    (_, one), (_, other) = pair
    both = one is not None and other is not None
    differences = largest_differences(one, other) if one is not None and other is not None else None
    return visit.page("compare.html", here="releases", pair=pair, both=both, differences=differences)


def cancel(visit: Visit) -> Response:
    """Stop a release that is waiting or being made."""
    visit.studio.jobs.cancel(visit.path["id"])
    return visit.go(f"/release/{visit.path['id']}")


def sharpen(visit: Visit) -> Response:
    """The same request once more, as a new draft that takes what is left of the budget."""
    job, drafts = _job(visit), visit.studio.drafts
    before = drafts.get(job.draft)
    left = _left(visit, job)
    texts = {**before.texts, "release.epsilon": "" if left is None else f"{left}"}
    fields = {key: getattr(before, key) for key in ("source", "has_header", "columns", "asked")}
    title = f"{job.title}, sharpened"[:200]
    draft = drafts.new(job.kind_name, title=title, texts=texts, sharpens=job.id, **fields)
    return visit.go(f"/draft/{draft.id}/plan")


def _left(visit: Visit, job: ReleaseJob) -> Amount | None:
    """What the budget of a release still has; None where it has nothing, or that is not one number."""
    for history in visit.studio.datasets():
        if history.name == job.dataset and history.terms.rule.name == "basic":
            left = history.terms.epsilon - history.now.totals.get("epsilon", ZERO)
            return left if left > 0 and not history.terms.closed else None
    return None


def _rougher(visit: Visit, job: ReleaseJob) -> ReleaseJob | None:
    """The release that this one sharpens, if it is still there."""
    try:
        return visit.studio.jobs.get(job.sharpens) if job.sharpens else None
    except VeilError:
        return None


def remove(visit: Visit) -> Response:
    """Remove the files of a release that has ended; what it cost stays in the ledger."""
    job = _job(visit)
    if not job.ended:
        raise InvalidArgument("release", expected="one that has ended", found="one that is being made")
    visit.studio.workspace.delete("releases", job.id)
    return visit.go("/releases")


def report(visit: Visit) -> Response:
    """The report: a page of its own that runs nothing."""
    job = _job(visit)
    path = _report(visit, job)
    if path is None:
        return visit.page(
            "message.html", title="There is no report", text="The release has none.", status=404
        )
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


def _report(visit: Visit, job: ReleaseJob) -> Path | None:
    """Its report, drawn now if the process that made the release was killed before it had one."""
    out, path = _release(visit, job), visit.studio.jobs.folder(job) / REPORT
    if out is not None and not path.is_file():
        with suppress(VeilError):
            out.report(path)
    return path if out is not None and path.is_file() else None


def download(visit: Visit) -> Response:
    """The record, the report, or the value as a table."""
    job, what = _job(visit), visit.path["what"]
    out, folder, name = _release(visit, job), visit.studio.jobs.folder(job), _file_name(job)
    if out is not None and what == "record":
        return FileResponse(folder / RECORD, filename=f"{name}.json", media_type="application/json")
    if what == "report" and (path := _report(visit, job)) is not None:
        return FileResponse(path, filename=f"{name}.html", media_type="application/octet-stream")
    if out is not None and what in FILES:
        ending, media, made = FILES[what]
        given = {"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
        return Response(made(out), media_type=media, headers=given)
    return _nothing(visit)


def _file_name(job: ReleaseJob) -> str:
    """The title of a release as the name of a file, in plain letters."""
    plain = (mark if mark.isascii() and mark.isalnum() else "-" for mark in job.title.casefold())
    return "".join(plain)[:60].strip("-") or "release"


def _nothing(visit: Visit) -> Response:
    return visit.page("message.html", title="There is no such file", text="The release has none.", status=404)


# What is done with the release alone


def after(visit: Visit) -> Response:
    """The form of a command that reads the release alone."""
    job = _job(visit)
    out = _release(visit, job)
    if out is None:
        return _nothing(visit)
    return _after_page(visit, job, followup_named(out.kind, visit.path["command"]), {})


def _after_page(
    visit: Visit, job: ReleaseJob, command: FollowUp, errors: dict[str, str], **content: Any
) -> Response:
    names = labels_of([command.request])
    return visit.page(
        "followup.html",
        status=422 if errors else 200,
        here="releases",
        job=job,
        followup=command,
        fields=[field for field in command.fields if not field.mark.advanced],
        advanced=[field for field in command.fields if field.mark.advanced],
        form=_Typed(visit.form),
        errors=errors,
        yes=YES,
        help_of=lambda field: help_of(field, names),
        **content,
    )


class _Typed:
    """What was typed in, as the fields of a form look it up."""

    columns = ()

    def __init__(self, form: Any) -> None:
        self._form = form

    def text(self, key: str) -> str:
        """What was typed in for a field."""
        return str(self._form.get(key, ""))


def run_after(visit: Visit) -> Response:
    """Run a command on the release, and show what came of it."""
    job = _job(visit)
    out, record = _release(visit, job), visit.studio.jobs.record(job)
    if out is None or record is None:
        return _nothing(visit)
    command = followup_named(out.kind, visit.path["command"])
    texts = {field.key: visit.form.get(field.key, "") for field in command.fields}
    try:
        outcome = run(command, record, texts, visit.form.get("ending", ""))
    except VeilError as error:
        names = labels_of([command.request])
        key = f"{PART}.{getattr(error, 'field', '')}"
        return _after_page(visit, job, command, {key: sentence(error, names)})
    return _after_page(visit, job, command, {}, outcome=outcome)


def made(visit: Visit) -> Response:
    """A file that a command wrote."""
    job = _job(visit)
    out = _release(visit, job)
    if out is not None:
        command = followup_named(out.kind, visit.path["command"])
        name = f"{command.name}{visit.query.get('ending', '')}"
        path = visit.studio.jobs.folder(job) / FOLDER / name
        if visit.query.get("ending", "") in command.endings and path.is_file():
            media = "application/octet-stream"
            return FileResponse(path, filename=f"{_file_name(job)}-{name}", media_type=media)
    return _nothing(visit)
