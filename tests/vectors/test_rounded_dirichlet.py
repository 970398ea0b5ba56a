"""Ideal Dirichlet vectors, rounded: floats and intervals agree, and the law is right in every entry."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.core.fit import ALPHA, mean_fits
from tests.core.scripted import Script
from tests.params import quick_first
from veil.core.random.ideal import log_gamma
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.samplers import rounded_dirichlet, settled_dirichlet
from veil.vectors.samplers.rounded_dirichlet import _rounded, sample_rounded_dirichlet
from veil.vectors.samplers.settled_dirichlet import BITS, LEAST_EXPONENT, rounded_rational
from veil.vectors.simplex import Simplex

WIDE = 1e12


def draw(shapes: Any, seed: int, size: int | None = None, widen: float = 1.0) -> Any:
    rows = np.atleast_2d(np.asarray(shapes, dtype=np.float64))
    return sample_rounded_dirichlet(
        np.random.default_rng(seed),
        shapes=np.asarray(shapes, dtype=np.float64),
        exact=lambda row, column: Fraction(float(rows[row, column])),
        size=size,
        widen=widen,
    )


@pytest.mark.parametrize(
    "shapes",
    [
        [3.5, 0.7, 20.0, 1.0, 0.01],
        [1e-30, 1e-30, 1e-30],
        [1e-3, 1e-3, 1e30],
        [0.19, 0.201, 3.3],
        [1e15, 2e15],
        [0.999999, 1.0, 1.0000001],
        [[5.0, 0.0, 2.0], [0.5, 0.0, 0.5], [1e6, 1.0, 1e-6]],
    ],
)
def test_intervals_and_floats_draw_the_same(shapes: Any) -> None:
    np.testing.assert_array_equal(draw(shapes, 3, size=12), draw(shapes, 3, size=12, widen=WIDE))


@pytest.mark.parametrize("shape", quick_first([0.01, 0.1]))
def test_only_what_is_open_and_what_counts_is_computed(shape: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some entries are known by floats and some are next to nothing: the same as if all were computed."""
    asked: list[tuple[int, int, int]] = []
    settled, left_out = settled_dirichlet.settled_row, [0]

    def counted(*given: Any) -> Any:
        left_out[0] += 1
        return log_gamma(*given)

    def watched(rng: Any, gammas: Any, places: list[int], open_places: list[int], *rest: Any) -> list[float]:
        left_out[0] = 0
        found = settled(rng, gammas, places, open_places, *rest)
        asked.append((len(places), len(open_places), left_out[0]))
        return found

    monkeypatch.setattr(settled_dirichlet, "log_gamma", counted)
    monkeypatch.setattr(rounded_dirichlet, "settled_row", watched)
    # Errors a thousand times as wide: floats decide most entries, and not all.
    shapes = np.full(6, shape)
    some = draw(shapes, 21, size=50, widen=1e3)
    assert len(asked) > 3
    assert any(0 < wanted < places for places, wanted, _ in asked)
    assert shape > 0.05 or any(0 < computed_ < places for places, _, computed_ in asked)
    monkeypatch.setattr(settled_dirichlet, "_negligible", lambda *_: [])
    everything = draw(shapes, 21, size=50, widen=WIDE)
    assert all(computed_ >= places for places, _, computed_ in asked[-50:])
    np.testing.assert_array_equal(some, everything)
    np.testing.assert_array_equal(some, draw(shapes, 21, size=50))


def test_what_is_left_out_is_next_to_nothing() -> None:
    """At the borders of the rule, with errors as large as it takes them."""
    sizes = np.array([1.0, 1.0, 1.0, 3e5, 4e5, 1.0, 1.0, 0.0])
    boosts = np.array([0.0, -101.9, -102.1, -103.0, -103.0, -500.0, -500.0, -500.0])
    gammas = settled_dirichlet.Gammas.none(len(sizes))
    gammas.size[:], gammas.boost[:] = sizes, boosts
    gammas.size_error[:], gammas.boost_error[:] = 0.49, 0.99
    gammas.size_error[5], gammas.boost_error[6] = math.inf, math.inf
    small = settled_dirichlet._negligible(gammas, list(range(len(sizes))))
    assert small == [2, 3]
    for place in small:
        # The largest that it can be, beside the smallest that the largest can be.
        worst = math.log(1.49 * sizes[place] / (0.51 * sizes[0])) + boosts[place] + 2.0 * 0.99
        assert worst < math.log(float(settled_dirichlet._NEGLIGIBLE))
    gammas.boost_error[0] = 2.0
    assert settled_dirichlet._negligible(gammas, [0, 1, 2]) == []
    gammas.boost_error[:] = math.inf
    assert settled_dirichlet._negligible(gammas, [0, 1, 2]) == []


def test_what_is_not_clear_without_the_small_ones_is_computed_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes = np.full(6, 0.002)
    computed: list[int] = []

    def answer(wanted: list[int]) -> list[float]:
        rng = np.random.default_rng(4)
        gammas = rounded_dirichlet._draw_gammas(rng, shapes, lambda _: Fraction(0.002), 1.0)
        computed.clear()
        return settled_dirichlet.settled_row(
            rng, gammas, list(range(6)), wanted, shapes, lambda _: Fraction(0.002)
        )

    def counted(*given: Any) -> Any:
        computed.append(1)
        return log_gamma(*given)

    monkeypatch.setattr(settled_dirichlet, "log_gamma", counted)
    everything = answer(list(range(6)))
    largest = int(np.argmax(everything))
    assert len(computed) == 6
    assert answer([largest]) == [everything[largest]]
    assert 0 < len(computed) < 6
    # As much as a half for each might have been left out: the first answer is not clear.
    monkeypatch.setattr(settled_dirichlet, "_NEGLIGIBLE", Decimal("0.5"))
    assert answer([largest]) == [everything[largest]]
    assert 6 < len(computed) < 12


HALF, TOP = 2**63 + 12_345, 2**64 - 1


@pytest.mark.parametrize(
    ("shapes", "boosts"),
    [
        # Words that are equal once they are floats, and of which the logarithms are not.
        ([1e-10, 1e-10], [HALF, HALF + 100]),
        ([1e-60, 1e-60], [HALF, HALF + 1]),
        ([1e-60, 1e-60], [HALF, HALF]),
        ([1e-60, 1e-60], [1, 1]),
        # The logarithm of the word is 0 as a float, like that of an entry without a boost.
        ([2.0, 1e-10], [None, TOP - 600]),
        ([1e-10, 2.0], [TOP - 600, None]),
        ([1e-60, 1e-60], [TOP - 1, TOP]),
        # A word of 0 tells next to nothing.
        ([2.0, 0.5], [None, 0]),
        ([0.5, 2.0], [0, None]),
        ([0.5, 0.5], [0, 0]),
    ],
)
def test_boosts_that_are_equal_as_floats(shapes: list[float], boosts: list[int | None]) -> None:
    words = [word for boost in boosts for word in (HALF, HALF >> 3, boost) if word is not None]
    script = np.array([*words, *[HALF] * (3 * (len(shapes) + 8) - len(words))], dtype=np.uint64)

    plain, settled = (scripted(script, np.array(shapes), list(map(Fraction, shapes)), w) for w in (1.0, WIDE))
    assert plain == settled


def scripted(words: Any, shapes: Any, exact: list[Fraction], widen: float) -> Any:
    rng: Any = Script([], words, after=2**60 + 1)
    drawn = sample_rounded_dirichlet(rng, shapes=shapes, exact=lambda _, entry: exact[entry], widen=widen)
    return drawn.tolist()


def test_shapes_that_underflow_are_not_zero() -> None:
    value = np.array([0.5, 0.5, 1e-310, 0.0])
    mechanism = Dirichlet(1e-30, Simplex(4, floor=0.1, protected=[0, 1]))
    shapes = mechanism.float_shapes(value)
    exact = mechanism.exact_shapes(value)
    assert [shape > 0.0 for shape in shapes] == [shape > 0 for shape in exact]
    for boost in (HALF, TOP - 2_048, TOP - 600, TOP, 1, 0):
        words = [HALF, HALF >> 3, HALF, HALF, HALF >> 3, HALF + 2**60, HALF, HALF >> 3, boost]
        script = np.array([*words, *[HALF] * (36 - len(words))], dtype=np.uint64)
        plain, settled = (scripted(script, shapes, exact, widen) for widen in (1.0, WIDE))
        assert plain == settled == [0.0, 1.0, 0.0, 0.0]


def test_shapes_of_zero_stay_zero() -> None:
    drawn = draw([[5.0, 0.0, 2.0], [0.0, 0.5, 0.0]], 4, size=200)
    assert (drawn[:, 0, 1] == 0.0).all()
    assert (drawn[:, 1] == [0.0, 1.0, 0.0]).all()


@given(st.floats(min_value=0.0, max_value=1.0))
def test_rounding_is_to_the_nearest_number_of_so_many_bits(x: float) -> None:
    found = _rounded(x)
    assert found == rounded_rational(Fraction(x))
    if x < 2.0**LEAST_EXPONENT:
        assert found == 0.0
        return
    mantissa, _ = math.frexp(found)
    assert (mantissa * 2.0**BITS).is_integer()
    step = math.ldexp(1.0, math.frexp(x)[1] - BITS)
    assert abs(found - x) <= 0.5 * step


def test_rounding_of_halves_and_borders() -> None:
    half = 1.0 - 2.0 ** -(BITS + 1)
    assert rounded_rational(Fraction(half)) == _rounded(half) == 1.0
    below = math.nextafter(half, 0.0)
    assert rounded_rational(Fraction(below)) == _rounded(below) == 1.0 - 2.0**-BITS
    assert rounded_rational(Fraction(1, 3)) == _rounded(1.0 / 3.0)
    assert rounded_rational(Fraction(1, 10**300)) == 0.0


@pytest.mark.slow
def test_every_entry_has_its_law() -> None:
    """Kolmogorov-Smirnov of each entry against its beta law, alpha 1e-6; 3 % of a shape are seen."""
    shapes = np.array([3.5, 0.7, 20.0, 1.0, 0.05])
    drawn, total = draw(shapes, 5, size=60_000), float(shapes.sum())
    for entry, shape in enumerate(shapes):
        # Below the smallest float of the table an entry is zero, which the law of the small one reaches.
        assert stats.kstest(drawn[:, entry], stats.beta(shape, total - shape).cdf).pvalue > ALPHA
    wrong = stats.beta(1.03 * shapes[0], total - shapes[0])
    assert stats.kstest(drawn[:, 0], wrong.cdf).pvalue < ALPHA


def test_entries_hang_together_as_they_should() -> None:
    """Products of entries have the moments of a Dirichlet vector (normal approximation, alpha 1e-6)."""
    shapes = np.array([0.4, 2.0, 5.0])
    drawn, total = draw(shapes, 6, size=60_000), float(shapes.sum())
    for i, j in ((0, 1), (0, 2), (1, 2)):
        product = drawn[:, i] * drawn[:, j]
        mean = shapes[i] * shapes[j] / (total * (total + 1.0))
        assert mean_fits(product, mean, float(product.var()))
        assert not mean_fits(product, 1.05 * mean, float(product.var()))
    np.testing.assert_allclose(drawn.sum(axis=-1), 1.0, atol=2.0 ** -(BITS - 2))


def test_rows_of_a_batch_do_not_hang_together() -> None:
    drawn = draw([[2.0, 3.0], [0.1, 0.2]], 7, size=40_000)
    correlation = np.corrcoef(drawn[:, 0, 0], drawn[:, 1, 0])[0, 1]
    assert abs(correlation) < stats.norm.isf(ALPHA) / math.sqrt(40_000)


def test_wide_rows_are_decided_by_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    import veil.vectors.samplers.rounded_dirichlet as module

    asked = []
    settled = settled_dirichlet.settled_row

    def watched(*given: Any) -> list[float]:
        asked.append(given)
        return settled(*given)

    monkeypatch.setattr(module, "settled_row", watched)
    draw(np.full((20, 2_000), 1.5), 8)
    # Without compensation the sum of 2,000 terms would leave nearly every row open.
    assert len(asked) <= 3


def test_one_generator_one_result() -> None:
    np.testing.assert_array_equal(draw([1.0, 2.0, 0.3], 9, size=50), draw([1.0, 2.0, 0.3], 9, size=50))
