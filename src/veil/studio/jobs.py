"""Releases that were asked for: one at a time, each in a process of its own that outlives the workbench."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veil.core.errors import UnreadableFile, VeilError
from veil.studio.aftermath import FREE, began_to_charge, charged_as, confirm_found, cost_of
from veil.studio.workspace import Workspace, new_id, read_note, write_note

_FILE, _DIARY, _OUTPUT = "about.json", "diary.jsonl", "output.json"
RECORD, REPORT = "record.json", "report.html"
# States of a release. What was charged and has no result is never drawn again.
WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"
ENDED = (DONE, FAILED, CANCELLED)
# The module that makes a release.
WORKER = "veil.studio.worker"
# The process was told to end.
TOLD = (-signal.SIGTERM, -signal.SIGINT, 128 + signal.SIGTERM, 128 + signal.SIGINT)
# Of what a command says about an error.
_LONGEST = 2**16


@dataclass(frozen=True)
class ReleaseJob:
    """A release that was asked for, and how far it has come.

    code: the exit code of the command; process: its number while it runs; message: what went wrong.
    dataset: the budget that is charged. sharpens: the rougher release that it follows.
    """

    id: str
    draft: str
    title: str
    kind_name: str
    dataset: str
    command: str
    python: str
    asked_at: str
    state: str = WAITING
    code: int | None = None
    process: int | None = None
    message: str = ""
    ended_at: str = ""
    sharpens: str = ""

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Jobs:
    """All releases of a workspace, and the queue of those that are not made yet."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._queue = ThreadPoolExecutor(max_workers=1, thread_name_prefix="release")
        self._lock = threading.Lock()
        self._watched: set[str] = set()
        self._futures: dict[str, Future[None]] = {}
        for job in self.all():
            if job.state == WAITING:
                # Its order, which may hold a password, was in memory only.
                self._end(job, CANCELLED, message=f"The workbench was stopped before it began. {FREE}")

    # What there is

    def get(self, name: str) -> ReleaseJob:
        """A release by its name; one whose process has ended while nobody watched is looked at again."""
        job = self._read(name)
        if job.state == RUNNING and name not in self._watched and not self._is_alive(job):
            return self._found_ended(job)
        return job

    def all(self) -> list[ReleaseJob]:
        """All of them, the newest first."""
        jobs = []
        for job in self._noted():
            # Somebody else may have removed it meanwhile.
            with suppress(UnreadableFile):
                jobs.append(self.get(job.id))
        return sorted(jobs, key=lambda job: job.asked_at, reverse=True)

    def _noted(self) -> Iterator[ReleaseJob]:
        """All of them as they were noted last."""
        for name in self._workspace.names("releases"):
            with suppress(UnreadableFile):
                yield self._read(name)

    def _read(self, name: str) -> ReleaseJob:
        return ReleaseJob(**read_note(self._workspace.place("releases", name) / _FILE))

    def folder(self, job: ReleaseJob) -> Path:
        """Where its files are."""
        return self._workspace.place("releases", job.id)

    def record(self, job: ReleaseJob) -> Path | None:
        """The record of the release, if it was made."""
        path = self.folder(job) / RECORD
        return path if path.is_file() else None

    def diary(self, job: ReleaseJob) -> list[dict[str, str]]:
        """The steps of a release, and what it asked of the data, in their order."""
        lines = []
        with suppress(OSError):
            for line in (self.folder(job) / _DIARY).read_text(encoding="utf-8").splitlines():
                # The last line of a process that was killed may be half a line.
                with suppress(ValueError):
                    lines.append(json.loads(line))
        return lines

    def charge(self, job: ReleaseJob) -> str:
        """The entry of the ledger that it was charged as; empty if there is none."""
        return charged_as(self.diary(job))

    def _is_alive(self, job: ReleaseJob) -> bool:
        """Whether its process still runs; it writes its own number first."""
        noted = next((int(line["process"]) for line in self.diary(job) if "process" in line), None)
        return is_worker(job.process or noted)

    # What is done

    def ask(self, order: Sequence[str], **about: Any) -> ReleaseJob:
        """Put a release in the queue. order: the command, without its outputs. about: fields of the job."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        job = self._keep(ReleaseJob(new_id(), asked_at=now, **about))
        folder = self.folder(job)
        outputs = ["--output", str(folder / RECORD), "--report", str(folder / REPORT), "--json"]
        self._futures[job.id] = self._queue.submit(self._make, job.id, [*order, *outputs])
        return job

    def wait(self, name: str) -> ReleaseJob:
        """Wait until a release that was asked for here has ended."""
        self._futures[name].result()
        return self.get(name)

    def cancel(self, name: str) -> None:
        """Stop a release. Before the charge nothing is spent; after it the result is kept first."""
        with self._lock:
            job = self.get(name)
            if job.state == WAITING:
                self._end(job, CANCELLED, message="Nothing was charged and nothing was drawn.")
            elif job.state == RUNNING and job.process is not None:
                with suppress(ProcessLookupError):
                    os.kill(job.process, signal.SIGTERM)

    def close(self) -> None:
        """Start no further release; one that runs goes on by itself."""
        self._queue.shutdown(wait=False, cancel_futures=True)

    def _make(self, name: str, order: Sequence[str]) -> None:
        with self._lock:
            job = self.get(name)
            if job.state != WAITING:
                return
            folder = self.folder(job)
            # Before the process begins: should this one be killed in between, nobody takes it for waiting.
            self._watched.add(name)
            job = self._keep(replace(job, state=RUNNING))
            with (folder / _OUTPUT).open("wb") as output:
                process = subprocess.Popen(
                    [sys.executable, "-m", WORKER],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    # Ctrl-C in the terminal of the workbench must not stop what is being paid for.
                    start_new_session=True,
                )
            job = self._keep(replace(job, process=process.pid))
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(
                json.dumps({"diary": str(folder / _DIARY), "arguments": list(order)}).encode()
            )
            process.stdin.close()
        code = process.wait()
        with self._lock:
            self._finish(job, code)
            self._watched.discard(name)

    def _finish(self, job: ReleaseJob, code: int) -> ReleaseJob:
        output = self.folder(job) / _OUTPUT
        if code == 0:
            output.unlink(missing_ok=True)
            return self._end(job, DONE, code=0)
        error = error_in(output)
        if code in TOLD and not began_to_charge(self.diary(job)):
            return self._end(job, CANCELLED, code=code, message="Nothing was charged and nothing was drawn.")
        if self.record(job) is not None and error:
            return self._end(job, DONE, code=code, message=error["message"])
        if error:
            return self._end(job, FAILED, code=code, message=error["message"])
        return self._found_ended(job, "Its process ended without saying why.", code=code)

    def _found_ended(
        self, job: ReleaseJob, how: str = "It was interrupted.", *, code: int | None = None
    ) -> ReleaseJob:
        """A release whose process is gone and said nothing: its result, or what it cost without one."""
        ledger, record = self._workspace.ledger, self.record(job)
        if record is not None:
            from veil.core.files import load

            with suppress(VeilError):
                confirm_found(load(record), ledger)
                return self._end(job, DONE, code=code)
        known = {self.charge(other) for other in self._noted() if other.id != job.id}
        cost = cost_of(self.diary(job), ledger, job.dataset, since=job.asked_at, known=known)
        return self._end(job, FAILED, code=code, message=f"{how} {cost}")

    def _end(self, job: ReleaseJob, state: str, **fields: Any) -> ReleaseJob:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return self._keep(replace(job, state=state, process=None, ended_at=now, **fields))

    def _keep(self, job: ReleaseJob) -> ReleaseJob:
        write_note(self.folder(job) / _FILE, asdict(job))
        return job


def error_in(path: Path) -> Mapping[str, Any]:
    """What a command that failed says in JSON; empty where it says nothing."""
    try:
        with path.open("rb") as stream:
            content = json.loads(stream.read(_LONGEST))
        error = content["error"]
        return error if isinstance(error.get("message"), str) else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def is_worker(process: int | None) -> bool:
    """Whether a process of this number makes a release."""
    if process is None:
        return False
    try:
        return WORKER.encode() in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        pass
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return not Path("/proc").is_dir()
