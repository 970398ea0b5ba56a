"""The report of a chain or a released matrix: one HTML file that needs nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidField, VeilError, with_fields
from veil.core.mechanism import Published
from veil.core.privacy.profile import best_guess
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.chain_intake import CommunicatingClass
from veil.matrices.chain_summary import ChainFacts, chain_facts, to_chain
from veil.matrices.error_bars import ChainIntervals, chain_intervals
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.report import figures as chain_figures
from veil.matrices.report.clustered import Clusters
from veil.report import figures
from veil.report.page import page
from veil.vectors.array_kind import numbered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Pictures and error bars of more states would be neither quick nor readable.
MOST_PICTURED = 400
_MOST_INTERVALS = 300
_NUMBERS = (
    ("period", "period", "1: the chain forgets its start"),
    ("mixing_time", "mixing time", "steps until every start is within ¼ of the long run"),
    ("second_eigenvalue", "second eigenvalue", "the error left after t steps shrinks like its t-th power"),
    ("kemeny", "Kemeny&#39;s constant", "mean steps to a state drawn from the long run"),
    ("entropy_rate", "entropy rate", "uncertainty of a step, in nats"),
    ("ergodicity_1", "τ<sub>1</sub>", "largest total variation between two rows"),
    ("ergodicity_inf", "τ<sub>∞</sub>", "the papers’ coefficient; can exceed 1"),
    ("condition", "condition", "an error of the rows moves the long run by at most this factor (L1)"),
)
# A proved share that is anywhere from this to 1 less this says no more than that it is between 0 and 1.
_NOTHING = 0.01


@dataclass(frozen=True)
class ChainReport:
    """All that the page and the terminal show: of a chain, of a release, or of both.

    A kind of data whose releases are chains may derive its own: with other error bars (`_intervals`), and
    with more to show (`extra_content`, in the blocks of a template that extends chain.html).
    """

    chain: Chain | None
    release: Release[Any] | None
    facts: ChainFacts | None
    classes: tuple[CommunicatingClass, ...]
    intervals: ChainIntervals | None
    published: Published | None
    # Why there are no error bars, where a reader may expect some.
    no_bars: str | None = None
    group: str | None = None
    # Of the rows and of the columns.
    labels: tuple[tuple[str, ...], tuple[str, ...]] = field(init=False)
    stationary: Floats | None = field(init=False, default=None, compare=False)

    # The page, and the packages in which it and what it extends are searched.
    template: ClassVar[str] = "chain.html"
    packages: ClassVar[tuple[str, ...]] = ("veil.matrices.report",)
    # Two versions of what must look alike.
    secret: ClassVar[str] = "matrix"
    # How the error bars were computed.
    bars_from: ClassVar[str] = "by drawing plausible true matrices"

    def __post_init__(self) -> None:
        if self.chain is not None:
            labels = (tuple(map(str, self.chain.states)),) * 2
            if self.chain.is_irreducible:
                object.__setattr__(self, "stationary", self.chain.stationary())
        else:
            assert self.release is not None
            rows, columns = self.matrix.shape
            labels = self.release.row_labels or numbered(rows), self.release.labels or numbered(columns)
        object.__setattr__(self, "labels", labels)

    @classmethod
    def of(cls, chain: Chain, release: Release[Any] | None = None, *, group: str | None = None) -> Self:
        """The analysis of a chain; of a released one with error bars for the true chain.

        group: the chain is the one of this group of a release.
        """
        bars = why = None
        if group is not None:
            why = "they are known for the chain of all groups together, not for that of one group"
        elif release is not None and not chain.is_irreducible:
            why = "the chain is reducible, so that its long run depends on where it starts"
        elif release is not None and len(chain) > _MOST_INTERVALS:
            why = f"of more than {_MOST_INTERVALS} states they would take too long"
        elif release is not None:
            try:
                bars = cls._intervals(release)
            except InvalidField as error:
                text = f"they need {error.expected}, and this is {error.found}. {error.hint}"
                why = with_fields(text, error.names).rstrip(" .")
            except VeilError as error:
                why = str(error).rstrip(".")
        return cls(
            chain=chain,
            release=release,
            facts=chain_facts(chain),
            classes=chain.classes(),
            intervals=bars,
            published=None if release is None else published_beside(release),
            no_bars=why,
            group=group,
        )

    @classmethod
    def of_release(cls, release: Release[Any]) -> Self:
        """The report of a released matrix; where it is a chain, with its analysis."""
        try:
            chain = to_chain(release)
        except InvalidField:
            # A policy, a stack or a batch.
            return cls(None, release, None, (), None, published_beside(release))
        return cls.of(chain, release)

    @classmethod
    def _intervals(cls, release: Release[Any]) -> ChainIntervals:
        return chain_intervals(release)

    def extra_content(self) -> dict[str, Any]:
        """What a template that extends chain.html shows besides."""
        return {}

    @property
    def matrix(self) -> Floats:
        if self.chain is not None:
            return self.chain.to_numpy()
        assert self.release is not None
        value: Floats = self.release.value
        return value.reshape(-1, value.shape[-1])

    @cached_property
    def clusters(self) -> Clusters | None:
        """Of a chain with more states than can be named on a picture."""
        if self.chain is None:
            return None
        return clusters_of(self.chain)

    def top(self, most: int = 20) -> list[tuple[str, float, int]]:
        """The states with the largest share of time: label, share and number."""
        if self.stationary is None:
            return []
        order = np.argsort(-self.stationary, kind="stable")[:most]
        return [(self.labels[0][i], float(self.stationary[i]), int(i)) for i in order]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        content: dict[str, Any] = {}
        if self.chain is not None and self.facts is not None:
            content |= {"states": list(self.labels[0]), "facts": self.facts.to_dict()}
            content["classes"] = [
                {"states": list(map(str, group.states)), "closed": group.closed, "period": group.period}
                for group in self.classes
            ]
        if self.stationary is not None:
            content["stationary"] = self.stationary.tolist()
        if self.intervals is not None:
            content["intervals"] = {
                "confidence": self.intervals.confidence,
                "stationary": self.intervals.stationary.tolist(),
                "stationary_proved": self.intervals.proved_stationary.tolist(),
                "transitions": self.intervals.transitions.tolist(),
            }
            if self.intervals.no_stationary is not None:
                content["intervals"]["no_stationary"] = self.intervals.no_stationary
        if self.release is not None:
            content["privacy"] = {"epsilon": self.release.epsilon, "delta": self.release.delta}
        return content

    def html(self) -> str:
        """The page."""
        content: dict[str, Any] = dict.fromkeys(("heat", "bars", "graph", "flows"))
        if (release := self.release) is not None:
            budget = {"epsilon": release.epsilon, "delta": release.delta}
            curve = figures.privacy_figure(release.profile, published=self.published, **budget)
            content |= {"guess": best_guess(release.profile), "curve": figures.svg(curve)}
            content["released_by"] = release.mechanism.name
        names, bars, proved = self.labels[0], None, False
        if self.intervals is not None and self.intervals.no_stationary is None:
            bars, (low, high) = self.intervals.stationary, self.intervals.proved_stationary.T
            proved = bool((low > _NOTHING).any() or (high < 1.0 - _NOTHING).any())
        if len(names) <= MOST_PICTURED:
            if self.clusters is None:
                content["heat"] = figures.svg(chain_figures.heat_map(self.matrix, *self.labels))
            else:
                content["heat"] = self.clusters.heat_svg(self.matrix, names)
                content["flows"] = figures.svg(self.clusters.flow_figure())
        if self.stationary is not None:
            content["bars"] = figures.svg(chain_figures.stationary_figure(self.stationary, names, bars))
        if self.chain is not None and 2 <= len(names) <= chain_figures.MOST_DRAWN:
            content["graph"] = figures.svg(chain_figures.graph_figure(self.matrix, names, self.stationary))
        known = ((name, getattr(self.facts, of, None), meaning) for of, name, meaning in _NUMBERS)
        return page(
            self.template,
            package=self.packages,
            report=self,
            release=release,
            facts=self.facts,
            inf=math.inf,
            rows=self.top(MOST_PICTURED),
            numbers=[row for row in known if row[1] is not None],
            digits=digits(bars),
            proved=proved,
            barred=bars is not None,
            clusters=self.clusters,
            **(content | self.extra_content()),
        )

    def figure(self) -> Figure:
        """The matrix in colours, or what else can be drawn of it."""
        if self.chain is not None:
            return chain_figure(self.chain)
        some = slice(0, MOST_PICTURED)
        rows, columns = self.labels
        return chain_figures.heat_map(self.matrix[some, some], rows[some], columns[some])


def chain_figure(chain: Chain) -> Figure:
    """The matrix in colours; of more states than can be drawn, the share of time in the most visited ones."""
    names = tuple(map(str, chain.states))
    if len(chain) > MOST_PICTURED and chain.is_irreducible:
        return chain_figures.stationary_figure(chain.stationary(), names, None)
    found = clusters_of(chain)
    if found is not None:
        return found.heat_figure(chain.to_numpy())
    some = slice(0, MOST_PICTURED)
    return chain_figures.heat_map(chain.to_scipy()[some, some].toarray(), names[some], names[some])


def clusters_of(chain: Chain) -> Clusters | None:
    """The clusters of a chain with more states than can be named on a picture, and not too many for one."""
    if not chain_figures.MOST_TICKS < len(chain) <= MOST_PICTURED:
        return None
    shares = chain.stationary() if chain.is_irreducible else np.full(len(chain), 1.0 / len(chain))
    return Clusters.of(shares[:, None] * chain.to_numpy(), tuple(map(str, chain.states)))


def published_beside(release: Release[Any]) -> Published | None:
    """What the matrix Dirichlet paper prints for the same release at the same delta, where it covers it."""
    if not isinstance(release.mechanism, MatrixDirichlet) or release.delta <= 0.0:
        return None
    try:
        return release.mechanism.published(release.adjacency, delta=release.delta)
    except VeilError:
        return None


def digits(bars: Floats | None) -> int:
    """So many digits that the two ends of an interval differ where they are printed."""
    if bars is None:
        return 4
    widths = bars[:, 1] - bars[:, 0]
    least = float(widths[widths > 0.0].min(initial=1.0))
    return int(np.clip(1 + math.ceil(-math.log10(least)), 4, 7))
