"""What a release might look like: the same mechanism on made-up data of the same public size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.job import Job
from veil.core.record import Release

_SEED = 22


@dataclass(frozen=True)
class Preview:
    """A release of made-up data. Nobody's data is in it.

    job: the release, with the made-up value in the place of the sensitive one. made_up: a view of that value
    as it is (`veil.report.views`), with the same title as the view of the release that it stands beside.
    """

    job: Job[Any]
    made_up: Any

    def draw(self) -> Release[Any]:
        """The release of the made-up data, the same every time."""
        return self.job.run(rng=_SEED)

    def view_of(self, release: Release[Any]) -> Any | None:
        """The view of the release that shows the same; None where the release tells too little for it."""
        return next((view for view in release.kind.views(release) if view.title == self.made_up.title), None)
