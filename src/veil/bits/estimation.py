"""What a released table of bits says of the true one: unbiased estimates, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.mechanisms.xor import Xor
from veil.bits.numerics import moments
from veil.bits.numerics.moments import BitEstimates, BitSignals
from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import within
from veil.core.errors import InvalidArgument
from veil.core.intake import Labels
from veil.core.record import Release, checked_release

# Columns of which all pairs are looked at, and rows below which no correlation means anything.
MOST_PAIRED, _FEWEST_ROWS = 300, 3


@dataclass(frozen=True)
class BitReading:
    """Estimates from a released table; all are about the noise, with the table taken as fixed.

    confidence: of the intervals. Each estimate has `.value`, `.variance`, `.normal()` (intervals for many
    records) and `.proved()` (always valid, wider).
    """

    table: Table
    signals: BitSignals
    labels: Labels
    confidence: float = 0.95

    __repr__ = brief_repr

    @property
    def rows(self) -> int:
        return len(self.table)

    @cached_property
    def column_sums(self) -> BitEstimates:
        """How many records have a one in each column."""
        return moments.column_sums(self.table, self.signals)

    @property
    def shares(self) -> tuple[Floats, Floats, Floats]:
        """The share of ones in each column, and its interval.

        Without bias, so that a share can be below 0 or above 1; `listed`, reports and plans keep it inside.
        """
        low, high = self.column_sums.normal(confidence=self.confidence)
        return self.column_sums.value / self.rows, low / self.rows, high / self.rows

    @property
    def listed(self) -> list[tuple[str, float, float, float]]:
        """Each column with its share, as far as it is one, and the interval."""
        share, low, high = self.shares
        inside = np.clip(share, 0.0, 1.0)
        return list(zip(self.labels, inside.tolist(), low.tolist(), high.tolist(), strict=True))

    @property
    def says_nothing(self) -> bool:
        """Whether every interval holds nearly everything."""
        _, low, high = self.shares
        return float((high - low).min()) > 0.9

    def pairs(self, pairs: Any = None) -> BitEstimates:
        """The 2 x 2 tables of pairs of columns: [pair, value of the first, value of the second]."""
        return moments.pair_tables(self.table, self.signals, pairs)

    @cached_property
    def entries(self) -> BitEstimates:
        """The table itself, in unbiased numbers, far outside 0 to 1."""
        return moments.entries(self.table, self.signals)

    @property
    def has_associations(self) -> bool:
        """Whether pairs of columns can be looked at: not too many, and something is left of them."""
        few = 2 <= self.signals.columns <= MOST_PAIRED
        return few and self.rows >= _FEWEST_ROWS and self.signals.pair != 0

    def associations(self) -> list[tuple[str, str, float, float]]:
        """Pairs of columns by how surely they go together: labels, phi, and its standard error.

        phi is the correlation of the two columns, with the shares of ones taken as they are estimated.
        """
        if not self.has_associations:
            return []
        first, second = np.triu_indices(self.signals.columns, 1)
        tables = self.pairs()
        share = np.clip(self.column_sums.value / self.rows, 1.0 / self.rows, 1.0 - 1.0 / self.rows)
        spread = np.sqrt(share * (1.0 - share))
        scale = self.rows * spread[first] * spread[second]
        together = tables.value[:, 1, 1] - self.rows * share[first] * share[second]
        # An estimate can leave what a correlation can be.
        phi = np.clip(together / scale, -1.0, 1.0)
        error = np.sqrt(tables.variance[:, 1, 1]) / scale
        order = np.argsort(-np.abs(phi) / error, kind="stable")
        return [
            (self.labels[first[i]], self.labels[second[i]], float(phi[i]), float(error[i]))
            for i in order.tolist()
        ]


def estimates(release: Release[Any], *, confidence: float = 0.95) -> BitReading:
    """Read a released table of bits: column sums, pairs of columns, and the table, without bias.

    >>> import numpy as np
    >>> from veil import bits
    >>> votes = np.random.default_rng(1).random((5000, 8)) < 0.3
    >>> reading = bits.estimates(bits.release(votes, epsilon=4.0, rng=2))
    >>> bool(abs(reading.shares[0] - votes.mean(axis=0)).max() < 0.05)
    True
    """
    confidence = within("confidence", confidence, 0.5, 0.9999, expected="a number between 0.5 and 0.9999")
    checked_release(release)
    if not isinstance(release.domain, Bits):
        raise InvalidArgument("release", expected="a table of bits", found=release.size)
    table = np.atleast_2d(release.value)
    signals = signals_of(release.mechanism, table.shape[1])
    labels = release.labels or tuple(f"column{i + 1}" for i in range(table.shape[1]))
    return BitReading(table, signals, labels, confidence)


def signals_of(mechanism: Any, columns: int) -> BitSignals:
    """What the noise of a mechanism leaves of bits and of pairs, where rows have noise of their own."""
    if isinstance(mechanism, StaircaseXor) and mechanism.rows is None:
        return BitSignals.staircase(columns, mechanism.epsilon, flips=mechanism.flips)
    if isinstance(mechanism, RandomizedResponse):
        return BitSignals.independent(columns, mechanism.flip_rate)
    if isinstance(mechanism, Xor) and mechanism.noise.multiples and mechanism.noise.rows_independent:
        return BitSignals.independent(columns, mechanism.flip_rate)
    raise InvalidArgument(
        "release",
        expected="noise that is alike in all columns, and independent between rows",
        found="other noise",
    )
