"""What a report says of a chain that was counted from a table: routes, meaning, other mechanisms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.chain_mechanism import Table, chosen_mechanism
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.planning import PLANNED, measured
from veil.chains.released import mechanism_of, model
from veil.chains.report.accuracy import Accuracy
from veil.chains.report.sections import Sections
from veil.core.errors import CannotCalibrate
from veil.core.record import Release
from veil.matrices.chain_error_bars import ChainIntervals
from veil.matrices.planning import MatrixPlan, MatrixRow
from veil.vectors.counts import Integers

_MOST_ROUTES = 15
# The delta at which the others are compared with a pure release, which needs none.
_USUAL_DELTA = 1e-6
# Beyond this a comparison would take longer than the report should.
_MOST_COMPARED = 300
_PRIORS = (0.5, 0.1, 0.01)


@dataclass(frozen=True, slots=True)
class Route:
    """A frequent transition: its share of all, its probability, and an interval for the true one."""

    origin: str
    destination: str
    share: float
    probability: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Odds:
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
    sections: Sections

    @classmethod
    def of(cls, release: Release[Any], intervals: ChainIntervals | None) -> CountedChain:
        """The sections of a release of counted transitions."""
        mechanism, adjacency = mechanism_of(release), release.adjacency
        assert isinstance(adjacency, Transitions)
        return cls(
            unit=adjacency.unit,
            what={"event": "one trip", "row": "one row of the log", "user": "one person's whole history"}[
                adjacency.unit
            ],
            routes=_routes(release, intervals),
            odds=tuple(Odds(before, _after(before, release)) for before in _PRIORS),
            comparison=_comparison(release, mechanism, adjacency),
            parts=tuple(dict.fromkeys(part.of for part in mechanism.parts)),
            groups=mechanism.groups or (),
            accuracy=Accuracy.of(release),
            sections=Sections.of(release, mechanism),
        )


def _after(before: float, release: Release[Any]) -> float:
    """The largest belief in a fact about the hidden one, where delta is left aside: Bayes with e^epsilon."""
    odds = math.log(before / (1.0 - before)) + release.epsilon
    return 1.0 / (1.0 + math.exp(-odds))


def _routes(release: Release[Any], intervals: ChainIntervals | None) -> tuple[Route, ...]:
    held = model(release)
    if not held.chain.is_irreducible and held.sizes is None:
        return ()
    joint, matrix = held.joint(), held.chain.to_numpy()
    names = list(map(str, held.chain.states))
    found = []
    for place in np.argsort(-joint, axis=None, kind="stable")[:_MOST_ROUTES]:
        i, j = divmod(int(place), len(names))
        bar = None
        if intervals is not None:
            bar = (float(intervals.transitions[i, j, 0]), float(intervals.transitions[i, j, 1]))
        found.append(Route(names[i], names[j], float(joint[i, j]), float(matrix[i, j]), bar))
    return tuple(found)


def _comparison(release: Release[Any], mechanism: PrivateChain, adjacency: Transitions) -> MatrixPlan | None:
    """Every mechanism at the same budget on a table like the released one: nothing new is read."""
    held = model(release)
    if held.sizes is None or mechanism.states > _MOST_COMPARED or mechanism.groups is not None:
        return None
    if mechanism.strata or mechanism.has("second"):
        return None
    table: Integers = np.rint(held.sizes[:, None] * held.chain.to_numpy()).astype(np.int64)
    if not table.any():
        return None
    delta = release.delta or _USUAL_DELTA
    rows = []
    for name in PLANNED:
        try:
            chosen = chosen_mechanism(
                name,
                (Table("transitions", (mechanism.states,) * 2),),
                adjacency,
                states=mechanism.states,
                epsilon=release.epsilon,
                delta=delta,
                records=max(1, int(table.sum())),
            )
        except CannotCalibrate as error:
            rows.append(MatrixRow(name, None, why=str(error)))
            continue
        rows.append(measured(name, chosen.mechanism, [table]))
    rows.sort(key=lambda row: row.row_tv)
    return MatrixPlan(tuple(rows), adjacency, release.epsilon, delta)
