"""The XOR paper (references.XOR): what it prints, its algorithms for graphs and blocks, and its errors.

Graphs, blocks and printed numbers by the letter, and what holds in their place. The mechanisms themselves are
`veil.bits.Xor`, `veil.bits.StaircaseXor` and `veil.bits.RandomizedResponse`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument
from veil.graphs.planning import checked_epsilon, checked_odds

Floats = NDArray[np.float64]
Table = NDArray[np.bool_]
# Far above the rounding of a handful of floating-point operations.
_ROUNDING = 2.0**-48


@dataclass(frozen=True, slots=True)
class NetworkStatistics:
    """A column of Table 2. None where the paper prints N/A: the released network is not connected."""

    edges: float
    diameter: int | None
    density: float
    path_length: float | None


# Table 2: {network: {mechanism: {epsilon: statistics}}}; "non-private" has the key inf.
TABLE_2: dict[str, dict[str, dict[float, NetworkStatistics]]] = {
    "Facebook": {
        "non-private": {math.inf: NetworkStatistics(0.88e5, 8, 0.011, 3.691)},
        "XOR": {
            1.0: NetworkStatistics(1.13e5, 5, 0.014, 2.70),
            0.6: NetworkStatistics(1.48e5, 4, 0.018, 2.44),
            0.2: NetworkStatistics(2.73e5, 4, 0.034, 2.12),
        },
        "Pygmalion": {
            1.0: NetworkStatistics(1.64e5, 4, 0.020, 2.34),
            0.6: NetworkStatistics(2.18e5, 4, 0.027, 2.28),
            0.2: NetworkStatistics(3.91e5, 3, 0.048, 2.04),
        },
        "PBCN": {
            1.0: NetworkStatistics(0.88e5, None, 0.011, None),
            0.6: NetworkStatistics(0.89e5, None, 0.012, None),
            0.2: NetworkStatistics(0.90e5, None, 0.013, None),
        },
        "LDPGen": {
            1.0: NetworkStatistics(1.22e5, 5, 0.015, 2.61),
            0.6: NetworkStatistics(1.74e5, 4, 0.021, 2.34),
            0.2: NetworkStatistics(2.87e5, 3, 0.035, 1.99),
        },
    },
    "Email": {
        "non-private": {math.inf: NetworkStatistics(1.606e4, 7, 0.0331, 2.584)},
        "XOR": {
            1.0: NetworkStatistics(1.572e4, 5, 0.0329, 2.565),
            0.6: NetworkStatistics(1.679e4, 3, 0.0348, 2.421),
            0.2: NetworkStatistics(3.911e4, 2, 0.0814, 1.922),
        },
        "Pygmalion": {
            1.0: NetworkStatistics(3.677e4, 3, 0.076, 1.922),
            0.6: NetworkStatistics(4.554e4, 3, 0.094, 1.877),
            0.2: NetworkStatistics(7.008e4, 2, 0.194, 1.803),
        },
        "PBCN": {
            1.0: NetworkStatistics(1.633e4, None, 0.0337, None),
            0.6: NetworkStatistics(1.647e4, None, 0.0334, None),
            0.2: NetworkStatistics(1.693e4, None, 0.0347, None),
        },
        "LDPGen": {
            1.0: NetworkStatistics(3.167e4, 3, 0.065, 2.058),
            0.6: NetworkStatistics(4.720e4, 3, 0.097, 1.930),
            0.2: NetworkStatistics(12.642e4, 2, 0.261, 1.738),
        },
    },
}
NODES = {"Facebook": 4039, "Email": 986}
# Section 7 and Figure 2: accuracy of logistic regression without privacy, training records, columns.
PLAIN_ACCURACY = {"Voting": 0.9744, "Cancer": 0.979}
TRAINING_SHAPE = {"Voting": (240, 16), "Cancer": (426, 30)}
# Figure 2, in the text: the square query error rate on Voting at epsilon = 0.5.
PRINTED_ERROR_RATE = 0.04
# Figure 3: KL divergence of degrees from an Erdős–Rényi graph's; inf is the network itself.
FIGURE_3 = {math.inf: 1.74, 0.8: 1.44, 0.3: 1.12, 0.01: 0.02}
# Figure 5: average F1 of the communities found without privacy.
PLAIN_F1 = {"Facebook": 0.53, "Email": 0.504}


def printed_leakage(zeta: float, epsilon: float) -> float:
    """Theorem 4 as printed: max(1 / (zeta e^eps + 1), zeta e^eps / (zeta e^eps + 1)).

    It is no bound: with prior odds of 0.01 it is 0.974 at epsilon = 1, where the prior alone knows 0.990.
    """
    odds = checked_odds(zeta) * math.exp(checked_epsilon(epsilon))
    return max(1.0 / (odds + 1.0), odds / (odds + 1.0))


def edges_of_plain_release(edges: float, pairs: float, epsilon: float) -> float:
    """Expected edges of a release of every pair by randomised response: M q + m (1 - 2q), q = 1/(1+e^eps)."""
    flip = 1.0 / (1.0 + math.exp(checked_epsilon(epsilon)))
    return pairs * flip + edges * (1.0 - 2.0 * flip)


def algorithm_3(adjacency: Any, noise: Any) -> Table:
    """Algorithm 3 for given noise: A xor B, AND with its transpose, without the diagonal."""
    given, bits = np.asarray(adjacency, dtype=np.bool_), np.asarray(noise, dtype=np.bool_)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or bits.shape != given.shape:
        raise InvalidArgument("noise", expected="two square matrices of one size", found=f"{bits.shape}")
    found = given ^ bits
    found &= found.T.copy()
    np.fill_diagonal(found, False)
    return found


def rates_after_and(flip_rate: float) -> tuple[float, float]:
    """Of Algorithm 3 with independent noise: how likely an edge is kept, and a pair without one shows one.

    An edge is two bits, which must both show: (1 - q)^2 and q^2. With q = 1 / (1 + e^{eps/2}), as a
    sensitivity of 2 asks for, their ratio is e^eps: randomised response for a pair, but a lopsided one.
    """
    return (1.0 - flip_rate) ** 2, flip_rate**2


def block_budgets(
    rows: int, columns: int, block_rows: int, block_columns: int, epsilon: float, *, by: str = "size"
) -> Floats:
    """The budget of every block of a table that is cut into blocks: [band of rows, band of columns].

    by="size" is Section 5.2, each block's part of the whole table. by="columns" gives a block its part of the
    columns: see `composed_loss` for why that is enough.
    """
    if min(rows, columns, block_rows, block_columns) < 1 or by not in ("size", "columns"):
        raise InvalidArgument("block_rows", expected="positive sizes; by size or columns", found=repr(by))
    high, wide = _bands(rows, block_rows), _bands(columns, block_columns)
    parts = np.outer(high / rows if by == "size" else np.ones(len(high)), wide / columns)
    return checked_epsilon(epsilon) * parts


def composed_loss(budgets: Floats, *, unit: str = "row") -> float:
    """What blocks released on their own cost together, each private at its budget.

    unit="row": neighbours differ in one record. Bands of rows are parallel: only the band that holds the
    record differs, so it is the largest over bands. Bands of columns add: every block of that band holds a
    part of the record, and the noises are independent, so their losses sum up. unit="bit": one entry
    changes, in one block: the largest budget. unit="edge": the paper's matrix with both triangles, the
    entries (i, j) and (j, i) change: two blocks that mirror each other, or one on the diagonal (made for two
    changes).

    So the paper's split by size costs epsilon times the largest band's part of the rows, and not epsilon: it
    wastes nearly a factor of the number of bands. The split by columns costs epsilon exactly. Rounded up.
    """
    table = np.asarray(budgets, dtype=np.float64)
    if unit == "row":
        found = float(table.sum(axis=1).max())
    elif unit == "bit":
        found = float(table.max())
    elif unit == "edge" and table.shape[0] == table.shape[1]:
        mirrored = table + table.T
        np.fill_diagonal(mirrored, table.diagonal())
        found = float(mirrored.max())
    else:
        raise InvalidArgument(
            "unit", expected="row, bit, or edge with as many bands each way", found=repr(unit)
        )
    return found * (1.0 + _ROUNDING)


def square_error_rate(flip_rate: float, rows: int, columns: int, ones: int) -> float:
    """Definition 6 in expectation: E|B|^2 / |f|^2 = N P q / (number of ones), q the mean flip rate.

    |B xor f - f|^2 is the number of flipped bits, whatever f is.
    """
    return flip_rate * rows * columns / ones


def largest_error_rate(rows: int, columns: int, ones: int) -> float:
    """Remark 2, at epsilon = 0: N P / (2 |f|^2), half of all bits."""
    return square_error_rate(0.5, rows, columns, ones)


def flip_rate_of_error(error_rate: float, rows: int, columns: int, ones: int) -> float:
    """The share of bits that a square query error rate says were flipped."""
    return error_rate * ones / (rows * columns)


def _bands(total: int, size: int) -> Floats:
    return np.diff(np.append(np.arange(0, total, size), total)).astype(np.float64)
