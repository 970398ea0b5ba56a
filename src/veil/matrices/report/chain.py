"""The report of a chain or a released matrix: one HTML file that needs nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.report import section_figures
from veil.chains.report.counted import CountedChain
from veil.core.errors import InvalidField, VeilError
from veil.core.intake import Floats
from veil.core.privacy.beliefs import best_guess
from veil.core.published import Published
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.chain_classes import CommunicatingClass
from veil.matrices.chain_facts import ChainFacts, chain_facts
from veil.matrices.chain_intervals import ChainIntervals, chain_intervals
from veil.matrices.report import chain_figures
from veil.report import figures
from veil.report.page import page
from veil.vectors.report.page import matrix_published_beside

# Pictures and error bars of more states would be neither quick nor readable.
MOST_PICTURED = 400
_MOST_INTERVALS = 300
# A proved share that is anywhere from this to 1 less this says nothing.
_NOTHING = 0.01
_SPOKEN = {
    "GeometricCounts": "geometric noise on every count",
    "DiscreteGaussianCounts": "discrete Gaussian noise on every count",
    "DirichletCounts": "the Dirichlet mechanism on counts",
    "BorderedRows": "the published Dirichlet mechanism",
}


@dataclass(frozen=True, slots=True)
class ChainReport:
    """All that the page and the terminal show: of a chain, of a release, or of both."""

    chain: Chain | None
    release: Release | None
    facts: ChainFacts | None
    classes: tuple[CommunicatingClass, ...]
    intervals: ChainIntervals | None
    published: Published | None
    counted: CountedChain | None = None
    # Why there are no error bars, where a reader may expect some.
    no_bars: str | None = None
    group: str | None = None

    @classmethod
    def of(cls, chain: Chain, release: Release | None = None, *, group: str | None = None) -> ChainReport:
        """The analysis of a chain; of a released one with error bars for the true chain.

        group: the chain is the one of this group of a release.
        """
        bars, why = _bars(chain, release)
        if group is not None:
            why = "they are known for the chain of all groups together, not for that of one group"
        return cls(
            chain=chain,
            release=release,
            facts=chain_facts(chain),
            classes=chain.classes(),
            intervals=bars,
            published=None if release is None else matrix_published_beside(release),
            counted=None if release is None else CountedChain.of(release, bars),
            no_bars=why,
            group=group,
        )

    @classmethod
    def of_release(cls, release: Release) -> ChainReport:
        """The report of a released matrix; where it is a chain, with its analysis."""
        try:
            chain = release.to_chain()
        except InvalidField:
            # A policy, a stack or a batch.
            chain = None
        if chain is not None:
            return cls.of(chain, release)
        return cls(None, release, None, (), None, matrix_published_beside(release))

    @property
    def released_by(self) -> str:
        """The mechanism as people say it."""
        assert self.release is not None
        mechanism = self.release.mechanism
        if not isinstance(mechanism, PrivateChain):
            return mechanism.name
        return _SPOKEN[mechanism.part("transitions").mechanism.name]

    @property
    def matrix(self) -> Floats:
        if self.chain is not None:
            return self.chain.to_numpy()
        assert self.release is not None
        return self.release.array.reshape(-1, self.release.array.shape[-1])

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of the rows and of the columns."""
        if self.chain is not None:
            names = tuple(map(str, self.chain.states))
            return names, names
        assert self.release is not None
        rows, columns = self.matrix.shape
        return (
            self.release.row_labels or tuple(map(str, range(rows))),
            self.release.labels or tuple(map(str, range(columns))),
        )

    @property
    def stationary(self) -> Floats | None:
        return self.chain.stationary() if self.chain is not None and self.chain.is_irreducible else None

    def top(self, most: int = 20) -> list[tuple[str, float, Any]]:
        """The states with the largest share of time: label, share, interval if there is one."""
        if self.stationary is None:
            return []
        names = self.labels[0]
        order = np.argsort(-self.stationary, kind="stable")[:most]
        bars = None if self.intervals is None else self.intervals.stationary
        return [(names[i], float(self.stationary[i]), None if bars is None else bars[i]) for i in order]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        found: dict[str, Any] = {}
        if self.chain is not None and self.facts is not None:
            found |= {"states": list(map(str, self.chain.states)), "facts": self.facts.to_dict()}
            found["classes"] = [
                {"states": list(map(str, group.states)), "closed": group.closed, "period": group.period}
                for group in self.classes
            ]
        if self.stationary is not None:
            found["stationary"] = self.stationary.tolist()
        if self.intervals is not None:
            found["intervals"] = {
                "confidence": self.intervals.confidence,
                "stationary": self.intervals.stationary.tolist(),
                "stationary_proved": self.intervals.proved_stationary.tolist(),
                "transitions": self.intervals.transitions.tolist(),
            }
        if self.release is not None:
            found["privacy"] = {"epsilon": self.release.epsilon, "delta": self.release.delta}
        return found

    def html(self) -> str:
        """The page."""
        release = self.release
        curve = None
        if release is not None:
            picture = figures.privacy_figure(
                release.profile, epsilon=release.epsilon, delta=release.delta, published=self.published
            )
            curve = figures.svg(picture)
        return page(
            "chain.html",
            report=self,
            release=release,
            guess=None if release is None else best_guess(release.profile),
            curve=curve,
            inf=math.inf,
            rows=self._rows(),
            numbers=self._numbers(),
            digits=_digits(None if self.intervals is None else self.intervals.stationary),
            route_digits=_digits(self._route_bars()),
            proved=self._proof_says_something,
            most_ticks=chain_figures.MOST_TICKS,
            **self._pictures(),
        )

    def _rows(self) -> list[tuple[str, float, int]]:
        if self.stationary is None:
            return []
        names, order = self.labels[0], np.argsort(-self.stationary, kind="stable")
        return [(names[i], float(self.stationary[i]), int(i)) for i in order[:MOST_PICTURED]]

    def _route_bars(self) -> Floats | None:
        routes = () if self.counted is None else self.counted.routes
        found = [route.interval for route in routes if route.interval is not None]
        return np.array(found) if found else None

    @property
    def _proof_says_something(self) -> bool:
        """Whether a proved bound of any state is more than that a share is between 0 and 1."""
        if self.intervals is None:
            return False
        proved = self.intervals.proved_stationary
        return bool((proved[:, 0] > _NOTHING).any() or (proved[:, 1] < 1.0 - _NOTHING).any())

    def _numbers(self) -> list[tuple[str, float, str]]:
        """Name (HTML), figure and what it means, of those that exist."""
        facts = self.facts
        if facts is None:
            return []
        named: list[tuple[str, float | None, str]] = [
            ("period", facts.period, "1: the chain forgets its start"),
            ("mixing time", facts.mixing_time, "steps until every start is within ¼ of the long run"),
            (
                "second eigenvalue",
                facts.second_eigenvalue,
                "the error left after t steps shrinks like its t-th power",
            ),
            ("Kemeny&#39;s constant", facts.kemeny, "mean steps to a state drawn from the long run"),
            ("entropy rate", facts.entropy_rate, "uncertainty of a step, in nats"),
            ("τ<sub>1</sub>", facts.ergodicity_1, "largest total variation between two rows"),
            ("τ<sub>∞</sub>", facts.ergodicity_inf, "the papers’ coefficient; can exceed 1"),
            (
                "condition",
                facts.condition,
                "an error of the rows moves the long run by at most this factor (L1)",
            ),
        ]
        return [(name, value, why) for name, value, why in named if value is not None]

    def _pictures(self) -> dict[str, Any]:
        found: dict[str, str | None] = dict.fromkeys(
            ("heat", "bars", "graph", "mechanisms", "starts", "ends", "lengths")
        )
        sections = None if self.counted is None else self.counted.sections
        if sections is not None:
            for name, shares in (("starts", sections.starts), ("ends", sections.ends)):
                if shares is not None:
                    found[name] = figures.svg(section_figures.share_figure(shares, self.labels[0], name))
            if sections.lengths is not None:
                found["lengths"] = figures.svg(section_figures.length_figure(sections.lengths.law))
        if self.counted is not None and self.counted.comparison is not None:
            found["mechanisms"] = figures.svg(chain_figures.plan_bars(self.counted.comparison))
        rows, columns = self.labels
        if len(rows) <= MOST_PICTURED:
            found["heat"] = figures.svg(chain_figures.heat_map(self.matrix, rows, columns))
        if self.stationary is not None:
            bars = None if self.intervals is None else self.intervals.stationary
            found["bars"] = figures.svg(chain_figures.stationary_figure(self.stationary, rows, bars))
        if self.chain is not None and 2 <= len(rows) <= chain_figures.MOST_DRAWN:
            found["graph"] = figures.svg(chain_figures.graph_figure(self.matrix, rows, self.stationary))
        return found


def _bars(chain: Chain, release: Release | None) -> tuple[ChainIntervals | None, str | None]:
    """The error bars of a release, or why there are none."""
    if release is None:
        return None, None
    if not chain.is_irreducible:
        return None, "the chain is reducible, so that its long run depends on where it starts"
    if len(chain) > _MOST_INTERVALS:
        return None, f"of more than {_MOST_INTERVALS} states they would take too long"
    try:
        return chain_intervals(release), None
    except InvalidField as error:
        text = f"they need {error.expected}, and this is {error.found}. {error.hint}"
        return None, text.rstrip(" .")
    except VeilError as error:
        return None, str(error).rstrip(".")


def _digits(bars: Floats | None) -> int:
    """So many digits that the two ends of an interval can be told apart."""
    if bars is None:
        return 4
    widths = bars[:, 1] - bars[:, 0]
    least = float(widths[widths > 0.0].min(initial=1.0))
    return int(np.clip(1 + math.ceil(-math.log10(least)), 4, 7))
