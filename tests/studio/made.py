"""A release in a workspace, made without the queue."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import veil
from tests.studio.conftest import Workbench
from veil.core.kind import kind_named
from veil.samples.examples import Example
from veil.studio.forms import filled
from veil.studio.jobs import DONE, RECORD, REPORT, ReleaseJob
from veil.studio.workspace import new_id, write_note


def made_release(
    workbench: Workbench, title: str, out: veil.Release[Any] | None = None, *, has_report: bool = True
) -> str:
    """The id of a finished release, of a few grades unless another is given."""
    job = ReleaseJob(
        id=new_id(),
        draft=new_id(),
        title=title,
        kind_name="vector" if out is None else out.kind.name,
        dataset="people",
        command="veil release vector",
        python="import veil",
        asked_at="2026-11-18T12:00:00.000+00:00",
        state=DONE,
        code=0,
    )
    folder = workbench.workspace.place("releases", job.id)
    write_note(folder / "about.json", asdict(job))
    if out is None:
        out = veil.vectors.release({"A": 31, "B": 28, "C": 21}, epsilon=1.0, rng=1)
    out.save(folder / RECORD)
    if has_report:
        out.report(folder / REPORT)
    return job.id


def release_of(example: Example, folder: Path) -> veil.Release[Any]:
    """A release of an example whose files are in a folder, from a seed."""
    read, release = kind_named(example.kind).requests("release")
    texts = {
        key: str(folder / text) if text in example.files else text for key, text in example.texts.items()
    }
    reading = filled(read, "read", texts, source=str(folder / example.file))
    asked = filled(release, "release", texts)
    reading, _ = asked.adapted(reading)
    made: veil.Release[Any] = asked.prepare(reading.read()).run(rng=1)
    return made
