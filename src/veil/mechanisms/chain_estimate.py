"""From private tables to a model of sequences: post-processing, which costs no privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.domains.chain import Chain
from veil.domains.intake import Floats
from veil.domains.matrices import Names
from veil.domains.sequence_model import SequenceModel
from veil.mechanisms.chain_parts import Part
from veil.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.numerics.denoise import Noise, denoised

if TYPE_CHECKING:
    from veil.mechanisms.private_chain import PrivateChain, Tables


def estimate(mechanism: PrivateChain, tables: Tables, states: Names) -> SequenceModel:
    """The model behind the tables of one release."""
    part = mechanism.part("transitions")
    table = tables[part.key]
    if not part.is_noisy_counts:
        sizes = _single(mechanism, tables, "sizes")
        return SequenceModel(chain=Chain(table, states=states), sizes=sizes, **_sequences(mechanism, tables))
    counts = denoised(table, noise_of(part))
    groups = {}
    if mechanism.groups is not None:
        groups = {name: _chain(one, states) for name, one in zip(mechanism.groups, counts, strict=True)}
        counts = counts.sum(axis=0)
    return SequenceModel(
        chain=_chain(counts, states), sizes=counts.sum(axis=1), groups=groups, **_sequences(mechanism, tables)
    )


def noise_of(part: Part) -> Noise:
    """The public law of the noise on every cell of a part."""
    mechanism = part.mechanism
    if isinstance(mechanism, GeometricCounts):
        return Noise("geometric", mechanism.scale)
    assert isinstance(mechanism, DiscreteGaussianCounts)
    return Noise("gaussian", mechanism.sigma)


def _chain(counts: Floats, states: Names) -> Chain:
    return Chain(counts / counts.sum(axis=1, keepdims=True), states=states)


def _single(mechanism: PrivateChain, tables: Tables, of: str) -> Floats | None:
    """One list of noisy counts, such as the starts, without the noise as far as may be."""
    if not mechanism.has(of):
        return None
    part = mechanism.part(of)
    return np.asarray(denoised(tables[part.key][None, :], noise_of(part))[0])


def _sequences(mechanism: PrivateChain, tables: Tables) -> dict[str, Any]:
    starts, ends = (_law(_single(mechanism, tables, of)) for of in ("starts", "ends"))
    return {"starts": starts, "ends": ends}


def _law(counts: NDArray[Any] | None) -> Floats | None:
    return None if counts is None else np.asarray(counts / counts.sum())
