"""Which tables a release of a chain holds, and which mechanism hides them: from public numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from veil.chains.adjacency import OF_TRANSITIONS, Transitions
from veil.chains.mechanisms.private_chain import CountMechanism, Part, PrivateChain
from veil.chains.strata import planned_shares
from veil.chains.transition_counts import TransitionCounts
from veil.core.checks import choice, delta_of, items, positive, shown, within
from veil.core.errors import CannotCalibrate, InvalidArgument, InvalidData
from veil.core.numerics.rounding import float_above, float_below, stated
from veil.core.privacy.profile import calibrate
from veil.matrices.mechanisms.bordered_rows import BorderedRows, inside
from veil.vectors.calibration import calibrated, needs_delta
from veil.vectors.counts import Records
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.simplex import Simplex, Transfer

_NOISES = {"geometric": "geometric noise", "gaussian": "Gaussian noise"}
FOR_CHAINS = ("geometric", "gaussian", "dirichlet", "published")
# A Dirichlet row needs a pseudo-count that suits its size. Where nobody says how many records there are, so
# many a cell are assumed: on MSNBC's table, with forty times as many, that costs a fifth of the accuracy.
ASSUMED_A_CELL = 300
# Every cell gets noise, the empty ones too: more of them than this would not fit into memory.
MOST_CELLS = 20_000_000
PARTS = ("starts", "ends", "lengths", "sizes")
# How many leave each state: few cells of large counts.
_SHARE_OF_SIZES = Fraction(1, 20)
# Assumption 4 of the data-driven chains paper: k_i >= 3 / (2 eta_i).
_LEAST_PUBLISHED = 1.5


class Table(NamedTuple):
    """A table that is to be hidden. share: its part of epsilon, of all of them together 1."""

    of: str
    shape: tuple[int, ...]
    share: Fraction = Fraction(1)
    least: int = 0
    cap: int | None = None
    bins: tuple[int, ...] | None = None


def tables_of(counts: TransitionCounts, parts: Sequence[str]) -> tuple[Table, ...]:
    """The transitions, and whatever else was counted or is asked for."""
    size, names = len(counts.states), counts.groups
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


class Choice(NamedTuple):
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
        # The Dirichlet form is left out: over 200 shapes of tables it was never better than the best of these
        # two by more than a tenth (bench/auto.py), and usually worse several times over.
        first = next(table for table in tables if table.of in OF_TRANSITIONS)
        share = float_below(stated(epsilon) * first.share)
        moves = {"geometric": _noisy("geometric", first, adjacency, share, 0.0).mean_move}
        if delta > 0.0:
            with suppress(CannotCalibrate):
                moves["gaussian"] = _noisy("gaussian", first, adjacency, share, delta).mean_move
        name = min(moves, key=lambda one: moves[one])
        others = "".join(f", {_NOISES[one]} by {move:.3g}" for one, move in moves.items() if one != name)
        why = f"{'' if delta else 'delta is 0; '}it moves a count by {moves[name]:.3g} on average{others}"
    states = next(table.shape[-1] for table in tables if table.of == "transitions")
    # The others are hidden by geometric noise, which needs no delta.
    failing = {table.of for table in tables if name != "geometric" and table.of in ("transitions", "second")}
    parts = []
    for table in tables:
        share = float_below(stated(epsilon) * table.share)
        if table.of not in failing or name == "gaussian":
            noise = name if table.of in failing else "geometric"
            parts.append(_noisy(noise, table, adjacency, share, delta / max(1, len(failing))))
            continue
        rows: Any
        if name == "dirichlet":
            is_event = adjacency.unit == "event"
            change = Records(adjacency.change) if is_event else adjacency.on(table.of, table.cap)
            in_row = states * ASSUMED_A_CELL if records is None else max(1, records // states)
            rows = calibrated(name, change, size=states, epsilon=share, delta=delta, records=in_row)
        else:
            rows = published_rows(published, adjacency, size=states, epsilon=share, delta=delta)
        parts.append(Part(table.of, rows, table.shape))
    return Choice(name, PrivateChain(states, parts, groups=groups), why)


def _noisy(name: str, table: Table, adjacency: Transitions, epsilon: float, delta: float) -> Part:
    """The table under geometric or Gaussian noise, at the largest safe parameter."""
    change, cells = adjacency.on(table.of, table.cap), prod(table.shape)
    hides: CountMechanism
    if name == "geometric":
        # The loss, total / scale, is at most the float epsilon, and so is what it is rounded up to; also
        # where the loss of one count is rounded up first and then taken so many times.
        total = change.added + change.removed
        each = stated(float_below(Fraction(epsilon) / total))
        hides = GeometricCounts(float_above(max(total / stated(epsilon), 1 / each)), cells)
    else:
        if delta == 0.0:
            raise needs_delta("gaussian")
        hides = calibrate(
            lambda rate: DiscreteGaussianCounts(1.0 / rate, cells), change, epsilon=epsilon, delta=delta
        )
    return Part(table.of, hides, table.shape, table.least, table.cap, table.bins)


@dataclass(frozen=True, slots=True)
class Published:
    """Public in the data-driven chains paper's Algorithm 2: each row's least frequency and its size."""

    floor: tuple[float, ...]
    records: tuple[int, ...]

    @classmethod
    def of(cls, floor: Any, records: Sequence[int], size: int) -> Published:
        """One floor for all rows, or one for each row."""
        expected = f"a number above 0 and at most 1/{size}, or one for each row"
        if floor is None:
            raise InvalidArgument(
                "floor",
                expected=expected,
                found="None",
                hint="The published form holds only where no frequency is below a public floor.",
            )
        try:
            floors = np.broadcast_to(np.asarray(floor, dtype=np.float64), (len(records),)).tolist()
        except (TypeError, ValueError):
            raise InvalidArgument("floor", expected=expected, found=type(floor).__name__) from None
        checked = (within("floor", one, 1e-30, 1.0 / size, expected=expected) for one in floors)
        return cls(tuple(checked), tuple(int(n) for n in records))


def published_rows(
    public: Published | None, adjacency: Transitions, *, size: int, epsilon: float, delta: float
) -> BorderedRows:
    """Every row at its largest safe k, which must not be below the paper's least."""
    if adjacency.unit != "event" or adjacency.change != "replace":
        raise InvalidArgument(
            "change", expected="replace, and the unit event, for the published form", found=adjacency.change
        )
    if public is None or min(public.records, default=0) < 1:
        raise InvalidArgument("records", expected="a row with data for each state", found="one without")
    if delta == 0.0:
        raise CannotCalibrate("delta: the published form needs a delta above 0, found 0.")
    known: dict[tuple[float, int], float] = {}
    for floor, records in zip(public.floor, public.records, strict=True):
        if (floor, records) not in known:
            known[floor, records] = _largest_k(size, floor, records, epsilon, delta)
    ks = [known[row] for row in zip(public.floor, public.records, strict=True)]
    if any(k * floor < _LEAST_PUBLISHED for k, floor in zip(ks, public.floor, strict=True)):
        raise CannotCalibrate(
            f"epsilon: the published form needs k >= 3/(2 floor) in every row, and so an epsilon of at least "
            f"{strongest_epsilon(public, size=size, delta=delta):.4g} at delta={delta:g} here; found "
            f"{epsilon:g}. Merge small states, or use another mechanism."
        )
    return BorderedRows(ks, public.floor, public.records, size=size)


def _largest_k(size: int, floor: float, records: int, epsilon: float, delta: float) -> float:
    domain, moved = Simplex(size, floor=inside(floor)), Transfer.from_records(records)
    try:
        return calibrate(lambda k: Dirichlet(k, domain), moved, epsilon=epsilon, delta=delta, relative=1e-9).k
    except CannotCalibrate:
        return 0.0


def strongest_epsilon(public: Published, *, size: int, delta: float) -> float:
    """The least epsilon that the published form reaches: every k at the paper's least, the exact profile."""
    ks = [_LEAST_PUBLISHED / floor for floor in public.floor]
    rows = BorderedRows(ks, public.floor, public.records, size=size)
    return rows.profile(Records("replace")).epsilon(delta)
