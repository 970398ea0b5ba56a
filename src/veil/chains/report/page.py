"""The report of a chain that was counted from a table: one HTML file that needs nothing else."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.chains.error_bars.intervals import intervals
from veil.chains.released import mechanism_of
from veil.chains.report import section_figures
from veil.chains.report.counted import CountedChain
from veil.core.record import Release
from veil.matrices.chain_error_bars import ChainIntervals
from veil.matrices.report import chain_figures
from veil.matrices.report.chain import ChainReport, digits
from veil.report import figures

_NAMES = {
    "GeometricCounts": "geometric noise on every count",
    "DiscreteGaussianCounts": "discrete Gaussian noise on every count",
    "DirichletCounts": "the Dirichlet mechanism on counts",
    "BorderedRows": "the published Dirichlet mechanism",
}


class CountedReport(ChainReport):
    """The report of a chain, with routes, what else the release holds, and other mechanisms."""

    template: ClassVar[str] = "counted_chain.html"
    packages: ClassVar[tuple[str, ...]] = ("veil.chains.report", "veil.matrices.report")
    secret: ClassVar[str] = "data"
    bars_from: ClassVar[str] = "from the known size of the noise"

    @classmethod
    def _intervals(cls, release: Release[Any]) -> ChainIntervals:
        return intervals(release)

    @cached_property
    def counted(self) -> CountedChain:
        """What only a counted chain has."""
        assert self.release is not None
        return CountedChain.of(self.release, self.intervals)

    @property
    def released_by(self) -> str:
        assert self.release is not None
        return _NAMES[mechanism_of(self.release).part("transitions").mechanism.name]

    def extra_content(self) -> dict[str, Any]:
        bars = [route.interval for route in self.counted.routes if route.interval is not None]
        return {
            "counted": self.counted,
            "route_digits": digits(np.array(bars) if bars else None),
            **self._further_pictures(),
        }

    def _further_pictures(self) -> dict[str, str | None]:
        found: dict[str, str | None] = dict.fromkeys(("mechanisms", "starts", "ends", "lengths"))
        sections = self.counted.sections
        for name, shares in (("starts", sections.starts), ("ends", sections.ends)):
            if shares is not None:
                found[name] = figures.svg(section_figures.share_figure(shares, self.labels[0], name))
        if sections.lengths is not None:
            found["lengths"] = figures.svg(section_figures.length_figure(sections.lengths.law))
        if self.counted.comparison is not None:
            found["mechanisms"] = figures.svg(chain_figures.plan_bars(self.counted.comparison))
        return found
