"""One erratum: how grave it is, what a paper prints and where, what holds, and the code that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["wrong result", "wrong proof, right result", "imprecise", "typo", "code only"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Numbers = list[tuple[str, float | str]]


@dataclass(frozen=True, slots=True)
class Erratum:
    """What a paper says, and what holds.

    papers: the items that it is about, as "xor Theorem 4"; docs/papers.md has a row for each.
    says, holds: markdown.
    show: computes the counterexample, asserts that the claim fails and ours holds, and returns its numbers.
        Its source is printed on the page and runs there at top level, so it imports what it needs itself.
        None for small print alone.
    quote: the place as it is printed, in a few symbols or words.
    """

    severity: Severity
    title: str
    papers: tuple[str, ...]
    says: str
    holds: str
    show: Callable[[], Numbers] | None = None
    quote: str = ""
