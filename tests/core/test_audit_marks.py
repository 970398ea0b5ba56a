"""Marks of the last bits: each says what it says it does, and none raises an alarm where there is nothing.

Every audit here has a false-alarm rate of at most 1e-9; seeds are fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import veil
from tests.params import quick_first
from veil.core.audit.events import best_event
from veil.core.audit.float_bits import (
    BITS,
    DIGITS,
    finest_bit,
    is_reached,
    is_reciprocal,
    lowest_bit,
    parts,
    remainder,
)
from veil.core.audit.mark_events import Likelier
from veil.core.audit.marks import MOST, FloatMarks, no_marks
from veil.core.audit.seen import Seen
from veil.core.mechanism import kind_of
from veil.errors import InvalidArgument
from veil.vectors import DirichletCounts, GeometricCounts, Laplace, Records, Simplex, Transfer

RNG = np.random.default_rng(5)
FLOATS = np.concatenate(
    [RNG.random(200), RNG.random(50) * 2.0**-30, -RNG.random(20), [0.0, 1.0, 0.5, 0.75, 2.0**-60, 3.0]]
)


# Single bits, against rationals


def test_parts_give_the_number_back() -> None:
    for number, whole, power in zip(FLOATS, *parts(FLOATS), strict=True):
        assert Fraction(abs(float(number))) == int(whole) * Fraction(2) ** int(power)
        assert number == 0.0 or 2 ** (DIGITS - 1) <= whole < 2**DIGITS


def test_the_lowest_bit_is_the_last_that_is_set() -> None:
    for number, place, finest in zip(FLOATS, lowest_bit(FLOATS), finest_bit(FLOATS), strict=True):
        if number == 0.0:
            assert place == finest == BITS - 1
            continue
        unit = Fraction(2) ** (int(place) - 126)
        quotient = abs(Fraction(float(number))) / unit
        assert quotient.denominator == 1
        assert quotient.numerator % 2 == 1
        assert Fraction(2) ** (int(finest) - 126) == Fraction(math.ulp(float(number)))


def test_remainders() -> None:
    wholes = parts(FLOATS)[0].tolist()
    assert remainder(FLOATS, 24).tolist() == [whole % 24 for whole in wholes]


def test_reciprocals_are_told_from_other_floats() -> None:
    """All reciprocals pass; of the others as many fail as the spacing of reciprocals says."""
    sums = 1.0 + RNG.random(20_000)
    assert is_reciprocal(1.0 / sums).all()
    for low in (0.75, 0.95):
        others = low + 0.01 * RNG.random(20_000)
        # One over s moves by 2 / s^2 floats while s moves by one.
        reached = 1.0 / (2.0 * (low + 0.005) ** 2)
        # Six standard deviations, and the change over the interval.
        assert is_reciprocal(others).mean() == pytest.approx(reached, abs=0.04)
    brute = others[:50]
    near = [[float(np.float64(1.0) / number)] for number in brute]
    for number, start, said in zip(brute, near, is_reciprocal(brute), strict=True):
        sums = np.array(start) + np.arange(-20, 21) * math.ulp(start[0])
        assert bool((1.0 / sums == number).any()) == said


def test_sums_are_told_from_other_floats() -> None:
    """A float below the lattice of where one starts is not reached, whatever is added."""
    start, noise = 0.05, 0.04 * RNG.random(5_000) - 0.05
    assert is_reached(start + noise, start).all()
    small = 2.0**-12 * RNG.random(5_000)
    assert is_reached(small, start).mean() < 0.01
    assert is_reached(small, 0.0).all()


# Marks


def test_marks_are_small_and_of_every_draw() -> None:
    before, after = (
        np.array([[0.0, 0.05, 0.95], [0.2, 0.3, 0.5]]),
        np.array([[0.05, 0.0, 0.95], [0.2, 0.3, 0.5]]),
    )
    outputs = RNG.dirichlet([0.01, 1.0, 3.0], size=(500, 2))
    outputs[0, 0] = [np.nan, np.inf, -0.5]
    marks = FloatMarks(before, after)(outputs)
    assert marks.dtype == np.uint16
    assert len(marks) == 500
    assert marks.shape[1] > 40
    # The largest code that there can be fits.
    extreme = FloatMarks(np.array([0.5, 0.5]), np.array([0.5, 0.5]))(np.array([[1e300, 0.0], [5e-324, 1.0]]))
    assert extreme.max() < MOST


@pytest.mark.slow
def test_marks_are_the_same_for_the_same_output() -> None:
    """They are functions of the output and the inputs: what else would be no post-processing."""
    before, after = np.array([0.0, 0.05, 0.95]), np.array([0.05, 0.0, 0.95])
    outputs = RNG.dirichlet([0.5, 1.0, 3.0], size=300)
    whole = FloatMarks(before, after)(outputs)
    single = np.concatenate([FloatMarks(before, after)(one[None]) for one in outputs])
    assert (whole == single).all()


def test_whole_numbers_have_no_marks() -> None:
    mechanism = veil.bits.RandomizedResponse(1.0)
    table = np.zeros((2, 2), dtype=bool)
    marks = kind_of(mechanism).audit.marker(mechanism, table, ~table)([table] * 7)
    assert marks.shape == (7, 0) == no_marks(7).shape


def test_what_is_likelier_is_learned() -> None:
    score = Likelier.learned(np.array([3, 3, 3, 9]), np.array([9, 9, 5, 5]))
    assert score(np.array([3, 9, 5, 4])).tolist() == [
        math.log(4.0),
        math.log(2.0 / 3.0),
        math.log(1.0 / 3.0),
        0.0,
    ]


def _seen(rng: np.random.Generator, chance: float) -> Seen:
    """Numbers that tell nothing, and marks one of which has the value 7 more or less often."""
    marks = rng.integers(0, 5, size=(2_000, 30))
    marks[:, 11] = np.where(rng.random(2_000) < chance, 7, marks[:, 11])
    return Seen(rng.normal(size=(2_000, 2)), marks.astype(np.uint16))


def test_a_mark_that_differs_is_found() -> None:
    found = best_event(_seen(RNG, 0.3), _seen(RNG, 0.01), 0.0, alpha=1e-9)
    assert 1.0 < found.bound < math.log(30.0)
    assert found.plain == 0.0
    # The other way round as well: that it is not seen.
    assert best_event(_seen(RNG, 0.0), _seen(RNG, 0.9), 0.0, alpha=1e-9).bound > 1.5


@pytest.mark.slow
def test_many_marks_raise_no_more_alarms_than_stated() -> None:
    """Of 200 searches on equal laws at alpha = 0.05 at most 34 give an alarm (chance of more: 1e-9)."""
    rng = np.random.default_rng(17)
    alarms = sum(
        best_event(_seen(rng, 0.3), _seen(rng, 0.3), 0.0, alpha=0.05).bound > 0.0 for _ in range(200)
    )
    assert alarms <= 34


# Samplers that work in whole numbers, whatever floats they end in


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "adjacency"),
    quick_first(
        [
            (GeometricCounts(1.0, 3), Records("replace")),
            (GeometricCounts(1.0, 3, onto="projection"), Records()),
            (veil.vectors.DiscreteGaussianCounts(2.0, 3), Records()),
            (DirichletCounts(2.0, 10.0, 3, exact=True, draws=500), Records()),
            (DirichletCounts(0.011, 0.19, 3, exact=True, draws=500), Records()),
            (veil.vectors.Dirichlet(20.0, Simplex(3, floor=0.08), exact=True, draws=500), Transfer(0.05)),
        ],
        quick=3,
    ),
    ids=lambda item: getattr(item, "name", ""),
)
def test_exact_samplers_leave_no_trace(mechanism: Any, adjacency: Any) -> None:
    found = veil.audit_suite(mechanism, adjacency, samples=4_000, rng=3)
    assert not found.violated, str(found)


# What is drawn unless something else is asked for, at the parameters at which floats gave records away.
_TINY = 2.0**-60
IDEAL: list[tuple[Any, Any, dict[str, Any]]] = [
    (DirichletCounts(0.011, 0.19, 3), Records(), {"delta": 1e-6}),
    (DirichletCounts(0.011, 0.19, 3), Records("replace"), {}),
    (DirichletCounts(48.0, 2.0**57, 3), Records(), {}),
    (veil.vectors.Dirichlet(2.2, Simplex(4, floor=0.08), smooth=True), Transfer(0.05), {}),
    (Laplace(0.1, Simplex(4)), Transfer(0.05), {}),
    (Laplace(_TINY, Simplex(3)), Transfer(_TINY / 2), {}),
    (veil.vectors.Gaussian(_TINY, Simplex(3)), Transfer(_TINY / 2), {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "adjacency", "options"), IDEAL, ids=lambda item: getattr(item, "name", "")
)
def test_ideal_draws_leave_no_trace_where_floats_did(
    mechanism: Any, adjacency: Any, options: dict[str, Any]
) -> None:
    assert not mechanism.assumptions(adjacency)
    found = veil.audit_suite(mechanism, adjacency, samples=5_000, rng=12, **options)
    assert not found.violated, str(found)


# Items of a batch


@pytest.mark.slow
def test_an_item_of_a_batch_must_not_tell_of_another() -> None:
    class Leaky(GeometricCounts):
        """Whether the first item has an empty cell decides how the last one is rounded."""

        def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
            drawn = super()._draw(rng, value, size)
            if value.ndim > 1 and value[0].min() == 0:
                drawn[..., -1, :] = np.float32(drawn[..., -1, :])
            return drawn

    pairs = veil.audit_pairs(GeometricCounts(1.0, 3), Records())
    (beside,) = [pair for pair in pairs if pair.beside]
    assert (beside.value[-1] == beside.neighbour[-1]).all()
    honest = veil.audit_suite(
        GeometricCounts(1.0, 3), Records(), samples=2_000, rng=1, pairs=[pairs[0], beside]
    )
    assert not honest.violated
    assert honest.audits[1].claimed == 0.0
    found = veil.audit_suite(Leaky(1.0, 3), Records(), samples=2_000, rng=1, pairs=[pairs[0], beside])
    assert [one.violated for one in found.audits] == [False, True]
    assert "another item of a batch" in found.faults[0]
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.audit_suite(GeometricCounts(1.0, 3), Records(), pairs=[beside])


@pytest.mark.slow
def test_kinds_without_batches_say_so() -> None:
    mechanism = veil.bits.RandomizedResponse(1.0)
    pair = veil.AuditPair("beside", np.zeros((1, 2), dtype=bool), np.eye(1, 2, dtype=bool), beside=True)
    with pytest.raises(InvalidArgument, match="pairs"):
        veil.audit_suite(mechanism, pairs=[veil.audit_pairs(mechanism)[0], pair], samples=1_000)


def test_a_batch_can_be_audited_as_a_whole() -> None:
    mechanism = Laplace(0.1, Simplex(3))
    first = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    second = np.array([[0.45, 0.35, 0.2], [0.2, 0.3, 0.5]])
    for one in (mechanism, veil.vectors.Dirichlet(20.0, Simplex(3, floor=0.08))):
        found = veil.audit(one, first, second, adjacency=Transfer(0.05001), samples=2_000, delta=0.01, rng=2)
        assert not found.violated
