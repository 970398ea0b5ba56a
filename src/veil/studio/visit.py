"""One request of a browser, and the answers that pages give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from veil.studio.jobs import Jobs
from veil.studio.planning import Plans
from veil.studio.workspace import Workspace
from veil.version import __version__

if TYPE_CHECKING:
    from veil.ledger.ledger import Ledger
    from veil.studio.draft import Drafts


@dataclass
class Studio:
    """What all pages share."""

    workspace: Workspace
    drafts: Drafts
    jobs: Jobs
    plans: Plans = field(default_factory=Plans)

    @property
    def ledger(self) -> Ledger:
        """The budgets, with the key and the anchors that the environment names."""
        from veil.cli.ledger_options import ledger_at

        return ledger_at(self.workspace.ledger)

    def datasets(self) -> list[Any]:
        """The budgets by name; none where the ledger was not made yet."""
        from veil.ledger.address import Address
        from veil.ledger.history import BudgetHistory

        file = Address.of(self.workspace.ledger).file
        if file is not None and not file.exists():
            return []
        ledger = self.ledger
        return [BudgetHistory.of(ledger.dataset(name)) for name in ledger.datasets()]


@dataclass(frozen=True)
class Visit:
    """A request that was let in. proof: what every form of an answer must hold; base: before every path."""

    studio: Studio
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    files: Mapping[str, UploadFile]
    session: str
    proof: str
    base: str

    def page(self, template: str, *, status: int = 200, **content: Any) -> Response:
        """A page of the workbench."""
        from veil.report.page import page

        text = page(
            template,
            package="veil.studio",
            studio=self.studio,
            proof=self.proof,
            base=self.base,
            version=__version__,
            log=math.log,
            **content,
        )
        return HTMLResponse(text, status_code=status)

    def go(self, path: str) -> Response:
        """Show another page after something was done, so that reloading does not do it again."""
        return RedirectResponse(self.base + path, status_code=303)
