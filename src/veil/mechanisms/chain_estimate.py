"""From private tables to a model of sequences: post-processing, which costs no privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from veil.domains.chain import Chain
from veil.domains.intake import Floats
from veil.domains.matrices import Names
from veil.domains.sequence_model import SequenceModel
from veil.mechanisms.chain_parts import Part

if TYPE_CHECKING:
    from veil.mechanisms.private_chain import PrivateChain, Tables


def estimate(mechanism: PrivateChain, tables: Tables, states: Names) -> SequenceModel:
    """The model behind the tables of one release."""
    part = mechanism.part("transitions")
    counts = _expected_counts(part, tables)
    sizes = counts.sum(axis=-1, keepdims=True)
    return SequenceModel(chain=Chain(counts / sizes, states=states), sizes=sizes[:, 0])


def _expected_counts(part: Part, tables: Tables) -> Floats:
    noisy = tables[part.key].astype(np.float64)
    return np.maximum(noisy, 0.0) + 0.5 if part.is_noisy_counts else noisy
