"""Budgets of projects: which data sets of the ledger a project charges, and what stewards grant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.errors import InvalidArgument
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database
from veil.studio.team.projects import Project


@dataclass(frozen=True)
class Budgets:
    """The budgets of all projects; what they hold is in the ledger, and there alone."""

    database: Database
    ledger_address: str

    @property
    def ledger(self) -> Any:
        """The ledger, with the key and the anchors that the environment names."""
        from veil.cli.ledger_options import ledger_at

        return ledger_at(self.ledger_address)

    def names(self, project: Project) -> list[str]:
        """The data sets of the ledger that the project may charge."""
        with self.database.begin() as rows:
            found = rows.all(
                "SELECT dataset FROM veil_studio_budgets WHERE project = :project ORDER BY dataset",
                project=project.id,
            )
        return [row["dataset"] for row in found]

    def histories(self, project: Project) -> list[Any]:
        """What happened to each."""
        from veil.ledger.history import BudgetHistory

        names = self.names(project)
        if not names:
            return []
        ledger = self.ledger
        return [BudgetHistory.of(ledger.dataset(name)) for name in names]

    def checked(self, project: Project, name: str) -> str:
        """The name of a budget of this project."""
        if name not in self.names(project):
            raise InvalidArgument("budget", expected="a budget of this project", found="another")
        return name

    def open(
        self, project: Project, by: Account, *, name: str, epsilon: str, delta: str, adjacency: str, why: str
    ) -> None:
        """Grant a new budget."""
        from veil.core.registry import adjacency_named

        near = adjacency_named(adjacency) if adjacency else None
        with self.database.begin() as rows:
            taken = rows.one("SELECT 1 AS found FROM veil_studio_budgets WHERE dataset = :name", name=name)
            if taken is not None:
                raise InvalidArgument("name", expected="a name that is not taken", found=name)
            rows.run(
                "INSERT INTO veil_studio_budgets (dataset, project) VALUES (:name, :project)",
                name=name,
                project=project.id,
            )
            # Within the transaction: if the ledger refuses, the project has no such budget either.
            self.ledger.open(
                name, epsilon=epsilon, delta=delta or "0", adjacency=near, why=why or None, by=by.name
            )
            note(rows, by.name, "budget opened", project=project.id, budget=name)

    def enlarge(
        self, project: Project, by: Account, *, name: str, epsilon: str, delta: str, why: str
    ) -> None:
        """Grant more."""
        dataset = self.ledger.dataset(self.checked(project, name))
        dataset.raise_budget(epsilon=epsilon, **({"delta": delta} if delta else {}), why=why, by=by.name)
        with self.database.begin() as rows:
            note(rows, by.name, "budget raised", project=project.id, budget=name)

    def close(self, project: Project, by: Account, *, name: str, why: str) -> None:
        """Grant nothing any more."""
        self.ledger.dataset(self.checked(project, name)).close(why=why, by=by.name)
        with self.database.begin() as rows:
            note(rows, by.name, "budget closed", project=project.id, budget=name)
