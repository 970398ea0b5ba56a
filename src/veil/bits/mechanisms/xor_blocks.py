"""A table cut into blocks, each with its own noise (XOR paper, Section 5.2; proofs in bits.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.xor import Xor
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_above
from veil.core.random.streams import Rng

# Flips that are spread over blocks in every way; beyond, one bound a flip.
_MOST_FLIPS = 2_000


@dataclass(frozen=True)
class XorBlocks(BitMechanism):
    """Bands of rows, each a list of blocks side by side; every block is released by its own `Xor`.

    The paper gives every block a part of epsilon by its size. What really holds: a record lies in one band,
    so bands do not add up; the blocks of a band do, since a record goes through all of them.

    >>> from veil import bits
    >>> half = bits.Xor(bits.xor_parameters(1.0, 1.0, 10, 4, 4))
    >>> blocks = bits.XorBlocks([[half, half], [half, half]])
    >>> one = half.certified_epsilon(bits.BitFlips(4, where="row"))
    >>> blocks.certified_epsilon(bits.BitFlips(8, where="row")) == 2 * one
    True
    """

    bands: Sequence[Sequence[Xor]]
    name: ClassVar[str] = "XorBlocks"

    def __post_init__(self) -> None:
        listed = self.bands if isinstance(self.bands, (list, tuple)) else ()
        bands = tuple(tuple(band) if isinstance(band, (list, tuple)) else () for band in listed)
        if not bands or not all(bands) or not all(isinstance(block, Xor) for band in bands for block in band):
            raise InvalidArgument("bands", expected="lists of bits.Xor", found="something else")
        for place, band in enumerate(bands):
            if len({block.noise.rows for block in band}) > 1:
                expected = "blocks of equally many rows in a band"
                raise InvalidArgument(f"bands[{place}]", expected=expected, found="others")
        if len({sum(block.noise.columns for block in band) for band in bands}) > 1:
            raise InvalidArgument("bands", expected="equally many columns in all bands", found="others")
        object.__setattr__(self, "bands", bands)

    @property
    def _blocks(self) -> list[Xor]:
        return [block for band in self.bands for block in band]

    @cached_property
    def domain(self) -> Bits:
        columns = sum(block.noise.columns for block in self.bands[0])
        return Bits(columns, rows=sum(band[0].noise.rows for band in self.bands))

    @property
    def flip_rate(self) -> float:
        sizes = [block.noise.rows * block.noise.columns for block in self._blocks]
        wrong = sum(size * block.flip_rate for size, block in zip(sizes, self._blocks, strict=True))
        return wrong / sum(sizes)

    def loss(self, near: BitFlips) -> float:
        if near.where == "row":
            return float_above(max(_spread(band, near) for band in self.bands))
        return float_above(_spread(self._blocks, near))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for block in self._blocks for text in block.assumptions(adjacency)))

    def validate(self, value: Any) -> Any:
        valid = super().validate(value)
        for block in self._blocks:
            # Refuses noise that is only approximately drawn, unless that was accepted.
            block.validate(np.zeros((block.noise.rows, block.noise.columns), dtype=np.bool_))
        return valid

    def log_noise(self, tables: Any) -> Floats:
        given = np.asarray(tables, dtype=np.bool_)
        total: Floats = np.zeros(given.shape[:-2])
        top = 0
        for band in self.bands:
            left = 0
            for block in band:
                rows, columns = block.noise.rows, block.noise.columns
                total = total + block.log_noise(given[..., top : top + rows, left : left + columns])
                left += columns
            top += band[0].noise.rows
        return total

    def draw_noise(self, rng: Rng, rows: int, columns: int) -> Table:
        bands = [
            np.hstack([block.draw_noise(rng, block.noise.rows, block.noise.columns) for block in band])
            for band in self.bands
        ]
        return np.vstack(bands)

    def describe(self) -> dict[str, Any]:
        bands = [[block.describe() for block in band] for band in self.bands]
        return {"name": self.name, "parameters": {"bands": bands}}


def _spread(blocks: Sequence[Xor], near: BitFlips) -> Fraction:
    """The most that the flips can cost, however they are spread over the blocks."""
    kinds: dict[Xor, int] = {}
    for block in blocks:
        kinds[block] = kinds.get(block, 0) + 1
    room = [block.noise.columns if near.where == "row" else block.noise.cells for block in kinds]
    total = sum(size * times for size, times in zip(room, kinds.values(), strict=True))
    flips = min(near.count, total)
    if flips > _MOST_FLIPS:
        # No flip costs more than the dearest alone.
        dearest = max(block.loss(BitFlips(1, where=near.where)) for block in kinds)
        return Fraction(dearest) * flips
    best = [Fraction(0)] * (flips + 1)
    for (block, times), size in zip(kinds.items(), room, strict=True):
        most = min(size, flips)
        costs = [Fraction(0)] + [
            Fraction(block.loss(BitFlips(count, where=near.where))) for count in range(1, most + 1)
        ]
        for _ in range(min(times, flips)):
            best = [
                max(best[left - count] + costs[count] for count in range(min(left, most) + 1))
                for left in range(flips + 1)
            ]
    return best[flips]
