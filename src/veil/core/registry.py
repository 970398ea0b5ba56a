"""Mechanisms, domains and adjacencies by the names that their descriptions carry.

A name belongs to a kind of data: two kinds may use the same one. A name never changes its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.checks import shown
from veil.core.domain import Domain
from veil.core.errors import InvalidArgument, VeilError
from veil.core.kind import Kind, at
from veil.core.kinds import every_kind, kind_named
from veil.core.mechanism import Mechanism

_NEWER = "A newer Veil may know it."


def mechanism_from(description: Any, kind: Kind) -> Mechanism:
    """The mechanism of this kind, or of one that it is built on, that `describe` described."""
    if not isinstance(description, dict) or not isinstance(description.get("parameters"), dict):
        raise InvalidArgument("mechanism", expected="a name and parameters", found="something else")
    name = description.get("name")
    places = _places(kind, "mechanisms")
    if name not in places:
        expected = f"one of {', '.join(places)}"
        raise InvalidArgument("mechanism.name", expected=expected, found=shown(name), hint=_NEWER)
    made = at(places[name])
    rebuild: Callable[..., Mechanism] = getattr(made, "rebuilt", made)
    parameters = {key: _rebuilt(item, kind) for key, item in description["parameters"].items()}
    try:
        return rebuild(**parameters)
    except TypeError as error:
        if isinstance(error, VeilError):
            raise
        raise InvalidArgument(
            "mechanism.parameters", expected=f"those of {name}", found=", ".join(map(str, parameters))[:80]
        ) from None


def _rebuilt(item: Any, kind: Kind) -> Any:
    """A parameter as the constructor takes it: mechanisms and domains in the place of their descriptions."""
    if isinstance(item, list):
        return [_rebuilt(one, kind) for one in item]
    if not isinstance(item, dict) or "name" not in item:
        return item
    return mechanism_from(item, kind) if "parameters" in item else domain_from(item, kind)


def domain_from(description: dict[str, Any], kind: Kind) -> Domain:
    """The domain of this kind, or of one that it is built on, that `describe` described."""
    places = _places(kind, "domains")
    made: Domain = _made("domain", description, places)
    return made


def adjacency_from(description: dict[str, Any], kind: Kind | None = None) -> Adjacency:
    """The adjacency that `describe` described: of this kind, or of any where none is given."""
    kinds = every_kind() if kind is None else (kind,)
    places = {name: place for one in kinds for name, place in _places(one, "adjacencies").items()}
    fields = {key: item for key, item in description.items() if key != "words"}
    made: Adjacency = _made("adjacency", fields, places)
    return made


def _made(field: str, description: dict[str, Any], places: dict[str, str]) -> Any:
    fields = dict(description)
    name = fields.pop("name", None)
    if name not in places:
        raise InvalidArgument(field, expected=f"one of {', '.join(places)}", found=shown(name), hint=_NEWER)
    return at(places[name])(**fields)


def _places(kind: Kind, what: str) -> dict[str, str]:
    """The names of a kind and of all that it is built on; its own come first."""
    found: dict[str, str] = {}
    for one in _foundations(kind):
        found |= {name: place for name, place in getattr(one, what).items() if name not in found}
    return found


def _foundations(kind: Kind) -> Iterator[Kind]:
    yield kind
    for name in kind.built_on:
        yield from _foundations(kind_named(name))
