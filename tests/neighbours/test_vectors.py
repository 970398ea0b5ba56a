"""Vectors whose entries exchange mass: no pair is told apart better than claimed, and the worst is found."""

from __future__ import annotations

import pytest

from tests.neighbours.study import Study, searched
from tests.neighbours.vector_studies import VECTORS


@searched(VECTORS)
def test_a_short_search(study: Study) -> None:
    study.run(1, starts=15, steps=15, short=True).close(least=0.5 * study.reach)


@pytest.mark.slow
@searched(VECTORS)
def test_a_long_search(study: Study) -> None:
    study.run(2, starts=120, steps=120).close(least=study.reach)
