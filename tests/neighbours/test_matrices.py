"""Matrices of which rows change: no pair is told apart better than is claimed, and the worst is found."""

from __future__ import annotations

import pytest

from tests.neighbours.matrix_studies import MATRICES
from tests.neighbours.study import Study, searched


@pytest.mark.mostly_slow(quick=3)
@searched(MATRICES)
def test_a_short_search(study: Study) -> None:
    study.run(5, starts=10, steps=10, short=True).close(least=0.4 * study.reach)


@pytest.mark.slow
@searched(MATRICES)
def test_a_long_search(study: Study) -> None:
    study.run(6, starts=100, steps=250).close(least=study.reach)
