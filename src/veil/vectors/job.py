"""From the numbers in a file to a private vector: every choice that a command line user makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veil.core import checks
from veil.core.account import Account
from veil.core.adjacency import Adjacency
from veil.core.checks import choice, integer
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Floats, Labels
from veil.core.mechanism import Mechanism
from veil.core.record import Release
from veil.core.releasing import cost, release
from veil.vectors.adjacency import Records, Transfer
from veil.vectors.calibration import calibrated, names_for
from veil.vectors.comparison import compare
from veil.vectors.counts import Counts
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.simplex import Simplex

_WHOLE = 1e-6
_TOTALS = {"total", "sum", "all", "overall", "grand total", "totals"}


@dataclass(frozen=True, slots=True)
class Secret:
    """What is sensitive and between whom it must look alike.

    Exactly one of: records (counts or frequencies of a public number of records, one replaced),
    counts (the number of records is not public: one added or removed), transfer or l1 (the vector
    itself is the secret).
    """

    records: int | None = None
    counts: bool = False
    transfer: float | None = None
    l1: float | None = None
    change: str | None = None

    @property
    def adjacency(self) -> Adjacency:
        given = [self.records is not None, self.counts, self.transfer is not None, self.l1 is not None]
        if sum(given) != 1:
            raise InvalidArgument(
                "what is secret",
                expected="one of --records N, --counts, --transfer M, --l1 B",
                found="none of them" if not any(given) else f"{sum(given)} of them",
                hint="For counts of N people's records take --records N.",
            )
        if self.change is not None and not (given[0] or given[1]):
            raise InvalidArgument("change", expected="--records or --counts with it", found="neither")
        if self.transfer is not None:
            words = "a mass above 0 and at most 1"
            return Transfer(checks.within("transfer", self.transfer, 1e-30, 1.0, expected=words))
        if self.l1 is not None:
            words = "an L1 distance above 0 and at most 2"
            return Transfer.from_l1(checks.within("l1", self.l1, 1e-30, 2.0, expected=words))
        if self.records is not None:
            integer("records", self.records, least=1)
        default = "replace" if self.records is not None else "add-remove"
        change = choice("change", self.change or default, ("replace", "add-remove"))
        if change == "replace" and self.records is None:
            raise InvalidArgument(
                "records", expected="the public number of records, since one is replaced", found="none"
            )
        return Records(change)

    @property
    def public_records(self) -> int | None:
        """The number of records, where a reader may know it."""
        return self.records


@dataclass(frozen=True, slots=True)
class VectorJob:
    """A release that is ready to be made: nothing has been drawn or charged."""

    value: Any
    labels: Labels | None
    mechanism: Mechanism
    adjacency: Adjacency
    epsilon: float
    delta: float
    records: int | None

    @property
    def kept(self) -> float:
        """How much of the data survives the smoothing: 1 is all of it, 0 is a constant answer."""
        return share_kept(self.mechanism, self.records)

    def run(self, *, ledger: Account | None = None, rng: Any = None) -> Release:
        """Reserve, draw, confirm."""
        out = release(
            self.mechanism,
            self.value,
            adjacency=self.adjacency,
            delta=self.delta or None,
            ledger=ledger,
            rng=rng,
        )
        return replace(out, labels=self.labels, records=self.records)


def share_kept(mechanism: Mechanism, records: int | None) -> float:
    """The weight of the data, against the public prior, in the mean of the released vector."""
    if isinstance(mechanism, Dirichlet) and mechanism.smooth:
        return 1.0 - mechanism.domain.size * mechanism.domain.floor
    if isinstance(mechanism, DirichletCounts) and records is not None:
        data = mechanism.scale * records
        return data / (data + mechanism.size * mechanism.prior)
    return 1.0


def vector_job(
    values: Floats,
    labels: Labels | None,
    secret: Secret,
    *,
    epsilon: float,
    delta: float,
    mechanism: str = "dirichlet",
    floor: float | None = None,
    smooth: bool = True,
    normalise: bool = False,
    exact: bool = False,
    draws: int | None = None,
) -> VectorJob:
    """Check the numbers, choose and calibrate the mechanism from public numbers alone.

    exact, draws: as in `calibrated`.
    """
    adjacency = secret.adjacency
    values = np.asarray(values, dtype=np.float64)
    size = integer("size", values.size, least=2)
    if isinstance(adjacency, Records):
        if floor is not None or not smooth:
            raise InvalidArgument(
                "floor" if floor is not None else "no-smooth",
                expected="--transfer or --l1 with it",
                found="counts, which need no floor and are always smoothed",
            )
        if normalise:
            raise InvalidArgument("normalise", expected="--transfer or --l1 with it", found="counts")
        value: Any = _as_counts(values, secret.records)
    else:
        possible = normalise and np.isfinite(values).all() and values.sum() > 0 and (values >= 0).all()
        given = values / values.sum() if possible else values
        value = Simplex(size).validate(given)
        if exact:
            # As it stands: what is divided by its sum is rounded.
            value = given
        if floor is not None:
            words = f"a number above 0 and below 1/{size}"
            checks.within("floor", floor, 1e-30, (1.0 - 1e-9) / size, expected=words)
    _no_total(labels, values)
    checks.positive("epsilon", epsilon)
    settings: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "records": secret.records}
    name = choice("mechanism", mechanism, ("auto", *names_for(adjacency)))
    if name == "auto" and exact and isinstance(adjacency, Transfer):
        # The one that can be drawn exactly.
        name = "dirichlet"
    elif name == "auto":
        name = compare(None, adjacency, size=size, **settings).best.name
    if isinstance(adjacency, Transfer) and name == "dirichlet":
        settings |= {"floor": floor, "smooth": smooth}
    chosen = calibrated(name, adjacency, size=size, exact=exact, draws=draws, **settings)
    chosen.validate(value)
    return VectorJob(
        value=value,
        labels=labels,
        mechanism=chosen,
        adjacency=adjacency,
        epsilon=cost(chosen.profile(adjacency), delta or None)[0],
        delta=delta,
        records=secret.public_records,
    )


def _no_total(labels: Labels | None, values: Floats) -> None:
    """A total among the categories would count every record twice."""
    for label, value in zip(labels or (), values, strict=False):
        if not label.strip():
            raise InvalidData("labels", expected="a label for every entry", found="an empty one")
        if label.strip().casefold() in _TOTALS and 2.0 * value == values.sum():
            raise InvalidData(
                "labels",
                expected="categories only",
                found=f"an entry {label!r} that is the sum of all others",
                hint="Remove that line: it would count every record twice.",
            )


def _as_counts(values: Floats, records: int | None) -> Any:
    """Counts as they are, or frequencies of a known number of records made into counts."""
    total = float(values.sum())
    if records is None or abs(total - records) <= _WHOLE * records:
        return Counts(values.size).validate(values)
    if not np.isfinite(values).all() or (values < 0.0).any():
        return Counts(values.size).validate(values)
    if abs(total - 1.0) > _WHOLE:
        raise InvalidData(
            "value",
            expected=f"counts that sum to the {records} records, or frequencies that sum to 1",
            found="another sum",
        )
    counts = np.rint(values * records)
    if (np.abs(values * records - counts) > _WHOLE * records).any():
        raise InvalidData(
            "value",
            expected=f"frequencies that are whole numbers of {records} records",
            found="some that are not",
            hint="Give the counts themselves.",
        )
    return Counts(values.size).validate(counts)
