"""Domains: the sets of values that mechanisms take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from veil.core.errors import InvalidField


class Domain(ABC):
    """A set of values: `validate` raises, `in` derives from it."""

    __slots__ = ()
    name: ClassVar[str]
    # The kind of data that the values are, by its name in the registry.
    kind: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """What the values are, in words."""

    @abstractmethod
    def validate(self, value: Any) -> Any:
        """The value in the form that samplers take, or an error that names what is wrong."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The name and the parameters, from which it can be built again."""

    def __contains__(self, value: Any) -> bool:
        try:
            self.validate(value)
        except InvalidField:
            return False
        return True
