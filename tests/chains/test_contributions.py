"""What a neighbour changes: every claim against all small logs, counted by an oracle of its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest

import veil
from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.private_chain import Part
from veil.core.registry import adjacency_from
from veil.errors import InvalidArgument
from veil.vectors.counts import Contributions

# A row is (who, when, state); a log is a sorted tuple of rows, since rows that agree are alike.
Row = tuple[int, int, int]
Log = tuple[Row, ...]
Table = Callable[[Log], Counter[object]]


def _sequences(log: Log) -> list[list[int]]:
    """The states of each user in the order of time, ties by the state."""
    users = sorted({who for who, _, _ in log})
    return [[state for who, _, state in sorted(log) if who == user] for user in users]


def _transitions(log: Log) -> Counter[object]:
    return Counter(pair for states in _sequences(log) for pair in pairwise(states))


def _second(log: Log) -> Counter[object]:
    """i -> j after b, with None before a first transition."""
    return Counter(
        (before, origin, end)
        for states in _sequences(log)
        for before, (origin, end) in zip([None, *states], pairwise(states), strict=False)
    )


def _starts(log: Log) -> Counter[object]:
    return Counter(states[0] for states in _sequences(log))


def _ends(log: Log) -> Counter[object]:
    return Counter(states[-1] for states in _sequences(log))


def _lengths(log: Log) -> Counter[object]:
    return Counter(len(states) for states in _sequences(log))


def _all_logs(rows: list[Row], most: int) -> Iterator[Log]:
    for size in range(most + 1):
        yield from combinations_with_replacement(rows, size)


def _without(log: Log, index: int) -> Log:
    return log[:index] + log[index + 1 :]


def _with(log: Log, row: Row) -> Log:
    return tuple(sorted((*log, row)))


def _neighbours(log: Log, rows: list[Row], change: str) -> Iterator[Log]:
    """Additions stand for removals too: the bound is read in both directions."""
    if change == "add-remove":
        yield from (_with(log, row) for row in rows)
        return
    for index, (who, when, _) in enumerate(log):
        rest = _without(log, index)
        for row in rows:
            if change == "replace" or row[:2] == (who, when):
                yield _with(rest, row)


def _gaps(logs: Iterable[Log], rows: list[Row], change: str, table: Table) -> set[tuple[int, int]]:
    """All (records that came, records that went) between neighbours."""
    known: dict[Log, Counter[object]] = {}

    def counted(log: Log) -> Counter[object]:
        if log not in known:
            known[log] = table(log)
        return known[log]

    found = set()
    for log in logs:
        mine = counted(log)
        for other in _neighbours(log, rows, change):
            theirs = counted(other)
            found.add(((theirs - mine).total(), (mine - theirs).total()))
    return found


def _covered(gap: tuple[int, int], bound: Contributions) -> bool:
    came, went = gap
    return (came <= bound.added and went <= bound.removed) or (went <= bound.added and came <= bound.removed)


def _rows(users: int, times: int, states: int) -> list[Row]:
    return list(product(range(users), range(times), range(states)))


# (users, times, states, most rows): together they have ties, several users and long enough sequences.
UNIVERSES = [(2, 2, 2, 4), (1, 2, 3, 5), (1, 3, 2, 4), (3, 1, 2, 4), (2, 1, 3, 3)]
CHANGES = ["add-remove", "replace", "replace-state"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("universe", UNIVERSES, ids=str)
def test_no_row_changes_more_transitions_than_is_charged(
    universe: tuple[int, int, int, int], change: str
) -> None:
    *sizes, most = universe
    rows = _rows(*sizes)
    bound = Transitions("row", change).on_transitions()
    for gap in _gaps(_all_logs(rows, most), rows, change, _transitions):
        assert _covered(gap, bound), gap


@pytest.mark.mostly_slow(quick=5)
@pytest.mark.parametrize("table", [_starts, _ends, _lengths])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("universe", UNIVERSES, ids=str)
def test_no_row_changes_more_sequences_than_is_charged(
    universe: tuple[int, int, int, int], change: str, table: Table
) -> None:
    *sizes, most = universe
    rows = _rows(*sizes)
    bound = Transitions("row", change).on_sequences
    for gap in _gaps(_all_logs(rows, most), rows, change, table):
        assert _covered(gap, bound), gap


@pytest.mark.slow
def test_what_is_charged_for_a_row_is_reached() -> None:
    rows = _rows(1, 3, 3)
    assert (2, 1) in _gaps(_all_logs(rows, 3), rows, "add-remove", _transitions)
    # Row 0 -> 1 -> 2 loses its middle, which goes between another user's two.
    log = ((0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 0, 2), (1, 2, 0))
    moved = _with(_without(log, 1), (1, 1, 1))
    gap = (_transitions(moved) - _transitions(log), _transitions(log) - _transitions(moved))
    assert [part.total() for part in gap] == [3, 3]
    # Starts, ends and lengths of two users at once.
    rows = _rows(2, 2, 2)
    for table in (_starts, _ends, _lengths):
        assert (2, 2) in _gaps(_all_logs(rows, 4), rows, "replace", table)
        assert (1, 1) in _gaps(_all_logs(rows, 3), rows, "add-remove", table)


def test_ties_make_a_replaced_state_cost_more_than_its_own_transitions() -> None:
    """Without ties (2, 2) would do; with them the row moves, so that this must be charged for."""
    apart = [log for log in _all_logs(_rows(1, 4, 2), 4) if len({when for _, when, _ in log}) == len(log)]
    plain = Contributions(2, 2)
    assert all(_covered(gap, plain) for gap in _gaps(apart, _rows(1, 4, 2), "replace-state", _transitions))
    rows = _rows(1, 2, 4)
    tied = _gaps(_all_logs(rows, 5), rows, "replace-state", _transitions)
    assert any(not _covered(gap, plain) for gap in tied)
    assert all(_covered(gap, Transitions("row", "replace-state").on_transitions()) for gap in tied)


def test_a_bound_that_is_too_small_is_seen() -> None:
    rows = _rows(1, 3, 3)
    gaps = _gaps(_all_logs(rows, 3), rows, "add-remove", _transitions)
    for too_small in (Contributions(1, 1), Contributions(2, 0), Contributions(1)):
        assert any(not _covered(gap, too_small) for gap in gaps)


def test_an_event_changes_what_is_charged() -> None:
    cells = list(product(range(2), repeat=2))
    for size in range(3):
        for events in combinations_with_replacement(cells, size):
            mine = Counter(events)
            for cell in cells:
                gap = (Counter({cell: 1}).total(), 0)
                assert _covered(gap, Transitions().on_transitions())
                for event in events:
                    if event[0] == cell[0]:
                        theirs = mine - Counter([event]) + Counter([cell])
                        gap = ((theirs - mine).total(), (mine - theirs).total())
                        assert _covered(gap, Transitions("event", "replace").on_transitions())


@pytest.mark.slow_for("add-remove-5")
@pytest.mark.parametrize(("change", "least"), [("add-remove", 5), ("replace", 10)])
def test_a_row_in_a_table_of_triples(change: str, least: int) -> None:
    """A row stands in three triples, and two close over the gap: (3, 2), or (5, 5) if replaced."""
    if change == "add-remove":
        rows = _rows(1, 5, 2)
        found = max(came + went for came, went in _gaps(_all_logs(rows, 5), rows, change, _second))
    else:
        log = tuple((0, when, state) for when, state in enumerate((0, 1, 2, 0, 0)))
        log += tuple((1, when, state) for when, state in enumerate((2, 2, 3, 1, 3)) if when != 2)
        moved = _with(_without(log, 2), (1, 2, 0))
        found = (_second(moved) - _second(log)).total() + (_second(log) - _second(moved)).total()
    assert found == least
    part = Part("second", veil.vectors.GeometricCounts(1.0, 12), (3, 2, 2))
    try:
        charged = part.profile(Transitions("row", change)).pure_epsilon
    except InvalidArgument:
        return
    assert charged >= least


# Users: a sample of each one's transitions in the order of a salted hash.


def _sampled(log: Log, cap: int, salt: str) -> Counter[object]:
    kept: Counter[object] = Counter()
    for user in sorted({who for who, _, _ in log}):
        states = [state for who, _, state in sorted(log) if who == user]
        moves = sorted(
            enumerate(pairwise(states)),
            key=lambda move: hashlib.sha256(f"{salt},{user},{move[0]}".encode()).digest(),
        )
        kept.update(pair for _, pair in moves[:cap])
    return kept


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_a_user_changes_at_most_the_cap(cap: int) -> None:
    rng = np.random.default_rng(cap)
    added, replaced = (
        Transitions("user", change, cap).on_transitions() for change in ("add-remove", "replace")
    )
    largest = 0
    for trial in range(150):
        log: Log = tuple(sorted(map(tuple, rng.integers(0, [3, 4, 2], size=(rng.integers(2, 14), 3)))))
        mine = _sampled(log, cap, str(trial))
        for user in range(3):
            rest = tuple(row for row in log if row[0] != user)
            theirs = _sampled(rest, cap, str(trial))
            assert not theirs - mine
            assert (mine - theirs).total() <= min(cap, max(sum(row[0] == user for row in log) - 1, 0))
            assert _covered(((theirs - mine).total(), (mine - theirs).total()), added)
            new = tuple(
                sorted((*rest, *((user, int(w), int(s)) for w, s in rng.integers(0, [4, 2], (6, 2)))))
            )
            other = _sampled(new, cap, str(trial))
            gap = ((other - mine).total(), (mine - other).total())
            largest = max(largest, *gap)
            assert _covered(gap, replaced)
            for table in (_starts, _ends, _lengths):
                once = ((table(rest) - table(log)).total(), (table(log) - table(rest)).total())
                assert _covered(once, Transitions("user", "add-remove", cap).on_sequences)
                twice = ((table(new) - table(log)).total(), (table(log) - table(new)).total())
                assert _covered(twice, Transitions("user", "replace", cap).on_sequences)
    assert largest == cap


def test_a_part_may_have_a_cap_of_its_own() -> None:
    user = Transitions("user", "replace", 40)
    assert user.on_transitions() == Contributions(40, 40)
    assert user.on_transitions(3) == Contributions(3, 3)
    assert user.on_sequences == Contributions(1, 1)
    assert Transitions("user", "add-remove", 40).on_sequences == Contributions(1, 0)


ALL: list[Transitions | Contributions] = [
    *(Transitions(unit, change) for unit in ("event", "row") for change in ("add-remove", "replace")),
    Transitions("row", "replace-state"),
    *(Transitions("user", change, cap) for change in ("add-remove", "replace") for cap in (1, 7)),
    Contributions(1),
    Contributions(1, 1),
    Contributions(3, 2),
]


@pytest.mark.parametrize("adjacency", ALL, ids=str)
def test_described_and_built_again(adjacency: Transitions | Contributions) -> None:
    again: Any = adjacency_from(adjacency.describe())
    assert again == adjacency
    assert hash(again) == hash(adjacency)
    assert again.words == adjacency.words


def test_words_differ_and_say_the_cap() -> None:
    assert len({adjacency.words for adjacency in ALL}) == len(ALL)
    assert "at most 7 transitions were" in Transitions("user", "replace", 7).words
    assert "at most 1 transition was" in Transitions("user", "add-remove", 1).words
    assert Contributions(1).words == "one record is added or removed"
    assert (
        Contributions(3, 2).words == "at most 3 records are added and at most 2 are removed, or the reverse"
    )


@pytest.mark.parametrize(
    ("unit", "change", "cap", "field"),
    [
        ("person", "add-remove", None, "unit"),
        (None, "add-remove", None, "unit"),
        ("event", "replace-state", None, "change"),
        ("user", "replace-state", 3, "change"),
        ("event", "swap", None, "change"),
        ("user", "add-remove", None, "cap"),
        ("event", "add-remove", 3, "cap"),
        ("row", "replace", 3, "cap"),
        ("user", "add-remove", 0, "cap"),
        ("user", "add-remove", -1, "cap"),
        ("user", "add-remove", 2.5, "cap"),
        ("user", "add-remove", True, "cap"),
        ("user", "add-remove", "10", "cap"),
    ],
)
def test_bad_transitions(unit: str, change: str, cap: int | None, field: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        Transitions(unit, change, cap)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("added", "removed"), [(0, 0), (-1, 0), (1, -1), (1.5, 0), (True, 0), ("2", 0), (1, None)]
)
def test_bad_contributions(added: object, removed: object) -> None:
    with pytest.raises(InvalidArgument):
        Contributions(added, removed)  # type: ignore[arg-type]


def test_whole_numbers_of_other_types_are_taken() -> None:
    assert Contributions(np.int64(3), 2.0) == Contributions(3, 2)  # type: ignore[arg-type]
    assert type(Contributions(np.int64(3)).added) is int  # type: ignore[arg-type]
    assert Transitions("user", cap=np.int32(4)).describe()["cap"] == 4  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [Contributions(1), Contributions(2, 1), Contributions(3, 3)])
def test_total_is_the_l1_distance(change: Contributions) -> None:
    assert change.total == change.added + change.removed
    scale = 2.5
    profile = veil.vectors.GeometricCounts(scale, 4).profile(change)
    assert Fraction(profile.pure_epsilon) >= change.total / Fraction(scale)


def test_the_oracle_counts_a_log_by_hand() -> None:
    log: Log = ((0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 5, 1))
    assert _transitions(log) == Counter({(0, 1): 1, (1, 0): 1})
    assert _second(log) == Counter({(None, 1, 0): 1, (1, 0, 1): 1})
    assert _starts(log) == Counter({1: 2})
    assert _lengths(log) == Counter({3: 1, 1: 1})
