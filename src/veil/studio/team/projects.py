"""Projects: who works together on which data, under which budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.text import visible
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database
from veil.studio.team.faults import NotHere
from veil.studio.workspace import new_id

LONGEST_TITLE = 100


@dataclass(frozen=True)
class Project:
    """Work on some data."""

    id: str
    title: str
    made_at: datetime


def checked_title(title: str) -> str:
    """A title that is there, in one line."""
    plain = visible(" ".join(title.split()))[:LONGEST_TITLE]
    if not plain:
        raise InvalidArgument("title", expected="a title", found="none")
    return plain


def _project(row: Mapping[str, Any]) -> Project:
    return Project(row["id"], row["title"], row["made_at"])


@dataclass(frozen=True)
class Projects:
    """All projects."""

    database: Database

    def of(self, account: Account) -> list[Project]:
        """Those in which the account is a member."""
        with self.database.begin() as rows:
            found = rows.all(
                "SELECT p.* FROM veil_studio_projects p JOIN veil_studio_members m ON m.project = p.id "
                "WHERE m.account = :account ORDER BY p.title",
                account=account.id,
            )
        return [_project(row) for row in found]

    def get(self, name: str, account: Account) -> Project:
        """A project, for a member; for all others there is none."""
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT p.* FROM veil_studio_projects p JOIN veil_studio_members m ON m.project = p.id "
                "WHERE p.id = :project AND m.account = :account",
                project=name,
                account=account.id,
            )
        if row is None:
            raise NotHere("There is no such project.")
        return _project(row)

    def add(self, title: str, account: Account) -> Project:
        """A new project, of which who makes it is a member."""
        title, made = checked_title(title), new_id()
        with self.database.begin() as rows:
            rows.run(
                "INSERT INTO veil_studio_projects (id, title) VALUES (:id, :title)", id=made, title=title
            )
            rows.run(_JOIN, project=made, account=account.id)
            note(rows, account.name, "project made", project=made, title=title)
        return self.get(made, account)

    def members(self, project: Project) -> list[Mapping[str, Any]]:
        """Who works on it: names and roles."""
        with self.database.begin() as rows:
            return rows.all(
                "SELECT a.name, a.role, a.disabled FROM veil_studio_accounts a "
                "JOIN veil_studio_members m ON m.account = a.id WHERE m.project = :project ORDER BY a.name",
                project=project.id,
            )

    def join(self, project: Project, name: str, by: Account) -> None:
        """Make an account a member."""
        with self.database.begin() as rows:
            found = rows.one(
                "SELECT id, name FROM veil_studio_accounts WHERE name = :name AND NOT disabled",
                name=name.strip().casefold(),
            )
            if found is None:
                raise InvalidArgument("name", expected="the name of an account", found="no such account")
            if rows.run(f"{_JOIN} ON CONFLICT DO NOTHING", project=project.id, account=found["id"]):
                note(rows, by.name, "member added", project=project.id, account=found["name"])

    def leave(self, project: Project, name: str, by: Account) -> None:
        """Let an account be a member no more; a steward stays."""
        with self.database.begin() as rows:
            rows.run("SELECT id FROM veil_studio_projects WHERE id = :id FOR UPDATE", id=project.id)
            rows.run(
                "DELETE FROM veil_studio_members m USING veil_studio_accounts a "
                "WHERE m.account = a.id AND m.project = :project AND a.name = :name",
                project=project.id,
                name=name.strip().casefold(),
            )
            stewards = rows.one(
                "SELECT count(*) AS left FROM veil_studio_members m JOIN veil_studio_accounts a "
                "ON a.id = m.account WHERE m.project = :project AND a.role = 'steward' AND NOT a.disabled",
                project=project.id,
            )
            if stewards is None or not stewards["left"]:
                raise InvalidArgument("name", expected="that a steward stays", found="the last one")
            note(rows, by.name, "member removed", project=project.id, account=name.strip().casefold())


_JOIN = "INSERT INTO veil_studio_members (project, account) VALUES (:project, :account)"
