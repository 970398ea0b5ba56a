"""The report of a released vector: one HTML file that needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import VeilError
from veil.core.mechanism import Published
from veil.core.privacy.profile import best_guess
from veil.core.record import Release
from veil.report import figures
from veil.report.page import page
from veil.vectors.accuracy import expected_errors, typical_values
from veil.vectors.array_kind import numbered
from veil.vectors.counts import Contributions, Records
from veil.vectors.error_bars import intervals
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.planning import CONFIDENCE, Comparison, compare
from veil.vectors.released_counts import NOISY, noisy_totals
from veil.vectors.report import figures as vector_figures
from veil.vectors.report.panels import panels_of
from veil.vectors.requests import share_kept
from veil.vectors.simplex import Transfer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Numbers of a batch on one page.
_MOST_CELLS = 20_000
_CONFIDENT = "the true share, with 95 % confidence"
_PLAIN_NAMES = {
    "DirichletCounts": "Dirichlet",
    "GeometricCounts": "geometric",
    "DiscreteGaussianCounts": "discrete Gaussian",
}


def vector_page(release: Release[Any], plan: Any = None) -> str:
    """The page, from the release alone: post-processing, which costs no privacy.

    plan: the comparison of mechanisms, where it is known.
    """
    value, labels, name = _first(release), _labels(release), release.mechanism.name
    epsilon, delta, records = release.epsilon, release.delta, release.records
    if not isinstance(plan, Comparison):
        plan = compare(
            None, release.adjacency, epsilon=epsilon, delta=delta, size=len(labels), records=records
        )
    bars, bars_are = error_bars(release)
    noisy = release.tables.get(NOISY)
    counts = None if noisy is None else noisy.reshape(-1, value.size)[0]
    published = published_beside(release)
    curve = figures.privacy_figure(release.profile, epsilon=epsilon, delta=delta, published=published)
    return page(
        "vector.html",
        package="veil.vectors.report",
        release=release,
        mechanism_name=_PLAIN_NAMES.get(name, name),
        rows=list(zip(labels, value, _or(bars, value), _or(counts, value), strict=True)),
        counts=counts,
        several=_several(release, release.value),
        several_counts=[] if noisy is None else _several(release, noisy),
        number=release.value.size // value.size,
        bars=bars,
        bars_are=bars_are,
        exact_bars=bars_are == _CONFIDENT,
        kept=share_kept(release.mechanism, records),
        published=published,
        factor=release.factor,
        assumed=plan.assumed,
        over=plan.over,
        guess=best_guess(release.profile),
        **_picture(release, labels, (bars, bars_are)),
        curve=figures.svg(curve),
        mechanisms=figures.svg(vector_figures.comparison_figure(plan)),
        names=vector_figures.NAMES,
        best=plan.rows[0],
    )


def _picture(
    release: Release[Any], labels: tuple[str, ...], bars: tuple[Floats | None, str]
) -> dict[str, Any]:
    """One vector with its error bars; of a batch a panel for each."""
    if release.value.ndim == 1:
        return {"vector": figures.svg(vector_figures.vector_figure(release.value, labels, *bars))}
    rows = release.value.reshape(-1, len(labels))
    names, totals = release.row_labels or numbered(len(rows)), noisy_totals(release)
    return {"panels": panels_of(rows, names, labels, None if totals is None else totals.tolist())}


def _or(column: Any, other: Any) -> Any:
    """A column of the table of numbers, or another in its place, which the page leaves out."""
    return other if column is None else column


def _several(release: Release[Any], numbers: Any) -> list[tuple[str, list[float]]]:
    """The rows of a batch with their names, as many as a page holds; none of one vector."""
    if numbers.ndim == 1:
        return []
    rows = numbers.reshape(-1, numbers.shape[-1])
    names = release.row_labels or numbered(len(rows))
    return list(zip(names, rows.tolist(), strict=True))[: max(1, _MOST_CELLS // rows.shape[1])]


def release_figure(release: Release[Any]) -> Figure:
    """The released vector, with error bars where there are any; of a batch a panel for each of the first."""
    labels = _labels(release)
    if release.value.ndim == 1:
        return vector_figures.vector_figure(release.value, labels, *error_bars(release))
    rows = release.value.reshape(-1, len(labels))
    return vector_figures.panels_figure(rows, release.row_labels or numbered(len(rows)), labels)


def _first(release: Release[Any]) -> Floats:
    vector: Floats = release.value.reshape(-1, release.value.shape[-1])[0]
    return vector


def _labels(release: Release[Any]) -> tuple[str, ...]:
    return release.labels or tuple(f"entry {i}" for i in range(release.value.shape[-1]))


def error_bars(release: Release[Any]) -> tuple[Floats | None, str]:
    """Confidence intervals where the mechanism allows them, or the typical error of each entry.

    With what they are; of a batch for its first vector.
    """
    size = release.value.shape[-1]
    try:
        return intervals(release, confidence=CONFIDENCE).reshape(-1, size, 2)[0], _CONFIDENT
    except VeilError:
        pass
    counted = isinstance(release.adjacency, (Records, Contributions))
    if release.value.ndim != 1 or (counted and release.records is None):
        return None, ""
    try:
        near = typical_values(release.adjacency, size, release.value, release.records)
        spread = np.array(expected_errors(release.mechanism, near).entries)
    except VeilError:
        return None, ""
    low, high = np.clip(release.value - spread, 0.0, 1.0), np.clip(release.value + spread, 0.0, 1.0)
    return np.stack([low, high], axis=-1), "the mean error of such a release"


def published_beside(release: Release[Any]) -> Published | None:
    """What the papers prove for the same release at the same delta, where they cover it."""
    mechanism: Any = release.mechanism
    try:
        if isinstance(mechanism, Dirichlet):
            return mechanism.published(release.adjacency, delta=release.delta)
        if isinstance(mechanism, DirichletCounts) and release.records is not None:
            replaced = release.adjacency == Records("replace")
            same, moved = mechanism.as_dirichlet(release.records)
            return same.published(Transfer(moved), delta=release.delta) if replaced else None
    except VeilError:
        return None
    return None
