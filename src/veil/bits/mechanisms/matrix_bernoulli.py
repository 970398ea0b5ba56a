"""Matrix-valued Bernoulli noise (XOR paper, Definition 4; proofs in bits.md)."""

from __future__ import annotations

import math
from collections.abc import Sized
from typing import Any, Literal

import numpy as np

from veil.bits.domain import Table
from veil.bits.numerics.flip_losses import Loss, Where, worst_loss
from veil.bits.numerics.published_bounds import algorithm_1, condition_4
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers.bernoulli_ones import expected_ones
from veil.bits.samplers.matrix_bernoulli import Method, method_for, sample_matrix_bernoulli
from veil.core.arrays import Floats
from veil.core.checks import integer, positive, real
from veil.core.errors import InvalidArgument
from veil.core.random.streams import generator


class MatrixBernoulli:
    """Random tables b of `rows` rows with P(b) proportional to exp(b' Pi b).

    theta: P x P, how the bits of a row go together; on its diagonal the log-odds of a single bit. coupling:
    between rows, one matrix for all pairs of rows, or {(i, j): matrix} for i < j, or None. rows: how many.

    >>> from veil import bits
    >>> noise = bits.MatrixBernoulli([0.5], [0.5], 2)
    >>> bits.Xor(noise).certified_epsilon(bits.BitFlips(1))
    1.5
    """

    def __init__(self, theta: Any, coupling: Any, rows: int) -> None:
        self._quadratic = Quadratic(_matrix("theta", theta), _coupling(coupling), rows=rows)

    @classmethod
    def of(cls, quadratic: Quadratic) -> MatrixBernoulli:
        """The noise with these parameters."""
        made = cls.__new__(cls)
        made._quadratic = quadratic
        return made

    @property
    def quadratic(self) -> Quadratic:
        return self._quadratic

    @property
    def theta(self) -> Floats:
        return self._quadratic.theta

    @property
    def coupling(self) -> Any:
        return self._quadratic.coupling

    @property
    def rows(self) -> int:
        return self._quadratic.rows

    @property
    def columns(self) -> int:
        return self._quadratic.columns

    @property
    def method(self) -> str:
        """How it is sampled; every way is exact but "hmc"."""
        return method_for(self._quadratic)

    def sample(
        self, *, rng: Any = None, size: int | None = None, method: Method | Literal["auto"] = "auto"
    ) -> Table:
        """One random table, or `size` of them along a new leading axis."""
        count = 1 if size is None else integer("size", size, least=1)
        drawn = sample_matrix_bernoulli(generator(rng), quadratic=self._quadratic, size=count, method=method)
        return drawn[0] if size is None else drawn

    def worst_loss(self, count: int, where: Where) -> Loss:
        """The most by which log P changes when so many bits do."""
        return worst_loss(self._quadratic, count, where)

    def expected_ones(self, *, rng: Any = 0) -> tuple[float, float]:
        """The expected number of ones (XOR paper, Theorem 2) and its Monte Carlo error, 0 if exact."""
        return expected_ones(self._quadratic, rng=generator(rng))

    def published_epsilon(self, sensitivity: int) -> float:
        """Condition (4) of the XOR paper."""
        return condition_4(self._quadratic, sensitivity)

    def scaled(self, factor: float) -> MatrixBernoulli:
        """The noise with all parameters multiplied: the number that `calibrate` looks for."""
        if not math.isfinite(factor):
            raise InvalidArgument("factor", expected="a finite number", found=repr(factor))
        quadratic = self._quadratic
        if quadratic.multiples is not None:
            diagonal, between = quadratic.multiples
            shape = {"rows": self.rows, "columns": self.columns}
            return MatrixBernoulli.of(Quadratic.exchangeable(factor * diagonal, factor * between, **shape))
        pairs = quadratic.pairs
        coupling: Any = quadratic.common
        if pairs is not None:
            coupling = {pair: factor * block for pair, block in pairs.items()}
        elif coupling is not None:
            coupling = factor * coupling
        return MatrixBernoulli(factor * quadratic.theta, coupling, self.rows)

    def describe(self) -> dict[str, Any]:
        quadratic = self._quadratic
        if quadratic.multiples is not None:
            diagonal, between = quadratic.multiples
            return {
                "diagonal": diagonal,
                "between": between,
                "rows": self.rows,
                "columns": self.columns,
            }
        coupling: Any = None if quadratic.common is None else quadratic.common.tolist()
        if quadratic.pairs is not None:
            coupling = [
                {"rows": list(pair), "block": block.tolist()} for pair, block in quadratic.pairs.items()
            ]
        return {"theta": quadratic.theta.tolist(), "coupling": coupling, "rows": self.rows}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> MatrixBernoulli:
        """The noise that `describe` described."""
        if "diagonal" in description:
            return cls.of(
                Quadratic.exchangeable(
                    description["diagonal"],
                    description["between"],
                    rows=description["rows"],
                    columns=description["columns"],
                )
            )
        coupling = description["coupling"]
        if isinstance(coupling, list) and coupling and isinstance(coupling[0], dict):
            coupling = {tuple(entry["rows"]): entry["block"] for entry in coupling}
        return cls(description["theta"], coupling, description["rows"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatrixBernoulli) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.rows, self.columns, self._quadratic.multiples))

    def __repr__(self) -> str:
        return f"MatrixBernoulli({self.rows} rows, {self.columns} columns, drawn by {self.method})"


def xor_parameters(
    epsilon: float, alpha: float, rows: int, columns: int, sensitivity: int
) -> MatrixBernoulli:
    """Theta and coupling as multiples of the identity, for a stated epsilon (XOR paper, Algorithm 1).

    alpha: the part of epsilon that theta gets. sensitivity: how many bits may differ between neighbours.

    >>> from veil import bits
    >>> noise = bits.xor_parameters(1.0, 1.0, 240, 16, 16)
    >>> round(bits.Xor(noise).certified_epsilon(bits.BitFlips(16, where="row")), 4)
    0.25
    """
    epsilon = positive("epsilon", epsilon)
    alpha = real("alpha", alpha, expected="a number above 0 and at most 1")
    rows = integer("rows", rows, least=1, most=2**31)
    columns = integer("columns", columns, least=1, most=2**31)
    sensitivity = integer("sensitivity", sensitivity, least=1, most=2**31)
    return MatrixBernoulli.of(algorithm_1(epsilon, alpha, rows, columns, sensitivity))


# A matrix has this many squared entries.
_MOST_COLUMNS = 2**16


def _matrix(field: str, value: Any) -> Floats:
    try:
        if (isinstance(value, Sized) and len(value) > _MOST_COLUMNS) or np.iscomplexobj(value):
            raise TypeError
        with np.errstate(over="ignore"):
            found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidArgument(
            field, expected="a square matrix of numbers", found=type(value).__name__
        ) from None
    return found.reshape(1, 1) if found.size == 1 else found


def _coupling(value: Any) -> Any:
    if value is None or isinstance(value, dict) or hasattr(value, "items"):
        return value
    found = _matrix("coupling", value)
    return None if not found.any() else found
