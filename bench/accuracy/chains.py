"""A Markov chain counted from made-up sessions: the error of its rows and of its stationary distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

import veil
from bench.accuracy.counts import drawn_ratio, total_variation, vectors
from bench.measure import Ratio
from bench.work import Work
from veil.chains.chain_mechanism import Published, strongest_epsilon

GROUP = "Accuracy: a Markov chain"
STATES, EPSILON = 17, 1.0
DELTA = 1e-6
# The published form (data-driven chains paper) holds only where no frequency is below a public floor.
FLOOR = 0.02


def counted(transitions: int, *, least: float = 0.0, seed: int = 1) -> Any:
    """Transitions between 17 pages of a made-up site, some far more visited than others.

    least: the least probability of any transition.
    """
    rng = np.random.default_rng(seed)
    popular = 1.0 / np.arange(1, STATES + 1)
    matrix = np.array([rng.dirichlet(6.0 * popular / popular.sum() + 0.05) for _ in range(STATES)])
    matrix = least + (1.0 - STATES * least) * matrix
    sizes = rng.multinomial(transitions, stationary(matrix))
    return np.array([rng.multinomial(size, row) for size, row in zip(sizes, matrix, strict=True)])


def stationary(matrix: Any) -> Any:
    """The stationary distribution, by Veil; of a chain that is not irreducible, after a step of 1e-9."""
    even = 1e-9
    mixed = (1.0 - even) * np.asarray(matrix) + even / len(matrix)
    return veil.Chain(mixed).stationary()


def errors(chains: list[Any], counts: Any) -> tuple[Any, Any]:
    """The errors of each chain: of a row, all rows alike, and of the stationary distribution."""
    truth = vectors(counts)
    known = stationary(truth)
    return (
        total_variation(np.array(chains), truth),
        total_variation(np.array([stationary(chain) for chain in chains]), known),
    )


def _private(counts: Any, repeats: int, epsilon: float, **options: Any) -> list[Any]:
    held = veil.chains.TransitionCounts(counts)
    return [
        np.asarray(veil.chains.release(held, epsilon=epsilon, rng=seed, **options).value.matrix)
        for seed in range(repeats)
    ]


def run(work: Work) -> list[Ratio]:
    """Noise on each count by OpenDP, with many and few transitions, and the published Dirichlet form."""
    found = []
    for transitions in (2_000, 20_000, 1_000_000):
        counts, repeats = counted(transitions), work.either(60, 300)
        what = f"17 states, {transitions:,} transitions"
        setting = f"epsilon {EPSILON:g}, delta 0, one transition added or removed"
        ours = errors(_private(counts, repeats, EPSILON), counts)
        answer = work.ask(
            "opendp",
            "noise",
            what,
            {"counts": counts.ravel()},
            kind="laplace",
            distance=1,
            epsilon=EPSILON,
            repeats=repeats,
        )
        if answer is not None:
            noisy = answer.arrays["noisy"].reshape(-1, STATES, STATES)
            theirs = errors([vectors(table) for table in noisy], counts)
            found += _rows(what, setting, ours, theirs, "OpenDP noise on each count, normalised")
    return found + published(work)


def published(work: Work) -> list[Ratio]:
    """Algorithm 2 of the data-driven chains paper at its least epsilon, with its exact profile."""
    counts, repeats = counted(200_000, least=2.0 * FLOOR), work.either(60, 300)
    sizes = counts.sum(axis=1).tolist()
    epsilon = 1.001 * strongest_epsilon(Published.of(FLOOR, sizes, STATES), size=STATES, delta=DELTA)
    options: dict[str, Any] = {"delta": DELTA, "change": "replace"}
    ours = errors(_private(counts, repeats, epsilon, **options), counts)
    theirs = errors(_private(counts, repeats, epsilon, mechanism="published", floor=FLOOR, **options), counts)
    what = f"17 states, frequencies above {FLOOR:g}"
    setting = (
        f"epsilon {epsilon:.3g}, delta {DELTA:g}, one of 200,000 replaced; the published form reaches no less"
    )
    return _rows(
        what, setting, ours, theirs, "published Dirichlet form (data-driven chains paper), its exact profile"
    )


def _rows(what: str, setting: str, ours: Any, theirs: Any, peer: str) -> list[Ratio]:
    names = ("rows", "stationary distribution")
    return [
        drawn_ratio(GROUP, f"{what}: {name}", setting, one, other, peer, "total variation")
        for name, one, other in zip(names, ours, theirs, strict=True)
    ]
