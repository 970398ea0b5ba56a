"""Matrix-valued Bernoulli noise (XOR paper, Definition 4; proofs in bits.md)."""

from __future__ import annotations

import math
from typing import Any, Literal

from veil.bits.domain import Table
from veil.bits.numerics.flip_losses import Loss, Where, worst_loss
from veil.bits.numerics.published_bounds import condition_4
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers.matrix_bernoulli import Method, expected_ones, method_for, sample_matrix_bernoulli
from veil.core.checks import integer, positive, within
from veil.core.errors import InvalidArgument
from veil.core.random.streams import generator


class MatrixBernoulli(Quadratic):
    """Random tables b of `rows` rows with P(b) proportional to exp(b' Pi b).

    theta: P x P, how the bits of a row go together; on its diagonal the log-odds of a single bit. coupling:
    between rows, one matrix for all pairs of rows, or {(i, j): matrix} for i < j, or None. rows: how many.

    >>> from veil import bits
    >>> noise = bits.MatrixBernoulli([0.5], [0.5], 2)
    >>> bits.Xor(noise).certified_epsilon(bits.BitFlips(1))
    1.5
    """

    def __init__(self, theta: Any, coupling: Any, rows: int) -> None:
        super().__init__(theta, coupling, rows=rows)

    @property
    def method(self) -> str:
        """How it is sampled; every way is exact but "hmc"."""
        return method_for(self)

    def sample(
        self, *, rng: Any = None, size: int | None = None, method: Method | Literal["auto"] = "auto"
    ) -> Table:
        """One random table, or `size` of them along a new leading axis."""
        count = 1 if size is None else integer("size", size, least=1)
        drawn = sample_matrix_bernoulli(generator(rng), quadratic=self, size=count, method=method)
        return drawn[0] if size is None else drawn

    def worst_loss(self, count: int, where: Where) -> Loss:
        """The most by which log P changes when so many bits do."""
        return worst_loss(self, count, where)

    def expected_ones(self, *, rng: Any = 0) -> tuple[float, float]:
        """The expected number of ones (XOR paper, Theorem 2) and its Monte Carlo error, 0 if exact."""
        return expected_ones(self, rng=generator(rng))

    def published_epsilon(self, sensitivity: int) -> float:
        """Condition (4) of the XOR paper."""
        return condition_4(self, sensitivity)

    def scaled(self, factor: float) -> MatrixBernoulli:
        """The noise with all parameters multiplied: the number that `calibrate` looks for."""
        if not math.isfinite(factor):
            raise InvalidArgument("factor", expected="a finite number", found=repr(factor))
        if self.multiples is not None:
            diagonal, between = (factor * multiple for multiple in self.multiples)
            return self.exchangeable(diagonal, between, rows=self.rows, columns=self.columns)
        coupling: Any = None if self.common is None else factor * self.common
        if self.pairs is not None:
            coupling = {pair: factor * block for pair, block in self.pairs.items()}
        return MatrixBernoulli(factor * self.theta, coupling, self.rows)

    def describe(self) -> dict[str, Any]:
        if self.multiples is not None:
            diagonal, between = self.multiples
            return {"diagonal": diagonal, "between": between, "rows": self.rows, "columns": self.columns}
        coupling: Any = None if self.common is None else self.common.tolist()
        if self.pairs is not None:
            coupling = [{"rows": list(pair), "block": block.tolist()} for pair, block in self.pairs.items()]
        return {"theta": self.theta.tolist(), "coupling": coupling, "rows": self.rows}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> MatrixBernoulli:
        """The noise that `describe` described."""
        rows = description["rows"]
        if "diagonal" in description:
            diagonal, between = description["diagonal"], description["between"]
            return cls.exchangeable(diagonal, between, rows=rows, columns=description["columns"])
        coupling = description["coupling"]
        if isinstance(coupling, list) and coupling and isinstance(coupling[0], dict):
            coupling = {tuple(entry["rows"]): entry["block"] for entry in coupling}
        return cls(description["theta"], coupling, rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatrixBernoulli) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.rows, self.columns, self.multiples))

    def __repr__(self) -> str:
        return f"MatrixBernoulli({self.rows} rows, {self.columns} columns, drawn by {self.method})"


def xor_parameters(
    epsilon: float, alpha: float, rows: int, columns: int, sensitivity: int
) -> MatrixBernoulli:
    """Theta and coupling as multiples of the identity, for a stated epsilon (XOR paper, Algorithm 1).

    alpha: the part of epsilon that theta gets. sensitivity: how many bits may differ between neighbours.
    Equal eigenvalues make the basis U of the paper irrelevant.

    >>> from veil import bits
    >>> noise = bits.xor_parameters(1.0, 1.0, 240, 16, 16)
    >>> round(bits.Xor(noise).certified_epsilon(bits.BitFlips(16, where="row")), 4)
    0.25
    >>> bits.xor_parameters(1.0, 0.5, 2, 4, 1).multiples
    (0.25, 0.25)
    """
    expected = "a number above 0 and at most 1"
    epsilon, alpha = positive("epsilon", epsilon), within("alpha", alpha, expected=expected)
    if not 0.0 < alpha <= 1.0:
        raise InvalidArgument("alpha", expected=expected, found=repr(alpha))
    rows = integer("rows", rows, least=1, most=2**31)
    columns = integer("columns", columns, least=1, most=2**31)
    sensitivity = integer("sensitivity", sensitivity, least=1, most=2**31)
    unit = epsilon / (sensitivity * math.sqrt(columns))
    pairs = rows * (rows - 1) / 2.0
    between = (1.0 - alpha) * unit / pairs if pairs else 0.0
    return MatrixBernoulli.exchangeable(alpha * unit, between, rows=rows, columns=columns)
