"""Matrix-valued Bernoulli bits, P(b) proportional to exp(b' Pi b), by the best sampler for the parameters.

    columns    theta and Lambda diagonal: each column by its number of ones, then a uniform subset
    table      independent rows of at most 16 columns, or at most 16 cells in all: one exact choice
    coupling   couplings so weak that the past is proved to be forgotten soon: coupling from the past
    hmc        everything else: a Markov chain, and so only nearly the right law

The first three are exact: every comparison has the outcome that it has for the real numbers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.published_bounds import expected_ones_in_closed_form
from veil.bits.numerics.quadratic import Quadratic
from veil.bits.samplers.bernoulli_coupling import coalesces_fast, coalesces_in_trial, sample_by_coupling
from veil.bits.samplers.bernoulli_hmc import sample_by_hmc
from veil.bits.samplers.bernoulli_tables import EnclosedChoice, ones_of_column, table_weights
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng

Bits = NDArray[np.bool_]
Method = Literal["columns", "table", "coupling", "hmc"]
EXACT = ("columns", "table", "coupling")
METHODS = (*EXACT, "hmc")

# A table of 2^16 enclosures takes a second to make.
MOST_TABLED = 16
_CELLS_AT_A_TIME = 2**22


def method_for(quadratic: Quadratic) -> Method:
    """The sampler that "auto" takes. It depends on the parameters alone, never on a draw."""
    if quadratic.column_form is not None:
        return "columns"
    if _has_table(quadratic):
        return "table"
    return "coupling" if coalesces_fast(quadratic) or coalesces_in_trial(quadratic) else "hmc"


def _has_table(q: Quadratic) -> bool:
    return (q.columns if q.rows_independent else q.cells) <= MOST_TABLED


def sample_matrix_bernoulli(
    rng: Rng, *, quadratic: Quadratic, size: int, method: Method | Literal["auto"] = "auto"
) -> Bits:
    """So many independent tables, of shape (size, N, P)."""
    chosen = method_for(quadratic) if method == "auto" else method
    if chosen == "columns":
        return sample_by_columns(rng, quadratic=quadratic, size=size)
    if chosen == "table":
        return sample_by_table(rng, quadratic=quadratic, size=size)
    if chosen == "coupling":
        return sample_by_coupling(rng, quadratic=quadratic, size=size)
    if chosen == "hmc":
        return sample_by_hmc(rng, quadratic=quadratic, size=size)
    raise InvalidArgument("method", expected=", ".join(("auto", *METHODS)), found=repr(method))


def sample_by_columns(rng: Rng, *, quadratic: Quadratic, size: int) -> Bits:
    """Independent columns of alike rows: how many ones, then which rows have them."""
    form = quadratic.column_form
    if form is None:
        raise InvalidArgument("quadratic", expected="diagonal theta and coupling", found="others")
    rows, columns = quadratic.shape
    ones = np.empty((size, columns), dtype=np.int64)
    kinds, kind = np.unique(np.column_stack(form), axis=0, return_inverse=True)
    for which, (diagonal, between) in enumerate(kinds.tolist()):
        here = np.flatnonzero(kind.ravel() == which)
        choice = ones_of_column(rows, diagonal, between)
        ones[:, here] = choice.draw(rng, size * len(here)).reshape(size, len(here))
    drawn = np.arange(rows) < ones[..., None]
    # Every order of the rows is equally likely: whole numbers below a bound, drawn without rounding.
    rng.permuted(drawn, axis=-1, out=drawn)
    return np.ascontiguousarray(drawn.transpose(0, 2, 1))


def sample_by_table(rng: Rng, *, quadratic: Quadratic, size: int) -> Bits:
    """Row by row, or the whole table at once, by one exact choice among all."""
    if not _has_table(quadratic):
        raise InvalidArgument(
            "quadratic",
            expected=f"independent rows of at most {MOST_TABLED} columns, or at most {MOST_TABLED} cells",
            found=repr(quadratic),
        )
    rows, columns = quadratic.shape
    matrix = quadratic.theta if quadratic.rows_independent else quadratic.pi()
    choice = _choice(matrix.tobytes(), len(matrix))
    chosen = choice.draw(rng, size * (rows if quadratic.rows_independent else 1))
    bits = (chosen[:, None] >> np.arange(len(matrix)) & 1).astype(np.bool_)
    return bits.reshape(size, rows, columns)


def expected_ones(quadratic: Quadratic, *, rng: Rng | None = None, samples: int = 400) -> tuple[float, float]:
    """E |B|^2 and its error: 0 for a closed form, else the standard error of a Monte Carlo mean.

    The error leaves out that a Hamiltonian chain, where no exact sampler is known, is only near its law.
    """
    closed = expected_ones_in_closed_form(quadratic)
    if closed is not None:
        return closed, 0.0
    if rng is None:
        raise InvalidArgument("rng", expected="a generator: there is no closed form", found="None")
    if samples < 2:
        raise InvalidArgument("samples", expected="at least 2", found=str(samples))
    together = max(1, _CELLS_AT_A_TIME // quadratic.cells)
    sizes = [min(together, samples - begin) for begin in range(0, samples, together)]
    drawn = (sample_matrix_bernoulli(rng, quadratic=quadratic, size=size) for size in sizes)
    counts = np.concatenate([tables.sum(axis=(1, 2)) for tables in drawn]).astype(np.float64)
    return float(counts.mean()), float(counts.std(ddof=1)) / math.sqrt(samples)


@lru_cache(maxsize=8)
def _choice(entries: bytes, length: int) -> EnclosedChoice:
    matrix = np.frombuffer(entries).reshape(length, length)
    return EnclosedChoice(lambda bits: table_weights(matrix, bits))
