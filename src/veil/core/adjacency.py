"""Neighbours: the two inputs that a reader of a release must not be able to tell apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar


class Adjacency(ABC):
    """A relation between inputs, in words and as data. Kinds of data define theirs as frozen dataclasses."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """Who is a neighbour, in words."""

    @property
    def who(self) -> str:
        """Who is a neighbour, without what only matters to one release."""
        return self.words

    @property
    def reach(self) -> float:
        """What only matters to one release: the larger it is, the further its answers may be apart."""
        return 0.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a reader must accept of the data for such neighbours to be hidden."""
        return ()

    def describe(self) -> dict[str, Any]:
        """The name and the parameters, from which it can be built again."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        parts = {key: item.describe() if hasattr(item, "describe") else item for key, item in values.items()}
        return {"name": self.name, **parts}

    def covers(self, narrow: Adjacency) -> bool:
        """Whether all neighbours under the narrow relation are neighbours under this one.

        False where that is not certain.
        """
        return self == narrow

    def in_one_part(self) -> Adjacency | None:
        """What a part of the data sees where a record is replaced by one of another part; None if unknown."""
        return None
