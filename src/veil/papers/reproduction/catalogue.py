"""The five papers."""

from __future__ import annotations

from veil.errors import InvalidArgument
from veil.papers.reproduction import dirichlet_simplex
from veil.papers.reproduction.exhibit import Paper

PAPERS: tuple[Paper, ...] = (dirichlet_simplex.PAPER,)


def papers_named(name: str | None) -> tuple[Paper, ...]:
    """One paper by its short name, or all."""
    if name is None:
        return PAPERS
    found = tuple(paper for paper in PAPERS if paper.key.lower() == name.lower())
    if not found:
        known = ", ".join(f"{paper.key} ({paper.title})" for paper in PAPERS)
        raise InvalidArgument("NAME", expected=f"one of {known}", found=repr(name)[:40])
    return found
