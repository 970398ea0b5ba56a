"""From private tables to a model of sequences: post-processing, which costs no privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.mechanisms.chain_parts import Part
from veil.chains.numerics.backoff import second_order
from veil.chains.numerics.length_law import smoothed_lengths, spread_lengths
from veil.chains.numerics.strata import combined_strata
from veil.chains.sequence_model import LengthLaw, SequenceModel
from veil.core.arrays import Floats
from veil.core.named_matrix import Names
from veil.core.numerics.denoise import Noise, denoised
from veil.matrices.chain import Chain
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts

if TYPE_CHECKING:
    from veil.chains.mechanisms.private_chain import PrivateChain, Tables


def estimate(mechanism: PrivateChain, tables: Tables, states: Names) -> SequenceModel:
    """The model behind the tables of one release."""
    lengths = _users_by_length(mechanism, tables)
    counts, groups = _counts(mechanism, tables, lengths)
    sizes = counts.sum(axis=1)
    if not mechanism.part("transitions").is_noisy_counts:
        # Rows of probabilities: how many transitions there were is known only if it was released.
        found = _single(mechanism, tables, "sizes")
    else:
        found = sizes
    return SequenceModel(
        chain=_chain(counts, states),
        second=_second(mechanism, tables, counts),
        starts=_law(_single(mechanism, tables, "starts")),
        ends=_law(_single(mechanism, tables, "ends")),
        lengths=None if lengths is None else _length_law(lengths),
        sizes=found,
        groups={name: _chain(one, states) for name, one in groups.items()},
    )


def noise_of(part: Part) -> Noise:
    """The public law of the noise on every cell of a part."""
    mechanism = part.mechanism
    if isinstance(mechanism, GeometricCounts):
        return Noise("geometric", mechanism.scale)
    assert isinstance(mechanism, DiscreteGaussianCounts)
    return Noise("gaussian", mechanism.sigma)


def _counts(
    mechanism: PrivateChain, tables: Tables, lengths: Floats | None
) -> tuple[Floats, dict[str, Floats]]:
    """Estimated counts [from, to], or rows of probabilities, of all; and of each group."""
    strata = mechanism.strata
    if strata and lengths is not None:
        noisy = np.stack([tables[part.key] for part in strata])
        bounds = [(part.least, part.cap or 1) for part in strata]
        return combined_strata(noisy, [noise_of(part) for part in strata], bounds, lengths), {}
    part = mechanism.part("transitions")
    table = tables[part.key]
    counts = denoised(table, noise_of(part)) if part.is_noisy_counts else np.asarray(table)
    if mechanism.groups is None:
        return counts, {}
    # All together from the sum of the noisy tables: what was taken for noise in each would be missing in all.
    noise = Noise("gaussian", noise_of(part).deviation * float(np.sqrt(len(mechanism.groups))))
    return denoised(table.sum(axis=0), noise), dict(zip(mechanism.groups, counts, strict=True))


def _second(mechanism: PrivateChain, tables: Tables, counts: Floats) -> Floats | None:
    if not mechanism.has("second"):
        return None
    part = mechanism.part("second")
    return second_order(tables[part.key], noise_of(part), counts)


def _users_by_length(mechanism: PrivateChain, tables: Tables) -> Floats | None:
    """Estimated users by exact length; the first entry is length 0."""
    if not mechanism.has("lengths"):
        return None
    part = mechanism.part("lengths")
    assert part.bins is not None
    return spread_lengths(smoothed_lengths(tables[part.key], noise_of(part), part.bins), part.bins)


def _length_law(users: Floats) -> LengthLaw:
    lengths = np.flatnonzero(users > 0.0)
    if not len(lengths):
        # Nobody stands out of the noise: the shortest length there is.
        return LengthLaw(np.array([1]), np.array([1.0]))
    return LengthLaw(lengths.astype(np.int64), users[lengths] / users[lengths].sum())


def _chain(counts: Floats, states: Names) -> Chain:
    return Chain(counts / counts.sum(axis=1, keepdims=True), states=states)


def _single(mechanism: PrivateChain, tables: Tables, of: str) -> Floats | None:
    """One list of noisy counts, such as the starts, without the noise as far as may be."""
    if not mechanism.has(of):
        return None
    part = mechanism.part(of)
    return np.asarray(denoised(tables[part.key][None, :], noise_of(part))[0])


def _law(counts: NDArray[Any] | None) -> Floats | None:
    return None if counts is None else np.asarray(counts / counts.sum())
