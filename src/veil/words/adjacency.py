"""Words that differ in a few symbols."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from veil.core import checks
from veil.core.adjacency import Adjacency

ONE_WORD_EACH = (
    "nobody has two of the words: hidden is the stated change of one word, not that somebody has one"
)
# Beyond the length of any word, and the words of any person.
_MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Hamming(Adjacency):
    """Two feasible words of the same length differ in at most `radius` symbols.

    words_each: of how many words of one person that may be so at once.
    """

    radius: int
    _: KW_ONLY
    words_each: int = 1
    name: ClassVar[str] = "Hamming"

    def __post_init__(self) -> None:
        for name in ("radius", "words_each"):
            number = checks.integer(name, getattr(self, name), least=1, most=_MOST)
            object.__setattr__(self, name, number)

    @property
    def words(self) -> str:
        symbols = "one symbol" if self.radius == 1 else f"at most {self.radius} symbols"
        if self.words_each == 1:
            return f"two feasible words of the same length differ in {symbols}"
        return f"up to {self.words_each} words of one person differ in {symbols} each"

    def covers(self, narrow: Adjacency) -> bool:
        return (
            isinstance(narrow, Hamming)
            and self.radius >= narrow.radius
            and self.words_each >= narrow.words_each
        )
