"""Counts and probability vectors as a kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.baseline import Baseline
from veil.core.brief import card_rows, shaded_rows
from veil.core.errors import InvalidArgument, VeilError
from veil.core.job import Job
from veil.core.kind import Content, Places
from veil.core.random.streams import Rng
from veil.core.record import MOST_SHOWN, Release
from veil.vectors.array_kind import ArrayKind, numbered
from veil.vectors.averages import Averaged
from veil.vectors.counts import Contributions, Records
from veil.vectors.l1 import L1
from veil.vectors.released_counts import NOISY, NOISY_COUNTS, checked_tables
from veil.vectors.several import NOISY_COLUMN, NOISY_COLUMN_OF
from veil.vectors.simplex import Transfer

# Of several vectors in a notebook: entries of each.
_MOST_COLUMNS = 10


def _places(module: str, *names: str) -> dict[str, str]:
    return {name: f"veil.vectors.{module}:{name}" for name in names}


class VectorKind(ArrayKind):
    """Probability vectors, and counts of records, which are released as the shares that they make up."""

    name = "vector"
    module = "veil.vectors"
    description = "counts of records and probability vectors"
    mechanisms: ClassVar[Places] = {
        **_places("mechanisms.dirichlet", "Dirichlet"),
        **_places("mechanisms.dirichlet_counts", "DirichletCounts"),
        **_places("mechanisms.noisy_counts", "DiscreteGaussianCounts", "GeometricCounts"),
        **_places("mechanisms.additive", "Gaussian", "Laplace"),
    }
    domains: ClassVar[Places] = _places("counts", "Counts") | _places("simplex", "Simplex")
    adjacencies: ClassVar[Places] = {
        **_places("averages", "Averaged"),
        **_places("counts", "Contributions", "Records"),
        **_places("l1", "L1"),
        **_places("simplex", "Transfer"),
    }
    short_adjacencies: ClassVar[Any] = {
        "add-remove": lambda _: Records("add-remove"),
        "replace": lambda _: Records("replace"),
        "records:": lambda cap: Contributions(int(cap)),
        "transfer:": lambda mass: Transfer(float(mass)),
        "l1:": lambda distance: L1(float(distance)),
        "average": lambda _: Averaged.of(1),
        "average-transfer:": lambda mass: Averaged.of(1, Transfer(float(mass))),
        "average-l1:": lambda distance: Averaged.of(1, L1(float(distance))),
    }
    read_request = "veil.vectors.requests:VectorRead"
    release_request = "veil.vectors.requests:VectorRelease"
    plan_request = "veil.vectors.requests:VectorPlanning"
    audit_subject = "veil.vectors.auditing:VectorAudit"
    release_printer = "veil.vectors.report.console:print_vector_release"
    plans_figure = "veil.vectors.report.figures:curve_figure"
    rows_are_items = True
    row_name = "name"

    def draw(self, mechanism: Any, valid: Any, rng: Rng) -> Content:
        """Noisy counts are kept beside the shares that they make up: the guarantee is theirs."""
        if not isinstance(mechanism, NOISY_COUNTS):
            return super().draw(mechanism, valid, rng)
        noisy = mechanism.sample_noisy(valid, rng=rng)
        return Content(mechanism.to_vector(noisy), tables={NOISY: noisy})

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        from veil.vectors.findings import count_findings

        return count_findings(job) if isinstance(job.adjacency, (Records, Contributions)) else ()

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        held, tables = super().decode(content, mechanism), content.get("tables", {})
        return held if tables == {} else replace(held, tables=checked_tables(tables, mechanism, held.value))

    def room(self, job: Job[Any]) -> int:
        return super().room(job) * (2 if isinstance(job.mechanism, NOISY_COUNTS) else 1)

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        """Noisy counts are further columns."""
        header, lines = super().rows(release)
        if NOISY not in release.tables:
            return header, lines
        counts, labels = release.tables[NOISY], release.labels or numbered(release.value.shape[-1])
        beside = counts.reshape(-1, 1 if counts.ndim == 1 else len(labels)).tolist()
        names = [NOISY_COLUMN] if counts.ndim == 1 else [NOISY_COLUMN_OF.format(label) for label in labels]
        return [*header, *names], [[*line, *more] for line, more in zip(lines, beside, strict=True)]

    def check_drawn(self, mechanism: Any, array: Floats) -> None:
        if array.shape[-1] != mechanism.domain.size:
            expected = f"{mechanism.domain.size} entries, as the mechanism has"
            raise InvalidArgument("value", expected=expected, found=f"shape {array.shape}")

    def card(self, release: Release[Any]) -> str:
        """One vector with bars; of several a line for each of the first."""
        if release.value.ndim == 1:
            return super().card(release)
        from veil.vectors.report.panels import leading_entries

        size = release.value.shape[-1]
        rows = release.value.reshape(-1, size)
        columns, shares = leading_entries(rows, release.labels or numbered(size), _MOST_COLUMNS)
        names = (release.row_labels or numbered(len(rows)))[:MOST_SHOWN]
        more = f"and {len(rows) - MOST_SHOWN:,} more; " if len(rows) > MOST_SHOWN else ""
        return shaded_rows(columns, names, shares[:MOST_SHOWN]) + card_rows(
            (), [(f"{more}{self.size(release)}",)]
        )

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        return _baselines(release.mechanism, release.adjacency, release.value.shape[-1], release.records)

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        return _baselines(job.mechanism, job.adjacency, job.value.shape[-1], job.records)

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.vectors.report.page import vector_page

        return vector_page(release, plan)

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.vectors.report.views import vector_views

        return vector_views(release)

    def plot(self, release: Release[Any]) -> Any:
        from veil.vectors.report.page import release_figure

        return release_figure(release)


def _baselines(mechanism: Any, adjacency: Adjacency, size: int, records: int | None) -> tuple[Baseline, ...]:
    from veil.vectors.accuracy import (
        assumed_records,
        baseline_of,
        by_profile,
        errors_on_each,
        typical_values,
    )

    try:
        values = typical_values(adjacency, size, None, records)
        found = by_profile([errors.tv for errors in errors_on_each(mechanism, values)])
        return (baseline_of(values, found, assumed=assumed_records(adjacency, size, records)),)
    except VeilError:
        # A mechanism for some vectors only, such as those with a floor.
        return ()
