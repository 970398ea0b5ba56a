"""The verb `release`: validate, reserve, draw, confirm."""

from __future__ import annotations

from typing import Any

from veil.core.account import Account, check_account
from veil.core.adjacency import Adjacency
from veil.core.job import Job
from veil.core.mechanism import Mechanism
from veil.core.record import Release


def release(
    mechanism: Mechanism,
    value: Any,
    *,
    adjacency: Adjacency | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Any]:
    """Draw a private version of the value with a mechanism, and record what it guarantees.

    The kinds of data have a `release` of their own, which chooses the mechanism.

    adjacency: what a neighbour is; None for the mechanism's own.
    delta: the failure probability at which epsilon is stated; None means 0, for mechanisms that have a
        finite epsilon there.
    epsilon: what the mechanism was built for, which is then charged as it stands; refused if it does not
        cover what the mechanism reveals. None charges the least that does.
    ledger: where the cost is charged, before anything is drawn.
    rng: None for cryptographic randomness; a seed or a Generator marks the release as not private.

    >>> import veil
    >>> from veil import vectors
    >>> mechanism = vectors.DirichletCounts(2.2, 100, 3)
    >>> out = veil.release(mechanism, [40, 35, 25], adjacency=vectors.Records(), delta=1e-6)
    >>> out.value.shape, round(out.epsilon, 3), out.assumptions
    ((3,), 0.996, ())
    """
    check_account(ledger)
    job: Job[Any] = Job.prepare(mechanism, value, adjacency=adjacency, delta=delta, epsilon=epsilon)
    return job.run(ledger=ledger, rng=rng)
