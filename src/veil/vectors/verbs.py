"""Read, plan and release counts and probability vectors."""

from __future__ import annotations

from typing import Any

from veil.core.account import Account
from veil.core.arrays import Floats
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.vectors.planning import Comparison, EpsilonPlan
from veil.vectors.reading import LabelledVector
from veil.vectors.requests import VectorPlanning, VectorRead, VectorRelease
from veil.vectors.several import LabelledVectors


def read(
    source: Any,
    *,
    label_column: str | None = None,
    value_column: str | None = None,
    unnamed: bool = False,
    row_column: str | None = None,
) -> LabelledVector | LabelledVectors:
    """Read counts or a probability vector, or several at once, with their labels. They are sensitive data.

    source: a path, or "-" for standard input. CSV: one number in each line, or a label and a number in each
        line, with or without a header; or a header of labels over one line of numbers. JSON: a list of
        numbers, or {label: number}. Parquet and JSON lines: a column of numbers, and one of labels. In
        memory: {label: number}, a Series, a list or an array, or a frame with such columns.
        Several vectors: a table with one row for each, whose first column names them, and a column for each
        label; JSON {name: {label: number}}; in memory also an array of rows, {name: {label: number}}, or a
        pandas frame of three or more columns of numbers, with the names in its index.
    label_column, value_column: the columns of the labels and of the numbers, where a table has more than two.
    row_column: the column that names the vectors, where it is not the first. With the other two, each line is
        one number instead, and what is left out is zero.
    unnamed: each line is one of several vectors, such as the shares of a person, and no column names them.

    >>> from veil import vectors
    >>> grades = vectors.read({"A": 31, "B": 28, "C": 21})
    >>> grades.labels
    ('A', 'B', 'C')
    >>> courses = vectors.read({"art": {"A": 31, "B": 28, "C": 21}, "law": {"A": 9, "B": 15, "C": 30}})
    >>> courses.values, courses.labels
    (((31.0, 28.0, 21.0), (9.0, 15.0, 30.0)), ('A', 'B', 'C'))
    """
    return VectorRead.given(locals()).read()


def plan(
    *,
    size: int,
    epsilon: float | None = None,
    delta: float = 0.0,
    records: int | None = None,
    transfer: float | None = None,
    l1: float | None = None,
    average: int | None = None,
    weights: Any = None,
    change: str | None = None,
    cap: int = 1,
    error: float | None = None,
    metric: str = "tv",
    confidence: float = 0.95,
    typical: Any = None,
) -> Comparison | EpsilonPlan:
    """What to expect of each mechanism for a vector of so many entries, from public numbers alone.

    epsilon, or error: with error the plan is the other way round, which epsilon keeps to it. metric: how the
        error is measured: "tv" (total variation), "l1", "sup" or "kl". confidence: how surely it is kept to.
    delta: the failure probability that the mechanisms may have.
    records, transfer, l1, average, weights, change, cap: what is secret, as in `release`.
    typical: a public vector to plan for, as `read` takes it; vectors of all kinds unless given.

    >>> from veil import vectors
    >>> vectors.plan(size=5, records=98, epsilon=1.0).best.name
    'geometric'
    >>> 0.5 < vectors.plan(size=5, records=1000, error=0.01).epsilon < 2.0
    True
    """
    return VectorPlanning.given(locals()).plan()


def release(
    values: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    records: int | None = None,
    transfer: float | None = None,
    l1: float | None = None,
    average: int | None = None,
    weights: Any = None,
    change: str | None = None,
    cap: int = 1,
    smooth: bool = True,
    floor: float | None = None,
    normalise: bool = False,
    exact: bool = True,
    draws: int | None = None,
    public_row_labels: bool = False,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Floats]:
    """Release a private probability vector, or several at once. By default the values are counts of
    records, of which one is added or removed.

    values: what `read` returned, or anything that it reads.
    epsilon, delta: what it may cost.
    mechanism: "auto" takes the one of least expected total variation; or "dirichlet", "geometric" or
        "discrete-gaussian" for counts, "dirichlet", "laplace" or "gaussian" for vectors.
    records: the values are counts or frequencies of so many records, which is public; one is replaced.
    transfer, l1: the vector itself is the secret; in a neighbour two entries exchange at most so much, or any
        entries change, by this L1 distance together.
    average: the values are so many vectors, one for each person and row, and their average is released. How
        many is public, one row is secret: it may change in any way, or as transfer or l1 says. weights: the
        average is weighted; one for each row, in their order or by their names, divided by their sum.
    change: of counts, whether one record is "replace"d or "add-remove"d, where that is not as above.
    cap: of counts, how many records one person has at most, in all vectors together; all are hidden. With 1,
        nobody may be in two of the vectors.
    smooth, floor: of "dirichlet" on vectors. smooth=False is the published form, which holds only for vectors
        none of whose entries is below the floor; with smoothing the floor is chosen for least error.
    normalise: divide the vector by its sum first.
    exact: draw so that nothing is left to the rounding of floats. With False, "dirichlet", "laplace" and
        "gaussian" draw floats, and the guarantee assumes real arithmetic. draws: "dirichlet" draws so often
        from an urn instead, in whole numbers.
    public_row_labels: the names of several vectors are public, as those of courses are, and kept in the
        release; they are left out otherwise.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    >>> from veil import vectors
    >>> out = vectors.release({"A": 31, "B": 28, "C": 21, "D": 10, "F": 8}, epsilon=1.0, rng=1)
    >>> out.labels, out.epsilon, out.mechanism.name, out.assumptions
    (('A', 'B', 'C', 'D', 'F'), 1.0, 'GeometricCounts', ())
    >>> day = {"ann": {"work": 0.5, "home": 0.5}, "bob": {"work": 0.2, "home": 0.8}}
    >>> out = vectors.release(day, average=2, epsilon=8.0, rng=1)
    >>> out.value.shape, out.labels, out.row_labels
    ((2,), ('home', 'work'), None)
    """
    request = VectorRelease.given(locals())
    return run_with_warnings(request.prepare(values, rng=rng), ledger=ledger, rng=rng)
