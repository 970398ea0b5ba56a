"""What all pages of a team share, and what the pages of one project see of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.studio.planning import Plans
from veil.studio.team.accounts import Account, Accounts
from veil.studio.team.attempts import Attempts
from veil.studio.team.budgets import Budgets
from veil.studio.team.database import Database
from veil.studio.team.drafts import TeamDrafts
from veil.studio.team.lists import Lists
from veil.studio.team.plans import ProjectPlans, plans_in
from veil.studio.team.projects import Project, Projects
from veil.studio.team.proposals import Proposals
from veil.studio.team.releases import TeamJobs
from veil.studio.team.runner import Place, Runner
from veil.studio.team.sealing import Sealing
from veil.studio.team.sessions import Sessions
from veil.studio.team.settings import Settings
from veil.studio.team.sources import Sources
from veil.studio.workspace import Workspace


@dataclass
class Team:
    """The workbench of a team, in one of its processes."""

    settings: Settings
    database: Database
    place: Place
    accounts: Accounts
    sessions: Sessions
    attempts: Attempts
    projects: Projects
    budgets: Budgets
    sources: Sources
    lists: Lists
    proposals: Proposals
    plans: Plans
    runner: Runner
    provider: Any = None

    @classmethod
    def opened(
        cls, settings: Settings, database: Database, sealing: Sealing, *, provider: Any = None
    ) -> Team:
        """provider: of identities, if people sign in there."""
        place = Place.taken(settings.folder, settings.ledger)
        sources = Sources(database, sealing, settings.data)
        sources.check_key()
        lists = Lists(database, place.workspace.folder / "lists")
        return cls(
            settings=settings,
            database=database,
            place=place,
            accounts=Accounts(database),
            sessions=Sessions(database, settings.idle, settings.longest),
            attempts=Attempts(database),
            projects=Projects(database),
            budgets=Budgets(database, settings.ledger),
            sources=sources,
            lists=lists,
            proposals=Proposals(database, sources, lists, settings.single_steward),
            plans=plans_in(place.workspace.folder / "empty"),
            runner=Runner(database, sources, lists, place, settings.workers),
            provider=provider,
        )

    def close(self) -> None:
        """Stop, but for the releases that are being made."""
        self.runner.close()
        self.plans.close()
        self.database.close()
        self.place.leave()


@dataclass(frozen=True)
class ProjectStudio:
    """What the pages of one project share, for one account: as in a workbench for one person."""

    team: Team
    project: Project
    account: Account

    @property
    def workspace(self) -> Workspace:
        return self.team.place.workspace

    @property
    def drafts(self) -> TeamDrafts:
        team = self.team
        uploads = self.workspace.folder / "uploads"
        return TeamDrafts(team.database, team.sources, team.lists, self.project, self.account, uploads)

    @property
    def jobs(self) -> TeamJobs:
        return TeamJobs(self.team.database, self.workspace, self.project.id, self.account)

    @property
    def plans(self) -> ProjectPlans:
        return ProjectPlans(self.team.plans, self.team.lists, self.project.id)

    @property
    def ledger(self) -> Any:
        return self.team.budgets.ledger

    def datasets(self) -> list[Any]:
        """The budgets of the project."""
        return self.team.budgets.histories(self.project)

    @property
    def sources(self) -> list[Any]:
        """The data that can be chosen."""
        return self.team.sources.of(self.project)
