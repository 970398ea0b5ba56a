"""Plans for a team: computed where no file can be named but the public lists of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from veil.core.errors import InvalidArgument
from veil.core.kind import kind_named
from veil.studio.forms import label_of
from veil.studio.planning import Expected, Forecast, Plans
from veil.studio.team.lists import Lists


def plans_in(folder: Path) -> Plans:
    """The plans of all projects, in a process that works in an empty folder."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return Plans(folder)


@dataclass(frozen=True)
class ProjectPlans:
    """The plans of one project; it is used like those of a workbench for one person."""

    plans: Plans
    lists: Lists
    project: str

    def ask(self, kind_name: str, texts: Mapping[str, str], epsilon: float, delta: float) -> Forecast | None:
        """What is known by now; None before anything is."""
        try:
            named = self.lists.named_in(self.project, kind_named(kind_name), texts)
        except InvalidArgument as error:
            told = f"{label_of(error.field)}: expected {error.expected}, found {error.found}."
            return Forecast(Expected(epsilon, trouble=told), complete=True)
        texts = dict(texts)
        if named:
            folder = self.lists.place(self.project)
            texts |= {key: str(folder / texts[key].strip()) for key in named}
        return self.plans.ask(kind_name, texts, epsilon, delta)
