"""Which tables a release of a chain holds, and how its epsilon is divided between them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from veil.chains.chain_mechanism import Table
from veil.chains.numerics.strata import planned_shares
from veil.chains.transition_counts import TransitionCounts
from veil.core.checks import items, shown
from veil.core.errors import InvalidArgument, InvalidData

# Every cell gets noise, the empty ones too: more of them than this would not fit into memory.
MOST_CELLS = 20_000_000
PARTS = ("starts", "ends", "lengths", "sizes")
# How many leave each state: few cells of large counts.
_SHARE_OF_SIZES = Fraction(1, 20)


def tables_of(counts: TransitionCounts, parts: Sequence[str]) -> tuple[Table, ...]:
    """The transitions, and whatever else was counted or is asked for."""
    _check_cells(counts)
    # Strata are weighed by what the lengths say.
    expected = f"some of {', '.join(PARTS)}"
    asked = items("parts", parts, expected=expected)
    for part in asked:
        if not isinstance(part, str) or part not in PARTS:
            raise InvalidArgument("parts", expected=expected, found=shown(part))
    wanted = list(dict.fromkeys([*asked, *(("lengths",) if counts.strata else ())]))
    for part in wanted:
        _check_part(counts, part)
    further = [_further(counts, part) for part in wanted]
    if counts.second is not None:
        share = _share(counts, "second")
        further.append(Table("second", counts.second.shape, share, cap=counts.second_cap))
    left = 1 - sum((table.share for table in further), Fraction())
    return (*_transitions(counts, left), *further)


def _transitions(counts: TransitionCounts, share: Fraction) -> list[Table]:
    square = (len(counts), len(counts))
    if counts.strata:
        return [Table("transitions", square, share, least=one.least, cap=one.cap) for one in counts.strata]
    return [Table("transitions", square if counts.groups is None else (len(counts.groups), *square), share)]


def _further(counts: TransitionCounts, part: str) -> Table:
    if part == "sizes":
        return Table(part, (len(counts),), _SHARE_OF_SIZES)
    if part != "lengths" or counts.sequences is None:
        return Table(part, (len(counts),), _share(counts, part))
    bins = counts.sequences.bins.least
    return Table(part, (len(bins),), _share(counts, part), bins=bins)


def _share(counts: TransitionCounts, part: str) -> Fraction:
    # A decimal as it is written, not as a float holds it.
    return Fraction(str(getattr(planned_shares(second=counts.second is not None), part)))


def _check_cells(counts: TransitionCounts) -> None:
    cells = len(counts) ** 2 * max(1, len(counts.groups or ()))
    if cells > MOST_CELLS:
        raise InvalidData(
            "counts",
            expected=f"at most {MOST_CELLS:,} pairs of states, since each gets noise",
            found=f"{len(counts):,} states",
            hint="Merge states into larger ones.",
        )


def _check_part(counts: TransitionCounts, part: str) -> None:
    if part not in PARTS:
        raise InvalidArgument("parts", expected=f"some of {', '.join(PARTS)}", found=shown(part))
    if part != "sizes" and counts.sequences is None:
        raise InvalidArgument(
            "parts",
            expected="counts of whole sequences for starts, ends and lengths",
            found=f"{part} asked for without them",
            hint="Count with {by}, {order}, {state} and {sequences=True}.",
            names=("by", "order", "state", "sequences"),
        )
