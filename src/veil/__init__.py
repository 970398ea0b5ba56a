"""Veil releases structured data under differential privacy, with guarantees that anyone can check.

Everything public is a name of this module; what is behind a name is imported when it is first used,
so that ``import veil`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from veil.version import __version__

if TYPE_CHECKING:
    from veil import errors
    from veil.analysis.audit import Audit, audit
    from veil.analysis.intervals import intervals
    from veil.domains.adjacency import Records, Transfer
    from veil.domains.counts import Counts
    from veil.domains.simplex import Simplex
    from veil.mechanisms.additive import Gaussian, Laplace
    from veil.mechanisms.base import Mechanism
    from veil.mechanisms.dirichlet import Dirichlet
    from veil.mechanisms.dirichlet_counts import DirichletCounts
    from veil.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
    from veil.privacy.calibrate import calibrate
    from veil.privacy.profile import PrivacyProfile
    from veil.releases.files import load
    from veil.releases.record import Release
    from veil.releases.release import release
    from veil.workflows.compare import Comparison, compare
    from veil.workflows.plan import least_epsilon
    from veil.workflows.vectors import calibrated

_PLACES = {
    "Audit": "analysis.audit",
    "Comparison": "workflows.compare",
    "Counts": "domains.counts",
    "Dirichlet": "mechanisms.dirichlet",
    "DirichletCounts": "mechanisms.dirichlet_counts",
    "DiscreteGaussianCounts": "mechanisms.noisy_counts",
    "Gaussian": "mechanisms.additive",
    "GeometricCounts": "mechanisms.noisy_counts",
    "Laplace": "mechanisms.additive",
    "Mechanism": "mechanisms.base",
    "PrivacyProfile": "privacy.profile",
    "Records": "domains.adjacency",
    "Release": "releases.record",
    "Simplex": "domains.simplex",
    "Transfer": "domains.adjacency",
    "audit": "analysis.audit",
    "calibrate": "privacy.calibrate",
    "calibrated": "workflows.vectors",
    "compare": "workflows.compare",
    "intervals": "analysis.intervals",
    "least_epsilon": "workflows.plan",
    "load": "releases.files",
    "release": "releases.release",
}

__all__ = [
    "Audit",
    "Comparison",
    "Counts",
    "Dirichlet",
    "DirichletCounts",
    "DiscreteGaussianCounts",
    "Gaussian",
    "GeometricCounts",
    "Laplace",
    "Mechanism",
    "PrivacyProfile",
    "Records",
    "Release",
    "Simplex",
    "Transfer",
    "__version__",
    "audit",
    "calibrate",
    "calibrated",
    "compare",
    "errors",
    "intervals",
    "least_epsilon",
    "load",
    "release",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("veil.errors")
    if name not in _PLACES:
        raise AttributeError(f"module 'veil' has no attribute {name!r}")
    value = getattr(import_module(f"veil.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
