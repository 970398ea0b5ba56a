"""Proposals: plans that analysts froze, and what stewards decided about them.

What is approved is a hash. To release anything else, however little it differs, takes another approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from veil.core.errors import InvalidArgument, LedgerCorrupt
from veil.studio.draft import Draft
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database, Rows
from veil.studio.team.faults import NotAllowed, NotHere
from veil.studio.team.lists import Lists
from veil.studio.team.projects import Project
from veil.studio.team.requests import FrozenRequest, source_of
from veil.studio.team.sources import Sources
from veil.studio.workspace import new_id

PROPOSED, APPROVED, REFUSED, WITHDRAWN = "proposed", "approved", "refused", "withdrawn"
_LONGEST_NOTE = 500


@dataclass(frozen=True)
class Proposal:
    """author, decided_by: names of accounts. release: the one that was asked for; empty if there is none."""

    id: str
    project: str
    draft: str
    version: int
    author: str
    request: FrozenRequest
    sha256: str
    state: str
    decided_by: str
    decided_at: datetime | None
    note: str
    made_at: datetime
    release: str

    @property
    def title(self) -> str:
        return str(self.request.content["title"])

    @property
    def is_intact(self) -> bool:
        """Whether it is what was hashed when it was proposed."""
        return self.request.sha256 == self.sha256


_ALL = (
    "SELECT p.*, a.name AS author_name, d.name AS decided_name, coalesce(r.id, '') AS release "
    "FROM veil_studio_proposals p JOIN veil_studio_accounts a ON a.id = p.author "
    "LEFT JOIN veil_studio_accounts d ON d.id = p.decided_by "
    "LEFT JOIN veil_studio_releases r ON r.proposal = p.id WHERE p.project = :project"
)


def proposal_of(row: Mapping[str, Any]) -> Proposal:
    """A proposal as the database has it."""
    return Proposal(
        id=row["id"],
        project=row["project"],
        draft=row["draft"],
        version=row["version"],
        author=row["author_name"],
        request=FrozenRequest(row["request"]),
        sha256=row["sha256"],
        state=row["state"],
        decided_by=row["decided_name"] or "",
        decided_at=row["decided_at"],
        note=row["note"],
        made_at=row["made_at"],
        release=row["release"],
    )


@dataclass(frozen=True)
class Proposals:
    """All proposals. single_steward: one steward may approve what they proposed themselves."""

    database: Database
    sources: Sources
    lists: Lists
    single_steward: bool

    def of(self, project: Project, account: Account) -> list[Proposal]:
        """Those of a project that the account may see, the newest first: stewards all, others their own."""
        with self.database.begin() as rows:
            found = rows.all(
                f"{_ALL} AND (:all OR p.author = :account) ORDER BY p.made_at DESC",
                project=project.id,
                all=account.is_steward,
                account=account.id,
            )
        return [proposal_of(row) for row in found]

    def get(self, project: Project, account: Account, name: str) -> Proposal:
        """One of them."""
        with self.database.begin() as rows:
            return _found(rows, project, account, name)

    def before(self, proposal: Proposal) -> Proposal | None:
        """The version that was proposed before it."""
        with self.database.begin() as rows:
            row = rows.one(
                f"{_ALL} AND p.draft = :draft AND p.version < :version ORDER BY p.version DESC LIMIT 1",
                project=proposal.project,
                draft=proposal.draft,
                version=proposal.version,
            )
        return None if row is None else proposal_of(row)

    def propose(self, project: Project, account: Account, draft: Draft) -> Proposal:
        """Freeze a draft. Earlier versions that were not released yet are withdrawn."""
        source = self.sources.get(project.id, source_of(draft))
        if source.retired:
            raise NotHere("There is no such source.")
        made = new_id()
        with self.database.begin() as rows:
            # One at a time proposes this draft.
            rows.run("SELECT id FROM veil_studio_drafts WHERE id = :id FOR UPDATE", id=draft.id)
            last = rows.one(
                "SELECT max(version) AS last FROM veil_studio_proposals WHERE draft = :draft", draft=draft.id
            )
            number = 1 + (0 if last is None or last["last"] is None else int(last["last"]))
            request = FrozenRequest.of(
                draft, source, self.lists, project=project.id, author=account.name, number=number
            )
            rows.run(
                "UPDATE veil_studio_proposals p SET state = 'withdrawn' WHERE draft = :draft "
                "AND state IN ('proposed', 'approved') "
                "AND NOT EXISTS (SELECT 1 FROM veil_studio_releases r WHERE r.proposal = p.id)",
                draft=draft.id,
            )
            rows.run(
                "INSERT INTO veil_studio_proposals "
                "(id, project, draft, version, author, request, sha256, state) VALUES "
                "(:id, :project, :draft, :version, :author, :request, :sha256, 'proposed')",
                id=made,
                project=project.id,
                draft=draft.id,
                version=number,
                author=account.id,
                request=request.text,
                sha256=request.sha256,
            )
            note(
                rows, account.name, "plan proposed", project=project.id, proposal=made, sha256=request.sha256
            )
            return _found(rows, project, account, made)

    def may_decide(self, proposal: Proposal, account: Account) -> bool:
        """Whether the account may approve or refuse it: a steward, and not who proposed it."""
        return account.is_steward and (self.single_steward or account.name != proposal.author)

    def decide(
        self, project: Project, account: Account, name: str, *, approves: bool, seen: str, note_text: str
    ) -> Proposal:
        """Approve or refuse. seen: the hash of what the steward was shown."""
        with self.database.begin() as rows:
            proposal = _locked(rows, project, account, name)
            if not self.may_decide(proposal, account):
                raise NotAllowed("A plan is approved by another steward than who proposed it.")
            if seen != proposal.sha256:
                raise InvalidArgument(
                    "plan", expected="the hash of this plan", found="that of another: look at it again"
                )
            _check_intact(proposal)
            if proposal.state != PROPOSED:
                raise InvalidArgument(
                    "plan", expected="one that waits for a decision", found=f"one that is {proposal.state}"
                )
            rows.run(
                "UPDATE veil_studio_proposals SET state = :state, decided_by = :by, decided_at = now(), "
                "note = :note WHERE id = :id",
                state=APPROVED if approves else REFUSED,
                by=account.id,
                note=" ".join(note_text.split())[:_LONGEST_NOTE],
                id=proposal.id,
            )
            note(
                rows,
                account.name,
                "plan approved" if approves else "plan refused",
                project=project.id,
                proposal=proposal.id,
                sha256=proposal.sha256,
            )
            return _found(rows, project, account, name)

    def withdraw(self, project: Project, account: Account, name: str) -> None:
        """Take back what was proposed, as long as no release was asked for."""
        with self.database.begin() as rows:
            proposal = _locked(rows, project, account, name)
            if proposal.author != account.name and not account.is_steward:
                raise NotAllowed("A plan is withdrawn by who proposed it, or by a steward.")
            if proposal.state not in (PROPOSED, APPROVED) or proposal.release:
                raise InvalidArgument(
                    "plan", expected="one that is open", found=f"one that is {proposal.state}"
                )
            rows.run("UPDATE veil_studio_proposals SET state = 'withdrawn' WHERE id = :id", id=proposal.id)
            note(rows, account.name, "plan withdrawn", project=project.id, proposal=proposal.id)

    def ask_release(self, project: Project, account: Account, name: str) -> str:
        """Ask for the release of an approved plan, once; the release, also if it was asked for before."""
        with self.database.begin() as rows:
            proposal = _locked(rows, project, account, name)
            if proposal.author != account.name and not account.is_steward:
                raise NotAllowed("A plan is released by who proposed it, or by a steward.")
            if proposal.release:
                return proposal.release
            _check_intact(proposal)
            if proposal.state != APPROVED:
                raise InvalidArgument(
                    "plan", expected="one that was approved", found=f"one that is {proposal.state}"
                )
            made = new_id()
            rows.run(
                "INSERT INTO veil_studio_releases (id, project, proposal, asked_by, state) "
                "VALUES (:id, :project, :proposal, :by, 'waiting')",
                id=made,
                project=project.id,
                proposal=proposal.id,
                by=account.id,
            )
            note(
                rows,
                account.name,
                "release asked for",
                project=project.id,
                release=made,
                sha256=proposal.sha256,
            )
        return made


def _found(rows: Rows, project: Project, account: Account, name: str) -> Proposal:
    row = rows.one(
        f"{_ALL} AND p.id = :id AND (:all OR p.author = :account)",
        project=project.id,
        id=name,
        all=account.is_steward,
        account=account.id,
    )
    if row is None:
        raise NotHere("There is no such plan.")
    return proposal_of(row)


def _locked(rows: Rows, project: Project, account: Account, name: str) -> Proposal:
    """The proposal, which nobody else changes meanwhile."""
    rows.run(
        "SELECT id FROM veil_studio_proposals WHERE id = :id AND project = :project FOR UPDATE",
        id=name,
        project=project.id,
    )
    return _found(rows, project, account, name)


def _check_intact(proposal: Proposal) -> None:
    if not proposal.is_intact:
        raise LedgerCorrupt(f"plan {proposal.id}", "other content than what was hashed")
