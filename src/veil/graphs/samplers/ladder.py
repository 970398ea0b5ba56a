"""Noise on a ladder, drawn exactly: no rounding, and no end where the ladder would be cut off.

Rung k holds V_k outputs, V_0 = 2 first + 1 and V_k = 2 widths[k - 1], each of weight r^k. The V_k rise: with
D_0 = V_0 and D_k = V_k - V_{k-1}, the weight of rung k is sum_{j<=k} D_j r^k = sum_{j<=k} D_j r^j r^{k-j}. So

 1. draw j with probability proportional to D_j r^j;
 2. draw k - j geometric with ratio r: so k has probability proportional to V_k r^k;
 3. draw an output of rung k uniformly.

For step 1, D_j is 0 or 2 from j = 2 on, and 0 from some j on. Propose 0, 1 or "further" with the weights D_0,
D_1 r and sum_{j>=2} 2 r^j = 2 r^2 / (1 - r), exact rationals; "further" proposes j = 2 + a geometric number,
and is taken if D_j = 2. Otherwise all of step 1 is repeated. As r is a multiple of 2^-53, a step of a
geometric number is a comparison of whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from veil.bits.samplers.flips import sample_gaps
from veil.core.random.exact_choice import FixedChoice
from veil.core.random.streams import WORD, Rng, random_words
from veil.graphs.numerics.ladder import DECAY_BITS, Ladder
from veil.graphs.numerics.triangles import Integers

# Beyond this decay counting step by step takes longer than a logarithm.
_SLOW = Fraction(9, 10)


def sample_ladder(rng: Rng, *, ladder: Ladder, size: int) -> Integers:
    """Draw offsets from the count, each with a probability proportional to decay^(its rung)."""
    rungs = _levels(rng, ladder, size)
    rungs += _geometric(rng, ladder.decay, size)
    inner = np.where(rungs > 0, ladder.end(np.maximum(rungs - 1, 0)), 0)
    width = np.where(rungs > 0, ladder.width(np.maximum(rungs, 1)), 0)
    # Generator.integers rejects what would make some numbers likelier.
    places = rng.integers(0, np.where(rungs > 0, 2 * width, 2 * ladder.first + 1))
    beyond = np.where(places < width, -inner - 1 - places, inner + 1 + places - width)
    return np.asarray(np.where(rungs > 0, beyond, places - ladder.first), dtype=np.int64)


def _levels(rng: Rng, ladder: Ladder, size: int) -> Integers:
    """Step 1."""
    decay = ladder.decay
    centre, begin = 2 * ladder.first + 1, int(2 * ladder.widths[0])
    # Rung j is wider than the one before it by rises[j - 2]; the last of these stands for all further ones.
    rises = np.append(np.diff(ladder.widths), 0)
    weights = [Fraction(centre), (begin - centre) * decay]
    if rises.any():
        # Where no rung is wider, all that goes further would be refused, and at a small epsilon most does.
        weights.append(2 * decay * decay / (1 - decay))
    proposal = FixedChoice(weights)
    levels = np.empty(size, dtype=np.int64)
    open_rows = np.arange(size)
    while len(open_rows):
        proposed = proposal.draw(rng, len(open_rows))
        further = proposed == 2
        proposed[further] += _geometric(rng, decay, int(further.sum()))
        taken = ~further | (rises[np.clip(proposed - 2, 0, len(rises) - 1)] == 1)
        levels[open_rows[taken]] = proposed[taken]
        open_rows = open_rows[~taken]
    return levels


def _geometric(rng: Rng, decay: Fraction, size: int) -> Integers:
    """Numbers k >= 0 with probability (1 - decay) decay^k: how often in a row the chance comes true."""
    bound = decay * 2**DECAY_BITS
    if bound.denominator != 1:
        raise ValueError(f"the decay must be a multiple of 2^-{DECAY_BITS}")
    if decay > _SLOW:
        # Gaps between flips of probability 1 - decay, which is a float as it stands: the same law.
        return sample_gaps(rng, size=size, chance=float(1 - decay))
    rungs = np.zeros(size, dtype=np.int64)
    going = np.arange(size)
    while len(going):
        words = random_words(rng, len(going)) >> np.uint64(WORD - DECAY_BITS)
        going = going[words < np.uint64(bound.numerator)]
        rungs[going] += 1
    return rungs
