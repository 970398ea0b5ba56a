"""Error bars for chains of counted transitions: measured coverage, with the power to see short bars."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import veil
import veil.chains.error_bars
from veil.chains.error_bars.counted_rows import length_reach, share_quantiles, sum_reach
from veil.chains.error_bars.intervals import counted_transitions
from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.core.numerics.denoise import Noise
from veil.errors import InvalidArgument
from veil.vectors.error_bars import beta_mean_limits, near_beta_mean_limits
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

Integers = NDArray[np.int64]


def zipf(states: int, size: float, seed: int) -> Integers:
    """Rows and columns of uneven popularity; the smallest rows have a handful of records."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, states + 1)
    popularity /= popularity.sum()
    laws = 0.98 * rng.dirichlet(0.5 * states * popularity, states) + 0.02 * popularity
    sizes = np.maximum(np.rint(size * popularity * states), 5.0).astype(np.int64)
    return np.array([rng.multinomial(sizes[row], laws[row]) for row in range(states)])


def sparse(states: int, size: int, seed: int) -> Integers:
    """Five ways out of each state, all other cells empty."""
    rng = np.random.default_rng(seed)
    table = np.zeros((states, states), dtype=np.int64)
    for row in range(states):
        ways = np.unique([(row + 1) % states, *rng.choice(states, 4, replace=False)])
        table[row, ways] = 1 + rng.multinomial(size, rng.dirichlet(np.ones(len(ways))))
    return table


# Counts, epsilon, delta: 3.7 million transitions of 17 states as in MSNBC, then less and less of them.
CASES: dict[str, tuple[Integers, float, float]] = {
    "seventeen states, millions": (zipf(17, 217_000.0, 3), 1.0, 0.0),
    "seventeen states, Gaussian noise": (zipf(17, 1_000.0, 5), 1.0, 1e-6),
    "five states, thirty a row": (zipf(5, 30.0, 4), 1.0, 0.0),
    "five states, little noise": (zipf(5, 1_000.0, 4), 2.0, 0.0),
    "noise drowns small rows": (zipf(17, 300.0, 6), 0.2, 0.0),
    "sixty states, mostly empty cells": (sparse(60, 600, 7), 1.0, 0.0),
}
every_case = pytest.mark.parametrize("name", CASES)


def released(table: Integers, epsilon: float, delta: float, **how: Any) -> veil.Release[Any]:
    if "mechanism" not in how:
        how["mechanism"] = "gaussian" if delta else "geometric"
    return veil.chains.release(
        veil.chains.TransitionCounts(table), epsilon=epsilon, delta=delta, rng=0, **how
    )


def again(release: veil.Release[Any], table: Integers, rng: np.random.Generator) -> veil.Release[Any]:
    """Another release of the same counts, drawn fast."""
    mechanism = release.mechanism
    assert isinstance(mechanism, PrivateChain)
    tables: dict[str, Any] = {}
    for part in mechanism.parts:
        hides = part.mechanism
        counts = table.sum(axis=1) if part.of == "sizes" else table
        if isinstance(hides, DirichletCounts):
            gammas = rng.gamma(hides.scale * counts + hides.prior)
            tables[part.key] = gammas / gammas.sum(axis=1, keepdims=True)
        else:
            assert isinstance(hides, (GeometricCounts, DiscreteGaussianCounts))
            tables[part.key] = counts + hides.simulated_noise(rng, counts.shape)
    chain = mechanism.model(tables, tuple(range(len(table)))).chain
    return replace(release, value=chain, tables=tables)


def held(bars: Any, truth: Any, short: float = 1.0) -> Any:
    middle, half = bars.mean(axis=-1), 0.5 * short * np.ptp(bars, axis=-1)
    return (middle - half <= truth + 1e-12) & (truth - 1e-12 <= middle + half)


def coverage(table: Integers, first: veil.Release[Any], count: int, *, seed: int = 1) -> dict[str, Any]:
    """How often the bars hold the truth; how much wider they are than ideal ones for the release's errors."""
    truth = table / table.sum(axis=1, keepdims=True)
    pi = veil.Chain(truth).stationary()
    rng = np.random.default_rng(seed)
    seen: dict[str, list[Any]] = {}
    for _ in range(count):
        out = again(first, table, rng)
        found = veil.chains.intervals(out)
        for key, value in {
            "transitions": held(found.transitions, truth),
            "stationary": held(found.stationary, pi),
            "halved": held(found.stationary, pi, 0.5),
            "proved": held(found.proved_stationary, pi).all(),
            "half": 0.5 * np.ptp(found.stationary, axis=-1),
            "error": (found.estimate.stationary() - pi) ** 2,
        }.items():
            seen.setdefault(key, []).append(value)
    shares = {key: np.mean(values, axis=0) for key, values in seen.items()}
    shares["wider"] = float(np.mean(shares["half"] / (1.96 * np.sqrt(shares["error"]))))
    return shares


@pytest.mark.slow
@every_case
def test_coverage_is_about_right(name: str) -> None:
    """30 simulations: a quick look; the full count is evidence."""
    table, epsilon, delta = CASES[name]
    found = coverage(table, released(table, epsilon, delta), 30)
    assert found["transitions"].mean() >= 0.94
    assert found["stationary"].mean() >= 0.93
    assert found["halved"].mean() < 0.9
    assert found["proved"] >= 0.97
    assert found["wider"] < 4.5


@pytest.mark.evidence
@every_case
def test_coverage_over_a_thousand_simulations(name: str) -> None:
    """Transitions on average 95 %; the stationary distribution 94 %, and no state below 90 %.

    The standard error of one share near 95 % is 0.7 %. Were every share exactly 94 % (of transitions 95 %),
    the least of 60 states would fall below 90 % with a chance of about 1e-5, the least of 3,600 transitions
    below 91.5 % with 1e-3. Power: bars of half the length hold the truth in less than 88 %: they would fail.
    """
    table, epsilon, delta = CASES[name]
    found = coverage(table, released(table, epsilon, delta), 1_000, seed=2)
    assert found["transitions"].mean() >= 0.95
    assert found["transitions"].min() >= 0.95 - 0.035
    assert found["stationary"].mean() >= 0.94
    assert found["stationary"].min() >= 0.90
    assert found["halved"].mean() < 0.88
    assert found["proved"] >= 0.95
    assert 1.0 < found["wider"] < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("count", [8, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("parts", [(), ("sizes",)])
def test_coverage_of_dirichlet_rows(parts: tuple[str, ...], count: int) -> None:
    """Without sizes the smoothing is unknown: bars are longer, and still hold the truth."""
    table = zipf(17, 3_000.0, 8)
    first = released(table, 2.0, 1e-6, mechanism="dirichlet", parts=parts)
    found = coverage(table, first, count)
    assert found["transitions"].mean() >= 0.95
    assert found["stationary"].mean() >= 0.95
    assert found["proved"] >= 0.95
    if parts:
        assert found["halved"].mean() < 0.9
        assert found["wider"] < 2.0


@pytest.mark.slow
def test_the_smoothing_is_undone_where_the_sizes_were_released() -> None:
    table = zipf(17, 3_000.0, 8)
    truth = veil.Chain(table / table.sum(axis=1, keepdims=True)).stationary()
    out = released(table, 2.0, 1e-6, mechanism="dirichlet", parts=("sizes",))
    found = veil.chains.intervals(out)
    assert (
        np.abs(found.estimate.stationary() - truth).sum() < 0.7 * np.abs(out.value.stationary() - truth).sum()
    )
    blind = released(table, 2.0, 1e-6, mechanism="dirichlet")
    wide = veil.chains.intervals(blind)
    assert wide.estimate == blind.value
    assert np.ptp(wide.transitions, axis=-1).mean() > np.ptp(found.transitions, axis=-1).mean()


@pytest.mark.slow
def test_the_published_form() -> None:
    table = 200 + zipf(4, 5_000.0, 9)
    out = released(
        table,
        2.0,
        1e-5,
        mechanism="published",
        change="replace",
        floor=0.999 * float((table.T / table.sum(1)).min()),
    )
    found = veil.chains.intervals(out, draws=200)
    truth = table / table.sum(axis=1, keepdims=True)
    assert held(found.transitions, truth).mean() > 0.7
    assert held(found.proved_stationary, veil.Chain(truth).stationary()).all()
    assert isinstance(out.mechanism, PrivateChain)
    assert np.array_equal(counted_transitions(out.mechanism, out.tables, 0.95), found.transitions)


@pytest.mark.slow
def test_groups_are_added_up() -> None:
    groups = {"north": zipf(6, 2_000.0, 10), "south": zipf(6, 500.0, 11)}
    table = groups["north"] + groups["south"]
    counts = veil.chains.TransitionCounts(table, groups=groups)
    truth = table / table.sum(axis=1, keepdims=True)
    transitions, stationary = [], []
    for seed in range(10):
        found = veil.chains.intervals(veil.chains.release(counts, epsilon=1.0, rng=seed))
        transitions.append(held(found.transitions, truth))
        stationary.append(held(found.stationary, veil.Chain(truth).stationary()))
    assert 0.91 <= np.mean(transitions) <= 0.99
    assert np.mean(stationary) >= 0.93


def test_intervals_are_those_of_the_transitions() -> None:
    table, epsilon, delta = CASES["five states, thirty a row"]
    out = released(table, epsilon, delta)
    assert isinstance(out.mechanism, PrivateChain)
    alone = counted_transitions(out.mechanism, out.tables, 0.9)
    assert np.array_equal(alone, veil.chains.intervals(out, confidence=0.9).transitions)


def test_bars_widen_until_they_say_nothing() -> None:
    table, widths, shares = zipf(8, 400.0, 12), [], []
    for epsilon in (10.0, 1.0, 0.1, 0.001):
        found = veil.chains.intervals(released(table, epsilon, 0.0))
        widths.append(np.ptp(found.stationary, axis=-1).mean())
        shares.append(np.ptp(found.transitions, axis=-1).mean())
        assert (found.proved_stationary[:, 0] <= found.stationary[:, 0] + 1e-9).all()
        pi = found.estimate.stationary()
        assert held(found.stationary, pi).all()
    assert widths == sorted(widths)
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
    assert widths[-1] > 0.35


def test_an_empty_cell_with_little_noise_has_a_bar_that_is_not_empty() -> None:
    table = np.array([[500, 0], [250, 250]])
    tables = {"transitions": np.array([[500, -9], [250, 250]])}
    found = veil.chains.intervals(replace(released(table, 1.0, 0.0), tables=tables)).transitions
    assert found[0, 1, 0] == 0.0
    assert 0.001 < found[0, 1, 1] < 0.02


def test_strata_and_bad_arguments_are_refused() -> None:
    parts = [Part("transitions", GeometricCounts(1.0, 4), (2, 2), least=least, cap=5) for least in (2, 6)]
    table, epsilon, delta = CASES["five states, thirty a row"]
    out = released(table, epsilon, delta)
    with pytest.raises(InvalidArgument, match="strata"):
        veil.chains.intervals(replace(out, mechanism=PrivateChain(2, parts)))
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.chains.intervals(out, confidence=1.5)


# What it rests on


@pytest.mark.parametrize("noise", [Noise("geometric", 0.25), Noise("geometric", 3.0), Noise("gaussian", 1.3)])
@pytest.mark.parametrize("tail", [0.025, 0.001])
def test_quantiles_against_all_outcomes(noise: Noise, tail: float) -> None:
    """Three columns: the law of (1 - p) Z - p (V + W) by adding up all pairs of values."""
    values = np.arange(-60.0, 61.0)
    one = noise.weights(values) / noise.weights(values).sum()
    two, sums = np.convolve(one, one), np.arange(-120.0, 121.0)
    found = share_quantiles(noise, 3, 1, tail)
    for place in (0, 1, 50, 120, 160, 190, 199, 200):
        p, reach = found.shares[place], found.reach[place]
        outcomes = (1.0 - p) * values[:, None] - p * sums
        chances = one[:, None] * two
        assert chances[outcomes > reach + 1e-9].sum() <= tail
        # Not a hundredth shorter, but for the rare case that there is no mass in between.
        shorter = 0.985 * reach - 1e-6
        assert chances[outcomes > shorter].sum() > 0.99 * tail


def test_quantiles_of_large_noise_are_those_of_the_limit() -> None:
    """Gaussian noise: 1.96 sigma sqrt((1 - p)^2 + 9 p^2), up to the steps of the tables."""
    found = share_quantiles(Noise("gaussian", 4_000.0), 10, 1, 0.025)
    ideal = 1.95996 * 4_000.0 * np.sqrt((1.0 - found.shares) ** 2 + 9.0 * found.shares**2)
    assert (found.reach >= 0.999 * ideal).all()
    assert (found.reach <= 1.03 * ideal).all()


@pytest.mark.parametrize("noise", [Noise("geometric", 0.3), Noise("geometric", 8.0), Noise("gaussian", 4.0)])
@pytest.mark.parametrize("count", [1, 7, 60])
def test_sums_and_lengths_stay_within_reach(noise: Noise, count: int) -> None:
    """20,000 draws at 1 %: alpha 1e-6 for a true 1 %. Not absurd: half the reach is exceeded more often."""
    rng = np.random.default_rng(13)
    if noise.kind == "geometric":
        drawn = GeometricCounts(noise.scale, 2).simulated_noise(rng, (20_000, count))
    else:
        drawn = DiscreteGaussianCounts(noise.scale, 2).simulated_noise(rng, (20_000, count))
    sums, lengths = np.abs(drawn.sum(axis=1)), np.sqrt((drawn**2).sum(axis=1))
    assert np.mean(sums > sum_reach(noise, count, 0.01)) <= 0.0135
    assert np.mean(lengths > length_reach(noise, count, 0.01)) <= 0.0135
    assert np.mean(sums > 0.4 * sum_reach(noise, count, 0.01)) > 0.01
    assert np.quantile(lengths, 0.99) > 0.3 * length_reach(noise, count, 0.01) - 1.0


def test_the_quick_beta_limits_are_near_the_exact_ones() -> None:
    rng = np.random.default_rng(14)
    k = np.exp(rng.uniform(np.log(20.0), np.log(1e6), 300))
    x = np.clip(rng.beta(0.3, 2.0, 300), 2.0 / k, 1.0 - 2.0 / k)
    for tail in (0.0225, 0.001):
        exact, quick = beta_mean_limits(k, x, tail), near_beta_mean_limits(k, x, tail)
        # Means below 1/k, shapes below 1, are not what it is for.
        exact, quick = (np.maximum(exact[0], 1.0 / k), exact[1]), (np.maximum(quick[0], 1.0 / k), quick[1])
        width = exact[1] - exact[0]
        assert (quick[0] <= exact[0] + 0.005 * width).all()
        assert (quick[1] >= exact[1] - 0.005 * width).all()
        assert (quick[1] - quick[0] <= 1.03 * width).all()


def test_beta_bars_shrink_as_k_grows() -> None:
    """What the bars of Dirichlet rows of unknown k rest on: those of a larger k lie inside."""
    x = np.array([0.003, 0.02, 0.1, 0.3, 0.5])
    ends = [beta_mean_limits(k, x, 0.0225) for k in np.geomspace(300.0, 1e6, 25)]
    for wide, narrow in pairwise(ends):
        assert (wide[0] <= narrow[0] + 1e-9).all()
        assert (narrow[1] <= wide[1] + 1e-9).all()


def test_every_place_that_the_proof_names_exists() -> None:
    proof = Path(veil.chains.error_bars.__file__).parent / "counted_chain_intervals.md"
    places = re.findall(r"`(veil(?:\.\w+)+):([\w.]+)`", proof.read_text(encoding="utf-8"))
    assert len(places) > 5
    for module, name in places:
        assert hasattr(import_module(module), name), f"{module}:{name}"
