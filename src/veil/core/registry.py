"""Mechanisms, domains and adjacencies by the names that their descriptions carry, adjacencies by short ones.

A name belongs to a kind of data: two kinds may use the same one. A name never changes its meaning.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, cast

from veil.core.adjacency import Adjacency
from veil.core.checks import shown
from veil.core.errors import InvalidArgument, VeilError
from veil.core.kind import Kind, every_kind, kind_named
from veil.core.mechanism import Domain, Mechanism


def mechanism_from(description: Any, kind: Kind) -> Mechanism:
    """The mechanism of this kind, or of one that it is built on, that `describe` described."""
    if not isinstance(description, dict) or not isinstance(description.get("parameters"), dict):
        raise InvalidArgument("mechanism", expected="a name and parameters", found="something else")
    name = description.get("name")
    made = _named("mechanism.name", name, _places(kind, "mechanisms"))
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
    fields = dict(description)
    return cast("Domain", _named("domain", fields.pop("name", None), _places(kind, "domains"))(**fields))


def adjacency_from(description: dict[str, Any], kind: Kind | None = None) -> Adjacency:
    """The adjacency that `describe` described: of this kind, or of any where none is given."""
    kinds = every_kind() if kind is None else (kind,)
    places = {name: place for one in kinds for name, place in _places(one, "adjacencies").items()}
    fields = {key: item for key, item in description.items() if key != "words"}
    return cast("Adjacency", _named("adjacency", fields.pop("name", None), places)(**fields))


def _named(field: str, name: Any, places: dict[str, str]) -> Any:
    """The class of this name, among those of a kind."""
    if name not in places:
        expected = f"one of {', '.join(places)}"
        raise InvalidArgument(field, expected=expected, found=shown(name), hint="A newer Veil may know it.")
    return resolve_name(places[name])


def _places(kind: Kind, what: str) -> dict[str, str]:
    """The names of a kind and of all that it is built on; its own come first."""
    places: dict[str, str] = dict(getattr(kind, what))
    for name in kind.built_on:
        places = places | _places(kind_named(name), what) | places
    return places


def adjacency_named(text: str) -> Adjacency:
    """The adjacency that a short name stands for: "add-remove", "user", "words:1", "transfer:0.1".

    >>> adjacency_named("edge")
    BitFlips(count=1, where='anywhere')
    """
    named = {name: make for kind in every_kind() for name, make in kind.short_adjacencies.items()}
    names = ", ".join(f"{name}N" if name.endswith(":") else name for name in named)
    expected = f"one of {names}, or JSON as in a record"
    if text.lstrip().startswith("{"):
        try:
            return adjacency_from(json.loads(text))
        except (ValueError, TypeError, AttributeError):
            raise InvalidArgument("adjacency", expected=expected, found="other JSON") from None
    name, colon, size = text.strip().partition(":")
    if name + colon in named and bool(colon) == bool(size):
        try:
            return named[name + colon](size)
        except InvalidArgument as error:
            expected = f"{name}:N with {error.expected}"
        except ValueError:
            pass
    raise InvalidArgument("adjacency", expected=expected, found=repr(text)[:40])
