"""What the papers' exhibits come to, computed once: by one worker, for the tests of each paper and of all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from veil_papers.reproduction.exhibit import Paper, Run
from veil_papers.reproduction.finding import Finding
from veil_papers.reproduction.runner import run_all

Findings = Callable[[Paper], dict[str, Finding]]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where results are kept; what is there is not computed again."""
    return tmp_path_factory.mktemp("papers")


@pytest.fixture(scope="session")
def findings_of(results: Path) -> Findings:
    """The findings of a paper by the names of its exhibits: quick, without any data."""
    return lambda paper: {one.exhibit.name: one.finding for one in run_all([paper], Run(), results)}
