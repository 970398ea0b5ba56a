"""A release in a workspace, made without the queue."""

from __future__ import annotations

from dataclasses import asdict

import veil
from tests.studio.conftest import Workbench
from veil.studio.jobs import DONE, RECORD, REPORT, ReleaseJob
from veil.studio.workspace import new_id, write_note


def made_release(workbench: Workbench, title: str) -> str:
    """The id of a finished release of a few grades."""
    job = ReleaseJob(
        id=new_id(),
        draft=new_id(),
        title=title,
        kind_name="vector",
        dataset="people",
        command="veil release vector",
        python="import veil",
        asked_at="2026-11-18T12:00:00.000+00:00",
        state=DONE,
        code=0,
    )
    folder = workbench.workspace.place("releases", job.id)
    write_note(folder / "about.json", asdict(job))
    out = veil.vectors.release({"A": 31, "B": 28, "C": 21}, epsilon=1.0, rng=1)
    out.save(folder / RECORD)
    out.report(folder / REPORT)
    return job.id
