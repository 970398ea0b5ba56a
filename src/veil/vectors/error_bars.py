"""Error bars for the true vector, from the release alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

from veil.chains.error_bars.counted_transitions import counted_transitions
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.core.intake import Floats
from veil.core.record import Release
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.vectors.beta_limits import beta_mean_limits
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts

# What an urn's own noise may take of a tail.
_URN_SHARE = 0.05


def intervals(release: Any, *, confidence: float = 0.95, records: int | None = None) -> Floats:
    """A confidence interval for every true entry: an array of (low, high) pairs.

    Each entry x_i of a Dirichlet release is Beta(k q_i, k (1 - q_i)) with q_i the true (smoothed)
    entry; the interval holds the q_i under which x_i is not in either tail of (1 - confidence)/2. It
    covers with the stated probability, one entry at a time. (Where x_i is a share of so many draws of an urn,
    a twentieth of the tail goes to the limits of Clopper and Pearson for the beta variable behind it, and the
    rest to the interval at these.) Then it is cut to what a probability can
    be; where nothing would be left the release says nothing of the entry, and all of [0, 1] is given.

    Of a chain that was counted: an interval for every true relative frequency of a transition, which also
    covers one entry at a time (counted_chain_intervals.md).

    records: the public number of records, for releases of counts.
    """
    tail = 0.5 * (1.0 - within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1"))
    if not isinstance(release, Release):
        raise InvalidArgument("release", expected="a veil.Release", found=type(release).__name__)
    mechanism, x = release.mechanism, np.asarray(release.array)
    if isinstance(mechanism, PrivateChain):
        known = release.records if records is None else integer("records", records, least=1)
        return counted_transitions(mechanism, release.tables, confidence, records=known)
    if isinstance(mechanism, Dirichlet):
        low, high = _limits(mechanism.k, x, tail, mechanism.draws)
        if mechanism.smooth:
            floor, size = mechanism.domain.floor, mechanism.domain.size
            low, high = ((end - floor) / (1.0 - size * floor) for end in (low, high))
    elif isinstance(mechanism, MatrixDirichlet):
        flat = x.reshape(-1, x.shape[-1])
        k = np.array(mechanism.concentrations(len(flat)))[:, None]
        low, high = (
            mechanism.unsmoothed(end).reshape(x.shape) for end in _row_limits(mechanism, k, flat, tail)
        )
    elif isinstance(mechanism, DirichletCounts):
        known = release.records if records is None else records
        if known is None:
            raise InvalidArgument(
                "records",
                expected="the public number of records, which error bars of counts need",
                found="None",
            )
        total = mechanism.scale * integer("records", known, least=1) + mechanism.size * mechanism.prior
        low, high = _limits(total, x, tail, mechanism.draws)
        low, high = ((end * total - mechanism.prior) / (mechanism.scale * known) for end in (low, high))
    else:
        raise InvalidArgument(
            "release", expected="a release of a Dirichlet mechanism", found=f"one of {mechanism.name}"
        )
    outside = (high < 0.0) | (low > 1.0)
    low, high = (
        np.where(outside, 0.0, np.clip(low, 0.0, 1.0)),
        np.where(outside, 1.0, np.clip(high, 0.0, 1.0)),
    )
    return np.stack([low, high], axis=-1)


def _limits(k: float, x: Floats, tail: float, draws: int | None) -> tuple[Floats, Floats]:
    """The limits for a beta variable, or for the share of an urn's draws that estimates one."""
    if draws is None:
        return beta_mean_limits(k, x, tail)
    counts, share = np.rint(x * draws), _URN_SHARE * tail
    # Of the ends 0 and 1 the beta functions are not defined, and nothing is to be found out.
    below = np.where(counts > 0.0, betaincinv(np.maximum(counts, 1.0), draws - counts + 1.0, share), 0.0)
    above = np.where(
        counts < draws, betaincinv(counts + 1.0, np.maximum(draws - counts, 1.0), 1.0 - share), 1.0
    )
    rest = (1.0 - _URN_SHARE) * tail
    return beta_mean_limits(k, below, rest)[0], beta_mean_limits(k, above, rest)[1]


def _row_limits(mechanism: MatrixDirichlet, k: Floats, flat: Floats, tail: float) -> tuple[Floats, Floats]:
    """The limits of every entry of every row; outside a public support they are what everyone knows."""
    free = np.zeros(flat.shape, dtype=bool)
    for group in mechanism.domain.alike(flat):
        free[group.rows[:, None], group.columns] = True
    low, high = flat.copy(), flat.copy()
    low[free], high[free] = beta_mean_limits(np.broadcast_to(k, flat.shape)[free], flat[free], tail)
    return low, high
