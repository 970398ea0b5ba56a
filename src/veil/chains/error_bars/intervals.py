"""Error bars for the true chain behind a release of counted transitions."""

from __future__ import annotations

from typing import Any

from veil.chains.error_bars.counted_chain_intervals import counted_bars
from veil.chains.error_bars.counted_rows import transitions_part
from veil.chains.error_bars.counted_transitions import counted_transitions
from veil.chains.released import mechanism_of
from veil.core.checks import integer, within
from veil.core.record import Release
from veil.matrices.chain_error_bars import ChainIntervals, matrix_chain_intervals
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.vectors.simplex import Simplex


def intervals(
    release: Release[Any],
    *,
    confidence: float = 0.95,
    records: int | None = None,
    draws: int | None = None,
) -> ChainIntervals:
    """Error bars for the true transitions and the true stationary distribution behind a released chain.

    What is true: the relative frequencies of the counted transitions. Each interval covers on its own
    (counted_chain_intervals.md).

    records: the public number of transitions, where the release does not state it. draws: how many plausible
    matrices are drawn for the published form; the others need none.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> bars = chains.intervals(chains.release(counts, epsilon=1.0, rng=1))
    >>> bars.transitions.shape, bars.stationary.shape
    ((2, 2, 2), (2, 2))
    """
    mechanism = mechanism_of(release)
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number between 0 and 1")
    hides = transitions_part(mechanism).mechanism
    if isinstance(hides, BorderedRows):
        # Without smoothing and with public k, its rows are those of a released matrix.
        rows = MatrixDirichlet(hides.k, Simplex(hides.size, floor=min(hides.floor)))
        return matrix_chain_intervals(rows, release.value, confidence=confidence, draws=draws)
    bars = counted_bars(release, confidence)
    known = release.records if records is None else integer("records", records, least=1)
    return ChainIntervals(
        estimate=bars.estimate,
        transitions=counted_transitions(mechanism, release.tables, confidence, records=known),
        stationary=bars.stationary,
        proved_stationary=bars.proved,
        confidence=confidence,
    )
