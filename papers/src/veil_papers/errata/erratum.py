"""One erratum: what a paper claims, what is true instead, and the code that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Chapter = Literal["vectors", "chains", "words", "bits"]
Numbers = list[tuple[str, float | str]]


@dataclass(frozen=True, slots=True)
class Erratum:
    """What a paper claims, and what holds.

    papers: the items that it is about, as "xor Theorem 4"; docs/papers.md has a row for each.
    says, holds: markdown.
    show: computes the counterexample, asserts that the claim fails and ours holds, and returns its numbers.
        Its source is printed on the page and runs there at top level, so it imports what it needs itself.
        None for small print alone.
    """

    chapter: Chapter
    title: str
    papers: tuple[str, ...]
    says: str
    holds: str
    show: Callable[[], Numbers] | None = None
