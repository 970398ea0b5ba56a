"""The lattice of gamma floats at large counts, as in 0.1: one release gives the normaliser, and a record.

The mechanism has default-like parameters: (epsilon, delta) = (0.1, 1e-6) is claimed, on counts of 10^12
records in 200 cells. The standard audit sees such lattices only where shapes are above 2^53 (suites.py): this
attack knows the sampler.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.faults.gamma_lattice import UNIT, Release, evidence, recovered
from tests.faults.mutants import MUTANTS
from tests.faults.planting import planted
from tests.faults.suites import plain
from veil.core.audit.events import log_ratio_bound
from veil.vectors import DirichletCounts, Records

CELLS, SCALE, PRIOR = 200, 2.2, 10_000.0
COUNTS = 10**12 // CELLS + np.arange(CELLS)
SHAPES = np.asarray(SCALE * COUNTS + PRIOR, dtype=np.float64)
# One record more in the first cell.
NEXT = np.where(np.arange(CELLS) == 0, SCALE * (COUNTS + 1) + PRIOR, SHAPES)


@pytest.mark.slow
def test_the_normaliser_is_recovered() -> None:
    """Nine times of ten at least, to ten digits; its law alone gives six."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(20):
        gammas = rng.standard_gamma(SHAPES)
        release = Release(gammas / gammas.sum(), SHAPES)
        known = recovered(release, without=0)
        # v = (x S / b)^(1/3), so S is the cube of v over its root.
        with mpmath.workdps(40):
            total = ((1 + mpmath.mpf(known.steps) * mpmath.mpf(UNIT)) / known.root) ** 3
            found += abs(float(total / mpmath.mpf(float(gammas.sum())) - 1)) < 1e-10
    assert found >= 18


@pytest.mark.slow
def test_a_record_is_told_from_one_release() -> None:
    """500 releases of each; the bound on epsilon is wrong with probability at most 1e-6."""
    counts = COUNTS.astype(float)
    more = counts + (np.arange(CELLS) == 0)
    factors = float(SHAPES[0] - 1.0 / 3.0), float(NEXT[0] - 1.0 / 3.0)
    mechanism = plain(DirichletCounts, SCALE, PRIOR, CELLS)
    claimed = mechanism.profile(Records()).epsilon(1e-6)
    assert claimed < 0.11
    hits = []
    with planted(*MUTANTS["dirichlet-of-0.1"].plants):
        for value, seed in ((counts, 1), (more, 2)):
            drawn = mechanism.sample(value, rng=seed, size=500)
            seen = [evidence(Release(one, SHAPES), 0, factors) for one in drawn]
            hits.append(int((np.array(seen) > 0.1).sum()))
    lower = float(log_ratio_bound(hits[0], 500, hits[1], 500, 1e-6, 1e-6))
    assert lower > claimed, f"{hits} of 500 each: epsilon is at least {lower:.3g}"
