"""Tables of bits, or graphs, that differ in a few bits."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from veil.core import checks
from veil.core.adjacency import Adjacency


@dataclass(frozen=True, slots=True)
class BitFlips(Adjacency):
    """At most `count` bits differ: anywhere in the table, or all within one row, somebody's record.

    In a graph a bit is a pair of nodes, so that one flip is one edge more or less.
    """

    count: int
    _: KW_ONLY
    where: str = "anywhere"
    name: ClassVar[str] = "BitFlips"

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", checks.integer("count", self.count, least=1))
        object.__setattr__(self, "where", checks.choice("where", self.where, ("anywhere", "row")))

    @property
    def words(self) -> str:
        if self.where == "row":
            bits = "one bit" if self.count == 1 else f"at most {self.count} bits"
            return f"two tables of the same, public size that differ in {bits} of one row"
        bits = "one bit" if self.count == 1 else f"at most {self.count} bits, anywhere"
        edges = "one edge" if self.count == 1 else "so many edges"
        return f"two tables of the same, public size that differ in {bits}; of a graph, in {edges}"

    def covers(self, narrow: Adjacency) -> bool:
        return (
            isinstance(narrow, BitFlips)
            and self.count >= narrow.count
            and (self.where == "anywhere" or narrow.where == "row")
        )
