"""Averages of vectors of which one changes: the statements of averages.md, and the queries of users."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.neighbours.vectors import exchange, move, vector_in
from veil import matrices, vectors
from veil.core.claim import claim_of
from veil.core.errors import VeilError
from veil.core.registry import adjacency_from, adjacency_named
from veil.errors import InvalidArgument, InvalidData
from veil.vectors import L1, Averaged, Simplex, Transfer

CSV = "work,home,out\n0.5,0.3,0.2\n0.1,0.6,0.3\n0.4,0.4,0.2\n1,0,0\n"


def _table(seed: int, rows: int, size: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [vector_in(rng, Simplex(size)) for _ in range(rows)]


# Sections 1 and 2


@pytest.mark.parametrize("weights", [None, [3.0, 1.0, 0.0, 2.5], [1e-300, 1e300, 5e299, 1e-308]])
def test_every_entry_is_the_exact_one_rounded_once(weights: list[float] | None) -> None:
    for seed in range(20):
        rows = _table(seed, 4, 3)
        parts = [Fraction(1)] * 4 if weights is None else list(map(Fraction, weights))
        exact = [
            sum((part * Fraction(row[i]) for part, row in zip(parts, rows, strict=True)), Fraction(0))
            / sum(parts)
            for i in range(3)
        ]
        assert vectors.average(rows, weights=weights).tolist() == list(map(float, exact))


@pytest.mark.parametrize("row", [Transfer(0.3), L1(0.4), L1(2.0)])
@pytest.mark.parametrize("weights", [None, [5.0, 1.0, 2.0]])
def test_no_row_moves_the_average_further_than_is_charged(row: Any, weights: list[float] | None) -> None:
    """Rows are changed as the sentence says; the move of the average attains the mass and stays below it."""
    rng, domain, size = np.random.default_rng(5), Simplex(4), 4
    near = Averaged.of(3 if weights is None else weights, row)
    largest, allowed = 0.0, domain.largest_move(near)
    for _ in range(300):
        rows = [vector_in(rng, domain) for _ in range(3)]
        place = int(rng.integers(3))
        edit = exchange if isinstance(row, Transfer) else move
        changed = edit(rng, rows[place], row.mass if isinstance(row, Transfer) else row.distance, domain)
        if changed is None:
            continue
        other = [*rows[:place], changed, *rows[place + 1 :]]
        one, two = (vectors.average(table, weights=weights) for table in (rows, other))
        gaps = [Fraction(b) - Fraction(a) for a, b in zip(one.tolist(), two.tolist(), strict=True)]
        gain = sum((gap for gap in gaps if gap > 0), Fraction(0))
        assert max(gain, gain - sum(gaps)) <= allowed
        assert near.allows(two - one)
        assert sum(gap != 0 for gap in gaps) <= near.entries(size)
        largest = max(largest, float(gain))
    # Power: somebody with the largest weight moved as far as rows may.
    assert largest > 0.9 * near.mass


def test_a_whole_row_covers_sums_that_are_off_by_the_tolerance() -> None:
    near, over = Averaged.of(2), 1.0 + 0.9e-9
    one, two = (vectors.average([first, [0.5, 0.5]]) for first in ([over, 0.0], [0.0, over]))
    gained = Fraction(float(two[1])) - Fraction(float(one[1]))
    assert Fraction(1, 2) < gained <= Fraction(near.mass)
    assert Averaged.of(2, Transfer(0.5)).mass == 0.25
    assert Averaged.of(4, L1(0.2)).mass == pytest.approx(0.025, rel=1e-15)


def test_the_largest_weight_counts() -> None:
    assert Averaged.of(40).weight == 0.025
    assert Averaged.of([2.0, 6.0, 0.0]).weight == 0.75
    assert Fraction(Averaged.of(3).weight) >= Fraction(1, 3)
    assert Fraction(Averaged.of([1.0, 1e-17, 2.0]).weight) >= Fraction(2) / (3 + Fraction(1e-17))
    for weights in ([], [0.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf], [[1.0]], 0, -3, 1.5):
        with pytest.raises((InvalidData, InvalidArgument), match="weights"):
            Averaged.of(weights)  # type: ignore[arg-type]


# Section 3


@pytest.mark.parametrize("row", [Transfer(0.2), L1(0.4)])
def test_the_profile_is_that_of_a_vector_that_moves_by_the_share(row: Any) -> None:
    near = Averaged.of(8, row)
    alone = Transfer(0.025) if isinstance(row, Transfer) else L1(0.05)
    for mechanism in (
        vectors.Laplace(0.1, Simplex(5)),
        vectors.Gaussian(0.1, Simplex(5)),
        vectors.Dirichlet(90.0, Simplex(5, floor=0.05), smooth=True),
        vectors.Dirichlet(5.0, Simplex(5, floor=0.05), smooth=True),
    ):
        averaged, single = mechanism.profile(near), mechanism.profile(alone)
        assert averaged.kind == single.kind
        for epsilon in (0.0, 0.3, 1.0):
            assert averaged.delta(epsilon) == pytest.approx(single.delta(epsilon), rel=1e-9)


@pytest.mark.slow
def test_an_audit_finds_the_loss_of_an_average_and_no_more() -> None:
    """Two tables of four rows of which one is somebody else's; with a weight of 1/8 there would be half."""
    noise, near = vectors.Laplace(0.25, Simplex(3)), Averaged.of(4)
    assert noise.profile(near).epsilon(0.0) == pytest.approx(2.0, rel=1e-8)
    one, two = (vectors.average([first, *([[0.0, 0.0, 1.0]] * 3)]) for first in ([1, 0, 0], [0, 1, 0]))
    found = veil.audit(noise, one, two, adjacency=near, samples=100_000, rng=3)
    assert noise.profile(Averaged.of(8)).epsilon(0.0) < 1.01 < found.lower <= found.claimed
    with pytest.raises(InvalidArgument, match="neighbour"):
        veil.audit(noise, one, two, adjacency=Averaged.of(8), rng=3)


# Section 4


def test_averages_of_the_same_table_are_about_the_same_neighbours(tmp_path: Path) -> None:
    rows = _table(1, 6, 3)
    ledger = veil.Ledger(tmp_path / "budget.db")
    days = ledger.open("days", epsilon=3, adjacency=adjacency_named("average"))
    vectors.release(rows, average=6, epsilon=1.0, ledger=days)
    vectors.release(rows, weights=[1, 2, 3, 4, 5, 6], epsilon=1.0, ledger=days)
    assert str(days.spent.epsilon) == "2"
    # A smaller change of a row, or the vector itself, is something else.
    with pytest.raises(InvalidArgument, match="may change in any way"):
        vectors.release(rows, average=6, l1=0.5, epsilon=0.5, ledger=days)
    with pytest.raises(InvalidArgument, match="may change in any way"):
        vectors.release(rows[0], l1=2.0, epsilon=0.5, ledger=days)
    assert str(days.spent.epsilon) == "2"
    ledger.verify()


def test_a_batch_for_small_weights_is_not_used_for_large_ones(tmp_path: Path) -> None:
    rows = _table(2, 10, 3)
    noise = vectors.Laplace(0.5, Simplex(3))
    days = veil.Ledger(tmp_path / "budget.db").open("days", epsilon=3)
    batch = days.batch([noise, noise], adjacency=Averaged.of(10))
    with pytest.raises(InvalidArgument, match=r"at most 0\.1 of the weight"):
        veil.release(noise, rows[0], adjacency=Averaged.of(2), ledger=batch)
    veil.release(noise, vectors.average(rows), adjacency=Averaged.of(20), ledger=batch)
    assert batch.left == 1


def test_relations_and_descriptions() -> None:
    near = Averaged.of(4, Transfer(0.1))
    assert adjacency_from(json.loads(json.dumps(near.describe()))) == near
    assert near.words == (
        "one row behind the average may change by this: two protected entries of a row exchanging at most "
        "0.1; it has at most 0.25 of the weight"
    )
    assert near.who in near.words
    assert "weight" not in near.who
    assert Averaged.of(9, L1(0.2)).covers(near)
    assert not near.covers(Averaged.of(9, L1(0.2)))
    assert not near.covers(Transfer(1e-9))
    assert not L1(2.0).covers(near)
    assert adjacency_named("average-l1:0.5").covers(Averaged.of(7, L1(0.5)))
    assert adjacency_named("average-transfer:0.25") == Averaged.of(1, Transfer(0.25))
    with pytest.raises(InvalidArgument, match="row"):
        Averaged(near, 0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="each"):
        matrices.Rows(1, near)  # type: ignore[arg-type]
    for weight in (0.0, 1.1, math.nan, "1"):
        with pytest.raises(InvalidArgument, match="weight"):
            Averaged(L1(1.0), weight)  # type: ignore[arg-type]


# What users call


def test_an_average_is_released_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "shares.csv").write_text(CSV)
    table = vectors.read(tmp_path / "shares.csv", unnamed=True)
    out = vectors.release(table, average=4, epsilon=2.0, rng=1)
    assert out.labels == ("work", "home", "out")
    assert out.value.shape == (3,)
    assert out.row_labels is None
    assert out.adjacency == Averaged.of(4)
    assert any("nobody has two of the rows" in text for text in out.assumptions)
    out.save(tmp_path / "out.json")
    again = veil.load(tmp_path / "out.json")
    assert again.adjacency == out.adjacency
    assert again.assumptions == out.assumptions
    assert claim_of(again, "out.json").holds
    # A record that leaves the assumption out claims too much.
    record = json.loads((tmp_path / "out.json").read_text())
    record["assumptions"] = []
    (tmp_path / "less.json").write_text(json.dumps(record))
    assert "nobody has two of the rows" in claim_of(veil.load(tmp_path / "less.json"), "less.json").missing[0]


def test_the_released_average_is_that_of_the_rows() -> None:
    rows = _table(3, 50, 4)
    weights = np.linspace(1.0, 3.0, 50)
    out = vectors.release(rows, average=50, epsilon=1e4, rng=1)
    assert out.value == pytest.approx(np.mean(rows, axis=0), abs=1e-3)
    out = vectors.release(rows, weights=weights, epsilon=1e4, rng=1)
    assert out.value == pytest.approx(np.average(rows, axis=0, weights=weights), abs=1e-3)
    assert np.abs(out.value - np.mean(rows, axis=0)).max() > 2e-3


def test_weights_are_found_by_the_names_of_the_rows(tmp_path: Path) -> None:
    table = {"b": {"x": 1.0, "y": 0.0}, "a": {"x": 0.0, "y": 1.0}}
    (tmp_path / "weights.csv").write_text("a,3\nb,1\n")
    out = vectors.release(table, weights=tmp_path / "weights.csv", epsilon=1e5, rng=1)
    assert out.value == pytest.approx([0.25, 0.75], abs=1e-3)
    out = vectors.release(table, weights=[3, 1], epsilon=1e5, rng=1)
    assert out.value == pytest.approx([0.75, 0.25], abs=1e-3)
    for rows in ({"b": table["b"], "c": table["a"]}, [[1.0, 0.0], [0.0, 1.0]]):
        with pytest.raises(InvalidData, match="weights: expected the names of the rows"):
            vectors.release(rows, weights={"a": 3, "b": 1}, epsilon=1.0)


def test_the_published_bound_of_averages_and_linear_queries() -> None:
    mechanism = vectors.Dirichlet(40.0, Simplex(4, floor=0.1, protected=[0, 1, 2], slack=0.1))
    alone = mechanism.published(Transfer.from_average(0.2, 4), gamma=0.01)
    assert mechanism.published(Averaged.of(4, Transfer.from_l1(0.2)), gamma=0.01) == alone
    with pytest.raises(InvalidArgument, match="Transfer"):
        mechanism.published(Averaged.of(4), gamma=0.01)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"average": 3}, "value: expected 3 rows"),
        ({"average": 1}, "average: expected a whole number of at least 2"),
        ({"average": 4, "records": 4}, "records: expected counts"),
        ({"average": 4, "cap": 2}, "cap: expected counts"),
        ({"average": 4, "change": "replace"}, "change: expected counts"),
        ({"average": 4, "transfer": 0.1, "l1": 0.1}, "transfer: expected one of"),
        ({"average": 4, "public_row_labels": True}, "public_row_labels: expected several vectors"),
        ({"average": 4, "mechanism": "geometric"}, "mechanism: expected"),
        ({"average": 4, "weights": [1, 2]}, "average: expected the number of weights, 2"),
        ({"weights": [1, 2]}, "value: expected 2 rows"),
        ({"weights": [1, -2, 1, 1]}, "weights: expected no negative weight"),
        ({"weights": [0, 0, 0, 0]}, "weights: expected a weight above 0"),
        ({"weights": "heavy"}, "heavy"),
    ],
)
def test_mistakes(fields: dict[str, Any], message: str) -> None:
    rows = _table(4, 4, 3)
    with pytest.raises(VeilError, match=message):
        vectors.release(rows, epsilon=1.0, **fields)


def test_mistakes_in_the_rows(tmp_path: Path) -> None:
    for rows, message in (
        ([0.5, 0.5], "expected a table with one row for each person, found one vector"),
        ([[0.5, 0.4], [0.5, 0.5]], "sum to 1"),
        ([[1.5, -0.5], [0.5, 0.5]], "negative"),
        ([[math.nan, 0.5], [0.5, 0.5]], "finite"),
    ):
        with pytest.raises(InvalidData, match=message):
            vectors.release(rows, average=2, epsilon=1.0)
    for rows, message in (([0.5, 0.5], "rows: expected a table"), ([[1.0], [1.0]], "rows: expected a table")):
        with pytest.raises(InvalidData, match=message):
            vectors.average(rows)
    with pytest.raises(InvalidData, match="weights: expected 2 of them"):
        vectors.average([[0.5, 0.5], [0.2, 0.8]], weights=[1, 2, 3])
    hours = vectors.release([[3, 5], [8, 0]], average=2, normalise=True, epsilon=1e5, rng=1)
    assert hours.value == pytest.approx([0.6875, 0.3125], abs=1e-3)
    (tmp_path / "shares.csv").write_text(CSV)
    with pytest.raises(InvalidData, match="unnamed"):
        vectors.read(tmp_path / "shares.csv")
    with pytest.raises(InvalidArgument, match="unnamed: expected no name of a column"):
        vectors.read(tmp_path / "shares.csv", unnamed=True, row_column="work")


def test_rows_without_names(tmp_path: Path) -> None:
    (tmp_path / "shares.csv").write_text(CSV)
    (tmp_path / "plain.csv").write_text("0.5,0.5\n0.25,0.75\n1,0\n")
    named = vectors.read(tmp_path / "shares.csv", unnamed=True)
    assert named.labels == ("work", "home", "out")
    assert len(named.values) == 4
    plain = vectors.read(tmp_path / "plain.csv", unnamed=True)
    assert plain.labels is None
    assert plain.values == ((0.5, 0.5), (0.25, 0.75), (1.0, 0.0))
    frame = {"work": [0.5, 0.1], "home": [0.5, 0.9]}
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for held in (pandas.DataFrame(frame), polars.DataFrame(frame)):
        assert vectors.read(held, unnamed=True).values == ((0.5, 0.5), (0.1, 0.9))
        assert vectors.read(held, unnamed=True).labels == ("work", "home")


@pytest.mark.slow
def test_plans_for_averages() -> None:
    def error(**asked: Any) -> float:
        best: Any = vectors.plan(size=4, epsilon=1.0, **asked).best
        return float(best.errors.tv)

    # The noise falls as 1/N.
    assert error(average=1000) < 0.02 * error(average=10)
    assert error(weights=[1] * 9 + [91]) > 1.5 * error(average=10)
    need = [vectors.plan(size=4, average=n, error=0.05).epsilon for n in (10, 100)]
    assert need[1] == pytest.approx(need[0] / 10, rel=0.05)
