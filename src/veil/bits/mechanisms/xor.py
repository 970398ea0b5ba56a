"""The mechanism of the XOR paper: a table XORed with matrix-valued Bernoulli noise (proofs in bits.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.bits.numerics.flip_losses import Loss, Where
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, shown
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.mechanism import adjacency_of
from veil.core.published import Published
from veil.core.random.streams import Rng

UNQUANTIFIED = "unquantified delta"
NOT_MIXED = (
    "the Monte Carlo chain has come close to its distribution; how close belongs into delta, and is not known"
)


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
        if not isinstance(self.complement, bool):
            found = type(self.complement).__name__
            raise InvalidArgument("complement", expected="True or False", found=found)
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

        The error is 0 for closed forms, else that of a Monte Carlo mean. With the number of ones of a hidden
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
        return self.certificate(near).value

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

    def draw_noise(self, rng: Rng, rows: int, columns: int) -> Table:
        drawn = self.noise.sample(rng=rng)
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
