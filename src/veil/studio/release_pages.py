"""Releases that were asked for: how far they are, what came of them, and what can be done with them."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response

from veil.core.errors import InvalidArgument, VeilError
from veil.core.files import load
from veil.core.record import Release
from veil.studio.gate import REPORT_POLICY
from veil.studio.jobs import RECORD, REPORT, ReleaseJob
from veil.studio.visit import Visit

_STEPS_SHOWN = 8


def _job(visit: Visit) -> ReleaseJob:
    return visit.studio.jobs.get(visit.path["id"])


def _release(visit: Visit, job: ReleaseJob) -> Release[Any] | None:
    path = visit.studio.jobs.record(job)
    if path is None or not job.ended:
        return None
    try:
        return load(path)
    except VeilError:
        return None


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
        card="" if out is None else out._repr_html_(),
        endings=() if out is None else out.kind.table_endings,
    )


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
    return visit.page("compare.html", here="releases", pair=pair)


def cancel(visit: Visit) -> Response:
    """Stop a release that is waiting or being made."""
    visit.studio.jobs.cancel(visit.path["id"])
    return visit.go(f"/release/{visit.path['id']}")


def remove(visit: Visit) -> Response:
    """Remove the files of a release that has ended; what it cost stays in the ledger."""
    job = _job(visit)
    if not job.ended:
        raise InvalidArgument("release", expected="one that has ended", found="one that is being made")
    visit.studio.workspace.remove("releases", job.id)
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
    out, folder = _release(visit, job), visit.studio.jobs.folder(job)
    name = (
        "".join(mark if mark.isalnum() else "-" for mark in job.title.casefold())[:60].strip("-") or "release"
    )
    if out is not None and what == "record":
        return FileResponse(folder / RECORD, filename=f"{name}.json", media_type="application/json")
    if what == "report" and (path := _report(visit, job)) is not None:
        return FileResponse(path, filename=f"{name}.html", media_type="application/octet-stream")
    if out is not None and what == "table":
        with tempfile.TemporaryDirectory() as beside:
            path = Path(beside) / "release.csv"
            out.save(path, csv_safe=True)
            content = path.read_bytes()
        given = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
        return Response(content, media_type="text/csv", headers=given)
    return visit.page("message.html", title="There is no such file", text="The release has none.", status=404)
