"""The degree distribution behind a graph released by randomised response.

A node of degree d among p possible pairs has the released degree Bin(d, 1 - q) + Bin(p - d, q): mean
p q + d (1 - 2 q), variance p q (1 - q) whatever d is. The released degrees are therefore a mixture of these
known laws, in the proportions sought. The proportions of highest likelihood are found by EM (Kiefer and
Wolfowitz, 1956); as that is ragged where the noise hides single degrees, each round is followed by a slight
smoothing (Silverman, Jones, Wilson and Nychka, J. R. Stat. Soc. B 52, 1990), on a grid of an eighth of the
noise. Degrees of different nodes share a pair, so they are not quite independent; EM only needs their shares.

No unbiased estimate with a useful error exists: taking noise off a distribution magnifies its errors without
bound. So the standard errors here are those of a parametric bootstrap, drawn from the estimate itself: they
say how much the estimate scatters, not how far smoothing has moved it, and no coverage is claimed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from veil.graphs.numerics.debias import node_degrees

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Grid steps to a standard error of a degree; above so many steps degrees are taken as they are.
_STEPS, _MOST_STEPS = 8.0, 4000
# From this variance on the released degree is taken as normal.
_NORMAL = 50.0
_ROUNDS, _SMOOTHING = 100, 0.05
_TAIL = 1e-12


def debiased_distribution(degrees: Integers, *, possible: int, flip: float) -> Floats:
    """The estimated share of nodes with degree 0 ... possible, from the degrees of the release."""
    values, error = node_degrees(np.asarray(degrees, dtype=np.int64), possible=possible, flip=flip)
    step = max(1, int(error / _STEPS))
    shares = np.zeros(possible + 1)
    far = values > _MOST_STEPS * step
    known = np.clip(np.rint(values[far]), 0, possible).astype(np.int64)
    np.add.at(shares, known, 1.0 / len(values))
    if far.all():
        return shares
    near = ~far
    highest = min(possible, int(np.ceil(values[near].max() + 3.0 * error)))
    grid = np.arange(0, max(highest, 0) + 1, step, dtype=np.int64)
    seen, many = np.unique(np.asarray(degrees)[near], return_counts=True)
    weights = _mixture(_laws(seen, grid, step, possible, flip), many.astype(np.float64))
    # A step of the grid stands for all its degrees alike.
    ends = np.minimum(np.append(grid[1:], highest + 1), possible + 1)
    spread = np.repeat(weights / (ends - grid), ends - grid)
    shares[: len(spread)] += spread * float(near.mean())
    return shares


def bootstrap_errors(
    shares: Floats, *, nodes: int, flip: float, rng: np.random.Generator, times: int = 20
) -> Floats:
    """How much the estimate scatters: standard errors from so many releases drawn from the estimate."""
    possible = len(shares) - 1
    drawn = []
    for _ in range(times):
        hidden = rng.choice(possible + 1, size=nodes, p=shares / shares.sum())
        heard = rng.binomial(hidden, 1.0 - flip) + rng.binomial(possible - hidden, flip)
        drawn.append(debiased_distribution(heard, possible=possible, flip=flip))
    return np.asarray(np.std(drawn, axis=0, ddof=1))


def _laws(seen: Integers, grid: Integers, step: int, possible: int, flip: float) -> Floats:
    """[released degree, grid step]: the chance of the one given the other."""
    variance = possible * flip * (1.0 - flip)
    if variance >= _NORMAL:
        middles = np.minimum(grid + (step - 1) / 2.0, possible)
        centred = seen[:, None] - possible * flip - middles * (1.0 - 2.0 * flip)
        deviation = np.sqrt(variance)
        return np.asarray(ndtr((centred + 0.5) / deviation) - ndtr((centred - 0.5) / deviation))
    laws = np.zeros((len(seen), len(grid)))
    for at, degree in enumerate(grid.tolist()):
        gained = _binomial(possible - degree, flip)
        lost = _binomial(degree, flip)
        law = np.convolve(gained, lost[::-1])
        places = seen - (degree - len(lost) + 1)
        inside = (places >= 0) & (places < len(law))
        laws[inside, at] = law[places[inside]]
    return laws


def _binomial(size: int, chance: float) -> Floats:
    """The law of a binomial number, up to where almost nothing is left."""
    last = min(size, int(binom.isf(_TAIL, size, chance)) + 1) if size and chance else 0
    return np.asarray(binom.pmf(np.arange(last + 1), size, chance))


def _mixture(laws: Floats, many: Floats) -> Floats:
    """The proportions, by EM with smoothing. No law is so narrow that a released degree has no chance."""
    laws = np.maximum(laws, 1e-300)
    weights = np.full(laws.shape[1], 1.0 / laws.shape[1])
    smooth = _SMOOTHING if laws.shape[1] > 2 else 0.0
    for _ in range(_ROUNDS):
        weights = weights * (laws.T @ (many / (laws @ weights)))
        wide = np.concatenate([weights[:1], weights, weights[-1:]])
        weights = smooth * (wide[:-2] + wide[2:]) + (1.0 - 2.0 * smooth) * weights
        weights /= weights.sum()
    return weights
