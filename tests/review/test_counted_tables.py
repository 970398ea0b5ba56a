"""2,199 counted tables: none changes by more than is charged when its raw rows are edited.

Raw tables are edited by one event, one row or one user as the adjacency says, and both are counted by Veil
and by plain Python. The noise of the mechanism that a release would use is that for the change or for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.review.plain_counts import Counts, Reading, Row, counted_by_veil, has_rows, plain_counts
from tests.review.raw_tables import Source, neighbour, sequences_of
from tests.review.tally import Tally, in_full
from veil import chains
from veil.chains.adjacency import Transitions
from veil.chains.requests import ChainRelease
from veil.errors import InvalidData
from veil.vectors.counts import Contributions
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

STUDY = "counted tables"
UNITS = [("event", "add-remove"), ("event", "replace"), ("row", "add-remove"), ("row", "replace")]
UNITS += [("row", "replace-state"), ("user", "add-remove"), ("user", "replace")]
EDITS = 3


def count(rows: Sequence[Row], reading: Reading) -> tuple[Any, Counts] | None:
    """What Veil counts, which must be what plain Python counts; None where no row is left."""
    if not rows:
        return None
    table = {name: [row[name] for row in rows] for name in reading.columns}
    if not has_rows(rows, reading):
        with pytest.raises(InvalidData):
            chains.read(table, **reading.arguments())
        return None
    counts = chains.read(table, **reading.arguments())
    found, plain = counted_by_veil(counts, reading), plain_counts(rows, reading)
    assert found.keys() == plain.keys()
    for name, one in plain.items():
        assert np.array_equal(found[name], one), (name, reading, rows)
    return counts, plain


def is_charged(change: Any, bound: Contributions) -> bool:
    """Whether so many come and so many go, or the reverse."""
    come, gone = int(np.maximum(change, 0).sum()), int(np.maximum(-change, 0).sum())
    most = bound.added, bound.removed
    return (come <= most[0] and gone <= most[1]) or (gone <= most[0] and come <= most[1])


def beyond_the_charge(changes: Counts, reading: Reading, adjacency: Transitions) -> list[str]:
    """The tables that change by more than is charged for."""
    found = []
    for name, change in changes.items():
        of = (
            "transitions"
            if name in ("transitions", "groups", "sizes") or name.startswith("stratum")
            else name
        )
        cap = reading.second_cap if name == "second" else None
        if name.startswith("stratum"):
            assert reading.strata is not None
            cap = reading.strata[int(name.split()[1])][1]
        if not is_charged(change, adjacency.on(of, cap)):
            found.append(name)
        # One row of the table, and how many leave each state is public.
        if adjacency == Transitions("event", "replace") and name == "sizes" and change.any():
            found.append("sizes that are public")
    strata = [change for name, change in changes.items() if name.startswith("stratum")]
    if adjacency.unit == "user" and adjacency.change == "add-remove" and sum(map(np.any, strata)) > 1:
        found.append("strata, which are in parallel")
    return found


def part_changes(mechanism: Any, first: Any, second: Any) -> list[tuple[Any, Any]]:
    """Each part of a mechanism, and by how much the table that it hides changes."""
    return [(part, part.counted(second) - part.counted(first)) for part in mechanism.parts]


def loss(mechanism: Any, first: Any, second: Any) -> Fraction:
    """The largest loss of all geometric noise together: the L1 change of each part over its scale."""
    total = Fraction(0)
    for part, change in part_changes(mechanism, first, second):
        assert isinstance(part.mechanism, GeometricCounts)
        total += Fraction(int(np.abs(change).sum())) / Fraction(part.mechanism.scale)
    return total


def are_gaussians_enough(mechanism: Any, adjacency: Transitions, first: Any, second: Any) -> bool:
    """Whether the Renyi divergence that each part is charged with covers that of its change."""
    for part, change in part_changes(mechanism, first, second):
        if isinstance(part.mechanism, DiscreteGaussianCounts) and change.any():
            square = Fraction(int((change.astype(object) ** 2).sum()))
            charged = part.profile(adjacency).rdp(2.0)
            if Fraction(charged) < square / Fraction(part.mechanism.sigma) ** 2:
                return False
    return True


def mechanism_for(counts: Any, adjacency: Transitions, reading: Reading, noise: str) -> tuple[Any, float]:
    """What a release of these counts would be made with, and its epsilon."""
    parts = ("starts", "ends", "lengths") if reading.sequences else ()
    delta = 1e-6 if noise == "gaussian" else 0.0
    asked = {"epsilon": 0.8, "delta": delta, "mechanism": noise, "parts": parts}
    request = ChainRelease.given(asked | {"unit": adjacency.unit, "change": adjacency.change})
    job = request.prepare(counts)
    return job.mechanism, job.epsilon


def compare(tally: Tally, rng: np.random.Generator, unit: str, change: str, noise: str) -> float:
    """Some neighbours of one table; the largest part of epsilon that one of them loses."""
    adjacency = Transitions(unit, change, int(rng.integers(1, 6)) if unit == "user" else None)
    source = Source.random(rng, adjacency)
    rows, reading, largest = source.rows(), source.reading, 0.0
    if unit == "event" and reading.log:
        rows = sequences_of(source, rows)
    before = count(rows, reading)
    # A table of nothing is not released.
    if before is None or not before[0].total:
        return largest
    counts, tables = before
    mechanism, epsilon = mechanism_for(counts, adjacency, reading, noise)
    for _ in range(EDITS):
        edited = neighbour(source, rows, adjacency)
        after = count(edited, reading)
        if after is None:
            continue
        changes = {name: after[1][name] - one for name, one in tables.items()}
        above = beyond_the_charge(changes, reading, adjacency)
        if noise == "geometric":
            lost = loss(mechanism, counts, after[0])
            largest = max(largest, float(lost / Fraction(epsilon)))
            above += ["the noise"] if lost > Fraction(epsilon) else []
        elif not are_gaussians_enough(mechanism, adjacency, counts, after[0]):
            above.append("the Gaussian noise")
        tally.add(f"{adjacency} {above}: {reading} {rows} {edited}", is_above=bool(above))
    return largest


@pytest.mark.slow
@in_full(STUDY)
def test_no_table_changes_by_more_than_is_charged(least: int) -> None:
    tally, rng, largest = Tally(STUDY), np.random.default_rng(2_199), dict.fromkeys(UNITS, 0.0)
    turn = 0
    while tally.checked < least:
        unit = UNITS[turn % len(UNITS)]
        noise = "gaussian" if turn % 5 == 4 else "geometric"
        largest[unit] = max(largest[unit], compare(tally, rng, *unit, noise))
        turn += 1
    print("\nthe largest part of epsilon:", {" ".join(unit): f"{part:.6f}" for unit, part in largest.items()})
    tally.close(least)


@pytest.mark.slow
def test_a_charge_that_is_one_less_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is charged as (2, 0), or a user as one transition less than the cap, is found out."""
    true = Transitions.on
    for unit, change, lowered in [
        ("row", "add-remove", lambda bound: Contributions(bound.added, 0)),
        ("user", "add-remove", lambda bound: Contributions(max(1, bound.added - 1), bound.removed)),
    ]:
        rng, tally = np.random.default_rng(5), Tally(STUDY)
        with monkeypatch.context() as patch:
            patch.setattr(Transitions, "on", lambda self, of, cap=None, low=lowered: low(true(self, of, cap)))
            while tally.checked < 30 and not tally.above:
                compare(tally, rng, unit, change, "geometric")
        assert tally.above


def test_a_log_by_hand() -> None:
    """Ties, an unlisted state that is dropped, and what is counted of it."""
    reading = Reading(("a", "b"), log=True, drop_unlisted=True, sequences=True, memory=2)
    rows = [
        {"who": "ann", "when": when, "tie": 0, "state": state, "group": "x"}
        for when, state in [(0, "a"), (1, "zzz"), (2, "b"), (2, "a"), (3, "b")]
    ]
    counted = count(rows, reading)
    assert counted is not None
    assert counted[1]["transitions"].tolist() == [[1, 1], [0, 1]]
    assert counted[1]["lengths"][:5].tolist() == [0, 0, 0, 1, 0]
    assert counted[1]["second"][2].tolist() == [[1, 0], [0, 0]]
    capped = count(rows, replace(reading, cap=2))
    assert capped is not None
    assert capped[1]["transitions"].sum() == 2


@pytest.mark.slow
def test_a_sequence_without_a_name_changes_its_own_transitions_alone() -> None:
    """One of a list of sequences is taken out, and the others come in another order."""
    rng = np.random.default_rng(8)
    for trial in range(25):
        cap = int(rng.integers(1, 4))
        whole = [rng.choice(["a", "b"], int(rng.integers(1, 7))).tolist() for _ in range(6)]
        order = rng.permutation(len(whole))[1:]
        asked: dict[str, Any] = {"states": ["a", "b"], "cap": cap, "memory": 2, "sequences": True}
        reading = Reading(("a", "b"), log=True, cap=cap, memory=2, sequences=True)
        both = [
            counted_by_veil(chains.read(some, salt=str(trial), **asked), reading)
            for some in (whole, [whole[at] for at in order])
        ]
        changes = {name: one - both[1][name] for name, one in both[0].items()}
        assert all((change >= 0).all() for change in changes.values())
        assert not beyond_the_charge(changes, reading, Transitions("user", "add-remove", cap))
