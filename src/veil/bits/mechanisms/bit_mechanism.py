"""What the mechanisms on bits share: noise that is XORed to a table (proofs in bits.md)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.errors import NoGuarantee
from veil.core.mechanism import Described, adjacency_of
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng

# e^-epsilon must be a float with all its digits.
LARGEST_EPSILON = 500.0
_FEW_BITS = 12


@dataclass(frozen=True)
class BitMechanism(Described):
    """Release Y = X xor B, B random bits that do not depend on X."""

    @property
    @abstractmethod
    def domain(self) -> Bits: ...

    @property
    @abstractmethod
    def flip_rate(self) -> float:
        """The probability that a released bit is wrong, averaged over the bits where they differ."""

    @abstractmethod
    def loss(self, near: BitFlips) -> float:
        """A proved bound on the privacy loss between neighbours, as it is charged: see `charge_above`."""

    def certified_epsilon(self, adjacency: Adjacency | None = None) -> float:
        """The loss that is proved for the noise as it is drawn."""
        return self.loss(adjacency_of(self, adjacency, BitFlips))

    def item_axes(self, valid: Any) -> int:
        """A table, or the bits of one record, is one item: its rows are what the adjacency speaks of."""
        return int(np.ndim(valid))

    def validate(self, value: Any) -> Any:
        return self.domain.validate(value)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Pure: the loss takes at most its certified value."""
        return RandomizedResponses(self.certified_epsilon(adjacency), kind="upper bound")

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Any:
        rows = np.atleast_2d(value)
        noise = self.draw_noise(rng, size or 1, *rows.shape)
        return (rows ^ noise).reshape(value.shape if size is None else (size, *value.shape))

    # For audits on made-up values: every output of a small table, or a small graph.

    def log_noise(self, tables: Any) -> Floats:
        """log P(b) of noise b of shape (..., rows, columns), but for a constant."""
        raise NoGuarantee(f"the law of {self.name} is not written down")

    def can_enumerate(self, value: Any) -> bool:
        """Whether all outputs for such a value can be listed."""
        valid = self.validate(value)
        return bool(valid.size <= _FEW_BITS)

    def distribution(self, value: Any) -> dict[tuple[int, ...], float]:
        """Every output for a small table with its probability."""
        valid = np.atleast_2d(self.validate(value))
        noise = np.array(list(product((0, 1), repeat=valid.size)), dtype=np.bool_)
        logs = self.log_noise(noise.reshape(-1, *valid.shape))
        chances = np.exp(logs - np.logaddexp.reduce(logs))
        outputs = (noise ^ valid.ravel()).astype(int).tolist()
        return dict(zip(map(tuple, outputs), chances.tolist(), strict=True))

    @abstractmethod
    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        """The bits B for a table of this size, so many times: of shape (times, rows, columns)."""
