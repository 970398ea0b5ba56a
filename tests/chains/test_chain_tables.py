"""Which tables a release holds, and that their shares of epsilon make up exactly one."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from veil.chains.chain_mechanism import MOST_CELLS, PARTS, tables_of
from veil.chains.lengths import LengthBins
from veil.chains.strata import planned_shares
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.errors import InvalidArgument, InvalidData

MATRIX = np.array([[8, 2], [3, 7]])
BINS = LengthBins((1, 2, 5))
SEQUENCES = Sequences(np.array([3, 2]), np.array([1, 4]), np.array([1, 2, 2]), BINS)
STRATA = (Stratum(2, 1, MATRIX), Stratum(5, 4, MATRIX))
SECOND = np.ones((3, 2, 2), dtype=np.int64)
SUBSETS = list(chain.from_iterable(combinations(PARTS, number) for number in range(len(PARTS) + 1)))


def counts(**more: Any) -> TransitionCounts:
    return TransitionCounts(MATRIX, sequences=SEQUENCES, **more)


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("parts", SUBSETS, ids="-".join)
def test_shares_make_up_one(parts: tuple[str, ...], second: bool) -> None:
    tables = tables_of(counts(second=SECOND if second else None), parts)
    names = [table.of for table in tables]
    assert names == ["transitions", *parts, *(["second"] if second else [])]
    # Exactly, in rationals: nothing of the budget is lost and nothing is spent twice.
    assert sum(table.share for table in tables) == 1
    assert all(table.share > 0 for table in tables)
    # Whatever is not asked for goes to the transitions.
    assert tables[0].share >= Fraction(str(planned_shares(second=second).transitions)) - Fraction(1, 20)


def test_strata_are_in_parallel_and_need_lengths() -> None:
    tables = tables_of(counts(cap=4, strata=STRATA), ("starts",))
    assert [(table.of, table.least, table.cap) for table in tables] == [
        ("transitions", 2, 1),
        ("transitions", 5, 4),
        ("starts", 0, None),
        ("lengths", 0, None),
    ]
    # A user is in one stratum: each has the whole share.
    assert tables[0].share == tables[1].share
    assert sum(table.share for table in tables[1:]) == 1
    assert tables[3].bins == BINS.least
    assert tables[3].shape == (3,)
    # Asked for or not, the lengths are there once.
    assert tables_of(counts(cap=4, strata=STRATA), ("lengths", "starts")) == (
        *tables[:2],
        tables[3],
        tables[2],
    )


def test_groups_are_one_table() -> None:
    (table,) = tables_of(counts(groups={"day": MATRIX, "night": MATRIX}), ())
    assert (table.of, table.shape, table.share) == ("transitions", (2, 2, 2), Fraction(1))


def test_second_order_tables_have_their_own_cap() -> None:
    tables = tables_of(counts(cap=4, second=SECOND, second_cap=3), ())
    assert [(table.of, table.cap, table.shape) for table in tables] == [
        ("transitions", None, (2, 2)),
        ("second", 3, (3, 2, 2)),
    ]
    assert tables[1].share == Fraction("0.25")


def test_parts_twice_are_parts_once() -> None:
    assert tables_of(counts(), ("sizes", "sizes")) == tables_of(counts(), ("sizes",))


def test_what_was_not_counted_cannot_be_released() -> None:
    bare = TransitionCounts(MATRIX)
    assert [table.of for table in tables_of(bare, ("sizes",))] == ["transitions", "sizes"]
    for part in ("starts", "ends", "lengths"):
        with pytest.raises(InvalidArgument, match=r"sequences=True") as caught:
            tables_of(bare, (part,))
        assert caught.value.field == "parts"
    with pytest.raises(InvalidArgument, match="some of starts, ends, lengths, sizes"):
        tables_of(counts(), ("middles",))


def test_too_many_cells_are_refused() -> None:
    from scipy.sparse import csr_array

    states = int(MOST_CELLS**0.5) + 1
    large = TransitionCounts(csr_array((states, states), dtype=np.int64))
    with pytest.raises(InvalidData, match="Merge states") as caught:
        tables_of(large, ())
    assert "4,473 states" in str(caught.value)
    assert states == 4473
