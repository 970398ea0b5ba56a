"""The report of a chain that was counted from a table: one HTML file that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.error_bars.intervals import intervals
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.planning import planned_rows
from veil.chains.report.panels import group_panels, routes_figure
from veil.chains.report.summary import Accuracy, accuracy_of, baselines_of, is_drowned
from veil.chains.report.totals import CountedTotal
from veil.chains.sequence_model import LengthLaw, SequenceModel, mechanism_of, model
from veil.core.arrays import Floats
from veil.core.record import Release
from veil.matrices.planning import MatrixPlan
from veil.matrices.report.chain import ChainReport, digits
from veil.report import figures
from veil.report.figures import BLUE, axes_of, short_labels
from veil.vectors.counts import Integers
from veil.vectors.report.figures import errors_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROUTES = 15
# The delta at which the others are compared with a pure release, which needs none.
_USUAL_DELTA = 1e-6
# Beyond this a comparison would take longer than the report should.
_MOST_COMPARED = 300
_PRIORS = (0.5, 0.1, 0.01)
_MOST_GROUPS = 60
_MOST_PAIRS = 10
_MOST_SHARES = 12
# Up to here each length has a bar of its own.
_MOST_LENGTHS = 40
_NEARLY_ALL = 0.999
_WHAT = {"event": "one trip", "row": "one row of the log", "user": "one person's whole history"}
_NAMES = {
    "GeometricCounts": "geometric noise on every count",
    "DiscreteGaussianCounts": "discrete Gaussian noise on every count",
    "DirichletCounts": "the Dirichlet mechanism on counts",
    "BorderedRows": "the published Dirichlet mechanism",
}


class GroupLine(NamedTuple):
    """A group: its size, where its chain is most, and its most frequent transition with its share of all."""

    name: str
    size: float
    top: str | None
    top_share: float
    origin: str
    destination: str
    share: float


class Pair(NamedTuple):
    """A step that depends on the state before: its probability without and with it."""

    before: str
    origin: str
    destination: str
    share: float
    alone: float
    known: float


class StratumLine(NamedTuple):
    """Users with so many states (most: None without an end), what was counted of one, and the noise."""

    least: int
    most: int | None
    cap: int
    moved: float


@dataclass(frozen=True, slots=True)
class Sections:
    """Empty or None where the release does not hold it. silent: the tables that hardly differ from noise."""

    groups: tuple[GroupLine, ...]
    more_groups: int
    starts: Floats | None
    ends: Floats | None
    lengths: LengthLaw | None
    pairs: tuple[Pair, ...]
    gain: float
    strata: tuple[StratumLine, ...]
    silent: frozenset[str]

    @classmethod
    def of(cls, release: Release[Any], mechanism: PrivateChain) -> Sections:
        held, strata = model(release), mechanism.strata
        pairs, gain = ((), 0.0) if held.second is None else _pairs(held, held.second)
        ends = [later.least - 1 for _, later in pairwise(strata)] + [None] * bool(strata)
        return cls(
            groups=() if mechanism.groups is None else _groups(release, mechanism.groups),
            more_groups=max(0, len(mechanism.groups or ()) - _MOST_GROUPS),
            starts=held.starts,
            ends=held.ends,
            lengths=held.lengths,
            pairs=pairs,
            gain=gain,
            strata=tuple(
                StratumLine(part.least, most, part.cap or 1, part.mean_move)
                for part, most in zip(strata, ends, strict=True)
            ),
            silent=frozenset(
                part.of
                for part in mechanism.parts
                if part.noise is not None and is_drowned(release.tables[part.key], part.noise.deviation)
            ),
        )


def _groups(release: Release[Any], groups: tuple[str, ...]) -> tuple[GroupLine, ...]:
    held = model(release)
    names = list(map(str, held.chain.states))
    lines = []
    for name, seen in list(zip(groups, release.tables["transitions"], strict=True))[:_MOST_GROUPS]:
        chain = held.groups[name]
        table = held.group_sizes[name][:, None] * chain.to_numpy()
        top, top_share = None, 0.0
        if chain.is_irreducible:
            shares = chain.stationary()
            top, top_share = names[int(np.argmax(shares))], float(shares.max())
        i, j = divmod(int(np.argmax(table)), len(names))
        share = float(table[i, j] / table.sum())
        # The size by the noisy counts themselves: their sum is unbiased.
        size = max(0.0, float(seen.sum()))
        lines.append(GroupLine(name, size, top, top_share, names[i], names[j], share))
    return tuple(lines)


def _pairs(held: SequenceModel, second: Floats) -> tuple[tuple[Pair, ...], float]:
    """The steps that the state before changes most, by how often they happen; and the mean change."""
    if held.sizes is None and not held.chain.is_irreducible:
        return (), 0.0
    joint, matrix = held.joint(), held.chain.to_numpy()
    names = list(map(str, held.chain.states))
    size, changes, gain = len(names), [], 0.0
    # One state before at a time: all differences at once may be more than fits.
    for before in range(size):
        change = joint[before][:, None] * np.abs(second[before] - matrix)
        gain += 0.5 * float(change.sum())
        for place in np.argsort(-change, axis=None, kind="stable")[:_MOST_PAIRS]:
            origin, end = divmod(int(place), size)
            changes.append((-float(change[origin, end]), before, origin, end))
    changes.sort()
    best = []
    for change, before, origin, end in changes[:_MOST_PAIRS]:
        if change < 0.0:
            step = names[before], names[origin], names[end]
            share, alone = float(joint[before, origin]), float(matrix[origin, end])
            best.append(Pair(*step, share, alone, float(second[before, origin, end])))
    return tuple(best), gain


class Route(NamedTuple):
    """A frequent transition: its share of all, its probability, and an interval for the true one."""

    origin: str
    destination: str
    share: float
    probability: float
    interval: tuple[float, ...] | None


class Odds(NamedTuple):
    """What someone who thought so before may think after seeing the release, at most."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class CountedChain:
    """The sections of the report that only a counted chain has."""

    unit: str
    what: str
    routes: tuple[Route, ...]
    odds: tuple[Odds, ...]
    comparison: MatrixPlan | None
    parts: tuple[str, ...]
    groups: tuple[str, ...]
    accuracy: Accuracy | None
    total: CountedTotal | None
    sections: Sections
    # The mechanism, for people.
    released_by: str


def share_figure(shares: Floats, labels: Sequence[str], of: str) -> Figure:
    """The largest shares as bars, with their numbers."""
    order = np.argsort(-shares, kind="stable")[:_MOST_SHARES]
    figure, axes = axes_of(7.2, max(1.6, 0.28 * len(order) + 0.9))
    axes.barh(np.arange(len(order)), shares[order], color=BLUE, height=0.62, alpha=0.85)
    for place, i in enumerate(order):
        axes.annotate(
            f"{100 * shares[i]:.3g} %",
            (float(shares[i]), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(np.arange(len(order)), short_labels([labels[i] for i in order]))
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.12 * float(shares[order[0]]))
    rest = f" (the {len(order)} largest of {len(shares)} states)" if len(order) < len(shares) else ""
    axes.set_xlabel(f"share of {of}{rest}")
    return figure


def length_figure(law: LengthLaw) -> Figure:
    """Short lengths as bars; long ones as the share that is at least so long, on a logarithmic scale."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = axes_of(7.2, 2.8)
    below = np.cumsum(law.probabilities)
    last = min(int(np.searchsorted(below, _NEARLY_ALL)), len(below) - 1)
    if law.lengths[last] <= _MOST_LENGTHS:
        axes.bar(law.lengths[: last + 1], law.probabilities[: last + 1], color=BLUE, width=0.75, alpha=0.85)
        axes.set_xlabel("states in a sequence")
        axes.set_ylabel("share of sequences")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return figure
    at_least = 1.0 - np.concatenate([[0.0], below[:-1]])
    axes.step(law.lengths, np.clip(at_least, 0.0, 1.0), where="post", color=BLUE, linewidth=2.0)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0.0, 1.03)
    axes.set_xlabel("states in a sequence (logarithmic scale)")
    axes.set_ylabel("share that is at least so long")
    return figure


class CountedReport(ChainReport):
    """The report of a chain, with routes, what else the release holds, and other mechanisms."""

    template: ClassVar[str] = "counted_chain.html"
    packages: ClassVar[tuple[str, ...]] = ("veil.chains.report", "veil.matrices.report")
    secret: ClassVar[str] = "data"
    bars_from: ClassVar[str] = "from the known size of the noise"

    _intervals = staticmethod(intervals)

    @cached_property
    def counted(self) -> CountedChain:
        """What only a counted chain has."""
        release, bars = self.release, self.intervals
        assert release is not None
        mechanism, adjacency = mechanism_of(release), release.adjacency
        assert isinstance(adjacency, Transitions)
        held, comparison = model(release), None
        is_plain = mechanism.groups is None and not mechanism.strata and "second" not in mechanism.first
        if held.sizes is not None and is_plain and mechanism.states <= _MOST_COMPARED:
            # Every mechanism at the same budget on a table like the released one: nothing new is read.
            table: Integers = np.rint(held.sizes[:, None] * held.chain.to_numpy()).astype(np.int64)
            budget: dict[str, Any] = {"epsilon": release.epsilon, "delta": release.delta or _USUAL_DELTA}
            if table.any():
                rows = planned_rows([table], adjacency, records=int(table.sum()), **budget)
                comparison = MatrixPlan(rows, adjacency, **budget)
        routes: list[Route] = []
        if held.chain.is_irreducible or held.sizes is not None:
            joint, matrix, names = held.joint(), held.chain.to_numpy(), list(map(str, held.chain.states))
            for place in np.argsort(-joint, axis=None, kind="stable")[:_MOST_ROUTES]:
                i, j = divmod(int(place), len(names))
                bar = None if bars is None else tuple(bars.transitions[i, j].tolist())
                routes.append(Route(names[i], names[j], float(joint[i, j]), float(matrix[i, j]), bar))
        # The largest belief in a fact about the hidden one, where delta is left aside: Bayes with e^epsilon.
        odds = {before: math.log(before / (1.0 - before)) + release.epsilon for before in _PRIORS}
        return CountedChain(
            unit=adjacency.unit,
            what=_WHAT[adjacency.unit],
            routes=tuple(routes),
            odds=tuple(Odds(before, 1.0 / (1.0 + math.exp(-after))) for before, after in odds.items()),
            comparison=comparison,
            parts=tuple(mechanism.first),
            groups=mechanism.groups or (),
            accuracy=accuracy_of(release),
            total=CountedTotal.of(release),
            sections=Sections.of(release, mechanism),
            released_by=_NAMES[mechanism.first["transitions"].mechanism.name],
        )

    def extra_content(self) -> dict[str, Any]:
        counted, sections = self.counted, self.counted.sections
        bars = [route.interval for route in counted.routes if route.interval is not None]
        pictures: dict[str, str | None] = dict.fromkeys(("mechanisms", "starts", "ends", "lengths"))
        for name, shares in (("starts", sections.starts), ("ends", sections.ends)):
            if shares is not None:
                pictures[name] = figures.svg(share_figure(shares, self.labels[0], name))
        if sections.lengths is not None:
            pictures["lengths"] = figures.svg(length_figure(sections.lengths))
        if counted.comparison is not None:
            errors = [
                (row.name, row.row_tv, None) for row in counted.comparison.rows if row.mechanism is not None
            ]
            meaning = "expected error of the next step (total variation)"
            beside = () if self.release is None else baselines_of(self.release)
            pictures["mechanisms"] = figures.svg(errors_figure(errors, meaning, beside))
        held = model(self.release) if self.release is not None else None
        pictures |= dict.fromkeys(("panels", "drawn_routes"))
        if held is not None and counted.routes:
            drawn = routes_figure(held.joint(), self.labels[0], _MOST_ROUTES)
            pictures["drawn_routes"] = figures.svg(drawn)
        if held is not None and (panels := group_panels(held.chain, held.groups)) is not None:
            pictures["panels"] = figures.svg(panels)
        route_digits = digits(np.array(bars) if bars else None)
        named = {"counted": counted, "released_by": counted.released_by}
        return {**named, "route_digits": route_digits, **pictures}
