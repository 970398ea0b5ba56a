"""The report of audits: one HTML file that needs nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

from veil.core.audit.suite import AuditSuite
from veil.report import figures
from veil.report.audit_figures import bounds_figure
from veil.report.page import page
from veil.version import __version__


@dataclass(frozen=True)
class AuditReport:
    """All that the page shows. Nothing of it comes from anybody's data.

    confidence: one less the chance of a false alarm in all suites together. source: the release file, if one.
    """

    suites: tuple[AuditSuite, ...]
    confidence: float
    source: str = ""

    @property
    def violated(self) -> bool:
        return any(suite.violated for suite in self.suites)

    @property
    def pairs(self) -> int:
        return sum(len(suite.pairs) for suite in self.suites)

    @property
    def exact(self) -> int:
        """How many pairs were enumerated."""
        return sum(found.exact for suite in self.suites for found in suite.audits)

    @property
    def false_alarm(self) -> float:
        return 1.0 - self.confidence

    def html(self) -> str:
        """The page."""
        pictures = [
            figures.svg(bounds_figure([pair.name for pair in suite.pairs], suite.audits))
            for suite in self.suites
        ]
        return page(
            "audit.html",
            infinity=math.inf,
            report=self,
            sections=list(zip(self.suites, pictures, strict=True)),
            version=__version__,
        )
