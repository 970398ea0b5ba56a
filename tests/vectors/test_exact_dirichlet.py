"""The exact form of the Dirichlet mechanisms: its law, its guarantee, its files."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from tests.core.scripted import Script
from tests.oracles.hockey import beta_hockey_stick
from tests.vectors.test_polya_urn import by_definition, closed_form
from veil.core.kind import kind_named
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.registry import mechanism_from
from veil.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.vectors.mechanisms.dirichlet_form import urn_law
from veil.vectors.samplers.rounded_dirichlet import SHAPE_ERROR
from veil.vectors.two_entries import TwoEntries

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
VECTORS = kind_named("vector")
P = [0.13, 0.08, 0.29, 0.3, 0.2]


def dirichlet(k: float = 20.0, size: int = 5, floor: float = 0.08, **options: Any) -> veil.vectors.Dirichlet:
    return veil.vectors.Dirichlet(k, veil.vectors.Simplex(size, floor=floor), exact=True, **options)


@cache
def laws(name: str) -> tuple[dict[Any, float], dict[Any, float]]:
    mechanism, _, value, neighbour = PAIRS[name]
    return mechanism.distribution(value), mechanism.distribution(neighbour)


def brute_force(name: str, epsilon: float) -> float:
    """The hockey-stick divergence over all outputs, in both directions."""
    p, q = laws(name)
    factor = math.exp(epsilon)
    one = math.fsum(max(p[x] - factor * q[x], 0.0) for x in p)
    other = math.fsum(max(q[x] - factor * p[x], 0.0) for x in p)
    return max(one, other)


PAIRS: dict[str, tuple[Any, Any, Any, Any]] = {
    "vectors": (
        dirichlet(20.0, 3, 0.1, draws=60),
        veil.vectors.Transfer(0.3),
        [0.4, 0.1, 0.5],
        [0.1, 0.4, 0.5],
    ),
    "smoothed vectors": (
        dirichlet(20.0, 3, 0.1, smooth=True, draws=60),
        veil.vectors.Transfer(0.4),
        [0.4, 0.0, 0.6],
        [0.0, 0.4, 0.6],
    ),
    "two entries": (dirichlet(20.0, 2, 0.1, draws=2000), veil.vectors.Transfer(0.3), [0.4, 0.6], [0.1, 0.9]),
    "two entries, as far apart as can be": (
        dirichlet(6.0, 2, 0.2, draws=2000),
        veil.vectors.Transfer(1.0),
        [0.2, 0.8],
        [0.8, 0.2],
    ),
    "counts, replaced": (
        veil.vectors.DirichletCounts(2.0, 3.0, 2, exact=True, draws=3000),
        veil.vectors.Records("replace"),
        [1, 0],
        [0, 1],
    ),
    "counts, added": (
        veil.vectors.DirichletCounts(2.0, 3.0, 2, exact=True, draws=8000),
        veil.vectors.Records("add-remove"),
        [0, 600],
        [1, 600],
    ),
}
# Where the urn draws much more than the Dirichlet forgets, its loss is nearly that of the Dirichlet.
TIGHT = ("two entries", "two entries, as far apart as can be", "counts, replaced")


@pytest.mark.parametrize("name", PAIRS)
def test_the_profile_covers_all_outputs(name: str) -> None:
    mechanism, adjacency, _, _ = PAIRS[name]
    profile = mechanism.profile(adjacency)
    assert profile.kind == "upper bound"
    for epsilon in EPSILONS:
        assert brute_force(name, epsilon) <= profile.delta(epsilon)


@pytest.mark.parametrize("name", TIGHT)
def test_the_profile_is_nearly_reached(name: str) -> None:
    mechanism, adjacency, _, _ = PAIRS[name]
    for epsilon in (0.1, 0.5, 1.0):
        found = brute_force(name, epsilon)
        assert found >= 0.98 * mechanism.profile(adjacency).delta(epsilon)


def test_a_claim_that_is_too_small_is_seen() -> None:
    half = PAIRS["two entries"][0].profile(veil.vectors.Transfer(0.15))
    assert brute_force("two entries", 1.0) > 1.5 * half.delta(1.0)
    fewer = veil.vectors.DirichletCounts(1.0, 3.0, 2).profile(veil.vectors.Records("replace"))
    assert brute_force("counts, replaced", 1.0) > 1.5 * fewer.delta(1.0)


@pytest.mark.parametrize("total", [1.0 - 9e-10, pytest.param(1.0, marks=pytest.mark.slow), 1.0 + 9e-10])
@pytest.mark.parametrize("mass", [0.05, *(pytest.param(mass, marks=pytest.mark.slow) for mass in (0.3, 0.8))])
def test_two_entries_whose_sum_is_not_quite_one(total: float, mass: float) -> None:
    k, floor = 12.0, 0.1
    profile = dirichlet(k, 2, floor).profile(veil.vectors.Transfer(mass))
    mass = min(mass, total - 2.0 * floor)
    for x in np.linspace(floor, total - floor - mass, 7):
        for epsilon in (0.3, 2.0):
            shapes = (k * (x + mass), k * (total - x - mass)), (k * x, k * (total - x))
            for (a, b), (c, d) in (shapes, shapes[::-1]):
                assert float(beta_hockey_stick(a, b, c, d, epsilon)) <= profile.delta(epsilon)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("size", [pytest.param(2, marks=pytest.mark.slow), 3, 7])
def test_exactness_costs_next_to_nothing_in_the_profile(size: int, smooth: bool) -> None:
    simplex = veil.vectors.Simplex(size, floor=0.05)
    exact = veil.vectors.Dirichlet(30.0, simplex, smooth=smooth, exact=True).profile(
        veil.vectors.Transfer(0.02)
    )
    floats: Any = SymmetricBetaPair(1.5, 0.6 * (1.0 - size * 0.05 if smooth else 1.0))
    if size == 2:
        floats = TwoEntries(30.0, 0.05, 0.02 * (0.9 if smooth else 1.0))
    assert exact.epsilon(1e-6) == pytest.approx(floats.epsilon(1e-6), rel=1e-6)
    for epsilon in EPSILONS[1:]:
        assert exact.delta(epsilon) >= floats.delta(epsilon) * (1.0 - 2e-6)


@pytest.mark.parametrize("seed", range(12))
def test_sums_need_not_agree(seed: int) -> None:
    """Theorem 3: what one entry gains and another loses may differ, as after rounding; by enumeration."""
    rng = np.random.default_rng(seed)
    base, moves = rng.uniform(0.5, 3.0, 3), rng.uniform(0.1, 2.0, 2)
    first = [Fraction(float(x)) for x in (base[0] + moves[0], base[1], base[2])]
    second = [Fraction(float(x)) for x in (base[0], base[1] + moves[1], base[2])]
    p, q = urn_law(first, 40), urn_law(second, 40)
    bound = SymmetricBetaPair(float(base[:2].min()), float(moves.max()))
    for epsilon in EPSILONS:
        factor = math.exp(epsilon)
        for one, other in ((p, q), (q, p)):
            assert math.fsum(max(one[x] - factor * other[x], 0.0) for x in one) <= bound.delta(epsilon)


def test_rounded_inputs_are_in_the_guarantee() -> None:
    profile = dirichlet(20.0, 5, 0.08).profile(veil.vectors.Transfer(0.01))
    assert isinstance(profile, SymmetricBetaPair)
    assert Fraction(profile.tilt) >= 20 * (Fraction(0.01) + Fraction(1, 2**52))
    assert dirichlet(smooth=True).assumptions() == ()


def test_what_the_tolerance_lets_through_is_in_the_guarantee() -> None:
    # Five entries of at least a fifth: the room is none, but sums are taken within a tolerance.
    mechanism = veil.vectors.Dirichlet(1e30, veil.vectors.Simplex(5, floor=0.2))
    apart = np.full(5, 0.2)
    apart[0] += 2e-15
    assert not np.array_equal(mechanism.validate(apart), mechanism.validate(np.full(5, 0.2)))
    assert mechanism.profile(veil.vectors.Transfer(0.1)).epsilon(1e-6) > 1e12


# The law.


@pytest.mark.parametrize("smooth", [False, True])
def test_shapes_are_not_rounded(smooth: bool) -> None:
    mechanism = dirichlet(20.6, 5, 0.073, smooth=smooth)
    vector = mechanism.validate(P)
    kept = 1 - 5 * Fraction(0.073)
    for shape, entry in zip(mechanism.exact_shapes(vector), P, strict=True):
        smoothed = kept * Fraction(entry) + Fraction(0.073) if smooth else Fraction(entry)
        assert shape == Fraction(20.6) * smoothed
    counts = veil.vectors.DirichletCounts(0.1, 0.7, 3, exact=True)
    found = counts.exact_shapes(counts.validate([3, 0, 2**52]))
    assert found == [Fraction(0.1) * count + Fraction(0.7) for count in (3, 0, 2**52)]
    # Floats would have rounded the last one.
    assert float(counts.float_shapes([2**52])[0]) != found[2]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    k=st.floats(1e-12, 1e15),
    scale=st.floats(1e-12, 1e12),
    floor=st.floats(1e-9, 0.333),
    count=st.integers(0, 2**52),
    smooth=st.booleans(),
)
def test_float_shapes_are_as_near_as_the_sampler_takes_them_to_be(
    k: float, scale: float, floor: float, count: int, smooth: bool
) -> None:
    def near(mechanism: Any, value: Any) -> bool:
        valid = mechanism.validate(value)
        pairs = zip(mechanism.float_shapes(valid).tolist(), mechanism.exact_shapes(valid), strict=True)
        return all(abs(Fraction(found) - exact) <= Fraction(SHAPE_ERROR) * exact for found, exact in pairs)

    simplex = veil.vectors.Simplex(3, floor=floor)
    vector = [1 / 3 + 2e-5, 1 / 3 - 1e-5, 1 / 3 - 1e-5] if floor > 0.3 else [0.3, 0.3, 0.4]
    if smooth or floor <= 0.3:
        assert near(veil.vectors.Dirichlet(k, simplex, smooth=smooth), vector)
    assert near(veil.vectors.DirichletCounts(scale, k, 3), [count, 0, 17])


@pytest.mark.parametrize("smooth", [False, True])
def test_draws_are_those_of_the_definition(smooth: bool) -> None:
    mechanism = dirichlet(smooth=smooth, draws=32)
    rng = np.random.default_rng(9)
    for _ in range(20):
        words = rng.integers(0, 2**64, size=32, dtype=np.uint64)
        script: Any = Script(words, after=5)
        drawn = mechanism._draw(script, mechanism.validate(P), None)
        colours = by_definition(mechanism.exact_shapes(np.array(P)), [int(w) for w in words], [], 5)
        assert drawn.tolist() == [colours.count(colour) / 32 for colour in range(5)]


def test_probabilities_are_the_closed_form() -> None:
    mechanism = veil.vectors.DirichletCounts(0.3, 0.7, 3, exact=True, draws=9)
    shapes = mechanism.exact_shapes(mechanism.validate([2, 0, 5]))
    law = mechanism.distribution([2, 0, 5])
    assert len(law) == math.comb(11, 2)
    for output, probability in law.items():
        counts = tuple(round(9 * share) for share in output)
        assert probability == pytest.approx(float(closed_form(shapes, counts)), rel=4e-16)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-14)
    logs = mechanism.log_density(np.array(list(law)), [2, 0, 5])
    assert np.exp(logs) == pytest.approx(list(law.values()), rel=1e-10)


def test_an_entry_that_is_not_there_is_never_drawn() -> None:
    simplex = veil.vectors.Simplex(4, floor=0.1, protected=(0, 1), slack=0.2)
    mechanism = veil.vectors.Dirichlet(5.0, simplex, exact=True, draws=40)
    value = [0.3, 0.2, 0.5, 0.0]
    drawn = mechanism.sample(value, rng=1, size=50)
    assert (drawn[:, 3] == 0.0).all()
    assert mechanism.log_density(np.array([[0.25, 0.25, 0.25, 0.25]]), value)[0] == -math.inf
    assert math.fsum(p for x, p in mechanism.distribution(value).items() if x[3] > 0.0) == 0.0


def test_batches_and_sizes() -> None:
    mechanism = dirichlet(smooth=True)
    batch = np.array([P, P[::-1], [1.0, 0.0, 0.0, 0.0, 0.0]])
    assert mechanism.sample(batch, rng=1).shape == (3, 5)
    drawn = mechanism.sample(batch, rng=1, size=4)
    assert drawn.shape == (4, 3, 5)
    assert np.abs(drawn.sum(axis=-1) - 1.0).max() < 1e-15
    # Shares of a power of two are floats, and so is their sum.
    assert (dirichlet(smooth=True, draws=2**12).sample(batch, rng=1).sum(axis=-1) == 1.0).all()
    counts = veil.vectors.DirichletCounts(2.0, 3.0, 4, exact=True, draws=1000)
    assert counts.sample([[1, 2, 3, 4], [0, 0, 0, 9]], rng=1, size=2).shape == (2, 2, 4)


# Accuracy.


@pytest.mark.parametrize(
    ("mechanism", "value", "truth"),
    [
        (dirichlet(8.0, 3, 0.1, draws=90), [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        (dirichlet(8.0, 3, 0.1, smooth=True, draws=90), [0.0, 0.01, 0.99], [0.0, 0.01, 0.99]),
        (veil.vectors.DirichletCounts(0.5, 0.6, 2, exact=True, draws=4000), [1, 9], [0.1, 0.9]),
    ],
)
def test_expected_errors(mechanism: Any, value: Any, truth: list[float]) -> None:
    law = mechanism.distribution(value)
    outputs, chances = np.array(list(law)), np.array(list(law.values()))
    gaps = np.abs(outputs - truth)
    errors = mechanism.errors(value)
    assert errors.entries == pytest.approx(chances @ gaps, rel=2e-4, abs=1e-9)
    assert errors.l1 == pytest.approx(float((chances @ gaps).sum()), rel=2e-4)
    assert errors.rmse == pytest.approx(math.sqrt(float((chances @ gaps**2).mean())), rel=1e-9)
    assert errors.kl == math.inf


def test_the_default_draws_no_urn() -> None:
    assert dirichlet(1e9).draws is None
    floats = veil.vectors.Dirichlet(20.6, veil.vectors.Simplex(5, floor=0.08), exact=False)
    assert dirichlet(20.6).errors(P) == floats.errors(P)


def test_plans_simulate_in_floats() -> None:
    mechanism = dirichlet(8.0, 3, 0.1, draws=20)
    value, size = [0.2, 0.3, 0.5], 20_000
    drawn = mechanism.simulate(value, rng=np.random.default_rng(1), size=size)
    assert drawn.shape == (size, 3)
    # The variance of the urn, to five standard errors of 1 % or less; the Dirichlet's own is 29 % smaller.
    variance = np.array([0.16, 0.21, 0.25]) / 9.0 * (1.0 + 8.0 / 20.0)
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.05)
    plain = veil.vectors.Dirichlet(8.0, veil.vectors.Simplex(3, floor=0.1), exact=False)
    both = [draw(value, rng=np.random.default_rng(2), size=5) for draw in (plain.simulate, plain.sample)]
    assert (both[0] == both[1]).all()


# What is taken, what is refused.


def test_a_vector_is_taken_as_it_stands() -> None:
    mechanism = dirichlet(smooth=True)
    given_vector = np.array(P) * (1.0 - 3e-10)
    taken = mechanism.validate(given_vector)
    assert (taken == given_vector).all()
    assert (mechanism.validate(taken) == taken).all()


def test_entries_a_hair_below_the_floor_are_lifted_to_it() -> None:
    below = [math.nextafter(0.08, 0.0), 0.22, 0.2, 0.2, 0.3]
    assert dirichlet().validate(below).tolist() == [0.08, 0.22, 0.2, 0.2, 0.3]
    with pytest.raises(InvalidData) as caught:
        dirichlet().validate([0.0799, 0.2201, 0.2, 0.2, 0.3])
    assert "below it, the first at position 0" in caught.value.found
    assert dirichlet(smooth=True).validate(below).tolist() == below
    protected = veil.vectors.Simplex(5, floor=0.08, protected=(1, 2), slack=0.0)
    assert veil.vectors.Dirichlet(20.0, protected).validate(below).tolist() == below


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"exact": 1}, "exact"),
        ({"exact": None}, "exact"),
        ({"exact": True, "draws": 0}, "draws"),
        ({"exact": True, "draws": 2**28 + 1}, "draws"),
        ({"exact": True, "draws": 1.5}, "draws"),
        ({"exact": True, "draws": "many"}, "draws"),
        ({"exact": False, "draws": 100}, "draws"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], field: str) -> None:
    for make in (
        lambda: veil.vectors.DirichletCounts(1.0, 1.0, 3, **options),
        lambda: dirichlet_with(options),
    ):
        with pytest.raises(InvalidArgument) as caught:
            make()
        assert caught.value.field == field


def dirichlet_with(options: dict[str, Any]) -> veil.vectors.Dirichlet:
    return veil.vectors.Dirichlet(1.0, veil.vectors.Simplex(3, floor=0.1), **options)


@pytest.mark.parametrize("floor", [0.0, 5e-324, 1e-300, 1e-31])
@pytest.mark.parametrize("exact", [False, True])
def test_a_floor_of_next_to_nothing_protects_nothing(floor: float, exact: bool) -> None:
    for size in (2, 3):
        mechanism = veil.vectors.Dirichlet(1e-20, veil.vectors.Simplex(size, floor=floor), exact=exact)
        with pytest.raises(NoGuarantee, match="floor of 0 protects nothing"):
            mechanism.profile(veil.vectors.Transfer(0.1))


def test_only_an_urn_is_enumerated() -> None:
    plain = veil.vectors.DirichletCounts(1.0, 1.0, 3)
    assert not plain.can_enumerate([1, 2, 3])
    with pytest.raises(NoGuarantee):
        plain.distribution([1, 2, 3])
    with pytest.raises(NoGuarantee):
        dirichlet_with({}).distribution([0.3, 0.3, 0.4])
    assert not dirichlet().can_enumerate(P)
    assert dirichlet(draws=5).can_enumerate(P)


@pytest.mark.slow
def test_an_audit_looks_at_every_output() -> None:
    mechanism, adjacency, value, neighbour = PAIRS["two entries"]
    found = veil.audit(mechanism, value, neighbour, adjacency=adjacency, delta=1e-3)
    assert found.exact
    assert not found.violated
    assert found.lower > 0.85 * found.claimed


# Descriptions and files.


def test_descriptions_of_floats_are_as_ever() -> None:
    simplex = veil.vectors.Simplex(5, floor=0.073)
    plain = veil.vectors.Dirichlet(20.6, simplex, exact=False).describe()
    assert list(plain["parameters"]) == ["k", "domain", "smooth"]
    counts = veil.vectors.DirichletCounts(2.0, 9.0, 3, exact=False).describe()
    assert counts == {"name": "DirichletCounts", "parameters": {"scale": 2.0, "prior": 9.0, "size": 3}}
    # A description that says nothing of its form means floats, whatever the default is today.
    assert mechanism_from(counts, VECTORS) == veil.vectors.DirichletCounts(2.0, 9.0, 3, exact=False)
    assert mechanism_from(plain, VECTORS) == veil.vectors.Dirichlet(20.6, simplex, exact=False)
    for form in ("rounded to 3 bits", True, 28):
        later = counts["parameters"] | {"form": form}
        with pytest.raises(InvalidArgument, match="form"):
            mechanism_from({"name": "DirichletCounts", "parameters": later}, VECTORS)


@pytest.mark.parametrize(
    "also",
    [
        {"draws": 100},
        {"draws": 100, "exact": False},
        {"draws": 100, "exact": 1},
        {"draws": 100, "form": "rounded to 28 bits"},
        {"draws": 100, "exact": True, "form": "rounded to 28 bits"},
        {"draws": 100, "exact": True, "form": "something else"},
        {"draws": 0, "exact": True},
        {"draws": 0, "form": "rounded to 28 bits"},
        {"draws": 0},
        {"exact": True},
        {"exact": False},
        {"exact": True, "form": "rounded to 28 bits"},
    ],
)
def test_descriptions_that_mix_forms_are_refused(also: dict[str, Any]) -> None:
    # An urn is told by `exact` and `draws`, as in 0.1, the rounded form by `form`, floats by neither.
    counts = {"scale": 2.0, "prior": 9.0, "size": 3}
    with pytest.raises(InvalidArgument):
        mechanism_from({"name": "DirichletCounts", "parameters": counts | also}, VECTORS)


@settings(max_examples=30, deadline=None)
@given(
    k=st.floats(1e-3, 1e6), draws=st.none() | st.integers(1, 2**28), smooth=st.booleans(), exact=st.booleans()
)
def test_descriptions_round_trip(k: float, draws: int | None, smooth: bool, exact: bool) -> None:
    draws = draws if exact else None
    simplex = veil.vectors.Simplex(5, floor=0.08)
    for mechanism in (
        veil.vectors.Dirichlet(k, simplex, smooth=smooth, exact=exact, draws=draws),
        veil.vectors.DirichletCounts(k, 1.0, 3, exact=exact, draws=draws),
    ):
        parameters = mechanism.describe()["parameters"]
        assert mechanism_from({"name": mechanism.name, "parameters": parameters}, VECTORS) == mechanism
        assert parameters.get("draws") == draws
        assert ("form" in parameters) == (exact and draws is None)


@pytest.mark.parametrize(
    ("mechanism", "value", "adjacency"),
    [
        (dirichlet(40.0, smooth=True), dict(zip("abcde", P, strict=True)), veil.vectors.Transfer(0.01)),
        (
            veil.vectors.DirichletCounts(2.2, 100.0, 3, exact=True, draws=4096),
            [40, 35, 25],
            veil.vectors.Records(),
        ),
    ],
)
def test_releases_are_read_back(mechanism: Any, value: Any, adjacency: Any, tmp_path: Path) -> None:
    made = veil.release(mechanism, value, adjacency=adjacency, delta=1e-3)
    made.save(tmp_path / "made.json")
    again = veil.load(tmp_path / "made.json")
    assert again.mechanism == mechanism
    assert again.description == mechanism.describe()
    assert (again.value == made.value).all()
    assert again.assumptions == made.assumptions
    assert again.profile.epsilon(1e-3) <= made.epsilon
    if mechanism.draws is not None:
        # Whole numbers of draws, nothing in between.
        counts = made.value * mechanism.draws
        assert (counts == np.rint(counts)).all()


def test_calibration_finds_an_exact_mechanism() -> None:
    found = veil.calibrate(
        lambda scale: veil.vectors.DirichletCounts(scale, 100.0, 5, exact=True),
        veil.vectors.Records(),
        epsilon=1.0,
        delta=1e-6,
    )
    assert found.exact
    assert found.profile(veil.vectors.Records()).delta(1.0) <= 1e-6
