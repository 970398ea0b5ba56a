"""Suites of audits that must find a fault of floats which no other test sees, and nothing in exact code.

Each is the standard audit of one mechanism on the neighbours that it makes up itself, with fewer draws than
usual where these are enough. Seeds are fixed; a false alarm of a suite has a probability of at most 1e-9.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import veil
from veil.vectors import DirichletCounts, GeometricCounts, Laplace, Records, Simplex, Transfer

SEED = 12
# So small that a sum with 1 is 1: then what is added to an entry of 0 comes out as it is.
TINY = 2.0**-60


@dataclass(frozen=True)
class Suite:
    """A mechanism, made anew each time, and what must be said. exact: the same drawn in whole numbers."""

    mechanism: Callable[[], Any]
    adjacency: Any
    says: str
    exact: Callable[[], Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, mechanism: Any = None) -> veil.AuditSuite:
        chosen = self.mechanism() if mechanism is None else mechanism
        return veil.audit_suite(chosen, self.adjacency, **({"rng": SEED, "samples": 5_000} | self.options))


def plain(kind: Any, *arguments: Any, **options: Any) -> Any:
    """The form whose guarantee is that of real numbers, where a mechanism has several."""
    is_one_of_several = "exact" in inspect.signature(kind).parameters
    return kind(*arguments, **({"exact": False} if is_one_of_several else {}), **options)


# As many draws as an audit makes if no number is given.
_USUAL: dict[str, Any] = {"samples": None}
_BATCH = "another item of a batch"
_COUNTS = Suite(lambda: GeometricCounts(2.0, 3), Records(), "", lambda: GeometricCounts(2.0, 3))
_VECTORS = Suite(
    lambda: plain(Laplace, 0.1, Simplex(4)),
    Transfer(0.05),
    "entries 1 and 4",
    lambda: Laplace(0.1, Simplex(4)),
)


def _counts(says: str, **options: Any) -> Suite:
    return Suite(_COUNTS.mechanism, _COUNTS.adjacency, says, _COUNTS.exact, options)


def _dirichlet(says: str, adjacency: Any, *arguments: Any, **options: Any) -> Suite:
    return Suite(
        lambda: plain(DirichletCounts, *arguments),
        adjacency,
        says,
        lambda: DirichletCounts(*arguments, exact=True, draws=300),
        options,
    )


SUITES: dict[str, list[Suite]] = {
    "dirichlet-of-0.1": [
        # One count more, and all is drawn in another way: seen in the row itself, and in another row.
        _dirichlet("the only empty cell", Records(), 0.011, 0.19, 3, delta=1e-6),
        _dirichlet(_BATCH, Records(), 0.011, 0.19, 3, delta=1e-6),
        _dirichlet(_BATCH, Records("replace"), 0.011, 0.19, 3),
        Suite(
            lambda: plain(veil.vectors.Dirichlet, 2.2, Simplex(4, floor=0.08), smooth=True),
            Transfer(0.05),
            "one alone at the floor",
            lambda: veil.vectors.Dirichlet(2.2, Simplex(4, floor=0.08), smooth=True, exact=True, draws=300),
        ),
        # Shapes so large that gamma variables take few values: which, depends on the shape.
        _dirichlet("in cells of some hundreds", Records(), 48.0, 2.0**57, 3),
        _dirichlet("no other records", Records("replace"), 48.0, 2.0**57, 2),
    ],
    "laplace-of-0.1": [
        Suite(lambda: plain(Laplace, TINY, Simplex(3)), Transfer(TINY / 2), "at a corner"),
    ],
    "gaussian-of-0.1": [
        Suite(
            lambda: plain(veil.vectors.Gaussian, TINY, Simplex(3)),
            Transfer(TINY / 2),
            "at a corner",
            options=_USUAL,
        ),
    ],
    "noise-of-single-precision": [_VECTORS],
    "grid-around-the-value": [_VECTORS],
    "last-bit-tells-the-value": [_VECTORS],
    "noise-cut-off": [_counts("among large ones", **_USUAL)],
    "rounded-by-another-item": [_counts(_BATCH)],
    "words-of-another-item": [_counts("items of one batch share their noise")],
    # Without a seed, as in a release.
    "seeds-of-eight-bits": [
        Suite(
            _COUNTS.mechanism, Records(), "a stream was used again", options={"samples": 1_000, "rng": None}
        )
    ],
}
