"""The five papers, each with its tables and figures."""

from __future__ import annotations

from veil.core.errors import InvalidArgument
from veil_papers.reproduction import (
    data_driven_chains,
    dirichlet_simplex,
    matrix_dirichlet,
    symbolic_trajectories,
    xor,
)
from veil_papers.reproduction.exhibit import Paper

PAPERS: tuple[Paper, ...] = (
    dirichlet_simplex.PAPER,
    matrix_dirichlet.PAPER,
    data_driven_chains.PAPER,
    symbolic_trajectories.PAPER,
    xor.PAPER,
)


def papers_named(name: str | None) -> tuple[Paper, ...]:
    """One paper by its name, such as "xor", or all."""
    if name is None:
        return PAPERS
    found = tuple(paper for paper in PAPERS if paper.name == name.lower())
    if not found:
        known = ", ".join(paper.name for paper in PAPERS)
        raise InvalidArgument("name", expected=f"one of {known}", found=repr(name)[:40])
    return found
