"""Counts of which records come, go or change: no pair is told apart better than is claimed."""

from __future__ import annotations

import pytest

from tests.neighbours.count_studies import COUNTS
from tests.neighbours.study import Study, searched


@searched(COUNTS)
def test_a_short_search(study: Study) -> None:
    study.run(3, starts=12, steps=12, short=True).close(least=0.4 * study.reach)


@pytest.mark.slow
@searched(COUNTS)
def test_a_long_search(study: Study) -> None:
    study.run(4, starts=100, steps=100).close(least=study.reach)
