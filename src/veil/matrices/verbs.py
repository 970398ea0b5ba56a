"""Read, plan and release stochastic matrices."""

from __future__ import annotations

from typing import Any

from veil.core.account import Account
from veil.core.arrays import Floats
from veil.core.intake import NamedMatrix
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.matrices.planning import MatrixPlan
from veil.matrices.requests import MatrixPlanning, MatrixRead, MatrixRelease


def read(source: Any) -> NamedMatrix:
    """Read a matrix of transitions or a policy, with the names of its rows and columns. It is sensitive data.

    source: a path, or "-" for standard input. CSV: rows of numbers, with a header and a first column of
        labels if it has any; or a list of transitions, a header such as from,to,probability over one
        transition in each line (the rest is zero). JSON: a list of rows, or {from: {to: probability}}. In
        memory: an array, a frame, a SciPy sparse array, a NetworkX digraph, a `veil.Chain`, or a mapping.

    >>> from veil import matrices
    >>> weather = matrices.read({"dry": {"dry": 0.9, "wet": 0.1}, "wet": {"dry": 0.5, "wet": 0.5}})
    >>> weather.rows, weather.entries.tolist()
    (('dry', 'wet'), [[0.9, 0.1], [0.5, 0.5]])
    """
    return MatrixRead(source=source).read()


def plan(
    *,
    epsilon: float,
    delta: float = 0.0,
    states: int | None = None,
    columns: int | None = None,
    rows: str | int = 1,
    transfer: float | None = None,
    l1: float | None = None,
    support: Any = None,
    typical: Any = None,
) -> MatrixPlan:
    """What to expect of each mechanism for a matrix, from public numbers alone.

    epsilon, delta: what the release may cost.
    states, columns: the size of the matrix; as many columns as states unless given.
    rows, transfer, l1: what is hidden, as in `release`.
    support: a public table of the entries that may be above zero, instead of states; or "zeros": those of the
        typical matrix.
    typical: a public matrix to plan for, as `read` takes it; rows of all kinds unless given.

    >>> from veil import matrices
    >>> plan = matrices.plan(states=10, transfer=0.01, epsilon=2.0)
    >>> plan.best.name, round(plan.best.row_tv, 2)
    ('laplace', 0.04)
    """
    return MatrixPlanning.given(locals()).plan()


def release(
    matrix: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    rows: str | int = 1,
    transfer: float | None = None,
    l1: float | None = None,
    support: Any = None,
    smooth: bool = True,
    floor: float | None = None,
    normalise: bool = False,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Floats]:
    """Release a private stochastic matrix: transitions, or a policy (states x actions).

    The matrix itself is the secret; by default one row of it is hidden.

    matrix: what `read` returned, or anything that it reads.
    epsilon, delta: what it may cost.
    mechanism: "auto" takes the one of least expected error of a row; or "dirichlet", "laplace", "gaussian".
    rows: how many rows may differ between neighbours; "all" for every row at once.
    transfer, l1: how much a changed row may differ: two entries exchange at most so much, or any entries
        change, by this L1 distance together. One of them is needed.
    support: the public places of the entries that may be above zero: a table (0 is never) in memory or in a
        file, or "zeros": the zeros of the matrix itself are public. All other entries stay zero.
    smooth, floor: of "dirichlet". smooth=False is the published form, which holds only for matrices none of
        whose entries is below the floor; with smoothing the floor is chosen for least error.
    normalise: divide each row by its sum first.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    >>> from veil import matrices
    >>> weather = {"dry": {"dry": 0.9, "wet": 0.1}, "wet": {"dry": 0.5, "wet": 0.5}}
    >>> out = matrices.release(weather, transfer=0.01, epsilon=2.0, rng=1)
    >>> out.labels, out.epsilon, out.mechanism.name, out.assumptions
    (('dry', 'wet'), 2.0, 'RowByRow', ('the list of states is public',))
    """
    request = MatrixRelease.given(locals())
    return run_with_warnings(request.prepare(matrix, rng=rng), ledger=ledger, rng=rng)
