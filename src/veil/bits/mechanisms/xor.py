"""The mechanism of the XOR paper: a table XORed with matrix-valued Bernoulli noise (proofs in bits.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.bits.numerics.flip_losses import Loss, Where
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, shown, truth
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.mechanism import Published, adjacency_of
from veil.core.numerics.rounding import charge_above, charged_times
from veil.core.random.streams import Rng

UNQUANTIFIED = "unquantified delta"
NOT_MIXED = (
    "the Monte Carlo chain has come close to its distribution; how close belongs into delta, and is not known"
)
# Flips that are spread over blocks in every way; beyond, one bound for each flip.
_MOST_FLIPS = 2_000


@dataclass(frozen=True)
class Xor(BitMechanism):
    """Y = X xor B, or its complement, with B drawn from `noise`.

    complement: release the complement. The paper's parameters flip more than half of the bits; the complement
    hides as much and flips the others. accept: "unquantified delta" for noise that no exact sampler covers,
    which is then drawn by a Monte Carlo chain; its distance from the distribution is not part of the
    guarantee.

    >>> from veil import bits
    >>> noise = bits.xor_parameters(1.0, 1.0, 240, 16, 16)
    >>> round(bits.Xor(noise).flip_rate, 4), bits.Xor(noise).published(bits.BitFlips(16, where="row")).epsilon
    (0.4961, 1.0)
    """

    noise: MatrixBernoulli
    _: KW_ONLY
    complement: bool = True
    accept: str = ""
    name: ClassVar[str] = "Xor"

    def __post_init__(self) -> None:
        if not isinstance(self.noise, MatrixBernoulli):
            found = type(self.noise).__name__
            raise InvalidArgument("noise", expected="a bits.MatrixBernoulli", found=found)
        truth("complement", self.complement)
        if not isinstance(self.accept, str) or self.accept not in ("", UNQUANTIFIED):
            raise InvalidArgument("accept", expected=f"{UNQUANTIFIED!r} or nothing", found=shown(self.accept))

    @classmethod
    def rebuilt(cls, noise: dict[str, Any], **rest: Any) -> Self:
        """The mechanism with the noise that `describe` described."""
        return cls(MatrixBernoulli.from_description(noise), **rest)

    @property
    def domain(self) -> Bits:
        return Bits(self.noise.columns, rows=self.noise.rows)

    @property
    def flip_rate(self) -> float:
        ones, _ = self.noise.expected_ones()
        rate = ones / (self.noise.rows * self.noise.columns)
        return 1.0 - rate if self.complement else rate

    def square_error_rate(self, ones: int) -> tuple[float, float]:
        """The expected square query error rate of a table with so many ones, and its error.

        XOR paper, Theorem 2.

        The error is 0 for closed forms, or that of a Monte Carlo mean. With the number of ones of a hidden
        table it depends on that: for made-up tables, never for reports.
        """
        ones = integer("ones", ones, least=1)
        flipped, error = self.noise.expected_ones()
        cells = self.noise.rows * self.noise.columns
        return (cells - flipped if self.complement else flipped) / ones, error / ones

    @property
    def is_exact(self) -> bool:
        """Whether the noise is drawn from its very distribution."""
        return self.noise.method != "hmc"

    def certificate(self, near: BitFlips) -> Loss:
        """The worst loss, whether it is exact, and how it was found."""
        return self.noise.worst_loss(near.count, cast("Where", near.where))

    def loss(self, near: BitFlips) -> float:
        return charged_times(self.certificate(near).value, 1)

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return () if self.is_exact else (NOT_MIXED,)

    def validate(self, value: Any) -> Any:
        if not self.is_exact and self.accept != UNQUANTIFIED:
            raise NoGuarantee(
                "noise: no exact sampler is known to end for these parameters, and a Monte Carlo chain comes "
                f'only near them. accept="{UNQUANTIFIED}" takes that.'
            )
        return super().validate(value)

    def log_noise(self, tables: Any) -> Floats:
        given = np.asarray(tables, dtype=np.bool_)
        return self.noise.energy(~given if self.complement else given)

    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        drawn = self.noise.sample(rng=rng, size=times)
        return ~drawn if self.complement else drawn

    def published(self, adjacency: Adjacency | None = None, *, gamma: Any = None) -> Published:
        """What the XOR paper (Theorem 1) states: the least epsilon of condition (4). The theorem is false."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        printed = self.noise.published_epsilon(near.count)
        true = self.certificate(near)
        violations = []
        if true.exact and true.value > printed * (1.0 + 1e-12):
            violations.append(f"XOR paper, Theorem 1 is false: the worst loss is {true.value:.6g}")
        if not self.is_exact:
            violations.append("XOR paper, Algorithm 2 only approximates the law of the stated epsilon")
        return Published(printed, 0.0, 0.0, "XOR paper, Theorem 1", tuple(violations))


@dataclass(frozen=True)
class XorBlocks(BitMechanism):
    """Bands of rows, each a list of blocks side by side; every block is released by its own `Xor`.

    XOR paper, Section 5.2.

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
        wrong = sum(block.noise.cells * block.flip_rate for block in self._blocks)
        return wrong / sum(block.noise.cells for block in self._blocks)

    def loss(self, near: BitFlips) -> float:
        if near.where == "row":
            return charge_above(max(_spread(band, near) for band in self.bands))
        return charge_above(_spread(self._blocks, near))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for block in self._blocks for text in block.assumptions(adjacency)))

    def validate(self, value: Any) -> Any:
        valid = super().validate(value)
        for block in self._blocks:
            # Refuses noise that is only approximately drawn, unless that was accepted.
            block.validate(np.zeros(block.noise.shape, dtype=np.bool_))
        return valid

    def log_noise(self, tables: Any) -> Floats:
        given = np.asarray(tables, dtype=np.bool_)
        total: Floats = np.zeros(given.shape[:-2])
        heights = np.cumsum([band[0].noise.rows for band in self.bands])[:-1]
        for band, part in zip(self.bands, np.split(given, heights, axis=-2), strict=True):
            widths = np.cumsum([block.noise.columns for block in band])[:-1]
            for block, piece in zip(band, np.split(part, widths, axis=-1), strict=True):
                total = total + block.log_noise(piece)
        return total

    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        return np.block(
            [[block.draw_noise(rng, times, *block.noise.shape) for block in band] for band in self.bands]
        )

    def describe(self) -> dict[str, Any]:
        bands = [[block.describe() for block in band] for band in self.bands]
        return {"name": self.name, "parameters": {"bands": bands}}


def _spread(blocks: Sequence[Xor], near: BitFlips) -> Fraction:
    """The most that the flips can cost, however they are spread over the blocks."""
    kinds = Counter(blocks)
    room = [block.noise.columns if near.where == "row" else block.noise.cells for block in kinds]
    total = sum(size * times for size, times in zip(room, kinds.values(), strict=True))
    flips = min(near.count, total)
    if flips > _MOST_FLIPS:
        # No flip costs more than the dearest alone.
        dearest = max(block.certificate(BitFlips(1, where=near.where)).value for block in kinds)
        return Fraction(dearest) * flips
    best = [Fraction(0)] * (flips + 1)
    for (block, times), size in zip(kinds.items(), room, strict=True):
        most = min(size, flips)
        each = (BitFlips(count, where=near.where) for count in range(1, most + 1))
        costs = [Fraction(0), *(Fraction(block.certificate(flips).value) for flips in each)]
        for _ in range(min(times, flips)):
            best = [
                max(best[left - count] + costs[count] for count in range(min(left, most) + 1))
                for left in range(flips + 1)
            ]
    return best[flips]
