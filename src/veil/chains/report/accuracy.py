"""How wrong a released chain must be expected to be: from the release and its mechanism alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.chain_estimate import noise_of
from veil.chains.mechanisms.chain_parts import Part
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.planning import measured
from veil.chains.released import model
from veil.core.arrays import Floats
from veil.core.numerics.denoise import denoised
from veil.core.record import Release
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.vectors.counts import Integers
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

# Beyond it the distribution of the next step is wrong by a third or more.
_LARGE_ERROR = 0.3
# Standard deviations by which counts must exceed what noise alone would show.
_SURE = 3.0
_SEED = 7
_DRAWS = 2
# Cells of groups that are drawn in one simulation; a terminal must not wait for more.
_MOST_CELLS = 120_000


@dataclass(frozen=True, slots=True)
class Accuracy:
    """row_tv: the expected error of the next step (total variation), None where nobody can say.

    group_tv: the same within one group. moved: by how much the noise moves a count on average, in the
    table where it does so least and in the one where it does so most. drowned: whether the counts cannot be
    told from noise. capped: whether less could be counted of each user.
    """

    row_tv: float | None
    group_tv: float | None = None
    moved: tuple[float, float] | None = None
    drowned: bool = False
    capped: bool = False

    @classmethod
    def of(cls, release: Release[Any]) -> Accuracy | None:
        """None for a release that was not counted from a table."""
        mechanism, adjacency = release.mechanism, release.adjacency
        if not isinstance(mechanism, PrivateChain) or not isinstance(adjacency, Transitions):
            return None
        return replace(cls._measured(release, mechanism), capped=(adjacency.cap or 1) > 1)

    @classmethod
    def _measured(cls, release: Release[Any], mechanism: PrivateChain) -> Accuracy:
        parts = [part for part in mechanism.parts if part.of == "transitions"]
        if not parts[0].is_noisy_counts:
            return cls(_dirichlet_error(release, mechanism, parts[0]))
        moves = [mean_move(part) for part in parts]
        moved = (min(moves), max(moves))
        tables = [np.asarray(release.tables[part.key], dtype=np.float64) for part in parts]
        if mechanism.groups is not None:
            whole = tables[0].sum(axis=0)
            deviation = noise_of(parts[0]).deviation * math.sqrt(len(tables[0]))
            error, within = _group_errors(tables[0], parts[0])
            return cls(error, within, moved, _is_drowned(whole, deviation))
        # One clear stratum is enough.
        silent = all(drowned(table, part) for table, part in zip(tables, parts, strict=True))
        if mechanism.strata:
            return cls(_strata_error(release, mechanism, tables), None, moved, silent)
        return cls(_plain_error(release, parts[0]), None, moved, silent)

    @property
    def words(self) -> str:
        """The expected error in one sentence."""
        start = "Expected error of the next step, by the noise alone:"
        if self.drowned:
            # A simulation would start from counts that are noise themselves.
            return f"{start} not known, since the counts cannot be told from noise."
        if self.row_tv is None and self.group_tv is None:
            return (
                f"{start} not known, since the release does not say how many transitions left each state "
                "(with parts sizes it would)."
            )
        found = [] if self.row_tv is None else [_points(self.row_tv)]
        if self.group_tv is not None:
            found = [f"{text} for all groups together" for text in found]
            found.append(f"{_points(self.group_tv)} within a group")
        return f"{start} {', '.join(found)} (total variation)."

    @property
    def warning(self) -> str | None:
        """What must be said before any of the numbers is believed."""
        if self.drowned or (self.row_tv is not None and self.row_tv > _LARGE_ERROR):
            more = ", a smaller cap," if self.capped else ""
            return (
                "the noise is larger than most counts; these numbers say almost nothing. A larger epsilon"
                f"{more} or merged states would help"
            )
        if self.group_tv is not None and self.group_tv > _LARGE_ERROR:
            return (
                "in single groups the noise is larger than most counts; their chains say almost nothing. A "
                "larger epsilon, fewer groups, or merged states would help"
            )
        return None


def _points(error: float) -> str:
    return f"{100 * error:.2g} percentage points"


def mean_move(part: Part) -> float:
    """By how much the noise of a part moves a count on average."""
    mechanism = part.mechanism
    if isinstance(mechanism, GeometricCounts):
        return 1.0 / math.sinh(min(1.0 / mechanism.scale, 700.0))
    assert isinstance(mechanism, DiscreteGaussianCounts)
    return mechanism.sigma * math.sqrt(2.0 / math.pi)


def drowned(table: NDArray[Any], part: Part) -> bool:
    """Whether noisy counts are hardly farther from zero than the noise alone would be."""
    return part.is_noisy_counts and _is_drowned(table, noise_of(part).deviation)


def _is_drowned(table: NDArray[Any], deviation: float) -> bool:
    power = float(np.mean(np.square(np.asarray(table, dtype=np.float64)))) / max(deviation, 1e-12) ** 2
    # Of noise alone it is 1 on average, with variance 5 a cell (3 less if Gaussian) unless noise is tiny.
    return power < 1.0 + _SURE * math.sqrt(5.0 / table.size)


def _plain_error(release: Release[Any], part: Part) -> float | None:
    sizes = model(release).sizes
    if sizes is None:
        return None
    table: Integers = np.rint(sizes[:, None] * model(release).chain.to_numpy()).astype(np.int64)
    if not table.any():
        return None
    return measured("as released", PrivateChain(len(table), (part,)), [table]).row_tv


def _dirichlet_error(release: Release[Any], mechanism: PrivateChain, part: Part) -> float | None:
    if not isinstance(part.mechanism, BorderedRows):
        return _plain_error(release, part)
    # Row i is Dirichlet with the public k_i: the mean deviation of an entry, as if it were normal.
    chain = model(release).chain
    matrix, k = chain.to_numpy(), np.array(part.mechanism.k)[:, None]
    share = chain.stationary() if chain.is_irreducible else np.full(mechanism.states, 1.0 / mechanism.states)
    deviations = np.sqrt(matrix * (1.0 - matrix) / (k + 1.0))
    return float(share @ deviations.sum(axis=1)) * 0.5 * math.sqrt(2.0 / math.pi)


def _strata_error(release: Release[Any], mechanism: PrivateChain, tables: list[Floats]) -> float | None:
    """Strata that all follow the released chain, with new noise: how far is what comes out from it?"""
    joint, truth = model(release).joint(), model(release).chain.to_numpy()
    if not np.isfinite(joint).all():
        return None
    kept = [part for part in mechanism.parts if part.least or part.of == "lengths"]
    plain, rng, errors = PrivateChain(mechanism.states, kept), np.random.default_rng(_SEED), []
    for _ in range(_DRAWS):
        drawn: dict[str, NDArray[Any]] = dict(release.tables)
        for part, table in zip(mechanism.strata, tables, strict=True):
            # Rounded at random: small counts would all become zero.
            counts = np.floor(joint * max(float(table.sum()), 0.0) + rng.random(joint.shape))
            drawn[part.key] = counts.astype(np.int64) + _noise(part, rng, joint.shape)
        found = plain.model(drawn, model(release).chain.states).chain.to_numpy()
        errors.append(float(joint.sum(axis=1) @ _gaps(found, truth)))
    return float(np.mean(errors))


def _group_errors(noisy: Floats, part: Part) -> tuple[float | None, float | None]:
    """The error of all groups together, and of one group on average over all transitions."""
    counts = denoised(noisy, noise_of(part))
    step = max(1, math.ceil(counts.size / _MOST_CELLS))
    # Of very many cells a part of the groups: all of them would take too long.
    counts = np.rint(counts[::step])
    if not counts.any():
        return None, None
    rng = np.random.default_rng(_SEED)
    found = denoised(counts + _noise(part, rng, counts.shape), noise_of(part))
    sizes = counts.sum(axis=2)
    within = float((sizes * _gaps(_rows(found), _rows(counts))).sum() / sizes.sum())
    if step > 1:
        return None, within
    whole, again = counts.sum(axis=0), found.sum(axis=0)
    share = whole.sum(axis=1) / whole.sum()
    return float(share @ _gaps(_rows(again), _rows(whole))), within


def _noise(part: Part, rng: np.random.Generator, shape: tuple[int, ...]) -> Integers:
    assert isinstance(part.mechanism, (GeometricCounts, DiscreteGaussianCounts))
    return part.mechanism.simulated_noise(rng, shape)


def _rows(counts: Floats) -> Floats:
    sizes = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sizes > 0.0, counts / np.maximum(sizes, 1e-300), 1.0 / counts.shape[-1]))


def _gaps(found: Floats, truth: Floats) -> Floats:
    return np.asarray(0.5 * np.abs(found - truth).sum(axis=-1))
