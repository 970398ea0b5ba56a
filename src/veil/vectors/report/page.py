"""The report of a released vector: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.errors import VeilError
from veil.core.intake import Floats
from veil.core.privacy.beliefs import best_guess
from veil.core.published import Published
from veil.core.record import Release
from veil.report import figures
from veil.report.page import page
from veil.vectors.adjacency import Records, Transfer
from veil.vectors.comparison import Comparison, compare
from veil.vectors.error_bars import intervals
from veil.vectors.expected_errors import expected_errors
from veil.vectors.job import share_kept
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.report import figures as vector_figures
from veil.vectors.typical import assumed_records, typical_values

CONFIDENCE = 0.95
_CONFIDENT = "the true share, with 95 % confidence"
_SPOKEN = {
    "DirichletCounts": "Dirichlet",
    "GeometricCounts": "geometric",
    "DiscreteGaussianCounts": "discrete Gaussian",
}


@dataclass(frozen=True, slots=True)
class VectorReport:
    """All that the page shows, computed from the release alone."""

    release: Release
    labels: tuple[str, ...]
    bars: Floats | None
    bars_are: str
    published: Published | None
    comparison: Comparison
    kept: float

    @classmethod
    def of(cls, release: Release) -> VectorReport:
        """Post-processing: costs no privacy."""
        bars, bars_are = error_bars(release)
        value = release.value if release.value.ndim == 1 else release.value[0]
        return cls(
            release=release,
            labels=release.labels or tuple(f"entry {i}" for i in range(value.size)),
            bars=bars,
            bars_are=bars_are,
            published=published_beside(release),
            comparison=compare(
                None,
                release.adjacency,
                epsilon=release.epsilon,
                delta=release.delta,
                size=value.size,
                records=release.records,
            ),
            kept=share_kept(release.mechanism, release.records),
        )

    @property
    def mechanism_name(self) -> str:
        """The mechanism's name as people say it."""
        return _SPOKEN.get(self.release.mechanism.name, self.release.mechanism.name)

    @property
    def exact_bars(self) -> bool:
        """Whether the bars are confidence intervals for the true shares."""
        return self.bars_are == _CONFIDENT

    def html(self) -> str:
        """The page."""
        release = self.release
        value = release.value if release.value.ndim == 1 else release.value[0]
        best = self.comparison.rows[0]
        return page(
            "vector.html",
            report=self,
            release=release,
            rows=list(zip(self.labels, value, self.bars if self.bars is not None else value, strict=True)),
            factor=release.factor,
            assumed=assumed_records(release.adjacency, value.size, release.records),
            guess=best_guess(release.profile),
            vector=figures.svg(vector_figures.vector_figure(value, self.labels, self.bars, self.bars_are)),
            curve=figures.svg(
                figures.privacy_figure(
                    release.profile, epsilon=release.epsilon, delta=release.delta, published=self.published
                )
            ),
            mechanisms=figures.svg(vector_figures.comparison_figure(self.comparison)),
            names=vector_figures.NAMES,
            best=best,
            confidence=CONFIDENCE,
        )


def error_bars(release: Release) -> tuple[Floats | None, str]:
    """Confidence intervals where the mechanism allows them, else the typical error of each entry."""
    try:
        bars = intervals(release, confidence=CONFIDENCE)
        return (bars if bars.ndim == 2 else bars[0]), _CONFIDENT
    except VeilError:
        pass
    if release.value.ndim != 1:
        return None, ""
    size = release.value.size
    if isinstance(release.adjacency, Records) and release.records is None:
        return None, ""
    try:
        near = typical_values(release.adjacency, size, release.value, release.records)
        spread = np.array(expected_errors(release.mechanism, near).entries)
    except VeilError:
        return None, ""
    low, high = np.clip(release.value - spread, 0.0, 1.0), np.clip(release.value + spread, 0.0, 1.0)
    return np.stack([low, high], axis=-1), "the mean error of such a release"


def published_beside(release: Release) -> Published | None:
    """What the papers prove for the same release at the same delta, where they speak of it."""
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
