"""Stochastic matrices as a kind of data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.brief import card_rows, shaded_rows
from veil.core.checks import shown
from veil.core.errors import InvalidArgument, VeilError
from veil.core.intake import Labels
from veil.core.job import Job
from veil.core.kind import Places, exported
from veil.core.record import MOST_SHOWN, Release
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.chain import MOST_DENSE, Chain
from veil.matrices.chain_summary import to_chain
from veil.vectors.array_kind import ArrayKind, numbered
from veil.vectors.l1 import L1
from veil.vectors.simplex import Transfer

if TYPE_CHECKING:
    from veil.matrices.report.chain import ChainReport


class MatrixKind(ArrayKind):
    """Stochastic matrices: transitions, policies and stacks of them."""

    name = "matrix"
    module = "veil.matrices"
    description = "stochastic matrices: transitions and policies"
    built_on = ("vector",)
    mechanisms: ClassVar[Places] = exported(
        module, "BorderedRows", "DoublyStochastic", "MatrixDirichlet", "RowByRow"
    )
    domains: ClassVar[Places] = exported(module, "Birkhoff", "StochasticMatrix")
    adjacencies: ClassVar[Places] = exported(module, "Rectangle", "Rows")
    short_adjacencies: ClassVar[Any] = {
        "matrix-row:": lambda mass: Rows(1, Transfer(float(mass))),
        "matrix:": lambda mass: Rows("all", Transfer(float(mass))),
        "matrix-row-l1:": lambda distance: Rows(1, L1(float(distance))),
        "matrix-l1:": lambda distance: Rows("all", L1(float(distance))),
        "rectangle:": lambda mass: Rectangle(float(mass)),
    }
    read_request = "veil.matrices.requests:MatrixRead"
    release_request = "veil.matrices.requests:MatrixRelease"
    plan_request = "veil.matrices.requests:MatrixPlanning"
    commands: ClassVar[Places] = {"chain": "veil.matrices.commands:AnalyseChain"}
    audit_subject = "veil.matrices.auditing:MatrixAudit"
    release_printer = "veil.matrices.report.console:print_matrix_release"
    items = "rows"
    plans_figure = "veil.matrices.report.figures:plan_figure"

    def check_drawn(self, mechanism: Any, array: Floats) -> None:
        from veil.matrices.mechanisms.bordered_rows import BorderedRows
        from veil.matrices.stochastic import StochasticMatrix

        domain = mechanism.domain
        if isinstance(mechanism, BorderedRows):
            rows, columns = len(mechanism.k), mechanism.size
            if array.shape != (rows, columns):
                expected = f"{rows} rows of {columns} entries"
                raise InvalidArgument("value", expected=expected, found=f"shape {array.shape}")
        elif isinstance(domain, StochasticMatrix):
            domain.check_output(array)
        else:
            domain.validate(array)

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """Entries of 0 that the release does not show as such."""
        zeros = int((np.asarray(job.value) == 0.0).sum())
        if not zeros or job.request is None or job.request.support is not None:
            return ()
        return (
            f"{zeros:,} of {np.size(job.value):,} entries are 0, and will be above 0 in the release: "
            "{support} says which are impossible, if that is public",
        )

    # As chains

    def chain(self, release: Release[Any], group: str | None = None) -> Chain:
        """The released matrix as a Markov chain. group: of releases that have any, which one's."""
        self._check_group(group)
        return to_chain(release)

    def chain_report(self, release: Release[Any], group: str | None = None) -> ChainReport:
        """The report of the released matrix; of a chain with its analysis."""
        from veil.matrices.report.chain import ChainReport

        self._check_group(group)
        return ChainReport.of_release(release)

    @staticmethod
    def _check_group(group: str | None) -> None:
        if group is not None:
            expected = "none, since the release has no groups"
            raise InvalidArgument("group", expected=expected, found=shown(group))

    # Tables, words and pictures

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        if release.value.ndim != 2:
            return super().rows(release)
        return matrix_lines(release.value, release.row_labels, release.labels)

    def card(self, release: Release[Any]) -> str:
        if release.value.ndim != 2:
            return super().card(release)
        return matrix_card(release.value, release.row_labels, release.labels)

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        return _baselines(release.mechanism, release.value.shape)

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        return _baselines(job.mechanism, job.value.shape)

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        return self.chain_report(release).html()

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.matrices.report.views import matrix_views

        return matrix_views(release)

    def plot(self, release: Release[Any]) -> Any:
        return self.chain_report(release).figure()


def matrix_lines(
    matrix: Floats, row_labels: Labels | None, labels: Labels | None
) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """The header and the lines of a table whose first column names the rows."""
    names, columns = row_labels or numbered(len(matrix)), labels or numbered(matrix.shape[1])
    lines = [[name, *map(repr, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    return ["from", *columns], lines


def matrix_card(
    matrix: Floats, row_labels: Labels | None, labels: Labels | None, *, of: int | None = None
) -> str:
    """The rows of a small HTML table with shades; of a large matrix, where its first rows mostly lead.

    of: how many rows there are, where these are not all.
    """
    height, width = matrix.shape
    columns, names = labels or numbered(width), row_labels or numbered(height)
    if max(height, width) > MOST_SHOWN:
        best = matrix[:MOST_SHOWN].argmax(axis=1).tolist()
        return card_rows(
            ("from", "mostly to", "probability"),
            [(names[row], columns[to], f"{matrix[row, to]:.3f}") for row, to in enumerate(best)],
        ) + card_rows((), [(f"{of or height:,} rows of {width:,} entries",)])
    return shaded_rows(columns, names, matrix)


def chain_card(chain: Chain) -> str:
    """The rows of a small HTML table: of a large chain the most visited states, and where they lead."""
    if len(chain) <= MOST_SHOWN or len(chain) > MOST_DENSE or not chain.is_irreducible:
        names = tuple(map(str, chain.states))
        return matrix_card(chain.to_scipy()[:MOST_SHOWN].toarray(), names[:MOST_SHOWN], names, of=len(chain))
    shares, rows = chain.stationary(), chain.to_scipy()
    lines = []
    for place in (-shares).argsort(kind="stable")[:MOST_SHOWN].tolist():
        row = rows[[place]].toarray()[0]
        best = int(row.argmax())
        lines.append((chain.states[place], f"{shares[place]:.4f}", chain.states[best], f"{row[best]:.3f}"))
    header = ("state", "share of time", "mostly to", "probability")
    return card_rows(header, lines) + card_rows((), [(f"the first of {len(chain):,} states",)])


def _baselines(mechanism: Any, shape: tuple[int, ...]) -> tuple[Baseline, ...]:
    from veil.matrices.planning import baseline_of, measured, typical_matrices

    if len(shape) != 2:
        return ()
    support = np.ones(shape, dtype=bool)
    if (places := getattr(mechanism.domain, "support", None)) is not None:
        support[:] = False
        for row, columns in enumerate(places):
            support[row, list(columns)] = True
    matrices = typical_matrices(support)
    try:
        expected = measured("as released", mechanism, matrices).row_span
    except VeilError:
        # A mechanism for some matrices only, such as those with a floor.
        return ()
    return () if expected is None else (baseline_of(matrices, support, expected),)
