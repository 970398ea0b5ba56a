"""Domains by the name that their description carries."""

from __future__ import annotations

from typing import Any, Protocol

from veil.domains.counts import Counts
from veil.domains.simplex import Simplex
from veil.errors import InvalidArgument


class Domain(Protocol):
    """A set of values: `validate` raises, `in` derives from it."""

    @property
    def words(self) -> str: ...

    def validate(self, value: Any) -> Any: ...

    def describe(self) -> dict[str, Any]: ...


_KINDS: dict[str, type[Simplex] | type[Counts]] = {kind.name: kind for kind in (Simplex, Counts)}


def domain_from(description: dict[str, Any]) -> Simplex | Counts:
    """The domain that `describe` described."""
    fields = dict(description)
    name = fields.pop("name", None)
    if name not in _KINDS:
        raise InvalidArgument("domain", expected=f"one of {', '.join(_KINDS)}", found=repr(name))
    return _KINDS[name](**fields)
