"""Which tables a release of a chain holds, and which mechanism hides them: from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from veil.chains.adjacency import OF_TRANSITIONS, Transitions
from veil.chains.mechanisms.private_chain import CountMechanism, Part, PrivateChain
from veil.chains.numerics.strata import planned_shares
from veil.chains.published_chain import Published, published_rows
from veil.chains.transition_counts import TransitionCounts
from veil.core.checks import choice, delta_of, items, positive, shown
from veil.core.errors import CannotCalibrate, InvalidArgument, InvalidData
from veil.core.numerics.denoise import Noise
from veil.core.numerics.rounding import float_above, float_below, stated
from veil.core.privacy.calibrate import calibrate
from veil.vectors.adjacency import Records
from veil.vectors.calibration import calibrated, needs_delta
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

FOR_CHAINS = ("geometric", "gaussian", "dirichlet", "published")
# A Dirichlet row needs a pseudo-count that suits its size. Where nobody says how many records there are, so
# many a cell are assumed: on MSNBC's table, with forty times as many, that costs a fifth of the accuracy.
ASSUMED_A_CELL = 300
# Every cell gets noise, the empty ones too: more of them than this would not fit into memory.
MOST_CELLS = 20_000_000
PARTS = ("starts", "ends", "lengths", "sizes")
# How many leave each state: few cells of large counts.
_SHARE_OF_SIZES = Fraction(1, 20)


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is to be hidden. share: its part of epsilon, of all of them together 1."""

    of: str
    shape: tuple[int, ...]
    share: Fraction = Fraction(1)
    least: int = 0
    cap: int | None = None
    bins: tuple[int, ...] | None = None


def tables_of(counts: TransitionCounts, parts: Sequence[str]) -> tuple[Table, ...]:
    """The transitions, and whatever else was counted or is asked for."""
    size, names = len(counts), counts.groups
    if size**2 * max(1, len(names or ())) > MOST_CELLS:
        raise InvalidData(
            "counts",
            expected=f"at most {MOST_CELLS:,} pairs of states, since each gets noise",
            found=f"{size:,} states",
            hint="Merge states into larger ones.",
        )
    expected = f"some of {', '.join(PARTS)}"
    asked = items("parts", parts, expected=expected)
    for part in asked:
        if not isinstance(part, str) or part not in PARTS:
            raise InvalidArgument("parts", expected=expected, found=shown(part))
    # Strata are weighed by what the lengths say.
    wanted = dict.fromkeys([*asked, *(("lengths",) if counts.strata else ())])
    further = [_further(counts, part) for part in wanted]
    if counts.second is not None:
        further.append(Table("second", counts.second.shape, _share(counts, "second"), cap=counts.second_cap))
    left = 1 - sum((table.share for table in further), Fraction())
    square = (size, size)
    if counts.strata:
        strata = [Table("transitions", square, left, least=one.least, cap=one.cap) for one in counts.strata]
        return (*strata, *further)
    return (Table("transitions", square if names is None else (len(names), *square), left), *further)


def _further(counts: TransitionCounts, part: str) -> Table:
    if part == "sizes":
        return Table(part, (len(counts),), _SHARE_OF_SIZES)
    if counts.sequences is None:
        raise InvalidArgument(
            "parts",
            expected="counts of whole sequences for starts, ends and lengths",
            found=f"{part} asked for without them",
            hint="Count with {by}, {order}, {state} and {sequences=True}.",
            names=("by", "order", "state", "sequences"),
        )
    bins = counts.sequences.bins.least if part == "lengths" else None
    return Table(part, (len(counts if bins is None else bins),), _share(counts, part), bins=bins)


def _share(counts: TransitionCounts, part: str) -> Fraction:
    # A decimal as it is written, not as a float holds it.
    return Fraction(str(getattr(planned_shares(second=counts.second is not None), part)))


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
    if name in ("dirichlet", "published") and any(
        table.of == "second" or table.least or len(table.shape) > 2 for table in tables
    ):
        raise InvalidArgument(
            "mechanism", expected="geometric or gaussian, for strata, groups and a memory of 2", found=name
        )
    why = "as asked for"
    if name == "auto":
        name, why = _least_noise(tables, adjacency, epsilon, delta)
    states = next(table.shape[-1] for table in tables if table.of == "transitions")
    # The others are hidden by geometric noise, which needs no delta.
    failing = {table.of for table in tables if name != "geometric" and table.of in ("transitions", "second")}
    parts = []
    for table in tables:
        share = float_below(stated(epsilon) * table.share)
        hides: CountMechanism
        if table.of not in failing:
            hides = _geometric(table, adjacency, share)
        elif name == "gaussian":
            hides = _gaussian(table, adjacency, share, delta / len(failing))
        elif name == "dirichlet":
            hides = _dirichlet(table, adjacency, share, delta, records)
        else:
            hides = published_rows(published, adjacency, size=states, epsilon=share, delta=delta)
        parts.append(Part(table.of, hides, table.shape, table.least, table.cap, table.bins))
    return Choice(name, PrivateChain(states, parts, groups=groups), why)


def _geometric(table: Table, adjacency: Transitions, epsilon: float) -> GeometricCounts:
    # The loss, total / scale, is at most the float epsilon, and so is what it is rounded up to; also where
    # the loss of one count is rounded up first and then taken so many times.
    total = adjacency.on(table.of, table.cap).total
    each = stated(float_below(Fraction(epsilon) / total))
    return GeometricCounts(float_above(max(total / stated(epsilon), 1 / each)), prod(table.shape))


def _gaussian(table: Table, adjacency: Transitions, epsilon: float, delta: float) -> DiscreteGaussianCounts:
    needs_delta("gaussian", "gaussian", delta)
    change, cells = adjacency.on(table.of, table.cap), prod(table.shape)
    return calibrate(
        lambda rate: DiscreteGaussianCounts(1.0 / rate, cells), change, epsilon=epsilon, delta=delta
    )


def _dirichlet(
    table: Table, adjacency: Transitions, epsilon: float, delta: float, records: int | None
) -> CountMechanism:
    is_event = adjacency.unit == "event"
    change = Records(adjacency.change) if is_event else adjacency.on(table.of, table.cap)
    size, rows = table.shape[-1], prod(table.shape[:-1])
    in_row = size * ASSUMED_A_CELL if records is None else max(1, records // rows)
    mechanism = calibrated("dirichlet", change, size=size, epsilon=epsilon, delta=delta, records=in_row)
    assert isinstance(mechanism, CountMechanism)
    return mechanism


def mean_move(noise: Noise) -> float:
    """By how much such noise moves a count on average."""
    if noise.kind == "geometric":
        return 1.0 / math.sinh(min(1.0 / noise.scale, 700.0))
    return noise.scale * math.sqrt(2.0 / math.pi)


def _least_noise(
    tables: tuple[Table, ...], adjacency: Transitions, epsilon: float, delta: float
) -> tuple[str, str]:
    """Geometric or Gaussian, whichever moves a count less on average.

    The Dirichlet form is not among them: over 200 shapes of tables it was never better than the best of these
    two by more than a tenth (bench/auto.py), and usually worse several times over.
    """
    table = next(table for table in tables if table.of in OF_TRANSITIONS)
    share = float_below(stated(epsilon) * table.share)
    moved = mean_move(Noise("geometric", _geometric(table, adjacency, share).scale))
    if delta == 0.0:
        return "geometric", f"delta is 0; it moves a count by {moved:.3g} on average"
    try:
        sigma = _gaussian(table, adjacency, share, delta).sigma
    except CannotCalibrate:
        return "geometric", f"it moves a count by {moved:.3g} on average"
    gaussian = mean_move(Noise("gaussian", sigma))
    if gaussian < moved:
        return "gaussian", f"it moves a count by {gaussian:.3g} on average, geometric noise by {moved:.3g}"
    return "geometric", f"it moves a count by {moved:.3g} on average, Gaussian noise by {gaussian:.3g}"
