"""Whether a release is worth anything: its error beside that of an answer that uses no data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veil.core.span import Span

# Under every picture and sentence about it.
NO_BETTER = "no better than knowing nothing"
# Errors are simulated: what is closer than this to an answer without data counts as no better.
_BETTER = 0.95


@dataclass(frozen=True, slots=True)
class Baseline:
    """One error of a release, and the same error of the best answer that uses no data at all.

    measure: what the error is of, such as "error of a row (total variation)". answer: that answer, such as
    "all entries equal". nothing: the error of that answer, on the same public values. expected: the error to
    expect of the release. also: on what other data the release is no better than that answer, in words.
    """

    measure: str
    answer: str
    nothing: float
    expected: float
    also: tuple[str, ...] = ()

    @classmethod
    def over(
        cls, measure: str, answer: str, nothing: Sequence[float], expected: Span, words: Sequence[str]
    ) -> Baseline:
        """Over several profiles of data, the usual one first. words: what each is."""
        lines = zip(words[1:], nothing[1:], expected.errors[1:], strict=True)
        also = tuple(profile for profile, without, error in lines if _is_useless(error, without))
        return cls(measure, answer, nothing[0], expected.usual, also)

    @property
    def useless(self) -> bool:
        """Whether the release is no better than the answer that uses no data, or by less than 5 %."""
        return _is_useless(self.expected, self.nothing)

    @property
    def words(self) -> str:
        """Both errors in a sentence, and in another one that the release is useless, where it is."""
        measure = self.measure[0].upper() + self.measure[1:]
        where = "" if self.useless else f" for {' or '.join(self.also)}"
        verdict = f": {NO_BETTER} at this epsilon{where}" if self.useless or self.also else ""
        return (
            f"{measure}: {_shown(self.expected)} to be expected, {_shown(self.nothing)} without any data "
            f"({self.answer}){verdict}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "measure": self.measure,
            "answer": self.answer,
            "error_of_the_answer": self.nothing,
            "expected_error": self.expected,
            "no_better_than_nothing": self.useless,
            "no_better_for": list(self.also),
        }


def _is_useless(expected: float, nothing: float) -> bool:
    return not expected < _BETTER * nothing


def _shown(error: float) -> str:
    return f"{error:,.0f}" if error >= 1000 else f"{error:.3g}"
