"""Assumptions are complete: what a guarantee uses of its domain is listed, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.contracts.cases import CASES
from veil.core.audit.suite import audit_examples
from veil.core.errors import NoGuarantee
from veil.core.kind import every_kind
from veil.core.mechanism import REAL_ARITHMETIC, UNPROTECTED
from veil.matrices.adjacency import Rows
from veil.matrices.mechanisms.bordered_rows import SIZES_ARE_PUBLIC, BorderedRows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.matrices.stochastic import ZEROS_ARE_PUBLIC
from veil.vectors.counts import Records
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.simplex import Simplex, Transfer

EPSILONS = np.array([0.0, 0.1, 1.0, 5.0])
FLOOR_WORDS, SLACK_WORDS = "of its neighbours is at least", "of the mass lies outside"

SIMPLICES = [
    Simplex(size, floor=floor, protected=protected, slack=slack)
    for size, floor, protected, slack in product(
        (2, 5), (0.0, 0.05, 0.12), (None, (0, 1), (0, 1, 3)), (None, 0.1, 0.6)
    )
    if (protected is not None and max(protected) < size and len(protected) < size)
    or (protected is None and slack is None)
]


def mechanisms(simplex: Simplex) -> list[Any]:
    made: list[Any] = [
        Dirichlet(20.0, simplex, smooth=smooth, exact=exact)
        for smooth in (False, True)
        for exact in (False, True)
    ]
    made += [kind(0.1, simplex, exact=exact) for kind in (Laplace, Gaussian) for exact in (False, True)]
    return made


def curve(mechanism: Any, adjacency: Any) -> list[float] | None:
    """The printed delta at a few epsilons; None if there is no guarantee at all."""
    try:
        profile = mechanism.profile(adjacency)
        return [profile.delta(float(epsilon)) for epsilon in EPSILONS]
    except NoGuarantee:
        return None


def listed(mechanism: Any, adjacency: Any, words: str) -> bool:
    return any(words in text for text in mechanism.assumptions(adjacency))


@pytest.mark.mostly_slow(quick=9)
@pytest.mark.parametrize("mass", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("simplex", SIMPLICES, ids=lambda simplex: simplex.words)
def test_borders_of_vectors_are_listed_where_they_matter(simplex: Simplex, mass: float) -> None:
    near = Transfer(mass)
    for mechanism in mechanisms(simplex):
        guarantee = curve(mechanism, near)
        if guarantee is None:
            continue
        is_smooth = getattr(mechanism, "smooth", False)
        # Smoothing takes vectors below the floor, so the floor is a parameter and no border.
        if simplex.floor > 0.0 and not is_smooth:
            without = curve(replace(mechanism, domain=replace(simplex, floor=0.0)), near)
            assert listed(mechanism, near, FLOOR_WORDS) == (without != guarantee)
        else:
            assert not listed(mechanism, near, FLOOR_WORDS)
        if simplex.slack:
            without = curve(replace(mechanism, domain=replace(simplex, slack=None)), near)
            assert listed(mechanism, near, SLACK_WORDS) == (without != guarantee)
        else:
            assert not listed(mechanism, near, SLACK_WORDS)
        assert (UNPROTECTED in mechanism.assumptions(near)) == (simplex.protected is not None)
        assert (REAL_ARITHMETIC in mechanism.assumptions(near)) == (not mechanism.exact)
        # Nothing is listed beside these.
        known = (FLOOR_WORDS, SLACK_WORDS, UNPROTECTED, REAL_ARITHMETIC)
        assert all(any(words in text for words in known) for text in mechanism.assumptions(near))


@pytest.mark.slow
def test_both_answers_occur() -> None:
    """The walk above would pass if borders never mattered, or always did."""
    seen = set()
    for simplex, mass in product(SIMPLICES, (0.01, 1.0)):
        for mechanism in mechanisms(simplex):
            if simplex.slack and curve(mechanism, Transfer(mass)) is not None:
                seen.add(("slack", listed(mechanism, Transfer(mass), SLACK_WORDS)))
            if simplex.floor and not isinstance(mechanism, Dirichlet):
                seen.add(("floor", listed(mechanism, Transfer(mass), FLOOR_WORDS)))
    assert seen == set(product(("floor", "slack"), (True, False)))


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("slack", [None, 0.1, 0.6])
@pytest.mark.parametrize("mass", [0.01, 0.8])
def test_borders_of_matrices_are_listed_where_they_matter(
    smooth: bool, slack: float | None, mass: float
) -> None:
    near = Rows(1, Transfer(mass))
    protected = None if slack is None else (0, 1)
    simplex = Simplex(4, floor=0.05, protected=protected, slack=slack)
    mechanism = MatrixDirichlet(30.0, [simplex] * 3, smooth=smooth)
    assert listed(mechanism, near, FLOOR_WORDS) == (not smooth)
    if slack is None:
        assert not listed(mechanism, near, "the stated mass lies outside")
        return
    without = MatrixDirichlet(30.0, [replace(simplex, slack=None)] * 3, smooth=smooth)
    assert listed(mechanism, near, "the stated mass lies outside") == (
        curve(without, near) != curve(mechanism, near)
    )
    assert UNPROTECTED in mechanism.assumptions(near)


def test_the_support_is_public_where_there_is_one() -> None:
    support = [[0, 1], [1, 2], [0, 1, 2]]
    near = Rows(1, Transfer(0.05))
    for mechanism in (
        MatrixDirichlet(30.0, Simplex(3, floor=0.05), support=support, smooth=True),
        RowByRow(Laplace(0.1, Simplex(3)), support=support),
    ):
        assert mechanism.assumptions(near) == (ZEROS_ARE_PUBLIC,)
        full = replace(mechanism, support=None)
        assert full.assumptions(near) == ()
        # Without it, entries off the support are taken, and hidden.
        with pytest.raises(Exception, match="zeros outside the support"):
            mechanism.validate(np.full((3, 3), 1 / 3))
        assert full.validate(np.full((3, 3), 1 / 3)).shape == (3, 3)


def test_the_published_form_of_counts_lists_its_floor_and_sizes() -> None:
    mechanism = BorderedRows([20.0, 20.0], [0.1, 0.1], [50, 60], size=3)
    assumed = mechanism.assumptions(Records("replace"))
    assert len(assumed) == 2
    assert SIZES_ARE_PUBLIC in assumed
    lower = BorderedRows([20.0, 20.0], [0.05, 0.05], [50, 60], size=3)
    assert curve(lower, Records("replace")) != curve(mechanism, Records("replace"))
    assert REAL_ARITHMETIC in replace(mechanism, exact=False).assumptions(Records("replace"))


# What a description of a domain may hold. A new field must be put on one of these lists: it is structure that
# the adjacency takes as public (how many entries, states, columns), or a border that a guarantee may use.
STRUCTURE = {"name", "size", "states", "length", "symbols", "columns", "rows", "start", "domains"}
STRUCTURE |= {"places", "longest"}
BORDERS = {
    "floor": FLOOR_WORDS,
    "slack": SLACK_WORDS,
    "protected": UNPROTECTED,
    "support": "public",
    "chosen_from_data": "was chosen by looking at the matrix",
    "automaton": "public",
}


def every_example() -> list[tuple[Any, Any]]:
    return [*audit_examples(), *((case.mechanism, case.adjacency) for case in CASES)]


def test_every_mechanism_is_walked() -> None:
    known = {name for kind in every_kind() for name in kind.mechanisms}
    assert {mechanism.name for mechanism, _ in every_example()} >= known


@pytest.mark.parametrize(
    ("mechanism", "adjacency"), every_example(), ids=lambda item: getattr(item, "name", str(item))
)
def test_no_border_of_any_domain_goes_unlisted(mechanism: Any, adjacency: Any) -> None:
    near = mechanism.adjacency if adjacency is None else adjacency
    described = mechanism.domain.describe()
    assert set(described) <= STRUCTURE | set(BORDERS), "a new field of a domain: structure or border?"
    assumed = mechanism.assumptions(near)
    for field in ("support", "protected", "automaton"):
        if described.get(field):
            assert any(BORDERS[field] in text for text in assumed)
