"""The parameters of matrix-valued Bernoulli bits: P(b) is proportional to exp(b' Pi b).

XOR paper, Definition 4 and Lemma 1.

b is a table of N rows and P columns of bits, read row by row. Pi has theta in its N diagonal blocks and
Lambda_ij in the block (i, j), Lambda_ji = Lambda_ij'. The energy b' Pi b is what the logarithm of the
probability is, but for a constant. Every entry is a float and stands for exactly that number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument

Pairs = Mapping[tuple[int, int], Floats]

# Beyond so many cells the dense Pi does not fit into memory comfortably.
MOST_DENSE = 4096
# Sums of all entries stay far from the largest float.
_LARGEST = 2.0**40
# Vectors of this size are made, though no matrix is: a file may name any number of columns.
_MOST_COLUMNS = 2**24
# A matrix has this many squared entries.
_MOST_DENSE_COLUMNS = 2**16


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Quadratic:
    """theta within each row; coupling between rows: none, one matrix for all pairs, or {(i, j): matrix}.

    A coupling that couples nothing becomes None, and pairs that are all alike become one matrix.
    pairs: the couplings of single pairs of rows i < j, if they are not all alike.
    """

    rows: int
    columns: int
    pairs: Pairs | None
    # Given instead of matrices, which are then made when they are needed.
    _multiples: tuple[float, float] | None

    def __init__(self, theta: Any, coupling: Any = None, *, rows: int) -> None:
        square = _symmetric("theta", _square("theta", theta))
        self.__dict__.update(
            rows=integer("rows", rows, least=1), columns=len(square), theta=square, _multiples=None
        )
        common, pairs = self._sorted_coupling(coupling)
        self.__dict__.update(common=common, pairs=pairs)

    @classmethod
    def exchangeable(cls, diagonal: float, between: float, *, rows: int, columns: int) -> Self:
        """theta = diagonal I and Lambda = between I for all pairs: no matrix is made before it is needed."""
        one = cls([[diagonal]], [[between]], rows=rows)
        if not 1 <= columns <= _MOST_COLUMNS:
            expected = f"at least 1 and at most {_MOST_COLUMNS:,}"
            raise InvalidArgument("columns", expected=expected, found=str(columns)[:40])
        multiples = float(diagonal), 0.0 if one.common is None else float(between)
        del one.__dict__["theta"], one.__dict__["common"]
        one.__dict__.update(columns=int(columns), _multiples=multiples)
        return one

    def _sorted_coupling(self, coupling: Any) -> tuple[Floats | None, Pairs | None]:
        if coupling is None or self.rows == 1:
            return None, None
        if isinstance(coupling, Mapping):
            pairs = {
                self._pair(key): self._block(f"coupling {key}", block) for key, block in coupling.items()
            }
            pairs = {pair: block for pair, block in sorted(pairs.items()) if block.any()}
            if not pairs:
                return None, None
            first = next(iter(pairs.values()))
            all_alike = len(pairs) == self.rows * (self.rows - 1) // 2 and np.array_equal(first, first.T)
            if not (all_alike and all(np.array_equal(first, block) for block in pairs.values())):
                return None, MappingProxyType(pairs)
            return first, None
        if not _matrix("coupling", coupling).any():
            return None, None
        return _symmetric("coupling", self._block("coupling", coupling)), None

    def _pair(self, key: Any) -> tuple[int, int]:
        try:
            i, j = (int(part) for part in key)
        except (TypeError, ValueError):
            i = j = -1
        if not 0 <= i < j < self.rows:
            raise InvalidArgument(
                "coupling",
                expected=f"pairs of rows (i, j) with 0 <= i < j < {self.rows}",
                found=repr(key),
                hint="The block (j, i) is the transpose of the block (i, j).",
            )
        return i, j

    def _block(self, name: str, matrix: Any) -> Floats:
        block = _square(name, matrix)
        if len(block) != self.columns:
            expected = f"{self.columns} x {self.columns} numbers"
            raise InvalidArgument(name, expected=expected, found=f"{len(block)} x {len(block)}")
        return block

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @cached_property
    def theta(self) -> Floats:
        assert self._multiples is not None
        return _frozen(self._multiples[0] * np.eye(self.columns))

    @cached_property
    def common(self) -> Floats | None:
        """The coupling of every pair of rows, if there is one for all."""
        assert self._multiples is not None
        return _frozen(self._multiples[1] * np.eye(self.columns)) if self._multiples[1] else None

    @property
    def coupling(self) -> Floats | Pairs | None:
        return self.common if self.pairs is None else self.pairs

    @property
    def rows_independent(self) -> bool:
        if self._multiples is not None:
            return not self._multiples[1]
        return self.common is None and self.pairs is None

    @cached_property
    def column_form(self) -> tuple[Floats, Floats] | None:
        """The diagonals of theta and of the coupling, if nothing else is in them.

        Then the columns are independent, and within a column all orders of the rows are equally likely.
        """
        if self._multiples is not None:
            diagonal, between = self._multiples
            return np.full(self.columns, diagonal), np.full(self.columns, between)
        if self.pairs is not None or not _is_diagonal(self.theta):
            return None
        if self.common is None:
            return self.theta.diagonal(), np.zeros(self.columns)
        return (self.theta.diagonal(), self.common.diagonal()) if _is_diagonal(self.common) else None

    @cached_property
    def multiples(self) -> tuple[float, float] | None:
        """(c, lambda) if theta = c I and Lambda = lambda I for all pairs (XOR paper, Algorithm 1)."""
        form = self.column_form
        if form is None or any((part != part[0]).any() for part in form):
            return None
        return float(form[0][0]), float(form[1][0])

    @cached_property
    def neighbours(self) -> Mapping[int, list[tuple[int, Floats]]]:
        """For each row those that it is coupled with by a block of their own, and the block seen from it."""
        blocks: dict[int, list[tuple[int, Floats]]] = defaultdict(list)
        for (i, j), block in (self.pairs or {}).items():
            blocks[i].append((j, block))
            blocks[j].append((i, block.T))
        return blocks

    def pi(self) -> Floats:
        """The whole matrix, for tables that are not too large."""
        if self.cells > MOST_DENSE:
            raise InvalidArgument(
                "quadratic", expected=f"at most {MOST_DENSE} cells for a dense matrix", found=str(self.cells)
            )
        common = self.common
        between = np.zeros_like(self.theta) if common is None else common
        blocks = np.kron(np.eye(self.rows), self.theta) + np.kron(1.0 - np.eye(self.rows), between)
        p = self.columns
        for (i, j), block in (self.pairs or {}).items():
            blocks[i * p : i * p + p, j * p : j * p + p] = block
            blocks[j * p : j * p + p, i * p : i * p + p] = block.T
        return np.asarray(blocks)

    def energy(self, bits: ArrayLike) -> Floats:
        """b' Pi b of each table in (..., N, P), rounded."""
        b = np.asarray(bits, dtype=np.float64)
        if b.shape[-2:] != self.shape:
            raise InvalidArgument("bits", expected=f"tables of shape {self.shape}", found=str(b.shape))
        if self._multiples is not None:
            diagonal, between = self._multiples
            ones = b.sum(axis=-2)
            return np.asarray(((diagonal - between) * ones + between * ones**2).sum(axis=-1))
        energy = ((b @ self.theta) * b).sum(axis=(-2, -1))
        if self.common is not None:
            ones = b.sum(axis=-2)
            energy += ((ones @ self.common) * ones).sum(axis=-1)
            energy -= ((b @ self.common) * b).sum(axis=(-2, -1))
        for (i, j), block in (self.pairs or {}).items():
            energy += 2.0 * ((b[..., i, :] @ block) * b[..., j, :]).sum(axis=-1)
        return np.asarray(energy)


def _matrix(name: str, value: Any) -> Floats:
    """The value as an array of its own; a single number is a matrix of one entry."""
    try:
        if (isinstance(value, Sized) and len(value) > _MOST_DENSE_COLUMNS) or np.iscomplexobj(value):
            raise TypeError
        with np.errstate(over="ignore"):
            matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        found = type(value).__name__
        raise InvalidArgument(name, expected="a square matrix of numbers", found=found) from None
    return matrix.reshape(1, 1) if matrix.size == 1 else matrix


def _square(name: str, value: Any) -> Floats:
    matrix = _matrix(name, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InvalidArgument(name, expected="a square matrix", found=f"an array of shape {matrix.shape}")
    if not (np.abs(matrix) <= _LARGEST).all():
        raise InvalidArgument(name, expected="entries of size 2^40 at most", found="others")
    return _frozen(matrix)


def _symmetric(name: str, matrix: Floats) -> Floats:
    if not np.array_equal(matrix, matrix.T):
        raise InvalidArgument(
            name, expected="a symmetric matrix", found="another", hint="Take (A + A.T) / 2: it does the same."
        )
    return matrix


def _is_diagonal(matrix: Floats) -> bool:
    return bool(np.count_nonzero(matrix) == np.count_nonzero(matrix.diagonal()))


def _frozen(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
