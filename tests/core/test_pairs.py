"""Beta, gamma and normal pairs against arbitrary precision: never below, hardly above."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.core.compare import TIGHT, bounded, log_excess
from tests.params import quick_first
from veil.core.privacy.pairs import GammaPair, NormalPair, SymmetricBetaPair, TiltedPair

from ..oracles.hockey import beta_hockey_stick, gamma_hockey_stick, normal_hockey_stick, worst_case_dirichlet

LOWEST = math.log(1e-290)
# With shapes of 1e12 the rounding of where the loss begins is what is left.
TIGHT_FOR_HUGE = 1e-8


def truth(kind: Any, a: float, s: float, epsilon: float, direction: str) -> mpf:
    with mp.workdps(50):
        more = mpf(a) + mpf(s)
        if kind is SymmetricBetaPair:
            return beta_hockey_stick(more, a, a, more, epsilon)
        first, second = (more, a) if direction == "forward" else (a, more)
        return gamma_hockey_stick(first, second, epsilon)


def violations(cases: list[tuple[float, float, float]], kind: Any, tight: float) -> list[Any]:
    """The cases (a, s, epsilon) at which a direction of the pair is below the truth, or too far above."""
    found, compared = [], 0
    for a, s, epsilon in cases:
        pair = bounded(kind(a, s))
        forward, backward = pair.log_deltas()
        for direction, curve in {"forward": forward, "backward": backward}.items():
            if direction == "backward" and kind is not GammaPair:
                continue
            value = curve(epsilon)
            if value > LOWEST:
                compared += 1
                excess = log_excess(value, truth(kind, a, s, epsilon, direction))
                if not 0.0 <= excess <= tight:
                    found.append((excess, direction, a, s, epsilon))
    assert compared > 0.5 * len(cases)
    return found


def typical(
    rng: np.random.Generator, count: int, low: float, high: float
) -> list[tuple[float, float, float]]:
    cases = []
    for _ in range(count):
        a = 10.0 ** rng.uniform(low, high)
        s = a * 10.0 ** rng.uniform(-2.0, 1.0)
        epsilon = s / math.sqrt(a) * rng.uniform(0.0, 25.0) if rng.random() < 0.8 else 0.0
        cases.append((a, s, float(epsilon)))
    return cases


def huge(rng: np.random.Generator, count: int) -> list[tuple[float, float, float]]:
    cases = []
    for _ in range(count):
        a = 10.0 ** rng.uniform(6.0, 12.0)
        s = math.sqrt(a) * 10.0 ** rng.uniform(-3.0, 2.0)
        mean, deviation = s * s / a, s * math.sqrt(2.0 / a)
        cases.append((a, s, max(0.0, mean + rng.uniform(-4.0, 34.0) * deviation)))
    return cases


@pytest.mark.parametrize("kind", [SymmetricBetaPair, GammaPair])
@pytest.mark.parametrize(("seed", "count"), quick_first([(0, 15), (0, 70), (1, 70)]))
def test_tiny_to_large_shapes(kind: Any, seed: int, count: int) -> None:
    assert violations(typical(np.random.default_rng(seed), count, -6.0, 3.0), kind, TIGHT) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SymmetricBetaPair, GammaPair])
@pytest.mark.parametrize("count", quick_first([8, 40]))
def test_huge_shapes(kind: Any, count: int) -> None:
    assert violations(huge(np.random.default_rng(4), count), kind, TIGHT_FOR_HUGE) == []


@pytest.mark.slow_for("8-GammaPair")
@pytest.mark.parametrize("kind", [SymmetricBetaPair, GammaPair])
@pytest.mark.parametrize("count", quick_first([8, 40]))
def test_a_transfer_that_is_tiny_next_to_the_shape(kind: Any, count: int) -> None:
    rng = np.random.default_rng(5)
    cases = []
    for _ in range(count):
        a = 10.0 ** rng.uniform(-1.0, 3.0)
        s = a * 10.0 ** rng.uniform(-9.0, -3.0)
        cases.append((a, s, s / math.sqrt(a) * rng.uniform(0.0, 20.0)))
    assert violations(cases, kind, TIGHT) == []


@pytest.mark.parametrize(
    ("a", "s", "epsilon"),
    [
        (65662190122.14211, 7076294.330682679, 755.5027289064778),
        (956722563917.3188, 30919965.537325755, 993.2896144502787),
        (29994309143.161835, 891989.2043326225, 24.547027216695117),
    ],
)
def test_shapes_so_large_that_their_logarithms_nearly_cancel(a: float, s: float, epsilon: float) -> None:
    assert violations([(a, s, epsilon)], SymmetricBetaPair, TIGHT_FOR_HUGE) == []


def test_normal_pairs() -> None:
    rng = np.random.default_rng(6)
    for _ in range(150):
        shift = 10.0 ** rng.uniform(-5.0, 2.0)
        epsilon = max(0.0, shift * rng.uniform(-1.0, 36.0))
        excess = log_excess(
            NormalPair(shift).log_deltas()[0](epsilon), normal_hockey_stick(shift, 1, epsilon)
        )
        assert 0.0 <= excess <= TIGHT


@pytest.mark.parametrize("pair", [SymmetricBetaPair(2.0, 0.7), NormalPair(0.6)])
def test_both_directions_of_a_symmetric_pair_agree(pair: SymmetricBetaPair | NormalPair) -> None:
    for epsilon in (0.0, 0.4, 3.0):
        forward, backward = TiltedPair.log_deltas(pair)
        assert forward(epsilon) == pytest.approx(backward(epsilon), rel=1e-9, abs=1e-10)


def test_the_worse_direction_of_a_gamma_pair_counts() -> None:
    pair = GammaPair(0.8, 1.0)
    forward, backward = pair.log_deltas()
    gaps = [forward(epsilon) - backward(epsilon) for epsilon in (0.1, 1.0, 3.0)]
    assert max(abs(gap) for gap in gaps) > 0.1
    for epsilon in (0.1, 1.0, 3.0):
        worse = max(forward(epsilon), backward(epsilon))
        assert math.log(pair.delta(epsilon)) == pytest.approx(worse, abs=1e-12)


def test_figures_of_the_grades_example() -> None:
    # Five grades, 98 pupils, floor 0.073, concentration 20.6 (published: delta 0.0026 at epsilon 2.255).
    profile = SymmetricBetaPair(20.6 * 0.073, 20.6 / 98.0)
    assert profile.delta(2.255) == pytest.approx(2.46e-8, rel=3e-3)
    assert profile.epsilon(0.0026) == pytest.approx(0.629, abs=1.1e-3)
    raised = SymmetricBetaPair(249.0 * 0.073, 249.0 / 98.0)
    assert raised.delta(2.255) <= 0.0026 < SymmetricBetaPair(250.0 * 0.073, 250.0 / 98.0).delta(2.255)


@pytest.mark.parametrize(
    ("k", "floor", "mass"), [(20.6, 0.073, 1 / 98), (500.0, 0.01, 0.02), (3.0, 0.1, 0.3)]
)
def test_the_worst_pair_of_a_dirichlet_vector(k: float, floor: float, mass: float) -> None:
    profile = SymmetricBetaPair(k * floor, k * mass)
    for epsilon in (0.1, 1.0, 4.0):
        truth = float(worst_case_dirichlet(k, floor, mass, 3, epsilon))
        assert profile.delta(epsilon) == pytest.approx(truth, rel=1e-9)
