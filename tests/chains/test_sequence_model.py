"""Synthetic sequences follow the model: starts, lengths, each step, with and without a memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import veil
from tests.core.fit import ALPHA
from veil.chains.lengths import LengthBins
from veil.chains.sequence_model import LengthLaw, SequenceModel, _alike
from veil.errors import InvalidArgument

CHAIN = veil.Chain([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]])
STARTS = np.array([0.7, 0.1, 0.2])
LENGTHS = LengthLaw(np.array([1, 2, 3, 7, 40]), np.array([0.3, 0.3, 0.2, 0.15, 0.05]))


def second_order(seed: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).dirichlet(np.ones(3), size=(4, 3))


def fits(observed: NDArray[Any], law: NDArray[Any]) -> bool:
    """Whether counts fit a law (chi-square, alpha 1e-6)."""
    return bool(stats.chisquare(observed, observed.sum() * law / law.sum()).pvalue > ALPHA)


def drawn(model: SequenceModel, count: int, seed: int = 1, **options: Any) -> list[NDArray[Any]]:
    states, lengths = model.sequences(count, rng=np.random.default_rng(seed), **options)
    assert states.dtype == np.int32
    assert len(lengths) == count
    assert lengths.sum() == len(states)
    return np.split(states, np.cumsum(lengths)[:-1])


def test_lengths_and_starts_follow_their_laws() -> None:
    found = drawn(SequenceModel(CHAIN, starts=STARTS, lengths=LENGTHS), 20_000)
    lengths = np.array([len(one) for one in found])
    assert set(lengths) <= set(LENGTHS.lengths.tolist())
    seen = np.array([(lengths == length).sum() for length in LENGTHS.lengths])
    starts = np.bincount([one[0] for one in found], minlength=3)
    assert fits(seen, LENGTHS.probabilities)
    assert fits(starts, STARTS)
    # Power: laws that differ by a few hundredths are told apart.
    assert not fits(seen, LENGTHS.probabilities + np.array([0.03, -0.03, 0.0, 0.0, 0.0]))
    assert not fits(starts, STARTS + np.array([-0.03, 0.0, 0.03]))


def test_lengths_and_starts_are_independent() -> None:
    """Sequences are walked in the order of their lengths; that must not reach the starts."""
    found = drawn(SequenceModel(CHAIN, starts=STARTS, lengths=LENGTHS), 20_000)
    for length in (1, 2, 7, 40):
        assert fits(np.bincount([one[0] for one in found if len(one) == length], minlength=3), STARTS)


def pairs(found: list[NDArray[Any]]) -> NDArray[np.int64]:
    table = np.zeros((3, 3), dtype=np.int64)
    for one in found:
        np.add.at(table, (one[:-1], one[1:]), 1)
    return table


def test_steps_follow_the_chain() -> None:
    table = pairs(drawn(SequenceModel(CHAIN, starts=STARTS, lengths=LENGTHS), 20_000))
    assert all(fits(row, law) for row, law in zip(table, CHAIN.to_numpy(), strict=True))
    assert not fits(table[0], np.array([0.63, 0.27, 0.1]))


def test_the_last_step_of_the_longest_follows_the_chain_too() -> None:
    found = drawn(SequenceModel(CHAIN, starts=STARTS), 6_000, length=9)
    for place in (0, 4, 7):
        steps = pairs([one[place : place + 2] for one in found])
        assert all(fits(row, law) for row, law in zip(steps, CHAIN.to_numpy(), strict=True))
    law = STARTS @ np.linalg.matrix_power(CHAIN.to_numpy(), 8)
    assert fits(np.bincount([one[8] for one in found], minlength=3), law)


def test_without_starts_it_is_in_the_long_run() -> None:
    found = drawn(SequenceModel(CHAIN), 10_000, length=2)
    for place in (0, 1):
        assert fits(np.bincount([one[place] for one in found], minlength=3), CHAIN.stationary())


def triples(found: list[NDArray[Any]]) -> NDArray[np.int64]:
    table = np.zeros((4, 3, 3), dtype=np.int64)
    for one in found:
        if len(one) > 1:
            table[3, one[0], one[1]] += 1
            np.add.at(table, (one[:-2], one[1:-1], one[2:]), 1)
    return table


def test_a_memory_of_two_is_followed() -> None:
    second = second_order()
    model = SequenceModel(CHAIN, second=second, starts=STARTS, lengths=LENGTHS)
    found = drawn(model, 30_000)
    assert fits(np.bincount([one[0] for one in found], minlength=3), STARTS)
    table = triples(found)
    for before in range(4):
        for origin in range(3):
            assert fits(table[before, origin], second[before, origin])
    # The marker of a start is not the last state, nor the chain itself; before and from are not exchanged.
    assert not fits(table[3, 0], second[2, 0])
    assert not fits(table[3, 0], CHAIN.to_numpy()[0])
    assert not all(fits(table[a, b], second[b, a]) for a in range(3) for b in range(3))


def test_a_memory_that_forbids_is_kept() -> None:
    """After 0 -> 1 only 2, after 1 -> 2 only 0, and so on round: no other step is ever made."""
    second = np.zeros((4, 3, 3))
    for before in range(4):
        for origin in range(3):
            second[before, origin, (origin + 1) % 3] = 1.0
    model = SequenceModel(CHAIN, second=second, starts=STARTS)
    for one in drawn(model, 50, length=30):
        assert ((one[1:] - one[:-1]) % 3 == 1).all()


def test_one_long_sequence_among_many_short_ones() -> None:
    law = LengthLaw(np.array([2, 2_000_000]), np.array([1.0 - 1e-9, 1e-9]))
    model = SequenceModel(CHAIN, starts=STARTS, lengths=law)
    lengths = np.full(50_000, 2)
    lengths[777] = 2_000_000

    class Fixed(LengthLaw):
        def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
            return lengths

    model = SequenceModel(CHAIN, starts=STARTS, lengths=Fixed(law.lengths, law.probabilities))
    tracemalloc.start()
    states, found = model.sequences(50_000, rng=np.random.default_rng(1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(states) == 2_000_000 + 2 * 49_999
    assert np.array_equal(found, lengths)
    # All padded to the longest would be 1e11 states.
    assert most < 4e8
    start = 2 * 777
    long = states[start : start + 2_000_000]
    table = pairs([long])
    assert all(fits(row, law) for row, law in zip(table, CHAIN.to_numpy(), strict=True))
    assert fits(np.bincount(np.concatenate([states[:start:2], states[start + 2_000_000 :: 2]])), STARTS)


def test_many_of_one_length_are_done_in_parts() -> None:
    lengths = np.full(300_000, 100)
    parts = _alike(np.arange(300_000), lengths)
    assert sum(map(len, parts)) == 300_000
    assert max(len(part) for part in parts) * 100 <= 4_000_100
    mixed = np.sort(np.random.default_rng(1).integers(1, 10_000, 5_000))
    parts = _alike(np.arange(5_000), mixed)
    assert np.array_equal(np.concatenate(parts), np.arange(5_000))
    assert all(mixed[part].max() <= 2 * mixed[part].min() for part in parts)


def test_seeds() -> None:
    model = SequenceModel(CHAIN, second=second_order(), starts=STARTS, lengths=LENGTHS)
    first, again, other = (drawn(model, 100, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_shortest() -> None:
    for second in (None, second_order()):
        model = SequenceModel(CHAIN, second=second, starts=STARTS)
        found = drawn(model, 4_000, length=1)
        assert all(len(one) == 1 for one in found)
        assert fits(np.bincount(np.concatenate(found), minlength=3), STARTS)
        assert len(drawn(model, 1, length=1)) == 1


@pytest.mark.parametrize(
    "options",
    [{"count": 0}, {"count": -1}, {"count": 1.5}, {"length": 0}, {"length": "3"}, {"length": None}],
    ids=str,
)
def test_bad_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        SequenceModel(CHAIN).sequences(**({"count": 3, "length": 2} | options), rng=np.random.default_rng(1))


def test_joint_law() -> None:
    sizes = np.array([10.0, 30.0, 60.0])
    joint = SequenceModel(CHAIN, sizes=sizes).joint()
    assert joint.sum() == pytest.approx(1.0)
    assert np.allclose(joint.sum(axis=1), sizes / 100.0)
    assert np.allclose(SequenceModel(CHAIN).joint().sum(axis=0), CHAIN.stationary())


def test_mean_length() -> None:
    assert LENGTHS.mean == pytest.approx(0.3 + 0.6 + 0.6 + 1.05 + 2.0)


# Bins of lengths.


def test_default_bins_are_public_and_cover_everything() -> None:
    bins = LengthBins.default()
    assert bins.least[:100] == tuple(range(1, 101))
    assert bins.least[-1] >= 1_000_000
    lengths = np.array([1, 2, 100, 101, 10**6, 10**9])
    places = bins.place(lengths)
    least = np.array(bins.least)
    assert (least[places] <= lengths).all()
    assert (places[:3] == [0, 1, 99]).all()
    assert places[-1] == len(bins) - 1
    assert np.array_equal(bins.place(least), np.arange(len(bins)))


@pytest.mark.parametrize("least", [(), (2, 3), (1, 1), (1, 3, 2), (0, 1), (1, 2.5), ("1",), (1, None)])
def test_bad_bins(least: Any) -> None:
    with pytest.raises(InvalidArgument):
        LengthBins(least)
