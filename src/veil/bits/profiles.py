"""Public stand-ins for tables of bits, on which plans are made: what tables may be like, or a given one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veil.bits.domain import Table
from veil.core.arrays import Floats

_SEED = 67
# So many shares and 2 x 2 tables stand for all of a profile.
_SHARES, _TABLES = 50, 40
# More pairs of a given table than this are sampled.
_MOST_PAIRS = 100


@dataclass(frozen=True, eq=False)
class BitProfile:
    """What the columns of a table are like. shares: of ones; pairs: 2 x 2 tables of two columns, with sum 1.

    words: for people.
    """

    words: str
    shares: Floats
    pairs: Floats

    @classmethod
    def of(cls, table: Table) -> BitProfile:
        """That of a public table."""
        signs = np.asarray(table, dtype=np.float64)
        first, second = np.triu_indices(signs.shape[1], 1)
        if len(first) > _MOST_PAIRS:
            kept = np.sort(np.random.default_rng(_SEED).permutation(len(first))[:_MOST_PAIRS])
            first, second = first[kept], second[kept]
        sides = np.stack([1.0 - signs, signs])
        pairs = np.einsum("anp,bnp->pab", sides[:, :, first], sides[:, :, second]) / len(signs)
        return cls("the typical table that was given", signs.mean(axis=0), pairs)

    @property
    def no_share_error(self) -> float:
        """The mean absolute error of a half, the best answer that uses no data."""
        return float(np.abs(self.shares - 0.5).mean())

    @property
    def no_pair_error(self) -> float:
        """The mean total variation of a quarter in each cell, the best answer that uses no data."""
        return float(0.5 * np.abs(self.pairs.reshape(-1, 4) - 0.25).sum(axis=1).mean())


def _made_up() -> tuple[BitProfile, ...]:
    rng = np.random.default_rng(_SEED)
    places = (np.arange(_SHARES) + 0.5) / _SHARES
    anything = rng.dirichlet(np.ones(4), size=_TABLES).reshape(-1, 2, 2)
    even = 0.4 + 0.2 * rng.random((2, _TABLES))
    rare = 0.1 * rng.random((2, _TABLES))
    constant = np.array([[[1.0, 0.0], [0.0, 0.0]]])
    together = 0.5 * rng.random(_TABLES)
    alike = np.stack([np.stack([0.5 - together, together], -1), np.stack([together, 0.5 - together], -1)], -2)
    return (
        BitProfile("any shares of ones", places, anything),
        BitProfile("shares near a half", 0.4 + 0.2 * places, _independent(*even)),
        BitProfile("shares below 0.1", 0.1 * places, _independent(*rare)),
        BitProfile("columns that go together", np.full(_SHARES, 0.5), alike),
        BitProfile("columns with the same bit in every row", np.zeros(1), constant),
    )


def _independent(first: Floats, second: Floats) -> Floats:
    ones, others = np.stack([1.0 - first, first]), np.stack([1.0 - second, second])
    return np.asarray(np.einsum("ap,bp->pab", ones, others))


# The usual one first.
PROFILES = _made_up()
