"""Makes the releases that were asked for: each in a process of its own, which outlives this one.

A release is taken from the queue by one process and drawn at most once: the ledger accepts one charge for an
approved plan, and what was begun is never begun again. Whoever starts in the place of a process that was
killed finds out what became of its releases, from their processes, their files and the ledger.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from veil.cli.charging import CHARGED, CHARGING
from veil.core.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, VeilError
from veil.studio import jobs
from veil.studio.aftermath import FREE, began_to_charge, charged_as, confirm_found
from veil.studio.jobs import CANCELLED, DONE, FAILED, RECORD, REPORT
from veil.studio.team.audit import note
from veil.studio.team.database import Database, DatabaseAway
from veil.studio.team.lists import Lists
from veil.studio.team.releases import LOST, NO_RESULT, REFUSED, read_diary
from veil.studio.team.requests import FrozenRequest, arguments
from veil.studio.team.sources import Sources
from veil.studio.workspace import Workspace, new_id, write_note

_DIARY, _OUTPUT, _PROCESS, _LISTS, _ID = "diary.jsonl", "output.json", "process", "lists", "host"
_BUDGET_REFUSED = 3
# Seconds between two looks: at the queue, and at a release that is being made.
_LOOK, _WATCH = 1.0, 0.3
_LONGEST = 2**16


@dataclass
class Place:
    """A folder of this machine that one process works in, and a name that stays after a restart."""

    workspace: Workspace
    host: str
    _lock: int

    @classmethod
    def taken(cls, folder: Path, ledger: str) -> Place:
        """The first that is free: that of a process that was killed, or a new one."""
        for number in range(1000):
            workspace = Workspace.opened(folder / f"process-{number}", ledger)
            lock = os.open(workspace.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                continue
            os.set_inheritable(lock, False)
            name = workspace.folder / _ID
            if not name.is_file():
                name.write_text(new_id())
            return cls(workspace, name.read_text().strip(), lock)
        raise InvalidArgument("--folder", expected="a folder with a free place", found="a thousand processes")

    def leave(self) -> None:
        """Let another process work here."""
        os.close(self._lock)


@dataclass
class Runner:
    """The threads that make releases. at_once: how many of them."""

    database: Database
    sources: Sources
    lists: Lists
    place: Place
    at_once: int = 1
    _ended: threading.Event = field(default_factory=threading.Event)
    _asked: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Look after what was begun here before, then make what is asked for."""
        for row in self._begun():
            self._spawn(lambda row=row: self._take_over(row))
        for _ in range(self.at_once):
            self._spawn(self._work)

    def wake(self) -> None:
        """Something was asked for: do not wait for the next look."""
        self._asked.set()

    def close(self) -> None:
        """Begin with no further release; those that are being made go on by themselves."""
        self._ended.set()
        self._asked.set()
        for thread in self._threads:
            thread.join()

    def _spawn(self, work: Any) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    # The queue

    def _work(self) -> None:
        while not self._ended.is_set():
            row = None
            # The database may be away for a while; what waits in it is not lost.
            with suppress(DatabaseAway):
                row = self._claimed()
            if row is not None:
                try:
                    self._make(row)
                except Exception:
                    # Whatever failed here says nothing of the release: its process and the ledger do.
                    self._take_over(row)
            else:
                self._asked.wait(_LOOK)
                self._asked.clear()

    def _claimed(self) -> Mapping[str, Any] | None:
        """The release that waits for longest, which is ours from here on."""
        with self.database.begin() as rows:
            claimed = rows.one(
                "UPDATE veil_studio_releases SET state = 'running', host = :host, beat = now() WHERE id = ("
                "SELECT id FROM veil_studio_releases WHERE state = 'waiting' ORDER BY asked_at "
                "LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
                host=self.place.host,
            )
            return None if claimed is None else rows.one(f"{_ROW} WHERE r.id = :id", id=claimed["id"])

    def _begun(self) -> list[Mapping[str, Any]]:
        """What was begun here by a process that is no more."""
        with self.database.begin() as rows:
            return rows.all(f"{_ROW} WHERE r.state = 'running' AND r.host = :host", host=self.place.host)

    # One release

    def _folder(self, row: Mapping[str, Any]) -> Path:
        return self.place.workspace.place("releases", row["id"])

    def _make(self, row: Mapping[str, Any]) -> None:
        try:
            order, lists = self._order(row)
        except VeilError as error:
            self._end(row, FAILED, f"{error} {FREE}")
            return
        folder = self._folder(row)
        (folder / _LISTS).mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in lists.items():
            (folder / _LISTS / name).write_bytes(content)
        with (folder / _OUTPUT).open("wb") as output:
            process = subprocess.Popen(
                # -P: modules are not looked for in the folder of lists, whose names and content are others'.
                [sys.executable, "-P", "-m", jobs.WORKER],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.DEVNULL,
                cwd=folder / _LISTS,
                start_new_session=True,
            )
        # Before it has its order: who comes after us must know the process that may charge.
        write_note(folder / _PROCESS, {"process": process.pid})
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"diary": str(folder / _DIARY), "arguments": order}).encode())
            process.stdin.close()
        code = None
        while code is None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_WATCH)
            if code is None:
                self._watch(row, process.pid)
            if self._ended.is_set():
                # It goes on; who starts here next looks after it.
                return
        self._finish(row, code)

    def _order(self, row: Mapping[str, Any]) -> tuple[list[str], dict[str, bytes]]:
        """The command, and the public lists that it reads; an error if anything is not what was approved."""
        request = FrozenRequest(row["request"])
        content = request.content
        if request.sha256 != row["sha256"] or row["proposal_state"] != "approved":
            raise LedgerCorrupt("plan", "another plan than the one that was approved")
        source = self.sources.get(row["project"], content["source"]["id"])
        if source.seal != content["source"]["seal"]:
            raise LedgerCorrupt("source", "another source than the one that was approved")
        lists = {name: self.lists.content(row["project"], name) for name in content["lists"]}
        for name, found in lists.items():
            if sha256(found).hexdigest() != content["lists"][name]:
                raise LedgerCorrupt(f"list {name}", "another list than the one that was approved")
        folder = self._folder(row)
        order = arguments(request, self.sources.location(row["project"], source.id))
        order += ["--ledger", self.place.workspace.ledger, f"--dataset={content['budget']}"]
        order += [f"--approved-plan={row['sha256']}", f"--released-by={row['asked_by_name']}"]
        order += [f"--reason={content['reason']}"] if content["reason"] else []
        order += ["--output", str(folder / RECORD), "--report", str(folder / REPORT), "--json"]
        return order, lists

    def _watch(self, row: Mapping[str, Any], process: int) -> None:
        """Tell the others how far it is, and stop it if somebody asked for that."""
        with suppress(DatabaseAway):
            with self.database.begin() as rows:
                found = rows.one(
                    "UPDATE veil_studio_releases SET beat = now(), phase = :phase "
                    "WHERE id = :id RETURNING stop",
                    id=row["id"],
                    phase=_phase(self._diary(row)),
                )
            if found is not None and found["stop"]:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)

    def _diary(self, row: Mapping[str, Any]) -> list[dict[str, str]]:
        try:
            return read_diary((self._folder(row) / _DIARY).read_text(encoding="utf-8"))
        except OSError:
            return []

    def _take_over(self, row: Mapping[str, Any]) -> None:
        """A release that was begun here before: wait until its process has ended, and look what there is."""
        try:
            process = int(json.loads((self._folder(row) / _PROCESS).read_text())["process"])
        except (OSError, ValueError, KeyError):
            process = None
        while process is not None and jobs.is_worker(process):
            self._watch(row, process)
            if self._ended.wait(_WATCH):
                return
        self._finish(row, None)

    # What came of it

    def _finish(self, row: Mapping[str, Any], code: int | None) -> None:
        """code: of the process; None where nobody was there to see it."""
        while not self._ended.is_set():
            try:
                self._end(row, *self._outcome(row, code))
            except (DatabaseAway, LedgerUnavailable):
                # What it cost is said once that is known.
                self._ended.wait(_LOOK)
                continue
            except VeilError as error:
                self._end(row, FAILED, f"The ledger does not say whether it was charged: {error}")
            return

    def _outcome(self, row: Mapping[str, Any], code: int | None) -> tuple[str, str, str]:
        """Its state, what may be told to stewards, and the entry of the ledger."""
        content, folder = FrozenRequest(row["request"]).content, self._folder(row)
        diary = self._diary(row)
        error = jobs.error_in(folder / _OUTPUT)
        said = error.get("message", "")
        if code == _BUDGET_REFUSED:
            return REFUSED, said, ""
        if (folder / RECORD).is_file():
            from veil.core.files import load

            with suppress(VeilError):
                out = load(folder / RECORD)
                confirm_found(out, self.place.workspace.ledger)
                if not (folder / REPORT).is_file():
                    out.report(folder / REPORT)
                return DONE, said, charged_as(diary) or str(out.entry or "")
        # The hash of the plan says for certain whether it was charged, and as what.
        from veil.cli.ledger_options import ledger_at

        charged = (
            ledger_at(self.place.workspace.ledger).dataset(content["budget"]).charged_plan(row["sha256"])
        )
        if charged is not None:
            return LOST, f"{said} {NO_RESULT}".strip(), f"{charged.dataset}/{charged.number}"
        if code in jobs.TOLD and not began_to_charge(diary):
            return CANCELLED, "Nothing was charged and nothing was drawn.", ""
        if said:
            return FAILED, said, ""
        how = "It was interrupted." if code is None else "Its process ended without saying why."
        return FAILED, f"{how} {FREE}", ""

    def _end(self, row: Mapping[str, Any], state: str, details: str, entry: str = "") -> None:
        folder = self._folder(row)
        diary = folder / _DIARY
        files = {
            name: (folder / file).read_bytes() if state == DONE and (folder / file).is_file() else None
            for name, file in (("record", RECORD), ("report", REPORT))
        }
        with self.database.begin() as rows:
            ended = rows.run(
                "UPDATE veil_studio_releases SET state = :state, details = :details, charge = :charge, "
                "diary = :diary, record = :record, report = :report, phase = '', ended_at = now() "
                "WHERE id = :id AND state = 'running'",
                id=row["id"],
                state=state,
                details=details[:_LONGEST].replace("\0", ""),
                charge=entry,
                diary=diary.read_text(encoding="utf-8", errors="replace") if diary.is_file() else "",
                **files,
            )
            if ended:
                note(
                    rows,
                    row["asked_by_name"],
                    f"release ended: {state}",
                    project=row["project"],
                    release=row["id"],
                    charge=entry,
                )


_ROW = (
    "SELECT r.id, r.project, p.request, p.sha256, p.state AS proposal_state, a.name AS asked_by_name "
    "FROM veil_studio_releases r JOIN veil_studio_proposals p ON p.id = r.proposal "
    "JOIN veil_studio_accounts a ON a.id = r.asked_by"
)


def _phase(diary: list[dict[str, str]]) -> str:
    """How far it is, in words that do not depend on the data."""
    steps = [line.get("step", "") for line in diary]
    if any(step.startswith(CHARGED) for step in steps):
        return "charged"
    return "charging" if CHARGING in steps else "started"
