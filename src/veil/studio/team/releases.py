"""Releases of a team: which were asked for, how far they are, what came of them; all kept in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veil.core.writing import replacing
from veil.studio.jobs import DONE, RECORD, REPORT, RUNNING, WAITING, ReleaseJob
from veil.studio.team.accounts import ANALYST, VIEWER, Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database
from veil.studio.team.faults import NotAllowed, NotHere
from veil.studio.team.requests import FrozenRequest
from veil.studio.workspace import Workspace

# Besides those of a workbench for one person: the ledger refused, and charged without a result.
REFUSED, LOST = "refused", "charged, no result"
# What everybody who may not know more is told, whatever went wrong.
FAILURE = "The release was not made. The stewards of the project can see why."
NO_RESULT = "It was charged, and there is no result. It is not drawn again."
# Of the steps of a release, those that do not depend on the data.
PHASES = ("started", "charging", "charged")


@dataclass(frozen=True)
class TeamJob(ReleaseJob):
    """A release as the pages know it. asked_by, author: names of accounts; sha256: of the approved plan."""

    project: str = ""
    asked_by: str = ""
    author: str = ""
    sha256: str = ""
    phase: str = ""
    charge: str = ""

    @property
    def ended(self) -> bool:
        return self.state not in (WAITING, RUNNING)


@dataclass(frozen=True)
class TeamJobs:
    """The releases of one project, as far as one account may see them.

    It is used like those of a workbench for one person. workspace: where results are put to be looked at.
    """

    database: Database
    workspace: Workspace
    project: str
    account: Account

    def get(self, name: str) -> TeamJob:
        """A release by its name."""
        with self.database.begin() as rows:
            row = rows.one(f"{_ALL} AND r.id = :id", project=self.project, id=name)
        if row is None or not self._sees(row):
            raise NotHere("There is no such release.")
        return self._job(row)

    def all(self) -> list[ReleaseJob]:
        """All of them, the newest first."""
        with self.database.begin() as rows:
            found = rows.all(f"{_ALL} ORDER BY r.asked_at DESC", project=self.project)
        return [self._job(row) for row in found if self._sees(row)]

    def _sees(self, row: Mapping[str, Any]) -> bool:
        """Viewers see what was released; analysts besides what they asked for; stewards everything."""
        if self.account.role == VIEWER:
            return bool(row["state"] == DONE)
        own = self.account.id in (row["author"], row["asked_by"])
        return row["state"] == DONE or own or self.account.role != ANALYST

    def _job(self, row: Mapping[str, Any]) -> TeamJob:
        content = FrozenRequest(row["request"]).content
        return TeamJob(
            id=row["id"],
            draft=row["draft"],
            title=content["title"],
            kind_name=content["kind"],
            dataset=content["budget"],
            command=_command(content),
            python="",
            asked_at=row["asked_at"].isoformat(timespec="milliseconds"),
            state=row["state"],
            message=self._message(row),
            ended_at="" if row["ended_at"] is None else row["ended_at"].isoformat(timespec="milliseconds"),
            project=row["project"],
            asked_by=row["asked_by_name"],
            author=row["author_name"],
            sha256=row["sha256"],
            phase=row["phase"],
            charge=row["charge"],
        )

    def _message(self, row: Mapping[str, Any]) -> str:
        """What may be said: details may depend on the data, and are for who holds it."""
        if row["state"] in (WAITING, RUNNING):
            return ""
        if self.account.is_steward or row["state"] == REFUSED:
            return str(row["details"])
        if row["state"] == DONE:
            return ""
        return NO_RESULT if row["state"] == LOST else FAILURE

    def folder(self, job: ReleaseJob) -> Path:
        """Where its result is, put there from the database."""
        folder = self.workspace.place("releases", job.id)
        if job.state == DONE and not (folder / RECORD).is_file():
            with self.database.begin() as rows:
                row = rows.one(
                    "SELECT record, report FROM veil_studio_releases WHERE id = :id AND project = :project",
                    id=job.id,
                    project=self.project,
                )
            kept = {"record": None, "report": None} if row is None else row
            folder.mkdir(mode=0o700, exist_ok=True)
            # The record last: who sees it may look for the report.
            for name, content in ((REPORT, kept["report"]), (RECORD, kept["record"])):
                if content is not None:
                    with replacing(folder / name, overwrite=True, mode=0o600) as path:
                        Path(path).write_bytes(bytes(content))
        return folder

    def record(self, job: ReleaseJob) -> Path | None:
        """The record of the release, if it was made."""
        path = self.folder(job) / RECORD
        return path if job.state == DONE and path.is_file() else None

    def diary(self, job: ReleaseJob) -> list[dict[str, str]]:
        """Its steps; for stewards with what was asked of the data, for others as far as all may know."""
        if self.account.is_steward:
            with self.database.begin() as rows:
                row = rows.one("SELECT diary FROM veil_studio_releases WHERE id = :id", id=job.id)
            return read_diary("" if row is None else row["diary"])
        phase = job.phase if isinstance(job, TeamJob) else ""
        return [{"step": one} for one in PHASES[: PHASES.index(phase) + 1]] if phase in PHASES else []

    def charge(self, job: ReleaseJob) -> str:
        """The entry of the ledger that it was charged as; empty if there is none."""
        return job.charge if isinstance(job, TeamJob) else ""

    def cancel(self, name: str) -> None:
        """Stop a release. Before the charge nothing is spent; after it the result is kept first."""
        job = self.get(name)
        if job.asked_by != self.account.name and not self.account.is_steward:
            raise NotAllowed("A release is stopped by who asked for it, or by a steward.")
        with self.database.begin() as rows:
            stopped = rows.run(
                "UPDATE veil_studio_releases SET stop = true "
                "WHERE id = :id AND state IN ('waiting', 'running')",
                id=name,
            )
            if stopped:
                note(rows, self.account.name, "release stopped", project=self.project, release=name)
            # One that nobody has begun with ends here.
            rows.run(
                "UPDATE veil_studio_releases SET state = 'cancelled', ended_at = now(), "
                "details = 'Nothing was charged and nothing was drawn.' WHERE id = :id AND state = 'waiting'",
                id=name,
            )


_ALL = (
    "SELECT r.id, r.project, r.state, r.phase, r.details, r.charge, r.asked_at, r.ended_at, r.asked_by, "
    "p.draft, p.author, p.request, p.sha256, a.name AS asked_by_name, w.name AS author_name "
    "FROM veil_studio_releases r JOIN veil_studio_proposals p ON p.id = r.proposal "
    "JOIN veil_studio_accounts w ON w.id = p.author "
    "JOIN veil_studio_accounts a ON a.id = r.asked_by WHERE r.project = :project"
)


def _command(content: Mapping[str, Any]) -> str:
    """The release as it would be typed in, with its data by name."""
    import shlex

    options = [f"{flag}={text}" if text else flag for flag, text in content["options"] if flag]
    parts = ["veil", "release", content["kind"], content["source"]["title"], *options]
    return shlex.join(parts)


def read_diary(text: str) -> list[dict[str, str]]:
    """The lines of a diary; the last one of a process that was killed may be half a line."""
    lines = []
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            lines.append(found)
    return lines
