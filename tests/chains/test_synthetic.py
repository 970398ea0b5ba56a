"""Synthetic sequences: from the release alone, which also says what it does not have."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import veil
from veil.chains.sequences.synthetic import DEFAULT_LENGTH, Synthetic, synthetic
from veil.core.intake import NamedMatrix
from veil.errors import InvalidArgument, VeilError
from veil.matrices.requests import MatrixRelease

# No noise to speak of.
LARGE = 20_000.0
MATRIX = np.array([[800, 150, 50], [100, 300, 100], [40, 60, 500]])
NAMES = ["home", "work", "shop"]
COUNTS = veil.chains.TransitionCounts(MATRIX, NAMES)
NO_STARTS = "starts: drawn from where transitions start; the release has none of its own"
FITTED_STARTS = (
    "starts: such that the released transitions and lengths come out; the release has none of its own"
)
NOTHING_OF_STARTS = "starts: drawn from the stationary distribution; the release has none of its own"
NO_LENGTHS = "lengths: 2 states each; the release has none of its own"


def of_sequences(*parts: str, memory: int = 1) -> veil.Release[Any]:
    lines = [["a", "b", "c"]] * 600 + [["c", "b", "a", "b"]] * 300 + [["b"]] * 100
    counts = veil.chains.read(lines, states=["a", "b", "c"], sequences=True, memory=memory)
    return veil.chains.release(counts, epsilon=LARGE, parts=parts, rng=1)


def grouped() -> veil.Release[Any]:
    one, two = np.array([[9, 1], [9, 1]]) * 50, np.array([[1, 9], [1, 9]]) * 50
    counts = veil.chains.TransitionCounts(one + two, ["x", "y"], groups={"early": one, "late": two})
    return veil.chains.release(counts, epsilon=LARGE, rng=1)


def test_steps_have_the_released_probabilities() -> None:
    made = synthetic(veil.chains.release(COUNTS, epsilon=LARGE, rng=1), 20_000, rng=1)
    assert made.lengths.tolist() == [DEFAULT_LENGTH] * 20_000
    pairs = Counter(tuple(sequence) for sequence in made)
    found = np.array([[pairs[a, b] for b in NAMES] for a in NAMES])
    truth = MATRIX / MATRIX.sum(axis=1, keepdims=True)
    # 20,000 draws: five standard deviations of a row of 4,000 are 0.04.
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), truth, atol=0.04)
    np.testing.assert_allclose(found.sum(axis=1) / 20_000, MATRIX.sum(axis=1) / MATRIX.sum(), atol=0.02)
    assert made.notes == (NO_STARTS, NO_LENGTHS)


@pytest.mark.slow
def test_starts_and_lengths_are_used_where_they_are_released() -> None:
    made = synthetic(of_sequences("starts", "lengths"), 5000, rng=2)
    assert made.notes == ()
    starts, lengths = Counter(s[0] for s in made), Counter(map(len, made))
    # By hand: 600 of a, 300 of c, 100 of b; lengths of 3, 4 and 1 independent of them.
    for count, share in ((starts["a"], 0.6), (starts["c"], 0.3), (lengths[3], 0.6), (lengths[1], 0.1)):
        assert count / 5000 == pytest.approx(share, abs=0.035)
    assert set(lengths) == {1, 3, 4}
    assert synthetic(of_sequences("starts"), 9, rng=1).notes == (NO_LENGTHS,)
    assert synthetic(of_sequences("lengths"), 9, rng=1).notes == (FITTED_STARTS,)


def test_two_past_states_are_used() -> None:
    """After a and b comes c, after c and b comes a: a chain with one past state would mix them."""
    release = of_sequences("starts", memory=2)
    made = synthetic(release, 2000, length=3, rng=3)
    triples = Counter(tuple(sequence) for sequence in made)
    assert sum(triples[key] for key in (("a", "b", "c"), ("c", "b", "a"))) > 0.75 * 2000
    assert triples["c", "b", "c"] < 20
    plain = Counter(tuple(s) for s in synthetic(of_sequences("starts"), 2000, length=3, rng=3))
    assert plain["c", "b", "c"] > 100


def test_groups() -> None:
    release = grouped()
    for group, state in (("early", "x"), ("late", "y")):
        made = synthetic(release, 4000, group=group, rng=1)
        ends = Counter(sequence[1] for sequence in made)
        assert ends[state] / 4000 == pytest.approx(0.9, abs=0.03)
    with pytest.raises(InvalidArgument, match="one of early, late"):
        synthetic(release, 1, group="noon")
    with pytest.raises(InvalidArgument, match="no groups"):
        synthetic(veil.chains.release(COUNTS, epsilon=LARGE, rng=1), 1, group="noon")


def test_released_matrices_will_do() -> None:
    taken = NamedMatrix(np.array([[0.5, 0.5], [0.2, 0.8]]), ("s", "t"), ("s", "t"))
    adjacency = veil.matrices.Rows(1, veil.vectors.Transfer(0.01))
    release = (
        MatrixRelease(
            rows=adjacency.changed, transfer=adjacency.each.mass, epsilon=2.0, delta=0.0, mechanism="laplace"
        )
        .prepare(taken)
        .run(rng=1)
    )
    made = synthetic(release, 5, length=7, rng=1)
    assert {state for sequence in made for state in sequence} <= {"s", "t"}
    assert made.notes == (NOTHING_OF_STARTS,)


def test_a_seed_repeats_and_a_generator_goes_on() -> None:
    release = veil.chains.release(COUNTS, epsilon=LARGE, rng=1)
    first, again, other = (list(synthetic(release, 50, length=9, rng=seed)) for seed in (4, 4, 5))
    assert first == again != other
    rng = np.random.default_rng(4)
    assert list(synthetic(release, 50, length=9, rng=rng)) == first
    assert list(synthetic(release, 50, length=9, rng=rng)) != first
    assert list(synthetic(release, 50, length=9)) != list(synthetic(release, 50, length=9))


def test_reading_is_free() -> None:
    """The record on disk is enough, and nothing is charged."""
    release = of_sequences("starts", "lengths", "ends")
    before = (release.epsilon, release.entry)
    synthetic(release, 100, rng=1)
    assert (release.epsilon, release.entry) == before


def test_tables(tmp_path: Any) -> None:
    release = of_sequences("starts", "lengths")
    release.save(tmp_path / "r.json")
    made = synthetic(veil.load(tmp_path / "r.json"), 40, rng=6)
    assert list(made) == list(synthetic(release, 40, rng=6))
    assert len(made) == 40
    table = made.to_arrow()
    assert table.num_rows == made.lengths.sum() == len(made.states)
    rows = zip(*(table[name].to_pylist() for name in ("sequence", "place", "state")), strict=True)
    expected = [(i, j, state) for i, one in enumerate(made) for j, state in enumerate(one)]
    assert list(rows) == expected
    # Counted again, they are the same transitions.
    counted = veil.chains.read(table, by="sequence", order="place", state="state", states=["a", "b", "c"])
    pairs = Counter(pair for one in made for pair in pairwise(one))
    assert counted.matrix.tolist() == [[pairs[a, b] for b in "abc"] for a in "abc"]


def test_by_hand() -> None:
    made = Synthetic(np.array([0, 1, 1], np.int32), np.array([1, 2]), ("p", "q"))
    assert list(made) == [["p"], ["q", "q"]]
    assert made.to_arrow().to_pydict() == {
        "sequence": [0, 1, 1],
        "place": [0, 0, 1],
        "state": ["p", "q", "q"],
    }


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"count": 0}, "count"),
        ({"count": 1.5}, "count"),
        ({"length": 0}, "length"),
        ({"length": True}, "length"),
        ({"rng": "today"}, "rng"),
        ({"rng": -1}, "rng"),
    ],
)
def test_wrong_calls(arguments: dict[str, Any], field: str) -> None:
    options: dict[str, Any] = {"count": 3} | arguments
    with pytest.raises(InvalidArgument) as caught:
        synthetic(veil.chains.release(COUNTS, epsilon=LARGE, rng=1), options.pop("count"), **options)
    assert caught.value.field == field


def test_chains_that_fall_apart_need_starts() -> None:
    """Without starts nobody knows in which part to begin."""
    apart = NamedMatrix(
        np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), tuple("stu"), tuple("stu")
    )
    job = MatrixRelease(
        rows=veil.matrices.Rows(1, veil.vectors.Transfer(0.01)).changed,
        transfer=veil.matrices.Rows(1, veil.vectors.Transfer(0.01)).each.mass,
        epsilon=2.0,
        delta=0.0,
        mechanism="laplace",
        support="zeros",
    ).prepare(apart)
    with pytest.raises(VeilError):
        synthetic(job.run(rng=1), 3)
    vector = veil.release(
        veil.vectors.GeometricCounts(1.0, 3), [1, 2, 3], adjacency=veil.vectors.Records("add-remove")
    )
    with pytest.raises(InvalidArgument, match="a square matrix"):
        synthetic(vector, 3)
