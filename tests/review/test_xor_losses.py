"""XOR noise on small tables of bits, and on the matrix of all small graphs: no loss is above the claim."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from tests.review.divergences import ball, is_below
from tests.review.exchangeable_graphs import ExchangeableGraphs
from tests.review.tails import precision
from tests.review.tally import Tally
from tests.review.xor_laws import (
    BITS,
    UNIT,
    block_energies,
    changes,
    graph_rows,
    largest_change,
    quadratic_energies,
    staircase_levels,
    xor_energies,
)
from veil.bits import BitFlips, MatrixBernoulli, RandomizedResponse, StaircaseXor, Xor, XorBlocks
from veil.graphs import XorGraph

STUDY = "all small tables"
SHAPES = [(1, 1), (1, 4), (2, 1), (2, 2), (3, 2), (2, 4), (3, 3), (5, 2)]
rounds = pytest.mark.parametrize(
    "many",
    [1, pytest.param(6, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.evidence)],
)


def noises(rng: np.random.Generator, rows: int, columns: int) -> Iterator[MatrixBernoulli]:
    """Every form of it: independent rows, one coupling, one for each pair of rows, multiples of one."""

    def symmetric() -> Any:
        square = rng.normal(0.0, rng.choice([0.05, 1.0]), (columns, columns))
        return (square + square.T) / 2.0

    yield MatrixBernoulli(symmetric(), None, rows)
    yield MatrixBernoulli(
        np.diag(rng.normal(0.0, 1.0, columns)), np.diag(rng.normal(0.0, 0.3, columns)), rows
    )
    if rows > 1:
        yield MatrixBernoulli(symmetric(), symmetric() / rows, rows)
        each = {
            (i, j): rng.normal(0.0, 0.3, (columns, columns)) for i in range(rows) for j in range(i + 1, rows)
        }
        yield MatrixBernoulli(symmetric(), each, rows)
    between = float(rng.normal(0.0, 0.2))
    yield MatrixBernoulli.exchangeable(float(rng.normal()), between, rows=rows, columns=columns)


def compare(tally: Tally, energies: Any, mechanism: Any, rows: int, columns: int) -> float:
    """Every change of up to three cells, anywhere and within a row; the largest part of a claim reached."""
    largest = 0.0
    for where, count in product(("anywhere", "row"), (1, 2, 3)):
        claim = Fraction(mechanism.profile(BitFlips(count, where=where)).pure_epsilon)
        for change, _ in changes(rows, columns, count, where):
            loss = Fraction(largest_change(energies, change), UNIT)
            what = f"{mechanism}, {mechanism.describe()}, {where} {count}, {change:b}: {float(loss)!r}"
            tally.add(f"{what}, claimed {float(claim)!r}", is_above=loss > claim)
            largest = max(largest, float(loss / claim))
    return largest


@rounds
def test_xor_on_all_tables(many: int) -> None:
    tally, rng, largest = Tally(f"{STUDY}, XOR"), np.random.default_rng(1), 0.0
    for turn in range(many):
        for rows, columns in SHAPES if many > 1 else SHAPES[:5]:
            for noise in noises(rng, rows, columns):
                mechanism = Xor(noise, complement=bool(turn % 2))
                largest = max(largest, compare(tally, xor_energies(mechanism), mechanism, rows, columns))
        blocks = [next(noises(rng, *shape)) for shape in ((2, 2), (2, 1), (1, 1), (1, 2))]
        parts = [Xor(noise) for noise in blocks]
        mixed = XorBlocks([parts[:2], parts[2:]])
        largest = max(largest, compare(tally, block_energies(mixed), mixed, 3, 3))
    tally.close(100)
    assert largest > 1 - 1e-9


def staircases(widths: tuple[int, ...]) -> Iterator[tuple[StaircaseXor, int]]:
    for columns, epsilon in product(widths, (0.05, 1.0, 4.0)):
        for flips in {1, columns // 2 + 1, columns}:
            yield StaircaseXor(columns, epsilon, flips=min(flips, columns)), 2
    for epsilon, flips in product((0.3, 2.5), (1, 2, 4)):
        yield StaircaseXor(widths[-1], epsilon, rows=2, flips=flips), 2


@pytest.mark.parametrize("widths", [(1, 2), pytest.param((3, 4), marks=pytest.mark.slow)])
def test_staircases_on_all_tables(widths: tuple[int, ...]) -> None:
    """The largest loss, and delta at some epsilons, of every change of up to three cells."""
    tally, largest = Tally(f"{STUDY}, staircase"), 0.0
    for mechanism, rows in staircases(widths):
        levels, decay = staircase_levels(mechanism, rows), Fraction(mechanism.steps.decay)
        total = sum(decay ** int(level) for level in levels)
        with precision(BITS):
            step = -ball(decay).log()
        for where, count in product(("anywhere", "row"), (1, 2, 3)):
            profile = mechanism.profile(BitFlips(count, where=where))
            claim = profile.pure_epsilon
            points = [(epsilon, profile.delta(epsilon)) for epsilon in (0.0, claim / 3, 0.99 * claim)]
            for change, _ in changes(rows, mechanism.columns, count, where):
                other = levels[np.arange(len(levels)) ^ change]
                with precision(BITS):
                    loss = int(np.abs(levels - other).max()) * step
                what = f"{mechanism}, {where} {count}, {change:b}"
                tally.add(f"{what}: {loss}, claimed {claim!r}", is_above=bool(loss > arb(claim)))
                largest = max(largest, float(loss) / claim)
                for epsilon, delta in points:
                    truth = divergence(levels, other, decay, epsilon) / ball(total)
                    tally.add(f"{what} at {epsilon!r}: {delta!r}, {truth}", is_above=is_below(delta, truth))
    tally.close(1_000)
    assert largest > 1 - 1e-12


def divergence(here: Any, there: Any, decay: Fraction, epsilon: float) -> arb:
    """The sum of (decay^here - e^epsilon decay^there)+ over all outputs."""
    size = int(max(here.max(), there.max())) + 1
    return _divergence(tuple(np.bincount(here * size + there).tolist()), size, decay, epsilon)


@cache
def _divergence(often: tuple[int, ...], size: int, decay: Fraction, epsilon: float) -> arb:
    found = arb(0)
    with precision(BITS):
        factor = ball(epsilon).exp()
        for place, times in enumerate(often):
            up, down = divmod(place, size)
            gain = ball(decay**up) - factor * ball(decay**down)
            if bool(gain > 0):
                found += times * gain
    return found


def test_randomized_response_on_all_tables() -> None:
    """Loss and delta of 1, 2 and 3 flips among the bits of a table; the delta is exact."""
    tally = Tally(f"{STUDY}, randomised response")
    for epsilon, cells in product((0.02, 0.8, 6.0), (3, 6)):
        mechanism = RandomizedResponse(epsilon)
        ones = np.bitwise_count(np.arange(2**cells)).astype(np.int64)
        wrong = Fraction(mechanism.flip_rate)
        odds, total = wrong / (1 - wrong), 1 / (1 - wrong) ** cells
        for change, count in changes(1, cells, 3, "row"):
            profile = mechanism.profile(BitFlips(count))
            other = ones[np.arange(2**cells) ^ change]
            with precision(BITS):
                loss = -int(np.abs(ones - other).max()) * ball(odds).log()
            tally.add(f"{mechanism}, {change:b}", is_above=bool(loss > arb(profile.pure_epsilon)))
            for at in (0.0, epsilon / 2, 0.999 * count * epsilon):
                truth = divergence(ones, other, odds, at) / ball(total)
                claim = profile.delta(at)
                tally.add(
                    f"{mechanism}, {change:b} at {at!r}: {claim!r}, {truth}", is_above=is_below(claim, truth)
                )
                assert claim == pytest.approx(float(truth), rel=1e-9)
    tally.close(500)


@pytest.mark.parametrize(
    ("nodes", "many"),
    [
        (2, 3),
        (3, 2),
        pytest.param(3, 40, marks=pytest.mark.evidence),
        pytest.param(4, 4, marks=pytest.mark.evidence),
    ],
)
def test_the_matrix_of_all_graphs(nodes: int, many: int) -> None:
    """The law of the released graph itself: sums over all noise that shows it."""
    tally, rng, largest = (
        Tally(f"all small graphs, by their matrix of {nodes} nodes"),
        np.random.default_rng(4),
        0.0,
    )
    for turn in range(many):
        for noise in noises(rng, nodes, nodes):
            mechanism = XorGraph(noise, complement=bool(turn % 2))
            energies = quadratic_energies(noise)
            rows = graph_rows(energies[::-1] if mechanism.complement else energies, nodes)
            for count in (1, 2):
                claim = mechanism.profile(BitFlips(count)).pure_epsilon
                for change, _ in changes(1, nodes * (nodes - 1) // 2, count, "row"):
                    for x in range(len(rows)):
                        if x < x ^ change:
                            loss = _log_ratio(rows[x], rows[x ^ change])
                            what = f"{noise.describe()}, {x} and {x ^ change}: {loss}, {claim!r}"
                            tally.add(what, is_above=bool(loss > arb(claim)))
                            largest = max(largest, float(loss) / claim)
    print(f"\nthe largest part of a claim that is reached: {largest:.6f}")
    tally.close(10)


@pytest.mark.parametrize(
    ("diagonal", "between", "complement"),
    [(-1.25, 0.0, False), (0.5, 0.125, True), (-0.375, 0.25, False), (2.0, -0.5, True)],
)
@pytest.mark.parametrize("nodes", [3, pytest.param(5, marks=pytest.mark.evidence)])
def test_exchangeable_noise_on_the_matrix(
    nodes: int, diagonal: float, between: float, complement: bool
) -> None:
    """One graph of each shape, against all of its neighbours; and against all noise, one by one."""
    noise = MatrixBernoulli.exchangeable(diagonal, between, rows=nodes, columns=nodes)
    mechanism, graphs = (
        XorGraph(noise, complement=complement),
        ExchangeableGraphs(nodes, diagonal, between, complement),
    )
    tally = Tally(f"all small graphs, exchangeable noise on the matrix of {nodes} nodes")
    claim, largest = mechanism.profile(BitFlips(1)).pure_epsilon, 0.0
    for shape, law in graphs.shapes.items():
        for change, _ in changes(1, len(graphs.pairs), 1, "row"):
            loss = _log_ratio(law, graphs.law_of(shape ^ change))
            tally.add(f"{shape} and {shape ^ change}: {loss}, {claim!r}", is_above=bool(loss > arb(claim)))
            largest = max(largest, float(loss) / claim)
    print(f"\nthe largest part of a claim that is reached: {largest:.6f}")
    tally.close(10)
    if nodes == 3:
        energies = quadratic_energies(noise)
        known = graph_rows(energies[::-1] if complement else energies, nodes)
        for graph, row in enumerate(known):
            assert all(map(arb.overlaps, row, graphs.law_of(graph)))


def _log_ratio(here: list[arb], there: list[arb]) -> arb:
    with precision(BITS):
        found = arb(0)
        for p, q in zip(here, there, strict=True):
            found = found.max(abs((p / q).log()))
        return found


def test_a_claim_that_is_a_thousandth_less_is_seen() -> None:
    mechanism = Xor(MatrixBernoulli([[0.5, 0.25], [0.25, 0.5]], [[0.1, 0.0], [0.0, 0.1]], 2))

    class Lowered:
        describe = mechanism.describe

        def profile(self, adjacency: BitFlips) -> Any:
            return RandomizedResponse(0.999 * mechanism.profile(adjacency).pure_epsilon).profile()

    tally = Tally(STUDY)
    compare(tally, xor_energies(mechanism), Lowered(), 2, 2)
    assert tally.above
