"""Which mechanism hides a chain's counts, at which noise: from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.chain_parts import OF_SEQUENCES, OF_TRANSITIONS, CountMechanism, Part
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.published_chain import Published, published_rows
from veil.core.adjacency import Adjacency
from veil.core.checks import choice, delta_of, positive
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.numerics.rounding import float_above, float_below, stated
from veil.core.privacy.calibrate import calibrate
from veil.vectors.adjacency import Contributions, Records
from veil.vectors.calibration import calibrated, needs_delta
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

FOR_CHAINS = ("geometric", "gaussian", "dirichlet", "published")
# A Dirichlet row needs a pseudo-count that suits its size. Where nobody says how many records there are, so
# many a cell are assumed: on MSNBC's table, with forty times as many, that costs a fifth of the accuracy.
ASSUMED_A_CELL = 300


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is to be hidden. share: its part of epsilon, of all of them together 1."""

    of: str
    shape: tuple[int, ...]
    share: Fraction = Fraction(1)
    least: int = 0
    cap: int | None = None
    bins: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A mechanism, its name, and why it was chosen."""

    name: str
    mechanism: PrivateChain
    why: str


def chosen_mechanism(
    name: str,
    tables: tuple[Table, ...],
    adjacency: Transitions,
    *,
    states: int,
    epsilon: float,
    delta: float,
    records: int | None = None,
    published: Published | None = None,
    groups: tuple[str, ...] | None = None,
) -> Choice:
    """The named mechanism, or with "auto" the one of least noise, at the largest safe parameter.

    records: how many transitions there are, if that is public. published: what the paper's form needs.
    """
    choice("mechanism", name, ("auto", *FOR_CHAINS))
    epsilon = positive("epsilon", epsilon, least=1e-9, most=1e5)
    delta = delta_of(delta)
    if name in ("dirichlet", "published"):
        _plain_tables(name, tables)
    why = "as asked for"
    if name == "auto":
        name, why = _least_noise(tables, adjacency, epsilon, delta)
    parts = []
    failing = len({table.of for table in tables if _fails(name, table)}) or 1
    for table in tables:
        share = float_below(stated(epsilon) * table.share)
        hides: CountMechanism
        if not _fails(name, table):
            hides = _geometric(_change(table, adjacency), prod(table.shape), share)
        elif name == "gaussian":
            hides = _gaussian(_change(table, adjacency), prod(table.shape), share, delta / failing)
        elif name == "dirichlet":
            hides = _dirichlet(table, adjacency, share, delta, records)
        else:
            hides = published_rows(published, adjacency, size=states, epsilon=share, delta=delta)
        parts.append(Part(table.of, hides, table.shape, table.least, table.cap, table.bins))
    return Choice(name, PrivateChain(states, parts, groups=groups), why)


def _plain_tables(name: str, tables: tuple[Table, ...]) -> None:
    if any(table.of == "second" or table.least or len(table.shape) > 2 for table in tables):
        raise InvalidArgument(
            "mechanism", expected="geometric or gaussian, for strata, groups and a memory of 2", found=name
        )


def _fails(name: str, table: Table) -> bool:
    """Whether this table is hidden by the mechanism that needs a delta."""
    return name != "geometric" and table.of in ("transitions", "second")


def _change(table: Table, adjacency: Transitions) -> Contributions:
    if table.of in OF_SEQUENCES:
        return adjacency.on_sequences
    return (adjacency.on_triples if table.of == "second" else adjacency.on_transitions)(table.cap)


def _geometric(change: Contributions, cells: int, epsilon: float) -> GeometricCounts:
    # The loss, total / scale, is at most the float epsilon, and so is what it is rounded up to; also where
    # the loss of one count is rounded up first and then taken so many times.
    each = stated(float_below(Fraction(epsilon) / change.total))
    return GeometricCounts(float_above(max(change.total / stated(epsilon), 1 / each)), cells)


def _gaussian(change: Contributions, cells: int, epsilon: float, delta: float) -> DiscreteGaussianCounts:
    needs_delta("gaussian", "gaussian", delta)
    return calibrate(
        lambda rate: DiscreteGaussianCounts(1.0 / rate, cells), change, epsilon=epsilon, delta=delta
    )


def _dirichlet(
    table: Table, adjacency: Transitions, epsilon: float, delta: float, records: int | None
) -> CountMechanism:
    change: Adjacency = _change(table, adjacency)
    if adjacency.unit == "event":
        change = Records(adjacency.change)
    size, rows = table.shape[-1], prod(table.shape[:-1])
    in_row = size * ASSUMED_A_CELL if records is None else max(1, records // rows)
    found = calibrated("dirichlet", change, size=size, epsilon=epsilon, delta=delta, records=in_row)
    return _on_counts(found)


def _on_counts(mechanism: object) -> CountMechanism:
    assert isinstance(mechanism, CountMechanism)
    return mechanism


def _least_noise(
    tables: tuple[Table, ...], adjacency: Transitions, epsilon: float, delta: float
) -> tuple[str, str]:
    """Geometric or Gaussian, whichever moves a count less on average.

    The Dirichlet form is not among them: over 200 shapes of tables it was never better than the best of these
    two by more than a tenth (bench/auto.py), and usually worse several times over.
    """
    table = next(table for table in tables if table.of in OF_TRANSITIONS)
    share = float_below(stated(epsilon) * table.share)
    change = _change(table, adjacency)
    scale = _geometric(change, prod(table.shape), share).scale
    moved = 1.0 / math.sinh(min(1.0 / scale, 700.0))
    if delta == 0.0:
        return "geometric", f"delta is 0; it moves a count by {moved:.3g} on average"
    try:
        sigma = _gaussian(change, prod(table.shape), share, delta).sigma
    except CannotCalibrate:
        return "geometric", f"it moves a count by {moved:.3g} on average"
    gaussian = sigma * math.sqrt(2.0 / math.pi)
    if gaussian < moved:
        return "gaussian", f"it moves a count by {gaussian:.3g} on average, geometric noise by {moved:.3g}"
    return "geometric", f"it moves a count by {moved:.3g} on average, Gaussian noise by {gaussian:.3g}"
