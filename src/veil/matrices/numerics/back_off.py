"""Sums over rows that are a few entries and a law that all rows share, without the n^2 entries."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Ints
from veil.core.errors import VeilError
from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.paths import Records, Walker

# Relative, in every entry.
_SETTLED = 1e-13
_MOST_ROUNDS = 3_000
# Transitions that all rounds together may visit: about a minute.
_MOST_WORK = 20_000_000_000
_AT_A_TIME = 65_536


def visits(likely: Any, law: Floats) -> Floats | None:
    """q (I - S)^-1 = q + q S + q S^2 + ...: how often each state is visited between two steps of the law.

    In proportion to the stationary distribution of S + b q'. All terms are positive, so every entry has a
    small relative error. None where the sum takes too long.
    """
    return _summed(likely.T.tocsr(), law)


def mean_steps(likely: Any, rest: Floats, law: Floats, target: int) -> Floats:
    """The mean number of steps to the target from each state of the chain S + b q'.

    h = 1 + S' h + b (q' h), where S' and q' have no steps to the target. So h = u + c v with
    u = (I - S')^-1 1 and v = (I - S')^-1 b, and c = q'u / (1 - q'v).
    """
    open_ways = likely.tocsc(copy=True)
    open_ways.data[open_ways.indptr[target] : open_ways.indptr[target + 1]] = 0.0
    ways, others = open_ways.tocsr(), law.copy()
    others[target] = 0.0
    found = [_summed(ways, start) for start in (np.ones(len(law)), rest)]
    if any(one is None for one in found):
        raise VeilError(
            "the hitting times did not settle: the law that all states share is hardly ever followed."
        )
    u, v = found
    # 1 - q'v is the chance of reaching the target before the law is followed again: not by subtraction.
    reach = _summed(ways, likely[:, [target]].toarray().ravel())
    assert u is not None
    assert v is not None
    assert reach is not None
    hit = float(law[target] + others @ reach)
    times = u + v * (float(others @ u) / hit)
    times[target] = 0.0
    return np.asarray(times)


def _summed(matrix: Any, start: Floats) -> Floats | None:
    """start + M start + M^2 start + ...: every entry to a small relative error, for M >= 0."""
    total, term = start.copy(), start
    rounds = min(_MOST_ROUNDS, max(50, _MOST_WORK // max(matrix.nnz, 1)))
    for _ in range(int(rounds)):
        term = matrix @ term
        total += term
        if not (term > _SETTLED * total).any():
            return total
    return None


class HubWalker(NamedTuple):
    """A chain whose hub is only passed through: paths do not show it.

    walker: of the chain with the hub as a state.
    """

    walker: Walker
    hub: int

    def paths(self, starts: NDArray[Any], steps: int, rng: np.random.Generator) -> Ints:
        """One path a start, as `Walker.paths`."""
        answer = np.empty((len(starts), steps + 1), dtype=np.int32)
        answer[:, 0] = starts
        together = min(len(starts), max(16, _AT_A_TIME // max(steps, 1)))
        for first in range(0, len(starts), max(together, 1)):
            walked = answer[first : first + together]
            length = max(1, _AT_A_TIME // len(walked))
            for done in range(0, steps, length):
                uniform = rng.random((min(length, steps - done), len(walked), 2))
                _walk_through(self.walker.rows, self.walker.cells, self.hub, uniform, walked[:, done:])
        return answer


@compiled
def _walk_through(rows: Records, cells: Records, hub: int, uniform: Floats, walked: Ints) -> None:
    """As a walk, but that a step to the hub goes on from there at once.

    uniform: two numbers for each step.
    """
    for step in range(uniform.shape[0]):
        for path in range(uniform.shape[1]):
            state = walked[path, step]
            for half in range(2):
                row = rows[state]
                place = uniform[step, path, half] * row["width"]
                cell = cells[row["first"] + np.int64(place)]
                state = cell["above"] if place >= cell["cut"] else cell["below"]
                if state != hub:
                    break
            walked[path, step + 1] = state


class Differences(NamedTuple):
    """Of each row of two chains: half the sum of absolute differences, and the divergence in nats."""

    total_variation: Floats
    divergence: Floats

    @classmethod
    def of(cls, one: tuple[Any, Floats, Floats], two: tuple[Any, Floats, Floats]) -> Self:
        """one, two: the likely steps, how much of each row follows the law, and the law.

        Where neither chain has a likely step, the two rows are b q_j and c r_j. Over all j, the sum of
        |b q_j - c r_j| depends on b and c alone: with the states in the order of q_j / r_j, those of a ratio
        above c / b count as b q_j - c r_j, and the others the other way round. Then the entries with a
        likely step are put in the place of what that sum has for them.
        """
        (first, b, q), (second, c, r) = one, two
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(r > 0.0, q / r, np.where(q > 0.0, np.inf, 0.0))
            order = np.argsort(ratio, kind="stable")
            above_q = np.append(np.cumsum(q[order][::-1])[::-1], 0.0)
            above_r = np.append(np.cumsum(r[order][::-1])[::-1], 0.0)
            cut = np.searchsorted(ratio[order], np.where(b > 0.0, c / b, np.inf), side="right")
        gap = 2.0 * (b * above_q[cut] - c * above_r[cut]) - (b - c)
        union = (abs(first) + abs(second)).tocoo()
        rows, columns = union.row, union.col
        p, s = (np.asarray(each[rows, columns]).ravel() for each in (first, second))
        common, other = b[rows] * q[columns], c[rows] * r[columns]
        changed = np.abs(p + common - s - other) - np.abs(common - other)
        gap += np.bincount(rows, changed, minlength=len(b))
        apart = _divergence(common, other)
        more = _divergence(p + common, s + other) - np.where(np.isinf(apart), 0.0, apart)
        base = _divergence_of_laws((b, q), (c, r), rows, columns)
        divergence = base + np.bincount(rows, more, minlength=len(b))
        return cls(0.5 * np.maximum(gap, 0.0), np.asarray(np.maximum(divergence, 0.0)))


def _divergence(p: Any, q: Any) -> Floats:
    """p log(p / q), entry by entry."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(p, q))


def _divergence_of_laws(
    one: tuple[Floats, Floats], two: tuple[Floats, Floats], rows: Ints, columns: Ints
) -> Floats:
    """Of b q from c r in each row, over the states where it is finite; infinite where others are left.

    rows, columns: the likely steps, whose states are counted apart.
    """
    (b, q), (c, r) = one, two
    lost = (q > 0.0) & (r == 0.0)
    finite = float(_divergence(np.where(lost, 0.0, q), np.where(lost, 1.0, r)).sum())
    both = (b > 0.0) & (c > 0.0)
    base = np.where(both, b * finite + _divergence(b, np.where(both, c, 1.0)) * float(q[~lost].sum()), 0.0)
    # States that the first law reaches and the second does not: no harm where they have a likely step.
    needed = np.where(b > 0.0, np.where(c > 0.0, int(lost.sum()), int((q > 0.0).sum())), 0)
    missed = (q[columns] > 0.0) & ((r[columns] == 0.0) | (c[rows] == 0.0))
    return np.where(np.bincount(rows, missed, minlength=len(b)) < needed, np.inf, base)
